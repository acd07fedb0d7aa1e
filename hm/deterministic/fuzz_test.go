package deterministic

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/helmholtz-go/helmholtz/internal/fuzz"
	"github.com/helmholtz-go/helmholtz/runs"
)

// FuzzParseExperiment checks that what is read can be written, read again and told
// from others.
func FuzzParseExperiment(f *testing.F) {
	f.Add("family = \"deterministic\"\n")
	f.Add("family = \"deterministic\"\nepochs = 3\nkeep = [1, 2]\n[dataset]\nname = \"3by3\"\n[machine]\nlayers = [9, 6]\nactivation = \"noisy-or\"\n[training]\nlearning_rate = 1e-3\n")
	f.Add("family = \"deterministic\"\n[training]\nlearning_rate = nan\n")
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
	m, err := New(NoisyOr, 1, 3, 2)
	if err != nil {
		f.Fatal(err)
	}
	good, err := newSnapshot(m, &adam{7, newParameters(m.Units), newParameters(m.Units)})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(good.Header))
	f.Add(`{"units":[3]}`)
	f.Add(`{"units":[262144,262144],"activation":"logistic"}`)
	f.Fuzz(func(t *testing.T, header string) {
		s := good
		s.Header = json.RawMessage(header)
		var m *Machine
		var a *adam
		var err error
		fuzz.Bounded(t, len(header), func() { m, a, err = readSnapshot(s) })
		if err != nil {
			return
		}
		written, err := newSnapshot(m, a)
		if err != nil {
			t.Fatal(err)
		}
		again, _, err := readSnapshot(written)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(m, again); diff != "" || runs.Checksum(written.Tensors) != runs.Checksum(good.Tensors) {
			t.Errorf("the tensors differ, or the machine (-read +written and read again):\n%s", diff)
		}
	})
}
