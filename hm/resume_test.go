package hm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/helmholtz-go/helmholtz/runs/runstest"
)

// trained is a method with the data it trains on.
type trained struct {
	name   string
	method Method
	set    *dataset.Set
}

// resumable returns all presets, and the settings that keep their own state or depend on the
// position in training.
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
		trained{"reinforce, learned baselines", short(REINFORCE()).ReinforceBaseline(LearnedBaseline), set},
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
		trained{"nrws, adam, groups of a table, tanh layers", short(NRWS()).Optimizer(Adam), garments(t)},
		trained{"nrws, mixed kinds, tanh layers", short(NRWS()), measured(t, dataset.Real)},
		trained{"nrws, early stopping", short(NRWS()).LearningRate(0.5).Epochs(30).Patience(2), set},
	)
}

// inSessions trains in sessions that end after every few steps, each of the experiment that the run has recorded, and
// wants the bytes of a run that is not interrupted. It calls begin before each session, and returns their number.
func (v trained) inSessions(t *testing.T, steps int, begin func(session int)) (sessions int) {
	t.Helper()
	whole, parts := t.TempDir(), t.TempDir()
	mustTrain(t, v.method, v.set, whole)
	var e runs.Experiment = v.method.Experiment(machineFor(v.set), v.set)
	set := v.set
	for finished := false; !finished; sessions++ {
		begin(sessions)
		ctx, cancel := context.WithCancel(t.Context())
		_, err := runs.Train(ctx, e, set, parts, &watcher{onStep: func(p runs.Progress) {
			if p.Step%steps == 0 {
				cancel()
			}
		}})
		cancel()
		if finished = err == nil; err != nil && !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		if e, err = runs.ExperimentIn(parts); err != nil {
			t.Fatal(err)
		}
		if set, err = runs.OpenDataset(e, parts); err != nil {
			t.Fatal(err)
		}
	}
	runstest.SameRun(t, whole, parts)
	return sessions
}

// In the default arithmetic, a run in the Euclidean metric whose sessions use different instruction
// sets must produce the same bytes as a run on a single one.
func TestResumeIsExactAcrossInstructionSets(t *testing.T) {
	defer kernels.SetInstructionSet(kernels.InstructionSet())
	sets := kernels.InstructionSets()
	for _, name := range Presets() {
		if preset(name).spec.Metric != Euclidean {
			continue
		}
		sessions := trained{name, short(preset(name)), patterns(t)}.inSessions(t, 5, func(session int) {
			if err := kernels.SetInstructionSet(sets[session%len(sets)]); err != nil {
				t.Fatal(err)
			}
		})
		if sessions < len(sets) {
			t.Fatalf("%d sessions with %d instruction sets", sessions, len(sets))
		}
	}
}

// A run that resumes with other kernels says that its last digits may differ; one that stays says nothing.
func TestOtherKernelsAreSaid(t *testing.T) {
	sets := kernels.InstructionSets()
	if len(sets) < 2 {
		t.Skip("this processor has one instruction set")
	}
	here := kernels.InstructionSet()
	defer kernels.SetInstructionSet(here)
	dir, said := t.TempDir(), &watcher{}
	for i, name := range []string{sets[0], sets[0], sets[1]} {
		if err := kernels.SetInstructionSet(name); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		said.onStep = func(p runs.Progress) {
			if p.Step == i+1 {
				cancel()
			}
		}
		if _, err := short(NRWS()).Train(ctx, machineFor(patterns(t)), patterns(t), dir, said); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
	for i, want := range []string{"", "", fmt.Sprintf("trained with %s so far, with %s from here on", sets[0], sets[1])} {
		if got := said.plans[i].Notice; !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("session %d says %q, want %q", i+1, got, want)
		}
	}
}

// TestResumeIsExact checks the promise of run directories: an interrupted and resumed run produces
// the same bytes as an uninterrupted one. Wherever runs can be interrupted, some are; the others show that
// their own settings are restored, within epochs and between refreshes of Fisher blocks.
func TestResumeIsExact(t *testing.T) {
	everywhere := []string{"nrws, adam", "nrws, stochastic binarisation", "bihm, adam, a label layer", "nrws, early stopping"}
	for _, v := range resumable(t) {
		t.Run(v.name, func(t *testing.T) {
			t.Parallel()
			if slices.Contains(everywhere, v.name) {
				runstest.Resume(t, v.method.Experiment(machineFor(v.set), v.set), v.set)
				return
			}
			v.method = v.method.Epochs(3)
			v.inSessions(t, 4, func(int) {})
		})
	}
}

// TestEarlyStoppingStops protects the case "early stopping" above against settings that never stop
// early.
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

// TestResumeAfterCrash resumes directories as a crash leaves them: with epochs in the metrics that
// are not in the checkpoint, and the last line cut short.
func TestResumeAfterCrash(t *testing.T) {
	set := patterns(t)
	method := short(NRWS())
	for _, test := range []struct {
		name  string
		lost  int    // further lines of epochs that are not in the checkpoint
		extra string // after them
	}{
		{"between the metrics and the checkpoint", 0, ""},
		{"within a line of the metrics", 0, `{"epoch":3,"step":18,"seconds":0.1,"tra`},
		{"with lines of epochs that are lost", 2, "{"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			whole, crashed := t.TempDir(), filepath.Join(t.TempDir(), "crashed")
			// The recorder is told of an epoch when its metrics and its best checkpoint are on
			// disk, but its checkpoint is not.
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
			runstest.SameRun(t, whole, crashed)
		})
	}
}
