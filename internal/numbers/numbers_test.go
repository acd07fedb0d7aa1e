package numbers

import (
	"bytes"
	"slices"
	"testing"
)

// Rows of 0 and 1 are the same in bytes and in bits, and real numbers have the values of the bytes: one by one, by rows, in
// parts, selected, joined and filled in.
func TestKindsOfValuesAgree(t *testing.T) {
	const units = 11
	values, bits, reals := make([]uint8, 5*units), make([]uint8, 5*2), make([]float32, 5*units)
	for k := range values {
		if k*k%7 < 3 {
			values[k], reals[k] = 255, 1
			bits[k/units*2+k%units/8] |= 1 << (k % units % 8)
		}
	}
	missing, row := slices.Repeat([]bool{true, false}, 6)[:units], bytes.Repeat([]uint8{255}, units)
	for name, change := range map[string]func(Values) Values{
		"all": func(v Values) Values { return v }, "part": func(v Values) Values { return v.Part(1, 4) }, "selected": func(v Values) Values { return v.Select([]int{4, 0, 0}) },
		"joined": func(v Values) Values { return v.Part(3, 5).Join(v.Part(0, 2)) }, "filled": func(v Values) Values { return v.Fill(missing, row) },
		"kept": func(v Values) Values {
			v.bits, v.reals = slices.Clone(v.bits), slices.Clone(v.reals)
			return v.Keep([]int{0, 2, 3})
		},
	} {
		want := change(Bytes(units, values))
		for _, v := range []Values{change(Bits(units, bits)), change(Reals(units, reals))} {
			x, y := make([]float32, units), make([]float32, units)
			for i := range want.Rows {
				if v.Read(x, i); v.Check() != nil || v.Rows != want.Rows || !v.AreReal() && !slices.Equal(v.Row(i), want.Row(i)) {
					t.Fatalf("%s: row %d of %v differs from that of %v: %v", name, i, v, want, v.Check())
				}
				if want.Read(y, i); !slices.Equal(x, y) || v.At(i*units+3) != want.At(i*units+3) {
					t.Errorf("%s: row %d is %v, want %v", name, i, x, y)
				}
			}
			if !v.AreReal() && !slices.Equal(v.Bytes(), want.Bytes()) || v.AreGrey() {
				t.Errorf("%s: %v, want %v", name, v.Bytes(), want.Bytes())
			}
		}
	}
	if Bytes(units, values[1:]).Check() == nil || Bytes(2, []uint8{0, 255, 7}).Check() == nil || !Bytes(1, []uint8{7}).AreGrey() {
		t.Error("values that fill no row are accepted, or 7 is not grey")
	}
}
