package boltzmann

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/runs"
)

// Fine-tuning starts at the parameters and offsets of another run and goes on with its chains, of
// which those at temperature 1 come again where there are more or others; moments are 0.
func TestFineTuningStartsAtAnotherRun(t *testing.T) {
	lines, gray := patterns(t), grays(t)
	for name, of := range map[string]struct {
		from, to Method
		Machine
		offsets bool          // are the other run's
		chain   func(int) int // which of the other run's each chain begins at, nil where there is none
	}{
		"the same method":       {short(PCD()), short(PCD()).Momentum(0.9), machineFor(lines), true, func(r int) int { return r }},
		"several layers":        {short(PCD()).LearningRate(0.05), short(PCD()).Optimizer(Adam), machineFor(lines).Hidden(5, 4), true, func(r int) int { return r }},
		"more chains":           {short(PCD()), short(PCD()).Chains(25), machineFor(lines), true, func(r int) int { return r % 10 }},
		"the same temperatures": {short(PT()).Temperatures(3), short(PT()).Temperatures(3), machineFor(lines), true, func(r int) int { return r }},
		"without temperatures":  {short(PT()).Chains(5).Temperatures(2), short(PCD()), machineFor(lines), true, func(r int) int { return r % 5 }},
		"with temperatures":     {short(PCD()), short(PT()).Chains(5).Temperatures(2), machineFor(lines), true, func(r int) int { return r % 5 }},
		"after CD":              {short(CD()), short(PCD()), machineFor(lines), true, nil},
		"without chains":        {short(PCD()), short(CD()), machineFor(lines), true, nil},
		"centred as it was not": {short(PCD()).Centered(false), short(PCD()), machineFor(lines), false, func(r int) int { return r }},
		"Gaussian units":        {short(PCD()), short(PCD()), machineFor(gray), true, func(r int) int { return r }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set := lines
			if of.Machine.spec.Visible == Gaussian {
				set = gray
			}
			dir := t.TempDir()
			run, err := of.from.Keep(2).Train(t.Context(), of.Machine, set, dir)
			if err != nil {
				t.Fatal(err)
			}
			at := func(begun runs.Snapshot, err error) state {
				if err != nil {
					t.Fatal(err)
				}
				s, _, err := readSnapshot(begun)
				if err != nil {
					t.Fatal(err)
				}
				return s
			}
			for _, checkpoint := range []string{"last", "best", "2"} {
				anew := at(of.to.Experiment(of.Machine, set).Begin(set))
				got := at(of.to.From(dir, checkpoint).Experiment(of.Machine, set).Begin(set))
				source := at(run.Run.Checkpoint(checkpoint))
				want := source
				want.step, want.moments, want.persistent = 0, anew.moments, got.persistent
				if !of.offsets {
					want.visibleOffsets, want.hiddenOffsets = anew.visibleOffsets, anew.hiddenOffsets
				}
				if a, b := want.tensors(), got.tensors(); !cmp.Equal(a, b) || got.step != 0 {
					t.Errorf("%s: training starts elsewhere (-want +got):\n%s", checkpoint, cmp.Diff(a, b))
				}
				if got.persistent.Rows != anew.persistent.Rows {
					t.Fatalf("%d chains, want %d", got.persistent.Rows, anew.persistent.Rows)
				}
				for r := 0; of.chain != nil && r < got.persistent.Rows; r++ {
					if from := of.chain(r); !slices.Equal(kernels.Row(got.persistent, r), kernels.Row(source.persistent, from)) {
						t.Errorf("%s: chain %d does not begin where chain %d of the other run was", checkpoint, r, from)
					}
				}
			}
		})
	}
}

// After training without chains they begin at hidden units drawn given training rows: the means
// of many are those of mean field, which are exact for one layer.
func TestChainsBeginAtRowsWhereThereWereNone(t *testing.T) {
	set, dir := patterns(t), t.TempDir()
	const n = 40_000
	run := mustTrain(t, short(CD()).LearningRate(0.5), set, dir)
	begun, err := short(PCD()).Chains(n).From(dir, "").Experiment(machineFor(set), set).Begin(set)
	if err != nil {
		t.Fatal(err)
	}
	s, _, err := readSnapshot(begun)
	if err != nil {
		t.Fatal(err)
	}
	features, err := run.Features(t.Context(), set.Train())
	if err != nil {
		t.Fatal(err)
	}
	for j := range s.persistent.Cols {
		mean, want := 0.0, 0.0
		for r := range n {
			mean += float64(kernels.Row(s.persistent, r)[j]) / n
		}
		for _, row := range features[0] {
			want += float64(row[j]) / float64(len(features[0]))
		}
		if se := 0.5 / math.Sqrt(n); math.Abs(mean-want) > 5*se {
			t.Errorf("hidden unit %d is on in %.4f of the chains, given the rows in %.4f", j, mean, want)
		}
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
	stopped(t, tuned.Experiment(machine, set), set, dir, 1, func(step int) bool { return step == 4 })
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
		"start together with pretrained layers": from(rbm, machineFor(set).Hidden(5, 4), func(e *Experiment) {
			e.Pretrained = &Pretrained{Runs: []string{LayerDir(dir, 1), LayerDir(dir, 2)}}
		}),
		"start of a machine that stands on a run": from(rbm, machineFor(set), func(e *Experiment) { e.Below = wrong.Start }),
		"its parameters no longer match":          from(rbm, machineFor(set), func(e *Experiment) { e.Start.Parameters = strings.Repeat("0", 64) }),
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

// Experiments that begin elsewhere are others until it is known that the parameters are the same.
func TestBeginningsAreToldApart(t *testing.T) {
	set := patterns(t)
	begin := func(run, checkpoint, parameters string) (hashes []string) {
		from := &runs.Source{Run: run, Checkpoint: checkpoint, Parameters: parameters}
		for _, change := range []func(*Experiment){
			func(e *Experiment) { e.Start = from },
			func(e *Experiment) { e.Below = from },
			func(e *Experiment) {
				e.Pretrained = &Pretrained{Runs: []string{run + checkpoint, "above"}, Parameters: parameters}
			},
		} {
			e := short(PCD()).Experiment(machineFor(set), set)
			change(&e)
			hashes = append(hashes, e.Hash())
		}
		return hashes
	}
	for i, hash := range begin("a", "2", "") {
		for name, other := range map[string][]string{"run": begin("b", "2", ""), "checkpoint": begin("a", "3", "")} {
			if other[i] == hash {
				t.Errorf("%d: another %s is the same experiment", i, name)
			}
		}
	}
	if diff := cmp.Diff(begin("a", "2", "0f"), begin("b", "3", "0f")); diff != "" {
		t.Errorf("the same parameters from another place make another experiment:\n%s", diff)
	}
}
