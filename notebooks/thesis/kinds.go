package thesis

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/helmholtz-go/helmholtz/boltzmann/energies"
	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/factors"
	"github.com/helmholtz-go/helmholtz/factors/autoencoder"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/notebooks/reproduce"
	"github.com/helmholtz-go/helmholtz/plotting"
	"github.com/helmholtz-go/helmholtz/runs"
)

var otherEntries = map[string]reproduce.Entry{
	"bihm/fig3.4-vae": by(func(w *work) {
		epochs := w.epochsOf(vae.name)
		run := must(autoencoder.Family.Open(w.dirs(vae)[0]))
		test := w.setOf(run.Run).Test().Subset(w.few(0, 1000, 20), 1)
		by := func(samples int) runs.Estimates {
			return keptOf(w, fmt.Sprintf("vae-%d-test-rows-%d-samples", test.Rows, samples), run.Snapshot(), func() runs.Estimates {
				w.Say("estimating log p of %s test rows by %s samples", thousands(test.Rows), thousands(samples))
				return must(run.Model().Estimate(w.ctx, test, samples, 1, w.Progress))
			})
		}
		most := w.few(10_000, 1000, 20)
		many, few := by(most), by(10)
		found := func(of, measure string, e runs.Estimate) {
			w.Found(of, measure, reproduce.Value{Ours: e.Value, SE: &e.SE, Seeds: 1, By: fmt.Sprintf("%s samples of each of %s test rows", thousands(most), thousands(test.Rows))})
		}
		found("VAE", "log p", many["log_p"])
		found("VAE, lower bound", "bound", many["bound"])
		j := w.claim("A VAE needs far more than ten samples.")
		rise, size := many["log_p"].Value-few["log_p"].Value, many["ess"]
		j.add(exact(rise, "nats", "log p by %s samples above that by 10", thousands(most)).Over(1),
			reproduce.Measured(size.Value, size.SE, "", "effective sample size").Under(0.05).Errors(0))
		w.Draw("curve", "binarised MNIST, variational autoencoder, Adam: minus the bound of training rows (solid) and validation rows (dashed), which is the estimate of −log p by one sample, by epochs", plotting.Curves(reproduce.History("VAE", run.Run, epochs)))
	}, vae),
	"boltzmann/patches": by(func(w *work) {
		all := each(patches, func(p training) annealed { return w.measured(p, w.few(0, 0, 20), w.chains()) })
		fa, gaussian, slab, covariance, product := all[0], all[1], all[2], all[3], all[4]
		w.claim("A spike-and-slab RBM is above a Gaussian RBM of equal size.").
			above("spike-and-slab RBM over Gaussian RBM", slab.over(gaussian))
		w.claim("Hidden units for the covariance raise the density.").above("mean-covariance RBM over Gaussian RBM",
			covariance.over(gaussian))
		w.claim("Student-t factors are above binary ones.").
			above("mean product of Student-t over mean-covariance RBM", product.over(covariance))
		w.claim("A mean-covariance RBM is above factor analysis.").above("mean-covariance RBM over factor analysis", covariance.over(fa))
		for _, p := range patches[2:] {
			w.drawn(strings.TrimPrefix(p.name, "patches-"), p.label+": what hidden units or factors respond to, in whitened tiles",
				p, "filters", runs.Sampling{N: w.few(64, 64, 2)})
		}
	}, patches...),
	"boltzmann/halves": by(func(w *work) {
		all := each(halves, func(p training) annealed { return w.measured(p, w.few(200, 200, 5), w.few(10, 10, 2)) })
		g := all[1].over(all[0])
		w.claim("A conditional RBM predicts the left halves of digits better than logistic regression does.").
			add(g.of("conditional RBM over logistic regression").Over(0).Errors(3))
		w.drawn("filled", "Left halves of test digits after 100 steps of Gibbs sampling given their right halves, means of the pixels; "+
			"conditional RBM", halves[1], "means", runs.Sampling{N: w.few(100, 100, 4), Chain: runs.Chain{Sweeps: w.few(100, 100, 2)}})
	}, halves...),
	"boltzmann/strokes": by(func(w *work) {
		of := w.measured(strokes, w.few(0, 0, 20), w.chains())
		_, set, _ := w.opened(strokes)
		mean, se := of.mean()
		baseline := energies.ConvolutionalRBM.Experiment(set).Baseline(set, set.Test()).Factorized
		w.claim("A convolutional RBM learns more of digits than their pixels' means.").above("convolutional RBM over independent pixels",
			gain{mean - baseline.Value, math.Hypot(se, baseline.SE), len(of.Each)})
		w.drawn("filters", "Filters of a convolutional RBM after 10 epochs on 10,000 digits", strokes, "filters", runs.Sampling{N: 24})
		w.drawn("chains", "Means of chains of the convolutional RBM after 1,000 steps of Gibbs sampling",
			strokes, "means", runs.Sampling{N: w.few(100, 100, 4), Chain: runs.Chain{Sweeps: w.few(1000, 1000, 2)}})
	}, strokes),
	"boltzmann/parts": by(func(w *work) {
		run, _, _ := w.opened(parts)
		last := run.History().Epochs[run.Epochs()-1]
		w.Beside("blocks of validation rows, under the second machine", "log-pseudo-likelihood", reproduce.Value{Ours: last.Validation["pseudo_log_likelihood_above"], Seeds: 1})
		w.look("Filters of the second machine join strokes to parts of digits.").
			say("filters-above shows the weights of the second machine through the filters of the first")
		w.drawn("filters", "Filters of the first machine", parts, "filters", runs.Sampling{N: 24})
		w.drawn("filters-above", "Filters of the second machine, as sums of the filters of the first",
			parts, "filters-above", runs.Sampling{N: 40})
	}, parts),
	"boltzmann/shifts": by(func(w *work) {
		run, set, model := w.opened(shifts)
		train, test := set.Train().Subset(w.few(10_000, 10_000, 500), drawSeed), set.Test()
		read := func(of string, features func(dataset.Split) [][]float64) (right, se float64) {
			told := keptOf(w, fmt.Sprintf("softmax-regression-of-%s-of-%d-pairs", slug(of), train.Rows), must(run.Checkpoint("last")), func() [2]float64 {
				w.Say("fitting softmax regression to the %s of %s pairs", of, thousands(train.Rows))
				right, se := share(classify(features(train), train.Labels, set.Classes()).Scores(features(test)), test.Labels)
				return [2]float64{right, se}
			})
			return told[0], told[1]
		}
		right, se := read("hidden units", func(rows dataset.Split) [][]float64 { return must(model.(*energies.Model).HiddenMeans(rows)) })
		pixels, error := read("pixels", func(rows dataset.Split) [][]float64 { return rows.Floats() })
		by := fmt.Sprintf("softmax regression on %s training pairs; %s test pairs", thousands(train.Rows), thousands(test.Rows))
		w.Found("shifts read off the hidden units, share", "at least", reproduce.Value{Ours: right, SE: &se, Seeds: 1, By: by})
		w.Beside("shifts read off the pixels", "share", reproduce.Value{Ours: pixels, SE: &error, Seeds: 1, By: by})
		j := w.claim("Hidden units tell the shift of a pair of pictures.")
		j.add(reproduce.Measured(right-pixels, math.Hypot(se, error), "",
			"share that is right by hidden units less that by pixels").Over(0))
		w.drawn("filters", "Filters of the upper and of the lower picture", shifts, "filters", runs.Sampling{N: w.few(100, 100, 4)})
	}, shifts),
}

