package thesis

import (
	"fmt"
	"math"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/notebooks/reproduce"
	"github.com/helmholtz-go/helmholtz/plotting"
	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/helmholtz-go/helmholtz/sequences"
)

var musicEntries = map[string]reproduce.Entry{
	"chorales": by(func(w *work) {
		all := w.sungBy(chorales)
		claim := func(says string, a, b training) {
			w.claim(says).above(a.label+" − "+b.label, all[a.label].above(all[b.label]))
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
		curve := func(p training) runs.History {
			return reproduce.History(p.label, all[p.label].run, all[p.label].run.Epochs())
		}
		w.Draw("curves", "−log p per step of training sequences (solid) and validation sequences (dashed), by 10 particles, by epochs", plotting.Curves(curve(choralesLateral), curve(choralesLateralAdam), curve(choralesNatural), curve(choralesAdam)))
	}, chorales...),
	"music/nottingham": makeMusic("nottingham"),
	"music/piano-midi": makeMusic("piano-midi"),
	"music/musedata":   makeMusic("musedata"),
}

var (
	choralesLogistic = music("logistic regression", 15, 60, belief(func(s *sequences.BeliefSettings) { s.Hidden = 0 }))
	choralesAdam     = music("TSBN, Adam", 25, 60, belief(func(s *sequences.BeliefSettings) { s.Natural, s.LearningRate = false, 0.005 }))
	choralesNatural  = music("TSBN, natural", 25, 60, belief(func(*sequences.BeliefSettings) {}))
	choralesRBM      = music("RBM", 20, 20, recurrent(func(s *sequences.RNNRBMSettings) { s.Recurrent = 0 }))
	choralesRNNRBM   = music("RNN-RBM", 20, 20, recurrent(func(*sequences.RNNRBMSettings) {}))
	choralesRTRBM    = music("RTRBM", 20, 20, recurrent(func(s *sequences.RNNRBMSettings) { s.Tied = true }))

	choralesLateralLogistic = music("lateral logistic regression", 15, 60, lateral(func(s *sequences.BeliefSettings) { s.Hidden = 0 }))
	choralesLateralAdam     = music("lateral TSBN, Adam", 15, 60, lateral(func(s *sequences.BeliefSettings) {
		s.Natural, s.LearningRate, s.L2 = false, 0.005, 0.5
	}))
	choralesLateral = music("lateral TSBN, natural", 15, 60, lateral(func(*sequences.BeliefSettings) {}))

	chorales = []training{
		choralesLogistic, choralesAdam, choralesNatural, choralesLateralLogistic, choralesLateralAdam, choralesLateral,
		choralesRNNRBM, choralesRTRBM, choralesRBM,
	}
)

// music returns a training run on the JSB chorales. Smoke training uses a grammar instead.
func music(label string, laptop, full int, model func(bool) runs.Experiment) training {
	return training{
		name: "chorales-" + slug(label), label: label, laptop: laptop, full: full, seeds: 3, once: true, falls: true,
		arithmetic: hm.FloatingPoint.String(), model: model,
		data: dataset.Spec{Name: "jsb"}, smoke: dataset.Spec{Name: "voices", Subset: 20},
	}
}

// on lists the training runs on another set, which are shorter, with one seed.
func on(set string) []training {
	return each([]training{choralesLateralLogistic, choralesNatural, choralesLateral}, func(p training) training {
		p.name, p.data.Name, p.laptop, p.seeds = set+"-"+slug(p.label), set, 8, 1
		return p
	})
}

func belief(change func(*sequences.BeliefSettings)) func(bool) runs.Experiment {
	return fits(sequences.Beliefs, nil, func(s *sequences.BeliefSettings) {
		s.LearningRate, s.Decay.Schedule = 0.5, runs.CosineDecay
		change(s)
	})
}

// lateral returns a network with lateral weights, with settings chosen on validation sequences.
func lateral(change func(*sequences.BeliefSettings)) func(bool) runs.Experiment {
	return belief(func(s *sequences.BeliefSettings) {
		s.Hidden, s.Lateral, s.Damping, s.Refresh, s.L2 = 50, true, 0.02, 25, 0.005
		change(s)
	})
}

func recurrent(change func(*sequences.RNNRBMSettings)) func(bool) runs.Experiment {
	return fits(sequences.RNNRBMs, nil, func(s *sequences.RNNRBMSettings) {
		s.LearningRate, s.Decay.Schedule = 0.01, runs.CosineDecay
		change(s)
	})
}

// sung holds log p per step of test sequences under the best epoch of each seed of a training run.
type sung struct {
	each    [][]float64 // log p of each sequence
	steps   []int       // of each sequence
	all     []runs.Estimates
	seconds float64 // of training, a mean over seeds
	run     *runs.Run
}

func (w *work) sing(p training) (s sung) {
	for _, dir := range w.dirs(p) {
		run := must(runs.Open(dir))
		s.run = run
		test := w.setOf(run).Test()
		if w.Scale == reproduce.Smoke {
			test = test.Subset(3, 1)
		}
		best := must(run.Best())
		model := must(runs.ModelOf(run.Experiment(), best)).(sequences.Model)
		samples := p.samples(w)
		kept := keptOf(w, fmt.Sprintf("log-p-of-%d-sequences-%d-samples", test.Rows, samples), best, func() sequences.Evaluation {
			w.Say("estimating log p of %d test sequences under %s", test.Rows, p.label)
			return must(model.LogP(w.ctx, test, samples, 1, w.Progress))
		})
		s.each, s.steps, s.all = append(s.each, kept.LogP), test.Lengths, append(s.all, kept.Estimates(test))
		s.seconds += run.History().Epochs[run.Epochs()-1].Seconds
	}
	s.seconds /= float64(len(s.all))
	return s
}

func (p training) samples(w *work) int {
	if _, is := p.model(false).(sequences.RNNRBMExperiment); is {
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
func (w *work) sungBy(trainings []training) map[string]sung {
	set := must(w.Sets.Open(trainings[0].at(w.Scale).Experiment, ""))
	test := set.Test()
	exact := func(value float64) reproduce.Value {
		return reproduce.Value{Ours: value, Seeds: 1, By: fmt.Sprintf("exact, %d sequences", test.Rows)}
	}
	independent := exact(sequences.Independent(set.Train(), test).Value)
	if trainings[0].data.Name == "jsb" {
		w.Found("independent notes", "log p per step", independent)
	} else {
		w.Beside("independent notes", "log p per step", independent)
	}
	w.Beside("Markov chain per note", "log p per step", exact(sequences.Chain(set.Train(), test).Value))
	all := map[string]sung{}
	for _, p := range trainings {
		s := w.sing(p)
		all[p.label] = s
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
		if p.name == choralesLateral.name {
			w.Found("goal", "at least", v)
		}
		w.Beside(p.label, "log p per step", v)
	}
	return all
}

func makeMusic(set string) reproduce.Entry {
	return by(func(w *work) {
		all := w.sungBy(on(set))
		lateral := all[choralesLateral.label]
		w.claim("With lateral weights, a temporal belief network is ahead of a logistic regression.").
			above("lateral TSBN − lateral logistic regression", lateral.above(all[choralesLateralLogistic.label]))
		w.claim("Lateral weights put a natural temporal belief network ahead of one without them.").
			above("lateral TSBN − TSBN", lateral.above(all[choralesNatural.label]))
	}, on(set)...)
}
