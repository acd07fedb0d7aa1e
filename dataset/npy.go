package dataset

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/sbinet/npyio/npy"
)

const npyMagic = "\x93NUMPY"

// maxNPYHeader bounds the header of an NPY file, which takes a line.
const maxNPYHeader = 1 << 16

// readNPY reads a NumPy array of numbers or truth values, in C or Fortran order. It reads no more than
// the header claims, and a byte.
func readNPY(r io.Reader) (tensor, error) {
	header, length, err := readNPYHeader(r)
	if err != nil {
		return tensor{}, err
	}
	kind := npyKind(header.Descr.Type)
	of, known := numbers[kind]
	if !known {
		remedy := "save it as an array of numbers"
		if kind == "O" {
			remedy = "such an array of Python objects needs Python to read it; save a.astype(float)"
		}
		return tensor{}, fmt.Errorf("the NPY array has type %q; one of %s is needed: %s", header.Descr.Type, strings.Join(slices.Sorted(maps.Keys(numbers)), ", "), remedy)
	}
	a := tensor{size: header.Descr.Shape, truth: kind == "b1"}
	if len(a.size) == 0 || len(a.size) > 4 {
		return a, fmt.Errorf("the NPY array has shape %v; rows × units or rows × height × width is needed", a.size)
	}
	var order binary.ByteOrder = binary.LittleEndian
	if strings.HasPrefix(header.Descr.Type, ">") {
		order = binary.BigEndian
	}
	got, err := of.read(r, length, &a, order)
	if err == nil {
		err = npyLength(header, got, of.width*product(a.size))
	}
	if err != nil {
		return tensor{}, fmt.Errorf("NPY array: %w", err)
	}
	if a.truth {
		for i, v := range a.bytes {
			a.bytes[i] = min(v, 1)
		}
	}
	if header.Descr.Fortran {
		a = a.transposed()
	}
	return a, nil
}

// npyLength refuses a file with another number of bytes of data than its header claims.
func npyLength(header npy.Header, got, claim int) error {
	kind, shape := header.Descr.Type, header.Descr.Shape
	switch {
	case got < claim:
		return fmt.Errorf("the file ends after %d bytes of data, an NPY array of type %s and shape %v has %d", got, kind, shape, claim)
	case got > claim:
		return fmt.Errorf("the file goes on after the %d bytes of data of an NPY array of type %s and shape %v", claim, kind, shape)
	}
	return nil
}

// readNPYHeader reads a file up to its data, and says where these begin. The parser trusts the length that
// the file states and the order of its words, so the length is checked before
// and panics are caught.
func readNPYHeader(r io.Reader) (header npy.Header, bytesRead int, err error) {
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
	if major := start[6]; major > 1 {
		if major == 3 { // as version 2, with names in UTF-8, of which rows have none
			start[6] = 2
		}
		start = start[:12]
		if err := read(start[10:]); err != nil {
			return header, 0, err
		}
		length = int64(binary.LittleEndian.Uint32(start[8:]))
	}
	if length > maxNPYHeader {
		return header, 0, fmt.Errorf("%w: it claims %d bytes", damaged, length)
	}
	text := make([]byte, length)
	if err := read(text); err != nil {
		return header, 0, err
	}
	defer func() {
		if recover() != nil {
			err = damaged
		}
	}()
	array, err := npy.NewReader(io.MultiReader(bytes.NewReader(start), bytes.NewReader(text)))
	if err != nil {
		return header, 0, fmt.Errorf("%w: %w", damaged, err)
	}
	return array.Header, len(start) + len(text), nil
}

// npyKind is the type of an array without the order of its bytes.
func npyKind(kind string) string { return strings.TrimLeft(kind, "<>|=") }
