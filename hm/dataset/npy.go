package dataset

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/sbinet/npyio/npy"
)

const npyMagic = "\x93NUMPY"

// readNPY reads a NumPy array in C order: rows × units, or rows × height ×
// width. Floating-point values are probabilities in [0, 1], booleans are 0 and
// 1, unsigned bytes are grey values, or 0 and 1 (see unpack).
func readNPY(r io.Reader) (rows, error) {
	file, err := io.ReadAll(io.LimitReader(r, 8*maxValues+1))
	if err != nil {
		return rows{}, err
	}
	if len(file) > 8*maxValues {
		return rows{}, fmt.Errorf("the file has more than %d values of 8 bytes", maxValues)
	}
	array, data, err := npyHeader(file)
	if err != nil {
		return rows{}, err
	}
	header := array.Header.Descr
	if header.Fortran {
		return rows{}, errors.New("the NPY array is in Fortran order; save numpy.ascontiguousarray of it")
	}
	var shape Shape
	switch size := header.Shape; len(size) {
	case 2:
		shape = Shape{1, size[1]}
	case 3:
		shape = Shape{size[1], size[2]}
	default:
		return rows{}, fmt.Errorf("the NPY array has shape %v; rows × units or rows × height × width is needed", size)
	}
	bytesPerValue, ok := map[string]int{"u1": 1, "b1": 1, "f4": 4, "f8": 8}[strings.TrimLeft(header.Type, "<>|=")]
	if !ok {
		return rows{}, fmt.Errorf("the NPY array has type %q; uint8, bool, float32 or float64 is needed", header.Type)
	}
	claim := bytesPerValue
	for _, n := range header.Shape {
		if n < 1 {
			return rows{}, fmt.Errorf("the NPY array has shape %v; every size must be positive", header.Shape)
		}
		if claim > len(data)/n {
			return rows{}, fmt.Errorf("the file ends after %d bytes of data, an NPY array of type %s and shape %v has more",
				len(data), header.Type, header.Shape)
		}
		claim *= n
	}
	if claim < len(data) {
		return rows{}, fmt.Errorf("the file has %d bytes of data, an NPY array of type %s and shape %v has %d",
			len(data), header.Type, header.Shape, claim)
	}
	values, err := npyValues(array, header.Type, claim/bytesPerValue, shape.Units())
	return rows{shape: shape, values: values}, err
}

// npyHeader parses the header, and returns the data behind it beside it. The
// parser trusts the length that the file states and the order of its words, so
// the length is checked before and panics are caught.
func npyHeader(file []byte) (array *npy.Reader, data []byte, err error) {
	bad := errors.New("the header of the NPY file is damaged")
	if len(file) < 12 {
		return nil, nil, bad
	}
	length := 10 + int64(binary.LittleEndian.Uint16(file[8:]))
	if file[6] > 1 {
		length = 12 + int64(binary.LittleEndian.Uint32(file[8:]))
	}
	if length > int64(len(file)) {
		return nil, nil, bad
	}
	defer func() {
		if recover() != nil {
			err = bad
		}
	}()
	array, err = npy.NewReader(bytes.NewReader(file))
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", bad, err)
	}
	return array, file[length:], nil
}

func npyValues(array *npy.Reader, kind string, n, units int) ([]uint8, error) {
	switch kind[len(kind)-2:] {
	case "f4":
		return probabilities[float32](array, n, units)
	case "f8":
		return probabilities[float64](array, n, units)
	case "b1":
		bits := make([]bool, n)
		values := make([]uint8, n)
		err := array.Read(&bits)
		for i, on := range bits {
			if on {
				values[i] = 255
			}
		}
		return values, err
	}
	values := make([]uint8, n)
	err := array.Read(&values)
	return unpack(values), err
}

func probabilities[T float32 | float64](array *npy.Reader, n, units int) ([]uint8, error) {
	floats := make([]T, n)
	if err := array.Read(&floats); err != nil {
		return nil, err
	}
	values := make([]uint8, n)
	for i, v := range floats {
		var ok bool
		if values[i], ok = grey(float64(v)); !ok {
			return nil, fmt.Errorf("row %d, column %d: %v is not in [0, 1]", i/units, i%units, v)
		}
	}
	return values, nil
}
