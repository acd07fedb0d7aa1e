package boltzmann

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/runs"
)

// A snapshot of a machine has the tensors that runs/TENSORS.md lists, and the fields of header as JSON.

type header struct {
	MachineSpec
	Deviation *float64 `json:"deviation,omitempty"` // hides MachineSpec.Deviation, since headers omit it
	Below     []int    `json:"below,omitempty"`     // hidden units of the machines below
	// DoubledBelow is the doubled side of the lowest machine below.
	DoubledBelow Doubled       `json:"doubled_below,omitempty"`
	BesideBelow  [][]int       `json:"beside_below,omitempty"` // second pathways of the machines below, if they have any
	Shape        dataset.Shape `json:"shape"`                  // how the visible units form an image
	Slots        int           `json:"slots"`                  // number of slots of the optimiser
	Chains       int           `json:"chains"`                 // persistent chains, at all temperatures
	Rungs        int           `json:"rungs,omitempty"`
	LogFactor    float64       `json:"log_factor,omitempty"` // logarithm of cosine-rate's factor of the learning rate
}

// tensors returns the named tensors of the state, sharing its memory.
func (s state) tensors() []runs.Tensor {
	list := parameterTensors("", s.parameters)
	for i, m := range s.moments {
		list = append(list, parameterTensors(fmt.Sprintf("moment.%d.", i), m)...)
	}
	list = append(list,
		runs.Tensor{Name: "offsets.visible", Shape: []int{len(s.visibleOffsets)}, Data: s.visibleOffsets},
		runs.Tensor{Name: "offsets.hidden", Shape: []int{len(s.hiddenOffsets)}, Data: s.hiddenOffsets})
	list = append(list, s.below.tensors()...)
	if s.standard != nil {
		list = append(list,
			runs.Tensor{Name: "data.means", Shape: []int{len(s.standard.means)}, Data: s.standard.means},
			runs.Tensor{Name: "data.deviations", Shape: []int{len(s.standard.deviations)}, Data: s.standard.deviations})
	}
	if s.persistent.Rows > 0 {
		list = append(list, runs.Tensor{Name: "chains.hidden", Shape: []int{s.persistent.Rows, s.persistent.Cols}, Data: s.persistent.Data})
	}
	for k, r := range s.rungs {
		list = append(list, parameterTensors(fmt.Sprintf("rung.%d.", k), r.of.Parameters)...)
		list = append(list, runs.Tensor{Name: fmt.Sprintf("rung.%d.reservoir", k), Shape: []int{r.reservoir.Rows, r.reservoir.Cols}, Data: r.reservoir.Data})
	}
	return list
}

func parameterTensors(prefix string, p *Parameters) []runs.Tensor {
	list := []runs.Tensor{
		{Name: prefix + "weights", Shape: []int{p.Visible(), p.Hidden()}, Data: p.Weights.Data},
		{Name: prefix + "biases.visible", Shape: []int{p.Visible()}, Data: p.VisibleBiases},
		{Name: prefix + "biases.hidden", Shape: []int{p.Hidden()}, Data: p.HiddenBiases},
	}
	if p.LogVariances != nil {
		list = append(list, runs.Tensor{Name: prefix + "log_variances", Shape: []int{len(p.LogVariances)}, Data: p.LogVariances})
	}
	return list
}

// snapshot returns the snapshot of a state, for images of a shape. It shares the state's memory.
func (s state) snapshot(shape dataset.Shape) (runs.Snapshot, error) {
	text, err := json.Marshal(header{
		MachineSpec: s.parameters.Spec,
		Below:       s.below.units(), DoubledBelow: s.below.doubled(), BesideBelow: s.below.beside(), Shape: shape, Slots: len(s.moments), Chains: s.persistent.Rows, Rungs: len(s.rungs), LogFactor: s.logFactor,
	})
	return runs.Snapshot{Step: s.step, Header: text, Tensors: s.tensors()}, err
}

func readSnapshot(at runs.Snapshot) (state, dataset.Shape, error) {
	var h header
	if err := json.Unmarshal(at.Header, &h); err != nil {
		return state{}, h.Shape, fmt.Errorf("the description of the machine: %w", err)
	}
	if err := h.check(at.Tensors); err != nil {
		return state{}, h.Shape, err
	}
	p := h.MachineSpec.parameters(h.visible())
	s := state{
		step: at.Step, logFactor: h.LogFactor, parameters: p, below: newStack(h),
		visibleOffsets: make([]float32, p.Visible()), hiddenOffsets: make([]float32, p.Hidden()),
		persistent: kernels.NewMatrix(h.Chains, p.Hidden()),
	}
	if p.LogVariances != nil {
		s.standard = newStandard(p.observed())
	}
	for range h.Slots {
		s.moments = append(s.moments, s.parameters.zeros())
	}
	for range h.Rungs {
		s.rungs = append(s.rungs, lowest(p, h.Chains))
	}
	err := runs.ReadTensors(s.tensors(), at.Tensors)
	for _, r := range s.rungs {
		r.of.refreshAll()
	}
	if err == nil {
		err = s.check()
	}
	return s, h.Shape, err
}

// restore reads a snapshot like readSnapshot, and refuses a state that training of the experiment cannot reach.
func (e Experiment) restore(at runs.Snapshot) (state, dataset.Shape, error) {
	s, shape, err := readSnapshot(at)
	if err == nil {
		err = e.checkState(s, shape)
	}
	return s, shape, err
}

