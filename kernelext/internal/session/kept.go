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

// KeepData keeps a data set under a name.
func (s *Session) KeepData(name string, set *dataset.Set) error {
	if err := CheckName("data set", name); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept[name] = set
	return nil
}

// Data returns the data set that KeepData kept under a name.
func (s *Session) Data(name string) (*dataset.Set, error) {
	s.mu.Lock()
	set := s.kept[name]
	s.mu.Unlock()
	if set != nil {
		return set, nil
	}
	err := fmt.Errorf("no data set %q is kept, and no other: session.KeepData keeps one until the kernel is restarted", name)
	if others := s.DataNames(); len(others) > 0 {
		err = fmt.Errorf("no data set %q is kept%s: the kept names are %s", name, names.Meant(name, others...), strings.Join(others, ", "))
	}
	if isNamed(name) {
		err = fmt.Errorf("%w; dataset.Open(%q) opens the data set of this name", err, name)
	}
	return nil, err
}

// DataNames lists the names of the kept data sets.
func (s *Session) DataNames() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.kept))
}

// Drop forgets the data set that is kept under a name. A run that trains on the data continues.
func (s *Session) Drop(name string) error {
	_, err := s.Data(name)
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.kept, name)
	return err
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
	sets = slices.AppendSeq(sets, maps.Values(s.kept))
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
