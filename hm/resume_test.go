package hm

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/runs"
)

// trained is a method and the data it trains on.
type trained struct {
	name   string
	method Method
	set    *dataset.Set
}

// resumable are all presets, and the settings that keep a state of their own or
// that depend on the position in training.
func resumable(t *testing.T) []trained {
	set := patterns(t)
	var all []trained
	for _, name := range Presets() {
		all = append(all, trained{name, short(preset(name)), set})
	}
	return append(all,
		trained{"nrws, adam", short(NRWS()).Optimizer(Adam), set},
		trained{"bihm, adam", short(BiHM()).Optimizer(Adam), set},
		trained{"rws, momentum", short(RWS()).Optimizer(Momentum), set},
		trained{"nrws, nesterov", short(NRWS()).Optimizer(Nesterov).Momentum(0.8), set},
		trained{"nrws, Fisher blocks of dreams", short(NRWS()).FisherSource(FromSleep), set},
		trained{"nrws, legacy Fisher blocks", short(NRWS()).FisherSource(FromLegacy), set},
		trained{"reinforce, optimal baselines", short(REINFORCE()).ReinforceBaseline(OptimalBaseline), set},
		trained{"reinforce, Fisher blocks", short(REINFORCE()).Metric(Block), set},
		trained{"nrws, Kronecker-factored", short(NRWS()).Metric(Kronecker), set},
		trained{"nrws, three rescaled sleep steps", short(NRWS()).SleepSteps(3).SleepScale(2), set},
		trained{"ws, adam, two sleep steps", short(WS()).Optimizer(Adam).SleepSteps(2), set},
		trained{"nrws, cosine schedule", short(NRWS()).Schedule(CosineDecay), set},
		trained{"rws, step schedule", short(RWS()).StepDecay(2, 0.5), set},
		trained{"nrws, more samples later", short(NRWS()).SamplesAfter(2, 9), set},
		trained{"bihm, adam, L1", short(BiHM()).Optimizer(Adam).L1(1e-3), set},
		trained{"nrws, L2 with a warm-up", short(NRWS()).L2(0.01).WarmUp(3), set},
		trained{"nrws, entropy, nesterov", short(NRWS()).Entropy(0.1).WarmUp(2).Optimizer(Nesterov), set},
		trained{"bihm, entropy", short(BiHM()).Entropy(0.1), set},
		trained{"ws, entropy estimator", short(WS()).EntropyEstimator(0.1).SamplesAfter(2, 6), set},
		trained{"nrws, stochastic binarisation", short(NRWS()), shades(t, 0)},
		trained{"nrws, Gaussian units and a convolution", short(NRWS()).LearningRate(0.001), grays(t)},
		trained{"bihm, adam, Gaussian units and a convolution", short(BiHM()).Optimizer(Adam).LearningRate(0.001), grays(t)},
		trained{"bihm, adam, a label layer", short(BiHM()).Optimizer(Adam).Gamma(0.5).LabelProposal(MixedLabels), labeled(t, 0)},
		trained{"bihm, momentum, a classifier", short(BiHM()).Optimizer(Momentum).LabelWeight(2), labeled(t, 1)},
		trained{"bihm, adam, a classifier of h¹", short(BiHM()).Optimizer(Adam).Gamma(1), labeled(t, 2)},
		trained{"nrws, early stopping", short(NRWS()).LearningRate(0.5).Epochs(30).Patience(2), set},
	)
}

// interruption ends sessions of training. session returns the context and the
// recorder of one, from a context and the function that cancels it.
type interruption struct {
	name    string
	session func(context.Context, func()) (context.Context, *watcher)
}

func interruptions() []interruption {
	atSteps := func(when func(step int) bool) func(context.Context, func()) (context.Context, *watcher) {
		return func(ctx context.Context, cancel func()) (context.Context, *watcher) {
			return ctx, &watcher{onStep: func(p runs.Progress) {
				if when(p.Step) {
					cancel()
				}
			}}
		}
	}
	begun := false
	return []interruption{
		{"before the first step", func(ctx context.Context, cancel func()) (context.Context, *watcher) {
			if !begun {
				cancel()
			}
			begun = true
			return ctx, &watcher{}
		}},
		{"within an epoch", atSteps(func(step int) bool { return step == 9 })},
		{"after an epoch's last step", atSteps(func(step int) bool { return step == 2*stepsPerEpoch })},
		{"again and again", atSteps(func(step int) bool { return step%5 == 0 })},
		{"after an epoch", func(ctx context.Context, cancel func()) (context.Context, *watcher) {
			return ctx, &watcher{onEpoch: func(e runs.Epoch) {
				if e.Epoch == 1 {
					cancel()
				}
			}}
		}},
		{"during validation", func(ctx context.Context, _ func()) (context.Context, *watcher) {
			f := &fuse{Context: ctx}
			return f, &watcher{onStep: func(p runs.Progress) {
				if p.Step == 2*stepsPerEpoch {
					f.light(1) // training asks once before it begins to validate
				}
			}}
		}},
	}
}

