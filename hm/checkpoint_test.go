package hm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/oracle"
	"github.com/helmholtz-go/helmholtz/internal/safetensors"
)

// exampleCheckpoint is one with all that a checkpoint can hold.
func exampleCheckpoint(seed uint64) *checkpoint {
	a := engine.Architecture{Units: []int{6, 3, 2}, Coding: ZeroOne}
	random := func(n uint64) *engine.Parameters { return oracle.Random(a, 10*seed+n) }
	return &checkpoint{
		state: &engine.State{
			Step: 15, Parameters: random(0), Moments: []*engine.Parameters{random(1), random(2)},
			RefreshStep: 14, RefreshParameters: random(3),
		},
		position: position{
			Experiment: "of a test", Shape: shape(2, 3), Epoch: 2,
			Sums: Measures{-1.0 / 3, -2.0 / 3, 0.7}, Rows: 48, BestEpoch: 1, BestLogP: -0.1,
		},
	}
}

// saved is the bytes of a checkpoint's file.
func saved(t testing.TB, c *checkpoint) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "test.safetensors")
	if err := c.save(path); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestCheckpointRoundTrip(t *testing.T) {
	full := exampleCheckpoint(1)
	early := exampleCheckpoint(2)
	early.state.RefreshParameters, early.state.RefreshStep, early.state.Moments = nil, 0, nil
	for _, c := range []*checkpoint{full, early} {
		b := saved(t, c)
		back, err := parseCheckpoint(b)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c, back, cmp.AllowUnexported(checkpoint{}), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("(-saved +loaded):\n%s", diff)
		}
		if string(saved(t, back)) != string(b) {
			t.Error("the same checkpoint has been written in other bytes")
		}
	}
}

// TestCheckpointTensorNames holds the names that the documentation gives.
func TestCheckpointTensorNames(t *testing.T) {
	f, err := safetensors.Unmarshal(saved(t, exampleCheckpoint(1)))
	if err != nil {
		t.Fatal(err)
	}
	shapes := map[string][]int{"generative.0": {6, 4}, "generative.1": {3, 3}, "generative.2": {2, 1}, "recognition.1": {3, 7}, "recognition.2": {2, 4}}
	want := map[string][]int{}
	for _, prefix := range []string{"", "moment.0.", "moment.1.", "refresh."} {
		for name, shape := range shapes {
			want[prefix+name] = shape
		}
	}
	got := map[string][]int{}
	for _, tensor := range f.Tensors {
		got[tensor.Name] = tensor.Shape
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-documented +written):\n%s", diff)
	}
}

func TestCheckpointRefusesWhatIsNotFinite(t *testing.T) {
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		path := filepath.Join(t.TempDir(), checkpointFile)
		c := exampleCheckpoint(1)
		if err := c.save(path); err != nil {
			t.Fatal(err)
		}
		before := contents(t, filepath.Dir(path))
		c.state.Parameters.Flat[7] = float32(bad)
		wantError(t, c.save(path), "diverged")
		wantUnchanged(t, filepath.Dir(path), before)
	}
}

