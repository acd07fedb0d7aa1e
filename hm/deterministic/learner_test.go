package deterministic

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/philox"
	"github.com/helmholtz-go/helmholtz/runs"
)

func meanFreeEnergy(m *Machine, rows dataset.Split) float64 {
	sum := 0.0
	for i := range rows.Rows {
		sum += m.FreeEnergy(Binary(rows.Row(i)))
	}
	return sum / float64(rows.Rows)
}

// TestTrainingIsAdamOnMinibatches writes training out: Adam on the mean gradient of each minibatch,
// in an order that the seed and the epoch determine. The runner must take the same steps bit for
// bit.
func TestTrainingIsAdamOnMinibatches(t *testing.T) {
	set := patterns(t)
	for _, activation := range []Activation{Logistic, NoisyOr, PrintedProduct} {
		t.Run(activation.String(), func(t *testing.T) {
			e := short(set, activation)
			m := newMachine(t, activation, e.Seed, 9, 4, 2)
			mean, square := make([]float64, len(m.Flat)), make([]float64, len(m.Flat))
			step := 0
			for epoch := range e.Epochs {
				order := philox.NewStream(e.Seed, philox.Order, uint32(epoch)).Perm(set.Train().Rows)
				for minibatch := range slices.Chunk(order, e.Settings.Training.BatchSize) {
					g := m.NewGradient()
					for _, row := range minibatch {
						m.AddGradient(g, Binary(set.Train().Row(row)))
					}
					step++
					meanScale, squareScale := 1/(1-math.Pow(0.9, float64(step))), 1/(1-math.Pow(0.999, float64(step)))
					for i := range m.Flat {
						d := g.Flat[i] * (1 / float64(len(minibatch)))
						mean[i] += (1 - 0.9) * (d - mean[i])
						square[i] += (1 - 0.999) * (d*d - square[i])
						m.Flat[i] -= e.Settings.Training.LearningRate * mean[i] * meanScale / (math.Sqrt(square[i]*squareScale) + 1e-8)
					}
				}
			}
			run := mustTrain(t, e, set, t.TempDir())
			if !slices.Equal(run.Model().Flat, m.Flat) {
				t.Errorf("training ends in other parameters: %v, want %v", run.Model().Flat, m.Flat)
			}
		})
	}
}

// The minibatch is the whole data set, so the first step is Adam's first step on the mean gradient:
// the learning rate times the gradient's sign, except for Adam's floor.
func TestFirstStepDescendsOnTheMeanGradient(t *testing.T) {
	set := distribution(t)
	m := newMachine(t, Logistic, 1, 9, 3)
	g := m.NewGradient()
	for i := range set.Train().Rows {
		m.AddGradient(g, Binary(set.Train().Row(i)))
	}
	const rate, floor = 0.02, 1e-8
	e := NewExperiment(set, Logistic, 3)
	e.Epochs, e.Settings.Training = 1, TrainingSpec{LearningRate: rate, BatchSize: set.Train().Rows}
	run := mustTrain(t, e, set, t.TempDir())
	for i, sum := range g.Flat {
		mean := sum / float64(set.Train().Rows)
		wantClose(t, "a step", run.Model().Flat[i]-m.Flat[i], -rate*mean/(math.Abs(mean)+floor), 1e-12)
	}
}

// TestTwoStepsOfAdam computes two steps of Adam on one parameter by hand: gradients 1 and 3 at the
// rate 0.1.
func TestTwoStepsOfAdam(t *testing.T) {
	one := func(value float64) *Parameters { return &Parameters{Flat: []float64{value}} }
	a, parameter := &adam{one(0), one(0), one(1)}, one(0)
	a.descend(parameter, 1, 0.1)
	wantClose(t, "after one step", parameter.Flat[0], -0.1, 1e-8)
	a.gradient = one(3)
	a.descend(parameter, 2, 0.1)
	mean, square := (0.9*0.1+0.1*3)/(1-0.81), (0.999*0.001+0.001*9)/(1-0.998001)
	wantClose(t, "after two steps", parameter.Flat[0], -0.1-0.1*mean/math.Sqrt(square), 1e-8)
}

// A machine whose hidden units carry no information cannot do better than the entropy of nine
// independent pixels.
func TestTrainingLearnsTheDependenceOfPixels(t *testing.T) {
	set := distribution(t)
	rows := set.Train()
	independent := 0.0
	for j := range rows.Shape.Units() {
		on := 0.0
		for i := range rows.Rows {
			on += Binary(rows.Row(i))[j] / float64(rows.Rows)
		}
		independent -= weighted(on, on) + weighted(1-on, 1-on)
	}
	for _, activation := range []Activation{Logistic, NoisyOr, PrintedProduct} {
		e := NewExperiment(set, activation, 8)
		e.Epochs, e.Settings.Training = 40, TrainingSpec{LearningRate: 0.1, BatchSize: 6}
		before := meanFreeEnergy(newMachine(t, activation, e.Seed, 9, 8), rows)
		run := mustTrain(t, e, set, t.TempDir())
		after := meanFreeEnergy(run.Model(), rows)
		t.Logf("%v: free energy %.2f before, %.2f after, independent pixels %.2f nats", activation, before, after, independent)
		if after >= independent || after >= before {
			t.Errorf("%v: free energy %v before, %v after training; independent pixels have %v nats", activation, before, after, independent)
		}
	}
}

