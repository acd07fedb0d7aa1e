package engine

// Network is one of the two networks of a machine, p or q, or all tanh layers at one place inside
// the conditionals of p or of q: Network(n + 2k) has the k-th tanh layers of network n, counted from
// the parents.
type Network int

const (
	Generative  Network = iota // p
	Recognition                // q
)

// Networks returns p, its tanh layers, q and its tanh layers, in the order of Parameters.Flat.
func (a Architecture) Networks() (all []Network) {
	for _, n := range []Network{Generative, Recognition} {
		for k := range len(a.Tanh) + 1 {
			all = append(all, n.Tanh(k))
		}
	}
	return all
}

// Base returns p or q, to which the network belongs.
func (n Network) Base() Network { return n % 2 }

// Tanh returns the k-th tanh layers of p or q, counted from 1, or for 0 the network itself.
func (n Network) Tanh(k int) Network { return n.Base() + Network(2*k) }

// Place returns k for the k-th tanh layers, and 0 for p or q.
func (n Network) Place() int { return int(n / 2) }

// Layer returns layer i of the network's parameters. It is empty if the conditional of layer i does
// not exist or has no such tanh layer.
func (n Network) Layer(p *Parameters, i int) Layer { return (*n.layers(p))[i] }

func (n Network) layers(p *Parameters) *[]Layer {
	switch {
	case n == Generative:
		return &p.Generative
	case n == Recognition:
		return &p.Recognition
	}
	return &p.Tanh[n.Place()-1][n.Base()]
}

// Connection returns the connection of layer i of the network to its parents, or to the tanh layer
// below it. It has no outputs if the layer is empty.
func (n Network) Connection(a Architecture, i int) Connection {
	parents := n.Parents(i)
	switch k := n.Place(); {
	case n == Generative:
		return a.GenerativeConnection(i)
	case parents < 0 || k > 0 && parents > a.Depth():
		return Connection{}
	case k == 0:
		return a.RecognitionConnection(i)
	case k == 1:
		return Connection{Positions: 1, Outputs: a.Tanh[0], Inputs: 1 + a.Units[parents]}
	default:
		return Connection{Positions: 1, Outputs: a.Tanh[k-1], Inputs: 1 + a.Tanh[k-2]}
	}
}

// Parents returns the layer of the parents of layer i, hⁱ⁺¹ or hⁱ⁻¹. The prior and x in q have no
// parents, so that layer does not exist.
func (n Network) Parents(i int) int {
	if n.Base() == Generative {
		return i + 1
	}
	return i - 1
}

func (n Network) String() string {
	if n.Base() == Generative {
		return "generative"
	}
	return "recognition"
}
