package deterministic

import (
	"fmt"
	"math"
	"reflect"
	"testing"
)

// Each state of all units must be as frequent as its probability, within five standard errors.
func TestSamplesFollowTheGenerativeNetwork(t *testing.T) {
	const n = 20_000
	everyMachine(t, func(t *testing.T, m *Machine) {
		counts := map[string]float64{}
		for _, states := range m.Draw(3, n) {
			counts[fmt.Sprint(states)]++
		}
		for _, x := range binaryStates(m.Units[0]) {
			for states, logJoint := range joints(m, x) {
				p := math.Exp(logJoint)
				se := math.Sqrt(p * (1 - p) / n)
				const count = 1.0 / n // at which frequency a state that was met once lies
				if got := counts[fmt.Sprint(states)] / n; !(math.Abs(got-p) <= 5*se+count) {
					t.Errorf("state %v: frequency %v, probability %v ± %v", states, got, p, se)
				}
			}
		}
	})
}

func TestSamplesDependOnSeedAndIndexOnly(t *testing.T) {
	m := shaken(t, NoisyOr, 4, 3, 2)
	few, many := m.Draw(5, 10), m.Draw(5, 20)
	if !reflect.DeepEqual(few, many[:10]) {
		t.Error("the first ten of twenty samples are not the ten samples of the same seed")
	}
	if reflect.DeepEqual(few, m.Draw(6, 10)) {
		t.Error("another seed gives the same samples")
	}
}
