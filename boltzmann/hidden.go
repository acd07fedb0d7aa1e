package boltzmann

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/philox"
)

// Hidden units of other kinds have the energy −cᵀh − vᵀWh of Bernoulli ones, on other states:
// categorical ones are those of variables, of each of which exactly one unit is 1, and Gaussian
// ones are real numbers with ½Σ_j h_j² added, which given v are normal with the mean c_j + (Wᵀv)_j
// and the variance 1. So the statistics by which a machine learns are the same. What differs
// is how hidden units with inputs a are drawn, what their means are, and what sums them out,
//
//	Σ_j log(1 + e^(a_j)),   Σ_g log Σ_(j in g) e^(a_j),   Σ_j ½a_j² + ½log 2π.

// checkHidden refuses kinds of hidden units that there are not with others.
func (s MachineSpec) checkHidden() error {
	switch k := s.HiddenCategories; {
	case s.HiddenUnits != Categorical && k != 0:
		return fmt.Errorf("hidden_categories = %d of %v hidden units: only categorical ones have categories; leave them out", k, s.HiddenUnits)
	case s.HiddenUnits == Categorical && (k < 2 || s.Hidden%k != 0):
		return fmt.Errorf("hidden_categories = %d of categorical hidden units: give at least 2, a divisor of the %d hidden units", k, s.Hidden)
	case s.HiddenUnits != Bernoulli && len(s.Above) > 0:
		return fmt.Errorf("%v hidden units of a deep machine: its units are Bernoulli ones; give one hidden layer", s.HiddenUnits)
	}
	return nil
}

// checkHidden refuses what there is only of Bernoulli hidden units, or not of Gaussian ones.
func (e Experiment) checkHidden() error {
	s, hidden := e.Method, e.Machine.HiddenUnits
	switch {
	case hidden == Bernoulli:
		return nil
	case e.Below != nil:
		return fmt.Errorf("%v hidden units of a machine that stands on a run: they are Bernoulli ones; leave them out", hidden)
	case s.Algorithm == PseudoLikelihood:
		return fmt.Errorf("algorithm = pl with %v hidden units: the pseudo-likelihood that is trained is of Bernoulli units; use pcd", hidden)
	case s.Sparsity != 0:
		return fmt.Errorf("sparsity = %v with %v hidden units: a target is the probability that Bernoulli units are on; leave it out", s.Sparsity, hidden)
	case hidden == Gaussian && s.Algorithm == Tempered:
		return errors.New("algorithm = pt with Gaussian hidden units: parallel tempering is of Bernoulli and categorical units; use pcd")
	case hidden == Gaussian && s.Metric != Euclidean:
		return fmt.Errorf("metric = %v with Gaussian hidden units: natural gradients are of Bernoulli and categorical units; leave it out", s.Metric)
	}
	return nil
}

// sumOut replaces inputs of hidden units by their means, negated, and returns the logarithm of the
// sum, or integral, over their states. off are as many zeros.
func (p *Parameters) sumOut(inputs, off []float32) (partition float64) {
	switch p.HiddenUnits {
	case Gaussian:
		partition = gaussianLog(blas32.DDot(vector(inputs), vector(inputs)), len(inputs))
		scaled(inputs, -1, inputs)
		return partition
	case Categorical:
		for g := 0; g < len(inputs); g += p.HiddenCategories {
			of := inputs[g : g+p.HiddenCategories]
			total := kernels.LogSumExp(of)
			for k, a := range of {
				of[k] = float32(-math.Exp(float64(a) - total))
			}
			partition += total
		}
		return partition
	}
	return turnOff(inputs, off)
}

// hiddenPartition is what sumOut returns, in double precision. It leaves the inputs as they are.
func (p *Parameters) hiddenPartition(inputs []float64) (sum float64) {
	switch p.HiddenUnits {
	case Gaussian:
		return gaussianLog(floats.Dot(inputs, inputs), len(inputs))
	case Categorical:
		for g := 0; g < len(inputs); g += p.HiddenCategories {
			sum += floats.LogSumExp(inputs[g : g+p.HiddenCategories])
		}
		return sum
	}
	return logPartition(inputs)
}

