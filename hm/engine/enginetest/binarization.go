package enginetest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/numbers"
)

// binarization tests that a unit of stochastic data is on with probability v/255, drawn afresh in
// each training step and once per datum in an evaluation. A unit of other data is on if v is at
// least 128.
func binarization(t *testing.T, e engine.Engine) {
	t.Run("training", func(t *testing.T) { binarizationInTraining(t, e, job) })
	t.Run("training on a repeated row", func(t *testing.T) { binarizationInTraining(t, e, repeating) })
	t.Run("evaluation", func(t *testing.T) { binarizationInEvaluation(t, e) })
	t.Run("threshold", func(t *testing.T) { threshold(t, e) })
}

// levels are the values whose frequencies are compared, one unit each.
var levels = []uint8{0, 1, 64, 127, 128, 200, 254, 255}

func grayRows(rows int) engine.Data {
	return engine.Data{Values: numbers.Bytes(len(levels), slices.Repeat(levels, rows)), Stochastic: true}
}

// wantLevels compares how often units are on with their values. Each row holds the visible units of
// one draw.
func wantLevels(t *testing.T, what string, rows [][]uint8) {
	t.Helper()
	n := float64(len(rows))
	got, want, variance := make([]float64, len(levels)), make([]float64, len(levels)), make([]float64, len(levels))
	for j, v := range levels {
		for _, row := range rows {
			got[j] += float64(row[j]) / n
		}
		want[j] = float64(v) / 255
		variance[j] = want[j] * (1 - want[j]) / n
	}
	wantMean(t, what, got, want, variance)
}

func binarizationInTraining(t *testing.T, e engine.Engine, job func(engine.Algorithm, engine.Data) engine.Job) {
	a := presets[1].algorithm()
	a.BatchSize = 2
	p := machine(engine.ZeroOne, len(levels), 2)
	trainer := newTrainer(t, e, job(a, grayRows(2)), engine.NewState(a, p))
	var rows [][]uint8
	same, steps := 0, many(2000)
	for range steps {
		x := gradients(t, trainer).Wake.States[0]
		for b := range a.BatchSize {
			datum := x[b*a.Samples*len(levels) : (b+1)*a.Samples*len(levels)]
			first := datum[:len(levels)]
			if !slices.Equal(datum, slices.Repeat(first, a.Samples)) {
				t.Fatal("the samples of a datum do not share its visible units")
			}
			rows = append(rows, first)
		}
		if last := rows[len(rows)-a.BatchSize:]; slices.Equal(last[0], last[1]) {
			same++
		}
		step(t, trainer, 0)
	}
	if same > steps/2 { // a tenth is expected
		t.Errorf("the data have the same draws in %d of %d steps", same, steps)
	}
	wantLevels(t, "over steps and data", rows)
}

// binarizationInEvaluation uses a machine whose parameters are 0 except the visible biases. Its
// weights depend only on x, so they are the same for all samples of a datum if x is drawn once.
func binarizationInEvaluation(t *testing.T, e engine.Engine) {
	const samples = 1500
	p := engine.NewParameters(engine.Architecture{Units: []int{len(levels), 2}})
	for j := range levels {
		p.Generative[0].Row(j)[0] = float32(int(1) << j)
	}
	model := newModel(t, e, p)
	data := grayRows(30)
	weights := must(model.LogWeights(t.Context(), data, samples, seed))(t)
	different := map[string]bool{}
	for r := range data.Rows {
		own := weights[r*samples : (r+1)*samples]
		if spread := slices.Max(own) - slices.Min(own); !(spread <= 1e-3) {
			t.Errorf("the log weights of datum %d differ by %v: x is not drawn once", r, spread)
		}
		different[fmt.Sprintf("%.0f", own[0])] = true
	}
	if len(different) < 5 {
		t.Errorf("30 data of the same values have only %d different draws", len(different))
	}

	data = grayRows(4000)
	inferred := must(model.Infer(t.Context(), data, 2, seed))(t)
	var rows [][]uint8
	for r := 0; r < inferred.Rows; r += 2 {
		first := inferred.States[0][r*data.Units : (r+1)*data.Units]
		if second := inferred.States[0][(r+1)*data.Units : (r+2)*data.Units]; !slices.Equal(first, second) {
			t.Fatal("the samples of a datum do not share its visible units")
		}
		rows = append(rows, first)
	}
	wantLevels(t, "over data", rows)
}

func threshold(t *testing.T, e engine.Engine) {
	data := grayRows(3)
	data.Stochastic = false
	inferred := must(newModel(t, e, machine(engine.PlusMinusOne, len(levels), 2)).Infer(t.Context(), data, 1, seed))(t)
	for k, on := range inferred.States[0] {
		if v := data.Bytes()[k]; (on == 1) != (v >= 128) {
			t.Errorf("a unit of value %d is %d", v, on)
		}
	}
}
