// Package npy reads NumPy arrays and writes matrices: NPY files, and NPZ archives of them.
package npy

import (
	"archive/zip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/helmholtz-go/helmholtz/internal/memory"
)

// Magic begins every NPY file.
const Magic = "\x93NUMPY"

// maxHeader limits the bytes of a file's header, which is one line.
const maxHeader = 1 << 16

// Header describes an array: its type with the byte order, such as <f8, whether its first index varies fastest in
// the data, and its shape.
type Header struct {
	Type    string
	Fortran bool
	Shape   []int
}

// dictionary is a header as NumPy writes it. Version 3 differs from version 2 only in the encoding of fields' names.
var dictionary = regexp.MustCompile(`(?s)^\{'descr': .([^}]*?)., 'fortran_order': (True|False), 'shape': \(([^)]*)\), \}.*\n`)

// ReadHeader reads a file up to its data, and returns the number of bytes before the data.
func ReadHeader(r io.Reader) (header Header, bytesRead int, err error) {
	damaged := errors.New("the header of the NPY file is damaged")
	read := func(b []byte) error {
		_, err := io.ReadFull(r, b)
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return damaged
		}
		return err
	}
	start := make([]byte, 10, 12) // the magic word, two numbers of the version, the length
	if err := read(start); err != nil {
		return header, 0, err
	}
	length := int64(binary.LittleEndian.Uint16(start[8:]))
	if start[6] > 1 {
		start = start[:12]
		if err := read(start[10:]); err != nil {
			return header, 0, err
		}
		length = int64(binary.LittleEndian.Uint32(start[8:]))
	}
	if length > maxHeader {
		return header, 0, fmt.Errorf("%w: it claims %d bytes", damaged, length)
	}
	text := make([]byte, length)
	if err := read(text); err != nil {
		return header, 0, err
	}
	parts := dictionary.FindSubmatch(text)
	if string(start[:6]) != Magic || start[6] < 1 || start[6] > 3 || parts == nil {
		return header, 0, damaged
	}
	header.Type, header.Fortran = string(parts[1]), string(parts[2]) == "True"
	for field := range strings.SplitSeq(string(parts[3]), ",") {
		if field = strings.TrimSpace(field); field != "" {
			n, err := strconv.Atoi(field)
			if err != nil {
				return Header{}, 0, fmt.Errorf("%w: %w", damaged, err)
			}
			header.Shape = append(header.Shape, n)
		}
	}
	return header, len(start) + len(text), nil
}

// Kind returns the type of an array without its byte order.
func Kind(kind string) string { return strings.TrimLeft(kind, "<>|=") }

// Array is a named array of numbers in row-major order.
type Array struct {
	Name   string
	Shape  []int
	Values []float64
}

// ReadArchive reads arrays from an NPZ archive: the ones whose names, without the extension .npy, wanted
// accepts. It refuses types other than float16, float32 and float64, and arrays larger than the memory.
func ReadArchive(r io.ReaderAt, size int64, wanted func(name string) bool) ([]Array, error) {
	archive, err := zip.NewReader(r, size)
	if err != nil {
		return nil, fmt.Errorf("not an NPZ archive: %w", err)
	}
	var all []Array
	for _, f := range archive.File {
		name := strings.TrimSuffix(f.Name, ".npy")
		if !wanted(name) {
			continue
		}
		a := Array{Name: name}
		of, err := f.Open()
		if err == nil {
			a.Shape, a.Values, err = readFloats(of)
			err = errors.Join(err, of.Close())
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name, err)
		}
		all = append(all, a)
	}
	return all, nil
}

// readFloats reads an array of float16, float32 or float64. It converts an array in Fortran order, in which NumPy
// saves transposed arrays, to row-major order.
func readFloats(r io.Reader) (shape []int, values []float64, err error) {
	header, _, err := ReadHeader(r)
	if err != nil {
		return nil, nil, err
	}
	kind, shape := header.Type, header.Shape
	of := Numbers[Kind(kind)]
	if !strings.HasPrefix(Kind(kind), "f") || of.Width == 0 {
		return nil, nil, fmt.Errorf("the array has type %q; float16, float32 or float64 is needed: save it with .astype(float)", kind)
	}
	claim := int64(1)
	for _, n := range shape {
		claim = memory.Product(claim, int64(max(0, n)))
	}
	if limit, whose := memory.Limit(); float64(claim)*8 > float64(limit) {
		return nil, nil, fmt.Errorf("an array of shape %v takes %.3g bytes, but %s has %.3g", shape, 8*float64(claim), whose, float64(limit))
	}
	data, err := io.ReadAll(io.LimitReader(r, int64(of.Width)*claim+1)) // does not trust claim: it allocates only for the data that exist
	if err != nil {
		return nil, nil, err
	}
	if len(data) != of.Width*int(claim) {
		return nil, nil, fmt.Errorf("%d bytes of data, but an array of shape %v has %d", len(data), shape, of.Width*int(claim))
	}
	if values = of.Values(Order(kind), data); header.Fortran {
		values = ByRows(values, shape)
	}
	return shape, values, nil
}

// Matrix returns a file with lines of equally many numbers, at least one, as NumPy writes a matrix of type <f8.
func Matrix(lines [][]float64) []byte {
	header := fmt.Sprintf("{'descr': '<f8', 'fortran_order': False, 'shape': (%d, %d), }", len(lines), len(lines[0]))
	header += strings.Repeat(" ", 63-(len(Magic)+4+len(header))%64) + "\n" // the numbers begin at a multiple of 64 bytes
	file := append([]byte(Magic), 1, 0)
	file = append(binary.LittleEndian.AppendUint16(file, uint16(len(header))), header...)
	for _, v := range slices.Concat(lines...) {
		file = binary.LittleEndian.AppendUint64(file, math.Float64bits(v))
	}
	return file
}
