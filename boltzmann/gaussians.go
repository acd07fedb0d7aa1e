package boltzmann

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/helmholtz-go/helmholtz/internal/kernels"
)

// allGaussian reports whether the units of both sides are Gaussian.
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

// gaussianLogZ returns log Z of Gaussian units on both sides. It integrates out the visible units, as
// gaussianPartition does. The rest is the integral of e^(mᵀh − ½hᵀPh), with P = I − WᵀΣ⁻¹W and m = c +
// WᵀΣ⁻¹b.
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
