package enginetest

import (
	"math"
	"testing"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/hm/engine/oracle"
)

// independence tests that the wake samples of all data, the dreams, and the samples of the next
// step are drawn independently: no unit of one is correlated with a unit of another. The data may be
// the same row twice.
func independence(t *testing.T, e engine.Engine) {
	t.Run("rows", func(t *testing.T) { wantIndependence(t, e, job) })
	t.Run("repeated row", func(t *testing.T) { wantIndependence(t, e, repeating) })
}

func wantIndependence(t *testing.T, e engine.Engine, job func(engine.Algorithm, engine.Data) engine.Job) {
	steps := many(5000)
	a := presets[1].algorithm()
	a.BatchSize, a.Samples = 2, 2
	p := machine(engine.ZeroOne, 3, 2, 2)
	trainer := newTrainer(t, e, job(a, randomRows(2, 3)), engine.NewState(a, p))
	var wake, dreams [][]oracle.Values // per step
	for range steps {
		g := gradients(t, trainer)
		wake, dreams = append(wake, values(p.Architecture, g.Wake)), append(dreams, values(p.Architecture, g.Dreams))
		step(t, trainer, 0)
	}
	var units []series
	for draw := range 4 {
		for i := range 3 {
			for j := range p.Architecture.Units[i] {
				if i > 0 { // x is given
					units = append(units, newSeries(draw, steps, func(s int) bool { return wake[s][draw][i][j] > 0 }))
				}
				units = append(units, newSeries(4+draw, steps, func(s int) bool { return dreams[s][draw][i][j] > 0 }))
			}
		}
	}
	var correlations, zeros, variances []float64
	note := func(a, b []float64) {
		sum := 0.0
		for s := range a {
			sum += a[s] * b[s] / float64(len(a))
		}
		correlations, zeros, variances = append(correlations, sum), append(zeros, 0), append(variances, 1/float64(len(a)))
	}
	for _, a := range units {
		for _, b := range units {
			if a.draw < b.draw {
				note(a.values, b.values)
			}
			note(a.values[1:], b.values[:steps-1])
		}
	}
	wantMean(t, "correlations", correlations, zeros, variances)
}

// series holds the states of one unit over the steps, with mean 0 and variance 1.
type series struct {
	draw   int // number of the unit's sample or dream within a step
	values []float64
}

func newSeries(draw, steps int, on func(step int) bool) series {
	s := series{draw, make([]float64, steps)}
	mean := 0.0
	for k := range s.values {
		if on(k) {
			s.values[k] = 1
			mean += 1 / float64(steps)
		}
	}
	for k := range s.values {
		s.values[k] = (s.values[k] - mean) / math.Sqrt(mean*(1-mean))
	}
	return s
}
