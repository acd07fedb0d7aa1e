package thesis

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/helmholtz-go/helmholtz/boltzmann"
	"github.com/helmholtz-go/helmholtz/boltzmann/updown"
	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/hm/deterministic"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/notebooks/reproduce"
	"github.com/helmholtz-go/helmholtz/runs"
)

// linesEntries holds results on 3by3, which is small enough for an exact log p or for many samples of it.
var linesEntries = map[string]reproduce.Entry{
	"factors/discrete": made(discreteTrainings, makeDiscrete),
	"deterministic": made(func(s reproduce.Scale) []reproduce.Training {
		return slices.Concat(each(deterministicForms, func(p training) reproduce.Training { return p.at(s) }), wakeSleepTrainings(s, 6))
	}, func(w *work) {
		bound := w.claim("The free energy of the means bounds −log p.")
		ahead := w.claim("Wake-sleep models the images better than the deterministic machine.")
		rows, ws := w.open(wholeGrid).Test().Floats(), w.reachByMachine("wake-sleep", func(η float64) plan { return wakeSleep(η, 6) })
		var logPs, excess [][]float64
		for _, p := range deterministicForms {
			var free, logP []float64
			for _, dir := range w.dirs(p) {
				m := must(deterministic.OpenRun(dir)).Model()
				free, logP = append(free, mean(each(rows, m.FreeEnergy))), append(logP, mean(must(m.LogP(w.ctx, rows))))
			}
			least := slices.Min(free)
			w.Found(p.label+", lowest free energy", "at most", reproduce.Value{Ours: least, Seeds: 1, By: fmt.Sprintf("exact, of %d seeds", len(free))})
			w.Beside(p.label, "free energy", reproduce.Over(spread(free), len(free)))
			w.beside(p.label, logP)
			bound.add(paired(free, each(logP, func(l float64) float64 { return -l })).of("%s form, free energy over −log p", p.label).Over(0))
			ws.over(ahead, reached{name: p.label + " form", logP: logP})
			floats.AddConst(-least, free)
			logPs, excess = append(logPs, logP), append(excess, free)
		}
		w.claim("The printed form escapes local minima in which the logistic form is held.").above("mean over lowest free energy, logistic form less printed form", gainOverSeeds(excess[0], excess[1]))
		w.claim("The printed form models the images better than the logistic form.").above("log p of the printed form over the logistic form", gainOverSeeds(logPs[1], logPs[0]))
	}),
	"boltzmann/up-down": made(func(s reproduce.Scale) []reproduce.Training {
		return slices.Concat([]reproduce.Training{lowerLayer.at(s), upperLayer.at(s)},
			each(upDownRates, func(η float64) reproduce.Training { return upDown(η, s) }), wakeSleepTrainings(s, 12, 6))
	}, func(w *work) {
		logP := func(t reproduce.Training) []float64 {
			return each(must(w.Dirs(t.Name, t.Experiment.Header().Epochs)), func(dir string) float64 {
				run := must(runs.Open(dir))
				set, model := w.setOf(run), must(run.ModelAt("last")).(runs.RowEvaluator)
				logP, _, err := model.LogPOfRows(w.ctx, runs.EvaluationOptions{Set: set, Rows: set.Test(), Samples: w.few(10_000, 10_000, 10), Seed: drawSeed})
				check(err)
				return mean(logP)
			})
		}
		greedy := reached{name: "greedy layers", logP: logP(upperLayer.at(w.Scale))}
		tuned := w.reach("up–down", upDownRates, func(η float64) []float64 { return logP(upDown(η, w.Scale)) })
		w.beside(tuned.name, tuned.logP)
		w.beside(greedy.name, greedy.logP)
		tuned.over(w.claim("Fine-tuning by up–down raises log p of greedy layers."), greedy)
		ws := w.reachByMachine("wake-sleep", func(η float64) plan { return wakeSleep(η, 12, 6) })
		tuned.over(w.claim("Up–down after greedy layers ends above wake-sleep."), ws)
	}),
}

