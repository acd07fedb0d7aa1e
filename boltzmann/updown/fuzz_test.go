package updown

import (
	"testing"

	"github.com/helmholtz-go/helmholtz/boltzmann"
	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/helmholtz-go/helmholtz/runs/runstest"
)

func FuzzParseExperiment(f *testing.F) {
	runstest.FuzzParse(f, Family.Parse,
		"family = \"updown\"\n[network]\nrun = \"runs/dbn/layer-2\"\n",
		"family = \"updown\"\nepochs = 3\nkeep = [1, 2]\n[dataset]\nname = \"3by3\"\n[network]\nrun = \"runs/dbn\"\ncheckpoint = \"best\"\n[method]\nsteps = 3\nlearning_rate = nan\n")
}

func FuzzRestore(f *testing.F) {
	good, err := randomTiny(f, 1).model(f, boltzmann.CD().Spec(), 3).snapshot()
	if err != nil {
		f.Fatal(err)
	}
	runstest.FuzzRead(f, good, func(s runs.Snapshot) (func() (runs.Snapshot, error), error) {
		m, _, err := read(Family.Empty(), s)
		return func() (runs.Snapshot, error) { return m.snapshot() }, err
	},
		`{"units":[3,2,2],"shape":{"Height":3,"Width":1},"prior":{"hidden":3,"visible":"bernoulli","shape":{"Height":2,"Width":1}}}`,
		`{"units":[262144,262144],"shape":{"Height":262144,"Width":1},"prior":{}}`,
		`{"units":[3,2],"shape":{"Height":1,"Width":3},"prior":null}`)
}
