package deterministic

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/helmholtz-go/helmholtz/runs"
)

// A snapshot of training has float64 tensors
//
//	generative.I         layer I of p, units × (1 + parents): a row a unit, bias first
//	recognition.I        layer I of q, likewise
//	moment.0.NETWORK.I   Adam's mean of the gradient, likewise
//	moment.1.NETWORK.I   Adam's mean of the squared gradient, likewise
//
// and the fields of header as JSON. The steps of Adam are those of the snapshot.

const (
	meanPrefix   = "moment.0."
	squarePrefix = "moment.1."
)

// header describes the machine of a snapshot.
type header struct {
	Activation Activation `json:"activation"`
	Units      []int      `json:"units"` // of the layers, the data first
}

// newSnapshot is the snapshot of a machine and of Adam. It shares no memory with
// them.
func newSnapshot(m *Machine, a *adam) (runs.Snapshot, error) {
	text, err := json.Marshal(header{m.Activation, m.Units})
	if err != nil {
		return runs.Snapshot{}, err
	}
	s := runs.Snapshot{Step: a.step, Header: text}
	s.Tensors = appendTensors(s.Tensors, "", m.Parameters)
	s.Tensors = appendTensors(s.Tensors, meanPrefix, a.mean)
	s.Tensors = appendTensors(s.Tensors, squarePrefix, a.square)
	return s, nil
}

func appendTensors(tensors []runs.Tensor, prefix string, p *Parameters) []runs.Tensor {
	for name, l := range p.layers() {
		values := make([]float64, 0, l.Units*(1+l.Parents))
		for j, bias := range l.Biases {
			values = append(append(values, bias), l.Row(j)...)
		}
		tensors = append(tensors, runs.Tensor{Name: prefix + name, Shape: []int{l.Units, 1 + l.Parents}, Wide: values})
	}
	return tensors
}

// readSnapshot returns the machine and Adam that a snapshot holds.
func readSnapshot(s runs.Snapshot) (*Machine, *adam, error) {
	var h header
	if err := json.Unmarshal(s.Header, &h); err != nil {
		return nil, nil, fmt.Errorf("the description of the machine: %w", err)
	}
	if err := checkUnits(h.Units); err != nil {
		return nil, nil, err
	}
	tensors, values := map[string]runs.Tensor{}, 0
	for _, t := range s.Tensors {
		tensors[t.Name] = t
		values += t.Size()
	}
	if n := size(h.Units); n > values {
		return nil, nil, fmt.Errorf("layers of %v units have %d parameters, the file holds %d values", h.Units, n, values)
	}
	parameters, err := readTensors(tensors, "", h.Units)
	if err != nil {
		return nil, nil, err
	}
	mean, err := readTensors(tensors, meanPrefix, h.Units)
	if err != nil {
		return nil, nil, err
	}
	square, err := readTensors(tensors, squarePrefix, h.Units)
	if err != nil {
		return nil, nil, err
	}
	return &Machine{h.Activation, h.Units, parameters}, &adam{s.Step, mean, square}, nil
}

func readTensors(tensors map[string]runs.Tensor, prefix string, units []int) (*Parameters, error) {
	p := newParameters(units)
	for name, l := range p.layers() {
		t, ok := tensors[prefix+name]
		if !ok {
			return nil, fmt.Errorf("the file lacks tensor %s%s", prefix, name)
		}
		if !slices.Equal(t.Shape, []int{l.Units, 1 + l.Parents}) || t.Wide == nil {
			return nil, fmt.Errorf("tensor %s%s has shape %v, where the layers of %v units ask for [%d %d] of float64", prefix, name, t.Shape, units, l.Units, 1+l.Parents)
		}
		for j := range l.Units {
			row := t.Wide[j*(1+l.Parents) : (j+1)*(1+l.Parents)]
			l.Biases[j] = row[0]
			copy(l.Row(j), row[1:])
		}
	}
	return p, nil
}

// checkMachine refuses another machine than that of the experiment.
func (e Experiment) checkMachine(m *Machine) error {
	if m.Activation == e.Machine.Activation && slices.Equal(m.Units[1:], e.Machine.Layers) {
		return nil
	}
	return fmt.Errorf("the parameters are of another machine (%v, hidden layers of %v units) than the experiment (%v, %v)",
		m.Activation, m.Units[1:], e.Machine.Activation, e.Machine.Layers)
}
