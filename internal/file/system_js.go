package file

import "os"

// nonblocking stands for no flag: JavaScript has none that is like it.
const nonblocking = 0

// openToRead opens what lies at a path.
func openToRead(path string) (*os.File, error) { return os.Open(path) }

// rename gives a file another name, in the place of what has that.
func rename(root *os.Root, from, to string) error { return root.Rename(from, to) }

// JavaScript has no locks, and one program alone needs none.

func tryLock(*os.File, bool) error { return nil }
func endLock(*os.File) error       { return nil }
