// Package engine defines the interface of engines, which compute whole training steps and whole
// evaluations of Helmholtz machines. Package hm/engine/cpu provides one; others register
// themselves, like database drivers.
package engine

import (
	"fmt"
	"math"

	"github.com/helmholtz-go/helmholtz/internal/names"
)

// Coding is the pair of values that a binary unit shows to the next layer. A unit is on with
// probability σ(a) in either coding.
type Coding int

const (
	ZeroOne      Coding = iota // off 0, on 1
	PlusMinusOne               // off −1, on +1
)

// Off returns the value of a unit that is off.
func (c Coding) Off() float32 {
	if c == PlusMinusOne {
		return -1
	}
	return 0
}

var codingNames = names.New("coding", "01", "pm1")

func (c Coding) String() string                { return codingNames.Name(int(c)) }
func (c Coding) MarshalText() ([]byte, error)  { return codingNames.Marshal(int(c)) }
func (c *Coding) UnmarshalText(t []byte) error { return codingNames.Parse((*int)(c), t) }

// Architecture is the shape of a Helmholtz machine: layers h⁰ = x, h¹ … hᴹ, each connected only to
// its neighbours.
type Architecture struct {
	Units  []int  `json:"units"` // number of units of h⁰ … hᴹ
	Coding Coding `json:"coding"`
	Kinds  []Kind `json:"kinds,omitempty"` // kinds of the units of h⁰ … hᴹ; missing layers are Bernoulli
	// Groups[i] lists the categorical variables of the categorical layer hⁱ in the order of its
	// units. A categorical layer without groups, such as a label, is one variable.
	Groups [][]Group `json:"groups,omitempty"`
	// Convolutions[i] connects hⁱ and hⁱ⁺¹. If it is zero or missing, they are connected densely.
	Convolutions []Convolution `json:"convolutions,omitempty"`
	// Tanh lists the sizes of the deterministic layers z = tanh(V·[1; below]) inside each conditional
	// of p and of q, from the parents to the units. The prior has none.
	Tanh []int `json:"tanh,omitempty"`
	// Classes is the number of classes of a classifier q(y|x,h¹) that belongs to both networks,
	// p(y|x,h¹) = q(y|x,h¹) (BiHM thesis 2016, 4.6), or 0 without a classifier.
	Classes int `json:"classes,omitempty"`
	// HiddenClassifier removes x from the parents of the classifier: q(y|h¹).
	HiddenClassifier bool `json:"hidden_classifier,omitempty"`
}

// Labels returns the number of classes of a label: the units of a categorical top layer, or the
// classes of the classifier, or 0 without labels.
func (a Architecture) Labels() int {
	if a.TopLabels() {
		return a.Units[a.Depth()]
	}
	return a.Classes
}

// ClassifierVisible returns the number of visible units that the classifier sees.
func (a Architecture) ClassifierVisible() int {
	if a.HiddenClassifier {
		return 0
	}
	return a.Units[0]
}

// TopLabels reports whether the label is the top layer (BiHM thesis 2016, 4.2).
func (a Architecture) TopLabels() bool {
	return a.Kind(a.Depth()) == Categorical && a.groups(a.Depth()) == nil
}

// Depth returns M, the number of hidden layers.
func (a Architecture) Depth() int { return len(a.Units) - 1 }

// Visible returns the number of units of x.
func (a Architecture) Visible() int { return a.Units[0] }

// Kind returns the kind of the units of layer i.
func (a Architecture) Kind(i int) Kind {
	if i < len(a.Kinds) {
		return a.Kinds[i]
	}
	return Bernoulli
}

// Off returns the value that a binary unit of layer i shows to the next layer when it is off. When
// on, it shows 1.
func (a Architecture) Off(i int) float32 {
	if a.Kind(i) == Categorical {
		return 0
	}
	return a.Coding.Off()
}

// Check returns an error if no machine can have this architecture.
func (a Architecture) Check() error {
	if len(a.Units) < 2 {
		return fmt.Errorf("a Helmholtz machine needs a visible and at least one hidden layer, got layers %v", a.Units)
	}
	for i, n := range a.Units {
		if n < 1 || n > 1<<18 {
			return fmt.Errorf("layer %d has %d units: use between 1 and %d", i, n, 1<<18)
		}
	}
	if a.Depth() > math.MaxUint8 {
		return fmt.Errorf("%d hidden layers: use at most %d", a.Depth(), math.MaxUint8)
	}
	if len(a.Kinds) > len(a.Units) || len(a.Convolutions) > a.Depth() {
		return fmt.Errorf("kinds of %d layers and %d convolutions do not fit a machine of %d layers: use at most one kind per layer and one convolution between two layers", len(a.Kinds), len(a.Convolutions), len(a.Units))
	}
	for i, k := range a.Kinds {
		if k < Bernoulli || k > Categorical {
			return fmt.Errorf("layer %d has units of kind %v: use %v", i, k, kindNames)
		}
		if k == Categorical && i != a.Depth() && a.groups(i) == nil {
			return fmt.Errorf("layer %d has units of kind %v without groups: only the top layer, %d, can be a label", i, k, a.Depth())
		}
	}
	if err := a.checkGroups(); err != nil {
		return err
	}
	if err := a.checkLabels(); err != nil {
		return err
	}
	if err := a.checkTanh(); err != nil {
		return err
	}
	for i, c := range a.Convolutions {
		if c == (Convolution{}) {
			continue
		}
		if err := c.Check(); err != nil {
			return fmt.Errorf("layers %d and %d: %w", i, i+1, err)
		}
		if c.Fine.Units() != a.Units[i] || c.Coarse().Units() != a.Units[i+1] {
			return fmt.Errorf("layers %d and %d have %d and %d units, but the convolution between them connects grids of %v and %v", i, i+1, a.Units[i], a.Units[i+1], c.Fine, c.Coarse())
		}
	}
	return nil
}

