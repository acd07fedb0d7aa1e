package dataset

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/sbinet/npyio/npy"
)

const npyMagic = "\x93NUMPY"

// maxNPYHeader bounds the header of an NPY file, which takes a line.
const maxNPYHeader = 1 << 16

// readNPY reads a NumPy array in C order: rows × units, or rows × height ×
// width. Floating-point values are probabilities in [0, 1], booleans are 0 and
// 1, unsigned bytes are grey values, or 0 and 1 (see unpack). It reads no more
// than the header claims, and a byte.
func readNPY(r io.Reader) (rows, error) {
	header, err := readNPYHeader(r)
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
	claim, err := npyClaim(header.Descr.Type, header.Descr.Shape)
	if err != nil {
		return rows{}, err
	}
	data, err := io.ReadAll(io.LimitReader(r, int64(claim)+1))
	switch {
	case err != nil:
		return rows{}, err
	case len(data) < claim:
		return rows{}, fmt.Errorf("the file ends after %d bytes of data, an NPY array of type %s and shape %v has %d",
			len(data), header.Descr.Type, header.Descr.Shape, claim)
	case len(data) > claim:
		return rows{}, fmt.Errorf("the file goes on after the %d bytes of data of an NPY array of type %s and shape %v",
			claim, header.Descr.Type, header.Descr.Shape)
	}
	values, err := npyValues(data, header.Descr.Type, shape.Units())
	return rows{shape: shape, values: values}, err
}

// readNPYHeader reads a file up to its data. The parser trusts the length that
// the file states and the order of its words, so the length is checked before
// and panics are caught.
func readNPYHeader(r io.Reader) (header npy.Header, err error) {
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
		return header, err
	}
	length := int64(binary.LittleEndian.Uint16(start[8:]))
	if major := start[6]; major > 1 {
		start = start[:12]
		if err := read(start[10:]); err != nil {
			return header, err
		}
		length = int64(binary.LittleEndian.Uint32(start[8:]))
	}
	if length > maxNPYHeader {
		return header, fmt.Errorf("%w: it claims %d bytes", damaged, length)
	}
	text := make([]byte, length)
	if err := read(text); err != nil {
		return header, err
	}
	defer func() {
		if recover() != nil {
			err = damaged
		}
	}()
	array, err := npy.NewReader(io.MultiReader(bytes.NewReader(start), bytes.NewReader(text)))
	if err != nil {
		return header, fmt.Errorf("%w: %w", damaged, err)
	}
	return array.Header, nil
}

// npyKind is the type of an array without the order of its bytes.
func npyKind(kind string) string { return strings.TrimLeft(kind, "<>|=") }

// npyClaim is the number of bytes of an array.
func npyClaim(kind string, shape []int) (int, error) {
	claim, ok := map[string]int{"u1": 1, "b1": 1, "f4": 4, "f8": 8}[npyKind(kind)]
	if !ok {
		return 0, fmt.Errorf("the NPY array has type %q; uint8, bool, float32 or float64 is needed", kind)
	}
	for _, n := range shape {
		if n < 1 {
			return 0, fmt.Errorf("the NPY array has shape %v; every size must be positive", shape)
		}
		if claim > maxValues/n {
			return 0, fmt.Errorf("the NPY header claims more than %d bytes, with type %s and shape %v; save fewer rows, or grey values as uint8",
				maxValues, kind, shape)
		}
		claim *= n
	}
	return claim, nil
}

// npyValues returns the grey values of the data of an array.
func npyValues(data []byte, kind string, units int) ([]uint8, error) {
	var order binary.ByteOrder = binary.LittleEndian
	if strings.HasPrefix(kind, ">") {
		order = binary.BigEndian
	}
	switch npyKind(kind) {
	case "f4":
		return probabilities(len(data)/4, units, func(i int) float64 {
			return float64(math.Float32frombits(order.Uint32(data[4*i:])))
		})
	case "f8":
		return probabilities(len(data)/8, units, func(i int) float64 {
			return math.Float64frombits(order.Uint64(data[8*i:]))
		})
	case "b1":
		for i, v := range data {
			data[i] = min(v, 1) * 255
		}
		return data, nil
	}
	return unpack(data), nil
}

func probabilities(n, units int, value func(i int) float64) ([]uint8, error) {
	values := make([]uint8, n)
	for i := range values {
		v := value(i)
		var ok bool
		if values[i], ok = grey(v); !ok {
			return nil, fmt.Errorf("row %d, column %d: %v is not in [0, 1]", i/units, i%units, v)
		}
	}
	return values, nil
}
