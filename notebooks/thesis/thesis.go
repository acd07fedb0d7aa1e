// Package thesis is the catalogue of the figures and tables that report a result in two theses, (Várady 2025)
// and (BiHM thesis 2016), and of the results behind slides on deep Boltzmann machines, (DBM slides). Each entry
// has its settings, the published numbers, its claims, the criteria by which it counts as reproduced, and the
// code that makes it here.
package thesis

import (
	"context"
	_ "embed"
	"fmt"
	"maps"

	"github.com/helmholtz-go/helmholtz/notebooks/reproduce"
)

//go:embed criteria.toml
var criteria []byte

//go:embed conclusions.toml
var conclusions []byte

// made returns an entry, without its criteria, whose result some function makes from the runs of trainings.
func made(trainings func(reproduce.Scale) []reproduce.Training, make func(*work)) reproduce.Entry {
	return reproduce.Entry{Trainings: trainings, Make: func(ctx context.Context, of *reproduce.Work) error {
		return untilAnError(func() {
			w := &work{Work: of, ctx: ctx}
			make(w)
			w.record()
		})
	}}
}

func by[P interface {
	at(reproduce.Scale) reproduce.Training
}](make func(*work), plans ...P) reproduce.Entry {
	return made(func(s reproduce.Scale) []reproduce.Training {
		return each(plans, func(p P) reproduce.Training { return p.at(s) })
	}, make)
}

// searching returns an entry that compares several ways of training, each at the rates that are tried at a scale.
func searching[W any](make func(*work), ways []W, rates []float64, at func(W, float64) training) reproduce.Entry {
	return made(func(s reproduce.Scale) []reproduce.Training {
		return eachPair(ways, tried(s, rates), func(way W, η float64) reproduce.Training { return at(way, η).at(s) })
	}, make)
}

// chapters hold the results by their ids.
var chapters = []map[string]reproduce.Entry{
	bihmEntries, mnistEntries, fashionEntries, facesEntries, gridEntries, miniEntries, boltzmannEntries, otherEntries, tagEntries,
	musicEntries, linearEntries, linesEntries, adversarialEntries, uciEntries, settingEntries, untrainedEntries,
}

// Catalog returns all published results, in the order of the documents.
func Catalog() (reproduce.Catalog, error) {
	results, err := reproduce.ParseCriteria("criteria.toml", criteria)
	if err != nil {
		return nil, err
	}
	entries := map[string]reproduce.Entry{}
	for _, chapter := range chapters {
		maps.Copy(entries, chapter)
	}
	var all reproduce.Catalog
	for _, r := range results {
		e := entries[r.ID]
		e.Result = r
		all = append(all, e)
	}
	for id := range entries {
		if _, err := all.Select(id); err != nil {
			return nil, fmt.Errorf("criteria.toml has no result %s", id)
		}
	}
	return all, nil
}

// Conclusions returns the conclusions that the theses and slides draw from the results of the catalogue.
func Conclusions() (reproduce.Conclusions, error) {
	all, err := Catalog()
	if err != nil {
		return reproduce.Conclusions{}, err
	}
	return all.ParseConclusions("conclusions.toml", conclusions)
}
