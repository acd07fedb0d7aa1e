package engine

import "fmt"

// Grid is how the units of a layer lie in an image: channel by channel within a
// position, position by position within a row.
type Grid struct {
	Height   int `json:"height"`
	Width    int `json:"width"`
	Channels int `json:"channels"`
}

// Units is the number of units.
func (g Grid) Units() int { return g.Height * g.Width * g.Channels }

func (g Grid) String() string { return fmt.Sprintf("%d×%d×%d", g.Height, g.Width, g.Channels) }

// Convolution joins a layer hⁱ on a fine grid to the layer hⁱ⁺¹ on a coarse one,
// of which each position sees a window of the fine grid. Position (y, x) of the
// coarse grid and (y·Stride+k, x·Stride+l) of the fine one are joined by the
// weights of tap (k, l), the same for all positions. Nothing is padded.
type Convolution struct {
	Fine     Grid `json:"fine"`     // of hⁱ
	Channels int  `json:"channels"` // of hⁱ⁺¹
	Height   int  `json:"height"`   // of the window, K
	Width    int  `json:"width"`    // of the window, L
	Stride   int  `json:"stride"`   // s
	// Recognition says that q(hⁱ⁺¹|hⁱ) is a convolution (Várady 2025, 7.20), Generative
	// that p(hⁱ|hⁱ⁺¹) is a deconvolution (Várady 2025, 7.21). The other is dense.
	Recognition bool `json:"recognition"`
	Generative  bool `json:"generative"`
}

// Coarse is the grid of hⁱ⁺¹.
func (c Convolution) Coarse() Grid {
	return Grid{(c.Fine.Height-c.Height)/c.Stride + 1, (c.Fine.Width-c.Width)/c.Stride + 1, c.Channels}
}

// Check refuses a window that does not cover the fine grid exactly.
func (c Convolution) Check() error {
	if c.Channels < 1 || c.Height < 1 || c.Width < 1 || c.Stride < 1 {
		return fmt.Errorf("a convolution of %d channels, windows of %d×%d and stride %d: give each at least 1", c.Channels, c.Height, c.Width, c.Stride)
	}
	if c.Fine.Height < 1 || c.Fine.Width < 1 || c.Fine.Channels < 1 {
		return fmt.Errorf("a convolution over a grid of %v: give each at least 1", c.Fine)
	}
	for _, n := range []int{c.Channels, c.Stride, c.Fine.Height, c.Fine.Width, c.Fine.Channels} {
		if n > 1<<18 {
			return fmt.Errorf("a convolution of %d channels and stride %d over a grid of %v: use at most %d of each", c.Channels, c.Stride, c.Fine, 1<<18)
		}
	}
	if c.Height > c.Fine.Height || c.Width > c.Fine.Width {
		return fmt.Errorf("a window of %d×%d is larger than the grid of %d×%d below it: make it smaller", c.Height, c.Width, c.Fine.Height, c.Fine.Width)
	}
	if (c.Fine.Height-c.Height)%c.Stride != 0 || (c.Fine.Width-c.Width)%c.Stride != 0 {
		return fmt.Errorf("windows of %d×%d at stride %d do not end at the edge of the grid of %d×%d below them: use windows of %d×%d, or stride 1",
			c.Height, c.Width, c.Stride, c.Fine.Height, c.Fine.Width, fitting(c.Fine.Height, c.Height, c.Stride), fitting(c.Fine.Width, c.Width, c.Stride))
	}
	return nil
}

// fitting is the smallest window, at least as long as the given one, that
// covers a length at a stride.
func fitting(length, window, stride int) int { return window + (length-window)%stride }

// Windows are the pixels of the fine grid, counted row by row, at which the K rows
// of the window of each position of the coarse grid begin.
func (c Convolution) Windows() (pixels []int) {
	coarse := c.Coarse()
	for y := range coarse.Height {
		for x := range coarse.Width {
			for k := range c.Height {
				pixels = append(pixels, (y*c.Stride+k)*c.Fine.Width+x*c.Stride)
			}
		}
	}
	return pixels
}

// Connection says how the outputs of a layer come from the states of its
// parents. At each position the outputs are W·u, where u = [1; patch] holds the
// states of some parents, and 0 where the position has none. The patch of a dense
// layer, which has one position, is all its parents; that of a position of the
// coarse grid is its window; that of a position of the fine grid has, for each tap
// of a window, the states of the position of the coarse grid that sees it there.
//
// Positions lie behind each other in the outputs of a layer. Within one, the
// outputs of its units do: for Gaussian units first all μ, then all a.
type Connection struct {
	Positions int
	Outputs   int // of a position: rows of W
	Inputs    int // columns of W, 1 + the size of a patch
	// Convolution is what joins the layers of a shared connection; it is zero in a
	// dense one.
	Convolution Convolution
	Down        bool // the positions are those of the fine grid: a deconvolution
}

func (c Connection) size() int { return c.Outputs * c.Inputs }

// Shared says whether several positions have the same weights.
func (c Connection) Shared() bool { return c.Convolution != (Convolution{}) }

// GenerativeConnection is that of p(hⁱ|hⁱ⁺¹), or of the prior.
func (a Architecture) GenerativeConnection(i int) Connection {
	if i == a.Depth() {
		return a.dense(i, 0)
	}
	if c := a.convolution(i); c.Generative {
		return Connection{
			Positions:   c.Fine.Height * c.Fine.Width,
			Outputs:     c.Fine.Channels * a.Kind(i).Outputs(),
			Inputs:      1 + c.Height*c.Width*c.Channels,
			Convolution: c,
			Down:        true,
		}
	}
	return a.dense(i, a.Units[i+1])
}

// RecognitionConnection is that of q(hⁱ|hⁱ⁻¹), i ≥ 1.
func (a Architecture) RecognitionConnection(i int) Connection {
	if c := a.convolution(i - 1); c.Recognition {
		coarse := c.Coarse()
		return Connection{
			Positions:   coarse.Height * coarse.Width,
			Outputs:     coarse.Channels * a.Kind(i).Outputs(),
			Inputs:      1 + c.Height*c.Width*c.Fine.Channels,
			Convolution: c,
		}
	}
	return a.dense(i, a.Units[i-1])
}

func (a Architecture) dense(i, parents int) Connection {
	return Connection{Positions: 1, Outputs: a.Units[i] * a.Kind(i).Outputs(), Inputs: 1 + parents}
}

func (a Architecture) convolution(i int) Convolution {
	if i < len(a.Convolutions) {
		return a.Convolutions[i]
	}
	return Convolution{}
}
