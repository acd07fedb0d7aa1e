package dataset

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"io"
	"os"
)

// maxValues bounds the values of one file, against sizes and compressed files
// that no data set has.
const maxValues = 1 << 30

// readFile opens the file at path, decompresses it if it is compressed, and
// parses it. Errors name the file.
func readFile(path string, parse func(io.Reader) (rows, error)) (rows, error) {
	f, err := os.Open(path)
	if err != nil {
		return rows{}, err
	}
	defer f.Close()
	data, err := readCompressed(f, parse)
	if err != nil {
		return rows{}, fmt.Errorf("%s: %w", path, err)
	}
	return data, nil
}

func readCompressed(r io.Reader, parse func(io.Reader) (rows, error)) (rows, error) {
	b := bufio.NewReader(r)
	if !isGzip(b) {
		return parse(b)
	}
	z, err := gzip.NewReader(b)
	if err != nil {
		return rows{}, damaged(err)
	}
	return parse(decompressor{z})
}

func isGzip(b *bufio.Reader) bool {
	magic, err := b.Peek(2)
	return err == nil && magic[0] == 0x1f && magic[1] == 0x8b
}

// decompressor says of its errors that the compressed data is at fault, which
// a parser cannot know.
type decompressor struct{ *gzip.Reader }

func (d decompressor) Read(p []byte) (int, error) {
	n, err := d.Reader.Read(p)
	if err != nil && err != io.EOF {
		err = damaged(err)
	}
	return n, err
}

func damaged(err error) error {
	return fmt.Errorf("the compressed data ends early or is damaged, get the file again (%w)", err)
}
