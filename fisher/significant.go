package fisher

import (
	"math"
	"slices"

	"github.com/helmholtz-go/helmholtz/internal/kernels"
)

// negligible returns the largest relative error ‖y − ŷ‖/‖y‖ that omitting samples may cause in the
// product y of an inverse and any vector. It is smaller than the rounding error of the inverse with
// Float32, and than its storage error with Int16.
func negligible(p Precision) float64 {
	if p == Int16 {
		return 0x1p-10
	}
	return 0x1p-20
}

// selection lists the samples that the blocks of a layer need. These are often few: most of the
// importance weight of a datum usually lies on a few samples, and a unit that hardly varies has
// σ'(a) near 0.
type selection struct {
	rows  []int32   // samples that some unit needs
	units [][]int32 // the samples of each unit as positions in rows, in descending order of q ‖u‖²
}

// significant selects the samples for the block of each unit. It omits as many as it can, smallest
// first, while their sum of q ‖u‖² is at most limit. If the omitted samples form the part D of F,
// the matrix Â = αI + F − D gives ŷ = Â⁻¹ g instead of y = A⁻¹ g, and
//
//	ŷ − y = Â⁻¹ D y,   ‖ŷ − y‖ ≤ ‖D‖/α ‖y‖ ≤ Σ q ‖u‖²/α ‖y‖
//
// where the sum runs over the omitted samples u of weight q.
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

// significantOf returns the samples that unit j needs, in descending order of q ‖u‖². lengths holds
// ‖u‖² of each sample.
func (e Estimate) significantOf(j int, lengths []float32, limit float64) []int32 {
	shares := make([]uint64, len(lengths)) // q ‖u‖² in the high bits, because floats ≥ 0 sort like their bits; the sample in the low bits
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

// reading is the cost of reading one element of an inverse from memory: roughly the number of
// operations of a matrix product that take as long.
const reading = 16

// cheapest returns the form that Cheapest selects for blocks of this size.
func (s selection) cheapest(size int, to Settings) Form {
	c := costs{rows: float64(len(s.rows)), units: float64(len(s.units))}
	for _, rows := range s.units {
		m := float64(len(rows))
		c.squares, c.cubes, c.most = c.squares+m*m, c.cubes+m*m*m, max(c.most, m)
	}
	return c.cheapest(size, to)
}

// costs holds the counts from which the costs of the forms are computed.
type costs struct {
	rows, units    float64 // number of samples that some unit needs; number of units
	squares, cubes float64 // Σ m² and Σ m³ over the units, where m is the number of samples that a unit needs
	most           float64 // the largest m
}

// all returns the costs of units that need n samples each.
func all(n, units int) costs {
	m, u := float64(n), float64(units)
	return costs{m, u, u * m * m, u * m * m * m, m}
}

// small is a damping below which Woodbury loses more digits than Direct in a block of full rank: the
// terms of (I − Uᵀ C U)/α then cancel.
const small = 1e-3

func (c costs) cheapest(size int, to Settings) Form {
	n, d, k, units := c.rows, float64(size), float64(to.Steps), c.units
	if c.most >= d && to.Damping < small {
		return Direct
	}
	direct := units * (n*d*d + d*d*d + k*reading*d*d/2)
	if woodbury := n*n*d + k*units*4*n*d + c.cubes + k*reading*c.squares/2; woodbury < direct {
		return Woodbury
	}
	return Direct
}
