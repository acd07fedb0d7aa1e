package engine

// Network identifies one of the two networks of a machine, p or q, or the tanh layers at one place
// inside all conditionals of p or q. Network(n + 2k) holds the k-th tanh layer, counted from the
// parents, of every conditional of network n.
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

// Base returns the network to which n belongs: p or q.
func (n Network) Base() Network { return n % 2 }

// Tanh returns the k-th tanh layers of the network to which n belongs, counted from 1. For k = 0 it
// returns that network itself.
func (n Network) Tanh(k int) Network { return n.Base() + Network(2*k) }

// Place returns k if n holds the k-th tanh layers, and 0 if n is p or q.
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
	parents, k := n.Parents(i), n.Place()
	prior := parents > a.Depth()
	switch {
	case parents < 0 || prior && k > 0:
		return Connection{}
	case prior:
		return Connection{Positions: 1, Outputs: a.Outputs(i), Inputs: 1}
	case k > 1:
		return Connection{Positions: 1, Outputs: a.Tanh[k-1], Inputs: 1 + a.Tanh[k-2]}
	case k == 1:
		return Connection{Positions: 1, Outputs: a.Tanh[0], Inputs: 1 + a.Units[parents]}
	case len(a.Tanh) > 0:
		return Connection{Positions: 1, Outputs: a.Outputs(i), Inputs: 1 + a.Tanh[len(a.Tanh)-1]}
	}
	if below := min(i, parents); below < len(a.Convolutions) {
		c := a.Convolutions[below]
		if n == Generative && c.Generative {
			return c.connection(c.Fine, c.Coarse(), a.Kind(i), true)
		} else if n == Recognition && c.Recognition {
			return c.connection(c.Coarse(), c.Fine, a.Kind(i), false)
		}
	}
	return Connection{Positions: 1, Outputs: a.Outputs(i), Inputs: 1 + a.Units[parents]}
}

// Parents returns the index of the layer that holds the parents of layer i: i+1 in p, i−1 in q. The
// prior and x in q have no parents: for them, no layer has the returned index.
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