// checkLabels returns an error if no machine can have these labels.
func (a Architecture) checkLabels() error {
	switch top := a.Depth(); {
	case a.Classes < 0 || a.Labels() == 1 || a.Labels() > 255:
		return fmt.Errorf("labels with %d classes: use between 2 and 255", a.Labels())
	case a.Labels() == 0:
		return nil
	case !a.TopLabels():
		return nil
	case a.Classes > 0:
		return fmt.Errorf("a label layer at the top and a classifier of %d classes: use one of the two", a.Classes)
	case top < 2 || a.Kind(top-1) != Bernoulli || len(a.Convolutions) == top && a.Convolutions[top-1] != (Convolution{}):
		return fmt.Errorf("a label layer above layers %v of kinds %v: it needs a hidden layer of Bernoulli units below it, connected densely", a.Units[:top], a.Kinds[:top])
	}
	return nil
}

// Layer is the weight matrix of one layer of units. Row j holds the parameters of unit j, first its
// bias, then one weight per parent, so the logits are a = W·[1; parents]. The prior over hᴹ is the
// layer whose units have no parents.
//
// In general, a row computes one output at each position of the layer's Connection. A layer or a
// group of Gaussian units has first the rows of all μ, then the rows of all a. In a convolution,
// units at different positions share one row per channel.
type Layer struct {
	Units int       // rows
	Width int       // 1 + number of parents: columns
	Data  []float32 // Units × Width, row-major; a view of Parameters.Flat
}

// Row returns row j, bias first.
func (l Layer) Row(j int) []float32 { return l.Data[j*l.Width : (j+1)*l.Width] }

// Parameters holds the parameters of both networks in one flat buffer. A gradient, an optimiser
// slot and a natural gradient have the same shape.
type Parameters struct {
	Architecture Architecture
	Flat         []float32
	// Generative[i] is p(hⁱ | hⁱ⁺¹), i = 0 … M; Generative[M] is the prior.
	Generative []Layer
	// Recognition[i] is q(hⁱ | hⁱ⁻¹), i = 1 … M; Recognition[0] is empty.
	Recognition []Layer
	// Tanh[k−1] holds the k-th tanh layers of all conditionals, first for p, then for q. The layer
	// of a missing conditional is empty.
	Tanh [][2][]Layer
	// Classifier is q(y|x,h¹) with parents [1; x; h¹], or q(y|h¹) with parents [1; h¹], or empty
	// without a classifier. Its parameters follow the parameters of q.
	Classifier Layer
}

// NewParameters returns parameters that are all zero. Flat holds, in this order: p, bottom up, and its tanh layers; q
// and its tanh layers; the classifier.
func NewParameters(a Architecture) *Parameters {
	p := &Parameters{Architecture: a, Flat: make([]float32, a.Size()), Tanh: make([][2][]Layer, len(a.Tanh)), Classifier: a.classifier()}
	rest := p.Flat
	for _, n := range a.Networks() {
		layers := make([]Layer, len(a.Units))
		for i := range layers {
			c := n.Connection(a, i)
			layers[i] = Layer{Units: c.Outputs, Width: c.Inputs, Data: rest[:c.size():c.size()]}
			rest = rest[c.size():]
		}
		*n.layers(p) = layers
	}
	p.Classifier.Data = rest
	return p
}

// classifier returns the classifier's layer, without data.
func (a Architecture) classifier() Layer {
	if a.Classes == 0 {
		return Layer{}
	}
	return Layer{Units: a.Classes, Width: 1 + a.ClassifierVisible() + a.Units[1]}
}

// Clone returns a deep copy of p.
func (p *Parameters) Clone() *Parameters {
	c := NewParameters(p.Architecture)
	copy(c.Flat, p.Flat)
	return c
}

// Size returns the number of parameters of both networks.
func (a Architecture) Size() int {
	classifier := a.classifier()
	return a.GenerativeSize() + a.size(Recognition) + classifier.Units*classifier.Width
}

// GenerativeSize returns the number of parameters of the generative network, which come first in
// Parameters.Flat.
func (a Architecture) GenerativeSize() int { return a.size(Generative) }

// size returns the number of parameters of p or q, with its tanh layers.
func (a Architecture) size(network Network) (size int) {
	for _, n := range a.Networks() {
		for i := range a.Units {
			if n.Base() == network {
				size += n.Connection(a, i).size()
			}
		}
	}
	return size
}

// checkTanh returns an error if no machine can have these tanh layers.
func (a Architecture) checkTanh() error {
	for _, n := range a.Tanh {
		if n < 1 || n > 1<<18 {
			return fmt.Errorf("a tanh layer of %d units: use between 1 and %d", n, 1<<18)
		}
	}
	switch {
	case len(a.Tanh) == 0:
		return nil
	case len(a.Tanh) > mostTanh:
		return fmt.Errorf("%d tanh layers in each conditional: use at most %d", len(a.Tanh), mostTanh)
	case len(a.Convolutions) > 0:
		return fmt.Errorf("tanh layers %v together with convolutions: connect all layers densely, or omit the tanh layers", a.Tanh)
	case a.Labels() > 0:
		return fmt.Errorf("tanh layers %v in a machine with labels: omit one of them", a.Tanh)
	}
	return nil
}

// mostTanh is the largest number of tanh layers in a conditional.
const mostTanh = 16