// training describes a training run of a model that is not a Helmholtz machine.
type training struct {
	name         string // the name of its reproduce.Training, without the scale
	label        string // in figures and evidence
	laptop, full int    // epochs
	seeds        int
	once         bool  // whether only the scale full trains more than one seed
	falls        bool  // whether the learning rate falls to 0 at the end, so that each scale is another run
	keep         []int // epochs whose checkpoints are evaluated
	arithmetic   string
	data         dataset.Spec
	smoke        dataset.Spec // the data at the scale smoke
	model        func(small bool) runs.Experiment
	below        *training // the machine it stands on, as the top of a belief network
}

func (p training) at(s reproduce.Scale) reproduce.Training {
	e := p.model(s == reproduce.Smoke)
	h := e.Header()
	h.Dataset, h.Epochs, h.Keep = p.data, epochsAt(s, p.laptop, p.full), p.keep
	t := reproduce.Training{Name: p.nameAt(s), Seeds: p.seeds, Arithmetic: p.arithmetic}
	if p.once && s != reproduce.Full {
		t.Seeds = 1
	}
	switch {
	case s == reproduce.Smoke:
		h.Dataset, t.Seeds = p.smoke, min(t.Seeds, 2)
		if !p.falls {
			h.Epochs = 1
		}
	case !p.falls && p.laptop < p.full:
		h.Keep = []int{p.laptop} // the scales share the run
	}
	t.Experiment = e.WithHeader(h)
	if p.below != nil {
		below := p.below.at(s)
		t.From, t.Begin = &below, standOn
	}
	return t
}

