package hm

import (
	"math"
	"testing"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/file/filetest"
	"pgregory.net/rapid"
)

// Checking an experiment with any numbers must take neither memory nor time, and must not panic.
func TestExperimentsOfAnyNumbersAreChecked(t *testing.T) {
	set := patterns(t)
	number := rapid.OneOf(rapid.IntRange(-1, 50), rapid.Int(), rapid.Just(math.MaxInt), rapid.Just(math.MinInt), rapid.Just(math.MaxInt/90+1), rapid.Just(1<<32))
	rapid.Check(t, func(t *rapid.T) {
		n := func(label string) int { return number.Draw(t, label) }
		m := preset(rapid.SampledFrom(Presets()).Draw(t, "preset")).
			Samples(n("samples")).BatchSize(n("batch")).Epochs(n("epochs")).Patience(n("patience")).
			SamplesAfter(n("later after"), n("later")).RefreshEvery(n("K")).WarmUp(n("warm-up")).SleepSteps(n("sleep steps")).
			Keep(n("keep")).RecordSteps(n("record")).
			Measure(Measurement{Every: n("every"), Rows: n("rows"), Samples: n("K of measurements"), LogZ2: n("log Z²"), LogZ2Inner: n("inner")})
		machine := New(set.Shape()).Dense(n("layer 1"), n("layer 2"))
		if rapid.Bool().Draw(t, "convolve") {
			machine = machine.Convolve(Convolution{Channels: n("channels"), Height: n("height"), Width: n("width"), Stride: n("stride")})
		}
		e := m.Experiment(machine, set)
		if took := filetest.Allocated(func() {
			_ = e.Check(set) // must return, with or without an error
			_ = e.MachineTable(set)
			_, _ = e.Memory(set)
		}); took > 1<<20 {
			t.Errorf("%d bytes were taken by checks of %+v", took, e)
		}
	})
}

// Numbers of samples that do not fit into memory must be refused wherever they are drawn.
func TestTooManySamplesAreRefused(t *testing.T) {
	set := patterns(t)
	model := mustTrain(t, short(RWS()), set, t.TempDir()).Model
	for _, n := range []int{1 << 32, 1 << 55, math.MaxInt} {
		for name, draw := range map[string]func() error{
			"train": func() error {
				return short(NRWS()).Samples(n).Experiment(machineFor(set), set).Check(set)
			},
			"evaluate":    func() error { _, err := model.Evaluate(t.Context(), set.Test(), n, nil); return err },
			"sample":      func() error { _, err := model.Means(t.Context(), n); return err },
			"draw":        func() error { _, err := model.Draw(t.Context(), n); return err },
			"encode":      func() error { _, err := model.Encode(t.Context(), set.Test(), n); return err },
			"descend":     func() error { _, err := model.Descend(t.Context(), n); return err },
			"gibbs":       func() error { _, err := model.Gibbs(t.Context(), n, Chain{}, nil); return err },
			"candidates":  func() error { _, err := model.Gibbs(t.Context(), 1, Chain{Candidates: n}, nil); return err },
			"inpaint":     func() error { _, err := model.Inpaint(t.Context(), set.Test(), left(set), n, Chain{}, nil); return err },
			"weights":     func() error { _, err := model.ImportanceWeights(t.Context(), set.Test(), n); return err },
			"dreams":      func() error { _, err := model.DreamWeights(t.Context(), n, 1); return err },
			"convergence": func() error { _, err := model.Convergence(t.Context(), set.Test(), n); return err },
			"log Z²":      func() error { _, err := model.LogZ2(t.Context(), n, 1); return err },
		} {
			var err error
			if took := filetest.Allocated(func() { err = draw() }); err == nil || took > 1<<20 {
				t.Errorf("%s with %d: error %v, %d bytes were taken", name, n, err, took)
			}
		}
	}
}

func left(set *dataset.Set) dataset.Mask {
	mask := make(dataset.Mask, set.Shape().Units())
	mask[0] = true
	return mask
}

// Samples must take the announced memory, within a fifth.
func TestDrawsTakeWhatIsSaid(t *testing.T) {
	if testing.Short() {
		t.Skip("the race detector, which runs the short tests, takes memory of its own")
	}
	set := patterns(t)
	model := mustTrain(t, short(RWS()), set, t.TempDir()).Model
	const n = 50_000
	want := n * drawBytes(model.Architecture())
	got := float64(filetest.Allocated(func() {
		if _, err := model.Means(t.Context(), n); err != nil {
			t.Error(err)
		}
	}))
	if got < want*4/5 || got > want*6/5 {
		t.Errorf("%d samples take %v bytes, announced were %v", n, got, want)
	}
}
