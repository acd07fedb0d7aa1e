package cpu

import (
	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
)

// windows locates, in a fine grid, the windows of the positions of a coarse grid. A gathered window
// is one row of a matrix: the K rows of the window, with L pixels each, one after another. The
// numbers of a pixel are consecutive.
type windows struct {
	positions, height, width int
	pixels                   []int // pixels of the fine grid where the rows of each window begin
}

func newWindows(c engine.Convolution) windows {
	coarse := c.Coarse()
	return windows{coarse.Height * coarse.Width, c.Height, c.Width, c.Windows()}
}

// gather copies the window of each position from a fine grid to a row of seen.
func (w windows) gather(seen kernels.Matrix, fine []float32) {
	length := seen.Cols / w.height
	depth := length / w.width
	for position := range w.positions {
		window := kernels.Row(seen, position)
		for k, pixel := range w.pixels[position*w.height : (position+1)*w.height] {
			copy(window[k*length:(k+1)*length], fine[pixel*depth:])
		}
	}
}

// scatter adds the window of each position, a row of given, to a fine grid.
func (w windows) scatter(fine []float32, given kernels.Matrix) {
	length := given.Cols / w.height
	depth := length / w.width
	for position := range w.positions {
		window := kernels.Row(given, position)
		for k, pixel := range w.pixels[position*w.height : (position+1)*w.height] {
			sums := fine[pixel*depth:][:length]
			for j, x := range window[k*length : (k+1)*length] {
				sums[j] += x
			}
		}
	}
}
