package general

import (
	"testing"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/helmholtz-go/helmholtz/runs/runstest"
)

func FuzzParseExperiment(f *testing.F) {
	runstest.FuzzParse(f, ParseExperiment,
		"family = \"general-boltzmann\"\n",
		"family = \"general-boltzmann\"\nepochs = 3\nkeep = [1, 2]\n[dataset]\nname = \"3by3\"\n[machine]\nhidden = 2\nconnections = \"listed\"\npairs = [[0, 9], [3, 10]]\n[training]\nlearning_rate = 1e-3\n",
		"family = \"general-boltzmann\"\n[machine]\npairs = []\n[training]\nchains = -1\nlearning_rate = nan\n")
}

func FuzzReadSnapshot(f *testing.F) {
	e := usual()
	e.Machine.Hidden, e.Training.Chains = 2, 3
	m, err := e.Machine.Model(dataset.Shape{Height: 4, Width: 5})
	if err != nil {
		f.Fatal(err)
	}
	good, err := state{step: 7, model: m, chains: [][]float64{make([]float64, 22), make([]float64, 22), make([]float64, 22)}}.snapshot()
	if err != nil {
		f.Fatal(err)
	}
	runstest.FuzzSnapshot(f, good, func(s runs.Snapshot) (func() (runs.Snapshot, error), error) {
		read, err := e.readSnapshot(s)
		return read.snapshot, err
	}, `{"shape":{"Height":20,"Width":1}}`, `{"shape":{"Height":4096,"Width":4096}}`)
}
