package hm

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/hm/engine/oracle"
)

// TestExactKL compares the sum over one hidden layer after another with the sum over all their
// states.
func TestExactKL(t *testing.T) {
	t.Parallel()
	bothCodings(t, func(t *testing.T, coding Coding) {
		for _, units := range [][]int{{2, 1}, {4, 3}, {4, 3, 2}, {5, 2, 4}, {3, 4, 3, 2}, {2, 2, 2, 2, 2}} {
			t.Run(fmt.Sprint(units), func(t *testing.T) {
				m, exact := tiny(t, coding, units...)
				split := everyRow(units[0])
				split = firstRows(split, split.Rows-2) // so that one state is missing and one occurs once
				got, err := m.ExactKL(t.Context(), split)
				if err != nil {
					t.Fatal(err)
				}
				wantNear(t, "KL(p_D‖p)", got, exact.KL(states(exact, split)), 1e-9)
			})
		}
	})
}

// TestExactKLOfPatterns does the same for the distribution of 3by3, which equals the test rows.
func TestExactKLOfPatterns(t *testing.T) {
	t.Parallel()
	set, err := dataset.Open("3by3")
	if err != nil {
		t.Fatal(err)
	}
	bothCodings(t, func(t *testing.T, coding Coding) {
		run, err := short(NRWS()).Train(t.Context(), machineFor(patterns(t)).Coding(coding), patterns(t), t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		exact := oracle.NewNetworks(run.Parameters())
		got, err := run.ExactKL(t.Context(), set.Test())
		if err != nil {
			t.Fatal(err)
		}
		wantNear(t, "KL(p_D‖p)", got, exact.KL(states(exact, set.Test())), 1e-9)
		of18000, err := run.ExactKL(t.Context(), set.Train())
		if err != nil {
			t.Fatal(err)
		}
		wantNear(t, "KL(p_D‖p) of the training rows", of18000, got, 1e-9)
	})
}

// firstRows returns the first n rows of a split.
func firstRows(s dataset.Split, n int) dataset.Split {
	s.Values, s.Labels = s.Part(0, n), s.Labels[:n]
	return s
}

// uniform returns a model without weights and biases.
func uniform(t *testing.T, units ...int) *Model {
	t.Helper()
	p := engine.NewParameters(engine.Architecture{Units: units})
	return &Model{shape: shape(1, units[0]), parameters: p, engine: &evaluator{parameters: p}}
}

// TestExactKLIsBounded asks for 2²⁰ states of the hidden units for each of 67 distinct rows, and
// for a few states with a cancelled context.
func TestExactKLIsBounded(t *testing.T) {
	t.Parallel()
	_, err := uniform(t, 10, 20).ExactKL(t.Context(), firstRows(everyRow(10), 100))
	wantError(t, err, "67 distinct rows", "[10 20]", "too large", "1.4e+10 multiplications")

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, units := range [][]int{{2, 3}, {2, 3, 2}} {
		if _, err := uniform(t, units...).ExactKL(ctx, everyRow(2)); !errors.Is(err, context.Canceled) {
			t.Errorf("layers of %v units: %v, want that it is cancelled", units, err)
		}
	}
}

func TestExactKLRefuses(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		hidden []int
		works  bool
	}{
		{[]int{20}, true}, {[]int{21}, false}, {[]int{6, 15}, false}, {[]int{3, 17, 4}, false}, {[]int{17, 3, 4}, true},
	} {
		m := uniform(t, append([]int{2}, test.hidden...)...)
		kl, err := m.ExactKL(t.Context(), everyRow(2))
		if !test.works {
			wantError(t, err, fmt.Sprint(test.hidden), "too many states")
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		// Without weights and biases p is uniform over 4 states; the data
		// have probabilities 1/6, 1/3, 1/6, 1/3.
		wantNear(t, "KL(p_D‖p)", kl, 0.05663301226513242, 1e-6)
	}

	run := mustTrain(t, short(NRWS()).Epochs(1), shades(t, 0), t.TempDir())
	_, err := run.ExactKL(t.Context(), shades(t, 0).Test())
	wantError(t, err, "test", "stochastically", "fixed")
}

// TestParametersAreACopy changes the result of Parameters, and checks that the model is unchanged.
func TestParametersAreACopy(t *testing.T) {
	t.Parallel()
	m, exact := tiny(t, ZeroOne, 3, 2)
	p := m.Parameters()
	for i, w := range p.Flat {
		if float64(w) != exact.Flat[i] {
			t.Fatalf("parameter %d is %g, want %g", i, w, exact.Flat[i])
		}
		p.Flat[i]++
	}
	for i, w := range m.Parameters().Flat {
		if float64(w) != exact.Flat[i] {
			t.Fatalf("parameter %d has become %g with the copy, want %g", i, w, exact.Flat[i])
		}
	}
}
