package energies

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/statistics"
)

// scaling turns rows x of real numbers into scaled rows M(x − mean). Energies apply to scaled rows. The log density of
// an original row is the log density of the scaled row plus log |M|.
type scaling struct {
	mean, matrix []float64 // matrix is M, D×D and symmetric
	log          []float64 // of length 1: log |M|, restricted to the units that have a density
}

func newScaling(units int) *scaling {
	return &scaling{make([]float64, units), make([]float64, units*units), make([]float64, 1)}
}

func (s *scaling) m() *mat.SymDense { return mat.NewSymDense(len(s.mean), s.matrix) }

// moments sets the mean, and returns the covariance of rows.
func (s *scaling) moments(rows [][]float64) *mat.SymDense {
	clear(s.mean)
	for _, x := range rows {
		floats.AddScaled(s.mean, 1/float64(len(rows)), x)
	}
	return mat.NewSymDense(len(s.mean), kernels.Covariance(rows, s.mean))
}

// leastVariance is the smallest variance of any direction that whiten accepts, as a fraction of the largest variance.
const leastVariance = 1e-9

// whiten sets the mean and M = S^(−½), where S is the covariance of rows. The scaled rows have the identity as their
// covariance, and differ as little as possible from the original rows.
func (s *scaling) whiten(rows [][]float64) error {
	of, err := statistics.Eigen("the covariance of the training rows", s.moments(rows))
	if err != nil {
		return fmt.Errorf("%w: bring the units to a smaller scale", err)
	}
	variances, rank := of.Values(nil), 0
	for _, v := range variances {
		if v > leastVariance*floats.Max(variances) {
			rank++
		}
	}
	if rank < len(variances) {
		return fmt.Errorf("the covariance of the training rows has rank %d, for %d units, so it cannot be whitened: use more rows, leave out constant units and units that are sums of others, or bring the units to one scale", rank, len(variances))
	}
	var vectors, turned mat.Dense
	of.VectorsTo(&vectors)
	roots := mat.NewDiagDense(len(variances), nil)
	s.log[0] = 0
	for i, v := range variances {
		roots.SetDiag(i, 1/math.Sqrt(v))
		s.log[0] -= math.Log(v) / 2
	}
	turned.Mul(&vectors, roots)
	turned.Mul(&turned, vectors.T())
	for i := range variances {
		for j := range i + 1 {
			v := turned.At(i, j)
			s.matrix[i*len(variances)+j], s.matrix[j*len(variances)+i] = v, v
		}
	}
	return nil
}

// leastSpread is the smallest variance of a unit that is not constant, as a fraction of the square of its mean. Rounding
// gives the values of a constant unit a smaller variance, and real numbers in single precision a larger one.
const leastSpread = 1e-20

// standardize sets the mean and M such that each unit has mean 0 and variance 1 in rows; a constant unit keeps the
// variance 0. Only the units in free have a density, and standardize refuses constant units among them.
func (s *scaling) standardize(rows [][]float64, free []int) error {
	covariance := s.moments(rows)
	clear(s.matrix)
	s.log[0] = 0
	constant := func(i int) bool { return covariance.At(i, i) <= leastSpread*s.mean[i]*s.mean[i] }
	for i := range s.mean {
		v := covariance.At(i, i)
		if constant(i) {
			v = 1
		}
		s.matrix[i*len(s.mean)+i] = 1 / math.Sqrt(v)
	}
	for _, i := range free {
		if constant(i) {
			return fmt.Errorf("unit %d is constant in the training rows, so it has no density: leave it out", i+1)
		}
		s.log[0] += math.Log(s.matrix[i*len(s.mean)+i])
	}
	return nil
}

// turn replaces each of rows by a new scaled row. It also overwrites the values of the old row.
func (s *scaling) turn(rows [][]float64) {
	for r, x := range rows {
		floats.Sub(x, s.mean)
		rows[r] = make([]float64, len(x))
		times(rows[r], s.m(), x)
	}
}

func (s *scaling) back(rows [][]float64) error {
	inverse, err := statistics.Inverse("the tensor scaling", s.m())
	if err != nil {
		return err
	}
	for r, x := range rows {
		rows[r] = slices.Clone(s.mean)
		times(rows[r], inverse, x)
	}
	return nil
}
