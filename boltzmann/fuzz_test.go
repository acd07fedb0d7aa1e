package boltzmann

import (
	"encoding/json"
	"testing"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/fuzz"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/runs"
)

// FuzzParseExperiment checks that what is read can be written, read again and told
// from others.
func FuzzParseExperiment(f *testing.F) {
	f.Add("family = \"boltzmann\"\n[method]\nalgorithm = \"cd\"\n")
	f.Add("family = \"boltzmann\"\nepochs = 3\nkeep = [1, 2]\n[dataset]\nname = \"3by3\"\nbinarization = \"grey\"\n[machine]\nhidden = 9\nvisible = \"gaussian\"\n[method]\nalgorithm = \"pt\"\ntemperatures = 4\nlearning_rate = 1e-3\n")
	f.Add("family = \"boltzmann\"\n[method]\nalgorithm = \"pcd\"\nl2 = nan\n")
	f.Add("family = \"boltzmann\"\n[machine]\nabove = [30, 20]\n[method]\nalgorithm = \"pcd\"\nmean_field = 3\n")
	f.Add("family = \"boltzmann\"\n[machine]\nabove = []\n[below]\nrun = \"runs/rbm\"\ncheckpoint = \"best\"\n[method]\nalgorithm = \"pcd\"\n")
	f.Fuzz(func(t *testing.T, text string) {
		var e Experiment
		var err error
		fuzz.Bounded(t, len(text), func() { e, err = ParseExperiment([]byte(text)) })
		if err != nil {
			return
		}
		back, err := ParseExperiment(e.TOML())
		if err != nil {
			t.Fatalf("%v\n%s", err, e.TOML())
		}
		if differences := runs.Differences(e, back); len(differences) > 0 || back.Hash() != e.Hash() {
			t.Fatalf("what is read again differs: %v", differences)
		}
	})
}

// FuzzReadSnapshot checks that what is read of good tensors and another header can be
// written and read again.
func FuzzReadSnapshot(f *testing.F) {
	p := newParameters(6, 2, Gaussian, 0)
	s := state{
		step: 7, parameters: p, moments: []*Parameters{p.zeros(), p.zeros()}, standard: newStandard(6),
		visibleOffsets: make([]float32, 6), hiddenOffsets: make([]float32, 2), persistent: kernels.NewMatrix(3, 2),
	}
	good, err := s.snapshot(dataset.Shape{Height: 2, Width: 3})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(good.Header))
	f.Add(`{"hidden":2,"visible":"bernoulli","shape":{"Height":3,"Width":2},"slots":1}`)
	f.Add(`{"hidden":1,"above":[1,1],"shape":{"Height":3,"Width":2}}`)
	f.Add(`{"hidden":1,"below":[2,1],"shape":{"Height":3,"Width":2}}`)
	f.Add(`{"hidden":2,"hidden_units":"categorical","hidden_categories":2,"shape":{"Height":3,"Width":2},"slots":1}`)
	f.Add(`{"hidden":1,"classes":2,"shape":{"Height":2,"Width":2}}`)
	f.Add(`{"hidden":262144,"visible":"gaussian","shape":{"Height":262144,"Width":1},"chains":4294967295}`)
	f.Fuzz(func(t *testing.T, header string) {
		s := good
		s.Header = json.RawMessage(header)
		var read state
		var shape dataset.Shape
		var err error
		fuzz.Bounded(t, len(header), func() { read, shape, err = readSnapshot(s) })
		if err != nil {
			return
		}
		written, err := read.snapshot(shape)
		if err != nil {
			t.Fatal(err)
		}
		again, _, err := readSnapshot(written)
		if err != nil {
			t.Fatal(err)
		}
		if runs.Checksum(again.tensors()) != runs.Checksum(written.Tensors) {
			t.Error("the tensors differ when they are read again")
		}
	})
}
