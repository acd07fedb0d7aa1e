package plotting

import (
	"fmt"
	"image"
	stddraw "image/draw"
	"math"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
)

// FisherStructure draws where the Fisher matrix of the generative network is not zero (Várady 2025,
// Fig 4.1). Each unit has a block, whose rows and columns are the unit's bias and weights. The bottom
// layer is at the upper left, the prior at the lower right. Dotted squares mark whole layers.
func FisherStructure(a engine.Architecture) *Figure {
	if err := a.Check(); err != nil {
		return failed(err)
	}
	layers := fisherLayers(a)
	n := float64(a.GenerativeSize())
	panel := newPanel("index of parameter of p", "index of parameter of p")
	panel.Add(raster{n, n, func(width, height int, dpi float64) image.Image {
		return paintBlocks(layers, n, width, height, max(1, int(1.5*dpi/72)))
	}})
	panel.X.Tick.Marker, panel.Y.Tick.Marker = linearTicks{integers: true, few: true}, linearTicks{integers: true, few: true}
	panel.Y.Scale = plot.InvertedScale{Normalizer: plot.LinearScale{}}
	panel.X.Padding, panel.Y.Padding = 0, 0

	f := newFigure(panel)
	f.aspect, f.width = 1, 1.1*usualHeight
	nonzero := 0.0
	for i, l := range layers {
		nonzero += float64(l.blocks) * float64(l.size) * float64(l.size)
		panel.Add(&plotter.Line{XYs: l.square(), LineStyle: dotted})
		f.legend.add(l.label(i, len(layers)), &plotter.Polygon{Color: paletteColor(i)})
	}
	f.legend.add("one whole layer", sample(dotted))
	f.title = fmt.Sprintf("Fisher matrix of p: %s parameters, %s of the entries in blocks", integer(int(n)), percent(nonzero/(n*n)))
	return f
}

// fisherLayer is a layer's part of the Fisher matrix: blocks of equal size along the diagonal.
type fisherLayer struct {
	start, blocks, size int
}

func fisherLayers(a engine.Architecture) []fisherLayer {
	layers := make([]fisherLayer, len(a.Units))
	start := 0
	for i := range a.Units {
		c := engine.Generative.Connection(a, i)
		layers[i] = fisherLayer{start, c.Outputs, c.Inputs}
		start += c.Outputs * c.Inputs
	}
	return layers
}

func (l fisherLayer) label(i, layers int) string {
	name := fmt.Sprintf("layer %d", i)
	switch i {
	case 0:
		name = "layer 0 (x)"
	case layers - 1:
		name += " (prior)"
	}
	blocks := "blocks"
	if l.blocks == 1 {
		blocks = "block"
	}
	return fmt.Sprintf("%s: %s %s of %s × %s", name, integer(l.blocks), blocks, integer(l.size), integer(l.size))
}

func (l fisherLayer) square() plotter.XYs {
	low, high := float64(l.start), float64(l.start+l.blocks*l.size)
	return plotter.XYs{{X: low, Y: low}, {X: high, Y: low}, {X: high, Y: high}, {X: low, Y: high}, {X: low, Y: low}}
}

// paintBlocks draws a matrix of n rows. It makes no block narrower than least pixels, so that all blocks
// are visible.
func paintBlocks(layers []fisherLayer, n float64, width, height, least int) image.Image {
	img := image.NewNRGBA(image.Rect(0, 0, width, height))
	side := func(from, to, pixels int) (int, int) {
		low := min(int(math.Round(float64(from)/n*float64(pixels))), pixels-least)
		return low, max(int(math.Round(float64(to)/n*float64(pixels))), low+least)
	}
	for i, l := range layers {
		for b := range l.blocks {
			from := l.start + b*l.size
			left, right := side(from, from+l.size, width)
			top, bottom := side(from, from+l.size, height)
			stddraw.Draw(img, image.Rect(left, top, right, bottom), image.NewUniform(paletteColor(i)), image.Point{}, stddraw.Src)
		}
	}
	return img
}
