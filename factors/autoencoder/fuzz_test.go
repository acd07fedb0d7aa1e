package autoencoder

import (
	"testing"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/runs/runstest"
)

func FuzzParseExperiment(f *testing.F) {
	runstest.FuzzParse(f, Family.Parse,
		"family = \"autoencoder\"\n",
		"family = \"autoencoder\"\nhidden = []\ncode = 3\nlatent = \"gumbel-softmax\"\ntemperature = 0.5\nbound = \"iwae\"\nsamples = 5\n[decay]\nschedule = \"cosine\"\n[dataset]\nname = \"3by3\"\n",
		"family = \"autoencoder\"\nhidden = [-1]\ntemperature = nan\n")
}

func FuzzReadSnapshot(f *testing.F) {
	e, set := small(f, dataset.Fixed)
	runstest.FuzzSnapshot(f, e, set, `{"shape":{"Height":20,"Width":1}}`, `{"shape":{"Height":4096,"Width":4096}}`)
}

func FuzzParseAdversarial(f *testing.F) {
	runstest.FuzzParse(f, Adversarial.Parse,
		"family = \"adversarial\"\n",
		"family = \"adversarial\"\nhidden = []\ncode = 3\nactivation = \"tanh\"\n[decay]\nschedule = \"cosine\"\n[dataset]\nname = \"3by3\"\n",
		"family = \"adversarial\"\nhidden = [-1]\nlearning_rate = nan\n")
}

func FuzzReadAdversarial(f *testing.F) {
	e, set := smallAdversarial(f)
	runstest.FuzzSnapshot(f, e, set, `{"shape":{"Height":20,"Width":1}}`, `{"shape":{"Height":4096,"Width":4096}}`)
}
