package boltzmann

import (
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/floats"

	"github.com/helmholtz-go/helmholtz/boltzmann/oracle"
	"github.com/helmholtz-go/helmholtz/dataset"
)

// swept returns the means of the even layers of p, with other parameters, after some sweeps of mean field given the
// units of v that the mask does not hide.
func swept(p *Parameters, parameters, v []float64, mask dataset.Mask, sweeps int) []float64 {
	even, odd := p.Visible(), p.Hidden()
	weights, b, c := parameters[:even*odd], parameters[even*odd:even*odd+even], parameters[even*odd+even:]
	sigmoid := func(a float64) float64 { return 1 / (1 + math.Exp(-a)) }
	x, y := make([]float64, even), make([]float64, odd)
	for s := range sweeps + 1 {
		for j := 0; j < odd && s > 0; j++ {
			input := c[j]
			for i := range x {
				input += x[i] * weights[i*odd+j]
			}
			y[j] = sigmoid(input)
		}
		for i := range x {
			if x[i] = sigmoid(b[i] + floats.Dot(weights[i*odd:(i+1)*odd], y)); i < len(v) && !mask[i] {
				x[i] = v[i]
			}
		}
	}
	return x
}

// logPrediction is log q(v_M|v_−M) for the units M that the mask hides.
func logPrediction(p *Parameters, parameters, v []float64, mask dataset.Mask, sweeps int) (sum float64) {
	for i, mean := range swept(p, parameters, v, mask, sweeps)[:len(v)] {
		if mask[i] {
			sum += math.Log(1 - math.Abs(v[i]-mean))
		}
	}
	return sum
}

// Each step of mp on a row follows the gradient, by finite differences, of the prediction of one of its subsets, and all
// 2^V subsets occur equally often, within 4.5 standard errors. Predictions of missing units are the means after the
// sweeps.
func TestMultiPredictionSteps(t *testing.T) {
	const steps = 800
	for _, layers := range depths[1:3] {
		for _, method := range []Method{MP().Steps(3), MP().Steps(1), MP().Steps(3).Centered(false)} {
			m := randomDeepModel(t, layers, 1)
			s, rows := method.OffsetRate(1).spec, split(oracle.Binary(layers[0])[5:6])
			v, before := binary(rows.Row(0)), wide(m.parameters)
			masks := oracle.Binary(layers[0])
			counts, wanted := make([]int, len(masks)), make([][]float64, len(masks))
			for k, states := range masks {
				var mask dataset.Mask
				for _, hidden := range states {
					mask = append(mask, hidden == 1)
				}
				means, err := m.PredictMissing(t.Context(), rows, mask, s.Steps)
				if want := swept(m.parameters, before, v, mask, s.Steps)[:len(v)]; err != nil || !floats.EqualApprox(means[0], want, 1e-6) {
					t.Errorf("%v: units %v are predicted as %v (%v), want %v", layers, mask, means, err, want)
				}
				wanted[k] = fd.Gradient(nil, func(parameters []float64) float64 {
					return logPrediction(m.parameters, parameters, v, mask, s.Steps)
				}, before, &fd.Settings{Formula: fd.Central})
			}
			for step := range steps {
				tr := training(t, m, s, rows)
				tr.step = step
				if _, err := tr.take(t.Context(), 1); err != nil {
					t.Fatal(err)
				}
				got := floats.SubTo(make([]float64, len(before)), wide(tr.parameters), before)
				at := slices.IndexFunc(wanted, func(gradient []float64) bool {
					return floats.EqualApprox(got, deepCenteredStep(tr.parameters, gradient, tr.visibleOffsets, tr.hiddenOffsets), 1e-5)
				})
				if at < 0 {
					t.Fatalf("%v, %v: step %d, %v, follows the prediction of no subset", layers, s, step, got)
				}
				counts[at]++
			}
			share := 1 / float64(len(masks))
			for k, n := range counts {
				if z := (float64(n) - steps*share) / math.Sqrt(steps*share*(1-share)); math.Abs(z) > 4.5 {
					t.Errorf("%v, %v: %d of %d steps predict the units %v, %.1f standard errors from a share of %v", layers, s, n, steps, masks[k], z, share)
				}
			}
		}
	}
}

// Mean field predicts missing units only of deep machines, which alone mp trains.
func TestMultiPredictionRefusals(t *testing.T) {
	restricted, deep := randomModel(t, 3, 2), randomDeepModel(t, depths[1], 1)
	rows := split(oracle.Binary(3))
	for _, test := range []struct {
		m      *Model
		mask   dataset.Mask
		sweeps int
		want   string
	}{{restricted, make(dataset.Mask, 3), 1, "deep"}, {deep, make(dataset.Mask, 2), 1, "3 units"}, {deep, make(dataset.Mask, 3), 0, "at least 1 sweep"}} {
		_, err := test.m.PredictMissing(t.Context(), rows, test.mask, test.sweeps)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("the error is %v, want %q in it", err, test.want)
		}
	}
	set, err := dataset.Spec{Name: "miniglyphs", Subset: 60, Validation: new(20)}.Open()
	if err != nil {
		t.Fatal(err)
	}
	if err := MP().Experiment(New(set.Shape()).Hidden(4), set).Check(set); err == nil || !strings.Contains(err.Error(), "use pl") {
		t.Errorf("the error is %v", err)
	}
}
