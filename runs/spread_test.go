package runs

import (
	"encoding/json"
	"math"
	"testing"
)

func TestNoEvaluationsHaveNoSpreads(t *testing.T) {
	if over := FindingsOver(nil); over != nil {
		t.Errorf("they have %v", over)
	}
}

func TestSpread(t *testing.T) {
	identity := func(x float64) float64 { return x }
	nan := math.NaN()
	for _, test := range []struct {
		values     []float64
		mean, sd   float64
		text, json string
	}{
		{[]float64{2, 4, 9}, 5, math.Sqrt(13), "5.00 ± 3.61", `{"mean":5,"sd":3.605551275463989}`},
		{[]float64{2, nan, 4}, 3, math.Sqrt2, "3.00 ± 1.41", `{"mean":3,"sd":1.4142135623730951}`},
		{[]float64{3}, 3, nan, "3.00", `{"mean":3,"sd":null}`},
		{[]float64{-5.8371e31}, -5.8371e31, nan, "-5.837e+31", `{"mean":-5.8371e+31,"sd":null}`},
		{[]float64{nan}, nan, nan, "NaN", `{"mean":null,"sd":null}`},
	} {
		s := SpreadOf(test.values, identity)
		same := func(a, b float64) bool { return math.Abs(a-b) < 1e-12 || math.IsNaN(a) && math.IsNaN(b) }
		if !same(s.Mean, test.mean) || !same(s.SD, test.sd) || s.Text(2) != test.text {
			t.Errorf("%v have spread %v, written %q; want %v, %v and %q", test.values, s, s.Text(2), test.mean, test.sd, test.text)
		}
		if text, err := json.Marshal(Spread{test.mean, test.sd}); err != nil || string(text) != test.json {
			t.Errorf("%v is in JSON %s (%v), want %s", s, text, err, test.json)
		}
		var back Spread
		if err := json.Unmarshal([]byte(test.json), &back); err != nil || !same(back.Mean, test.mean) || !same(back.SD, test.sd) {
			t.Errorf("%s is read as %v (%v), want %v", test.json, back, err, s)
		}
	}
}
