package session

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/hm/dataset"
)

// Keep keeps a model, as safetensors, under a name.
func (s *Session) Keep(name string, model []byte) error { return s.models.keep(name, model) }

// Model returns the model of a name that Keep kept.
func (s *Session) Model(name string) ([]byte, error) { return s.models.get(name) }

// Models lists the names of the models that are kept.
func (s *Session) Models() []string { return s.models.names() }

// KeepData keeps a data set under a name.
func (s *Session) KeepData(name string, set *dataset.Set) error { return s.data.keep(name, set) }

// Data returns the data set of a name that KeepData kept.
func (s *Session) Data(name string) (*dataset.Set, error) { return s.data.get(name) }

// DataNames lists the names of the data sets that are kept.
func (s *Session) DataNames() []string { return s.data.names() }

// dataOf returns the data of an experiment: those that the run of the name has,
// that are kept or that another run has opened, if they are the same. Else it
// opens those that are stored with the run or that the experiment names.
func (s *Session) dataOf(name string, e hm.Experiment) (*dataset.Set, error) {
	same := func(set *dataset.Set) bool {
		return set != nil && set.Fingerprint() == e.Fingerprint && reflect.DeepEqual(set.Spec(), e.Dataset)
	}
	s.mu.Lock()
	r, opened := s.runs[name], s.opened[e.Fingerprint]
	s.mu.Unlock()
	if r != nil && same(r.set) {
		return r.set, nil
	}
	if set, ok := s.data.find(same); ok {
		return set, nil
	}
	if same(opened) {
		return opened, nil
	}
	set, err := e.OpenDataset(s.Dir(name))
	if err != nil {
		if !slices.ContainsFunc(dataset.List(), func(i dataset.Info) bool { return i.Name == e.Dataset.Name }) {
			err = fmt.Errorf("the session cannot open the data set %s: if a cell made it from rows, keep it first by session.KeepData(%q, set) (%w)",
				e.Dataset.Name, e.Dataset.Name, err)
		}
		return nil, err
	}
	if !set.MadeFromRows() {
		s.mu.Lock()
		s.opened[set.Fingerprint()] = set
		s.mu.Unlock()
	}
	return set, nil
}
