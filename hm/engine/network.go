package engine

// Network is one of the two networks of a machine.
type Network int

const (
	Generative  Network = iota // p
	Recognition                // q
)

// Layer returns layer i of the network's parameters.
func (n Network) Layer(p *Parameters, i int) Layer {
	if n == Generative {
		return p.Generative[i]
	}
	return p.Recognition[i]
}

// Connection returns the connection of layer i of the network to its parents.
func (n Network) Connection(a Architecture, i int) Connection {
	if n == Generative {
		return a.GenerativeConnection(i)
	}
	return a.RecognitionConnection(i)
}

// Parents returns the layer of the parents of layer i, hⁱ⁺¹ or hⁱ⁻¹. The prior and x in q have no
// parents, so that layer does not exist.
func (n Network) Parents(i int) int {
	if n == Generative {
		return i + 1
	}
	return i - 1
}

func (n Network) String() string {
	if n == Generative {
		return "generative"
	}
	return "recognition"
}
