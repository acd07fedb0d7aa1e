package thesis

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"github.com/helmholtz-go/helmholtz/boltzmann"
	"github.com/helmholtz-go/helmholtz/boltzmann/energies"
	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/factors"
	"github.com/helmholtz-go/helmholtz/notebooks/reproduce"
	"github.com/helmholtz-go/helmholtz/plotting"
	"github.com/helmholtz-go/helmholtz/runs"
)

// another describes a training run of a model of any family. Smoke training uses a small model and other
// data.
type another struct {
	name       string
	label      string
	epochs     int
	full       int    // epochs at the scale full, if not the same
	arithmetic string // if not float64
	model      func(small bool) runs.Experiment
	data       dataset.Spec
	smoke      dataset.Spec
}

func (p another) at(s reproduce.Scale) reproduce.Training {
	e := p.model(s == reproduce.Smoke)
	h := e.Header()
	h.Dataset, h.Epochs = p.data, p.epochs
	switch {
	case s == reproduce.Smoke:
		h.Dataset, h.Epochs = p.smoke, 1
	case s == reproduce.Full && p.full > 0:
		h.Epochs = p.full
	}
	if p.full > 0 && s != reproduce.Smoke {
		h.Keep = []int{p.epochs} // the scales share the run
	}
	return reproduce.Training{Name: p.name, Experiment: e.WithHeader(h), Seeds: 1, Arithmetic: cmp.Or(p.arithmetic, "float64")}
}

func (w *work) opened(p another) (*runs.Run, any) {
	run := must(runs.Open(must(w.Dirs(p.name, p.at(w.Scale).Experiment.Header().Epochs))[0]))
	return run, must(run.ModelAt("last"))
}

func (w *work) chains() int { return w.few(30, 30, 2) }

// measured returns log p of test rows, exactly or by AIS.
func (w *work) measured(p another, rows, chains int) annealed {
	run, model := w.opened(p)
	test := must(w.Sets.Open(run.Experiment(), run.Dir())).Test().Subset(rows, drawSeed)
	return keptOf(w, fmt.Sprintf("log-p-of-%d-rows-%d-chains", test.Rows, chains), must(run.Checkpoint("last")), func() annealed {
		if of, is := model.(*factors.Model); is {
			return annealed{annealedLogZ{By: "exact"}, of.LogP(test.Floats())}
		}
		w.Say("estimating log p of %s test rows: %v", thousands(test.Rows), run.Experiment())
		logP, logZ, err := model.(*energies.Model).LogP(w.ctx, test, chains, drawSeed, w.Progress)
		check(err)
		of := annealed{annealedLogZ{float64(logZ.Value), float64(logZ.SE), fmt.Sprintf("AIS, %d chains, 1,000 steps%s", chains, runs.Clause(logZ.SampleSize().Negative().Detail()))}, logP}
		if logZ.Errs == boltzmann.Exact {
			of.By = "exact"
		}
		return of
	})
}

func (w *work) foundLogP(p another, of annealed) {
	mean, se := of.mean()
	by := fmt.Sprintf("%s test rows; %s", thousands(len(of.Each)), of.By)
	if of.SE > 0 {
		by += fmt.Sprintf("; log Z %.2f ± %.2f", of.LogZ, of.SE)
	}
	w.Beside(p.label, "log p", reproduce.Value{Ours: mean, SE: &se, Seeds: 1, By: by})
}

func (w *work) drawn(p another, kind string, s runs.Sampling) dataset.Sheet {
	run, model := w.opened(p)
	s.Seed, s.Rows = 1, must(w.Sets.Open(run.Experiment(), run.Dir())).Test()
	for _, d := range model.(runs.Sampler).Drawings() {
		if d.Kind == kind {
			return must(d.Draw(w.ctx, s))[0]
		}
	}
	panic(fmt.Sprintf("%s has no images of the kind %s", p.label, kind))
}

var patches = []another{
	patch("factor-analysis", "factor analysis, 40 factors", 1, func(small bool) runs.Experiment {
		e := factors.FactorAnalysis.Empty()
		if e.Settings.Factors, e.Settings.EMSteps = 40, 2000; small {
			e.Settings.Factors, e.Settings.EMSteps = 2, 50
		}
		return e
	}),
	patch("gaussian-rbm", "Gaussian RBM, 64 hidden units", 10, covariance(energies.MeanCovarianceRBM, 0)),
	patch("spike-and-slab-rbm", "spike-and-slab RBM, 64 hidden units", 10, func(small bool) runs.Experiment {
		e := energies.SpikeAndSlabRBM.Empty()
		if small {
			e.Settings.Machine.Hidden, e.Settings.Training.Chains = 2, 10
		}
		return e
	}),
	patch("mean-covariance-rbm", "mean-covariance RBM, 64 hidden units, 128 factors", 10, covariance(energies.MeanCovarianceRBM, 128)),
	patch("student-t", "mean product of Student-t, 64 hidden units, 128 factors", 10, covariance(energies.StudentT, 128)),
}

