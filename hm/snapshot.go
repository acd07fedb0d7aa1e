package hm

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/runs"
)

// A snapshot of a machine has the tensors that runs/TENSORS.md lists, and the fields of header as JSON.

type header struct {
	engine.Architecture
	// Shape is the shape of the image that the visible units form.
	Shape   dataset.Shape `json:"shape"`
	Refresh int           `json:"refresh"` // step of the last Fisher refresh
}

func newSnapshot(state *engine.State, shape dataset.Shape) (runs.Snapshot, error) {
	text, err := json.Marshal(header{state.Parameters.Architecture, shape, state.RefreshStep})
	if err != nil {
		return runs.Snapshot{}, err
	}
	return runs.Snapshot{Step: state.Step, Header: text, Tensors: tensors(state)}, nil
}

// These are prefixes and names of tensors.
const (
	momentPrefix   = "moment.%d."
	refreshPrefix  = "refresh."
	chainsTensor   = "chains"
	baselineTensor = "baseline"
)

// mostMoments is the number of slots of Adam, the optimiser with the most slots.
const mostMoments = 2

// tensors returns the tensors of a state with their names. They share its memory.
func tensors(state *engine.State) []runs.Tensor {
	all := appendTensors(nil, "", state.Parameters)
	for i, m := range state.Moments {
		all = appendTensors(all, fmt.Sprintf(momentPrefix, i), m)
	}
	if state.RefreshParameters != nil {
		all = appendTensors(all, refreshPrefix, state.RefreshParameters)
	}
	if width := engine.ChainWidth(state.Parameters.Architecture); state.Chains != nil {
		all = append(all, runs.Tensor{Name: chainsTensor, Shape: []int{len(state.Chains) / width, width}, Data: state.Chains})
	}
	if inputs, outputs := engine.BaselineShape(state.Parameters.Architecture); state.Baseline != nil {
		all = append(all, runs.Tensor{Name: baselineTensor, Shape: []int{inputs, outputs}, Data: state.Baseline})
	}
	return all
}

func appendTensors(tensors []runs.Tensor, prefix string, p *engine.Parameters) []runs.Tensor {
	for name, l := range layers(p) {
		tensors = append(tensors, runs.Tensor{
			Name: prefix + name, Shape: []int{l.Units, l.Width}, Data: l.Data,
		})
	}
	return tensors
}

// layers yields the layers of both networks with the names of their tensors.
func layers(p *engine.Parameters) func(yield func(string, engine.Layer) bool) {
	return func(yield func(string, engine.Layer) bool) {
		for _, n := range p.Architecture.Networks() {
			for i := range p.Architecture.Units {
				name := fmt.Sprintf("%v.%d", n, i)
				if k := n.Place(); k > 0 {
					name += fmt.Sprintf(".tanh.%d", k)
				}
				if l := n.Layer(p, i); l.Units > 0 && !yield(name, l) {
					return
				}
			}
		}
		if p.Classifier.Units > 0 {
			yield("classifier", p.Classifier)
		}
	}
}

func readSnapshot(s runs.Snapshot) (*engine.State, dataset.Shape, error) {
	var h header
	if err := json.Unmarshal(s.Header, &h); err != nil {
		return nil, h.Shape, fmt.Errorf("cannot read the description of the machine: %w", err)
	}
	architecture := h.Architecture
	if err := architecture.Check(); err != nil {
		return nil, h.Shape, err
	}
	if visible := architecture.Visible(); min(h.Shape.Height, h.Shape.Width) < 1 || max(h.Shape.Height, h.Shape.Width) > visible || h.Shape.Units() != visible {
		return nil, h.Shape, fmt.Errorf("images of %v do not have %d visible units", h.Shape, architecture.Visible())
	}
	has := func(prefix string) bool {
		return slices.ContainsFunc(s.Tensors, func(t runs.Tensor) bool { return strings.HasPrefix(t.Name, prefix) })
	}
	values, moments, refreshed := 0, 0, has(refreshPrefix)
	for moments < mostMoments && has(fmt.Sprintf(momentPrefix, moments)) {
		moments++
	}
	for _, t := range s.Tensors {
		values += t.Size()
	}
	if size := architecture.Size(); size > values {
		return nil, h.Shape, fmt.Errorf("layers of %v units have %d parameters, but the file has %d values", h.Units, size, values)
	}
	state := &engine.State{Step: s.Step, RefreshStep: h.Refresh, Parameters: engine.NewParameters(architecture)}
	for range moments {
		state.Moments = append(state.Moments, engine.NewParameters(architecture))
	}
	if refreshed {
		state.RefreshParameters = engine.NewParameters(architecture)
	}
	for _, t := range s.Tensors {
		if t.Name == chainsTensor {
			width := engine.ChainWidth(architecture)
			state.Chains = make([]float32, t.Size()/width*width)
		}
		if inputs, outputs := engine.BaselineShape(architecture); t.Name == baselineTensor {
			state.Baseline = make([]float32, outputs*inputs)
		}
	}
	if err := runs.ReadTensors(tensors(state), s.Tensors); err != nil {
		return nil, h.Shape, err
	}
	return state, h.Shape, checkChains(state)
}

