package dataset

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/helmholtz-go/helmholtz/internal/memory"
)

// readImages reads an IDX file of images: a row an image.
func readImages(r io.Reader) (rows, error) {
	size, values, err := readIDX(r, 3)
	if err != nil {
		return rows{}, err
	}
	return rows{shape: Shape{size[1], size[2]}, values: values}, nil
}

// readLabels reads an IDX file of labels: a byte a row.
func readLabels(r io.Reader) (rows, error) {
	_, values, err := readIDX(r, 1)
	return rows{labels: values}, err
}

// readIDX reads an IDX file of unsigned bytes in the given number of
// dimensions: two bytes 0, the type, the number of dimensions, each size as a
// big-endian 32-bit number, the values.
func readIDX(r io.Reader, dimensions int) (size []int, values []uint8, err error) {
	header := make([]byte, 4+4*dimensions)
	magic, sizes := header[:4], header[4:]
	if _, err := io.ReadFull(r, magic); err != nil {
		return nil, nil, idxError(err)
	}
	want := uint32(0x800 + dimensions)
	if magic := binary.BigEndian.Uint32(magic); magic != want {
		return nil, nil, fmt.Errorf("the file begins with %#08x; an IDX file of unsigned bytes in %d dimensions begins with %#08x",
			magic, dimensions, want)
	}
	if _, err := io.ReadFull(r, sizes); err != nil {
		return nil, nil, idxError(err)
	}
	claim := int64(1)
	for i := range dimensions {
		n := int(binary.BigEndian.Uint32(sizes[4*i:]))
		if n == 0 {
			return nil, nil, fmt.Errorf("the IDX header claims size 0 in dimension %d", i+1)
		}
		claim = memory.Product(claim, int64(n))
		size = append(size, n)
	}
	if err := checkRoom(int64(size[0]), claim); err != nil {
		return nil, nil, fmt.Errorf("the IDX header claims too much: %w", err)
	}
	values, got, err := readRest(r, len(header), int(claim), 1, nil)
	switch {
	case err != nil:
		return nil, nil, err
	case got < int(claim):
		return nil, nil, fmt.Errorf("the file ends after %d of the %d values that its header claims", got, claim)
	case got > int(claim):
		return nil, nil, fmt.Errorf("the file goes on after the %d values that its header claims", claim)
	}
	return size, values, nil
}

func idxError(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return errors.New("the file ends within its IDX header")
	}
	return err
}
