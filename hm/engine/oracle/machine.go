package oracle

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"

	"github.com/helmholtz-go/helmholtz/hm/engine"
)

// maxUnits bounds the sums over all states to a few million terms.
const maxUnits = 22

// Machine is a view of a tiny binary machine: its methods take and yield bits, and compute what the methods of
// Networks and Explanation of the same names compute of values.
type Machine struct{ *Networks }

// State is a configuration of all layers: State[i][j] reports whether unit j of layer hⁱ is on.
// State[0] is x.
type State [][]bool

// Measure is a Distribution over bits.
type Measure = iter.Seq2[State, float64]

// Samples is Draws in bits.
type Samples struct {
	Wake   [][]State
	Dreams []State
}

// New copies the parameters of a machine. It returns an error if the machine has Gaussian units, or
// more than 22 units in all layers together.
func New(p *engine.Parameters) (*Machine, error) {
	total := 0
	for i, units := range p.Architecture.Units {
		if !p.Architecture.Binary(i) {
			return nil, fmt.Errorf("layers of kinds %v: the oracle enumerates only binary units", p.Architecture.Kinds)
		}
		total += units
	}
	if total > maxUnits {
		return nil, fmt.Errorf("layers %v have %d units, 2^%d states: the oracle enumerates at most %d units",
			p.Architecture.Units, total, total, maxUnits)
	}
	return &Machine{NewNetworks(p)}, nil
}

// Bits returns rows of values of binary units, such as pixels. Units are on where a value is at least ½.
func Bits(rows [][]float64) [][]bool {
	all := make([][]bool, len(rows))
	for r, row := range rows {
		for _, v := range row {
			all[r] = append(all[r], v >= 0.5)
		}
	}
	return all
}

// rows returns rows of bits as values of the visible units.
func (m *Machine) rows(bits [][]bool) [][]float64 {
	all := make([][]float64, len(bits))
	for r, row := range bits {
		for _, on := range row {
			all[r] = append(all[r], m.value(0, on))
		}
	}
	return all
}

// values returns a state as values. It panics if the state does not have the shape of the machine.
func (m *Machine) values(s State) Values {
	v := m.blank()
	if !slices.EqualFunc(s, v, func(bits []bool, values []float64) bool { return len(bits) == len(values) }) {
		panic(fmt.Sprintf("oracle: the state %v does not fit a machine of %v", s, m.Architecture.Units))
	}
	for i, layer := range s {
		for j, on := range layer {
			v[i][j] = m.value(i, on)
		}
	}
	return v
}

func (m *Machine) valuesIn(measure Measure) Distribution {
	return func(yield func(Values, float64) bool) {
		measure(func(s State, probability float64) bool { return yield(m.values(s), probability) })
	}
}

func bitsIn(d Distribution) Measure {
	return func(yield func(State, float64) bool) {
		d(func(v Values, probability float64) bool { return yield(Bits(v), probability) })
	}
}

func (m *Machine) explain(x []bool) Explanation { return m.Explain(m.rows([][]bool{x})[0]) }

// Visible yields every x.
func (m *Machine) Visible() iter.Seq[[]bool] {
	return func(yield func([]bool) bool) {
		m.states(0, 0)(func(v Values, _ float64) bool { return yield(Bits(v)[0]) })
	}
}

func (m *Machine) LogJoint(s State) float64        { return m.LogJointOf(m.values(s)) }
func (m *Machine) LogP(x []bool) float64           { return m.explain(x).LogP() }
func (m *Machine) Bound(x []bool) float64          { return m.explain(x).Bound() }
func (m *Machine) LogPTildeStar(x []bool) float64  { return m.explain(x).LogPTildeStar() }
func (m *Machine) KL(data [][]bool) float64        { return m.Networks.KL(m.rows(data)) }
func (m *Machine) Model() Measure                  { return bitsIn(m.Networks.Model()) }
func (m *Machine) Bidirectional() Measure          { return bitsIn(m.Networks.Bidirectional()) }
func (m *Machine) Dream(rng *rand.Rand) State      { return Bits(m.Networks.Dream(rng)) }
func (m *Machine) Score(measure Measure) []float64 { return m.Networks.Score(m.valuesIn(measure)) }
func DreamMeasure(samples Samples) Measure         { return Equal(samples.Dreams) }

// LogPStar returns log p*(x) = log p̃*(x) − log Z² (BiHM thesis 2016, 3.3). Each call sums over all
// states; for many x, subtract LogZ2 from LogPTildeStar instead.
func (m *Machine) LogPStar(x []bool) float64 { return m.LogPTildeStar(x) - m.LogZ2() }

func (m *Machine) EffectiveSampleSize(x []bool, w Weighting) float64 {
	return m.explain(x).EffectiveSampleSize(w)
}

func (m *Machine) Wake(data [][]bool, w Weighting) Measure {
	return bitsIn(m.Networks.Wake(m.rows(data), w))
}

func (m *Machine) Recognize(x []bool, rng *rand.Rand) State {
	return Bits(m.Networks.Recognize(m.rows([][]bool{x})[0], rng))
}

func (m *Machine) WakeMeasure(samples Samples, w Weighting) Measure {
	draws := Draws{Wake: make([][]Values, len(samples.Wake))}
	for b, datum := range samples.Wake {
		for _, s := range datum {
			draws.Wake[b] = append(draws.Wake[b], m.values(s))
		}
	}
	return bitsIn(m.Networks.WakeMeasure(draws, w))
}

func (m *Machine) Fisher(units []Unit, measure Measure) []Block {
	return m.Networks.Fisher(units, m.valuesIn(measure))
}

func (m *Machine) LocalEntropy(units []Unit, measure Measure) float64 {
	return m.Networks.LocalEntropy(units, m.valuesIn(measure))
}

func (m *Machine) LocalEntropyGradient(units []Unit, measure Measure) []float64 {
	return m.Networks.LocalEntropyGradient(units, m.valuesIn(measure))
}

func (m *Machine) Limit(data [][]bool, r engine.Algorithm) []float64 {
	return m.Networks.Limit(m.rows(data), r)
}

func (m *Machine) Expected(data [][]bool, samples, dreams int, r engine.Algorithm) Estimate {
	return m.Networks.Expected(m.rows(data), samples, dreams, r)
}
