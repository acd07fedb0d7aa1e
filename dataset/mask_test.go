package dataset

import (
	"context"
	"errors"
	"strings"
	"testing"
)

// picture draws a mask, # where pixels are missing.
func picture(m Mask, width int) string {
	var b strings.Builder
	for j, missing := range m {
		if j > 0 && j%width == 0 {
			b.WriteByte('/')
		}
		if missing {
			b.WriteByte('#')
		} else {
			b.WriteByte('.')
		}
	}
	return b.String()
}

func TestMasks(t *testing.T) {
	for text, want := range map[string]string{
		"left":              "##./##./##./##.",
		"right":             ".##/.##/.##/.##",
		"top":               "###/###/.../...",
		"bottom":            ".../.../###/###",
		"rectangle:1,0,2,1": ".../#../#../...",
		"rectangle:3,2,1,1": ".../.../.../..#",
	} {
		m, err := ParseMask(text, Shape{4, 3}, 1)
		if err != nil {
			t.Fatal(err)
		}
		if got := picture(m, 3); got != want {
			t.Errorf("%s hides %s, want %s", text, got, want)
		}
	}
}

// A mask hides all units if it leaves none known. The mask of a complete row is nil and hides none.
func TestMasksThatHideAll(t *testing.T) {
	rows := Split{Shape: Shape{1, 2}, Values: Bytes(2, make([]uint8, 6)), Missing: []bool{true, true, true, false, false, false}}
	for r, want := range []bool{true, false, false} {
		if got := rows.Mask(r).HidesAll(); got != want {
			t.Errorf("row %d with the mask %v: %v, want %v", r, rows.Mask(r), got, want)
		}
	}
}

func TestRandomMasks(t *testing.T) {
	masks := map[string]bool{}
	for seed := range uint64(5) {
		m, err := ParseMask("random:0.3", Shape{10, 10}, seed)
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(picture(m, 10), "#"); n != 30 {
			t.Errorf("random:0.3 hides %d of 100 pixels", n)
		}
		masks[picture(m, 10)] = true
	}
	if len(masks) != 5 {
		t.Errorf("5 seeds give %d different masks", len(masks))
	}
}

func TestMasksThatMakeNoSense(t *testing.T) {
	for text, want := range map[string]string{
		"":                    "use left, right",
		"middle":              "use left, right",
		"left:":               "use left, right",
		"rectangle":           "give four numbers",
		"rectangle:1,2,3":     "give four numbers",
		"rectangle:1,2,3,x":   `"x" is not a whole number`,
		"rectangle:0,0,5,1":   "does not lie within images of 4×3",
		"rectangle:-1,0,1,1":  "does not lie within",
		"rectangle:0,0,0,1":   "does not lie within",
		"rectangle:0,0,4,3":   "hides all 12 pixels",
		"random":              "between 0 and 1",
		"random:1":            "between 0 and 1",
		"random:NaN":          "between 0 and 1",
		"random:0.0000000001": "hides no pixel of 12",
	} {
		if _, err := ParseMask(text, Shape{4, 3}, 1); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error of %q is %v, want one that says %q", text, err, want)
		}
	}
}

// Whatever the text, a mask fits its shape and hides some pixels, not all.
func FuzzParseMask(f *testing.F) {
	f.Add("left", 4, 3)
	f.Add("rectangle:1,0,2,1", 4, 3)
	f.Add("rectangle:9223372036854775807,0,2,1", 4, 3)
	f.Add("random:0.5", 28, 28)
	f.Fuzz(func(t *testing.T, text string, height, width int) {
		if height < 1 || width < 1 || height > 100 || width > 100 {
			t.Skip()
		}
		s := Shape{Height: height, Width: width}
		m, err := ParseMask(text, s, 1)
		if err != nil {
			return
		}
		if missing := strings.Count(picture(m, width), "#"); len(m) != s.Units() || missing == 0 || missing == len(m) {
			t.Errorf("%q hides %d of %d pixels of %v", text, missing, len(m), s)
		}
	})
}

// Inpainting draws no further chain once its context has ended.
func TestInpaintingStopsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	rows, filled := Split{Shape: Shape{1, 2}, Values: Bytes(2, []uint8{0, 255})}, 0
	_, err := rows.Inpaint(ctx, rows.Shape, Mask{true, false}, rows.Floats(), 9, func(int) [][]float64 {
		if filled++; filled == 2 {
			cancel()
		}
		return rows.Floats()
	}, nil)
	if !errors.Is(err, context.Canceled) || filled != 2 {
		t.Errorf("%d chains, %v", filled, err)
	}
}
