package deterministic

import (
	"testing"

	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/helmholtz-go/helmholtz/runs/runstest"
)

func FuzzParseExperiment(f *testing.F) {
	runstest.FuzzParse(f, ParseExperiment,
		"family = \"deterministic\"\n",
		"family = \"deterministic\"\nepochs = 3\nkeep = [1, 2]\n[dataset]\nname = \"3by3\"\n[machine]\nlayers = [9, 6]\nactivation = \"noisy-or\"\n[training]\nlearning_rate = 1e-3\n",
		"family = \"deterministic\"\n[training]\nlearning_rate = nan\n")
}

func FuzzReadSnapshot(f *testing.F) {
	m, err := New(NoisyOr, 1, 3, 2)
	if err != nil {
		f.Fatal(err)
	}
	good, err := newSnapshot(m, &adam{7, newParameters(m.Units), newParameters(m.Units)})
	if err != nil {
		f.Fatal(err)
	}
	runstest.FuzzSnapshot(f, good, func(s runs.Snapshot) (func() (runs.Snapshot, error), error) {
		m, a, err := readSnapshot(s)
		return func() (runs.Snapshot, error) { return newSnapshot(m, a) }, err
	}, `{"units":[3]}`, `{"units":[262144,262144],"activation":"logistic"}`)
}
