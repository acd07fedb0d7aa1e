package dataset

import (
	"fmt"
	"image"
	"math"
	"slices"
	"sync"

	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goitalic"
	"golang.org/x/image/font/gofont/gomedium"
	"golang.org/x/image/font/gofont/gomono"
	"golang.org/x/image/font/gofont/gomonobold"
	"golang.org/x/image/font/gofont/gomonoitalic"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
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
	all, err := drawGlyphs(c.train+c.test, glyphSeed)
	if err != nil {
		return source{}, err
	}
	return all.cutAt(c.train), nil
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
		for image := range slices.Chunk(part.values, glyphs.shape.Units()) {
			tags := make([]uint8, c.shape.Width)
			for _, tag := range append([]int{i % 10}, fontTags[i/10%len(fontTags)]...) {
				tags[tag] = 255
			}
			values = append(append(values, image...), tags...)
			i++
		}
		part.shape, part.values = c.shape, values
	}
	return s, nil
}

func drawGlyphs(n int, seed uint64) (rows, error) {
	faces, err := digitOutlines()
	if err != nil {
		return rows{}, fmt.Errorf("reading the fonts: %w", err)
	}
	shape := Shape{glyphSize, glyphSize}
	drawn := rows{shape: shape, values: make([]uint8, n*shape.Units()), labels: make([]uint8, n)}
	canvas := vector.NewRasterizer(glyphSize, glyphSize)
	for i := range n {
		jitter := jitter{philox.NewStream(seed, philox.Synthesis, uint32(i))}
		digit := i % 10
		face := faces[i/10%len(faces)]
		drawn.labels[i] = uint8(digit)
		canvas.Reset(glyphSize, glyphSize)
		face[digit].transform(jitter).drawOn(canvas)
		canvas.Draw(
			&image.Alpha{Pix: drawn.values[i*shape.Units() : (i+1)*shape.Units()], Stride: glyphSize, Rect: canvas.Bounds()},
			canvas.Bounds(), image.Opaque, image.Point{})
	}
	return drawn, nil
}

// jitter draws the random numbers for one glyph.
type jitter struct{ stream *philox.Stream }

func (j jitter) between(low, high float32) float32 {
	return low + (high-low)*philox.Uniform(j.stream.Uint32())
}

type outline []stroke

type stroke struct {
	op     sfnt.SegmentOp
	points [2]point // the last one used is the end of the stroke
}

type point struct{ x, y float32 }

// ends returns the number of points that a stroke uses.
func (s stroke) ends() int {
	if s.op == sfnt.SegmentOpQuadTo {
		return 2
	}
	return 1
}

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
	mapped := make(outline, len(o))
	for i, s := range o {
		mapped[i].op = s.op
		for k := range s.ends() {
			mapped[i].points[k] = f(s.points[k])
		}
	}
	return mapped
}

// bounds returns the rectangle around all points, including control points.
func (o outline) bounds() (low, high point) {
	low, high = o[0].points[0], o[0].points[0]
	for _, s := range o {
		for _, p := range s.points[:s.ends()] {
			low = point{min(low.x, p.x), min(low.y, p.y)}
			high = point{max(high.x, p.x), max(high.y, p.y)}
		}
	}
	return low, high
}

func (o outline) drawOn(canvas *vector.Rasterizer) {
	for _, s := range o {
		a, b := s.points[0], s.points[1]
		switch s.op {
		case sfnt.SegmentOpMoveTo:
			canvas.ClosePath()
			canvas.MoveTo(a.x, a.y)
		case sfnt.SegmentOpLineTo:
			canvas.LineTo(a.x, a.y)
		case sfnt.SegmentOpQuadTo:
			canvas.QuadTo(a.x, a.y, b.x, b.y)
		}
	}
	canvas.ClosePath()
}

// digitOutlines returns the outlines of the digits 0 to 9 for each font. TrueType outlines consist only of
// lines and quadratic curves.
var digitOutlines = sync.OnceValues(func() ([][10]outline, error) {
	var faces [][10]outline
	var buffer sfnt.Buffer
	for _, ttf := range [][]byte{
		goregular.TTF, gomedium.TTF, gobold.TTF, goitalic.TTF, gomono.TTF, gomonobold.TTF, gomonoitalic.TTF,
	} {
		parsed, err := sfnt.Parse(ttf)
		if err != nil {
			return nil, err
		}
		var face [10]outline
		for digit := range face {
			index, err := parsed.GlyphIndex(&buffer, rune('0'+digit))
			if err != nil {
				return nil, err
			}
			const height = 1000 // large, so that rounding to 1/64 does not show
			segments, err := parsed.LoadGlyph(&buffer, index, fixed.I(height), nil)
			if err != nil {
				return nil, err
			}
			for _, s := range segments {
				var points [2]point
				for k := range points {
					points[k] = point{float32(s.Args[k].X), float32(s.Args[k].Y)}
				}
				face[digit] = append(face[digit], stroke{op: s.Op, points: points})
			}
		}
		faces = append(faces, face)
	}
	return faces, nil
})
