package general

import (
	"encoding/json"
	"testing"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/fuzz"
	"github.com/helmholtz-go/helmholtz/runs"
)

// FuzzParseExperiment checks that what is read can be written, read again and told
// from others.
func FuzzParseExperiment(f *testing.F) {
	f.Add("family = \"general-boltzmann\"\n")
	f.Add("family = \"general-boltzmann\"\nepochs = 3\nkeep = [1, 2]\n[dataset]\nname = \"3by3\"\n[machine]\nhidden = 2\nconnections = \"listed\"\npairs = [[0, 9], [3, 10]]\n[training]\nlearning_rate = 1e-3\n")
	f.Add("family = \"general-boltzmann\"\n[machine]\npairs = []\n[training]\nchains = -1\nlearning_rate = nan\n")
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
	f.Add(string(good.Header))
	f.Add(`{"shape":{"Height":20,"Width":1}}`)
	f.Add(`{"shape":{"Height":4096,"Width":4096}}`)
	f.Fuzz(func(t *testing.T, header string) {
		s := good
		s.Header = json.RawMessage(header)
		var read state
		var err error
		fuzz.Bounded(t, len(header), func() { read, err = e.readSnapshot(s) })
		if err != nil {
			return
		}
		written, err := read.snapshot()
		if err != nil {
			t.Fatal(err)
		}
		if runs.Checksum(written.Tensors) != runs.Checksum(good.Tensors) {
			t.Error("the tensors differ when they are written again")
		}
	})
}
