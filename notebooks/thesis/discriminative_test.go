package thesis

import (
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/helmholtz-go/helmholtz/runs/rivals"
)

// A network learns the exclusive or of two inputs, which logistic regression cannot.
func TestNetworkLearnsExclusiveOr(t *testing.T) {
	rows, labels := [][]float64{{0, 0}, {0, 1}, {1, 0}, {1, 1}}, []uint8{0, 1, 1, 0}
	right := 0
	network := fitPerceptron(rows, labels, 8, 2, 0, 1).scores(rows)
	linear := must(rivals.FitLogistic(rows, labels, 2, 1e-4)).Scores(rows)
	for r, label := range labels {
		if floats.MaxIdx(linear.RawRowView(r)) == int(label) {
			right++
		}
		if got := floats.MaxIdx(network.RawRowView(r)); got != int(label) {
			t.Errorf("the network gives row %v the class %d, want %d", rows[r], got, label)
		}
	}
	if right > 3 {
		t.Errorf("logistic regression has %d rows right, want at most 3", right)
	}
}
