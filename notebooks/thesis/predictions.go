package thesis

import (
	"fmt"
	"math/rand/v2"

	"github.com/helmholtz-go/helmholtz/boltzmann"
	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/statistics"
	"github.com/helmholtz-go/helmholtz/notebooks/reproduce"
)

var (
	predictionRates = []float64{0.05, 0.2, 0.7, 2, 6, 20}
	predictors      = []way{
		{"multi-prediction", "mp", boltzmann.MP(), 20, 20, 3},
		{"centred", "pcd", boltzmann.PCD(), 20, 20, 3},
		{"pretrained", "pretrained", boltzmann.PCD(), 20, 20, 3},
	}
)

func (m way) predictor(η float64) training {
	p := machine(fmt.Sprintf("predictions-%s-lr-%g", m.file, η), tagged.data, m.method.LearningRate(η), m.laptop, m.full, m.seeds, 100, 50)
	p.smoke = tagged.smoke
	return p
}

func predictionTrainings(s reproduce.Scale) (all []reproduce.Training) {
	for _, m := range predictors {
		for k, η := range tried(s, predictionRates) {
			if p := m.predictor(η); m.file != "pretrained" {
				all = append(all, p.at(s))
			} else if layers := p.pretrained(s, "predictions", 0.05); k == 0 {
				all = append(all, layers...)
			} else {
				all = append(all, layers[2])
			}
		}
	}
	return all
}

// predicted holds the errors of a way of training at the rate with which it fills in most pixels of validation rows.
type predicted struct {
	digits, pixels classifier
	runs           []*boltzmann.Run
	logP           []float64 // of test rows, by seed
}

func makePredictions(w *work) {
	digits := w.claim("Multi-prediction classifies better than the centred and the pretrained machine.")
	pixels := w.claim("Multi-prediction predicts missing pixels better than the centred and the pretrained machine.")
	density := w.claim("Multi-prediction does not lead to a good likelihood.")
	rates := tried(w.Scale, predictionRates)
	all := each(predictors, func(m way) predicted {
		var passed passedOver
		of, at := bestOf(&passed, rates, func(η float64) (predicted, float64) {
			of := w.predictions(w.machines(m.predictor(η)), fmt.Sprintf("%s, η = %g", m.name, η))
			return of, -of.pixels.validated
		})
		tested := each(of.runs, func(run *boltzmann.Run) annealed {
			return w.anneal(run, "test", w.few(0, 0, 50), w.along(boltzmann.Adaptive(2000)))
		})
		of.logP = each(tested, annealed.logP)
		w.Beside(of.digits.name, "error of digits (%)", reproduce.Over(spread(of.digits.tested), len(tested)))
		w.Beside(of.pixels.name, "error of missing pixels (%)", reproduce.Over(spread(of.pixels.tested), len(tested)))
		w.Beside(m.name, "log p", annealedValue("test", tested))
		for _, j := range []*judgement{digits, pixels, density} {
			if passed.note(j); atEnd(at, rates) {
				j.bestAtEnd(m.name)
			}
		}
		return of
	})
	for k, other := range all[1:] {
		digits.add(all[0].digits.below(other.digits))
		pixels.add(all[0].pixels.below(other.pixels))
		density.above(predictors[k+1].name+" over multi-prediction:", gainOverSeeds(other.logP, all[0].logP))
	}
}

// predictions returns the errors of machines that predict the tags of a digit from its pixels, and a random half of the
// pixels from the rest, each by as many sweeps of mean field as are best for the validation rows.
func (w *work) predictions(all []*boltzmann.Run, name string) predicted {
	units := w.setOf(all[0].Run).Shape().Units()
	first := units - len(dataset.GlyphTags)
	tags, half := make(dataset.Mask, units), make(dataset.Mask, units)
	for k, i := range rand.New(rand.NewPCG(drawSeed, 0)).Perm(units) {
		tags[i], half[i] = i >= first, i < first && k%2 == 0
	}
	best := func(of string, mask dataset.Mask, mistake func(rows dataset.Split, r int, means []float64) float64) classifier {
		return leastMistaken(each([]int{5, 50}, func(sweeps int) classifier {
			c := classifier{name: fmt.Sprintf("%s, %d sweeps", name, sweeps)}
			for _, run := range all {
				both := keptOf(w, fmt.Sprintf("mistakes-of-%s-by-%d-sweeps", of, sweeps), run.Snapshot(), func() (both [2][]float64) {
					set := w.setOf(run.Run)
					for k, rows := range []dataset.Split{set.Validation(), set.Test()} {
						for r, means := range must(run.Model.PredictMissing(w.ctx, rows, mask, sweeps)) {
							both[k] = append(both[k], mistake(rows, r, means))
						}
					}
					return both
				})
				c.add(both[0], both[1], len(all))
			}
			return c
		}))
	}
	return predicted{runs: all, digits: best("digits", tags, func(rows dataset.Split, r int, means []float64) float64 {
		return statistics.Mistaken(means[first:first+10], int(rows.Labels[r]))
	}), pixels: best("pixels", half, func(rows dataset.Split, r int, means []float64) float64 {
		wrong, hidden := 0.0, 0.0
		for i, x := range rows.Row(r) {
			if half[i] {
				if hidden++; (x > 0) != (means[i] > 0.5) {
					wrong++
				}
			}
		}
		return wrong / hidden
	})}
}
