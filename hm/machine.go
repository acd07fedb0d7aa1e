package hm

import (
	"errors"
	"fmt"
	"slices"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/statistics"
	"github.com/helmholtz-go/helmholtz/runs"
)

// MachineSpec describes a machine without its visible units, which come from the data.
type MachineSpec struct {
	// Layers lists the numbers of units of the dense hidden layers, bottom up.
	Layers []int `toml:"layers" json:"layers"`
	// Convolutions lists the convolutional hidden layers, which lie below Layers, bottom up.
	Convolutions []Convolution `toml:"conv,omitempty" json:"conv,omitempty"`
	// Units lists the kinds of units of the layers, the visible one first, or one kind for all of
	// them: bernoulli or gaussian. If it is empty, all are bernoulli.
	Units []Kind `toml:"units,omitempty" json:"units,omitempty"`
	// Groups lists the categorical variables of the visible layer and of hidden layers. All units of
	// a layer with groups belong to groups. The layer shows 0 and 1 to the next layer, whatever the
	// coding, and real numbers for groups of real numbers.
	Groups []Groups `toml:"groups,omitempty" json:"groups,omitempty"`
	// Tanh lists the sizes of deterministic tanh layers inside each conditional p(hⁱ|hⁱ⁺¹) and
	// q(hⁱ⁺¹|hⁱ), in the order from the parents to the units. Tanh layers learn by back-propagation
	// through their conditional, always in the Euclidean metric.
	Tanh []int `toml:"tanh,omitempty" json:"tanh,omitempty"`
	// Coding is "pm1" (±1) or "01".
	Coding Coding `toml:"coding" json:"coding"`
	// Weights selects how initial weights are drawn.
	Weights Initialization `toml:"weights" json:"weights"`
	// Bias is the initial bias. Categorical units, tanh layers and the means of Gaussian units start
	// with bias 0 instead.
	Bias float64 `toml:"bias" json:"bias"`
	// LabelLayer selects where the label is: none, top, lower or hidden.
	LabelLayer LabelLayer `toml:"label_layer,omitzero" json:"label_layer,omitzero"`
	// Classes is the number of classes of the label.
	Classes int `toml:"classes,omitzero" json:"classes,omitempty"`
}

// Machine describes a Helmholtz machine: layers of Bernoulli, Gaussian or categorical units, connected
// densely or by convolutions. The generative network is p(x|h¹) … p(hᴹ⁻¹|hᴹ) p(hᴹ) with a learned
// factorised prior, and the recognition network is q(h¹|x) … q(hᴹ|hᴹ⁻¹). A Machine is a value: each
// setter returns a changed copy.
type Machine struct {
	shape dataset.Shape
	spec  MachineSpec
}

// New returns a machine for images of a shape, with the settings of the NRWS thesis (Várady 2025,
// App. A.2): units coded ±1, truncated Glorot-normal weights, biases −1. It has no hidden layers
// yet.
func New(shape dataset.Shape) Machine {
	return Machine{shape: shape, spec: MachineSpec{Coding: PlusMinusOne, Bias: -1}}
}

// Dense adds hidden layers of the given numbers of units, bottom up.
func (m Machine) Dense(units ...int) Machine {
	m.spec.Layers = slices.Concat(m.spec.Layers, units)
	return m
}

// Convolve adds a hidden layer that is connected to the layer below by a convolution. Convolutional
// layers lie below dense ones, in whatever order they are added.
func (m Machine) Convolve(c Convolution) Machine {
	m.spec.Convolutions = slices.Concat(m.spec.Convolutions, []Convolution{c})
	return m
}

// Units sets the kind of units of all layers, or one kind per layer, the visible one first.
func (m Machine) Units(kinds ...Kind) Machine {
	m.spec.Units = slices.Clone(kinds)
	return m
}

// Groups divides the units of a layer, usually the visible one, into categorical variables. The zero
// value of Groups stands for the columns of the data set.
func (m Machine) Groups(groups ...Groups) Machine {
	m.spec.Groups = slices.Clone(groups)
	return m
}

// Tanh puts deterministic tanh layers of the given sizes inside each conditional of p and of q. The
// sizes are in the order from the parents to the units.
func (m Machine) Tanh(units ...int) Machine {
	m.spec.Tanh = slices.Clone(units)
	return m
}

// Coding sets the coding of all Bernoulli units. Gaussian units always show their values.
func (m Machine) Coding(c Coding) Machine { m.spec.Coding = c; return m }

// Weights sets how initial weights are drawn.
func (m Machine) Weights(i Initialization) Machine { m.spec.Weights = i; return m }

// Bias sets the initial biases.
func (m Machine) Bias(b float64) Machine { m.spec.Bias = b; return m }

// Labels adds a label with the given number of classes, for semi-supervised learning with BiHM.
func (m Machine) Labels(layer LabelLayer, classes int) Machine {
	m.spec.LabelLayer, m.spec.Classes = layer, classes
	return m
}

