package enginetest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/hm/engine/oracle"
	"gonum.org/v1/gonum/stat"
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
	count := many(5000) // steps
	a := presets[1].algorithm()
	a.BatchSize, a.Samples = 2, 2
	trainer := newTrainer(t, e, job(a, randomRows(2, p.Architecture.Visible())), engine.NewState(a, p))
	var drawn [][]oracle.Values // of each step, the four wake samples and the four dreams
	var ofData [2][]oracle.Values
	var dreams []oracle.Values
	for range count {
		g := gradients(t, trainer)
		wake, dreamt := values(p.Architecture, g.Wake), values(p.Architecture, g.Dreams)
		ofData[0], ofData[1], dreams = append(ofData[0], wake[:2]...), append(ofData[1], wake[2:]...), append(dreams, dreamt...)
		drawn = append(drawn, append(wake, dreamt...))
		step(t, trainer, 0)
	}
	n := oracle.NewNetworks(p)
	wantFrequencies(t, "dreams", dreams, n.Model())
	for d, samples := range ofData {
		wantFrequencies(t, fmt.Sprintf("wake samples of datum %d", d), samples, n.Wake([][]float64{samples[0][0]}, oracle.Uniform))
	}
	type series struct {
		draw   int // number of the unit's sample or dream within a step
		values []float64
	}
	var units []series
	for draw := range drawn[0] {
		for i, layer := range p.Architecture.Units {
			for j := range layer {
				s := series{draw: draw}
				for _, step := range drawn {
					s.values = append(s.values, step[draw][i][j])
				}
				if i > 0 || draw >= 4 { // x is given in wake samples
					units = append(units, s)
				}
			}
		}
	}
	var correlations []float64
	for _, a := range units {
		for _, b := range units {
			if a.draw < b.draw {
				correlations = append(correlations, stat.Correlation(a.values, b.values, nil))
			}
			correlations = append(correlations, stat.Correlation(a.values[1:], b.values[:count-1], nil))
		}
	}
	variances := slices.Repeat([]float64{1 / float64(count)}, len(correlations))
	wantMean(t, "correlations", correlations, make([]float64, len(correlations)), variances)
}
