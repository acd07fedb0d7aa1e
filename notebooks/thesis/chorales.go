package thesis

import (
	"cmp"
	"fmt"
	"math"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/notebooks/reproduce"
	"github.com/helmholtz-go/helmholtz/plotting"
	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/helmholtz-go/helmholtz/sequences"
)

// chorale is a training run of a model on the JSB chorales or on another set of music. Learning rates fall to
// 0 at its end, so training for another number of epochs is a different run.
type chorale struct {
	name         string
	laptop, full int // epochs
	experiment   func() runs.Experiment
	set          string // of music; empty for the chorales
}

var (
	choralesLogistic = chorale{"logistic regression", 15, 60, belief(func(s *sequences.BeliefSettings) { s.Hidden = 0 }), ""}
	choralesAdam     = chorale{"TSBN, Adam", 25, 60, belief(func(s *sequences.BeliefSettings) { s.Natural, s.LearningRate = false, 0.005 }), ""}
	choralesNatural  = chorale{"TSBN, natural", 25, 60, belief(func(*sequences.BeliefSettings) {}), ""}
	choralesRBM      = chorale{"RBM", 20, 20, recurrent(func(s *sequences.RNNRBMSettings) { s.Recurrent = 0 }), ""}
	choralesRNNRBM   = chorale{"RNN-RBM", 20, 20, recurrent(func(*sequences.RNNRBMSettings) {}), ""}
	choralesRTRBM    = chorale{"RTRBM", 20, 20, recurrent(func(s *sequences.RNNRBMSettings) { s.Tied = true }), ""}

	choralesLateralLogistic = chorale{"lateral logistic regression", 15, 60, lateral(func(s *sequences.BeliefSettings) { s.Hidden = 0 }), ""}
	choralesLateralAdam     = chorale{"lateral TSBN, Adam", 15, 60, lateral(func(s *sequences.BeliefSettings) { s.Natural, s.LearningRate, s.L2 = false, 0.005, 0.5 }), ""}
	choralesLateral         = chorale{"lateral TSBN, natural", 15, 60, lateral(func(*sequences.BeliefSettings) {}), ""}

	chorales = []chorale{choralesLogistic, choralesAdam, choralesNatural, choralesLateralLogistic, choralesLateralAdam, choralesLateral, choralesRNNRBM, choralesRTRBM, choralesRBM}
)

// on lists the training runs on another set, which are shorter, with one seed.
func on(set string) []chorale {
	return each([]chorale{choralesLateralLogistic, choralesNatural, choralesLateral}, func(p chorale) chorale {
		p.set, p.laptop = set, 8
		return p
	})
}

func belief(change func(*sequences.BeliefSettings)) func() runs.Experiment {
	return func() runs.Experiment {
		e := sequences.Beliefs.Empty()
		e.Settings.LearningRate, e.Settings.Decay.Schedule = 0.5, runs.CosineDecay
		change(&e.Settings)
		return e
	}
}

// lateral returns a network with lateral weights, with settings chosen on validation sequences.
func lateral(change func(*sequences.BeliefSettings)) func() runs.Experiment {
	return belief(func(s *sequences.BeliefSettings) {
		s.Hidden, s.Lateral, s.Damping, s.Refresh, s.L2 = 50, true, 0.02, 25, 0.005
		change(s)
	})
}

func recurrent(change func(*sequences.RNNRBMSettings)) func() runs.Experiment {
	return func() runs.Experiment {
		e := sequences.RNNRBMs.Empty()
		e.Settings.LearningRate, e.Settings.Decay.Schedule = 0.01, runs.CosineDecay
		change(&e.Settings)
		return e
	}
}

// at returns the training run at a scale. Smoke training uses a grammar instead of the chorales.
func (p chorale) at(s reproduce.Scale) reproduce.Training {
	e := p.experiment()
	h := e.Header()
	h.Dataset = dataset.Spec{Name: cmp.Or(p.set, "jsb")}
	h.Epochs = epochsAt(s, p.laptop, p.full)
	seeds := 1
	switch {
	case s == reproduce.Full && p.set == "":
		seeds = 3
	case s == reproduce.Smoke:
		h.Dataset = dataset.Spec{Name: "voices", Subset: 20}
	}
	return reproduce.Training{Name: p.nameAt(s), Experiment: e.WithHeader(h), Seeds: seeds, Arithmetic: hm.FloatingPoint.String()}
}

func (p chorale) nameAt(s reproduce.Scale) string {
	return cmp.Or(p.set, "chorales") + "-" + slug(p.name) + "-" + string(s)
}

// sung holds log p per step of test sequences under the best epoch of each seed of a training run.
type sung struct {
	each    [][]float64 // log p of each sequence
	steps   []int       // of each sequence
	all     []runs.Estimates
	seconds float64 // of training, a mean over seeds
	run     *runs.Run
}

