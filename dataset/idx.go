package dataset

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/helmholtz-go/helmholtz/internal/npy"
)

// idxTypes maps the type codes of IDX files to types of numbers.
var idxTypes = map[byte]string{8: "u1", 9: "i1", 11: "i2", 12: "i4", 13: "f4", 14: "f8"}

func readImages(r io.Reader) (rows, error) {
	a, err := readIDX(r)
	if err == nil && (a.numbers != nil || len(a.size) != 3) {
		err = fmt.Errorf("the IDX file has shape %v; images of unsigned bytes are needed", a.size)
	}
	if err != nil {
		return rows{}, err
	}
	return a.rows()
}

func readLabels(r io.Reader) ([]uint8, error) {
	a, err := readIDX(r)
	if err == nil && (a.bytes == nil || len(a.size) != 1) {
		err = fmt.Errorf("the IDX file has shape %v; labels of one byte each are needed", a.size)
	}
	return a.bytes, err
}

// readIDX reads an IDX file: two zero bytes, the type, the number of dimensions, each size as a big-endian
// 32-bit number, and the values.
func readIDX(r io.Reader) (a tensor, err error) {
	magic := make([]byte, 4)
	if _, err := io.ReadFull(r, magic); err != nil {
		return a, idxError(err)
	}
	dimensions := int(magic[3])
	of, known := npy.Numbers[idxTypes[magic[2]]]
	if !known || magic[0] != 0 || magic[1] != 0 || dimensions < 1 || dimensions > 4 {
		return a, fmt.Errorf("the file begins with %#08x; an IDX file begins with two zero bytes, its type and its number of dimensions, 1 to 4", binary.BigEndian.Uint32(magic))
	}
	sizes := make([]byte, 4*dimensions)
	if _, err := io.ReadFull(r, sizes); err != nil {
		return a, idxError(err)
	}
	for i := range dimensions {
		n := int(binary.BigEndian.Uint32(sizes[4*i:]))
		if n == 0 {
			return a, fmt.Errorf("the IDX header claims size 0 in dimension %d", i+1)
		}
		a.size = append(a.size, n)
	}
	got, err := a.read(r, 4+len(sizes), idxTypes[magic[2]], binary.BigEndian)
	if err != nil {
		return tensor{}, fmt.Errorf("IDX file: %w", err)
	}
	switch claim := product(a.size); {
	case got < of.Width*claim:
		return tensor{}, fmt.Errorf("the file ends after %d of the %d values that its header claims", got/of.Width, claim)
	case got > of.Width*claim:
		return tensor{}, fmt.Errorf("the file continues after the %d values that its header claims", claim)
	}
	return a, nil
}

func idxError(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return errors.New("the file ends within its IDX header")
	}
	return err
}
