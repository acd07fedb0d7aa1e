package dataset

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/internal/philox"
	"github.com/helmholtz-go/helmholtz/internal/work"
)

// Mask marks which visible units are missing. You can make your own mask as a slice.
type Mask []bool

// ParseMask returns a mask for images of a shape:
//
//	left, right, top, bottom          half of the image is missing, including the middle if the size is odd
//	rectangle:ROW,COLUMN,HEIGHT,WIDTH a rectangle is missing; ROW,COLUMN is its upper left pixel, counted from 0
//	random:FRACTION                   a fraction of the pixels is missing, drawn from the seed
func ParseMask(text string, shape Shape, seed uint64) (Mask, error) {
	if err := shape.Check(); err != nil {
		return nil, fmt.Errorf("mask %q: %w", text, err)
	}
	kind, numbers, _ := strings.Cut(text, ":")
	var m Mask
	switch {
	case text == "left":
		m = rectangle(shape, 0, 0, shape.Height, (shape.Width+1)/2)
	case text == "right":
		m = rectangle(shape, 0, shape.Width/2, shape.Height, (shape.Width+1)/2)
	case text == "top":
		m = rectangle(shape, 0, 0, (shape.Height+1)/2, shape.Width)
	case text == "bottom":
		m = rectangle(shape, shape.Height/2, 0, (shape.Height+1)/2, shape.Width)
	case kind == "rectangle":
		r, err := fourNumbers(numbers)
		if err != nil {
			return nil, fmt.Errorf("mask %q: %w", text, err)
		}
		row, column, height, width := r[0], r[1], r[2], r[3]
		if height < 1 || width < 1 || row < 0 || column < 0 || height > shape.Height-row || width > shape.Width-column {
			return nil, fmt.Errorf("mask %q: the rectangle does not lie within images of %v pixels", text, shape)
		}
		m = rectangle(shape, row, column, height, width)
	case kind == "random":
		fraction, err := strconv.ParseFloat(numbers, 64)
		if err != nil || !(fraction > 0 && fraction < 1) {
			return nil, fmt.Errorf("mask %q: give the fraction of missing pixels between 0 and 1, as in random:0.5", text)
		}
		m = make(Mask, shape.Units())
		for _, j := range philox.NewStream(seed, philox.Hide, 0).Perm(len(m))[:int(fraction*float64(len(m))+0.5)] {
			m[j] = true
		}
	default:
		return nil, fmt.Errorf("mask %q%s: use left, right, top, bottom, rectangle:ROW,COLUMN,HEIGHT,WIDTH or random:FRACTION", text,
			names.Meant(kind, "left", "right", "top", "bottom", "rectangle", "random"))
	}
	if err := m.Check(shape); err != nil {
		return nil, fmt.Errorf("mask %q: %w", text, err)
	}
	return m, nil
}

func rectangle(shape Shape, row, column, height, width int) Mask {
	m := make(Mask, shape.Units())
	for r := row; r < row+height; r++ {
		for c := column; c < column+width; c++ {
			m[r*shape.Width+c] = true
		}
	}
	return m
}

func fourNumbers(text string) (n [4]int, err error) {
	parts := strings.Split(text, ",")
	if len(parts) != len(n) {
		return n, fmt.Errorf("give four numbers, as in rectangle:7,7,14,14")
	}
	for i, part := range parts {
		if n[i], err = strconv.Atoi(part); err != nil {
			return n, fmt.Errorf("%q is not a whole number", part)
		}
	}
	return n, nil
}

// HidesAll reports whether the mask hides all units. A nil mask, as Split.Mask returns for complete rows, hides none.
func (m Mask) HidesAll() bool { return len(m) > 0 && !slices.Contains(m, false) }

// Check refuses a mask that does not fit images of a shape: one with another number of pixels, or one that
// hides all pixels or none.
func (m Mask) Check(shape Shape) error {
	switch {
	case len(m) != shape.Units():
		return fmt.Errorf("a mask of %d pixels for images of %v, which have %d: make it for the shape of the data", len(m), shape, shape.Units())
	case m.HidesAll():
		return fmt.Errorf("the mask hides all %d pixels: leave some of them known", len(m))
	case !slices.Contains(m, true):
		return fmt.Errorf("the mask hides no pixel of %d: hide at least one", len(m))
	}
	return nil
}

// Inpaint returns the rows as images of a shape, with the pixels that the mask hides filled in once by each of a
// number of chains. fill returns the last states of one chain for each row. originals holds the rows as the model
// reads them. Rows of states and of originals may be longer than images. Check must accept the mask. progress, which
// may be nil, is called with the fraction of the chains done.
func (s Split) Inpaint(ctx context.Context, shape Shape, mask Mask, originals [][]float64, chains int, fill func(chain int) [][]float64, progress func(float64)) (Inpainting, error) {
	images := func(from [][]float64) Sheet {
		return s.masked(shape, mask, func(r, i int) float64 { return from[r][i] })
	}
	done := work.Meter(progress, chains)
	p := Inpainting{Originals: images(originals), Corrupted: s.masked(shape, mask, func(int, int) float64 { return 0.5 })}
	for chain := 0; chain < chains && ctx.Err() == nil; chain++ {
		p.Images = append(p.Images, images(fill(chain)))
		done(1)
	}
	return p, ctx.Err()
}

// masked returns the rows as images of a shape, with missing(r, i) in place of each pixel i of row r that the
// mask hides.
func (s Split) masked(shape Shape, mask Mask, missing func(r, i int) float64) Sheet {
	sheet := Sheet{Shape: shape, Values: make([][]float64, s.Rows)}
	for r := range sheet.Values {
		for i, x := range s.Floats(r)[0] {
			if mask[i] {
				x = missing(r, i)
			}
			sheet.Values[r] = append(sheet.Values[r], x)
		}
	}
	return sheet
}
