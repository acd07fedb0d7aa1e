package hm

import (
	"bytes"
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/helmholtz-go/helmholtz/internal/fuzz"
	"github.com/helmholtz-go/helmholtz/internal/safetensors"
)

func TestModelFileRoundTrip(t *testing.T) {
	ctx := context.Background()
	set := patterns(t)
	run, err := NRWS().Epochs(1).Samples(3).Train(ctx, New(set.Shape()).Dense(4, 3), set, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := run.Save(&file); err != nil {
		t.Fatal(err)
	}
	model, err := LoadModel(bytes.NewReader(file.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	want, err := run.Evaluate(ctx, set.Train(), 50, nil)
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
	for _, n := range []int{0, 7, file.Len() / 2, file.Len() - 1} {
		if _, err := LoadModel(bytes.NewReader(file.Bytes()[:n])); err == nil {
			t.Errorf("the first %d of %d bytes are read without an error", n, file.Len())
		}
	}
}

// FuzzLoadModel checks that a file of good tensors and any experiment and header is
// refused, or written as it was read.
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
