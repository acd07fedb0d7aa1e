package deterministic

import "fmt"

// Parameters are the weights and biases of both networks of a machine, or the
// derivatives of its free energy with respect to them.
type Parameters struct {
	Flat        []float64 // all of them; the layers are views of it
	Recognition []Layer   // Recognition[l] computes layer l+1 from layer l
	Generative  []Layer   // Generative[l] computes layer l from layer l+1, the last from its biases alone
}

// Layer is the connections that enter a layer of one of the networks.
type Layer struct {
	Units, Parents int
	Weights        []float64 // Units × Parents, row-major
	Biases         []float64 // Units
}

// Row returns the weights that enter unit j.
func (l Layer) Row(j int) []float64 { return l.Weights[j*l.Parents : (j+1)*l.Parents] }

func (l Layer) check(parents []float64) {
	if len(parents) != l.Parents {
		panic(fmt.Sprintf("deterministic: %d values for a layer of %d units", len(parents), l.Parents))
	}
}

func newParameters(units []int) *Parameters {
	top := len(units) - 1
	size := units[top]
	for l := range top {
		size += units[l]*(units[l+1]+1) + units[l+1]*(units[l]+1)
	}
	p := &Parameters{Flat: make([]float64, size)}
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
