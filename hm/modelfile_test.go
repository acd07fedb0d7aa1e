package hm

import (
	"bytes"
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
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
