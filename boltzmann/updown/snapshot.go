package updown

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/helmholtz-go/helmholtz/boltzmann"
	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/runs"
)

// A snapshot of a network has the tensors that runs/TENSORS.md lists, and the fields of header as JSON.

const priorPrefix = "prior."

type header struct {
	Units []int           `json:"units"` // of v to h^K
	Shape dataset.Shape   `json:"shape"` // how v forms an image
	Prior json.RawMessage `json:"prior"` // as package boltzmann describes it
}

// snapshot returns the state of training, sharing its memory.
func (m *Model) snapshot() (runs.Snapshot, error) {
	prior, err := m.learner.Snapshot()
	if err != nil {
		return runs.Snapshot{}, err
	}
	text, err := json.Marshal(header{m.units(), m.shape, prior.Header})
	if err != nil {
		return runs.Snapshot{}, err
	}
	s := runs.Snapshot{Step: m.step, Header: text, Tensors: m.tensors()}
	for _, tensor := range prior.Tensors {
		tensor.Name = priorPrefix + tensor.Name
		s.Tensors = append(s.Tensors, tensor)
	}
	return s, nil
}

func (n network) tensors() (list []runs.Tensor) {
	for name, l := range n.layers() {
		list = append(list,
			runs.Tensor{Name: name + ".weights", Shape: []int{l.weights.Rows, l.weights.Cols}, Data: l.weights.Data},
			runs.Tensor{Name: name + ".biases", Shape: []int{len(l.biases)}, Data: l.biases})
	}
	return list
}

// read returns the model of a snapshot of training.
func read(e Experiment, at runs.Snapshot) (*Model, dataset.Shape, error) {
	var h header
	fail := func(err error) (*Model, dataset.Shape, error) { return nil, h.Shape, err }
	if err := json.Unmarshal(at.Header, &h); err != nil {
		return fail(fmt.Errorf("the description of the network: %w", err))
	}
	if err := h.check(at.Tensors); err != nil {
		return fail(err)
	}
	var own []runs.Tensor
	of := runs.Snapshot{Step: at.Step, Header: h.Prior}
	for _, tensor := range at.Tensors {
		if name, is := strings.CutPrefix(tensor.Name, priorPrefix); is {
			tensor.Name = name
			of.Tensors = append(of.Tensors, tensor)
		} else {
			own = append(own, tensor)
		}
	}
	prior, err := boltzmann.ReadPrior(of, e.Settings.Method.prior(), e.Seed)
	if err != nil {
		return fail(fmt.Errorf("the prior: %w", err))
	}
	m := newModel(newNetwork(h.Units), h.Shape, prior, e)
	m.step = at.Step
	if of, top := m.prior.Parameters().Visible(), h.Units[len(h.Units)-1]; of != top {
		return fail(fmt.Errorf("the prior has %d units, the uppermost layer has %d", of, top))
	}
	return m, h.Shape, runs.ReadTensors(m.tensors(), own)
}

// check refuses descriptions of impossible networks, and of networks with more numbers than the tensors hold.
func (h header) check(tensors []runs.Tensor) error {
	values := 0
	for _, t := range tensors {
		values += t.Size()
	}
	if len(h.Units) < 2 || slices.Min(h.Units) < 1 || min(h.Shape.Height, h.Shape.Width) < 1 || max(h.Shape.Height, h.Shape.Width) > values || h.Shape.Units() != h.Units[0] {
		return fmt.Errorf("no network of layers of %v units is for images of %v", h.Units, h.Shape)
	}
	for l, left := 1, values; l < len(h.Units); l++ {
		if h.Units[l-1] > left/h.Units[l]/2 {
			return fmt.Errorf("layers of %v units have more numbers than the %d of the file", h.Units, values)
		}
		left -= 2 * h.Units[l-1] * h.Units[l]
	}
	return nil
}
