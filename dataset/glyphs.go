package dataset

import (
	"bytes"
	_ "embed"
	"encoding/binary"
	"image"
	"math"
	"sync"

	"golang.org/x/image/vector"

	"github.com/helmholtz-go/helmholtz/internal/philox"
)

const (
	glyphSize = 28
	glyphSeed = 1 // the set is the same for every Spec; Spec.Seed only divides it
)

// readGlyphs draws digits in several fonts, white on black, each randomly turned, slanted, stretched, scaled
// and moved a little. All classes have the same number of rows.
func readGlyphs(c collection) (source, error) {
	values, labels := drawGlyphs(c.train+c.test, glyphSeed)
	return cutAt(c.train, Shape{glyphSize, glyphSize}, values, labels), nil
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

func drawGlyphs(n int, seed uint64) (values, labels []uint8) {
	faces := digitOutlines()
	canvas := vector.NewRasterizer(glyphSize, glyphSize)
	for i := range n {
		jitter := jitter{philox.NewStream(seed, philox.Synthesis, uint32(i))}
		digit := i % 10
		face := faces[i/10%len(faces)]
		labels = append(labels, uint8(digit))
		canvas.Reset(glyphSize, glyphSize)
		face[digit].transform(jitter).drawOn(canvas)
		drawn := image.NewAlpha(canvas.Bounds())
		canvas.Draw(drawn, canvas.Bounds(), image.Opaque, image.Point{})
		values = append(values, drawn.Pix...)
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

func (o outline) drawOn(canvas *vector.Rasterizer) {
	for _, stroke := range o.strokes {
		a := o.points[0]
		switch stroke {
		case 'm':
			canvas.ClosePath()
			canvas.MoveTo(a.x, a.y)
		case 'l':
			canvas.LineTo(a.x, a.y)
		case 'q':
			canvas.QuadTo(a.x, a.y, o.points[1].x, o.points[1].y)
			o.points = o.points[1:]
		}
		o.points = o.points[1:]
	}
	canvas.ClosePath()
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
