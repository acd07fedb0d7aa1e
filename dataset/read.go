package dataset

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	files "github.com/helmholtz-go/helmholtz/internal/file"
	"github.com/helmholtz-go/helmholtz/internal/memory"
	"github.com/helmholtz-go/helmholtz/internal/npy"
	"github.com/helmholtz-go/helmholtz/internal/work"
)

const (
	// firstBytes is the memory, in bytes, that a reader uses before it checks how much is available.
	firstBytes = 64 << 20
	// mostExpansion is the largest allowed ratio of decompressed to compressed size. It applies once more than
	// half of firstBytes are decompressed. Files that are made to fill the memory exceed it, and so do images of
	// one colour.
	mostExpansion = 200
)

// checkRoom refuses data that does not fit into memory. rows is the number of rows, and values the number of
// values in all rows. each is the number of bytes that a value takes while the rows are divided, when there are
// up to three copies. The order in which rows are drawn takes another 16 bytes per row.
func checkRoom(rows, values, each int64) error {
	needed := memory.Sum(memory.Product(each, values), memory.Product(16, rows))
	if limit, of := memory.Limit(); needed > limit {
		return fmt.Errorf("%d values in %d rows take %d bytes of memory while they are divided, and %s has %d: save fewer rows, or use a machine with more memory",
			values, rows, needed, of, limit)
	}
	return nil
}

// readFile opens the file at path, decompresses it if needed, and parses it. Errors name the file.
func readFile[T any](path string, parse func(io.Reader) (T, error)) (data T, err error) {
	f, size, err := files.Open(path)
	if failure, is := errors.AsType[*fs.PathError](err); is {
		failure.Path, _ = filepath.Abs(path)
	}
	if err != nil {
		return data, fmt.Errorf("%w%s", err, files.Remedy(err, path))
	}
	defer f.Close()
	what := "reading " + filepath.Base(path)
	defer work.Progress(what, 1)
	data, err = readCompressed(&input{bufio.NewReader(&shown{Reader: f, what: what, size: size}), size, f}, parse)
	if err != nil {
		return data, fmt.Errorf("%s: %w", path, err)
	}
	return data, nil
}

// Input holds rows that a program has in memory, such as standard input, as the content of a file.
type Input struct {
	Name    string // stands for the name of a file in errors
	Format  string // one of InputFormats
	Content []byte
	// Rows has the names of columns and then the fields of each row, in place of Format and Content. Numbers have a decimal point.
	Rows [][]string
}

// InputFormats are the formats of an Input. The formats csv and json may be gzipped.
var InputFormats = []string{"csv", "json", "parquet", "npy"}

// readInput parses an Input. It refuses content that has another format. If in is nil, it reads the file at path.
func readInput[T any](in *Input, path string, parse func(io.Reader) (T, error)) (data T, err error) {
	if in == nil {
		return readFile(path, parse)
	}
	content := bytes.NewReader(in.Content)
	data, err = readCompressed(&input{bufio.NewReader(content), content.Size(), content}, func(r io.Reader) (data T, err error) {
		b, start, err := begin(r)
		if err != nil {
			return data, err
		}
		format := "csv"
		switch {
		case bytes.HasPrefix(start, []byte(npy.Magic)):
			format = "npy"
		case tableReader(start) != nil:
			format = "parquet"
		case isRecords(start) || sequencesStart.Match(start):
			format = "json"
		}
		if format != in.Format {
			return data, fmt.Errorf("its content looks like %s, but its format is declared as %s: declare the format that it has, with --stdin %[1]s", format, in.Format)
		}
		return parse(b)
	})
	if err != nil {
		return data, fmt.Errorf("%s: %w", in.Name, err)
	}
	return data, nil
}

// shown is a file that shows how much of it is read.
type shown struct {
	io.Reader
	what       string
	done, size int64
}

func (s *shown) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	s.done += int64(n)
	work.Progress(s.what, float64(s.done)/float64(max(s.done+1, s.size+1)))
	return n, err
}

type input struct {
	*bufio.Reader
	size int64       // bytes of the whole content; −1 if unknown
	at   io.ReaderAt // reads the whole content; nil if it was compressed or comes from a stream
}

// inputOf returns r itself if it is an input, or an input of unknown size that reads r.
func inputOf(r io.Reader) *input {
	if in, ok := r.(*input); ok {
		return in
	}
	return &input{bufio.NewReader(r), -1, nil}
}

// skipMark skips the byte order mark that spreadsheets write before text.
func (in *input) skipMark() {
	const mark = "\ufeff"
	if start, err := in.Peek(len(mark)); err == nil && string(start) == mark {
		_, _ = in.Discard(len(mark)) // Peek has buffered these bytes
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

type counter struct {
	io.Reader
	done int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.done += int64(n)
	return n, err
}

// decompressor reads decompressed data. Its errors say that the compressed data is damaged, which a parser
// cannot know. It stops if the data expands more than mostExpansion allows.
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
