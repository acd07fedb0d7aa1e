package runs

import (
	"reflect"

	"github.com/helmholtz-go/helmholtz/dataset"
)

// Sets opens data sets, and keeps the last one: trainings that follow each other often
// share it.
type Sets struct {
	spec dataset.Spec
	set  *dataset.Set
}

// Open opens the data of an experiment, for a run in the directory dir.
func (s *Sets) Open(e Experiment, dir string) (*dataset.Set, error) {
	h := e.Header()
	if s.set == nil || !reflect.DeepEqual(s.spec, h.Dataset) {
		set, err := OpenDataset(e, dir)
		if err != nil {
			return nil, err
		}
		s.spec, s.set = h.Dataset, set
	}
	return s.set, h.CheckData(s.set)
}
