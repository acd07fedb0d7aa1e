package runstest

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/fuzz"
	"github.com/helmholtz-go/helmholtz/runs"
)

// FuzzParse checks that every experiment that parse accepts can be written and read again, and then has
// the same hash. texts are the seed corpus.
func FuzzParse[E runs.Experiment](f *testing.F, parse func(text []byte) (E, error), texts ...string) {
	for _, text := range texts {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var e E
		var err error
		fuzz.Bounded(t, len(text), func() { e, err = parse([]byte(text)) })
		if err != nil {
			return
		}
		written := e.TOML()
		back, err := parse(written)
		if err != nil {
			t.Fatalf("%v\n%s", err, written)
		}
		if !bytes.Equal(back.TOML(), written) {
			t.Fatalf("written once:\n%s\nread and written again:\n%s", written, back.TOML())
		}
		if differences := runs.Differences(e, back); len(differences) > 0 || back.Hash() != e.Hash() {
			t.Fatalf("the experiment read again differs: %v", differences)
		}
	})
}

// FuzzSnapshot checks snapshots that consist of an experiment's initial tensors and a fuzzed header. Every
// snapshot that training on set accepts must be the same after it is written and read again, and must
// contain only these tensors. The seed corpus is the header of the initial snapshot and the given headers.
func FuzzSnapshot(f *testing.F, e runs.Experiment, set *dataset.Set, headers ...string) {
	good, err := e.Begin(set)
	if err != nil {
		f.Fatal(err)
	}
	read := func(s runs.Snapshot) (write func() (runs.Snapshot, error), err error) {
		l, err := e.Learner(set, s)
		if err != nil {
			return nil, err
		}
		return l.Snapshot, nil
	}
	FuzzRead(f, good, read, headers...)
}

// FuzzRead is like FuzzSnapshot, but reads snapshots with the function read. read returns a function that
// writes the model that was read. The seed corpus is the header of good and the given headers.
func FuzzRead(f *testing.F, good runs.Snapshot, read func(runs.Snapshot) (write func() (runs.Snapshot, error), err error), headers ...string) {
	size := 0
	for _, tensor := range good.Tensors {
		size += 4*len(tensor.Data) + 8*len(tensor.Wide)
	}
	for _, header := range append(headers, string(good.Header)) {
		f.Add(header)
	}
	f.Fuzz(func(t *testing.T, header string) {
		s := good
		s.Header = json.RawMessage(header)
		var write func() (runs.Snapshot, error)
		var err error
		fuzz.Bounded(t, size+len(header), func() { write, err = read(s) })
		if err != nil {
			return
		}
		once := must[runs.Snapshot](t)(write())
		for _, tensor := range once.Tensors {
			i := slices.IndexFunc(good.Tensors, func(of runs.Tensor) bool { return of.Name == tensor.Name })
			if i < 0 || (runs.Snapshot{Tensors: good.Tensors[i : i+1]}).Checksum() != (runs.Snapshot{Tensors: []runs.Tensor{tensor}}).Checksum() {
				t.Errorf("the tensor %s of shape %v is not in the file", tensor.Name, tensor.Shape)
			}
		}
		again := must[func() (runs.Snapshot, error)](t)(read(once))
		twice := must[runs.Snapshot](t)(again())
		if once.Step != twice.Step || !bytes.Equal(once.Header, twice.Header) || once.Checksum() != twice.Checksum() {
			t.Errorf("the model differs after it is written and read again:\n%s\n%s", once.Header, twice.Header)
		}
	})
}
