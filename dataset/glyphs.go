package dataset

import (
	"bytes"
	_ "embed"
	"encoding/binary"
	"math"
	"slices"
	"sync"

	"github.com/helmholtz-go/helmholtz/internal/philox"
)

const (
	glyphSize = 28
	glyphSeed = 1 // the set is the same for every Spec; Spec.Seed only divides it
)

// readGlyphs draws digits in several fonts, white on black, each randomly turned, slanted, stretched, scaled
// and moved a little. All classes have the same number of rows.
func readGlyphs(c collection) (source, error) {
	values, labels := allGlyphs()
	return cutAt(c.train, Shape{glyphSize, glyphSize}, slices.Clone(values), slices.Clone(labels)), nil
}

// GlyphTags names the tags of the set taggedglyphs. The tags are the pixels in the last row of an image; those
// that are on give its digit and the style of its font.
var GlyphTags = []string{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "medium", "bold", "italic", "mono"}

// fontTags lists the tags of each font, as indices into GlyphTags.
var fontTags = [...][]int{nil, {10}, {11}, {12}, {13}, {11, 13}, {12, 13}}

// readTaggedGlyphs puts the tags below each of the miniglyphs.
func readTaggedGlyphs(c collection) (source, error) {
	glyphs := c
	glyphs.shape = Shape{c.shape.Height - 1, c.shape.Width}
	s, err := shrunk(readGlyphs)(glyphs)
	if err != nil {
		return s, err
	}
	i := 0
	for _, part := range []*rows{&s.train, &s.test} {
		var values []uint8
		for r := range part.Rows {
			tags := make([]uint8, c.shape.Width)
			for _, tag := range append([]int{i % 10}, fontTags[i/10%len(fontTags)]...) {
				tags[tag] = 255
			}
			values = append(append(values, part.Row(r)...), tags...)
			i++
		}
		*part = bytesOf(c.shape, values, part.Labels)
	}
	return s, nil
}

// readFontGlyphs keeps the miniglyphs without the tag mono to train on, and the ones with it to test on.
func readFontGlyphs(c collection) (source, error) {
	tagged, _ := find("taggedglyphs")
	s, err := tagged.load()
	if err != nil {
		return s, err
	}
	for part, mono := range map[*rows]bool{&s.train: false, &s.test: true} {
		var values, labels []uint8
		for r, label := range part.Labels {
			if row := part.Row(r); (row[len(row)-1] > 0) == mono {
				values, labels = append(values, row[:c.shape.Units()]...), append(labels, label)
			}
		}
		*part = bytesOf(c.shape, values, labels)
	}
	return s, nil
}

// allGlyphs draws the glyphs of every set once in a process, for training and tests together.
var allGlyphs = sync.OnceValues(func() (values, labels []uint8) { return drawGlyphs(12_000, glyphSeed) })

func drawGlyphs(n int, seed uint64) (values, labels []uint8) {
	faces := digitOutlines()
	for i := range n {
		jitter := jitter{philox.NewStream(seed, philox.Synthesis, uint32(i))}
		digit := i % 10
		face := faces[i/10%len(faces)]
		labels = append(labels, uint8(digit))
		var c canvas
		face[digit].transform(jitter).drawOn(&c)
		values = c.appendTo(values)
	}
	return values, labels
}

// jitter draws the random numbers for one glyph.
type jitter struct{ stream *philox.Stream }

func (j jitter) between(low, high float32) float32 {
	return low + (high-low)*philox.Uniform(j.stream.Uint32())
}

// outline has closed curves. Each of its strokes takes the next points: m begins a curve, l draws a line to a point, and
// q draws a quadratic curve, with a control point before its end.
type outline struct {
	strokes string
	points  []point
}

type point struct{ x, y float32 }

// transform turns, slants and stretches the outline, and scales its height or its width, whichever is larger,
// to 17 to 21 pixels. It places the outline within a pixel and a half of the centre along each axis.
func (o outline) transform(j jitter) outline {
	angle := float64(j.between(-0.2, 0.2))
	sin, cos := float32(math.Sin(angle)), float32(math.Cos(angle))
	slant, stretch := j.between(-0.2, 0.2), j.between(0.85, 1.2)
	height := j.between(17, 21)
	center := point{glyphSize/2 + j.between(-1.5, 1.5), glyphSize/2 + j.between(-1.5, 1.5)}

	turned := o.each(func(p point) point {
		x := stretch*p.x + slant*p.y
		return point{cos*x - sin*p.y, sin*x + cos*p.y}
	})
	low, high := turned.bounds()
	scale := height / max(high.x-low.x, high.y-low.y)
	return turned.each(func(p point) point {
		return point{
			center.x + scale*(p.x-(low.x+high.x)/2),
			center.y + scale*(p.y-(low.y+high.y)/2),
		}
	})
}

