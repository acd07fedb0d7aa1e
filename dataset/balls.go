package dataset

import (
	"math"

	"github.com/helmholtz-go/helmholtz/internal/philox"
)

const (
	ballsSteps, ballsSide = 100, 15
	ballRadius, ballSpeed = 1.8, 0.75 // in pixels, and pixels per step
)

type ball struct{ at, by [2]float64 }

// readBalls makes films of three balls that bounce in a box (Sutskever, Hinton and Taylor 2009). A pixel is on
// if a ball covers its centre.
func readBalls(c collection) (source, error) {
	return c.synthesized(func(stream *philox.Stream, steps [][]uint8) {
		balls := dropBalls(stream)
		for _, frame := range steps {
			for k := range frame {
				for _, b := range balls {
					if math.Hypot(float64(k%ballsSide)+0.5-b.at[0], float64(k/ballsSide)+0.5-b.at[1]) < ballRadius {
						frame[k] = 255
					}
				}
			}
			moveBalls(&balls)
		}
	}), nil
}

// dropBalls draws the positions of the balls, such that no two balls touch, and their directions.
func dropBalls(stream *philox.Stream) (balls [3]ball) {
	uniform := func() float64 { return float64(philox.Uniform(stream.Uint32())) }
	for k := 0; k < len(balls); {
		b := &balls[k]
		for axis := range b.at {
			b.at[axis] = ballRadius + uniform()*(ballsSide-2*ballRadius)
		}
		b.by[1], b.by[0] = math.Sincos(2 * math.Pi * uniform())
		b.by[0], b.by[1] = ballSpeed*b.by[0], ballSpeed*b.by[1]
		k++
		for _, other := range balls[:k-1] {
			if math.Hypot(b.at[0]-other.at[0], b.at[1]-other.at[1]) < 2*ballRadius {
				k-- // redraw it
				break
			}
		}
	}
	return balls
}

// moveBalls moves balls by one step. They bounce off the walls, and off each other as equal masses do.
func moveBalls(balls *[3]ball) {
	for k := range balls {
		b := &balls[k]
		for axis := range b.at {
			b.at[axis] += b.by[axis]
			if b.at[axis] < ballRadius && b.by[axis] < 0 || b.at[axis] > ballsSide-ballRadius && b.by[axis] > 0 {
				b.by[axis] = -b.by[axis]
			}
		}
	}
	for k := range balls {
		for l := range k {
			a, b := &balls[k], &balls[l]
			x, y := b.at[0]-a.at[0], b.at[1]-a.at[1]
			d := math.Hypot(x, y)
			closing := ((a.by[0]-b.by[0])*x + (a.by[1]-b.by[1])*y) / d
			if d < 2*ballRadius && closing > 0 {
				a.by[0], a.by[1] = a.by[0]-closing*x/d, a.by[1]-closing*y/d
				b.by[0], b.by[1] = b.by[0]+closing*x/d, b.by[1]+closing*y/d
			}
		}
	}
}
