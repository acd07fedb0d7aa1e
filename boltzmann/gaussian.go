package boltzmann

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/philox"
	"github.com/helmholtz-go/helmholtz/internal/statistics"
	"github.com/helmholtz-go/helmholtz/internal/work"
	"github.com/helmholtz-go/helmholtz/runs"
)

// These limits, for standardised values, keep the training of Gaussian units stable.
const (
	leastDeviation = 0.1 // the smallest σ
	mostShift      = 1   // the largest move of a unit's mean per step, in units of σ, for hidden units between 0 and 1
	mostGrowth     = 0.1 // the largest change of log σ² per step
)

// grayFloor is the smallest standard deviation used to standardise grey values, since a pixel that hardly
// changes in training rows may change in other rows.
const grayFloor = 0.05

// standard holds the means and deviations that standardise grey values in [0, 1], or real numbers, for
// Gaussian units.
type standard struct{ means, deviations []float32 }

// newStandard returns a standard that leaves values unchanged.
func newStandard(units int) *standard {
	return &standard{make([]float32, units), slices.Repeat([]float32{1}, units)}
}

func standardOf(rows dataset.Split) *standard {
	units := rows.Shape.Units()
	s := &standard{make([]float32, units), make([]float32, units)}
	sums, squares, origin := make([]float64, units), make([]float64, units), make([]float64, units)
	if rows.AreReal() { // real numbers may lie far from 0
		origin = rows.Floats(0)[0]
	}
	for r, share := range rows.Shares() {
		for i := range sums {
			x := rows.At(r*units+i) - origin[i]
			sums[i] += share * x
			squares[i] += share * x * x
		}
	}
	n := float64(rows.Rows)
	for i, sum := range sums {
		mean := sum / n
		deviation := math.Sqrt(max(0, squares[i]/n-mean*mean))
		switch {
		case !rows.AreReal():
			deviation = max(grayFloor, deviation)
		case deviation == 0: // a constant column
			deviation = 1
		}
		s.means[i], s.deviations[i] = float32(origin[i]+mean), float32(deviation)
	}
	return s
}

// logScale returns the logarithm of the product of the deviations: log p of grey values is log p of the
// Gaussian units minus logScale. logScale is 0 for other units.
func (e encoding) logScale() (sum float64) {
	if e.standard == nil {
		return 0
	}
	for _, deviation := range e.standard.deviations {
		sum += math.Log(float64(deviation))
	}
	return sum
}

// normal implements Gaussian visible units. Its refresh computes the deviations and the zeros that draw
// needs.
type normal struct {
	*Parameters
	deviations []float32 // σ
	zeros      []float32 // the means of standard normal draws, and the logarithms of their deviations
}

func (u *normal) precision(i int) float64 { return math.Exp(-float64(u.LogVariances[i])) }

func (u *normal) refresh(first, last int) {
	if u.deviations == nil {
		u.deviations, u.zeros = make([]float32, u.observed()), make([]float32, 2*u.observed())
	}
	for i := first; i < last; i++ {
		u.deviations[i] = float32(1 / math.Sqrt(float64(float32(u.precision(i)))))
	}
}

func (*normal) counters(n int) int { return fixed{}.counters(n) }

func (u *normal) draw(states, means []float32, key philox.Key, c philox.Counter) {
	kernels.DrawGaussian(states, u.zeros, len(states), 0, key, c)
	for i, mean := range means {
		states[i] = mean + u.deviations[i]*states[i]
	}
}

// partition returns Σ_i (a_i² − b_i²)/2σ_i² + ½ log 2πσ_i² for units with the means a = b + Wh.
func (u *normal) partition(means []float64) (sum float64) {
	for i, a := range means {
		z, b := float64(u.LogVariances[i]), float64(u.VisibleBiases[i])
		sum += (a*a-b*b)/2*math.Exp(-z) + (math.Log(2*math.Pi)+z)/2
	}
	return sum
}

func (*normal) choices(int) float64 { return math.Inf(1) }

func (*normal) means(inputs []float32) []float64 { return kernels.Doubles(inputs) }

// energy returns ½ Σ_i (v_i − b_i)²/σ_i².
func (u *normal) energy(v, biases []float32) (energy float64) {
	for i, x := range v {
		d := float64(x) - float64(biases[i])
		energy += d * d / 2 * u.precision(i)
	}
	return energy
}

func (u *normal) meter(w *products) meter {
	squares := make([]float64, w.Hidden()) // Σ_i W_ij²/σ_i⁴
	for i := range w.observed() {
		for j, weight := range kernels.Row(w.rising, i) {
			squares[j] += float64(weight) * float64(weight)
		}
	}
	return scoreMeter{w, u, squares}
}

// scoreMeter measures the score of Gaussian visible units.
type scoreMeter struct {
	*products
	normal  *normal
	squares []float64
}

