package enginetest

import (
	"fmt"
	"math"
	"testing"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/hm/engine/oracle"
)

// drawsOfSteps tests that steps draw their wake samples from q(h|x) and their dreams from p(x,h), and that the
// samples of all data, the dreams, and the samples of the next step are independent: no unit of one is correlated
// with a unit of another. The data may be the same row twice. Then the mean gradient is also the exact one, because
// gradientOfSamples compares the gradients with the oracle's, given the samples.
func drawsOfSteps(t *testing.T, e engine.Engine) {
	every(t, func(t *testing.T, p *engine.Parameters) { wantDraws(t, e, p, job) }, tiny, small)
	t.Run("repeated row", func(t *testing.T) { wantDraws(t, e, random(tiny[0]), repeating) })
}

func wantDraws(t *testing.T, e engine.Engine, p *engine.Parameters, job func(engine.Algorithm, engine.Data) engine.Job) {
	steps := many(5000)
	a := presets[1].algorithm()
	a.BatchSize, a.Samples = 2, 2
	trainer := newTrainer(t, e, job(a, randomRows(2, p.Architecture.Visible())), engine.NewState(a, p))
	var wake, dreams [][]oracle.Values // per step
	var ofData [2][]oracle.Values
	var dreamt []oracle.Values
	for range steps {
		g := gradients(t, trainer)
		w, d := values(p.Architecture, g.Wake), values(p.Architecture, g.Dreams)
		wake, dreams, dreamt = append(wake, w), append(dreams, d), append(dreamt, d...)
		ofData[0], ofData[1] = append(ofData[0], w[:2]...), append(ofData[1], w[2:]...)
		step(t, trainer, 0)
	}
	n := oracle.NewNetworks(p)
	wantFrequencies(t, "dreams", dreamt, n.Model())
	for d, samples := range ofData {
		wantFrequencies(t, fmt.Sprintf("wake samples of datum %d", d), samples, n.Wake([][]float64{samples[0][0]}, oracle.Uniform))
	}
	var units []series
	for draw := range 4 {
		for i, count := range p.Architecture.Units {
			for j := range count {
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