// In fixed point, a run whose sessions have another instruction set each leaves the
// same bytes as one that has none but one.
func TestResumeInFixedPointIsExactAcrossInstructionSets(t *testing.T) {
	defer kernels.SetInstructionSet(kernels.InstructionSet())
	for _, name := range Presets() {
		if preset(name).spec.Metric != Euclidean {
			continue
		}
		v := trained{name, short(preset(name)).Arithmetic(FixedPoint), patterns(t)}
		whole, parts := t.TempDir(), t.TempDir()
		mustTrain(t, v.method, v.set, whole)
		sets, session := kernels.InstructionSets(), 0
		sessions := trainInSessions(t, v, parts, interruption{"with another instruction set", func(ctx context.Context, cancel func()) (context.Context, *watcher) {
			if err := kernels.SetInstructionSet(sets[session%len(sets)]); err != nil {
				t.Fatal(err)
			}
			session++
			return ctx, &watcher{onStep: func(p runs.Progress) {
				if p.Step%5 == 0 {
					cancel()
				}
			}}
		}})
		if sessions < len(sets) {
			t.Fatalf("%d sessions with %d instruction sets", sessions, len(sets))
		}
		wantSameRun(t, whole, parts)
	}
}

// TestResumeIsExact is the promise of run directories: a run that is
// interrupted and resumed leaves the same bytes as one that is not.
func TestResumeIsExact(t *testing.T) {
	for _, v := range resumable(t) {
		t.Run(v.name, func(t *testing.T) {
			t.Parallel()
			whole := t.TempDir()
			mustTrain(t, v.method, v.set, whole)
			for _, i := range interruptions() {
				t.Run(i.name, func(t *testing.T) {
					dir := t.TempDir()
					sessions := trainInSessions(t, v, dir, i)
					if sessions < 2 {
						t.Fatal("training was not interrupted")
					}
					wantSameRun(t, whole, dir)
				})
			}
		})
	}
}

// trainInSessions trains to the end, however often it is interrupted, and
// returns the number of sessions that it took.
func trainInSessions(t *testing.T, v trained, dir string, i interruption) (sessions int) {
	t.Helper()
	for sessions = 1; sessions < 100; sessions++ {
		ctx, cancel := context.WithCancel(t.Context())
		ctx, w := i.session(ctx, cancel)
		run, err := v.method.Train(ctx, machineFor(v.set), v.set, dir, w)
		cancel()
		if err == nil {
			if !run.Finished() {
				t.Fatalf("session %d returned no error, but the run is not finished", sessions)
			}
			return sessions
		}
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("session %d: %v", sessions, err)
		}
	}
	t.Fatal("training does not come to its end")
	return sessions
}

// TestInterruptedValidationIsRepeated shows where the interruption "during
// validation" stops: all steps of the epoch are done, the epoch is not.
func TestInterruptedValidationIsRepeated(t *testing.T) {
	dir := t.TempDir()
	set := patterns(t)
	f := &fuse{Context: t.Context()}
	w := &watcher{onStep: func(p runs.Progress) {
		if p.Step == stepsPerEpoch {
			f.light(1)
		}
	}}
	run, err := short(NRWS()).Train(f, machineFor(set), set, dir, w)
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v, want context.Canceled", err)
	}
	if step := run.Snapshot().Step; step != stepsPerEpoch || run.Epochs() != 0 || len(w.epochs) != 0 {
		t.Errorf("stopped at step %d, %d epochs done and %d recorded; want %d, 0 and 0", step, run.Epochs(), len(w.epochs), stepsPerEpoch)
	}
}

