package boltzmann

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/statistics"
	"github.com/helmholtz-go/helmholtz/internal/work"
	"github.com/helmholtz-go/helmholtz/runs"
)

// What keeps the learning of Gaussian units from blowing up, in standardised values.
const (
	leastDeviation = 0.1 // the smallest σ
	mostShift      = 1   // the most that a step moves a unit's mean, in its σ, whatever the hidden units are
	mostGrowth     = 0.1 // the most that a step changes log σ²
)

// grayFloor is the least standard deviation by which grey values are standardised: what
// hardly changes in training may change in other rows.
const grayFloor = 0.05

// standard is how grey values, in [0, 1], become those of Gaussian units.
type standard struct{ means, deviations []float32 }

// newStandard leaves values as they are.
func newStandard(units int) *standard {
	return &standard{make([]float32, units), slices.Repeat([]float32{1}, units)}
}

// standardOf has the means and the standard deviations of rows.
func standardOf(rows dataset.Split) *standard {
	units := rows.Shape.Units()
	s := &standard{make([]float32, units), make([]float32, units)}
	sums, squares := make([]float64, units), make([]float64, units)
	for r := range rows.Rows {
		for i, value := range rows.Row(r) {
			x := float64(value) / 255
			sums[i] += x
			squares[i] += x * x
		}
	}
	n := float64(rows.Rows)
	for i, sum := range sums {
		mean := sum / n
		s.means[i] = float32(mean)
		s.deviations[i] = float32(max(grayFloor, math.Sqrt(max(0, squares[i]/n-mean*mean))))
	}
	return s
}

// logScale is the logarithm of the product of the deviations: log p of grey values is that
// of Gaussian units less it. It is 0 of Bernoulli units.
func (e encoding) logScale() (sum float64) {
	if e.standard == nil {
		return 0
	}
	for _, deviation := range e.standard.deviations {
		sum += math.Log(float64(deviation))
	}
	return sum
}

// gaussian says whether the visible units are.
func (p *Parameters) gaussian() bool { return p.LogVariances != nil }

// precision is 1/σ² of a visible unit, 1 of a Bernoulli one.
func (p *Parameters) precision(i int) float32 {
	if !p.gaussian() {
		return 1
	}
	return float32(math.Exp(-float64(p.LogVariances[i])))
}

// gaussianPartition is the logarithm of the integral over Gaussian units with the means a,
// b + Wh: Σ_i (a_i² − b_i²)/2σ_i² + ½ log 2πσ_i².
func (p *Parameters) gaussianPartition(means []float64) (sum float64) {
	for i, a := range means {
		z, b := float64(p.LogVariances[i]), float64(p.VisibleBiases[i])
		sum += (a*a-b*b)/2*math.Exp(-z) + (math.Log(2*math.Pi)+z)/2
	}
	return sum
}

// drawGaussian draws Gaussian visible units with means.
func (w *products) drawGaussian(states, means kernels.Matrix, at place) {
	standardNormal := make([]float32, 2*states.Cols) // their means, and the logarithms of their deviations
	for r := range states.Rows {
		v := kernels.Row(states, r)
		kernels.DrawGaussian(v, standardNormal, len(v), 0, at.key, at.counter(r))
		for i, mean := range kernels.Row(means, r) {
			v[i] = mean + w.deviations[i]*v[i]
		}
	}
}

// visibleEnergy is ½ Σ_i (v_i − b_i)²/σ_i² of Gaussian units.
func (w *products) visibleEnergy(v []float32) (sum float64) {
	for i, x := range v {
		z := float64(x-w.VisibleBiases[i]) / float64(w.deviations[i])
		sum += z * z / 2
	}
	return sum
}

// scoreCurvatures are Σ_i W_ij²/σ_i⁴ of each hidden unit.
func (w *products) scoreCurvatures() []float64 {
	sums := make([]float64, w.Hidden())
	for i := range w.Visible() {
		for j, weight := range kernels.Row(w.rising, i) {
			sums[j] += float64(weight) * float64(weight)
		}
	}
	return sums
}

