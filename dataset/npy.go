package dataset

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/helmholtz-go/helmholtz/internal/memory"
	"github.com/helmholtz-go/helmholtz/internal/npy"
)

// readNPY reads a NumPy array in C order: rows × units, or rows × height ×
// width. Floating-point values are probabilities in [0, 1], booleans are 0 and
// 1, unsigned bytes are grey values, or 0 and 1 (see unpack). It reads no more
// than the header claims, and a byte.
func readNPY(r io.Reader) (rows, error) {
	header, length, err := npy.ReadHeader(r)
	if err != nil {
		return rows{}, err
	}
	if header.Descr.Fortran {
		return rows{}, errors.New("the NPY array is in Fortran order; save numpy.ascontiguousarray of it")
	}
	var shape Shape
	switch size := header.Descr.Shape; len(size) {
	case 2:
		shape = Shape{1, size[1]}
	case 3:
		shape = Shape{size[1], size[2]}
	default:
		return rows{}, fmt.Errorf("the NPY array has shape %v; rows × units or rows × height × width is needed", size)
	}
	width, claim, err := npyClaim(header.Descr.Type, header.Descr.Shape, map[string]int{"u1": 1, "b1": 1, "f4": 4, "f8": 8})
	if err != nil {
		return rows{}, err
	}
	values, got, err := readRest(r, length, claim, width, npyGray(header.Descr.Type, shape.Units()))
	if err == nil {
		err = npyLength(header, got, width*claim)
	}
	if err != nil {
		return rows{}, err
	}
	read := rows{shape: shape, values: values}
	if npy.Kind(header.Descr.Type) == "u1" {
		err = read.unpack()
	}
	return read, err
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

// npyClaim is the number of values of an array, and that of bytes of each, by the widths of the types
// that are read.
func npyClaim(kind string, shape []int, widths map[string]int) (width, claim int, err error) {
	width, ok := widths[npy.Kind(kind)]
	if !ok {
		return 0, 0, fmt.Errorf("the NPY array has type %q; one of %s is needed", kind, strings.Join(slices.Sorted(maps.Keys(widths)), ", "))
	}
	values := int64(1)
	for _, n := range shape {
		if n < 1 {
			return 0, 0, fmt.Errorf("the NPY array has shape %v; every size must be positive", shape)
		}
		values = memory.Product(values, int64(n))
	}
	if err := checkRoom(int64(shape[0]), values); err != nil {
		return 0, 0, fmt.Errorf("the NPY header claims too much, with shape %v: %w", shape, err)
	}
	return width, int(values), nil
}

// npyGray turns blocks of the data of an array into grey values; nil where they are
// such already.
func npyGray(kind string, units int) func(first int, block []byte) ([]uint8, error) {
	var order binary.ByteOrder = binary.LittleEndian
	if strings.HasPrefix(kind, ">") {
		order = binary.BigEndian
	}
	switch npy.Kind(kind) {
	case "f4":
		return probabilities(4, units, func(b []byte) float64 { return float64(math.Float32frombits(order.Uint32(b))) })
	case "f8":
		return probabilities(8, units, func(b []byte) float64 { return math.Float64frombits(order.Uint64(b)) })
	case "b1":
		return func(_ int, block []byte) ([]uint8, error) {
			for i, v := range block {
				block[i] = min(v, 1) * 255
			}
			return block, nil
		}
	}
	return nil
}

// probabilities turns numbers of width bytes into grey values, in place. They are
// numbered from first on, in rows of so many units.
func probabilities(width, units int, number func([]byte) float64) func(first int, block []byte) ([]uint8, error) {
	return func(first int, block []byte) ([]uint8, error) {
		n := len(block) / width
		for i := range n {
			v := number(block[width*i:])
			value, ok := gray(v)
			if !ok {
				return nil, outside((first+i)/units, (first+i)%units, v)
			}
			block[i] = value
		}
		return block[:n], nil
	}
}
