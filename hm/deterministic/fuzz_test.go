package deterministic

import (
	"testing"

	"github.com/helmholtz-go/helmholtz/runs/runstest"
)

func FuzzParseExperiment(f *testing.F) {
	runstest.FuzzParse(f, Family.Parse,
		"family = \"deterministic\"\n",
		"family = \"deterministic\"\nepochs = 3\nkeep = [1, 2]\n[dataset]\nname = \"3by3\"\n[machine]\nlayers = [9, 6]\nactivation = \"noisy-or\"\n[training]\nlearning_rate = 1e-3\n",
		"family = \"deterministic\"\n[training]\nlearning_rate = nan\n")
}

func FuzzReadSnapshot(f *testing.F) {
	set := patterns(f)
	runstest.FuzzSnapshot(f, NewExperiment(set, NoisyOr, 2), set, `{"units":[3]}`, `{"units":[262144,262144],"activation":"logistic"}`)
}
