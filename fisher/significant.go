package fisher

import (
	"math"
	"slices"

	"github.com/helmholtz-go/helmholtz/internal/kernels"
)

// negligible is the relative error ‖y − ŷ‖/‖y‖ of an inverse applied to any
// vector that samples left out of a block may cause: with Float32 less than the
// rounding of the inverse itself, with Int16 less than that of its storage.
func negligible(p Precision) float64 {
	if p == Int16 {
		return 0x1p-10
	}
	return 0x1p-20
}

// selection is the samples that the blocks of a layer need. Importance weights
// are mostly those of a few samples a datum, and a unit that hardly varies has
// σ'(a) near 0.
type selection struct {
	rows  []int32   // samples that some unit needs
	units [][]int32 // those of each unit as positions in rows, the weightiest first
}

// significant leaves samples out of the block of a unit as long as they are
// negligible together. Without a part D of F, the inverse Â = αI + F − D gives
// ŷ = Â⁻¹ g for y = A⁻¹ g, and
//
//	ŷ − y = Â⁻¹ D y,   ‖ŷ − y‖ ≤ ‖D‖/α ‖y‖ ≤ Σ q ‖u‖²/α ‖y‖
//
// with the sum over the samples u of weight q that are left out.
func (e Estimate) significant(limit float64, each Each) selection {
	lengths := make([]float32, e.Parents.Rows)
	for r := range lengths {
		for _, u := range kernels.Row(e.Parents, r) {
			lengths[r] += u * u
		}
	}
	s := selection{units: make([][]int32, e.Weights.Cols)}
	each(e.Weights.Cols, func(j int) { s.units[j] = e.significantOf(j, lengths, limit) })

	position := make([]int32, e.Parents.Rows)
	for _, rows := range s.units {
		for _, r := range rows {
			position[r] = 1
		}
	}
	for r, needed := range position {
		if needed != 0 {
			position[r] = int32(len(s.rows))
			s.rows = append(s.rows, int32(r))
		}
	}
	for _, rows := range s.units {
		for k, r := range rows {
			rows[k] = position[r]
		}
	}
	return s
}

// significantOf returns the samples that unit j needs, the weightiest first.
func (e Estimate) significantOf(j int, lengths []float32, limit float64) []int32 {
	shares := make([]uint64, len(lengths)) // q ‖u‖² above the number of the sample; the bits of floats ≥ 0 have their order
	for r, length := range lengths {
		shares[r] = uint64(math.Float32bits(e.weight(r, j)*length))<<32 | uint64(r)
	}
	slices.Sort(shares)
	sum, negligible := 0.0, 0
	for _, share := range shares {
		if sum += float64(math.Float32frombits(uint32(share >> 32))); !(sum <= limit) {
			break
		}
		negligible++
	}
	shares = shares[negligible:]
	slices.Reverse(shares)
	rows := make([]int32, len(shares))
	for k, share := range shares {
		rows[k] = int32(uint32(share))
	}
	return rows
}

func (e Estimate) weight(r, j int) float32 { return e.Weights.Data[r*e.Weights.Stride+j] }

func (s selection) sizes() []int {
	sizes := make([]int, len(s.units))
	for j, rows := range s.units {
		sizes[j] = len(rows)
	}
	return sizes
}

// reading is about how many operations of a product of matrices take as long as
// the reading of one element of an inverse from memory.
const reading = 16

// cheapest returns the form that costs less between two refreshes of blocks of
// a size: Direct or Woodbury.
func (s selection) cheapest(size, steps int) Form {
	c := costs{rows: float64(len(s.rows)), units: float64(len(s.units))}
	for _, rows := range s.units {
		m := float64(len(rows))
		c.squares, c.cubes = c.squares+m*m, c.cubes+m*m*m
	}
	return c.cheapest(size, steps)
}

// costs are what the costs of the forms go by.
type costs struct {
	rows, units    float64 // samples that some unit needs; units
	squares, cubes float64 // sums of those of the numbers of samples that each unit needs
}

// all are those of units that need n samples each.
func all(n, units int) costs {
	m, u := float64(n), float64(units)
	return costs{m, u, u * m * m, u * m * m * m}
}

func (c costs) cheapest(size, steps int) Form {
	n, d, k, units := c.rows, float64(size), float64(steps), c.units
	direct := units * (n*d*d + d*d*d + k*reading*d*d/2)
	if woodbury := n*n*d + k*units*4*n*d + c.cubes + k*reading*c.squares/2; woodbury < direct {
		return Woodbury
	}
	return Direct
}
