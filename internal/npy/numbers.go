package npy

import (
	"encoding/binary"
	"math"
	"strings"
)

// Number describes a type of numbers in a file.
type Number struct {
	Width int                                            // bytes per number
	Value func(order binary.ByteOrder, b []byte) float64 // decodes Width bytes; nil if each number is an unsigned byte
}

// Values decodes all numbers in data.
func (n Number) Values(order binary.ByteOrder, data []byte) []float64 {
	values := make([]float64, len(data)/n.Width)
	for k := range values {
		values[k] = n.Value(order, data[k*n.Width:])
	}
	return values
}

// Numbers has the supported types of numbers, by their names in NumPy without the byte order, such as f4.
var Numbers = map[string]Number{
	"u1": {Width: 1},
	"b1": {Width: 1},
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

// Nearest returns the number of a type, named as in Numbers, to which a conversion rounds x, or NaN if the type has only
// whole numbers and x is not one of them. Other names stand for types that have any x.
func Nearest(kind string, x float64) float64 {
	low, high, bits := 0.0, 1.0, 8*Numbers[kind].Width
	switch kind {
	case "f2":
		_, exponent := math.Frexp(x)
		unit := math.Ldexp(1, max(exponent-11, -24))
		return math.RoundToEven(x/unit) * unit
	case "f4":
		return float64(float32(x))
	case "b1":
	case "u1", "u2", "u4", "u8":
		high = math.Ldexp(1, bits) - 1
	case "i1", "i2", "i4", "i8":
		low, high = -math.Ldexp(1, bits-1), math.Ldexp(1, bits-1)-1
	default:
		return x
	}
	if x != math.Trunc(x) || x < low || x > high {
		return math.NaN()
	}
	return x
}

// half decodes a number in half precision (IEEE 754 binary16): a sign, 5 bits of exponent and 10 of fraction.
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

// Order returns the byte order of a NumPy type such as >f4: big-endian after >, otherwise little-endian.
func Order(kind string) binary.ByteOrder {
	if strings.HasPrefix(kind, ">") {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

// ByRows returns an array of the given size in row-major (C) order, given its values in column-major (Fortran)
// order. It returns nil if values is nil.
func ByRows[T any](values []T, size []int) []T {
	if values == nil {
		return nil
	}
	ordered := make([]T, 0, len(values))
	index := make([]int, len(size))
	for range values {
		at := 0
		for d := len(size) - 1; d >= 0; d-- {
			at = at*size[d] + index[d]
		}
		ordered = append(ordered, values[at])
		for d := len(size) - 1; d >= 0; d-- {
			if index[d]++; index[d] < size[d] {
				break
			}
			index[d] = 0
		}
	}
	return ordered
}
