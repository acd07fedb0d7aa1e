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
	"github.com/helmholtz-go/helmholtz/internal/numbers"
)

// tensor holds an array of numbers from a file, in C order.
type tensor struct {
	name    string // its name in a file of several arrays
	kind    string // the type of its numbers, named as in npy.Numbers
	size    []int
	bytes   []uint8   // unsigned bytes, or truth values as 0 and 1
	truth   bool      // whether the bytes are truth values
	packed  []uint8   // the values of a large array of 0 and 1, packed like Split.Bits
	numbers []float64 // values of any other type
}

// checkArray refuses an array that has no values or does not fit into memory, and returns its number of values.
// each is the memory of a value, in bytes, while the rows are divided.
func checkArray(size []int, each int64) (int, error) {
	values := int64(1)
	for _, n := range size {
		if n < 1 {
			return 0, fmt.Errorf("shape %v; every size must be positive", size)
		}
		values = memory.Product(values, int64(n))
	}
	if err := checkRoom(int64(size[0]), values, each); err != nil {
		return 0, fmt.Errorf("shape %v: %w", size, err)
	}
	return int(values), nil
}

// product returns the number of values of an array that checkArray accepts.
func product(size []int) int {
	n := 1
	for _, of := range size {
		n *= of
	}
	return n
}

// bytesEach and numbersEach are the bytes of memory that a value takes while rows are divided: three copies of a
// byte, or 8 bytes for a number as it is read and 4 for each of three copies as float32.
const bytesEach, numbersEach = 3, 20

func (a tensor) count() int { return max(len(a.bytes), len(a.numbers)) }

func (a tensor) at(i int) float64 {
	if a.numbers != nil {
		return a.numbers[i]
	}
	return float64(a.bytes[i])
}

// transposed converts an array from column order to C order, in which the first index changes slowest.
func (a tensor) transposed() tensor {
	a.bytes, a.numbers = npy.ByRows(a.bytes, a.size), npy.ByRows(a.numbers, a.size)
	return a
}

// rows returns the rows of an array of rows × units or rows × height × width, perhaps with one channel.
func (a tensor) rows() (rows, error) {
	size := a.size
	if len(size) == 4 && size[1] == 1 {
		size = []int{size[0], size[2], size[3]}
	} else if len(size) == 4 && size[3] == 1 {
		size = size[:3]
	}
	var shape Shape
	switch len(size) {
	case 2:
		shape = Shape{1, size[1]}
	case 3:
		shape = Shape{size[1], size[2]}
	case 4:
		return rows{}, fmt.Errorf("the array has shape %v, with several channels; save one of them, or their mean over the channels, as rows × height × width", a.size)
	case 1:
		return rows{}, fmt.Errorf("the array has shape %v; rows × units or rows × height × width is needed: name a file of labels as label_file (--label-file)", a.size)
	default:
		return rows{}, fmt.Errorf("the array has shape %v; rows × units or rows × height × width is needed", a.size)
	}
	read := rows{Split: Split{Shape: shape}, numbers: a.numbers, kind: a.kind, scaled: a.truth, bits: a.packed != nil && !a.truth}
	switch {
	case a.packed != nil:
		read.Values = numbers.Bits(shape.Units(), a.packed)
	case a.numbers == nil:
		read.Values = Bytes(shape.Units(), a.bytes)
	}
	if a.truth {
		for i, v := range a.bytes {
			a.bytes[i] = 255 * v
		}
	}
	return read, nil
}

// isVector reports whether an array has one dimension, or two dimensions of which one has size 1.
func (a tensor) isVector() bool {
	return len(a.size) == 1 || len(a.size) == 2 && slices.Min(a.size) == 1
}

// extendedLabels is the number of values per image in the label files of QMNIST. The first is the class.
const extendedLabels = 8

