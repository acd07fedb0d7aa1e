package deterministic

import (
	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/philox"
	"github.com/helmholtz-go/helmholtz/runs"
)

// Draw draws n states of all units from the generative network with stochastic binary units (On
// Helmholtz Machines, 10): the top layer from its biases, and each other layer from the states of
// the layer above. Sample i has one row of zeros and ones per layer, the data first. It depends
// only on seed and i. n must not be negative.
func (m *Machine) Draw(seed uint64, n int) [][][]float64 {
	samples := make([][][]float64, n)
	for i := range samples {
		random := philox.NewStream(seed, philox.Ancestral, uint32(i))
		samples[i] = make([][]float64, len(m.Units))
		var above []float64
		for l := m.depth(); l >= 0; l-- {
			states := m.Generate(l, above)
			for j, p := range states {
				states[j] = 0
				if float64(philox.Uniform(random.Uint32())) < p {
					states[j] = 1
				}
			}
			samples[i][l], above = states, states
		}
	}
	return samples
}

// Drawings returns two kinds of drawing: "means", the probabilities of the data given a sample of
// the layer above, and "draws", samples of the data.
func (m *Machine) Drawings() []runs.Drawing {
	shape := dataset.Shape{Height: max(1, m.shape.Height), Width: m.shape.Width}
	return runs.Drawings(runs.Samples(shape, func(n int, seed uint64) (rows, means [][]float64) {
		for _, states := range m.Draw(seed, n) {
			rows, means = append(rows, states[0]), append(means, m.Generate(0, states[1]))
		}
		return rows, means
	})...)
}
