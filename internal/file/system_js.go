package file

import "os"

// nonblocking is no flag: JavaScript has none.
const nonblocking = 0

func openToRead(path string) (*os.File, error) { return os.Open(path) }

// rename renames a file, and replaces an existing one.
func rename(root *os.Root, from, to string) error { return root.Rename(from, to) }

// JavaScript has no locks, and a single program needs none.

func tryLock(*os.File, bool) error { return nil }
func endLock(*os.File) error       { return nil }