// labels returns the classes in an array of whole numbers, one for each row.
func (a tensor) labels() (labels []uint8, err error) {
	step := 1
	switch {
	case a.isVector():
	case len(a.size) == 2 && a.size[1] == extendedLabels && a.numbers != nil:
		step = extendedLabels
	default:
		return nil, fmt.Errorf("the array has shape %v; one number per row is needed: if the labels are one-hot, numpy.save(\"labels.npy\", array.argmax(1))", a.size)
	}
	minus := false
	for i := 0; i < a.count(); i += step {
		v := a.at(i)
		if v != math.Trunc(v) || math.Abs(v) > 1<<53 {
			return nil, fmt.Errorf("row %d: %v is not a class: classes are whole numbers from 0 to %d, and -1 or 255 marks a row without a class", i/step+1, v, Unlabeled-1)
		}
		label, err := classOf(int64(v))
		if err != nil {
			return nil, fmt.Errorf("row %d: %w", i/step+1, err)
		}
		labels = append(labels, label)
		minus = minus || v < 0
	}
	if len(labels) == 0 {
		return nil, errors.New("the file has no labels")
	}
	return labels, checkSigns(labels, minus)
}

// read reads the values of an array of numbers of a kind after a header of the given length. Truth values become 0
// and 1. It returns the number of bytes read, plus one if the file continues.
func (a *tensor) read(r io.Reader, header int, kind string, order binary.ByteOrder) (bytes int, err error) {
	n := npy.Numbers[kind]
	a.kind = kind
	if n.Value == nil {
		if a.packed = packFile(r, header, a.size); a.packed != nil {
			return product(a.size), nil
		}
	}
	each := int64(bytesEach)
	if n.Value != nil {
		each = numbersEach
	}
	count, err := checkArray(a.size, each)
	if err != nil {
		return 0, fmt.Errorf("the header claims too much, or nothing, with %w", err)
	}
	if in, ok := r.(*input); ok && in.size >= 0 && in.size-int64(header) < int64(n.Width*count) {
		return int(in.size) - header, nil
	}
	data, err := io.ReadAll(io.LimitReader(r, int64(n.Width*count)+1))
	if bytes = len(data); err != nil || bytes < n.Width*count {
		return bytes, err
	}
	if n.Value == nil {
		if a.bytes = data[:count:count]; a.truth {
			for i, v := range a.bytes {
				a.bytes[i] = min(v, 1)
			}
		}
		return bytes, nil
	}
	a.numbers = n.Values(order, data[:n.Width*count])
	return bytes, nil
}

// readNPY reads a NumPy array of numbers or truth values, in C or Fortran order. It reads at most one byte beyond
// the data that the header claims.
func readNPY(r io.Reader) (tensor, error) {
	header, length, err := npy.ReadHeader(r)
	if err != nil {
		return tensor{}, err
	}
	kind := npy.Kind(header.Type)
	of, known := npy.Numbers[kind]
	if !known {
		remedy := "save it as an array of numbers, for example with array.astype(float), or array.view(float) if it is complex"
		if kind == "O" {
			remedy = "an array of Python objects can only be read by Python; save a.astype(float)"
		} else if strings.HasPrefix(kind, "(") { // of records
			remedy = `pandas.DataFrame(numpy.load(FILE)).to_csv("rows.csv", index=False)`
		}
		return tensor{}, fmt.Errorf("the NPY array has type %q; one of %s is needed: %s", header.Type, strings.Join(slices.Sorted(maps.Keys(npy.Numbers)), ", "), remedy)
	}
	a := tensor{size: header.Shape, truth: kind == "b1"}
	if len(a.size) == 0 || len(a.size) > 4 {
		return a, fmt.Errorf("the NPY array has shape %v; rows × units or rows × height × width is needed", a.size)
	}
	in := r
	if header.Fortran {
		in = struct{ io.Reader }{r} // hides the type *input, so that read does not pack the rows
	}
	got, err := a.read(in, length, kind, npy.Order(header.Type))
	switch claim := of.Width * product(a.size); {
	case err != nil:
	case got < claim:
		err = fmt.Errorf("the file ends after %d bytes of data, but an NPY array of type %s and shape %v has %d", got, header.Type, a.size, claim)
	case got > claim:
		err = fmt.Errorf("the file continues after the %d bytes of data of an NPY array of type %s and shape %v", claim, header.Type, a.size)
	}
	if err != nil {
		return tensor{}, fmt.Errorf("NPY array: %w", err)
	}
	if header.Fortran {
		a = a.transposed()
	}
	return a, nil
}

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
