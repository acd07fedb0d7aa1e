package dataset

import (
	"bytes"
	"compress/gzip"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/internal/npy"
)

// countingReader counts the bytes that are read.
type countingReader struct {
	io.Reader
	bytes int
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.bytes += n
	return n, err
}

// TestNPYIsReadNoFurtherThanItsClaim gives the reader a gigabyte of zeros,
// compressed, behind headers that do not claim them.
func TestNPYIsReadNoFurtherThanItsClaim(t *testing.T) {
	zeros := bytes.Repeat(compress(make([]byte, 1<<24)), 1<<6)
	for name, c := range map[string]struct {
		header []byte
		want   string
	}{
		"six values":          {npyFile(small, nil), "continues after the 6 bytes"},
		"too many values":     {npyFile(strings.Replace(small, "(2, 3)", "(1099511627776, 1048576)", 1), nil), "claims too much"},
		"a header of 4 GiB":   {append([]byte(npy.Magic), 2, 0, 255, 255, 255, 255), "header of the NPY file is damaged"},
		"values of no type":   {npyFile(strings.Replace(small, "|u1", "<c8", 1), nil), "has type"},
		"in five dimensions":  {npyFile(strings.Replace(small, "(2, 3)", "(1, 2, 3, 4, 5)", 1), nil), "shape"},
		"in no known version": {append([]byte(npy.Magic), 9, 0, 5, 0, 0, 0), "header of the NPY file is damaged"},
	} {
		z, err := gzip.NewReader(bytes.NewReader(slices.Concat(compress(c.header), zeros)))
		if err != nil {
			t.Fatal(err)
		}
		read := &countingReader{Reader: z}
		_, err = readNPY(read)
		wantError(t, err, c.want)
		if most := len(c.header) + 512; read.bytes > most {
			t.Errorf("%s: %d bytes were read, want at most %d", name, read.bytes, most)
		}
	}
}