// TestParseCheckpointRefuses changes one thing of a good checkpoint at a time.
func TestParseCheckpointRefuses(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(f *safetensors.File, at *position)
		says   []string
	}{
		{"no metadata", func(f *safetensors.File, _ *position) { f.Metadata = nil }, []string{"not a checkpoint"}},
		{"another format", func(_ *safetensors.File, at *position) { at.Format = 2 }, []string{"format 2", "reads format 1"}},
		{"no hidden layer", func(_ *safetensors.File, at *position) { at.Units = []int{6} }, []string{"at least one hidden layer"}},
		{"no layers", func(_ *safetensors.File, at *position) { at.Units = nil }, []string{"visible"}},
		{"layer of negative size", func(_ *safetensors.File, at *position) { at.Units[1] = -3 }, []string{"layer 1 has -3 units"}},
		{"wider layer", func(_ *safetensors.File, at *position) { at.Units[2] = 3 }, []string{"generative.1", "[3 3]", "[3 4]"}},
		{"gigantic layers", func(_ *safetensors.File, at *position) { at.Units = []int{6, 1 << 18, 1 << 18} }, []string{"parameters", "values"}},
		{"image of another shape", func(_ *safetensors.File, at *position) { at.Shape = shape(2, 2) }, []string{"2×2", "6 visible units"}},
		{"image of negative size", func(_ *safetensors.File, at *position) { at.Shape = shape(-2, -3) }, []string{"-2×-3"}},
		{"negative epoch", func(_ *safetensors.File, at *position) { at.Epoch = -1 }, []string{"-1 epochs"}},
		{"refresh to come", func(_ *safetensors.File, at *position) { at.Refresh = 16 }, []string{"15 steps", "refresh at step 16"}},
		{"missing layer", func(f *safetensors.File, _ *position) { f.Tensors = f.Tensors[1:] }, []string{"lacks tensor generative.0"}},
		{"missing layer of a moment", func(f *safetensors.File, _ *position) { f.Tensors = append(f.Tensors[:9], f.Tensors[10:]...) }, []string{"lacks tensor moment.0.recognition.2"}},
		{"flat tensor", func(f *safetensors.File, _ *position) { f.Tensors[0].Shape = []int{24} }, []string{"generative.0", "[24]"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			f, err := safetensors.Unmarshal(saved(t, exampleCheckpoint(1)))
			if err != nil {
				t.Fatal(err)
			}
			var at position
			if err := json.Unmarshal([]byte(f.Metadata["helmholtz"]), &at); err != nil {
				t.Fatal(err)
			}
			at.Units = append([]int(nil), at.Units...)
			test.change(f, &at)
			if f.Metadata != nil {
				text, err := json.Marshal(at)
				if err != nil {
					t.Fatal(err)
				}
				f.Metadata["helmholtz"] = string(text)
			}
			b, err := safetensors.Marshal(f)
			if err != nil {
				t.Fatal(err)
			}
			_, err = parseCheckpoint(b)
			wantError(t, err, test.says...)
		})
	}
}

// TestParseCheckpointAllocatesNoMoreThanTheFile reads a file of a few hundred
// bytes that claims layers of a few gigabytes.
func TestParseCheckpointAllocatesNoMoreThanTheFile(t *testing.T) {
	units := strings.TrimSuffix(strings.Repeat("262144,", 50), ",")
	text := fmt.Sprintf(`{"format":1,"units":[%s],"coding":"01","shape":{"Height":512,"Width":512}}`, units)
	b, err := safetensors.Marshal(&safetensors.File{Metadata: map[string]string{"helmholtz": text}})
	if err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err = parseCheckpoint(b)
	runtime.ReadMemStats(&after)
	wantError(t, err, "holds 0 values")
	if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 {
		t.Errorf("%d bytes were allocated for a file of %d", n, len(b))
	}
}

// FuzzParseCheckpoint checks that what is read can be written and read again.
func FuzzParseCheckpoint(f *testing.F) {
	b := saved(f, exampleCheckpoint(1))
	f.Add(b)
	f.Add(b[:len(b)/2])
	early := exampleCheckpoint(2)
	early.state.RefreshParameters, early.state.RefreshStep, early.state.Moments = nil, 0, nil
	f.Add(saved(f, early))
	f.Fuzz(func(t *testing.T, b []byte) {
		if c, err := parseCheckpoint(b); err == nil {
			wantWritable(t, c)
		}
	})
}

// FuzzParsePosition does the same with the tensors of a good checkpoint and
// other metadata.
func FuzzParsePosition(f *testing.F) {
	good, err := safetensors.Unmarshal(saved(f, exampleCheckpoint(1)))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good.Metadata["helmholtz"])
	f.Add(`{"format":1,"units":[6,3,2],"coding":"pm1","shape":{"Height":1,"Width":6},"best_log_p":-1e308}`)
	f.Add(`{"format":1,"units":[6,-3,262144],"shape":{"Height":-2,"Width":-3},"epoch":-1}`)
	f.Fuzz(func(t *testing.T, metadata string) {
		b, err := safetensors.Marshal(&safetensors.File{
			Metadata: map[string]string{"helmholtz": metadata}, Tensors: good.Tensors,
		})
		if err != nil {
			t.Fatal(err)
		}
		if c, err := parseCheckpoint(b); err == nil {
			wantWritable(t, c)
		}
	})
}