func (p training) nameAt(s reproduce.Scale) string {
	if p.falls {
		return p.name + "-" + string(s)
	}
	return p.name
}

// dirs returns the directories of a training's runs, one per seed.
func (w *work) dirs(p training) []string {
	return must(w.Dirs(p.nameAt(w.Scale), p.at(w.Scale).Experiment.Header().Epochs))
}

// opened opens the first run of a training, with its data and its last model.
func (w *work) opened(p training) (*runs.Run, *dataset.Set, any) {
	run := must(runs.Open(w.dirs(p)[0]))
	return run, w.setOf(run), must(run.ModelAt("last"))
}

func (w *work) chains() int { return w.few(30, 30, 2) }

// measured returns log p of test rows, exactly or by AIS, and adds it to the findings.
func (w *work) measured(p training, rows, chains int) annealed {
	run, set, model := w.opened(p)
	test := set.Test().Subset(rows, drawSeed)
	of := keptOf(w, fmt.Sprintf("log-p-of-%d-rows-%d-chains", test.Rows, chains), must(run.Checkpoint("last")), func() annealed {
		if of, is := model.(*factors.Model); is {
			return annealed{annealedLogZ{By: "exact"}, of.LogP(test.Floats())}
		}
		w.Say("estimating log p of %s test rows: %v", thousands(test.Rows), run.Experiment())
		logP, logZ, err := model.(*energies.Model).LogP(w.ctx, test, chains, drawSeed, w.Progress)
		check(err)
		of := annealed{annealedLogZ{float64(logZ.Value), float64(logZ.SE), fmt.Sprintf("AIS, %d chains, 1,000 steps%s", chains, names.Clause(logZ.SampleSize().Negative().Detail()))}, logP}
		if logZ.Errs == runs.Exact {
			of.By = "exact"
		}
		return of
	})
	mean, se := of.mean()
	by := fmt.Sprintf("%s test rows; %s", thousands(len(of.Each)), of.By)
	if of.SE > 0 {
		by += fmt.Sprintf("; log Z %.2f ± %.2f", of.LogZ, of.SE)
	}
	w.Beside(p.label, "log p", reproduce.Value{Ours: mean, SE: &se, Seeds: 1, By: by})
	return of
}

// drawn draws images of a kind that the model of a training offers.
func (w *work) drawn(name, caption string, p training, kind string, s runs.Sampling) {
	_, set, model := w.opened(p)
	s.Seed, s.Rows = 1, set.Test()
	drawings := model.(runs.Sampler).Drawings()
	i := slices.IndexFunc(drawings, func(d runs.Drawing) bool { return d.Kind == kind })
	w.Draw(name, caption, plotting.Samples(must(drawings[i].Draw(w.ctx, s))[0]))
}

// fits returns a function that makes the usual experiment of a family with changed settings. shrink changes them
// further for smoke training.
func fits[S, M any](f *runs.Family[S, M], shrink func(*S), changes ...func(*S)) func(small bool) runs.Experiment {
	return func(small bool) runs.Experiment {
		e := f.Empty()
		for _, change := range changes {
			change(&e.Settings)
		}
		if small && shrink != nil {
			shrink(&e.Settings)
		}
		return e
	}
}

var patches = []training{
	patch("factor-analysis", "factor analysis, 40 factors", 1, fits(factors.FactorAnalysis,
		func(s *factors.FactorAnalysisSettings) { s.Factors, s.EMSteps = 2, 50 },
		func(s *factors.FactorAnalysisSettings) { s.Factors, s.EMSteps = 40, 2000 })),
	patch("gaussian-rbm", "Gaussian RBM, 64 hidden units", 10, covariance(energies.MeanCovarianceRBM, 0)),
	patch("spike-and-slab-rbm", "spike-and-slab RBM, 64 hidden units", 10, fits(energies.SpikeAndSlabRBM,
		func(s *energies.Settings[energies.SpikeAndSlab]) { s.Machine.Hidden, s.Training.Chains = 2, 10 })),
	patch("mean-covariance-rbm", "mean-covariance RBM, 64 hidden units, 128 factors", 10, covariance(energies.MeanCovarianceRBM, 128)),
	patch("student-t", "mean product of Student-t, 64 hidden units, 128 factors", 10, covariance(energies.StudentT, 128)),
}

