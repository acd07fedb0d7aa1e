package dataset

import (
	"bufio"
	"io"
	"iter"
	"slices"

	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/memory"
)

// leastPacked is the smallest number of values that are stored with one bit per value instead of one byte, if
// all are 0 or 1.
var leastPacked = 1 << 28

// packedBytes returns the number of bytes of a packed row.
func packedBytes(units int) int { return (units + 7) / 8 }

// packFile returns the packed rows of a large uncompressed file of bytes that are all 0 or 1. It returns nil for
// any other file, which is then read as bytes.
func packFile(r io.Reader, header int, size []int) []uint8 {
	in, ok := r.(*input)
	values := int64(1)
	for _, n := range size {
		values = memory.Product(values, max(0, int64(n)))
	}
	if !ok || in.at == nil || in.size-int64(header) != values || values < int64(leastPacked) || len(size) < 2 {
		return nil
	}
	rows, units := size[0], int(values)/size[0]
	if checkRoom(int64(rows), values/8, 2) != nil {
		return nil
	}
	all := make([]uint8, 0, rows*packedBytes(units))
	from := bufio.NewReaderSize(io.NewSectionReader(in.at, int64(header), values), 1<<20)
	row := make([]uint8, units)
	for range rows {
		if _, err := io.ReadFull(from, row); err != nil || slices.Max(row) > 1 {
			return nil
		}
		all = packBits(all, row)
	}
	return all
}

// unpackRows returns the values of packed rows. It reuses the memory of values if that slice is large enough.
func unpackRows(values, packed []uint8, units int) []uint8 {
	width := packedBytes(units)
	n := len(packed) / width * units
	values = slices.Grow(values[:0], n)[:n]
	for i := range len(packed) / width {
		kernels.Unpack(values[i*units:(i+1)*units], packed[i*width:])
	}
	return values
}

// unpacked yields the grey values of the rows in order: all rows together or, if they are packed, 1024 rows at a
// time. A slice of packed rows is valid until the next one is yielded.
func (s Split) unpacked() iter.Seq[[]uint8] {
	return func(yield func([]uint8) bool) {
		if s.Bits == nil {
			yield(s.Values)
			return
		}
		var values []uint8
		for some := range slices.Chunk(s.Bits, 1024*packedBytes(s.Shape.Units())) {
			if values = unpackRows(values, some, s.Shape.Units()); !yield(values) {
				return
			}
		}
	}
}

// byRows takes rows of bits that follow each other without gaps. It returns their values, or packed rows if
// there are leastPacked values or more.
func byRows(bits []uint8, rows, units int) (values, packed []uint8) {
	if rows*units < leastPacked {
		values = make([]uint8, rows*units)
		kernels.Unpack(values, bits)
		return values, nil
	}
	if units%8 == 0 {
		return nil, bits
	}
	eight := make([]uint8, 8*units)
	for first := 0; first < rows; first += 8 {
		part := eight[:min(8, rows-first)*units]
		kernels.Unpack(part, bits[first/8*units:])
		for row := range slices.Chunk(part, units) {
			packed = packBits(packed, row)
		}
	}
	return nil, packed
}
