package session

import (
	"fmt"
	"reflect"
	"slices"
	"weak"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/runs"
)

// dataOf returns the data of an experiment. It reuses an equal set in memory: the set of the run
// with this name, or a set that another run has opened. Otherwise it opens the data
// that is stored with the run or that the experiment names.
func (s *Session) dataOf(name string, e runs.Experiment) (*dataset.Set, error) {
	h := e.Header()
	same := func(set *dataset.Set) bool {
		return set != nil && set.Fingerprint() == h.Fingerprint && reflect.DeepEqual(set.Spec(), h.Dataset)
	}
	s.mu.Lock()
	sets := []*dataset.Set{s.opened[h.Fingerprint].Value()}
	if r := s.runs[name]; r != nil {
		sets = append(sets, r.set)
	}
	s.mu.Unlock()
	if i := slices.IndexFunc(sets, same); i >= 0 {
		return sets[i], nil
	}
	set, err := runs.OpenDataset(e, s.Dir(name))
	if err != nil {
		named := slices.ContainsFunc(dataset.List(), func(i dataset.Info) bool { return i.Name == h.Dataset.Name })
		if !named && !h.Dataset.IsFile() {
			err = fmt.Errorf("the session cannot open the data set %s: if a cell made it from rows, store it first with runs.Claim(experiment, set, %q) (%w)",
				h.Dataset.Name, s.Dir(name), err)
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