// TestEarlyStoppingStops guards the case "early stopping" above against
// settings that never stop early.
func TestEarlyStoppingStops(t *testing.T) {
	set := patterns(t)
	run := mustTrain(t, short(NRWS()).LearningRate(0.5).Epochs(30).Patience(2), set, t.TempDir())
	if run.Epochs() == 30 {
		t.Fatal("training did not stop early")
	}
	if run.Epochs() != run.BestEpoch()+2 {
		t.Errorf("with a patience of 2, training stopped after epoch %d, the best being %d", run.Epochs(), run.BestEpoch())
	}
	epochs := run.History().Epochs
	for _, e := range epochs {
		if e.Validation["log_p"] > epochs[run.BestEpoch()-1].Validation["log_p"] {
			t.Errorf("epoch %d has a higher validation log p than epoch %d, called the best", e.Epoch, run.BestEpoch())
		}
	}
	best, err := run.Run.Best()
	if err != nil {
		t.Fatal(err)
	}
	if best.Step != run.BestEpoch()*stepsPerEpoch {
		t.Errorf("the best checkpoint is of step %d, want the last of epoch %d", best.Step, run.BestEpoch())
	}
	if _, err := run.Best(); err != nil {
		t.Error(err)
	}
}

// TestResumeAfterCrash resumes directories as a crash leaves them: with epochs
// in the metrics that the checkpoint has not seen, the last line cut short.
func TestResumeAfterCrash(t *testing.T) {
	set := patterns(t)
	method := short(NRWS())
	for _, test := range []struct {
		name  string
		lost  int    // lines of epochs that the checkpoint has not seen, besides the one
		extra string // behind them
	}{
		{"between the metrics and the checkpoint", 0, ""},
		{"within a line of the metrics", 0, `{"epoch":3,"step":18,"seconds":0.1,"tra`},
		{"with lines of epochs that are lost", 2, "{"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			whole, crashed := t.TempDir(), filepath.Join(t.TempDir(), "crashed")
			// The recorder hears of an epoch when its metrics and its best
			// checkpoint are on the disk, and its checkpoint is not.
			mustTrain(t, method, set, whole, &watcher{onEpoch: func(e runs.Epoch) {
				if e.Epoch == 2 {
					if err := os.CopyFS(crashed, os.DirFS(whole)); err != nil {
						t.Error(err)
					}
				}
			}})
			before, err := OpenRun(crashed)
			if err != nil {
				t.Fatal(err)
			}
			if before.Epochs() != 1 {
				t.Fatalf("the crash is after epoch %d, want 1", before.Epochs())
			}
			lines := strings.SplitAfter(contents(t, whole)["/"+metricsFile], "\n")
			test.extra = strings.Join(lines[2:2+test.lost], "") + test.extra
			metrics, err := os.OpenFile(filepath.Join(crashed, metricsFile), os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			_, err = metrics.WriteString(test.extra)
			if err := errors.Join(err, metrics.Close()); err != nil {
				t.Fatal(err)
			}
			mustTrain(t, method, set, crashed)
			wantSameRun(t, whole, crashed)
		})
	}
}

// recordedSteps are those that a run has recorded, if it has.
func recordedSteps(t *testing.T, dir string) []runs.Epoch {
	t.Helper()
	run, err := OpenRun(dir)
	if err != nil {
		t.Fatal(err)
	}
	if run.Experiment().RecordSteps == 0 {
		return nil
	}
	steps, err := run.Steps()
	if err != nil {
		t.Fatal(err)
	}
	return steps.Epochs
}

// wantSameRun checks that two directories hold the same run: the same bytes,
// and the same metrics but for the time that they took.
func wantSameRun(t *testing.T, want, got string) {
	t.Helper()
	a, b := contents(t, want), contents(t, got)
	for _, name := range []string{metricsFile, stepsFile, clockFile} { // they hold times
		delete(a, "/"+name)
		delete(b, "/"+name)
	}
	for name := range a {
		if a[name] != b[name] {
			t.Errorf("%s differs from that of the run that was not interrupted", name)
		}
		delete(b, name)
	}
	for name := range b {
		t.Errorf("the directory holds %s, which that of the run that was not interrupted does not", name)
	}
	epochs := func(dir string) []runs.Epoch {
		run, err := OpenRun(dir)
		if err != nil {
			t.Fatal(err)
		}
		return run.History().Epochs
	}
	if diff := cmp.Diff(epochs(want), epochs(got), cmpopts.IgnoreFields(runs.Epoch{}, "Seconds")); diff != "" {
		t.Errorf("the metrics differ (-uninterrupted +resumed):\n%s", diff)
	}
	if diff := cmp.Diff(recordedSteps(t, want), recordedSteps(t, got), cmpopts.IgnoreFields(runs.Epoch{}, "Seconds")); diff != "" {
		t.Errorf("the steps that were recorded differ (-uninterrupted +resumed):\n%s", diff)
	}
	seconds := 0.0
	for _, e := range epochs(got) {
		if e.Seconds < seconds {
			t.Errorf("epoch %d ends after %v seconds of training, the one before after %v", e.Epoch, e.Seconds, seconds)
		}
		seconds = e.Seconds
	}
}
