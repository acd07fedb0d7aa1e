package thesis

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Softmax regression finds the weights by which classes were drawn.
func TestClassify(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	var x [][]float64
	var classes []uint8
	for range 4000 {
		row := []float64{3 + 2*r.NormFloat64(), r.NormFloat64(), 7}
		class := uint8(0)
		if r.Float64() < 1/(1+math.Exp(-(row[0]-3)+2*row[1])) {
			class = 1
		}
		x, classes = append(x, row), append(classes, class)
	}
	c := classify(x, classes, 2)
	for i, want := range []float64{2, -2, 0} { // of standardised features
		if got := c.weights.At(i, 1) - c.weights.At(i, 0); math.Abs(got-want) > 0.2 {
			t.Errorf("the weight of feature %d is %v, want %v", i, got, want)
		}
	}
}

// The relevant rows stand first, third and fourth.
func TestAveragePrecision(t *testing.T) {
	got := averagePrecision([]float64{0.2, 0.9, 0.5, 0.4, 0.1}, []bool{true, true, false, true, false})
	if want := (1 + 2./3 + 3./4) / 3; math.Abs(got-want) > 1e-15 {
		t.Errorf("the average precision is %v, want %v", got, want)
	}
}