func (m scoreMeter) measure(rows []likelihood, v, h, a kernels.Matrix, _ place, _ int) {
	off := make([]float32, h.Cols)
	for r := range rows {
		x, first := kernels.Row(v, r), m.observed()
		energy := -float64(dot(x[first:], m.VisibleBiases[first:])) // energy of a label
		for i, x := range x[:first] {
			z := float64(x-m.VisibleBiases[i]) / float64(m.normal.deviations[i])
			energy += z * z / 2
		}
		rows[r].freeEnergy = energy - m.latent.sumOut(kernels.Row(h, r), off)
	}
	m.reconstruct(a, h)
	for r := range rows {
		rows[r].objective = m.score(kernels.Row(v, r)[:m.observed()], kernels.Row(a, r), kernels.Row(h, r))
	}
}

// score returns the Hyvärinen score of Gaussian visible units v (Hyvärinen 2005), which needs no log Z:
//
//	Σ_i ½ (∂ log p/∂v_i)² + ∂² log p/∂v_i²
//	= Σ_i (a_i − v_i)²/2σ_i⁴ − 1/σ_i² + Var((Wh)_i|v)/σ_i⁴.
//
// Here hidden holds −h, the negative means of the hidden units given v, and a = b + Wh are the means of the
// visible units given h. The expected score is lowest if the model has the distribution of the data. With a
// label, it is the score of p(v|y).
func (m scoreMeter) score(v, a, hidden []float32) float64 {
	sum := 0.0
	for i, x := range v {
		deviation := float64(m.normal.deviations[i])
		z := float64(a[i]-x) / deviation
		sum += (z*z/2 - 1) / (deviation * deviation)
	}
	return sum + m.latent.spread(hidden, m.squares, kernels.Rows(m.rising, 0, len(v)))
}

// adapt moves log σ² along its gradient: the mean of ∂(−E)/∂ log σ² = (½(v−b)² − v(a−b))/σ² over n rows of
// data, minus its mean over m chains. Here a are the means of the visible units given the hidden units. log
// σ² changes by at most mostGrowth, and σ stays at least leastDeviation. If log p(y|v) has the weight w, then
// the term ½(v−b)² of the data and the chains have the weight 1 − w. center computes a for the data, because
// sparsity and labels change the hidden means.
func (u *normal) adapt(t *trainer, n, m int, rate float64) {
	floor := float32(2 * math.Log(leastDeviation))
	data, _ := t.data(n)
	weight := 1 - t.method.Discriminative
	work.Parts(u.observed(), 128, func(first, last int) {
		gradient := make([]float64, last-first)
		add := func(factor float64, own float32, visible, means kernels.Matrix) {
			for r := range visible.Rows {
				v, a := kernels.Row(visible, r)[first:last], kernels.Row(means, r)[first:last]
				for k, x := range v {
					b, σ := u.VisibleBiases[first+k], u.deviations[first+k]
					d := (x - b) / σ
					gradient[k] += factor * float64(own*d*d/2-x*(a[k]-b)/(σ*σ))
				}
			}
		}
		add(1/float64(n), float32(weight), data, kernels.Rows(t.means, 0, n))
		add(-weight/float64(m), 1, kernels.Rows(t.chains.visible, 0, m), kernels.Rows(t.chains.visibleInputs, 0, m))
		for k, g := range gradient {
			step := max(-mostGrowth, min(mostGrowth, rate*g))
			u.LogVariances[first+k] = max(floor, u.LogVariances[first+k]+float32(step))
		}
	})
}

// bound keeps a step from moving the unit's mean by more than mostShift deviations, for any hidden units
// between 0 and 1.
func (u *normal) bound(i int, length float32, direction []float32, bias *float32) float32 {
	most := mostShift / 2.0 * u.deviations[i]
	*bias = max(-most, min(most, *bias))
	return min(length, most/blas32.Asum(vector(direction)))
}

// scoreBaseline returns the score of independent units with the means and variances of the training rows: Σ_i
// ½v_i² − 1 for standardised values v.
func scoreBaseline(train, rows dataset.Split) runs.Baseline {
	e := encoding{binarization: dataset.Gray, standard: standardOf(train)}
	units := rows.Shape.Units()
	v, scores := make([]float32, units), make([]float64, rows.Rows)
	for r := range rows.Rows {
		e.load(v, rows, r, place{}, r)
		for _, x := range v {
			scores[r] += float64(x)*float64(x)/2 - 1
		}
	}
	score := runs.EstimateOver(rows, scores)
	return runs.Baseline{Rows: rows.Name, Factorized: score, Limit: max(score.Value, 0) + farScore*float64(units)/2}
}

// farScore sets when training counts as diverged: when the score exceeds the baseline, or 0 if that is
// higher, by farScore times ½ per unit. The score of independent units is −½ per unit on the training rows.
const farScore = 10

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
