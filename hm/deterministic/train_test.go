package deterministic

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/dataset"
)

// grid returns the 18 rows that are the distribution of 3by3.
func grid(t *testing.T) dataset.Split {
	t.Helper()
	set, err := dataset.Open("3by3")
	if err != nil {
		t.Fatal(err)
	}
	return set.Test()
}

func meanFreeEnergy(m *Machine, rows dataset.Split) float64 {
	sum := 0.0
	for i := range rows.Rows {
		sum += m.FreeEnergy(Binary(rows.Row(i)))
	}
	return sum / float64(rows.Rows)
}

func train(t *testing.T, m *Machine, rows dataset.Split, training Training) {
	t.Helper()
	if err := m.Train(context.Background(), rows, training); err != nil {
		t.Fatal(err)
	}
}

// A machine whose hidden units say nothing can do no better than the entropy of
// nine independent pixels.
func TestTrainingLearnsTheDependenceOfPixels(t *testing.T) {
	rows := grid(t)
	independent := 0.0
	for j := range rows.Shape.Units() {
		on := 0.0
		for i := range rows.Rows {
			on += Binary(rows.Row(i))[j] / float64(rows.Rows)
		}
		independent -= weighted(on, on) + weighted(1-on, 1-on)
	}
	for _, activation := range []Activation{Logistic, NoisyOr, PrintedProduct} {
		m := newMachine(t, activation, 1, 9, 8)
		before := meanFreeEnergy(m, rows)
		var curve []float64
		train(t, m, rows, Training{Epochs: 300, BatchSize: 6, Progress: func(epoch int, f float64) {
			curve = append(curve, f)
			if epoch != len(curve) {
				t.Errorf("%v: epoch %d is reported as number %d", activation, len(curve), epoch)
			}
		}})
		after := meanFreeEnergy(m, rows)
		t.Logf("%v: free energy %.2f before, %.2f after, independent pixels %.2f nats", activation, before, after, independent)
		if after >= independent || after >= before {
			t.Errorf("%v: free energy %v before, %v after training; independent pixels have %v nats", activation, before, after, independent)
		}
		if len(curve) != 300 || curve[299] >= curve[0] {
			t.Errorf("%v: %d epochs reported, from %v to %v", activation, len(curve), curve[0], curve[len(curve)-1])
		}
	}
}

func TestTrainingIsReproducible(t *testing.T) {
	rows := grid(t)
	trained := func(seed uint64) []float64 {
		m := newMachine(t, NoisyOr, 1, 9, 4, 2)
		train(t, m, rows, Training{Epochs: 3, BatchSize: 5, Seed: seed})
		return m.Flat
	}
	if !slices.Equal(trained(1), trained(1)) {
		t.Error("the same seed gives other parameters")
	}
	if slices.Equal(trained(1), trained(2)) {
		t.Error("another order of the rows gives the same parameters")
	}
}

// The mini-batch is all the data, so that the first step is that of Adam on the
// mean gradient: the learning rate times its sign, but for Adam's floor.
func TestFirstStepDescendsOnTheMeanGradient(t *testing.T) {
	rows := grid(t)
	m := newMachine(t, Logistic, 1, 9, 3)
	before, g := slices.Clone(m.Flat), m.NewGradient()
	for i := range rows.Rows {
		m.AddGradient(g, Binary(rows.Row(i)))
	}
	const rate, floor = 0.02, 1e-8
	train(t, m, rows, Training{Epochs: 1, BatchSize: rows.Rows, LearningRate: rate})
	for i, sum := range g.Flat {
		mean := sum / float64(rows.Rows)
		wantClose(t, "a step", m.Flat[i]-before[i], -rate*mean/(math.Abs(mean)+floor), 1e-12)
	}
}

// Two steps of Adam on one parameter, by hand: gradients 1 and 3 at the rate 0.1.
func TestTwoStepsOfAdam(t *testing.T) {
	a, parameter := newAdam(1, 0.1), []float64{0}
	a.descend(parameter, []float64{1})
	wantClose(t, "after one step", parameter[0], -0.1, 1e-8)
	a.descend(parameter, []float64{3})
	mean, square := (0.9*0.1+0.1*3)/(1-0.81), (0.999*0.001+0.001*9)/(1-0.998001)
	wantClose(t, "after two steps", parameter[0], -0.1-0.1*mean/math.Sqrt(square), 1e-8)
}

func TestTrainingStopsWhenCancelled(t *testing.T) {
	m := newMachine(t, Logistic, 1, 9, 3)
	ctx, cancel := context.WithCancel(context.Background())
	epochs := 0
	err := m.Train(ctx, grid(t), Training{Epochs: 10, Progress: func(epoch int, _ float64) {
		epochs = epoch
		if epoch == 2 {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) || epochs != 2 {
		t.Errorf("cancelled after epoch 2: error %v after epoch %d", err, epochs)
	}
}

func TestTrainingRefusesNonsense(t *testing.T) {
	rows := grid(t)
	for _, c := range []struct {
		want     string
		units    int
		rows     dataset.Split
		training Training
	}{
		{"no rows", 9, dataset.Split{Shape: rows.Shape}, Training{}},
		{"rows of 9 values for a machine with 4", 4, rows, Training{}},
		{"-1 epochs", 9, rows, Training{Epochs: -1}},
		{"mini-batches of -2", 9, rows, Training{BatchSize: -2}},
		{"learning rate -0.1", 9, rows, Training{LearningRate: -0.1}},
		{"learning rate NaN", 9, rows, Training{LearningRate: math.NaN()}},
		{"lower the learning rate, which is 1e+300", 9, rows, Training{LearningRate: 1e300}},
	} {
		err := newMachine(t, NoisyOr, 1, c.units, 2).Train(context.Background(), c.rows, c.training)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want one that says %q", err, c.want)
		}
	}
}

func TestBinaryRounds(t *testing.T) {
	if got := Binary([]uint8{0, 127, 128, 255}); !slices.Equal(got, []float64{0, 0, 1, 1}) {
		t.Errorf("0, 127, 128, 255 of 255 became %v", got)
	}
}
