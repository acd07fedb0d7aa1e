package oracle

import "iter"

// Machine is a view of a tiny binary machine in bits.
type Machine struct{ *Networks }

// Model yields p(x,h) over bits.
func (m *Machine) Model() iter.Seq2[[][]bool, float64] {
	return func(yield func([][]bool, float64) bool) {
		for v, probability := range m.Networks.Model() {
			s := make([][]bool, len(v))
			for i, layer := range v {
				for _, value := range layer {
					s[i] = append(s[i], value > 0)
				}
			}
			if !yield(s, probability) {
				return
			}
		}
	}
}
