package dataset

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"io"
	"slices"

	files "github.com/helmholtz-go/helmholtz/internal/file"
	"github.com/helmholtz-go/helmholtz/internal/memory"
)

const (
	// firstBytes is the memory that a reader takes before it asks how much there is.
	firstBytes = 64 << 20
	// mostExpansion is how many times its size a compressed file may hold, where that
	// is more than half of firstBytes. Images of one colour have more, and so have
	// files that are made to fill the memory.
	mostExpansion = 200
)

// checkRoom refuses rows, of a number of values in all, for which there is too
// little memory. While they are divided a value takes so many bytes each: it lies there up to
// three times, beside the order in which rows are drawn.
func checkRoom(rows, values, each int64) error {
	needed := memory.Sum(memory.Product(each, values), memory.Product(16, rows))
	if limit, of := memory.Limit(); needed > limit {
		return fmt.Errorf("%d values in %d rows take %d bytes of memory while they are divided, and %s has %d: save fewer rows, or use a machine of more memory",
			values, rows, needed, of, limit)
	}
	return nil
}

// readFile opens the file at path, decompresses it if it is compressed, and
// parses it. Errors name the file.
func readFile[T any](path string, parse func(io.Reader) (T, error)) (data T, err error) {
	f, size, err := files.Open(path)
	if err != nil {
		return data, err
	}
	defer f.Close()
	data, err = readCompressed(&input{bufio.NewReader(f), size, f}, parse)
	if err != nil {
		return data, fmt.Errorf("%s: %w", path, err)
	}
	return data, nil
}

// input is the content of a file.
type input struct {
	*bufio.Reader
	size int64       // of all of it, in bytes; −1 where that is not known
	at   io.ReaderAt // of all of it; nil where it was compressed
}

// inputOf is what r reads, which is an input already or of a size that is not known.
func inputOf(r io.Reader) *input {
	if in, ok := r.(*input); ok {
		return in
	}
	return &input{bufio.NewReader(r), -1, nil}
}

// skipMark passes over the byte order mark that spreadsheets write before text.
func (in *input) skipMark() {
	const mark = "\ufeff"
	if start, err := in.Peek(len(mark)); err == nil && string(start) == mark {
		_, _ = in.Discard(len(mark)) // which are there
	}
}

func readCompressed[T any](r io.Reader, parse func(io.Reader) (T, error)) (data T, err error) {
	in := inputOf(r)
	if !isGzip(in.Reader) {
		return parse(in)
	}
	compressed := &counter{Reader: in}
	z, err := gzip.NewReader(bufio.NewReader(compressed))
	if err != nil {
		return data, damaged(err)
	}
	return parse(&decompressor{Reader: z, compressed: compressed})
}

func isGzip(b *bufio.Reader) bool {
	magic, err := b.Peek(2)
	return err == nil && magic[0] == 0x1f && magic[1] == 0x8b
}

// counter counts the bytes read through it.
type counter struct {
	io.Reader
	done int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.done += int64(n)
	return n, err
}

// decompressor says of its errors that the compressed data is at fault, which
// a parser cannot know, and stops where a little data holds much too much.
type decompressor struct {
	io.Reader
	compressed *counter
	done       int64
}

func (d *decompressor) Read(p []byte) (int, error) {
	n, err := d.Reader.Read(p)
	d.done += int64(n)
	if d.done > firstBytes/2 && d.done > mostExpansion*d.compressed.done {
		return n, fmt.Errorf("the compressed data holds more than %d times its size: decompress the file, if it is what you expect", mostExpansion)
	}
	if err != nil && err != io.EOF {
		err = damaged(err)
	}
	return n, err
}

func damaged(err error) error {
	return fmt.Errorf("the compressed data ends early or is damaged, get the file again (%w)", err)
}

// readRest reads the values behind a header of some bytes, as readValues does, and says
// how many bytes there are: one more than those of n values if the file goes on behind
// them.
func readRest[T any](r io.Reader, header, n, width int, convert func(block []byte) []T) (values []T, bytes int, err error) {
	if in, ok := r.(*input); ok && in.size >= 0 && (in.size-int64(header))/int64(width) < int64(n) {
		return nil, int(in.size) - header, nil
	}
	values, bytes, err = readValues(r, n, width, convert)
	if err != nil || bytes < width*n {
		return nil, bytes, err
	}
	switch more, err := io.ReadFull(r, make([]byte, 1)); err {
	case nil, io.EOF:
		return values, bytes + more, nil
	default:
		return nil, bytes, err
	}
}

// readValues reads n values of width bytes each, which convert makes of their bytes, block by block. It
// says how many bytes there are. Memory is taken for the values that are there, and once more for all.
func readValues[T any](r io.Reader, n, width int, convert func(block []byte) []T) (values []T, bytes int, err error) {
	var blocks [][]T
	for done := 0; done < n; {
		block := make([]byte, width*min(1<<16/width, n-done))
		got, err := io.ReadFull(r, block)
		bytes += got
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return nil, bytes, nil
		}
		if err != nil {
			return nil, bytes, err
		}
		blocks = append(blocks, convert(block))
		done += len(block) / width
	}
	return slices.Concat(blocks...), bytes, nil
}