func checkChains(state *engine.State) error {
	width := engine.ChainWidth(state.Parameters.Architecture)
	for i, x := range state.Chains {
		if !(x >= 0 && x < 1<<24 && x == float32(uint32(x))) || i%width == 0 && x > 1 {
			return fmt.Errorf("tensor %s has %v at %d, but the states of chains are integers below 2²⁴", chainsTensor, x, i)
		}
	}
	return nil
}

// checkState returns an error if the experiment cannot have reached a state. shape is the shape of the
// images in the snapshot, and rows is the number of training rows.
func (e Experiment) checkState(state *engine.State, shape dataset.Shape, rows int) error {
	algorithm := e.Method.algorithm(0)
	refreshed := state.RefreshParameters != nil
	switch err := e.checkMachine(state.Parameters, shape); {
	case err != nil:
		return err
	case state.RefreshStep < 0 || state.RefreshStep > state.Step:
		return fmt.Errorf("the checkpoint has %d steps and its last refresh at step %d, which is impossible", state.Step, state.RefreshStep)
	case len(state.Moments) != algorithm.Slots():
		return fmt.Errorf("the checkpoint has %d moments, but the optimiser %v keeps %d", len(state.Moments), algorithm.Optimizer, algorithm.Slots())
	case algorithm.Chains && state.Step > 0 && len(state.Chains) != rows*engine.ChainWidth(state.Parameters.Architecture):
		return fmt.Errorf("tensor chains has %d numbers, but %d training rows need %d each", len(state.Chains), rows, engine.ChainWidth(state.Parameters.Architecture))
	case !algorithm.Chains && state.Chains != nil:
		return fmt.Errorf("the checkpoint has a tensor chains, which the phases %s do not have", e.Method.Phases)
	case (state.Baseline != nil) != (algorithm.HasLearnedBaseline() && state.Step > 0):
		return fmt.Errorf("the checkpoint after %d steps with reinforce_baseline = %v wrongly has or lacks a tensor baseline", state.Step, e.Method.ReinforceBaseline)
	case refreshed != (algorithm.Metric != engine.Euclidean && state.Step > 0):
		return fmt.Errorf("the checkpoint after %d steps with metric %v wrongly has or lacks the parameters of a Fisher refresh", state.Step, algorithm.Metric)
	}
	return nil
}

func (e Experiment) checkMachine(p *engine.Parameters, shape dataset.Shape) error {
	got, want := p.Architecture, e.Machine.architecture(shape)
	if !slices.Equal(got.Units, want.Units) || got.Coding != want.Coding ||
		!slices.Equal(got.Kinds, want.Kinds) || !got.EqualGroups(want) || !slices.Equal(got.Convolutions, want.Convolutions) || !slices.Equal(got.Tanh, want.Tanh) || got.Classes != want.Classes || got.HiddenClassifier != want.HiddenClassifier {
		return fmt.Errorf("the parameters belong to another machine (layers of %v units, coding %v) than the experiment (%v, %v)",
			got.Units, got.Coding, want.Units, want.Coding)
	}
	return nil
}
