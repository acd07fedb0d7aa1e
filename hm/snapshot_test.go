package hm

import (
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/hm/engine/oracle"
	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/helmholtz-go/helmholtz/runs/runstest"
)

// exampleState returns a state with everything that a state can contain.
func exampleState(seed uint64) *engine.State {
	a := engine.Architecture{Units: []int{6, 3, 2}, Coding: ZeroOne}
	random := func(n uint64) *engine.Parameters { return oracle.Random(a, 10*seed+n) }
	return &engine.State{
		Step: 15, Parameters: random(0), Moments: []*engine.Parameters{random(1), random(2)},
		RefreshStep: 14, RefreshParameters: random(3),
	}
}

func snapshotOf(t testing.TB, state *engine.State) runs.Snapshot {
	t.Helper()
	s, err := newSnapshot(state, shape(2, 3))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSnapshotRoundTrip(t *testing.T) {
	full, early := exampleState(1), exampleState(2)
	early.RefreshParameters, early.RefreshStep, early.Moments = nil, 0, nil
	for _, state := range []*engine.State{full, early} {
		back, of, err := readSnapshot(snapshotOf(t, state))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(state, back, cmpopts.EquateEmpty()); diff != "" || of != shape(2, 3) {
			t.Errorf("images of %v (-written +read):\n%s", of, diff)
		}
	}
}

// TestTensorNames checks the names that the documentation gives.
func TestTensorNames(t *testing.T) {
	shapes := map[string][]int{"generative.0": {6, 4}, "generative.1": {3, 3}, "generative.2": {2, 1}, "recognition.1": {3, 7}, "recognition.2": {2, 4}}
	want := map[string][]int{}
	for _, prefix := range []string{"", "moment.0.", "moment.1.", "refresh."} {
		for name, shape := range shapes {
			want[prefix+name] = shape
		}
	}
	got := map[string][]int{}
	for _, tensor := range snapshotOf(t, exampleState(1)).Tensors {
		got[tensor.Name] = tensor.Shape
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-documented +written):\n%s", diff)
	}
}

// TestReadSnapshotRefuses changes one property of a good snapshot at a time.
func TestReadSnapshotRefuses(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(s *runs.Snapshot, h *header)
		says   []string
	}{
		{"no hidden layer", func(_ *runs.Snapshot, h *header) { h.Units = []int{6} }, []string{"at least one hidden layer"}},
		{"no layers", func(_ *runs.Snapshot, h *header) { h.Units = nil }, []string{"visible"}},
		{"layer of negative size", func(_ *runs.Snapshot, h *header) { h.Units[1] = -3 }, []string{"layer 1 has -3 units"}},
		{"wider layer", func(_ *runs.Snapshot, h *header) { h.Units[2] = 3 }, []string{"generative.1", "[3 3]", "[3 4]"}},
		{"gigantic layers", func(_ *runs.Snapshot, h *header) { h.Units = []int{6, 1 << 18, 1 << 18} }, []string{"parameters", "values"}},
		{"image of another shape", func(_ *runs.Snapshot, h *header) { h.Shape = shape(2, 2) }, []string{"2×2", "6 visible units"}},
		{"image whose size overflows", func(_ *runs.Snapshot, h *header) { h.Shape = shape(5, -3689348814741910322) }, []string{"6 visible units"}},
		{"image of negative size", func(_ *runs.Snapshot, h *header) { h.Shape = shape(-2, -3) }, []string{"-2×-3"}},
		{"missing layer of a moment", func(s *runs.Snapshot, _ *header) { s.Tensors = slices.Delete(s.Tensors, 9, 10) }, []string{"lacks the tensor moment.0.recognition.2"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := snapshotOf(t, exampleState(1))
			var h header
			if err := json.Unmarshal(s.Header, &h); err != nil {
				t.Fatal(err)
			}
			test.change(&s, &h)
			text, err := json.Marshal(h)
			if err != nil {
				t.Fatal(err)
			}
			s.Header = text
			_, _, err = readSnapshot(s)
			wantError(t, err, test.says...)
		})
	}
	_, _, err := readSnapshot(runs.Snapshot{Header: []byte("{")})
	wantError(t, err, "description of the machine")
}

