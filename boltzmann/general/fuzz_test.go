package general

import (
	"testing"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/runs/runstest"
)

func FuzzParseExperiment(f *testing.F) {
	runstest.FuzzParse(f, Family.Parse,
		"family = \"general-boltzmann\"\n",
		"family = \"general-boltzmann\"\nepochs = 3\nkeep = [1, 2]\n[dataset]\nname = \"3by3\"\n[machine]\nhidden = 2\nconnections = \"listed\"\npairs = [[0, 9], [3, 10]]\n[training]\nlearning_rate = 1e-3\n",
		"family = \"general-boltzmann\"\n[machine]\npairs = []\n[training]\nchains = -1\nlearning_rate = nan\n")
}

func FuzzReadSnapshot(f *testing.F) {
	set, err := dataset.Spec{Name: "miniglyphs", Binarization: dataset.Fixed, Subset: 40}.Open()
	if err != nil {
		f.Fatal(err)
	}
	e := Family.Experiment(set)
	e.Settings.Machine.Hidden, e.Settings.Training.Chains = 2, 3
	runstest.FuzzSnapshot(f, e, set, `{"shape":{"Height":20,"Width":1}}`, `{"shape":{"Height":4096,"Width":4096}}`)
}
