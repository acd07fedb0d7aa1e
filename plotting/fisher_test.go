package plotting

import (
	"image/color"
	"slices"
	"testing"

	"github.com/helmholtz-go/helmholtz/hm/engine"
)

// Várady 2025, Fig 4.1: a block of size fan-in + 1 for each unit, bottom layer first.
func TestFisherLayers(t *testing.T) {
	a := engine.Architecture{Units: []int{6, 3, 2}}
	layers := fisherLayers(a)
	want := []fisherLayer{{0, 6, 4}, {24, 3, 3}, {33, 2, 1}}
	if !slices.Equal(layers, want) {
		t.Fatalf("%v, want %v", layers, want)
	}
	if last := layers[2]; last.start+last.blocks*last.size != a.GenerativeSize() {
		t.Errorf("blocks for %d parameters of %d", last.start+last.blocks*last.size, a.GenerativeSize())
	}
}

// With one pixel per parameter, exactly the entries shared by two parameters of one unit are
// painted.
func TestPaintedBlocks(t *testing.T) {
	layers := fisherLayers(engine.Architecture{Units: []int{6, 3, 2}})
	const n = 35
	var unit []int
	for _, l := range layers {
		for range l.blocks {
			u := len(unit)
			for range l.size {
				unit = append(unit, u)
			}
		}
	}
	img := paintBlocks(layers, n, n, n, 1)
	for y := range n {
		for x := range n {
			painted := img.At(x, y) != color.NRGBA{}
			if painted != (unit[x] == unit[y]) {
				t.Fatalf("entry %d, %d painted: %v", y, x, painted)
			}
		}
	}
}
