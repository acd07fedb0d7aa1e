package engine

import "fmt"

// Grid arranges a layer's units as an image. The units are stored row by row, position by position
// within a row, and channel by channel within a position.
type Grid struct {
	Height   int `json:"height"`
	Width    int `json:"width"`
	Channels int `json:"channels"`
}

// Units returns the number of units.
func (g Grid) Units() int { return g.Height * g.Width * g.Channels }

func (g Grid) String() string { return fmt.Sprintf("%d×%d×%d", g.Height, g.Width, g.Channels) }

// Convolution connects a layer hⁱ on a fine grid to the layer hⁱ⁺¹ on a coarse grid. Each position
// of the coarse grid sees a window of the fine grid. The weights of tap (k, l) connect position (y,
// x) of the coarse grid to position (y·Stride+k, x·Stride+l) of the fine grid. All positions of the
// coarse grid share these weights. Nothing is padded.
type Convolution struct {
	Fine     Grid `json:"fine"`     // grid of hⁱ
	Channels int  `json:"channels"` // number of channels of hⁱ⁺¹
	Height   int  `json:"height"`   // height of the window, K
	Width    int  `json:"width"`    // width of the window, L
	Stride   int  `json:"stride"`   // s
	// Recognition makes q(hⁱ⁺¹|hⁱ) a convolution (Várady 2025, 7.20), and Generative makes
	// p(hⁱ|hⁱ⁺¹) a deconvolution (Várady 2025, 7.21). If its flag is false, a network connects the
	// two layers densely.
	Recognition bool `json:"recognition"`
	Generative  bool `json:"generative"`
}

// Coarse returns the grid of hⁱ⁺¹.
func (c Convolution) Coarse() Grid {
	return Grid{(c.Fine.Height-c.Height)/c.Stride + 1, (c.Fine.Width-c.Width)/c.Stride + 1, c.Channels}
}

// Check returns an error if the windows do not cover the fine grid exactly.
func (c Convolution) Check() error {
	if c.Channels < 1 || c.Height < 1 || c.Width < 1 || c.Stride < 1 {
		return fmt.Errorf("a convolution of %d channels, windows of %d×%d and stride %d: use at least 1 for each", c.Channels, c.Height, c.Width, c.Stride)
	}
	if c.Fine.Height < 1 || c.Fine.Width < 1 || c.Fine.Channels < 1 {
		return fmt.Errorf("a convolution over a grid of %v: use at least 1 for each dimension", c.Fine)
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

// fitting returns the length of the smallest window that is at least as long as the given window
// and ends exactly at the edge of a grid of this length at this stride.
func fitting(length, window, stride int) int { return window + (length-window)%stride }

// Windows returns the pixels of the fine grid at which the rows of the windows begin: K pixels for
// each position of the coarse grid. Pixels are counted row by row.
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

// Connection describes how the outputs of a layer are computed from the states of its parents. At
// each position, the outputs are W·u, where u = [1; patch]. The patch holds the states of some
// parents, or 0 for a parent that does not exist. A dense layer has one position, whose patch is
// all parents. The patch of a position of the coarse grid is its window. The patch of a position of
// the fine grid holds, for each tap of a window, the states of the coarse position that sees it
// through that tap.
//
// The outputs of a layer are stored position by position, and unit by unit within a position; the
// outputs of a position's Gaussian units are first all μ, then all a.
type Connection struct {
	Positions int
	Outputs   int // outputs per position: the rows of W
	Inputs    int // columns of W, 1 + the size of a patch
	// Convolution connects the layers of a shared connection. It is zero in a dense connection.
	Convolution Convolution
	Down        bool // positions lie on the fine grid: a deconvolution
}

func (c Connection) size() int { return c.Outputs * c.Inputs }

// Shared reports whether several positions share their weights.
func (c Connection) Shared() bool { return c.Convolution != (Convolution{}) }

// connection returns the connection of units of this kind on one grid to their parents on the other.
func (c Convolution) connection(own, parents Grid, kind Kind, down bool) Connection {
	return Connection{
		Positions: own.Height * own.Width, Outputs: own.Channels * kind.Outputs(),
		Inputs: 1 + c.Height*c.Width*parents.Channels, Convolution: c, Down: down,
	}
}