// check refuses tensors with values that training cannot produce.
func (s state) check() error {
	refuse := func(tensor string, value float32, why string) error {
		return fmt.Errorf("the tensor %s has the value %v: %s", tensor, value, why)
	}
	joined := func(prefix string, p *Parameters) error {
		if w := p.disjoint(); w != 0 {
			return refuse(prefix+"weights", w, "weights between layers that are not neighbours, or between pathways, are 0")
		}
		return nil
	}
	err := joined("", s.parameters)
	for i, p := range s.moments {
		err = cmp.Or(err, joined(fmt.Sprintf("moment.%d.", i), p))
	}
	for k, r := range s.rungs {
		err = cmp.Or(err, joined(fmt.Sprintf("rung.%d.", k), r.of.Parameters))
		states, data := bernoulli{}.check(r.reservoir.Data), r.of.Spec.Visible.aspects().units(r.of.Spec.Categories)
		for row := range r.reservoir.Rows {
			states = cmp.Or(states, data.check(kernels.Row(r.reservoir, row)[:r.of.observed()]))
		}
		if states != nil {
			err = cmp.Or(err, fmt.Errorf("the tensor rung.%d.reservoir has %w", k, states))
		}
	}
	if err != nil {
		return err
	}
	for l, p := range append(s.below[:len(s.below):len(s.below)], s.parameters) {
		name := "log_variances"
		if l < len(s.below) {
			name = fmt.Sprintf("below.%d.log_variances", l)
		}
		for _, z := range p.LogVariances {
			if variance := float32(math.Exp(float64(z))); variance == 0 || math.IsInf(float64(variance), 0) {
				return refuse(name, z, "variances are finite, and above 0")
			}
		}
	}
	if s.standard != nil {
		for _, d := range s.standard.deviations {
			if d <= 0 {
				return refuse("data.deviations", d, "deviations are above 0")
			}
		}
	}
	if err := s.parameters.hiddenUnits().check(s.persistent.Data); err != nil {
		return fmt.Errorf("the tensor chains.hidden has %w", err)
	}
	return nil
}

// visible returns the number of visible units. In a belief network these are the hidden units of the machine
// below.
func (h header) visible() int {
	return slices.Concat([]int{h.Shape.Units()}, h.Below)[len(h.Below)]
}

// check refuses descriptions of impossible machines, and of machines with more numbers than the tensors hold.
func (h header) check(tensors []runs.Tensor) error {
	values := 0
	for _, t := range tensors {
		values += t.Size()
	}
	if min(h.Shape.Height, h.Shape.Width, h.Hidden) < 1 || max(h.Shape.Height, h.Shape.Width, h.Hidden, h.Chains) > values || min(h.Slots, h.Chains, h.Categories) < 0 || h.Slots > Adam.slots() || !(math.Abs(h.LogFactor) <= mostFactor) {
		return fmt.Errorf("no machine is for images of %v with %d hidden units, %d slots and %d chains, in %d values", h.Shape, h.Hidden, h.Slots, h.Chains, values)
	}
	visible, left := h.Shape.Units(), values
	for _, units := range h.Below {
		if units < 1 || visible > left/units {
			return fmt.Errorf("no belief network has machines of %v hidden units below, in %d values", h.Below, values)
		}
		left -= visible * units
		visible = units
	}
	if len(h.Above) > 0 && (!h.plain() || slices.Min(h.Above) < 1 || slices.Max(h.Above) > values) {
		return fmt.Errorf("no machine of %v visible units has hidden layers of %v", h.Visible, names.Layers(h.layers(visible)[1:]))
	}
	if err := h.checkUnits(visible); err != nil {
		return err
	}
	if even, odd := sides(h.layers(visible + h.Classes)); even > values/odd || h.Chains > values/odd || h.Rungs < 0 || h.Rungs > values/(even*odd) || h.Rungs > 0 && h.Chains > values/even/h.Rungs {
		return fmt.Errorf("%d visible and %d hidden units with %d chains have more numbers than the %d of the file", visible, h.Hidden, h.Chains, values)
	}
	return nil
}

// checkState refuses a state that training of the experiment cannot reach.
func (e Experiment) checkState(s state, shape dataset.Shape) error {
	if laddered := e.Method.Algorithm == Trajectories; laddered != (len(s.rungs) > 0) {
		return fmt.Errorf("a ladder of %d rungs does not fit the algorithm %v: only ptt has a ladder, with at least the lowest rung", len(s.rungs), e.Method.Algorithm)
	}
	machine, slots, chains, wanted := s.parameters.Spec, len(s.moments), s.persistent.Rows, e.Method.keptChains()
	describe := func(m MachineSpec) string {
		return fmt.Sprintf("%v visible and %s %v hidden units, categories of %d and %d, %d classes, doubled %v, %v beside",
			m.Visible, names.Layers(m.layers(0)[1:]), m.HiddenUnits, m.Categories, m.HiddenCategories, m.Classes, m.Doubled, m.Beside)
	}
	if describe(machine) == describe(e.Machine) && (s.below != nil) == (e.Below != nil) && slots == e.Method.Optimizer.slots() && chains == wanted {
		return nil
	}
	return fmt.Errorf("the parameters belong to another machine or method (images of %v; %s; %d slots of the optimiser, %d persistent chains) than the experiment (%s; %d, %d)",
		shape, describe(machine), slots, chains, describe(e.Machine), e.Method.Optimizer.slots(), wanted)
}
