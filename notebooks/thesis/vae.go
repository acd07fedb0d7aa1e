package thesis

import (
	"fmt"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/factors/autoencoder"
	"github.com/helmholtz-go/helmholtz/notebooks/reproduce"
	"github.com/helmholtz-go/helmholtz/plotting"
	"github.com/helmholtz-go/helmholtz/runs"
)

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

func makeVAE(w *work) {
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
}