// score is the Hyvärinen score of Gaussian visible units v (Hyvärinen 2005), which needs
// no log Z:
//
//	Σ_i ½ (∂ log p/∂v_i)² + ∂² log p/∂v_i²
//	= Σ_i (a_i − v_i)²/2σ_i⁴ − 1/σ_i² + Var((Wh)_i|v)/σ_i⁴,
//
// with the means h of the hidden units given v, of which hidden has the negatives, and the
// means a = b + Wh of the visible units given these. In expectation it is least for the
// distribution of the data.
func (m meter) score(v, a, hidden []float32) float64 {
	sum := 0.0
	for i, x := range v {
		deviation := float64(m.deviations[i])
		z := float64(a[i]-x) / deviation
		sum += (z*z/2 - 1) / (deviation * deviation)
	}
	return sum + m.spread(hidden)
}

// spread is Σ_i Var((Wh)_i|v)/σ_i⁴, with the means of the hidden units, negated.
func (m meter) spread(hidden []float32) (sum float64) {
	for j, negative := range hidden {
		variance := 1.0
		switch h := -float64(negative); m.HiddenUnits {
		case Bernoulli:
			variance = h * (1 - h)
		case Categorical:
			variance = h // of which that of the mean is taken below
		}
		sum += variance * m.curvatures[j]
	}
	if m.HiddenUnits == Categorical {
		for i := range m.Visible() {
			weights := kernels.Row(m.rising, i)
			for g := 0; g < len(hidden); g += m.HiddenCategories {
				mean := blas32.DDot(vector(weights[g:g+m.HiddenCategories]), vector(hidden[g:g+m.HiddenCategories]))
				sum -= mean * mean
			}
		}
	}
	return sum
}

// moveVariances takes a step of log σ² along the gradient ∂(−E)/∂ log σ² = (½(v−b)² −
// v(a−b))/σ², with the means a given the hidden units: its mean over n rows of data less that
// over m chains. The step is no longer than mostGrowth, and ends at the floor.
func (t *trainer) moveVariances(n, m int, rate float64) {
	w, floor := t.products, float32(2*math.Log(leastDeviation))
	data, _ := t.data(n)
	work.Parts(w.Visible(), 128, func(first, last int) {
		gradient := make([]float64, last-first)
		add := func(factor float64, visible, means kernels.Matrix) {
			for r := range visible.Rows {
				v, a := kernels.Row(visible, r)[first:last], kernels.Row(means, r)[first:last]
				for k, x := range v {
					b, σ := w.VisibleBiases[first+k], w.deviations[first+k]
					d := (x - b) / σ
					gradient[k] += factor * float64(d*d/2-x*(a[k]-b)/(σ*σ))
				}
			}
		}
		add(1/float64(n), data, kernels.Rows(t.means, 0, n))
		add(-1/float64(m), kernels.Rows(t.chains.visible, 0, m), kernels.Rows(t.chains.visibleInputs, 0, m))
		for k, g := range gradient {
			step := max(-mostGrowth, min(mostGrowth, rate*g))
			w.LogVariances[first+k] = max(floor, w.LogVariances[first+k]+float32(step))
		}
	})
}

// bound shortens a step of the weights of a visible unit, a length times a direction, and that of
// its bias, so that they move the unit's mean by no more than mostShift deviations, whatever hidden
// units between 0 and 1 are. It returns the length.
func bound(length float32, direction []float32, bias *float32, deviation float32) float32 {
	most := mostShift / 2.0 * deviation
	*bias = max(-most, min(most, *bias))
	return min(length, most/blas32.Asum(vector(direction)))
}

// scoreBaseline is that of independent units with the means and variances of the training
// rows, of which the standardised values have 0 and 1: Σ_i ½v_i² − 1.
func scoreBaseline(train, rows dataset.Split) runs.Baseline {
	e := encoding{dataset.Gray, standardOf(train)}
	units := rows.Shape.Units()
	v, scores := make([]float32, units), make([]float64, rows.Rows)
	for r := range rows.Rows {
		e.load(v, rows.Row(r), place{}, r)
		for _, x := range v {
			scores[r] += float64(x)*float64(x)/2 - 1
		}
	}
	mean, se := statistics.MeanAndError(len(scores), func(r int) float64 { return scores[r] })
	return runs.Baseline{Rows: rows.Name, Factorized: runs.Estimate{Value: mean, SE: se}, Limit: max(mean, 0) + farScore*float64(units)/2}
}

// farScore is how many times worse than the score of independent units, of which that of
// the training rows is −½ each, one is when training has diverged.
const farScore = 10
