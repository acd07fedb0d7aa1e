package boltzmann

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/memory"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/internal/philox"
	"github.com/helmholtz-go/helmholtz/runs"
)

// MachineSpec describes a machine. Its visible units are the values of a row.
type MachineSpec struct {
	Hidden  int  `toml:"hidden" json:"hidden"`   // number of hidden units, in the first layer
	Visible Kind `toml:"visible" json:"visible"` // bernoulli, gaussian or categorical
	// Categories is the number of categories of each variable of categorical visible units.
	Categories int `toml:"categories,omitzero" json:"categories,omitempty"`
	// Classes is the number of classes of the label, or 0 without labels.
	Classes int `toml:"classes,omitzero" json:"classes,omitempty"`
	// HiddenUnits is the kind of the hidden units: bernoulli, gaussian or categorical. HiddenCategories is the
	// number of categories of each variable.
	HiddenUnits      Kind `toml:"hidden_units,omitzero" json:"hidden_units,omitempty"`
	HiddenCategories int  `toml:"hidden_categories,omitzero" json:"hidden_categories,omitempty"`
	// Above holds the number of units in each hidden layer above the first, for a deep machine.
	Above []int `toml:"above,omitempty" json:"above,omitempty"`
	// Beside describes a second pathway, such as tags of an image (Srivastava and Salakhutdinov 2012): how many
	// of the last units it takes in v and in each of the lowest hidden layers. No weights join the two pathways.
	// The layers above are shared.
	Beside []int `toml:"beside,omitempty" json:"beside,omitempty"`
	// Doubled is the side that the other side sees doubled if the machine is trained as a layer of a deep
	// machine: neither, visible or hidden.
	Doubled Doubled `toml:"doubled,omitzero" json:"doubled,omitempty"`
	// Deviation is the standard deviation of the normal distribution from which the initial weights are drawn.
	Deviation float64 `toml:"deviation" json:"deviation"`
}

// Machine describes a restricted or a deep Boltzmann machine. It is a value: each setter returns a changed
// copy.
type Machine struct {
	shape dataset.Shape
	spec  MachineSpec
}

// New describes a machine for images of a shape, with Bernoulli units, 500 of them hidden, and initial weights
// of standard deviation 0.01.
func New(shape dataset.Shape) Machine {
	return Machine{shape: shape, spec: MachineSpec{Hidden: 500, Deviation: 0.01}}
}

// Hidden sets the number of hidden units. Several numbers make a deep Boltzmann machine, whose first hidden
// layer is next to the visible units. Weights join each layer to its neighbours.
func (m Machine) Hidden(first int, above ...int) Machine {
	m.spec.Hidden, m.spec.Above = first, slices.Clone(above)
	return m
}

// Visible sets the kind of the visible units, Bernoulli by default.
func (m Machine) Visible(kind Kind) Machine { m.spec.Visible = kind; return m }

// Categorical makes the visible units categorical. Each variable has the given number of categories. The
// units of a variable are adjacent.
func (m Machine) Categorical(categories int) Machine {
	m.spec.Visible, m.spec.Categories = Categorical, categories
	return m
}

// Beside adds a second pathway, such as tags of an image (Srivastava and Salakhutdinov 2012). It takes the
// last units of each layer: visible is their number in v, and hidden holds their number in each of the lowest
// hidden layers. No weights join the two pathways. The layers above are shared.
func (m Machine) Beside(visible int, hidden ...int) Machine {
	m.spec.Beside = slices.Concat([]int{visible}, hidden)
	return m
}

// HiddenUnits sets the kind of the hidden units, Bernoulli by default. Gaussian hidden units have variance 1
// and no bounds, so they need about a tenth of the usual learning rate.
func (m Machine) HiddenUnits(kind Kind) Machine { m.spec.HiddenUnits = kind; return m }

// HiddenCategorical makes the hidden units categorical. Each variable has the given number of categories. The
// units of a variable are adjacent. With one hidden variable and Gaussian visible units, the machine is a
// mixture.
func (m Machine) HiddenCategorical(categories int) Machine {
	m.spec.HiddenUnits, m.spec.HiddenCategories = Categorical, categories
	return m
}

// Labels gives the machine a label with a number of classes, in addition to its visible units. The machine
// then models rows and their labels by p(v,y), and classifies rows by p(y|v) (Larochelle and Bengio 2008;
// Goodfellow et al. 2016, 20.8). Method.Discriminative selects which of the two it learns.
func (m Machine) Labels(classes int) Machine { m.spec.Classes = classes; return m }

// Deviation sets the standard deviation of the initial weights.
func (m Machine) Deviation(σ float64) Machine { m.spec.Deviation = σ; return m }

// String names the number of units in each layer, the visible layer first, and the kinds of units.
func (m Machine) String() string {
	return described(m.spec.layers(m.shape.Units()), m.spec.Visible, m.spec.HiddenUnits, m.spec.Classes)
}

