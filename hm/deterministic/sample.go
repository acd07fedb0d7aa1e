package deterministic

import "github.com/helmholtz-go/helmholtz/internal/philox"

// Draw draws n states of all units from the generative network, whose units are
// stochastic and binary (On Helmholtz Machines, 10): the top layer from its biases, each layer from
// the states of the one above. Sample i has a row of zeros and ones for each
// layer, the data first; it depends on seed and i only.
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
