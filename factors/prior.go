package factors

import (
	"math"

	"github.com/helmholtz-go/helmholtz/internal/names"
)

// Prior is the prior of the values of a code. Its cost in the objective of sparse coding is c(h).
type Prior int

const (
	// LaplacePrior has the cost α|h|.
	LaplacePrior Prior = iota
	// StudentTPrior has the cost ½α(ν+1) ln(1 + h²/ν) of a Student-t distribution with ν degrees of freedom,
	// for noise of variance α.
	StudentTPrior
	// SpikeAndSlabPrior has the cost α + h²/2v for a value that is not 0. Values are 0 (the spike) or normal
	// (the slab), with v times the noise variance. α is the noise variance times the log-odds of a 0. The
	// code is the joint mode over the choice of zeros and the other values.
	SpikeAndSlabPrior
)

var priorNames = names.New("prior", "laplace", "student-t", "spike-and-slab")

func (p Prior) String() string                { return priorNames.Name(int(p)) }
func (p Prior) MarshalText() ([]byte, error)  { return priorNames.Marshal(int(p)) }
func (p *Prior) UnmarshalText(t []byte) error { return priorNames.Parse((*int)(p), t) }

// cost computes the cost of the values of a code.
type cost struct {
	prior                Prior
	alpha, freedom, slab float64 // α, ν and v
}

// of returns c(h).
func (c *cost) of(h float64) float64 {
	switch {
	case c.prior == StudentTPrior:
		return c.alpha * (c.freedom + 1) / 2 * math.Log1p(h*h/c.freedom)
	case h == 0:
		return 0
	case c.prior == SpikeAndSlabPrior:
		return c.alpha + h*h/(2*c.slab)
	}
	return c.alpha * math.Abs(h)
}

// least returns the h that minimises ½·curve·h² − at·h + c(h).
func (c *cost) least(at, curve float64) float64 {
	switch c.prior {
	case StudentTPrior:
		return math.Copysign(c.leastStudentT(math.Abs(at), curve), at)
	case SpikeAndSlabPrior:
		curve += 1 / c.slab
		if at*at <= 2*c.alpha*curve {
			return 0
		}
		return at / curve
	}
	switch {
	case at > c.alpha:
		return (at - c.alpha) / curve
	case at < -c.alpha:
		return (at + c.alpha) / curve
	}
	return 0
}

// leastStudentT implements least for a Student-t prior and at ≥ 0. The derivative times (ν + h²) is a cubic
// polynomial. leastStudentT returns the better of its smallest and its largest root; a third root between
// them is a maximum.
func (c *cost) leastStudentT(at, curve float64) float64 {
	ν, k := c.freedom, c.alpha*(c.freedom+1)/curve
	third := at / curve / 3
	p, q := (ν+k)/3-third*third, third*((ν+k)/2-third*third)-3*third*ν/2 // of t³ + 3pt + 2q, t = h − third
	var roots []float64
	if discriminant := q*q + p*p*p; discriminant >= 0 {
		root := math.Sqrt(discriminant)
		roots = []float64{math.Cbrt(root-q) - math.Cbrt(root+q)}
	} else {
		radius := math.Sqrt(-p)
		angle := math.Acos(-q/(radius*radius*radius)) / 3
		roots = []float64{2 * radius * math.Cos(angle), 2 * radius * math.Cos(angle+2*math.Pi/3)}
	}
	best, least := 0.0, math.Inf(1)
	for _, t := range roots {
		h := t + third
		for range 2 { // Newton steps remove rounding errors
			slope := curve + c.alpha*(ν+1)*(ν-h*h)/((ν+h*h)*(ν+h*h))
			h -= (curve*h - at + c.alpha*(ν+1)*h/(ν+h*h)) / slope
		}
		if value := curve*h*h/2 - at*h + c.of(h); value < least {
			best, least = h, value
		}
	}
	return best
}