// An epoch must record the mean over its rows as they were visited, and over the validation rows
// after it. The rate is too small for any change, so both are free energies of the first machine.
func TestHistoryHoldsTheFreeEnergy(t *testing.T) {
	set := patterns(t)
	e := short(set, NoisyOr)
	e.Settings.Training.LearningRate = 1e-300
	still := newMachine(t, NoisyOr, e.Seed, 9, 4, 2)
	h := mustTrain(t, e, set, t.TempDir()).History()
	if o := h.Objective(); o.Key != "free_energy" || o.Name != "free energy" || o.Label != "free energy F(x)" || o.Unit != "nats" || o.Rises {
		t.Errorf("training improves %+v", o)
	}
	for _, epoch := range h.Epochs {
		wantClose(t, "training free energy", epoch.Train["free_energy"], meanFreeEnergy(still, set.Train()), 1e-12)
		wantClose(t, "validation free energy", epoch.Validation["free_energy"], meanFreeEnergy(still, set.Validation()), 1e-12)
	}
}

// The best epoch has the lowest validation free energy, and patience ends training a number of
// epochs after it.
func TestTrainingEndsByPatience(t *testing.T) {
	set := patterns(t)
	e := short(set, Logistic)
	e.Epochs, e.Patience, e.Settings.Training.LearningRate = 200, 3, 0.3
	run := mustTrain(t, e, set, t.TempDir())
	epochs := run.History().Epochs
	if len(epochs) == e.Epochs || len(epochs) != run.BestEpoch()+e.Patience {
		t.Fatalf("training ended after %d of %d epochs, the best being %d", len(epochs), e.Epochs, run.BestEpoch())
	}
	lowest := slices.MinFunc(epochs, func(a, b runs.Epoch) int {
		return int(math.Copysign(1, a.Validation["free_energy"]-b.Validation["free_energy"]))
	})
	if lowest.Epoch != run.BestEpoch() {
		t.Errorf("epoch %d has the lowest validation free energy, %d is called the best", lowest.Epoch, run.BestEpoch())
	}
	best, err := run.Best()
	if err != nil {
		t.Fatal(err)
	}
	wantClose(t, "free energy of the best machine", meanFreeEnergy(best, set.Validation()), lowest.Validation["free_energy"], 1e-12)
}

// If the experiment requests it, the recorded log p(x) of the machine after an epoch must equal the
// sum over all states.
func TestExactLogPIsRecorded(t *testing.T) {
	set := patterns(t)
	e := short(set, PrintedProduct)
	e.Settings.LogPEvery, e.Keep = 2, []int{2}
	run := mustTrain(t, e, set, t.TempDir())
	h := LogPHistory(run.History())
	if h.Objective() != runs.LogP || h.Name != e.String() || len(h.Epochs) != 2 {
		t.Fatalf("the history of log p is %+v", h)
	}
	for _, epoch := range h.Epochs {
		m, err := run.At(epoch.Epoch)
		if err != nil {
			t.Fatal(err)
		}
		for what, c := range map[string]struct {
			got  runs.Measures
			rows dataset.Split
		}{"training": {epoch.Train, set.Train()}, "validation": {epoch.Validation, set.Validation()}} {
			want := 0.0
			for i := range c.rows.Rows {
				want += logP(t, m, Binary(c.rows.Row(i)))[0] / float64(c.rows.Rows)
			}
			wantClose(t, fmt.Sprintf("%s log p after epoch %d", what, epoch.Epoch), c.got["log_p"], want, 1e-12)
		}
	}
	if none := LogPHistory(mustTrain(t, short(set, Logistic), set, t.TempDir()).History()); len(none.Epochs) > 0 {
		t.Errorf("log p is recorded of %d epochs where nothing asks for it", len(none.Epochs))
	}
}

// Steps must be recorded one by one if the experiment requests it.
func TestStepsAreRecorded(t *testing.T) {
	set := patterns(t)
	e := short(set, Logistic)
	e.RecordSteps = 1
	run := mustTrain(t, e, set, t.TempDir())
	steps, err := run.Steps()
	if err != nil {
		t.Fatal(err)
	}
	if len(steps.Epochs) != 5*e.Epochs {
		t.Fatalf("%d steps are recorded, want %d", len(steps.Epochs), 5*e.Epochs)
	}
	sum := 0.0
	for i, rows := range []float64{9, 9, 9, 9, 4} {
		sum += rows * steps.Epochs[i].Train["free_energy"]
	}
	wantClose(t, "the first epoch", sum/40, run.History().Epochs[0].Train["free_energy"], 1e-12)
}

func TestDivergenceIsAnError(t *testing.T) {
	set, dir := patterns(t), t.TempDir()
	e := short(set, NoisyOr)
	e.Settings.Training.LearningRate = 1e300
	_, err := e.Train(t.Context(), set, dir)
	if !errors.Is(err, runs.ErrDiverged) {
		t.Fatalf("error %v, want %v", err, runs.ErrDiverged)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.safetensors"))
	if err != nil || len(files) > 0 {
		t.Errorf("%s hold parameters that are not finite (%v)", strings.Join(files, ", "), err)
	}
}

func TestBinaryRounds(t *testing.T) {
	if got := Binary([]uint8{0, 127, 128, 255}); !slices.Equal(got, []float64{0, 0, 1, 1}) {
		t.Errorf("0, 127, 128, 255 of 255 became %v", got)
	}
}
