package dataset

import (
	"bufio"
	"io"
	"slices"

	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/memory"
	"github.com/helmholtz-go/helmholtz/internal/numbers"
)

// leastPacked is the smallest number of values that are stored with one bit per value instead of one byte, if
// all are 0 or 1.
var leastPacked = 1 << 28

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
	all := make([]uint8, 0, rows*((units+7)/8))
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

// eachPart passes on the values of 1024 rows at a time, bits as bytes.
func (s Split) eachPart(pass func(Values)) {
	for first := 0; first < s.Rows; first += 1024 {
		some := s.Part(first, min(first+1024, s.Rows))
		if some.AreBits() {
			some = Bytes(s.Units, some.Bytes())
		}
		pass(some)
	}
}

// byRows takes rows of bits that follow each other without gaps. It returns them as bytes, or as bits if there are
// leastPacked values or more.
func byRows(bits []uint8, rows, units int) Values {
	if rows*units < leastPacked {
		values := make([]uint8, rows*units)
		kernels.Unpack(values, bits)
		return Bytes(units, values)
	}
	if units%8 == 0 {
		return numbers.Bits(units, bits)
	}
	var packed []uint8
	eight := make([]uint8, 8*units)
	for first := 0; first < rows; first += 8 {
		part := eight[:min(8, rows-first)*units]
		kernels.Unpack(part, bits[first/8*units:])
		for row := range slices.Chunk(part, units) {
			packed = packBits(packed, row)
		}
	}
	return numbers.Bits(units, packed)
}
