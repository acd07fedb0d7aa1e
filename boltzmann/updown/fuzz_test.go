package updown

import (
	"encoding/json"
	"testing"

	"github.com/helmholtz-go/helmholtz/boltzmann"
	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/fuzz"
	"github.com/helmholtz-go/helmholtz/runs"
)

// FuzzParseExperiment checks that what is read can be written, read again and told from others.
func FuzzParseExperiment(f *testing.F) {
	f.Add("family = \"updown\"\n[network]\nrun = \"runs/dbn/layer-2\"\n")
	f.Add("family = \"updown\"\nepochs = 3\nkeep = [1, 2]\n[dataset]\nname = \"3by3\"\n[network]\nrun = \"runs/dbn\"\ncheckpoint = \"best\"\n[method]\nsteps = 3\nlearning_rate = nan\n")
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

// FuzzRestore checks that what is read of good tensors and another header can be written and
// read again.
func FuzzRestore(f *testing.F) {
	x := randomTiny(f, 1)
	good, err := x.trainer(f, boltzmann.CD().Spec(), 3).snapshot(dataset.Shape{Height: 1, Width: tinyUnits[0]})
	if err != nil {
		f.Fatal(err)
	}
	e := usual()
	f.Add(string(good.Header))
	f.Add(`{"units":[3,2,2],"shape":{"Height":3,"Width":1},"prior":{"hidden":3,"visible":"bernoulli","shape":{"Height":2,"Width":1}}}`)
	f.Add(`{"units":[262144,262144],"shape":{"Height":262144,"Width":1},"prior":{}}`)
	f.Add(`{"units":[3,2],"shape":{"Height":1,"Width":3},"prior":null}`)
	f.Fuzz(func(t *testing.T, header string) {
		s := good
		s.Header = json.RawMessage(header)
		var read *trainer
		var shape dataset.Shape
		var err error
		fuzz.Bounded(t, len(header), func() { read, shape, err = e.restore(s) })
		if err != nil {
			return
		}
		written, err := read.snapshot(shape)
		if err != nil {
			t.Fatal(err)
		}
		again, _, err := e.restore(written)
		if err != nil {
			t.Fatal(err)
		}
		tensors, err := again.snapshot(shape)
		if err != nil || runs.Checksum(tensors.Tensors) != runs.Checksum(written.Tensors) {
			t.Errorf("the tensors differ when they are read again (%v)", err)
		}
	})
}
