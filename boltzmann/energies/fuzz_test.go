package energies

import (
	"testing"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/runs/runstest"
)

func FuzzParseExperiment(f *testing.F) {
	runstest.FuzzParse(f, ConditionalRBM.Parse,
		"family = \"conditional-rbm\"\n",
		"family = \"conditional-rbm\"\nepochs = 3\n[dataset]\nname = \"3by3\"\n[machine]\nhidden = 2\npredict = \"top\"\n[training]\nlearning_rate = 1e-3\n",
		"family = \"conditional-rbm\"\n[machine]\npredict = \"rectangle:0,0,-1,9\"\n[training]\nchains = -1\nlearning_rate = nan\n")
}

func FuzzReadSnapshot(f *testing.F) {
	set, err := dataset.Spec{Name: "miniglyphs", Subset: 40}.Open()
	if err != nil {
		f.Fatal(err)
	}
	e := ConvolutionalRBM.Experiment(set)
	e.Settings.Machine = Convolution{Filters: 1, Window: 13, Pool: 1, Activity: 0.1}
	e.Settings.Training.Chains = 3
	runstest.FuzzSnapshot(f, e, set, `{"shape":{"Height":20,"Width":1}}`, `{"shape":{"Height":4096,"Width":4096}}`)
}
