package runs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/helmholtz-go/helmholtz/internal/file"
	"github.com/helmholtz-go/helmholtz/internal/fuzz"
	"github.com/helmholtz-go/helmholtz/internal/safetensors"
)

// exampleCheckpoint returns a checkpoint with every possible field.
func exampleCheckpoint() *checkpoint {
	return &checkpoint{
		position: position{
			Experiment: "of a test", Epoch: 2, Sums: Measures{"log_p": -1.0 / 3, "ess": 0.7}, Rows: 48,
			Norms: Norms{"generative": {{1, 2, 3}}}, BestEpoch: 1, Best: -0.1,
		},
		snapshot: Snapshot{Step: 15, Header: json.RawMessage(`{"units":[6,3]}`), Tensors: []Tensor{
			{Name: "weights", Shape: []int{2, 3}, Data: []float32{1, 2, 3, -4, 5e-30, 6}},
			{Name: "chains", Shape: []int{2}, Wide: []float64{math.Pi, -1.0 / 3}},
			{Name: "none", Shape: []int{0}, Data: []float32{}},
		}},
	}
}

// held locks a directory for a test.
func held(t testing.TB, dir string) *file.Held {
	t.Helper()
	h, err := file.Hold(dir, lockFile)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.Release)
	return h
}

// saved returns the bytes of a checkpoint's file.
func saved(t testing.TB, c *checkpoint) []byte {
	t.Helper()
	b, err := c.marshal()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// parseCheckpoint reads the bytes of a checkpoint's file.
func parseCheckpoint(b []byte) (*checkpoint, error) {
	return readCheckpoint(bytes.NewReader(b), int64(len(b)))
}

func TestCheckpointRoundTrip(t *testing.T) {
	c := exampleCheckpoint()
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

// Every flipped bit of a checkpoint is noticed or changes nothing, like the case of a letter in a
// JSON key.
func TestDamagedCheckpointsAreNoticed(t *testing.T) {
	b := saved(t, exampleCheckpoint())
	same, err := parseCheckpoint(b)
	if err != nil {
		t.Fatal(err)
	}
	for i := range b {
		for bit := range 8 {
			damaged := bytes.Clone(b)
			damaged[i] ^= 1 << bit
			if c, err := parseCheckpoint(damaged); err == nil && !cmp.Equal(c, same, cmp.AllowUnexported(checkpoint{})) {
				t.Fatalf("bit %d of byte %d of %d flipped is read as %+v", bit, i, len(b), c)
			}
		}
	}
}

func TestCheckpointRefusesWhatIsNotFinite(t *testing.T) {
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		dir := held(t, t.TempDir())
		c := exampleCheckpoint()
		if err := c.save(dir, checkpointFile); err != nil {
			t.Fatal(err)
		}
		before, err := os.ReadFile(dir.Path(checkpointFile))
		if err != nil {
			t.Fatal(err)
		}
		c.snapshot.Tensors[0].Data[4] = float32(bad)
		wantError(t, c.save(dir, checkpointFile), "diverged")
		if after, err := os.ReadFile(dir.Path(checkpointFile)); err != nil || !bytes.Equal(before, after) {
			t.Error("the checkpoint before has changed")
		}
		// A file of another program with such a value is refused with the name of the tensor.
		b, err := safetensors.Marshal(fileOf(t, c))
		if err != nil {
			t.Fatal(err)
		}
		_, err = parseCheckpoint(b)
		wantError(t, err, "tensor weights", "not finite")
	}
}

// fileOf returns the file of a checkpoint.
func fileOf(t *testing.T, c *checkpoint) *safetensors.File {
	t.Helper()
	text, err := json.Marshal(c.position)
	if err != nil {
		t.Fatal(err)
	}
	f := &safetensors.File{Metadata: map[string]string{positionKey: string(text), headerKey: string(c.snapshot.Header)}, Tensors: c.snapshot.Tensors}
	f.Seal()
	return f
}

// TestParseCheckpointRefuses changes one thing in a good checkpoint at a time.
func TestParseCheckpointRefuses(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(f *safetensors.File, at *position)
		says   []string
	}{
		{"no metadata", func(f *safetensors.File, _ *position) { f.Metadata = nil }, []string{"not a checkpoint"}},
		{"no model", func(f *safetensors.File, _ *position) { delete(f.Metadata, headerKey) }, []string{"not a checkpoint"}},
		{"another format", func(_ *safetensors.File, at *position) { at.Format = 4 }, []string{"format 4", "reads formats up to 3"}},
		{"negative epoch", func(_ *safetensors.File, at *position) { at.Epoch = -1 }, []string{"-1 epochs"}},
		{"best epoch to come", func(_ *safetensors.File, at *position) { at.BestEpoch = 3 }, []string{"2 epochs", "epoch 3 cannot be the best"}},
		{"a model file", func(f *safetensors.File, _ *position) { f.Metadata[experimentKey] = "epochs = 1" }, []string{"model file"}},
		{"another checksum", func(f *safetensors.File, _ *position) { f.Metadata["checksum"] = "00" }, []string{"checksum"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := exampleCheckpoint()
			c.position.Format = checkpointFormat
			f := fileOf(t, c)
			test.change(f, &c.position)
			if f.Metadata != nil {
				text, err := json.Marshal(c.position)
				if err != nil {
					t.Fatal(err)
				}
				f.Metadata[positionKey] = string(text)
				if test.name != "another checksum" {
					f.Seal()
				}
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

// A checkpoint whose numbers contradict each other is refused.
func TestPlacesThatCannotBeAreRefused(t *testing.T) {
	h := Header{Base{Budget: Budget{Epochs: 3, Patience: 2}}, 16} // 90 rows: six minibatches per epoch
	norms := Norms{"generative": {{1, 2, 3}}}
	for name, test := range map[string]struct {
		at position
		ok bool
	}{
		"at the start":              {position{}, true},
		"within an epoch":           {position{Step: 8, Epoch: 1, Rows: 32, BestEpoch: 1, Sums: Measures{"log_p": -3}}, true},
		"at the end of an epoch":    {position{Step: 12, Epoch: 1, Rows: 90, Norms: norms}, true},
		"at the end":                {position{Step: 18, Epoch: 3, BestEpoch: 2, Finished: true}, true},
		"ended by patience":         {position{Step: 12, Epoch: 2, Finished: true}, true},
		"sums of version 1":         {position{Step: 6, Epoch: 1, Sums: Measures{"log_p": 0}}, true},
		"ended early":               {position{Step: 12, Epoch: 2, BestEpoch: 1, Finished: true}, false},
		"at the end, going on":      {position{Step: 18, Epoch: 3, BestEpoch: 2}, false},
		"past patience, going on":   {position{Step: 12, Epoch: 2}, false},
		"finished within an epoch":  {position{Step: 20, Epoch: 3, Rows: 32, Finished: true}, false},
		"too many rows":             {position{Step: 12, Epoch: 1, Rows: 91}, false},
		"a step too many":           {position{Step: 9, Epoch: 1, Rows: 32}, false},
		"an epoch too many":         {position{Step: 24, Epoch: 4, Finished: true}, false},
		"beyond the end, within it": {position{Step: 20, Epoch: 3, Rows: 32, BestEpoch: 3}, false},
		"a best epoch to come":      {position{Step: 8, Epoch: 1, Rows: 32, BestEpoch: 2}, false},
		"a best epoch before all":   {position{Step: 8, Epoch: 1, Rows: 32, BestEpoch: -1}, false},
		"another measure":           {position{Step: 8, Epoch: 1, Rows: 32, Sums: Measures{"loss": 3}}, false},
		"sums of no rows":           {position{Step: 6, Epoch: 1, Sums: Measures{"log_p": -3}}, false},
		"norms within an epoch":     {position{Step: 8, Epoch: 1, Rows: 32, Norms: norms}, false},
	} {
		err := errors.Join((&checkpoint{position: test.at}).checkPlace(h, 90), test.at.check(h, []Measure{LogP}))
		if (err == nil) != test.ok {
			t.Errorf("%s: the error is %v", name, err)
		}
	}
}

// FuzzParseCheckpoint checks that every accepted checkpoint can be written and read again.
func FuzzParseCheckpoint(f *testing.F) {
	b := saved(f, exampleCheckpoint())
	f.Add(b)
	f.Add(b[:len(b)/2])
	f.Fuzz(wantSameCheckpoint)
}

// FuzzParsePosition does the same with good tensors, other metadata and their checksum, in both
// versions.
func FuzzParsePosition(f *testing.F) {
	f.Add(`{"format":2,"experiment":"","step":3,"epoch":1,"sums":{"log_p":-1e308},"rows":2,"best_epoch":1,"best":-1}`)
	f.Add(`{"format":1,"units":[6,3,2],"coding":"pm1","shape":{"Height":1,"Width":6},"best_log_p":-1e308}`)
	f.Add(`{"format":2,"epoch":-1}`)
	f.Fuzz(func(t *testing.T, metadata string) {
		for _, key := range []string{positionKey, version1Key} {
			file := &safetensors.File{
				Metadata: map[string]string{key: metadata, headerKey: "{}"}, Tensors: exampleCheckpoint().snapshot.Tensors,
			}
			file.Seal()
			b, err := safetensors.Marshal(file)
			if err != nil {
				t.Fatal(err)
			}
			wantSameCheckpoint(t, b)
		}
	})
}

// On a full disk, the remedy is to free space and then, in the directory of a run, to resume.
func TestFullDiskSaysHowToGoOn(t *testing.T) {
	dir := t.TempDir()
	full := func(name string) error {
		return notWritten(dir, &file.WriteError{Path: filepath.Join(dir, name), Err: &os.PathError{Op: "write", Path: name, Err: syscall.ENOSPC}})
	}
	err := full(planFile)
	wantError(t, err, "no space left", "free some space, then repeat the same command")
	if strings.Contains(err.Error(), "--resume") || strings.Contains(err.Error(), "intact") {
		t.Errorf("of a directory that is no run: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, experimentFile), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	wantError(t, full(checkpointFile), "no space left", "are intact", "free some space, then resume with train --resume "+dir)
}

// A plan whose writer writes another plan gives the remedy of a failed write once.
func TestPlansWithinPlansGiveOneRemedy(t *testing.T) {
	dir := t.TempDir()
	err := planIn(dir, "a sweep", sweepPlan, func() (bool, error) { return false, nil }, func(*file.Held) error {
		return notWritten(dir, &file.WriteError{Path: filepath.Join(dir, planFile), Err: syscall.ENOSPC})
	})
	if n := strings.Count(fmt.Sprint(err), "repeat the same command"); n != 1 {
		t.Errorf("the error gives its remedy %d times: %v", n, err)
	}
}

// Norms must have the layers of the previous epochs.
func TestNormsOfOtherLayersAreRefused(t *testing.T) {
	before := []Epoch{{Norms: Norms{"generative": make([]LayerNorms, 2), "recognition": make([]LayerNorms, 1)}}}
	for name, test := range map[string]struct {
		norms Norms
		ok    bool
	}{
		"the same":        {before[0].Norms, true},
		"none":            {nil, true},
		"a network less":  {Norms{"generative": make([]LayerNorms, 2)}, false},
		"another network": {Norms{"generative": make([]LayerNorms, 2), "classifier": make([]LayerNorms, 1)}, false},
		"a layer more":    {Norms{"generative": make([]LayerNorms, 3), "recognition": make([]LayerNorms, 1)}, false},
	} {
		if err := (position{Norms: test.norms}).checkNorms(before); (err == nil) != test.ok {
			t.Errorf("%s: the error is %v", name, err)
		}
	}
}

func wantSameCheckpoint(t *testing.T, b []byte) {
	var c *checkpoint
	var err error
	fuzz.Bounded(t, len(b), func() { c, err = parseCheckpoint(b) })
	if err != nil {
		return
	}
	if at := c.position; at.Step < 0 || at.Epoch < 0 || at.Rows < 0 || at.BestEpoch < 0 || at.BestEpoch > at.Epoch {
		t.Fatalf("a checkpoint of %+v is accepted", at)
	}
	written, err := c.marshal()
	if err != nil {
		t.Fatal(err)
	}
	back, err := parseCheckpoint(written)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := back.marshal(); err != nil || !bytes.Equal(again, written) {
		t.Fatalf("the same checkpoint has been written in other bytes: %v", err)
	}
}
