package thesis

import (
	"github.com/helmholtz-go/helmholtz/boltzmann"
	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/factors/autoencoder"
	"github.com/helmholtz-go/helmholtz/notebooks/reproduce"
	"github.com/helmholtz-go/helmholtz/plotting"
	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/helmholtz-go/helmholtz/runs/samples"
)

var adversarialEntries = map[string]reproduce.Entry{
	"factors/adversarial": by(func(w *work) {
		gan := w.judged(adversaries[0])
		sharp := []*judgement{w.claim("Samples of a GAN are sharper than samples of variational autoencoders."), w.claim("Samples of a GAN are sharper than samples of an RBM and of NRWS.")}
		recalled := w.claim("Samples of a GAN recall less of the data than samples of models that maximise a likelihood.")
		covered := w.claim("Samples of a GAN cover less of the data than samples of models that maximise a likelihood.")
		for k, p := range adversaries[1:] {
			other := w.judged(p)
			over := func(measure string) reproduce.Quantity {
				g := gainOverSeeds(gan.measured["samples_"+measure], other.measured["samples_"+measure])
				q := reproduce.Measured(g.nats, g.se, "", "%s of GAN less %s", measure, other.label)
				q.N = g.n
				return q
			}
			sharp[k/2].add(over("precision").Over(0))
			recalled.add(over("recall").Under(0))
			covered.add(over("coverage").Under(0))
		}
		for _, measure := range []string{"precision", "recall", "coverage"} {
			w.Beside("training rows in place of samples", measure, reproduce.Value{Ours: gan.measured["samples_"+measure+"_reference"][0], Seeds: 1})
		}
	}, adversaries...),
}

// planned is a training of a machine of any family, and what figures call it.
type planned struct {
	label string
	of    interface {
		at(reproduce.Scale) reproduce.Training
	}
}

func (p planned) at(s reproduce.Scale) reproduce.Training { return p.of.at(s) }

var adversaries = []planned{
	{"GAN", generated("gan", fits(autoencoder.Adversarial,
		func(s *autoencoder.AdversarialSettings) { s.Hidden, s.Code, s.BatchSize = []int{6}, 3, 32 }))},
	{"Gaussian VAE", generated("gaussian-vae", vaeOf(autoencoder.Gaussian))},
	{"discrete VAE", generated("discrete-vae", vaeOf(autoencoder.GumbelSoftmax))},
	{"RBM", machine("samples-rbm", dataset.Spec{Name: "miniglyphs"}, boltzmann.PCD().LearningRate(0.1), 30, 30, 3, 200)},
	{"NRWS", plan{name: "samples-nrws", data: dataset.Spec{Name: "miniglyphs"}, machine: dense(200, 50), method: tunedNRWS(0.1, 0.05, 281, 0.0011, 20), laptop: 20, full: 20, seeds: 3}},
}

func vaeOf(latent autoencoder.Latent) func(small bool) runs.Experiment {
	return fits(autoencoder.Family, func(s *autoencoder.Settings) { s.Hidden, s.Code, s.BatchSize = []int{6}, 3, 32 },
		func(s *autoencoder.Settings) { s.Latent, s.Activation = latent, autoencoder.ReLU })
}

func generated(name string, model func(small bool) runs.Experiment) training {
	return training{name: "samples-" + name, laptop: 50, full: 50, seeds: 3, arithmetic: "float32", model: model,
		data: dataset.Spec{Name: "miniglyphs"}, smoke: dataset.Spec{Name: "miniglyphs", Subset: 128}}
}

// sampled holds the measures of samples by key, a value for each seed.
type sampled struct {
	label    string
	measured map[string][]float64
}

// judged judges samples of each seed of a training beside test rows, adds the measures to the findings, and draws samples of
// the first seed.
func (w *work) judged(p planned) sampled {
	of, t := sampled{p.label, map[string][]float64{}}, p.at(w.Scale)
	for k, dir := range must(w.Dirs(t.Name, t.Experiment.Header().Epochs)) {
		run := must(runs.Open(dir))
		set := w.setOf(run)
		draw := func(n int) dataset.Sheet {
			drawn, _, err := run.Given(w.ctx, must(run.ModelAt("last")), set, nil, runs.Sampling{N: n, Seed: drawSeed}, dataset.Writing{})
			check(err)
			return drawn
		}
		measured := keptOf(w, "measures-of-samples", must(run.Checkpoint("last")), func() map[string]float64 {
			w.Say("judging samples: %s, seed %d", p.label, k+1)
			found, _, err := samples.Judge(set, set.Test(), draw(must(samples.Count(set, set.Test(), 0))), drawSeed)
			check(err)
			values := map[string]float64{}
			for _, f := range found {
				values[f.Measure.Key] = f.Value.(float64)
			}
			return values
		})
		for key, value := range measured {
			of.measured[key] = append(of.measured[key], value)
		}
		if k == 0 {
			w.Draw(slug(p.label), "Samples of glyphs: "+p.label, plotting.Samples(draw(w.few(60, 60, 4))))
		}
	}
	for _, measure := range []string{"precision", "recall", "coverage", "score", "classes", "nearer", "mmd"} {
		values := of.measured["samples_"+measure]
		w.Beside(p.label, measure, reproduce.Over(spread(values), len(values)))
	}
	return of
}
