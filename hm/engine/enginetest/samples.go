package enginetest

import (
	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/hm/engine/oracle"
)

func oracleStates(d engine.Draws) []oracle.State {
	states := make([]oracle.State, d.Rows)
	for r := range states {
		for _, layer := range d.States {
			units := len(layer) / d.Rows
			on := make([]bool, units)
			for j, s := range layer[r*units : (r+1)*units] {
				on[j] = s == 1
			}
			states[r] = append(states[r], on)
		}
	}
	return states
}

// oracleSamples converts the samples of a step for the oracle, given the number of samples per
// datum.
func oracleSamples(g engine.Gradients, samples int) oracle.Samples {
	s := oracle.Samples{Dreams: oracleStates(g.Dreams)}
	wake := oracleStates(g.Wake)
	for first := 0; first < len(wake); first += samples {
		s.Wake = append(s.Wake, wake[first:first+samples])
	}
	return s
}
