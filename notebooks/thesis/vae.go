package thesis

import (
	"fmt"

	"github.com/helmholtz-go/helmholtz/factors/autoencoder"
	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/notebooks/reproduce"
	"github.com/helmholtz-go/helmholtz/plotting"
	"github.com/helmholtz-go/helmholtz/runs"
)

// coded is a training of the variational autoencoder of BiHM thesis 2016, 3.7.2 and 3.7.4.
type coded struct{ laptop, full int } // epochs

var vae = coded{laptop: 10, full: 2000}

func (p coded) epochs(s reproduce.Scale) int { return epochsAt(s, p.laptop, p.full) }

// at returns the training at a scale. Smoke training has few rows and units.
func (p coded) at(s reproduce.Scale) reproduce.Training {
	e := autoencoder.Family.Empty()
	e.Dataset, e.Epochs, e.Seed = binarizedMNIST, p.epochs(s), 1
	e.Settings.Hidden, e.Settings.Code, e.Settings.Activation = []int{500, 500}, 100, autoencoder.ReLU
	e.Settings.LearningRate, e.Settings.Decay = 0.003, runs.Decay{}
	if s == reproduce.Smoke {
		e.Dataset.Name, e.Dataset.Subset = madeUp(e.Dataset.Name), 128
		e.Settings.Hidden, e.Settings.Code, e.Settings.BatchSize = []int{6, 6}, 3, 32
	}
	return reproduce.Training{Name: "vae", Experiment: e, Seeds: 1, Arithmetic: hm.FloatingPoint.String()}
}

// makeVAE estimates log p of test rows from few and from many samples.
func makeVAE(w *work) {
	epochs := vae.epochs(w.Scale)
	run := must(autoencoder.Family.Open(must(w.Dirs("vae", epochs))[0]))
	test := must(w.Sets.Open(run.Experiment(), run.Dir())).Test().Subset(w.few(0, 1000, 20), 1)
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
	var j judgement
	rise, size := many["log_p"].Value-few["log_p"].Value, many["ess"]
	j.add(holdsIf(rise > 1), "log p by %s samples is %.2f nats above that by 10", thousands(most), rise)
	j.add(holdsIf(size.Value < 0.05), "effective sample size %.2f ± %.2f %%", 100*size.Value, 100*size.SE)
	w.judge("A VAE needs thousands of samples.", j)
	w.draw("curve", "binarised MNIST, variational autoencoder, Adam: −log p of training and validation rows by a sample each, by epochs", plotting.Curves(reproduce.History("VAE", run.Run, epochs)))
}
