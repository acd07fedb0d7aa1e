package hm

import (
	"fmt"
	"slices"

	"github.com/helmholtz-go/helmholtz/hm/dataset"
	"github.com/helmholtz-go/helmholtz/hm/engine"
)

// Coding is the pair of values that a unit shows to the next layer.
type Coding = engine.Coding

const (
	ZeroOne      = engine.ZeroOne      // off 0, on 1
	PlusMinusOne = engine.PlusMinusOne // off −1, on +1
)

// MachineSpec describes a machine whose visible units are those of the data.
type MachineSpec struct {
	// Layers are the numbers of units of the hidden layers, bottom up.
	Layers []int `toml:"layers" json:"layers"`
	// Coding is "pm1" (±1) or "01".
	Coding Coding `toml:"coding" json:"coding"`
	// Weights is how the weights are drawn at first.
	Weights Initialisation `toml:"weights" json:"weights"`
	// Bias is what the biases are at first.
	Bias float64 `toml:"bias" json:"bias"`
}

// Machine describes a Helmholtz machine: dense layers of Bernoulli units, a
// generative network p(x|h¹) … p(hᴹ⁻¹|hᴹ) p(hᴹ) with a learned factorised prior
// and a recognition network q(h¹|x) … q(hᴹ|hᴹ⁻¹). It is a value: each method
// returns a changed copy.
type Machine struct {
	shape dataset.Shape
	spec  MachineSpec
}

// New describes a machine for images of a shape, with the settings of the NRWS
// thesis (004, App. A.2): units coded ±1, truncated Glorot-normal weights,
// biases −1. It has no hidden layers yet.
func New(shape dataset.Shape) Machine {
	return Machine{shape: shape, spec: MachineSpec{Coding: PlusMinusOne, Bias: -1}}
}

// Dense adds hidden layers of the given numbers of units, bottom up.
func (m Machine) Dense(units ...int) Machine {
	m.spec.Layers = slices.Concat(m.spec.Layers, units)
	return m
}

// Coding sets the coding of all units.
func (m Machine) Coding(c Coding) Machine {
	m.spec.Coding = c
	return m
}

// Weights sets how the weights are drawn at first.
func (m Machine) Weights(i Initialisation) Machine {
	m.spec.Weights = i
	return m
}

// Bias sets what the biases are at first.
func (m Machine) Bias(b float64) Machine {
	m.spec.Bias = b
	return m
}

// Spec is the machine's description without its visible units.
func (m Machine) Spec() MachineSpec { return m.spec }

// Architecture is the machine's layers of units, the visible one first.
func (m Machine) Architecture() engine.Architecture { return m.spec.architecture(m.shape) }

func (s MachineSpec) architecture(shape dataset.Shape) engine.Architecture {
	return engine.Architecture{Units: slices.Concat([]int{shape.Units()}, s.Layers), Coding: s.Coding}
}

func (s MachineSpec) check() error {
	if len(s.Layers) == 0 {
		return fmt.Errorf("machine without hidden layers: add some, such as Dense(100, 50, 20) or --layers 100,50,20")
	}
	for i, n := range s.Layers {
		if n < 1 {
			return fmt.Errorf("hidden layer %d has %d units: give each layer at least one", i+1, n)
		}
	}
	if !finite(s.Bias) {
		return fmt.Errorf("initial bias %v: give a finite number", s.Bias)
	}
	return nil
}
