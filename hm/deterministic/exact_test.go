package deterministic

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"strings"
	"testing"
)

// joints yields the states of all layers that have x in the data layer, with log p(x, h) computed
// from the probabilities that Generate returns.
func joints(m *Machine, x []float64) iter.Seq2[[][]float64, float64] {
	return func(yield func([][]float64, float64) bool) {
		hidden := 0
		for _, n := range m.Units[1:] {
			hidden += n
		}
		for _, h := range binaryStates(hidden) {
			states := [][]float64{x}
			for _, n := range m.Units[1:] {
				states, h = append(states, h[:n:n]), h[n:]
			}
			logJoint := 0.0
			for l := range states {
				var above []float64
				if l+1 < len(states) {
					above = states[l+1]
				}
				for j, p := range m.Generate(l, above) {
					logJoint += math.Log(states[l][j]*p + (1-states[l][j])*(1-p))
				}
			}
			if !yield(states, logJoint) {
				return
			}
		}
	}
}

func TestLogPSumsOverAllHiddenStates(t *testing.T) {
	everyMachine(t, func(t *testing.T, m *Machine) {
		data := binaryStates(m.Units[0])
		total := 0.0
		for i, got := range logP(t, m, data...) {
			want := 0.0
			for _, logJoint := range joints(m, data[i]) {
				want += math.Exp(logJoint)
			}
			wantClose(t, fmt.Sprintf("log p(%v)", data[i]), got, math.Log(want), 1e-12)
			total += math.Exp(got)
		}
		wantClose(t, "the sum of all probabilities", total, 1, 1e-12)
	})
}

func TestLogPOfTheImpossibleIsMinusInfinity(t *testing.T) {
	m := newMachine(t, NoisyOr, 1, 1, 1)
	m.Generative[0].Weights[0], m.Generative[0].Biases[0] = math.Inf(-1), math.Inf(-1)
	if got := logP(t, m, []float64{1})[0]; !math.IsInf(got, -1) {
		t.Errorf("log p of a unit that nothing switches on is %v", got)
	}
}

func TestLogPRefusesWhatItCannotSum(t *testing.T) {
	_, err := newMachine(t, Logistic, 1, 2, 11, 10).LogP(t.Context(), nil)
	if err == nil || !strings.Contains(err.Error(), "layer 1 and the one above it have 21") {
		t.Errorf("two layers of 21 units together: error %v", err)
	}
	_, err = newMachine(t, Logistic, 1, 2, 21).LogP(t.Context(), nil)
	if err == nil || !strings.Contains(err.Error(), "layer 1 and the one above it have 21") {
		t.Errorf("a layer of 21 units: error %v", err)
	}
	_, err = newMachine(t, Logistic, 1, 2, 1).LogP(t.Context(), [][]float64{{1, 0, 1}})
	if err == nil || !strings.Contains(err.Error(), "datum 0 has 3 values") {
		t.Errorf("a datum that is too long: error %v", err)
	}
}

func TestLogPStopsWhenCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	m := newMachine(t, Logistic, 1, 2, 1)
	if _, err := m.LogP(ctx, binaryStates(2)); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want the cancellation", err)
	}
}
