package factors

import (
	"testing"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/runs/runstest"
)

func FuzzParseExperiment(f *testing.F) {
	runstest.FuzzParse(f, FactorAnalysis.Parse,
		"family = \"factor-analysis\"\n",
		"family = \"factor-analysis\"\nepochs = 3\nfactors = 2\nem_steps = 4\nfloor = 1e-2\ndrop_constant = true\n[dataset]\nname = \"miniglyphs\"\nbinarization = \"grey\"\n",
		"family = \"factor-analysis\"\nfactors = -1\nfloor = nan\n")
}

func FuzzReadSnapshot(f *testing.F) {
	set, err := dataset.Spec{Name: "miniglyphs", Binarization: dataset.Gray, Subset: 40}.Open()
	if err != nil {
		f.Fatal(err)
	}
	e := FactorAnalysis.Experiment(set)
	e.Settings.Factors, e.Settings.DropConstant = 2, true
	runstest.FuzzSnapshot(f, e, set, `{"shape":{"Height":20,"Width":1}}`, `{"shape":{"Height":4096,"Width":4096}}`)
}