// TestReadSnapshotAllocatesNoMoreThanItsTensors reads a snapshot without tensors whose header
// claims layers of a few gigabytes.
func TestReadSnapshotAllocatesNoMoreThanItsTensors(t *testing.T) {
	units := strings.TrimSuffix(strings.Repeat("262144,", 50), ",")
	s := runs.Snapshot{Header: fmt.Appendf(nil, `{"units":[%s],"coding":"01","shape":{"Height":512,"Width":512}}`, units)}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, _, err := readSnapshot(s)
	runtime.ReadMemStats(&after)
	wantError(t, err, "has 0 values")
	if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 {
		t.Errorf("%d bytes were allocated for a header of %d", n, len(s.Header))
	}
}

// FuzzReadSnapshot reads headers that may not describe a machine.
func FuzzReadSnapshot(f *testing.F) {
	runstest.FuzzRead(f, snapshotOf(f, exampleState(1)), func(s runs.Snapshot) (func() (runs.Snapshot, error), error) {
		state, of, err := readSnapshot(s)
		return func() (runs.Snapshot, error) {
			if visible := state.Parameters.Architecture.Visible(); of.Height < 1 || of.Width < 1 || of.Height > visible || of.Width > visible || of.Units() != visible {
				return runs.Snapshot{}, fmt.Errorf("images of %v of %d units", of, visible)
			}
			return newSnapshot(state, of)
		}, err
	},
		`{"units":[6,3,2],"coding":"pm1","shape":{"Height":1,"Width":6}}`,
		`{"units":[6,-3,262144],"shape":{"Height":-2,"Width":-3},"refresh":-1}`,
		`{"units":[6,3,2],"convolutions":[{"fine":{"height":2,"width":3,"channels":1},"channels":3,"height":2,"width":3,"stride":1,"generative":true}],"classes":2,"shape":{"Height":2,"Width":3}}`)
}

// A state must be refused if the parts that training needs do not agree with the experiment.
func TestStatesThatDisagreeAreRefused(t *testing.T) {
	set := patterns(t)
	e := short(NRWS()).Optimizer(Adam).Experiment(machineFor(set), set)
	whole := func() *engine.State {
		s := starting(t, e, set)
		s.Step, s.RefreshParameters = 8, s.Parameters.Clone()
		return s
	}
	if err := e.checkState(whole(), set.Shape(), set.Train().Rows); err != nil {
		t.Fatal(err)
	}
	other := short(NRWS()).Experiment(machineFor(set).Dense(2), set)
	for name, spoil := range map[string]func(s *engine.State){
		"a moment is missing":      func(s *engine.State) { s.Moments = s.Moments[:1] },
		"the refresh is missing":   func(s *engine.State) { s.RefreshParameters = nil },
		"the refresh is to come":   func(s *engine.State) { s.RefreshStep = 9 },
		"chains there are none of": func(s *engine.State) { s.Chains = []float32{1} },
		"another machine":          func(s *engine.State) { s.Parameters = starting(t, other, set).Parameters },
	} {
		s := whole()
		spoil(s)
		if e.checkState(s, set.Shape(), set.Train().Rows) == nil {
			t.Errorf("%s: the state is accepted", name)
		}
	}
	jsa := short(JSA()).Experiment(machineFor(set), set)
	s := starting(t, jsa, set)
	s.Step = 8
	if jsa.checkState(s, set.Shape(), set.Train().Rows) == nil {
		t.Error("the chains are missing: the state is accepted")
	}
	s.Chains = make([]float32, set.Train().Rows*engine.ChainWidth(s.Parameters.Architecture))
	if err := jsa.checkState(s, set.Shape(), set.Train().Rows); err != nil {
		t.Error(err)
	}
	if jsa.checkState(s, set.Shape(), set.Train().Rows+1) == nil {
		t.Error("chains of fewer rows are accepted")
	}
}