// Spec returns the machine's description without its visible units.
func (m Machine) Spec() MachineSpec {
	s := m.spec
	s.Layers, s.Convolutions, s.Units, s.Groups, s.Tanh = slices.Clone(s.Layers), slices.Clone(s.Convolutions), slices.Clone(s.Units), slices.Clone(s.Groups), slices.Clone(s.Tanh)
	return s
}

// Architecture returns the machine's layers of units, the visible one first.
func (m Machine) Architecture() engine.Architecture { return m.spec.architecture(m.shape) }

// architecture returns the architecture of a machine for images of a shape. A layer has no units if
// its convolution is impossible.
func (s MachineSpec) architecture(shape dataset.Shape) engine.Architecture {
	a := engine.Architecture{Units: []int{shape.Units()}, Coding: s.Coding, Tanh: slices.Clone(s.Tanh)}
	grid := engine.Grid{Height: shape.Height, Width: shape.Width, Channels: 1}
	for _, convolution := range s.Convolutions {
		c := convolution.above(grid)
		grid = engine.Grid{}
		if c.Check() == nil {
			grid = c.Coarse()
		}
		a.Units = append(a.Units, grid.Units())
		a.Convolutions = append(a.Convolutions, c)
	}
	a.Units = append(a.Units, s.Layers...)
	if slices.ContainsFunc(s.Units, func(k Kind) bool { return k != Bernoulli }) {
		a.Kinds = slices.Clone(s.Units)
		if len(s.Units) == 1 {
			a.Kinds = slices.Repeat(s.Units, len(a.Units))
		}
	}
	s.addGroups(&a)
	s.addLabels(&a)
	return a
}

// check returns an error if the machine is impossible for images of the given shape. name is the name
// of the data set in the error.
func (s MachineSpec) check(shape dataset.Shape, name string) error {
	if err := runs.Nameless(s); err != nil {
		return err
	}
	hidden := len(s.Convolutions) + len(s.Layers)
	if hidden == 0 {
		return fmt.Errorf("machine without hidden layers: add some, such as Dense(100, 50, 20) or --layers 100,50,20")
	}
	for i, n := range s.Layers {
		if n < 1 {
			return fmt.Errorf("hidden layer %d has %d units: use at least one unit per layer", len(s.Convolutions)+i+1, n)
		}
	}
	if !statistics.Finite(s.Bias) {
		return fmt.Errorf("initial bias %v: use a finite number", s.Bias)
	}
	if slices.Contains(s.Groups, Groups{}) {
		return errors.New("groups = data: only an experiment knows its data set; write the groups out, such as 42*3, or ask the experiment")
	}
	if n := len(s.Units); n > 1 && n != 1+hidden {
		return fmt.Errorf("units of %d layers for a machine of %d: use one kind for all, or one for each, the visible one first", n, 1+hidden)
	}
	if len(s.Convolutions) > 0 && shape.Height == 1 {
		return fmt.Errorf("convolution %v over the rows of %s, which are not images (shape %v): use dense layers, or a set of images", s.Convolutions[0], name, shape)
	}
	a := s.architecture(shape)
	for i, c := range a.Convolutions {
		if err := c.Check(); err != nil {
			return fmt.Errorf("convolution %v, hidden layer %d: %w", s.Convolutions[i], i+1, err)
		}
	}
	return a.Check()
}

func (e Experiment) checkUnits(a engine.Architecture) error {
	switch binarization := e.Dataset.Binarization; {
	case a.Kind(0) == Bernoulli && (binarization == dataset.Gray || binarization == dataset.Real):
		return fmt.Errorf("visible Bernoulli units need 0 or 1, but the data has grey levels or real numbers: use --binarization stochastic or fixed, make the visible units gaussian with --units, or, in a table with numbers, add --groups data")
	case a.Kind(0) == Gaussian && binarization != dataset.Gray && binarization != dataset.Real:
		return fmt.Errorf("visible Gaussian units for data that become 0 or 1 (binarization %v): keep the grey levels with --binarization grey, or real numbers with real", binarization)
	}
	if e.Method.Phases == Reinforce && e.Method.ReinforceBaseline == OptimalBaseline && len(a.Tanh) > 0 {
		return fmt.Errorf("reinforce_baseline = optimal with tanh = %v: this baseline is optimal for each weight of a unit, but tanh layers share the scores of the units; use constant, learned or none", a.Tanh)
	}
	if m := e.Method; slices.Contains(a.Kinds, Gaussian) && (m.Entropy != 0 || m.EntropyEstimator != 0) {
		return fmt.Errorf("an entropy regulariser with Gaussian units: their entropy is unbounded; omit it, or use Bernoulli units")
	}
	for i := 1; i < len(a.Units); i++ {
		if e.Method.Phases == JointStochastic && a.Kind(i) == Gaussian {
			return fmt.Errorf("hidden layer %d of Gaussian units with the phases jsa, whose chains hold binary states: use bernoulli units there, or other phases", i)
		}
	}
	return nil
}