// gaussianLog is the logarithm of the integral of e^(aᵀh − ½hᵀh) over n units, with the square of
// the length of a.
func gaussianLog(square float64, n int) float64 {
	return square/2 + float64(n)/2*math.Log(2*math.Pi)
}

// drawLatent draws hidden units with inputs.
func (p *Parameters) drawLatent(h, inputs []float32, key philox.Key, c philox.Counter) {
	switch p.HiddenUnits {
	case Gaussian:
		normal := make([]float32, 2*len(h)) // the means, and the logarithms of the deviations
		copy(normal, inputs)
		kernels.DrawGaussian(h, normal, len(h), 0, key, c)
	case Categorical:
		k := p.HiddenCategories
		for g := range len(h) / k {
			c.Unit = uint16(g)
			kernels.DrawCategorical(h[g*k:(g+1)*k], inputs[g*k:(g+1)*k], key, c)
		}
	default:
		kernels.Draw(h, inputs, 0, key, c)
	}
}

// drawHidden draws rows of hidden units with inputs.
func (p *Parameters) drawHidden(states, inputs kernels.Matrix, at place) {
	for r := range states.Rows {
		p.drawLatent(kernels.Row(states, r), kernels.Row(inputs, r), at.key, at.counter(r))
	}
}

// restingMean is that of hidden units with inputs 0.
func (p *Parameters) restingMean() float32 {
	switch p.HiddenUnits {
	case Gaussian:
		return 0
	case Categorical:
		return 1 / float32(p.HiddenCategories)
	}
	return 0.5
}

// allGaussian says whether the units of both sides are.
func (p *Parameters) allGaussian() bool { return p.gaussian() && p.HiddenUnits == Gaussian }

// definite refuses Gaussian units on both sides whose precision matrix is not positive definite:
// the energy has no least value then, and no density belongs to it. It returns the factor of I −
// WᵀΣ⁻¹W, the precision of the hidden units, on which that hangs; Σ has the σ_i² on its diagonal.
func (p *Parameters) definite() (factor mat.Cholesky, err error) {
	scaled := mat.NewDense(p.Hidden(), p.Visible(), nil) // (W/σ)ᵀ
	for i := range p.Visible() {
		precision := math.Sqrt(math.Exp(-float64(p.LogVariances[i])))
		for j, w := range kernels.Row(p.Weights, i) {
			scaled.Set(j, i, float64(w)*precision)
		}
	}
	identity, matrix := mat.NewSymDense(p.Hidden(), nil), mat.NewSymDense(p.Hidden(), nil)
	for j := range p.Hidden() {
		identity.SetSym(j, j, 1)
	}
	matrix.SymRankK(identity, -1, scaled)
	if !factor.Factorize(matrix) {
		return factor, fmt.Errorf("the precision matrix of %d Gaussian visible and %d Gaussian hidden units is not positive definite, and no density has their energy: use smaller weights, by a lower learning rate or l2, or make the hidden units bernoulli",
			p.Visible(), p.Hidden())
	}
	return factor, nil
}

// gaussianLogZ is log Z of Gaussian units on both sides: the visible ones are integrated out as
// gaussianPartition does, and what is left is, with P = I − WᵀΣ⁻¹W and m = c + WᵀΣ⁻¹b, the
// integral of e^(mᵀh − ½hᵀPh).
func (p *Parameters) gaussianLogZ() (float64, error) {
	factor, err := p.definite()
	if err != nil {
		return 0, err
	}
	n := p.Hidden()
	m, solved := mat.NewVecDense(n, nil), mat.NewVecDense(n, nil)
	for j, c := range p.HiddenBiases {
		m.SetVec(j, float64(c))
	}
	logZ := 0.0
	for i, b := range p.VisibleBiases {
		z := float64(p.LogVariances[i])
		logZ += (math.Log(2*math.Pi) + z) / 2
		for j, w := range kernels.Row(p.Weights, i) {
			m.SetVec(j, m.AtVec(j)+float64(w)*float64(b)*math.Exp(-z))
		}
	}
	if err := factor.SolveVecTo(solved, m); err != nil {
		return 0, err
	}
	return logZ + gaussianLog(mat.Dot(m, solved), n) - factor.LogDet()/2, nil
}