// wantWritable checks that a checkpoint that has been read can be written and
// read again. It need not be if a parameter is not finite.
func wantWritable(t *testing.T, c *checkpoint) {
	t.Helper()
	for _, x := range c.state.Parameters.Flat {
		if !finite(float64(x)) {
			return
		}
	}
	written := saved(t, c)
	back, err := parseCheckpoint(written)
	if err != nil {
		t.Fatal(err)
	}
	if string(saved(t, back)) != string(written) {
		t.Fatal("the same checkpoint has been written in other bytes")
	}
}

// A checkpoint is refused where the parts that training needs do not agree with
// each other or with the experiment.
func TestCheckpointsThatDisagreeAreRefused(t *testing.T) {
	set := patterns(t)
	rows := set.Train().Rows
	e := short(NRWS()).Optimizer(Adam).Experiment(machineFor(set), set)
	whole := func() *checkpoint {
		c := e.start(set)
		c.state.Step, c.position.Step = 8, 8
		c.position.Epoch, c.position.Rows = 1, 2*batchSize
		c.state.RefreshParameters = c.state.Parameters.Clone()
		return c
	}
	if err := errors.Join(whole().check(e), whole().checkPlace(e, rows)); err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(c *checkpoint){
		"a moment is missing":    func(c *checkpoint) { c.state.Moments = c.state.Moments[:1] },
		"the refresh is missing": func(c *checkpoint) { c.state.RefreshParameters = nil },
		"another experiment":     func(c *checkpoint) { c.position.Experiment = "another" },
		"too many rows":          func(c *checkpoint) { c.position.Rows = rows + 1 },
		"a step too many":        func(c *checkpoint) { c.position.Step++ },
		"an epoch too many":      func(c *checkpoint) { c.position.Epoch = 7 },
	} {
		c := whole()
		spoil(c)
		if errors.Join(c.check(e), c.checkPlace(e, rows)) == nil {
			t.Errorf("%s: the checkpoint is accepted", name)
		}
	}
}

// A model file in the place of a checkpoint does not pass for one.
func TestModelFileIsNoCheckpoint(t *testing.T) {
	set, dir := patterns(t), t.TempDir()
	method := short(RWS())
	run := mustTrain(t, method, set, dir)
	var file bytes.Buffer
	if err := run.Save(&file); err != nil {
		t.Fatal(err)
	}
	_, err := parseCheckpoint(file.Bytes())
	wantError(t, err, "model file")
}

// Without its checkpoint a run is not begun anew over its record.
func TestLostCheckpointIsRefused(t *testing.T) {
	set, dir := patterns(t), t.TempDir()
	mustTrain(t, short(RWS()), set, dir)
	if err := os.Remove(filepath.Join(dir, checkpointFile)); err != nil {
		t.Fatal(err)
	}
	before := contents(t, dir)
	_, err := short(RWS()).Train(t.Context(), machineFor(set), set, dir)
	wantError(t, err, metricsFile, checkpointFile)
	wantUnchanged(t, dir, before)
}

// A checkpoint that cannot be written is not reported as an interruption.
func TestFailedCheckpointIsTheError(t *testing.T) {
	set, dir := patterns(t), t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	w := &watcher{onStep: func(p Progress) {
		if p.Step == 2 {
			if err := os.Mkdir(filepath.Join(dir, checkpointFile), 0o755); err != nil {
				t.Error(err)
			}
			cancel()
		}
	}}
	_, err := short(RWS()).Train(ctx, machineFor(set), set, dir, w)
	if err == nil || errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that of the checkpoint", err)
	}
}
