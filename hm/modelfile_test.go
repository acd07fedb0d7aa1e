package hm

import (
	"bytes"
	"context"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/fuzz"
	"github.com/helmholtz-go/helmholtz/internal/safetensors"
)

// The file must contain the parameters of a run that has refreshed its Fisher matrix, but not the
// number of its steps.
func TestModelFileRoundTrip(t *testing.T) {
	ctx := context.Background()
	set := patterns(t)
	run, err := NRWS().Epochs(2).BatchSize(8).RefreshEvery(1).Samples(3).Train(ctx, New(set.Shape()).Dense(4, 3), set, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	want, err := run.Evaluate(ctx, set.Train(), 50, nil)
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	for _, save := range []func(io.Writer) error{run.SaveModel, run.Save} {
		file.Reset()
		if err := save(&file); err != nil {
			t.Fatal(err)
		}
		model, err := LoadModel(bytes.NewReader(file.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		got, err := model.Evaluate(ctx, set.Train(), 50, nil)
		if err != nil {
			t.Fatal(err)
		}
		got.Seconds, want.Seconds = 0, 0
		if !cmp.Equal(got, want) {
			t.Errorf("the model read evaluates to %+v, the one written to %+v", got, want)
		}
	}
}

// Every flipped bit of a model file must be noticed or change nothing.
func TestFlippedBitsOfAModelFileAreNoticed(t *testing.T) {
	set := patterns(t)
	run := mustTrain(t, NRWS().Epochs(1).Samples(3), set, t.TempDir())
	var whole bytes.Buffer
	if err := run.Save(&whole); err != nil {
		t.Fatal(err)
	}
	refused := 0
	for place := range whole.Len() {
		damaged := bytes.Clone(whole.Bytes())
		damaged[place] ^= 1 << (place % 8)
		model, err := LoadModel(bytes.NewReader(damaged))
		if err != nil {
			refused++
		} else if !cmp.Equal(model.parameters, run.parameters) || !cmp.Equal(model.experiment, run.experiment, cmp.AllowUnexported(dataset.Spec{})) || model.shape != run.shape {
			t.Errorf("byte %d of %d damaged is read as another model", place, whole.Len())
		}
	}
	if refused < whole.Len()/2 {
		t.Errorf("of %d damaged bytes %d are refused", whole.Len(), refused)
	}
}

// Parameters that are not finite mean a damaged file. The error must name the file and the remedy,
// and must not blame training.
func TestModelFileThatIsNotFiniteIsRefused(t *testing.T) {
	set := patterns(t)
	dir := t.TempDir()
	run := mustTrain(t, NRWS().Epochs(1).Samples(3), set, dir)
	var whole bytes.Buffer
	if err := run.Save(&whole); err != nil {
		t.Fatal(err)
	}
	checkpoint, err := os.ReadFile(filepath.Join(dir, checkpointFile))
	if err != nil {
		t.Fatal(err)
	}
	spoilt := func(b []byte) []byte {
		f, err := safetensors.Unmarshal(b)
		if err != nil {
			t.Fatal(err)
		}
		f.Tensors[0].Data[0] = float32(math.NaN())
		f.Seal()
		if b, err = safetensors.Marshal(f); err != nil {
			t.Fatal(err)
		}
		return b
	}
	says := func(path string, err error) {
		t.Helper()
		wantError(t, err, path, "generative.0", "not finite", "restore the file")
		if strings.Contains(err.Error(), "learning rate") {
			t.Errorf("the error blames training: %v", err)
		}
	}
	path := filepath.Join(t.TempDir(), "model.safetensors")
	if err := os.WriteFile(path, spoilt(whole.Bytes()), 0o644); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	_, err = LoadModel(file)
	says(path, err)

	path = filepath.Join(dir, checkpointFile)
	if err := os.WriteFile(path, spoilt(checkpoint), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err = OpenRun(dir)
	says(path, err)
	_, err = NRWS().Epochs(1).Samples(3).Train(t.Context(), machineFor(set), set, dir)
	says(path, err)
	_, err = NRWS().From(dir, "last").Train(t.Context(), machineFor(set), set, t.TempDir())
	says(path, err)
}

// FuzzLoadModel checks that a file of good tensors and any experiment and header is refused, or is
// written as it was read.
func FuzzLoadModel(f *testing.F) {
	tensors := snapshotOf(f, exampleState(1)).Tensors
	f.Add("[machine]\nlayers = [3, 2]\ncoding = \"01\"\n[method]\npreset = \"rws\"\n", `{"units":[6,3,2],"coding":"01","shape":{"Height":2,"Width":3}}`)
	f.Add("[machine]\nconvolutions = [\"3@2x3/0\"]\nlayers = [2]\n[method]\npreset = \"rws\"\n", `{"units":[6,3,2],"coding":"01","shape":{"Height":2,"Width":3}}`)
	f.Fuzz(func(t *testing.T, experiment, header string) {
		file := &safetensors.File{Metadata: map[string]string{"experiment": experiment, "model": header}, Tensors: tensors}
		file.Seal()
		b, err := safetensors.Marshal(file)
		if err != nil {
			t.Fatal(err)
		}
		var m *Model
		fuzz.Bounded(t, len(b), func() { m, err = LoadModel(bytes.NewReader(b)) })
		if err != nil {
			return
		}
		var once, twice bytes.Buffer
		if err := m.Save(&once); err != nil {
			t.Fatal(err)
		}
		again, err := LoadModel(bytes.NewReader(once.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		if err := again.Save(&twice); err != nil || !bytes.Equal(once.Bytes(), twice.Bytes()) {
			t.Fatalf("the same model has been written in other bytes: %v", err)
		}
	})
}