func (o outline) each(f func(point) point) outline {
	mapped := outline{strokes: o.strokes}
	for _, p := range o.points {
		mapped.points = append(mapped.points, f(p))
	}
	return mapped
}

// bounds returns the rectangle around all points, including control points.
func (o outline) bounds() (low, high point) {
	low, high = o.points[0], o.points[0]
	for _, p := range o.points {
		low = point{min(low.x, p.x), min(low.y, p.y)}
		high = point{max(high.x, p.x), max(high.y, p.y)}
	}
	return low, high
}

func (o outline) drawOn(c *canvas) {
	var first, pen point
	to := func(end point) {
		c.line(pen, end)
		pen = end
	}
	for _, stroke := range o.strokes {
		a := o.points[0]
		switch stroke {
		case 'm':
			to(first)
			first, pen = a, a
		case 'l':
			to(a)
		case 'q':
			start, b := pen, o.points[1]
			dx, dy := start.x-2*a.x+b.x, start.y-2*a.y+b.y
			if bent := dx*dx + dy*dy; bent >= 0.333 { // of square pixels, from where a line would show
				lines := 1 + int(math.Sqrt(math.Sqrt(3*float64(bent))))
				t, step := float32(0), 1/float32(lines)
				for range lines - 1 {
					t += step
					to(start.towards(a, t).towards(a.towards(b, t), t))
				}
			}
			to(b)
			o.points = o.points[1:]
		}
		o.points = o.points[1:]
	}
	to(first)
}

// towards returns the point on the way to q after a share t of it.
func (p point) towards(q point, t float32) point {
	return point{p.x + t*(q.x-p.x), p.y + t*(q.y-p.y)}
}

// canvas sums areas below the lines of an outline in numbers of 1/one of a pixel. Each pixel has the difference
// between its area and the area of the pixel before it, in units of 1/one².
type canvas [glyphSize * glyphSize]int

const one = 1 << 9

// line adds the area to the right of a line, positive if the line goes down.
func (c *canvas) line(a, b point) {
	sign := 1
	if a.y > b.y {
		sign, a, b = -1, b, a
	}
	if b.y-a.y <= 0.000001 {
		return
	}
	slope := (b.x - a.x) / (b.y - a.y)
	top, bottom, x := int(a.y*one), int(b.y*one), int(a.x*one)
	for y := top / one; y*one < bottom; y++ {
		height := min((y+1)*one, bottom) - max(y*one, top)
		next := x + int(float32(height)*slope)
		low, high := min(x, next), max(x, next)
		first, pixels := low>>9, c[y*glyphSize:]
		add := func(i, area int) {
			// Rounding moves the ends of an almost horizontal line, even beyond the row.
			if i = min(max(i, 0), glyphSize); i < len(pixels) {
				pixels[i] += area
			}
		}
		if high <= (first+1)*one {
			share := (x+next)>>1 - first*one
			add(first, sign*height*(one-share))
			add(first+1, sign*height*share)
		} else {
			// The area of the row to the left of t grows with the square of the part of the line that lies there.
			area := func(t int) int {
				part := min(max(t-low, 0), high-low)
				return part * (part + 2*max(t-high, 0))
			}
			for i := first; (i-1)*one < high; i++ {
				change := area((i+1)*one) - 2*area(i*one) + area((i-1)*one)
				add(i, sign*height*change/(2*(high-low)))
			}
		}
		x = next
	}
}

// appendTo appends the pixels, from 0 for black to 255 for white.
func (c *canvas) appendTo(values []uint8) []uint8 {
	sum := 0
	for _, change := range c {
		sum += change
		values = append(values, uint8(min(max(sum, -sum)>>10, 255)))
	}
	return values
}

// glyphsOfGo has the outlines of the digits in seven fonts of the Go project, as the test of this file writes them.
//
//go:embed glyphs.bin
var glyphsOfGo []byte

// digitOutlines returns the outlines of the digits 0 to 9 for each font. In the file, each outline has a line of strokes,
// followed by the coordinates of its points, in 1/64 of a thousandth of the height of the font.
var digitOutlines = sync.OnceValue(func() (faces [len(fontTags)][10]outline) {
	left := glyphsOfGo
	read := func() float32 {
		n, size := binary.Varint(left)
		left = left[size:]
		return float32(n)
	}
	for f := range faces {
		for digit := range faces[f] {
			o, strokes := &faces[f][digit], []byte(nil)
			strokes, left, _ = bytes.Cut(left, []byte("\n"))
			o.strokes = string(strokes)
			for range len(strokes) + bytes.Count(strokes, []byte("q")) {
				o.points = append(o.points, point{read(), read()})
			}
		}
	}
	return faces
})