func covariance(f *runs.Family[energies.Settings[energies.MeanCovariance], *energies.Model], factors int) func(small bool) runs.Experiment {
	return func(small bool) runs.Experiment {
		e := f.Empty()
		e.Settings.Machine = energies.MeanCovariance{Hidden: 64, Factors: factors}
		if small {
			e.Settings.Machine, e.Settings.Training.Chains = energies.MeanCovariance{Hidden: 2, Factors: min(2, factors)}, 10
		}
		return e
	}
}

func patch(name, label string, epochs int, model func(small bool) runs.Experiment) another {
	return another{
		name: "patches-" + name, label: label, epochs: epochs, model: model,
		data:  dataset.Spec{Name: "olivettipatches", Binarization: dataset.Gray},
		smoke: dataset.Spec{Name: "shifteddots", Binarization: dataset.Gray, Subset: 700, Validation: new(10)},
	}
}

func makePatches(w *work) {
	all := each(patches, func(p another) annealed {
		of := w.measured(p, w.few(0, 0, 20), w.chains())
		w.foundLogP(p, of)
		return of
	})
	fa, gaussian, slab, covariance, product := all[0], all[1], all[2], all[3], all[4]
	w.isAbove("A spike-and-slab RBM is above a Gaussian RBM of equal size.", "spike-and-slab RBM over Gaussian RBM", slab.over(gaussian))
	w.isAbove("Hidden units for the covariance raise the density.", "mean-covariance RBM over Gaussian RBM", covariance.over(gaussian))
	w.isAbove("Student-t factors are above binary ones.", "mean product of Student-t over mean-covariance RBM", product.over(covariance))
	w.isAbove("A mean-covariance RBM is above factor analysis.", "mean-covariance RBM over factor analysis", covariance.over(fa))
	for _, p := range patches[2:] {
		w.Draw(strings.TrimPrefix(p.name, "patches-"), p.label+": what hidden units or factors respond to, in whitened tiles",
			plotting.Samples(w.drawn(p, "filters", runs.Sampling{N: w.few(64, 64, 2)})))
	}
}

var halves = []another{half("logistic-regression", "logistic regression", 0), half("conditional-rbm", "conditional RBM, 100 hidden units", 100)}

func half(name, label string, hidden int) another {
	return another{
		name: "halves-" + name, label: label, epochs: 10,
		model: func(small bool) runs.Experiment {
			e := energies.ConditionalRBM.Empty()
			if e.Settings.Machine.Hidden = hidden; small {
				e.Settings.Machine.Hidden = min(3, hidden)
			}
			return e
		},
		data:  dataset.Spec{Name: "minimnist", Subset: 20_000, Validation: new(1000)},
		smoke: dataset.Spec{Name: "miniglyphs", Subset: 200, Validation: new(20)},
	}
}

func makeHalves(w *work) {
	all := each(halves, func(p another) annealed {
		of := w.measured(p, w.few(200, 200, 5), w.few(10, 10, 2))
		w.foundLogP(p, of)
		return of
	})
	g := all[1].over(all[0])
	var j judgement
	j.add(g.of("conditional RBM over logistic regression").Over(0).Errors(3))
	w.judge("A conditional RBM predicts the left halves of digits better than logistic regression does.", j)
	w.Draw("filled", "Left halves of test digits after 100 steps of Gibbs sampling given their right halves, means of the pixels; conditional RBM",
		plotting.Samples(w.drawn(halves[1], "means", runs.Sampling{N: w.few(100, 100, 4), Chain: runs.Chain{Sweeps: w.few(100, 100, 2)}})))
}

var strokes = another{
	name: "strokes-convolutional-rbm", label: "convolutional RBM, 24 filters of 5×5, blocks of 2×2", epochs: 10,
	model: func(small bool) runs.Experiment {
		e := energies.ConvolutionalRBM.Empty()
		if small {
			e.Settings.Machine.Filters, e.Settings.Machine.Window = 2, 11
		}
		return e
	},
	data:  dataset.Spec{Name: "minimnist", Subset: 10_000, Validation: new(500)},
	smoke: dataset.Spec{Name: "miniglyphs", Subset: 200, Validation: new(20)},
}