func (w *work) sing(p chorale) (s sung) {
	for _, dir := range must(w.Dirs(p.nameAt(w.Scale), p.at(w.Scale).Experiment.Header().Epochs)) {
		run := must(runs.Open(dir))
		s.run = run
		test := must(w.Sets.Open(run.Experiment(), run.Dir())).Test()
		if w.Scale == reproduce.Smoke {
			test = test.Subset(3, 1)
		}
		best := must(run.Best())
		model := must(runs.ModelOf(run.Experiment(), best)).(sequences.Model)
		samples := p.samples(w)
		kept := keptOf(w, fmt.Sprintf("log-p-of-%d-sequences-%d-samples", test.Rows, samples), best, func() sequences.Evaluation {
			w.Say("estimating log p of %d test sequences under %s", test.Rows, p.name)
			return must(model.LogP(w.ctx, test, samples, 1, w.Progress))
		})
		s.each, s.steps, s.all = append(s.each, kept.LogP), test.Lengths, append(s.all, kept.Estimates(test))
		s.seconds += run.History().Epochs[run.Epochs()-1].Seconds
	}
	s.seconds /= float64(len(s.all))
	return s
}

func (p chorale) samples(w *work) int {
	if _, is := p.experiment().(sequences.RNNRBMExperiment); is {
		return w.few(20, 5, 2)
	}
	return w.few(300, 100, 5)
}

func (s sung) perSeed() []float64 {
	return each(s.all, func(e runs.Estimates) float64 { return e[sequences.LogP.Key].Value })
}

// above returns how far log p per step is above another run's: over seeds or, with one seed, paired over
// sequences.
func (s sung) above(other sung) gain {
	if len(s.all) > 1 && len(other.all) > 1 {
		return gainOverSeeds(s.perSeed(), other.perSeed())
	}
	differences := make([]float64, len(s.steps))
	for i := range differences {
		differences[i] = s.each[0][i] - other.each[0][i]
	}
	e := sequences.PerStep(s.steps, differences)
	return gain{e.Value, e.SE, len(differences)}
}

// sungBy evaluates training runs, and independent notes and chains of notes as baselines.
func (w *work) sungBy(trainings []chorale) map[string]sung {
	set := must(w.Sets.Open(trainings[0].at(w.Scale).Experiment, ""))
	test := set.Test()
	exact := func(value float64) reproduce.Value {
		return reproduce.Value{Ours: value, Seeds: 1, By: fmt.Sprintf("exact, %d sequences", test.Rows)}
	}
	independent := exact(sequences.Independent(set.Train(), test).Value)
	if trainings[0].set == "" {
		w.Found("independent notes", "log p per step", independent)
	} else {
		w.Beside("independent notes", "log p per step", independent)
	}
	w.Beside("Markov chain per note", "log p per step", exact(sequences.Chain(set.Train(), test).Value))
	all := map[string]sung{}
	for _, p := range trainings {
		s := w.sing(p)
		all[p.name] = s
		v := reproduce.Over(spread(s.perSeed()), len(s.all))
		if len(s.all) == 1 {
			v.SE = new(s.all[0][sequences.LogP.Key].SE)
		}
		simulation := ""
		if se := s.all[0][sequences.MonteCarlo.Key].Value; !math.IsNaN(se) {
			simulation = fmt.Sprintf("error of simulation %.4f, ", se)
		}
		v.By = fmt.Sprintf("best of %d epochs, %.0f s of training; %d samples, %seffective sample size %.0f %%",
			s.run.Epochs(), s.seconds, p.samples(w), simulation, 100*s.all[0][sequences.ESS.Key].Value)
		if p.name == choralesLateral.name && p.set == "" {
			w.Found("goal", "at least", v)
		}
		w.Beside(p.name, "log p per step", v)
	}
	return all
}

func makeMusic(set string) maker {
	return by(func(w *work) {
		all := w.sungBy(on(set))
		lateral := all[choralesLateral.name]
		w.isAbove("With lateral weights, a temporal belief network is ahead of a logistic regression.",
			"lateral TSBN − lateral logistic regression", lateral.above(all[choralesLateralLogistic.name]))
		w.isAbove("Lateral weights put a natural temporal belief network ahead of one without them.", "lateral TSBN − TSBN", lateral.above(all[choralesNatural.name]))
	}, on(set)...)
}

func makeChorales(w *work) {
	all := w.sungBy(chorales)
	claim := func(says string, a, b chorale) {
		w.isAbove(says, a.name+" − "+b.name, all[a.name].above(all[b.name]))
	}
	claim("The natural gradient of a temporal belief network is ahead of Adam at its one rate.", choralesNatural, choralesAdam)
	claim("With lateral weights, the natural gradient is ahead of Adam at its one rate, too.", choralesLateral, choralesLateralAdam)
	claim("A temporal belief network is ahead of a logistic regression.", choralesNatural, choralesLogistic)
	claim("With lateral weights, a temporal belief network is ahead of a logistic regression, too.", choralesLateral, choralesLateralLogistic)
	claim("Lateral weights put a natural temporal belief network ahead of one without them.", choralesLateral, choralesNatural)
	claim("The RNN-RBM is ahead of an RBM of single steps.", choralesRNNRBM, choralesRBM)
	claim("The RTRBM is ahead of an RBM of single steps.", choralesRTRBM, choralesRBM)
	claim("A natural temporal belief network is ahead of the RNN-RBM.", choralesNatural, choralesRNNRBM)
	claim("A natural temporal belief network with lateral weights is ahead of the RNN-RBM.", choralesLateral, choralesRNNRBM)
	curve := func(p chorale) runs.History {
		return reproduce.History(p.name, all[p.name].run, all[p.name].run.Epochs())
	}
	w.Draw("curves", "−log p per step of training sequences (solid) and validation sequences (dashed), by 10 particles, by epochs", plotting.Curves(curve(choralesLateral), curve(choralesLateralAdam), curve(choralesNatural), curve(choralesAdam)))
}