func covariance(f *runs.Family[energies.Settings[energies.MeanCovariance], *energies.Model], factors int) func(small bool) runs.Experiment {
	return fits(f, func(s *energies.Settings[energies.MeanCovariance]) {
		s.Machine, s.Training.Chains = energies.MeanCovariance{Hidden: 2, Factors: min(2, factors)}, 10
	}, func(s *energies.Settings[energies.MeanCovariance]) {
		s.Machine = energies.MeanCovariance{Hidden: 64, Factors: factors}
	})
}

func patch(name, label string, epochs int, model func(small bool) runs.Experiment) training {
	return training{
		name: "patches-" + name, label: label, laptop: epochs, full: epochs, seeds: 1, arithmetic: "float64", model: model,
		data:  dataset.Spec{Name: "olivettipatches", Binarization: dataset.Gray},
		smoke: dataset.Spec{Name: "shifteddots", Binarization: dataset.Gray, Subset: 700, Validation: new(10)},
	}
}

var halves = []training{
	half("logistic-regression", "logistic regression", 0), half("conditional-rbm", "conditional RBM, 100 hidden units", 100),
}

func half(name, label string, hidden int) training {
	return training{
		name: "halves-" + name, label: label, laptop: 10, full: 10, seeds: 1, arithmetic: "float64",
		model: fits(energies.ConditionalRBM, func(s *energies.Settings[energies.Conditional]) { s.Machine.Hidden = min(3, hidden) },
			func(s *energies.Settings[energies.Conditional]) { s.Machine.Hidden = hidden }),
		data:  dataset.Spec{Name: "minimnist", Subset: 20_000, Validation: new(1000)},
		smoke: dataset.Spec{Name: "miniglyphs", Subset: 200, Validation: new(20)},
	}
}

var strokes = training{
	name: "strokes-convolutional-rbm", label: "convolutional RBM, 24 filters of 5×5, blocks of 2×2",
	laptop: 10, full: 10, seeds: 1, arithmetic: "float64",
	model: fits(energies.ConvolutionalRBM,
		func(s *energies.Settings[energies.Convolution]) { s.Machine.Filters, s.Machine.Window = 2, 11 }),
	data:  dataset.Spec{Name: "minimnist", Subset: 10_000, Validation: new(500)},
	smoke: dataset.Spec{Name: "miniglyphs", Subset: 200, Validation: new(20)},
}

var parts = training{
	name: "parts-convolutional-rbm", label: "two convolutional RBMs, 24 filters of 5×5 in blocks of 2×2, below 40 of 3×3 blocks",
	laptop: 10, full: 10, seeds: 1, arithmetic: "float64",
	model: fits(energies.ConvolutionalRBM, func(s *energies.Settings[energies.Convolution]) { s.Machine.Filters, s.Machine.Above = 2, 2 },
		func(s *energies.Settings[energies.Convolution]) { s.Machine.Above, s.Machine.AboveWindow = 40, 3 }),
	data: strokes.data, smoke: strokes.smoke,
}

var shifts = training{
	name: "shifts-gated-rbm", label: "gated RBM, 200 hidden units, 200 factors", laptop: 80, full: 80, seeds: 1, arithmetic: "float64",
	model: fits(energies.GatedRBM, func(s *energies.Settings[energies.Gated]) { s.Machine.Hidden, s.Machine.Factors = 3, 4 }),
	data:  dataset.Spec{Name: "shifteddots", Binarization: dataset.Gray},
	smoke: dataset.Spec{Name: "shifteddots", Binarization: dataset.Gray, Subset: 700, Validation: new(10)},
}

// vae is the training run of the variational autoencoder of BiHM thesis 2016, 3.7.2 and 3.7.4.
var vae = training{
	name: "vae", label: "VAE", laptop: 10, full: 2000, seeds: 1, arithmetic: "float32",
	data: binarizedMNIST, smoke: dataset.Spec{Name: "glyphs", Subset: 128},
	model: fits(autoencoder.Family,
		func(s *autoencoder.Settings) { s.Hidden, s.Code, s.BatchSize = []int{6, 6}, 3, 32 },
		func(s *autoencoder.Settings) {
			s.Hidden, s.Code, s.Activation, s.LearningRate, s.Decay = []int{500, 500}, 100, autoencoder.ReLU, 0.003, runs.Decay{}
		}),
}
