package boltzmann

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/helmholtz-go/helmholtz/internal/kernels"
)

func (s MachineSpec) allGaussian() bool { return s.Visible == Gaussian && s.HiddenUnits == Gaussian }

// proper refuses parameters whose energy has no density.
func (p *Parameters) proper() error {
	if !p.Spec.allGaussian() {
		return nil
	}
	_, err := p.definite()
	return err
}

// definite refuses Gaussian units on both sides whose precision matrix is not positive definite: their energy
// has no minimum, and so no density. It returns the Cholesky factor of the precision of the hidden units, I −
// WᵀΣ⁻¹W, which decides this; Σ has the σ_i² on its diagonal.
func (p *Parameters) definite() (factor mat.Cholesky, err error) {
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
	if !factor.Factorize(matrix) {
		return factor, fmt.Errorf("the precision matrix of %d Gaussian visible and %d Gaussian hidden units is not positive definite, and no density has their energy: use smaller weights, by a lower learning rate or l2, or make the hidden units bernoulli",
			p.observed(), p.Hidden())
	}
	return factor, nil
}

// gaussianLogZ returns log Z of Gaussian units on both sides. It integrates out the visible units, as
// gaussianPartition does. The rest is the integral of e^(mᵀh − ½hᵀPh), with P = I − WᵀΣ⁻¹W and m = c +
// WᵀΣ⁻¹b. A label adds its row of W to m, and is summed out last.
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
