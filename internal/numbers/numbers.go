// Package numbers holds rows of numbers in as few bytes as they need.
package numbers

import (
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"unsafe"

	"github.com/helmholtz-go/helmholtz/internal/file"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
)

// Values are rows of numbers: bytes v, which stand for v/255; bits, which stand for 0 and 1; or real numbers. Do not change
// them, since others may share them.
type Values struct {
	Rows  int // number of rows
	Units int // number of values of a row
	bytes []uint8
	bits  []uint8 // packedBytes per row, in the order of kernels.Unpack
	reals []float32
	disk  bool // whether the values take no memory of the program
}

// Bytes returns rows of bytes, one after the other. v stands for v/255.
func Bytes(units int, values []uint8) Values {
	return Values{Rows: len(values) / max(1, units), Units: units, bytes: values}
}

// Bits returns rows of bits. Each row begins with the lowest bit of a byte.
func Bits(units int, bits []uint8) Values {
	return Values{Rows: len(bits) / max(1, packedBytes(units)), Units: units, bits: bits}
}

// Reals returns rows of real numbers, one after the other.
func Reals(units int, values []float32) Values {
	return Values{Rows: len(values) / max(1, units), Units: units, reals: values}
}

// packedBytes returns the number of bytes of a row of bits.
func packedBytes(units int) int { return (units + 7) / 8 }

// Check refuses values whose number is not Rows × Units.
func (v Values) Check() error {
	has, each := len(v.bytes)+len(v.reals), v.Units
	if v.bits != nil {
		has, each = len(v.bits), packedBytes(v.Units)
	}
	if has != v.Rows*each {
		return fmt.Errorf("%d values for %d rows of %d units: give %d", has, v.Rows, v.Units, v.Rows*each)
	}
	return nil
}

// AreReal reports whether the values are real numbers.
func (v Values) AreReal() bool { return v.reals != nil }

// AreBits reports whether the values are bits.
func (v Values) AreBits() bool { return v.bits != nil }

// Bytes returns the values of all rows as bytes, or nil for real numbers.
func (v Values) Bytes() []uint8 {
	if v.bits == nil {
		return v.bytes
	}
	all := make([]uint8, v.Rows*v.Units)
	for i := range v.Rows {
		v.RowIn(all[i*v.Units:][:v.Units], i)
	}
	return all
}

// Reals returns the values of all rows as real numbers, or nil for others.
func (v Values) Reals() []float32 { return v.reals }

// Size returns the number of bytes that the values take in memory.
func (v Values) Size() int {
	if v.disk {
		return 0
	}
	return len(v.bytes) + len(v.bits) + 4*len(v.reals)
}

// OnDisk returns the same values, which are in a file that is mapped into memory and are used in no
// order.
func (v Values) OnDisk() Values {
	v.disk = file.Maps
	file.Scatter(v.mapped(0, v.Rows))
	return v
}

// Expect prepares the use of rows that are on disk.
func (v Values) Expect(indices []int) {
	for _, i := range indices {
		if v.disk {
			file.Expect(v.mapped(i, i+1))
		}
	}
}

// mapped returns the memory of rows.
func (v Values) mapped(first, end int) []byte {
	switch {
	case v.bits != nil:
		return part(v.bits, first, end, packedBytes(v.Units))
	case v.bytes != nil:
		return part(v.bytes, first, end, v.Units)
	}
	reals := part(v.reals, first, end, v.Units)
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(reals))), 4*len(reals))
}

// Row returns row i as bytes. Real numbers have none.
func (v Values) Row(i int) []uint8 { return v.RowIn(nil, i) }

// RowIn is like Row, but unpacks bits into a buffer, if it is large enough.
func (v Values) RowIn(buffer []uint8, i int) []uint8 {
	if v.bits == nil {
		return v.bytes[i*v.Units:][:v.Units]
	}
	buffer = slices.Grow(buffer[:0], v.Units)[:v.Units]
	kernels.Unpack(buffer, v.bits[i*packedBytes(v.Units):])
	return buffer
}

