//go:build cuda

package gpu

import (
	"github.com/helmholtz-go/helmholtz/hm/engine"
)

// draws reads the states of a pass, and their log-probabilities under the networks in scored.
func (v *pass) draws(m *memory, scored ...network) engine.Draws {
	d := engine.NewDraws(v.layout.Architecture, v.rows())
	v.read(m, &d, 0, scored...)
	return d
}

// read reads the states and log-probabilities into rows of d, starting at first.
func (v *pass) read(m *memory, d *engine.Draws, first int, scored ...network) {
	for i, units := range v.layout.Units {
		rows, sharing := v.stateRows(i)
		stride := padded(1 + units)
		states := make([]float32, rows*stride)
		download(m, states, v.states[i])
		for r := range v.rows() {
			row := d.States[i][(first+r)*units:][:units]
			for j, s := range states[r/sharing*stride+1:][:units] {
				row[j] = uint8(ifTrue(s > 0))
			}
		}
	}
	for _, n := range scored {
		sums := [2][]float64{d.LogP, d.LogQ}[n][first:]
		scores := make([]float64, v.layout.columns(int(n))*v.rows())
		download(m, scores, v.scores[n])
		for k, score := range scores {
			sums[k%v.rows()] += score
		}
	}
}

func (v *pass) readMeans(m *memory, d *engine.Draws, first int, n network, i int) {
	units := v.layout.Units[i]
	means := make([]float32, v.rows()*padded(units))
	download(m, means, v.means[n][i])
	for r := range v.rows() {
		copy(d.Means[i][(first+r)*units:][:units], means[r*padded(units):])
	}
}

// weightSumSize is the number of values that make up a sum of weights.
const weightSumSize = 5

// weightSum converts values read from the device to the sum of weights of a number of samples.
func weightSum(x []float64, samples int) engine.WeightSum {
	return engine.WeightSum{Count: samples, Largest: x[0], Root: x[1], First: x[2], Second: x[3], Logs: x[4]}
}
