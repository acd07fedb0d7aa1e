package runstest

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/internal/safetensors"
	"github.com/helmholtz-go/helmholtz/runs"
)

func copied(of runs.Tensor) runs.Tensor {
	of.Shape, of.Data, of.Wide = slices.Clone(of.Shape), slices.Clone(of.Data), slices.Clone(of.Wide)
	return of
}

// set replaces the first number of a tensor.
func set(of *runs.Tensor, value float64) {
	if of.Wide != nil {
		of.Wide[0] = value
	} else {
		of.Data[0] = float32(value)
	}
}

// spoilt is a list of tensors with one damaged, missing or surplus tensor.
type spoilt struct {
	what    string
	names   string // tensor name whose parts the error must contain; empty if the error may only report too few numbers
	says    string // further text that the error must contain
	tensors []runs.Tensor
}

// spoil returns damaged variants of a snapshot's tensors, including tensors with an Impossible value.
func (f Case[E, M]) spoil(all []runs.Tensor) (list []spoilt) {
	for i, tensor := range all {
		without := slices.Delete(slices.Clone(all), i, i+1)
		list = append(list, spoilt{"without " + tensor.Name, "", "", without})
		add := func(what, says string, damage func(of *runs.Tensor)) {
			damaged := copied(tensor)
			damage(&damaged)
			list = append(list, spoilt{tensor.Name + " " + what, tensor.Name, says, append(slices.Clone(without), damaged)})
		}
		add("of another shape", "", func(of *runs.Tensor) { of.Shape = append([]int{1}, of.Shape...) })
		if tensor.Wide != nil {
			add("of other numbers", "", func(of *runs.Tensor) { of.Shape, of.Wide = []int{of.Size() + 1}, append(of.Wide, 0) })
			add("of another type", "is of float32", func(of *runs.Tensor) { of.Data, of.Wide = make([]float32, len(of.Wide)), nil })
		} else {
			add("of other numbers", "", func(of *runs.Tensor) { of.Shape, of.Data = []int{of.Size() + 1}, append(of.Data, 0) })
			add("of another type", "is of float64", func(of *runs.Tensor) { of.Data, of.Wide = nil, make([]float64, len(of.Data)) })
		}
		for _, value := range []float64{math.NaN(), math.Inf(1)} {
			add("not finite", "", func(of *runs.Tensor) { set(of, value) })
		}
		if value, some := f.Impossible[tensor.Name]; some {
			add(fmt.Sprint("with the value ", value), fmt.Sprint(value), func(of *runs.Tensor) { set(of, value) })
		}
	}
	extra := copied(all[0])
	extra.Name += ".extra"
	return append(list, spoilt{"with " + extra.Name, extra.Name, "", append(slices.Clone(all), extra)})
}

// refusedModels checks that a damaged model file with a valid checksum is refused, with an error that
// names the damaged tensor.
func (f Case[E, M]) refusedModels(t *testing.T) {
	run := train(t, f.Experiment, f.Set, t.TempDir())
	var file bytes.Buffer
	if err := run.SaveModel(&file); err != nil {
		t.Fatal(err)
	}
	whole := must[*safetensors.File](t)(safetensors.Unmarshal(file.Bytes()))
	for _, s := range f.spoil(whole.Tensors) {
		changed := &safetensors.File{Metadata: maps.Clone(whole.Metadata), Tensors: s.tensors}
		changed.Seal()
		_, err := f.Kind.LoadModel(bytes.NewReader(must[[]byte](t)(safetensors.Marshal(changed))))
		if err == nil {
			t.Errorf("%s: the model is accepted", s.what)
			continue
		}
		wantError(t, err, append(strings.Split(s.names, "."), s.says)...)
	}
}

// Tensors runs only the checks of Family that concern tensors: damaged tensors in checkpoints and in model
// files must be refused.
func Tensors[E runs.Experiment, M any](t *testing.T, f Case[E, M]) {
	f.refusedSnapshots(t)
	f.refusedModels(t)
}

// refusedSnapshots checks that training refuses a checkpoint with a damaged tensor and a valid
// checksum, and leaves the directory unchanged.
func (f Case[E, M]) refusedSnapshots(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	perEpoch, path := f.Experiment.Header().StepsPerEpoch(f.Set.Train().Rows), filepath.Join(dir, checkpointFile)
	run, _ := session(t, f.Experiment, f.Set, dir, atStep(func(step int) bool { return step == perEpoch+1 }))
	whole := must[[]byte](t)(os.ReadFile(path))
	refused := func(what string, bySnapshot bool, tensors ...runs.Tensor) {
		t.Helper()
		file := must[*safetensors.File](t)(safetensors.Unmarshal(whole))
		file.Tensors = tensors
		file.Seal()
		if err := os.WriteFile(path, must[[]byte](t)(safetensors.Marshal(file)), 0o644); err != nil {
			t.Fatal(err)
		}
		before, w := Files(t, dir), &Watcher{}
		_, err := runs.Train(t.Context(), run.Experiment(), f.Set, dir, w)
		if err == nil {
			t.Fatalf("%s: training resumes", what)
		}
		wantError(t, err, path, "restore the file")
		if bySnapshot != errors.As(err, new(*runs.SnapshotError)) || len(w.Plans) > 0 {
			t.Errorf("%s: the error is %v, after %d plans", what, err, len(w.Plans))
		}
		if !maps.Equal(before, Files(t, dir)) {
			t.Errorf("%s: the directory has changed", what)
		}
	}
	for _, s := range f.spoil(run.Snapshot().Tensors) {
		finite := !slices.ContainsFunc(s.tensors, func(of runs.Tensor) bool { return !of.Finite() })
		refused(s.what, finite, s.tensors...)
		if finite {
			at := run.Snapshot()
			at.Tensors = s.tensors
			if _, err := run.Experiment().Learner(f.Set, at); !errors.As(err, new(*runs.SnapshotError)) {
				t.Errorf("%s: the error of Learner is %v, want a SnapshotError", s.what, err)
			}
		}
	}
}

// models checks that a run and a model file contain the model of the last snapshot.
func (f Case[E, M]) models(t *testing.T) {
	h := f.Experiment.Header()
	h.Keep = []int{1}
	run := train(t, f.Experiment.WithHeader(h), f.Set, t.TempDir())
	typed, err := f.Kind.Opened(run, nil)
	if err != nil {
		t.Fatal(err)
	}
	last := typed.Model()
	if first := must[M](t)(typed.At(1)); reflect.DeepEqual(first, last) {
		t.Error("the models after the first and the last epoch are equal")
	}
	must[M](t)(typed.Best())
	if sampler, is := any(last).(runs.Sampler); is {
		for _, d := range sampler.Drawings() {
			_, err := d.Draw(t.Context(), runs.Sampling{N: -1, Rows: f.Set.Validation()})
			wantError(t, err, "-1 samples: use at least 1")
		}
	}
	_, err = typed.At(h.Epochs + 1)
	wantError(t, err, fmt.Sprint("keeps no checkpoint of epoch ", h.Epochs+1), fmt.Sprintf("keep = [%d]", h.Epochs+1))
	var file bytes.Buffer
	if err := run.SaveModel(&file); err != nil {
		t.Fatal(err)
	}
	if m := must[M](t)(f.Kind.LoadModel(&file)); !reflect.DeepEqual(m, last) {
		t.Errorf("the file has the model %+v, the run %+v", m, last)
	}
}
