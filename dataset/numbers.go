package dataset

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
)

// number is how a file writes a number: its width in bytes, and what the bytes mean. Without a meaning
// they are unsigned bytes.
type number struct {
	width int
	value func(order binary.ByteOrder, b []byte) float64
}

// numbers are the types of numbers, by the names of NumPy.
var numbers = map[string]number{
	"u1": {width: 1},
	"b1": {width: 1},
	"i1": {1, func(_ binary.ByteOrder, b []byte) float64 { return float64(int8(b[0])) }},
	"u2": {2, func(o binary.ByteOrder, b []byte) float64 { return float64(o.Uint16(b)) }},
	"i2": {2, func(o binary.ByteOrder, b []byte) float64 { return float64(int16(o.Uint16(b))) }},
	"u4": {4, func(o binary.ByteOrder, b []byte) float64 { return float64(o.Uint32(b)) }},
	"i4": {4, func(o binary.ByteOrder, b []byte) float64 { return float64(int32(o.Uint32(b))) }},
	"u8": {8, func(o binary.ByteOrder, b []byte) float64 { return float64(o.Uint64(b)) }},
	"i8": {8, func(o binary.ByteOrder, b []byte) float64 { return float64(int64(o.Uint64(b))) }},
	"f2": {2, func(o binary.ByteOrder, b []byte) float64 { return half(o.Uint16(b)) }},
	"f4": {4, func(o binary.ByteOrder, b []byte) float64 { return float64(math.Float32frombits(o.Uint32(b))) }},
	"f8": {8, func(o binary.ByteOrder, b []byte) float64 { return math.Float64frombits(o.Uint64(b)) }},
}

// half returns a number of half precision: a sign, 5 bits of the exponent and 10 of the fraction.
func half(bits uint16) float64 {
	exponent, fraction := int(bits>>10&0x1f), float64(bits&0x3ff)/1024
	v := math.Ldexp(1+fraction, exponent-15)
	switch {
	case exponent == 0:
		v = math.Ldexp(fraction, -14)
	case exponent == 31 && fraction == 0:
		v = math.Inf(1)
	case exponent == 31:
		return math.NaN()
	}
	if bits>>15 == 1 {
		return -v
	}
	return v
}

// read reads the values of an array behind a header of some bytes into it, and says how many bytes there
// are: one more than those of the array if the file goes on behind them.
func (n number) read(r io.Reader, header int, a *tensor, order binary.ByteOrder) (bytes int, err error) {
	each := int64(bytesEach)
	if n.value != nil {
		each = numbersEach
	}
	count, err := checkArray(a.size, each)
	if err != nil {
		return 0, fmt.Errorf("the header claims too much, or nothing, with %w", err)
	}
	if n.value == nil {
		a.bytes, bytes, err = readRest(r, header, count, 1, func(block []byte) []uint8 { return block })
		return bytes, err
	}
	a.numbers, bytes, err = readRest(r, header, count, n.width, func(block []byte) []float64 {
		values := make([]float64, len(block)/n.width)
		for i := range values {
			values[i] = n.value(order, block[i*n.width:])
		}
		return values
	})
	return bytes, err
}
