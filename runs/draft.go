package runs

import (
	"maps"
	"slices"
)

// Draft is an experiment in the making, whose family describes its settings as rows: flags point into
// it.
type Draft struct {
	Family string
	Noun   string
	*Base
	Settings   func() []Hyperparameter // the rows, as the settings are now
	Experiment func() Experiment       // with the settings as they are now
	// Read takes all settings from the text of an experiment file of the family.
	Read func(text []byte) error
}

// NewDraft returns a draft of the usual experiment of a family. It is nil if the family does not
// describe its settings as rows, or is no part of this program.
func NewDraft(family string) *Draft {
	of, err := registered(family)
	if err != nil || of.draft == nil {
		return nil
	}
	return of.draft()
}

// Families returns the names of the families that this program has, in their order.
func Families() []string {
	families.RLock()
	defer families.RUnlock()
	return slices.Sorted(maps.Keys(families.all))
}

func (f *Family[S, M]) draft() *Draft {
	e := f.Empty()
	return &Draft{
		Family: f.Name, Noun: f.Noun, Base: &e.Base, Settings: e.rows,
		Experiment: func() Experiment { return e },
		Read: func(text []byte) (err error) {
			e, err = f.Parse(text)
			return err
		},
	}
}
