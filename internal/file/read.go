package file

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
)

// Open opens a file for reading and returns its size in bytes. It refuses anything but a regular
// file, which might be endless, and does not wait for the writer of a pipe.
func Open(path string) (*os.File, int64, error) {
	f, err := openToRead(path)
	if err != nil {
		return nil, 0, err
	}
	info, err := regular(f, path)
	if err != nil {
		f.Close()
		return nil, 0, err
	}
	return f, info.Size(), nil
}

// regular refuses an open file that is not a regular file.
func regular(f *os.File, path string) (os.FileInfo, error) {
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is %s, not a regular file: give the path of a regular file, or move it out of the way", path, kind(info.Mode()))
	}
	return info, err
}

// kind names the type of a file that is not regular.
func kind(mode os.FileMode) string {
	switch {
	case mode.IsDir():
		return "a directory"
	case mode&os.ModeNamedPipe != 0:
		return "a pipe"
	case mode&os.ModeSocket != 0:
		return "a socket"
	case mode&os.ModeSymlink != 0:
		return "a link"
	}
	return "a device"
}

// Small is larger than any file of settings, including experiments.
const Small = 1 << 20

// Read returns the contents of a regular file. It refuses a file larger than most bytes, the limit
// for its kind.
func Read(path string, most int64) ([]byte, error) {
	f, size, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if size <= most {
		var b []byte
		if b, err = io.ReadAll(io.LimitReader(f, most+1)); err != nil || int64(len(b)) <= most {
			return b, err
		}
	}
	return nil, fmt.Errorf("%s is larger than %d bytes, the limit for such a file: restore it from a copy, or give the path of another file", path, most)
}

// Lines returns the lines of a regular file, one at a time, with their newlines. Text after the
// last newline is a line without one. The first error, for example for a line longer than most
// bytes, comes last.
func Lines(path string, most int) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		f, _, err := Open(path)
		if err != nil {
			yield(nil, err)
			return
		}
		defer f.Close()
		lines := bufio.NewScanner(f)
		lines.Buffer(nil, most)
		lines.Split(wholeLines)
		number := 1
		for ; lines.Scan(); number++ {
			if !yield(lines.Bytes(), nil) {
				return
			}
		}
		err = lines.Err()
		if errors.Is(err, bufio.ErrTooLong) {
			err = fmt.Errorf("line %d has more than %d bytes", number, most)
		}
		if err != nil {
			yield(nil, err)
		}
	}
}

// wholeLines is like bufio.ScanLines, but keeps newlines.
func wholeLines(data []byte, atEOF bool) (advance int, line []byte, err error) {
	if end := bytes.IndexByte(data, '\n') + 1; end > 0 {
		return end, data[:end], nil
	}
	if atEOF && len(data) > 0 {
		return len(data), data, nil
	}
	return 0, nil, nil
}
