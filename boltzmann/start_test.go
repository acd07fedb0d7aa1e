package boltzmann

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Fine-tuning starts at the parameters and offsets of another run and goes on with its chains,
// where there are as many; moments are 0.
func TestFineTuningStartsAtAnotherRun(t *testing.T) {
	lines, gray := patterns(t), grays(t)
	for name, of := range map[string]struct {
		from, to Method
		Machine
		offsets, chains bool // are the other run's
	}{
		"the same method":       {short(PCD()), short(PCD()).Momentum(0.9), machineFor(lines), true, true},
		"several layers":        {short(PCD()).LearningRate(0.05), short(PCD()).Optimizer(Adam), machineFor(lines).Hidden(5, 4), true, true},
		"other chains":          {short(PCD()), short(PCD()).Chains(20), machineFor(lines), true, false},
		"after CD":              {short(CD()), short(PCD()), machineFor(lines), true, false},
		"centred as it was not": {short(PCD()).Centered(false), short(PCD()), machineFor(lines), false, true},
		"Gaussian units":        {short(PCD()), short(PCD()), machineFor(gray), true, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set := lines
			if of.Machine.spec.Visible == Gaussian {
				set = gray
			}
			dir := t.TempDir()
			if _, err := of.from.Keep(2).Train(t.Context(), of.Machine, set, dir); err != nil {
				t.Fatal(err)
			}
			for _, checkpoint := range []string{"last", "best", "2"} {
				at := func(e Experiment) state {
					begun, err := e.Begin(set)
					if err != nil {
						t.Fatal(err)
					}
					s, _, err := readSnapshot(begun)
					if err != nil {
						t.Fatal(err)
					}
					return s
				}
				anew := at(of.to.Experiment(of.Machine, set))
				got := at(of.to.From(dir, checkpoint).Experiment(of.Machine, set))
				run, err := OpenRun(dir)
				if err != nil {
					t.Fatal(err)
				}
				stored, err := run.Run.Checkpoint(checkpoint)
				if err != nil {
					t.Fatal(err)
				}
				want, _, err := readSnapshot(stored)
				if err != nil {
					t.Fatal(err)
				}
				want.step, want.moments = 0, anew.moments
				if !of.offsets {
					want.visibleOffsets, want.hiddenOffsets = anew.visibleOffsets, anew.hiddenOffsets
				}
				if !of.chains {
					want.persistent = anew.persistent
				}
				shape := set.Shape()
				a, err := want.snapshot(shape)
				if err != nil {
					t.Fatal(err)
				}
				b, err := got.snapshot(shape)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(a, b); diff != "" {
					t.Errorf("%s: training starts elsewhere (-want +got):\n%s", checkpoint, diff)
				}
			}
		})
	}
}

// Once fine-tuning has begun it does not need its source, and is resumed to the same bytes.
func TestFineTuningIsResumed(t *testing.T) {
	set, source, whole, dir := patterns(t), t.TempDir(), t.TempDir(), t.TempDir()
	machine := machineFor(set).Hidden(5, 4)
	if _, err := short(PCD()).LearningRate(0.05).Train(t.Context(), machine, set, source); err != nil {
		t.Fatal(err)
	}
	tuned := short(PCD()).LearningRate(0.01).From(source, "best")
	run, err := tuned.Train(t.Context(), machine, set, whole)
	if err != nil {
		t.Fatal(err)
	}
	if start := run.Experiment().Start; start.Run != source || start.Parameters == "" {
		t.Errorf("the experiment says that it starts from %+v", start)
	}
	stopped(t, tuned, machine, set, dir, 1, func(step int) bool { return step == 4 })
	if err := os.RemoveAll(source); err != nil {
		t.Fatal(err)
	}
	begun, err := OpenRun(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := begun.Experiment().Train(t.Context(), set, dir); err != nil {
		t.Fatal(err)
	}
	a, err := os.ReadFile(filepath.Join(whole, "checkpoint.safetensors"))
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(dir, "checkpoint.safetensors"))
	if err != nil || !slices.Equal(a, b) {
		t.Errorf("resumed, fine-tuning ends in other bytes (%v)", err)
	}
}

func TestStartsThatAreRefused(t *testing.T) {
	set, dir := patterns(t), t.TempDir()
	mustTrain(t, short(PCD()), set, filepath.Join(dir, "rbm"))
	if _, err := short(PCD()).TrainBelief(t.Context(), New(set.Shape()).Hidden(5, 4), set, dir); err != nil {
		t.Fatal(err)
	}
	from := func(run string, machine Machine, change func(*Experiment)) Experiment {
		e := short(PCD()).From(run, "").Experiment(machine, set)
		change(&e)
		return e
	}
	as := func(*Experiment) {}
	rbm, larger := filepath.Join(dir, "rbm"), New(digits(t, 60, 20).Shape()).Hidden(5)
	wrong := from(rbm, machineFor(set), as)
	for says, e := range map[string]Experiment{
		"start without a run":                   from(" ", machineFor(set), as),
		"nowhere is not the directory of a run": from("nowhere", machineFor(set), as),
		"describe the same machine":             from(rbm, machineFor(set).Hidden(6), as),
		"keeps no checkpoint of epoch 7":        from(rbm, machineFor(set), func(e *Experiment) { e.Start.Checkpoint = "7" }),
		"it is the top of a belief network":     from(LayerDir(dir, 2), New(set.Shape()).Hidden(4), as),
		"start beside pretrained layers": from(rbm, machineFor(set).Hidden(5, 4), func(e *Experiment) {
			e.Pretrained = &Pretrained{Runs: []string{LayerDir(dir, 1), LayerDir(dir, 2)}}
		}),
		"start of a machine that stands on a run": from(rbm, machineFor(set), func(e *Experiment) { e.Below = wrong.Start }),
		"its parameters are no longer those":      from(rbm, machineFor(set), func(e *Experiment) { e.Start.Parameters = strings.Repeat("0", 64) }),
	} {
		if _, err := e.Train(t.Context(), set, filepath.Join(dir, "refused")); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("error %v, want one that says %q", err, says)
		}
	}
	other := digits(t, 60, 20)
	if _, err := short(PCD()).From(rbm, "").Train(t.Context(), larger, other, filepath.Join(dir, "refused")); err == nil || !strings.Contains(err.Error(), "train on data of the same shape") {
		t.Errorf("a machine for other images starts: %v", err)
	}
	if _, err := short(PCD()).From(rbm, "").TrainBelief(t.Context(), New(set.Shape()).Hidden(5, 4), set, t.TempDir()); err == nil || !strings.Contains(err.Error(), "layers that start from a run") {
		t.Errorf("layers of a belief network start from a run: %v", err)
	}
}