// Read writes the numbers of row i into x.
func (v Values) Read(x []float32, i int) {
	if v.reals != nil {
		copy(x, v.reals[i*v.Units:(i+1)*v.Units])
		return
	}
	for j, b := range v.Row(i) {
		x[j] = float32(b) / 255
	}
}

// At returns the number at an index into the values of all rows.
func (v Values) At(i int) float64 {
	switch {
	case v.reals != nil:
		return float64(v.reals[i])
	case v.bits != nil:
		return float64(v.bits[i/v.Units*packedBytes(v.Units)+i%v.Units/8] >> (i % v.Units % 8) & 1)
	}
	return float64(v.bytes[i]) / 255
}

// mostExpected is the largest number of bytes that are read from disk before they are used.
const mostExpected = 64 << 20

// Part returns the rows from first up to but not including end.
func (v Values) Part(first, end int) Values {
	if v.disk && first < end {
		if of := v.mapped(first, end); len(of) < mostExpected {
			file.Expect(of)
		}
	}
	v.bytes, v.bits, v.reals = part(v.bytes, first, end, v.Units), part(v.bits, first, end, packedBytes(v.Units)), part(v.reals, first, end, v.Units)
	v.Rows = end - first
	return v
}

func part[T any](values []T, first, end, units int) []T {
	if values == nil {
		return nil
	}
	return values[first*units : end*units : end*units]
}

// Select returns the rows with the given indices.
func (v Values) Select(indices []int) Values { return v.selected(nil, nil, indices) }

// Keep is like Select, but may use the memory of v. The indices ascend.
func (v Values) Keep(indices []int) Values { return v.selected(v.bits[:0], v.reals[:0], indices) }

func (v Values) selected(bits []uint8, reals []float32, indices []int) Values {
	return Values{len(indices), v.Units, Select(nil, v.bytes, indices, v.Units), Select(bits, v.bits, indices, packedBytes(v.Units)), Select(reals, v.reals, indices, v.Units), false}
}

// Select appends the rows with the given indices. Each row has a number of values. It returns nil for nil.
func Select[T any](to, values []T, indices []int, units int) []T {
	if values == nil {
		return nil
	}
	to = slices.Grow(to, units*len(indices))
	for _, i := range indices {
		to = append(to, values[i*units:(i+1)*units]...)
	}
	return to
}

// Join returns the rows of v and then the rows of w, which are of the same kind.
func (v Values) Join(w Values) Values {
	v.disk = false
	v.Rows += w.Rows
	if v.bytes, v.reals = slices.Concat(v.bytes, w.bytes), slices.Concat(v.reals, w.reals); v.bits != nil || w.bits != nil {
		v.bytes, v.bits = slices.Concat(v.Part(0, v.Rows-w.Rows).Bytes(), w.Bytes()), nil
	}
	return v
}

// Fill returns the values with the bytes of a row in place of those that are missing in all rows.
func (v Values) Fill(missing []bool, row []uint8) Values {
	v.disk = false
	v.bytes, v.reals, v.bits = slices.Clone(v.Bytes()), slices.Clone(v.reals), nil
	for k := range v.Rows * v.Units {
		switch of := row[k%v.Units]; {
		case !missing[k%v.Units]:
		case v.reals != nil:
			v.reals[k] = float32(of) / 255
		default:
			v.bytes[k] = of
		}
	}
	return v
}

// AreGrey reports whether some values are bytes that are neither 0 nor 255.
func (v Values) AreGrey() bool {
	return slices.ContainsFunc(v.bytes, func(b uint8) bool { return b != 0 && b != 255 })
}

// WriteTo writes the values as they are in memory, real numbers in little-endian order.
func (v Values) WriteTo(w io.Writer) (int64, error) {
	for _, some := range [][]uint8{v.bytes, v.bits} {
		if _, err := w.Write(some); err != nil {
			return 0, err
		}
	}
	for some := range slices.Chunk(v.reals, 1<<16) { // each of which is copied
		if err := binary.Write(w, binary.LittleEndian, some); err != nil {
			return 0, err
		}
	}
	return int64(len(v.bytes) + len(v.bits) + 4*len(v.reals)), nil
}
