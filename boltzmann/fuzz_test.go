package boltzmann

import (
	"testing"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/helmholtz-go/helmholtz/runs/runstest"
)

func FuzzParseExperiment(f *testing.F) {
	runstest.FuzzParse(f, ParseExperiment,
		"family = \"boltzmann\"\n[method]\nalgorithm = \"cd\"\n",
		"family = \"boltzmann\"\nepochs = 3\nkeep = [1, 2]\n[dataset]\nname = \"3by3\"\nbinarization = \"grey\"\n[machine]\nhidden = 9\nvisible = \"gaussian\"\n[method]\nalgorithm = \"pt\"\ntemperatures = 4\nlearning_rate = 1e-3\n",
		"family = \"boltzmann\"\n[method]\nalgorithm = \"pcd\"\nl2 = nan\n",
		"family = \"boltzmann\"\n[machine]\nabove = [30, 20]\n[method]\nalgorithm = \"pcd\"\nmean_field = 3\n",
		"family = \"boltzmann\"\n[machine]\nabove = []\n[below]\nrun = \"runs/rbm\"\ncheckpoint = \"best\"\n[method]\nalgorithm = \"pcd\"\n")
}

func FuzzReadSnapshot(f *testing.F) {
	p := MachineSpec{Hidden: 2, Visible: Gaussian}.parameters(6)
	s := state{
		step: 7, parameters: p, moments: []*Parameters{p.zeros(), p.zeros()}, standard: newStandard(6),
		visibleOffsets: make([]float32, 6), hiddenOffsets: make([]float32, 2), persistent: kernels.NewMatrix(3, 2),
	}
	good, err := s.snapshot(dataset.Shape{Height: 2, Width: 3})
	if err != nil {
		f.Fatal(err)
	}
	runstest.FuzzRead(f, good, func(s runs.Snapshot) (func() (runs.Snapshot, error), error) {
		read, shape, err := readSnapshot(s)
		return func() (runs.Snapshot, error) { return read.snapshot(shape) }, err
	},
		`{"hidden":2,"visible":"bernoulli","shape":{"Height":3,"Width":2},"slots":1}`,
		`{"hidden":1,"above":[1,1],"shape":{"Height":3,"Width":2}}`,
		`{"hidden":1,"below":[2,1],"shape":{"Height":3,"Width":2}}`,
		`{"hidden":2,"hidden_units":"categorical","hidden_categories":2,"shape":{"Height":3,"Width":2},"slots":1}`,
		`{"hidden":1,"classes":2,"shape":{"Height":2,"Width":2}}`,
		`{"hidden":262144,"visible":"gaussian","shape":{"Height":262144,"Width":1},"chains":4294967295}`)
}