func makeStrokes(w *work) {
	of := w.measured(strokes, w.few(0, 0, 20), w.chains())
	w.foundLogP(strokes, of)
	run, _ := w.opened(strokes)
	set := must(w.Sets.Open(run.Experiment(), run.Dir()))
	mean, se := of.mean()
	baseline := energies.ConvolutionalRBM.Experiment(set).Baseline(set, set.Test()).Factorized
	w.isAbove("A convolutional RBM learns more of digits than their pixels' means.", "convolutional RBM over independent pixels",
		gain{mean - baseline.Value, math.Hypot(se, baseline.SE), len(of.Each)})
	w.Draw("filters", "Filters of a convolutional RBM after 10 epochs on 10,000 digits", plotting.Samples(w.drawn(strokes, "filters", runs.Sampling{N: 24})))
	w.Draw("chains", "Means of chains of the convolutional RBM after 1,000 steps of Gibbs sampling",
		plotting.Samples(w.drawn(strokes, "means", runs.Sampling{N: w.few(100, 100, 4), Chain: runs.Chain{Sweeps: w.few(1000, 1000, 2)}})))
}

var parts = another{
	name: "parts-convolutional-rbm", label: "two convolutional RBMs, 24 filters of 5×5 in blocks of 2×2, below 40 of 3×3 blocks", epochs: 10,
	model: func(small bool) runs.Experiment {
		e := energies.ConvolutionalRBM.Empty()
		if e.Settings.Machine.Above, e.Settings.Machine.AboveWindow = 40, 3; small {
			e.Settings.Machine.Filters, e.Settings.Machine.Above = 2, 2
		}
		return e
	},
	data: strokes.data, smoke: strokes.smoke,
}

func makeParts(w *work) {
	run, _ := w.opened(parts)
	last := run.History().Epochs[run.Epochs()-1]
	w.Beside("blocks of validation rows, under the second machine", "log-pseudo-likelihood", reproduce.Value{Ours: last.Validation["pseudo_log_likelihood_above"], Seeds: 1})
	var j judgement
	j.say("filters-above shows the weights of the second machine through the filters of the first")
	w.lookAt("Filters of the second machine join strokes to parts of digits.", j)
	w.Draw("filters", "Filters of the first machine", plotting.Samples(w.drawn(parts, "filters", runs.Sampling{N: 24})))
	w.Draw("filters-above", "Filters of the second machine, as sums of the filters of the first", plotting.Samples(w.drawn(parts, "filters-above", runs.Sampling{N: 40})))
}

var shifts = another{
	name: "shifts-gated-rbm", label: "gated RBM, 200 hidden units, 200 factors", epochs: 80,
	model: func(small bool) runs.Experiment {
		e := energies.GatedRBM.Empty()
		if small {
			e.Settings.Machine.Hidden, e.Settings.Machine.Factors = 3, 4
		}
		return e
	},
	data:  dataset.Spec{Name: "shifteddots", Binarization: dataset.Gray},
	smoke: dataset.Spec{Name: "shifteddots", Binarization: dataset.Gray, Subset: 700, Validation: new(10)},
}

func makeShifts(w *work) {
	run, model := w.opened(shifts)
	set := must(w.Sets.Open(run.Experiment(), run.Dir()))
	train, test := set.Train().Subset(w.few(10_000, 10_000, 500), drawSeed), set.Test()
	read := func(of string, features func(dataset.Split) [][]float64) (right, se float64) {
		told := keptOf(w, fmt.Sprintf("softmax-regression-of-%s-of-%d-pairs", slug(of), train.Rows), must(run.Checkpoint("last")), func() [2]float64 {
			w.Say("fitting softmax regression to the %s of %s pairs", of, thousands(train.Rows))
			right, se := share(classify(features(train), train.Labels, set.Classes()).scores(features(test)), test.Labels)
			return [2]float64{right, se}
		})
		return told[0], told[1]
	}
	right, se := read("hidden units", func(rows dataset.Split) [][]float64 { return must(model.(*energies.Model).HiddenMeans(rows)) })
	pixels, error := read("pixels", func(rows dataset.Split) [][]float64 { return rows.Floats() })
	by := fmt.Sprintf("softmax regression on %s training pairs; %s test pairs", thousands(train.Rows), thousands(test.Rows))
	w.Found("shifts read off the hidden units, share", "at least", reproduce.Value{Ours: right, SE: &se, Seeds: 1, By: by})
	w.Beside("shifts read off the pixels", "share", reproduce.Value{Ours: pixels, SE: &error, Seeds: 1, By: by})
	var j judgement
	j.add(reproduce.Measured(right-pixels, math.Hypot(se, error), "", "share that is right by hidden units less that by pixels").Over(0))
	w.judge("Hidden units tell the shift of a pair of pictures.", j)
	w.Draw("filters", "Filters of the upper and of the lower picture", plotting.Samples(w.drawn(shifts, "filters", runs.Sampling{N: w.few(100, 100, 4)})))
}
