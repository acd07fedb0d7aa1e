package session

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"weak"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/runs"
)

// kept is what is kept under a name: a model as safetensors, a data set, or both.
type kept struct {
	model []byte // nil if there is none
	set   *dataset.Set
}

// Keep keeps a model, as safetensors, under a name.
func (s *Session) Keep(name string, model []byte) error {
	if model == nil {
		model = []byte{}
	}
	return s.keep("model", name, func(k *kept) { k.model = model })
}

// KeepData keeps a data set under a name.
func (s *Session) KeepData(name string, set *dataset.Set) error {
	return s.keep("data set", name, func(k *kept) { k.set = set })
}

func (s *Session) keep(kind, name string, change func(*kept)) error {
	if err := CheckName(kind, name); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.kept[name]
	change(&k)
	s.kept[name] = k
	return nil
}

// under returns what is kept under a name.
func (s *Session) under(name string) kept {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.kept[name]
}

// Model returns the model that Keep kept under a name.
func (s *Session) Model(name string) ([]byte, error) {
	if k := s.under(name); k.model != nil {
		return k.model, nil
	}
	err := notKept("model", "session.KeepModel", name, s.Models())
	if slices.Contains(s.names(), name) {
		err = fmt.Errorf("%w; the model of the run with this name is session.Run(%q).Model()", err, name)
	}
	return nil, err
}

// Data returns the data set that KeepData kept under a name.
func (s *Session) Data(name string) (*dataset.Set, error) {
	if k := s.under(name); k.set != nil {
		return k.set, nil
	}
	err := notKept("data set", "session.KeepData", name, s.DataNames())
	if isNamed(name) {
		err = fmt.Errorf("%w; dataset.Open(%q) opens the data set of this name", err, name)
	}
	return nil, err
}

func notKept(kind, method, name string, others []string) error {
	if len(others) == 0 {
		return fmt.Errorf("no %s %q is kept, and no other: %s keeps one until the kernel is restarted", kind, name, method)
	}
	return fmt.Errorf("no %s %q is kept: the kept names are %s", kind, name, strings.Join(others, ", "))
}

// Models lists the names of the kept models.
func (s *Session) Models() []string { return s.keptNames(func(k kept) bool { return k.model != nil }) }

// DataNames lists the names of the kept data sets.
func (s *Session) DataNames() []string { return s.keptNames(func(k kept) bool { return k.set != nil }) }

// Kept lists the names of the kept models and data sets.
func (s *Session) Kept() []string { return s.keptNames(func(kept) bool { return true }) }

func (s *Session) keptNames(which func(kept) bool) (names []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(s.kept)) {
		if which(s.kept[name]) {
			names = append(names, name)
		}
	}
	return names
}

// Drop forgets the model and the data set that are kept under a name. A run that trains on the data
// continues.
func (s *Session) Drop(name string) error {
	s.mu.Lock()
	_, there := s.kept[name]
	delete(s.kept, name)
	s.mu.Unlock()
	if there {
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
	sets := []*dataset.Set{s.opened[h.Fingerprint].Value()}
	for _, k := range s.kept {
		sets = append(sets, k.set)
	}
	if r := s.runs[name]; r != nil {
		sets = append(sets, r.set)
	}
	s.mu.Unlock()
	if i := slices.IndexFunc(sets, same); i >= 0 {
		return sets[i], nil
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
