//go:build !unix

package file

import (
	"io"
	"os"
)

// Maps reports whether Map leaves the content of a file on disk.
const Maps = false

// Map returns the content of a file. It takes its memory here.
func Map(f *os.File, size int) (content []byte, release func() error, err error) {
	content = make([]byte, size)
	_, err = io.ReadFull(io.NewSectionReader(f, 0, int64(size)), content)
	return content, func() error { return nil }, err
}

// Scatter tells the system how a mapped file is used. Files are in memory here.
func Scatter([]byte) {}

// Expect tells the system that part of a mapped file is used soon. Files are in memory here.
func Expect([]byte) {}