func described(layers []int, visible, hidden Kind, classes int) string {
	kind := "restricted"
	if len(layers) > 2 {
		kind = "deep"
	}
	text := fmt.Sprintf("a %s Boltzmann machine of %s units, %v and %v", kind, names.Layers(layers), visible, hidden)
	if classes > 0 {
		text += fmt.Sprintf(", with a label of %d classes", classes)
	}
	return text
}

// Spec returns the machine's description, without the number of visible units.
func (m Machine) Spec() MachineSpec {
	s := m.spec
	s.Above, s.Beside = slices.Clone(s.Above), slices.Clone(s.Beside)
	return s
}

// layers returns the number of units in v and in each hidden layer.
func (s MachineSpec) layers(visible int) []int {
	return slices.Concat([]int{visible, s.Hidden}, s.Above)
}

// mostCounters and mostUnits are the largest numbers of categorical variables and of other units on a side. A side has
// 2¹⁶ counters of random draws: one for each variable or each four units, and the last one for a label.
const (
	mostCounters = 1<<16 - 1
	mostUnits    = 4 * mostCounters
)

func (s MachineSpec) check(shape dataset.Shape) error {
	if err := runs.Nameless(s); err != nil {
		return err
	}
	layers := s.layers(shape.Units())
	even, odd := sides(layers)
	switch visible := shape.Units(); {
	case visible < 1 || visible > mostUnits:
		return fmt.Errorf("%d visible units: give rows of 1 to %d values", visible, mostUnits)
	case slices.Min(layers) < 1 || max(slices.Max(layers), even, odd) > mostUnits:
		return fmt.Errorf("%v hidden units: give between 1 and %d", names.Layers(layers[1:]), mostUnits)
	case len(s.Above) > 0 && s.Visible != Bernoulli:
		return fmt.Errorf("%v visible units of a deep machine: its units must be Bernoulli; use one hidden layer", s.Visible)
	case len(s.Above) > 0 && s.HiddenUnits != Bernoulli:
		return fmt.Errorf("%v hidden units of a deep machine: its units must be Bernoulli; use one hidden layer", s.HiddenUnits)
	case !(s.Deviation >= 0 && s.Deviation < 100):
		return fmt.Errorf("initial weights of standard deviation %v: give 0 or more; 0.01 is usual", s.Deviation)
	}
	if err := s.checkUnits(shape.Units()); err != nil {
		return err
	}
	bytes := 4 * float64(s.size(shape.Units()))
	return memory.Check(fmt.Sprintf("the parameters of %d visible and %v hidden units", shape.Units(), names.Layers(layers[1:])), bytes, "use fewer hidden units")
}

func (s MachineSpec) checkUnits(visible int) error {
	return runs.First(
		func() error { return s.Visible.checkCategories(s.Categories, visible, "categories", "visible") },
		func() error {
			return s.HiddenUnits.checkCategories(s.HiddenCategories, s.Hidden, "hidden_categories", "hidden")
		},
		s.checkLabels,
		func() error { return s.checkBeside(visible) },
	)
}

// checkBeside refuses a pathway that does not fit the machine.
func (s MachineSpec) checkBeside(visible int) error {
	if len(s.Beside) == 0 {
		return nil
	}
	layers := s.layers(visible)
	if !s.plain() || len(s.Beside) < 2 || len(s.Beside) > len(layers) {
		return fmt.Errorf("beside = %v of %v units: a pathway consists of Bernoulli units of v and of at least one hidden layer, without labels; give its units in each layer, from v on, or leave it out", s.Beside, names.Layers(layers))
	}
	for l, units := range s.Beside {
		if units < 1 || units >= layers[l] {
			return fmt.Errorf("beside = %v of %v units: give between 1 and %d units of layer %d, or leave it out", s.Beside, names.Layers(layers), layers[l]-1, l)
		}
	}
	return nil
}

// Model returns an untrained model of the machine. Its weights are drawn from the seed, and its biases are 0.
// Gaussian visible units have variance 1 and hold grey values as they are. The model reads rows as if it was
// trained with fixed binarisation, or on grey values if its visible units are Gaussian.
func (m Machine) Model(seed uint64) (*Model, error) {
	if err := m.spec.check(m.shape); err != nil {
		return nil, err
	}
	p := m.spec.parameters(m.shape.Units())
	random := rand.New(philox.NewStream(seed, philox.Initialize, 0))
	for k := range p.Weights.Data {
		p.Weights.Data[k] = float32(m.spec.Deviation * random.NormFloat64())
	}
	for i := range p.Visible() {
		p.unjoin(i, kernels.Row(p.Weights, i))
	}
	if err := p.proper(); err != nil {
		return nil, fmt.Errorf("initial weights of standard deviation %v: %w", m.spec.Deviation, err)
	}
	model := &Model{shape: m.shape, parameters: p, seed: seed}
	if p.LogVariances != nil {
		model.encoding = encoding{binarization: dataset.Gray, standard: newStandard(m.shape.Units())}
	}
	return model, nil
}
