package boltzmann

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/statistics"
)

func (s MachineSpec) allGaussian() bool { return s.Visible == Gaussian && s.HiddenUnits == Gaussian }

// proper returns an error if the parameters define no density.
func (p *Parameters) proper() error {
	if !p.Spec.allGaussian() {
		return nil
	}
	_, err := p.definite()
	return err
}

// definite returns the Cholesky factor of I − WᵀΣ⁻¹W, the precision matrix of the hidden units if both sides
// are Gaussian. Σ is diagonal and holds the σ_i². It returns an error if this matrix is not positive
// definite: the energy then has no minimum, and there is no density.
func (p *Parameters) definite() (factor *mat.Cholesky, err error) {
	scaled := mat.NewDense(p.Hidden(), p.observed(), nil) // (W/σ)ᵀ
	for i := range p.observed() {
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
	if factor, err = statistics.Cholesky("the precision matrix of the hidden units", matrix); err != nil {
		err = fmt.Errorf("%w, so %d Gaussian visible and %d Gaussian hidden units have no density: shrink the weights by a lower learning rate or by l2, or make the hidden units bernoulli",
			err, p.observed(), p.Hidden())
	}
	return factor, err
}

// gaussianLogZ returns log Z if both sides are Gaussian. It first integrates out the visible units, as
// normal.partition does. The integral of e^(mᵀh − ½hᵀPh) over h remains, with P = I − WᵀΣ⁻¹W and m = c +
// WᵀΣ⁻¹b. A label adds its row of W to m; it is summed out last.
func (p *Parameters) gaussianLogZ() (float64, error) {
	factor, err := p.definite()
	if err != nil {
		return 0, err
	}
	n, observed := p.Hidden(), p.observed()
	m, given, solved := mat.NewVecDense(n, nil), mat.NewVecDense(n, nil), mat.NewVecDense(n, nil)
	for j, c := range p.HiddenBiases {
		m.SetVec(j, float64(c))
	}
	logZ := 0.0
	for i, b := range p.VisibleBiases[:observed] {
		z := float64(p.LogVariances[i])
		logZ += (math.Log(2*math.Pi) + z) / 2
		for j, w := range kernels.Row(p.Weights, i) {
			m.SetVec(j, m.AtVec(j)+float64(w)*float64(b)*math.Exp(-z))
		}
	}
	labels, biases := kernels.Rows(p.Weights, observed, p.Visible()), p.VisibleBiases[observed:]
	if !p.Spec.labelled() {
		labels, biases = kernels.NewMatrix(1, n), []float32{0}
	}
	logs := make([]float64, labels.Rows)
	for k := range logs {
		for j, w := range kernels.Row(labels, k) {
			given.SetVec(j, m.AtVec(j)+float64(w))
		}
		if err := factor.SolveVecTo(solved, given); err != nil {
			return 0, err
		}
		logs[k] = float64(biases[k]) + gaussianLog(mat.Dot(given, solved), n)
	}
	return logZ + floats.LogSumExp(logs) - factor.LogDet()/2, nil
}
