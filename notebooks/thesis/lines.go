package thesis

import (
	"fmt"
	"math"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/notebooks/reproduce"
	"github.com/helmholtz-go/helmholtz/runs"
)

// linesEntries holds results on 3by3 whose log p is a sum over all states.
var linesEntries = map[string]reproduce.Entry{
	"factors/discrete": made(discreteTrainings, makeDiscrete),
}

var (
	wholeGrid  = dataset.Spec{Name: "3by3", Validation: new(0)}
	linesRates = []float64{0.01, 0.03, 0.1, 0.3, 1}
)

// onGrid returns a training run on all rows of 3by3.
func onGrid(name, label string, epochs, seeds int, model func(small bool) runs.Experiment) training {
	return training{name: name, label: label, laptop: epochs, full: epochs, seeds: seeds, arithmetic: "float32",
		data: wholeGrid, smoke: dataset.Spec{Name: "3by3", Validation: new(0), Subset: 200}, model: model}
}

func gridMachine(name string, method hm.Method, layers ...int) plan {
	return plan{
		name: name, data: wholeGrid, machine: dense(layers...).Coding(hm.ZeroOne).Bias(0), laptop: 30, full: 30, seeds: 5,
		method: method.Optimizer(hm.Adam).BatchSize(100),
	}
}

// reached holds log p of 3by3 by seed, at the rate with the highest mean.
type reached struct {
	name   string
	logP   []float64
	rate   float64
	passed passedOver
}

// beside adds log p over seeds, as a number of the criteria if they have it.
func (w *work) beside(of string, logP []float64) {
	record := w.Beside
	if w.Has(of, "log p") {
		record = w.Found
	}
	record(of, "log p", reproduce.Over(spread(logP), len(logP)))
}

func (w *work) reach(name string, at func(η float64) []float64) reached {
	of := reached{name: name}
	logP, best := bestOf(&of.passed, linesRates, func(η float64) ([]float64, float64) {
		all := at(η)
		w.beside(fmt.Sprintf("%s, η = %g", name, η), all)
		return all, mean(all)
	})
	of.logP, of.rate = logP, linesRates[best]
	return of
}

// reachByMachine is like reach for Helmholtz machines. The entropy is that of six patterns of probability 1/18 and six of 1/9.
func (w *work) reachByMachine(name string, of func(η float64) plan) reached {
	return w.reach(name, func(η float64) []float64 {
		return each(w.trained(of(η).name, ""), func(t trained) float64 {
			return 2*math.Ln2/3 - math.Log(18) - must(t.model.ExactKL(w.ctx, w.dataset(t).Test()))
		})
	})
}

// over judges whether a is above b.
func (a reached) over(j *judgement, b reached) {
	j.above(fmt.Sprintf("%s over %s", a.name, b.name), gainOverSeeds(a.logP, b.logP))
	for _, of := range []reached{a, b} {
		if of.passed.note(j); of.rate == linesRates[0] || of.rate == linesRates[len(linesRates)-1] {
			j.bestAtEnd(of.name)
		}
	}
}
