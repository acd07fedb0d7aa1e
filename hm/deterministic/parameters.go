package deterministic

import (
	"fmt"
	"iter"
)

// Parameters holds the weights and biases of both networks of a machine, or the derivatives of its free energy
// with respect to them, in nats.
type Parameters struct {
	Flat        []float64 // all parameters; the layers are slices of it
	Recognition []Layer   // Recognition[l] computes layer l+1 from layer l
	Generative  []Layer   // Generative[l] computes layer l from layer l+1; the top layer has only biases
}

// Layer holds the connections that enter a layer of one of the networks.
type Layer struct {
	Units, Parents int
	Weights        []float64 // Units × Parents, row-major
	Biases         []float64 // Units
}

// Row returns the weights that enter unit j, a slice of Weights with one weight per parent.
func (l Layer) Row(j int) []float64 { return l.Weights[j*l.Parents : (j+1)*l.Parents] }

// check panics unless there is a value for each parent.
func (l Layer) check(parents []float64) {
	if len(parents) != l.Parents {
		panic(fmt.Sprintf("deterministic: %d values for a layer with %d parents", len(parents), l.Parents))
	}
}

// size returns the number of parameters of a machine.
func size(units []int) int {
	top := len(units) - 1
	n := units[top]
	for l := range top {
		n += units[l]*(units[l+1]+1) + units[l+1]*(units[l]+1)
	}
	return n
}

func newParameters(units []int) *Parameters {
	top := len(units) - 1
	p := &Parameters{Flat: make([]float64, size(units))}
	rest := p.Flat
	take := func(n int) (taken []float64) {
		taken, rest = rest[:n:n], rest[n:]
		return taken
	}
	layer := func(units, parents int) Layer {
		return Layer{Units: units, Parents: parents, Weights: take(units * parents), Biases: take(units)}
	}
	for l := range top {
		p.Recognition = append(p.Recognition, layer(units[l+1], units[l]))
		p.Generative = append(p.Generative, layer(units[l], units[l+1]))
	}
	p.Generative = append(p.Generative, layer(units[top], 0))
	return p
}

// NewGradient returns zeros in the shape of the machine's parameters.
func (m *Machine) NewGradient() *Parameters { return newParameters(m.Units) }

// layers yields the layers of both networks, with their names in checkpoints: generative.N and recognition.N,
// where N is the layer that is computed.
func (p *Parameters) layers() iter.Seq2[string, Layer] {
	return func(yield func(string, Layer) bool) {
		for l, layer := range p.Generative {
			if !yield(fmt.Sprintf("generative.%d", l), layer) {
				return
			}
		}
		for l, layer := range p.Recognition {
			if !yield(fmt.Sprintf("recognition.%d", l+1), layer) {
				return
			}
		}
	}
}