var (
	wholeGrid          = dataset.Spec{Name: "3by3", Validation: new(0)}
	linesRates         = []float64{0.01, 0.03, 0.1, 0.3, 1}
	upDownRates        = []float64{0.01, 0.03, 0.1, 0.3, 1, 3, 10}
	deterministicForms = []training{form("logistic", deterministic.Logistic), form("printed", deterministic.PrintedProduct)}
	lowerLayer         = machine("up-down-layer-1", wholeGrid, boltzmann.PCD().LearningRate(0.1), 20, 20, 5, 12)
	upperLayer         = atop(&lowerLayer, machine("up-down-layer-2", wholeGrid, boltzmann.PCD().LearningRate(0.1), 20, 20, 5, 6))
)

// onGrid returns a training run on all rows of 3by3.
func onGrid(name, label, arithmetic string, epochs, seeds int, model func(small bool) runs.Experiment) training {
	return training{name: name, label: label, laptop: epochs, full: epochs, seeds: seeds, arithmetic: arithmetic,
		data: wholeGrid, smoke: dataset.Spec{Name: "3by3", Validation: new(0), Subset: 200}, model: model}
}

func form(name string, a deterministic.Activation) training {
	return onGrid("deterministic-"+name, name, "float64", 20, 10, fits(deterministic.Family, nil, func(s *deterministic.Settings) {
		s.Machine, s.Training.BatchSize = deterministic.MachineSpec{Activation: a, Layers: []int{6}}, 100
	}))
}

// upDown returns a training run that begins with the greedy layers.
func upDown(η float64, s reproduce.Scale) reproduce.Training {
	p := onGrid(fmt.Sprintf("up-down-lr-%g", η), "up–down", "float32", 20, 5, fits(updown.Family, nil, func(s *updown.Settings) { s.Network.Run, s.Method.LearningRate = upperLayer.name, η }))
	p.falls = true
	t := atop(&upperLayer, p).at(s)
	t.Begin = func(e runs.Experiment, dir string, _ int) runs.Experiment {
		of := e.(updown.Experiment)
		of.Settings.Network = runs.Source{Run: dir}
		return of
	}
	return t
}

func gridMachine(name string, method hm.Method, layers ...int) plan {
	return plan{
		name: name, data: wholeGrid, machine: dense(layers...).Coding(hm.ZeroOne).Bias(0), laptop: 30, full: 30, seeds: 5,
		method: method.Optimizer(hm.Adam).BatchSize(100),
	}
}

func wakeSleep(η float64, layers ...int) plan {
	return gridMachine(fmt.Sprintf("grid-wake-sleep-%s-lr-%g", names.Layers(layers), η), hm.WS().LearningRate(η), layers...)
}

func wakeSleepTrainings(s reproduce.Scale, layers ...int) []reproduce.Training {
	return each(linesRates, func(η float64) reproduce.Training { return wakeSleep(η, layers...).at(s) })
}

// reached holds log p of 3by3 by seed, at the rate with the highest mean.
type reached struct {
	name   string
	logP   []float64
	edge   bool // whether the rate is the first or the last of those tried
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

func (w *work) reach(name string, rates []float64, at func(η float64) []float64) reached {
	of := reached{name: name}
	logP, best := bestOf(&of.passed, rates, func(η float64) ([]float64, float64) {
		all := at(η)
		w.beside(fmt.Sprintf("%s, η = %g", name, η), all)
		return all, mean(all)
	})
	of.logP, of.edge = logP, atEnd(best, rates)
	return of
}

// reachByMachine finds log p of Helmholtz machines. In 3by3, six patterns have the probability 1/18, and six 1/9.
func (w *work) reachByMachine(name string, of func(η float64) plan) reached {
	return w.reach(name, linesRates, func(η float64) []float64 {
		return each(w.trained(of(η).name, ""), func(t trained) float64 {
			return 2*math.Ln2/3 - math.Log(18) - must(t.model.ExactKL(w.ctx, w.dataset(t).Test()))
		})
	})
}

// over judges whether a is above b.
func (a reached) over(j *judgement, b reached) {
	j.above(fmt.Sprintf("%s over %s", a.name, b.name), gainOverSeeds(a.logP, b.logP))
	for _, of := range []reached{a, b} {
		if of.passed.note(j); of.edge {
			j.bestAtEnd(of.name)
		}
	}
}
