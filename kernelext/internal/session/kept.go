package session

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"weak"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/runs"
)

// Keep keeps a model, as safetensors, under a name.
func (s *Session) Keep(name string, model []byte) error { return s.models.keep(name, model) }

// Model returns the model that Keep kept under a name.
func (s *Session) Model(name string) ([]byte, error) {
	model, err := s.models.get(name)
	if err != nil && slices.Contains(s.names(), name) {
		err = fmt.Errorf("%w; the model of the run with this name is session.Run(%q).Model()", err, name)
	}
	return model, err
}

// Models lists the names of the kept models.
func (s *Session) Models() []string { return s.models.names() }

// KeepData keeps a data set under a name.
func (s *Session) KeepData(name string, set *dataset.Set) error { return s.data.keep(name, set) }

// Data returns the data set that KeepData kept under a name.
func (s *Session) Data(name string) (*dataset.Set, error) {
	set, err := s.data.get(name)
	if err != nil && isNamed(name) {
		err = fmt.Errorf("%w; dataset.Open(%q) opens the data set of this name", err, name)
	}
	return set, err
}

// DataNames lists the names of the kept data sets.
func (s *Session) DataNames() []string { return s.data.names() }

// Kept lists the names of the kept models and data sets.
func (s *Session) Kept() []string {
	names := append(s.Models(), s.DataNames()...)
	slices.Sort(names)
	return slices.Compact(names)
}

// Drop forgets the model and the data set that are kept under a name. A run that trains on the data
// continues.
func (s *Session) Drop(name string) error {
	if model, data := s.models.drop(name), s.data.drop(name); model || data {
		return nil
	}
	kept := s.Kept()
	if len(kept) == 0 {
		return fmt.Errorf("nothing is kept under the name %q or any other name", name)
	}
	return fmt.Errorf("nothing is kept under the name %q%s: the kept names are %s", name, names.Meant(name, kept...), strings.Join(kept, ", "))
}

// dataOf returns the data of an experiment. It reuses an equal set in memory: the set of the run
// with this name, a kept set, or a set that another run has opened. Otherwise it opens the data
// that is stored with the run or that the experiment names.
func (s *Session) dataOf(name string, e runs.Experiment) (*dataset.Set, error) {
	h := e.Header()
	same := func(set *dataset.Set) bool {
		return set != nil && set.Fingerprint() == h.Fingerprint && reflect.DeepEqual(set.Spec(), h.Dataset)
	}
	s.mu.Lock()
	var own *dataset.Set
	if r := s.runs[name]; r != nil {
		own = r.set
	}
	opened := s.opened[h.Fingerprint].Value()
	s.mu.Unlock()
	if same(own) {
		return own, nil
	}
	if set, ok := s.data.find(same); ok {
		return set, nil
	}
	if same(opened) {
		return opened, nil
	}
	set, err := runs.OpenDataset(e, s.Dir(name))
	if err != nil {
		if !isNamed(h.Dataset.Name) && !h.Dataset.IsFile() {
			err = fmt.Errorf("the session cannot open the data set %s: if a cell made it from rows, keep it first with session.KeepData(%q, set) (%w)",
				h.Dataset.Name, h.Dataset.Name, err)
		}
		return nil, err
	}
	if !set.MadeFromRows() {
		s.mu.Lock()
		s.opened[set.Fingerprint()] = weak.Make(set)
		s.mu.Unlock()
	}
	return set, nil
}

// isNamed reports whether a data set comes with the program.
func isNamed(name string) bool {
	return slices.ContainsFunc(dataset.List(), func(i dataset.Info) bool { return i.Name == name })
}

// shelf keeps values of one kind under names. Its methods may be called from several goroutines.
type shelf[T any] struct {
	kind   string // the kind of the values
	method string // the method that adds a value

	mu     sync.Mutex
	values map[string]T
}

func newShelf[T any](kind, method string) *shelf[T] {
	return &shelf[T]{kind: kind, method: method, values: map[string]T{}}
}

// keep stores a value under a name, and forgets the previous one.
func (s *shelf[T]) keep(name string, value T) error {
	if err := CheckName(s.kind, name); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.values[name] = value
	return nil
}

// get returns the value under a name.
func (s *shelf[T]) get(name string) (T, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	value, ok := s.values[name]
	if ok {
		return value, nil
	}
	if len(s.values) == 0 {
		return value, fmt.Errorf("no %s %q is kept, and no other: %s keeps one until the kernel is restarted", s.kind, name, s.method)
	}
	return value, fmt.Errorf("no %s %q is kept: the kept names are %s", s.kind, name, strings.Join(slices.Sorted(maps.Keys(s.values)), ", "))
}

// drop forgets the value under a name, and reports whether there was one.
func (s *shelf[T]) drop(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.values[name]
	delete(s.values, name)
	return ok
}

// find returns a value that satisfies the condition is.
func (s *shelf[T]) find(is func(T) bool) (found T, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, value := range s.values {
		if is(value) {
			return value, true
		}
	}
	return found, false
}

// names lists the names of all values.
func (s *shelf[T]) names() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string{}, slices.Sorted(maps.Keys(s.values))...) // never nil, so that JSON writes an empty list
}
