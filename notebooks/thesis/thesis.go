// Package thesis is the catalogue of the figures and tables of the two theses, 004
// and 001 of the README, that report a result: their settings, the published numbers,
// what they claim, by what each counts as reproduced, and what makes it here.
package thesis

import (
	"context"
	_ "embed"
	"fmt"

	"github.com/helmholtz-go/helmholtz/notebooks/reproduce"
)

//go:embed criteria.toml
var criteria []byte

// maker is how a result is made.
type maker struct {
	plans func(reproduce.Scale) []plan
	make  func(*work) error
}

// makers are those of results by their ids.
var makers = map[string]maker{
	"004/fig5.17":   {sleepSteps, makeSleepSteps},
	"004/fig5.18":   {sleepScales, makeSleepScales},
	"004/text5.3.7": {manySeeds, makeManySeeds},
	"004/figD.1":    {dreamers, makeDreamers},
	"004/figD.2":    {miniMethods, makeMiniCurves},
	"004/tableD.1":  {miniMethods, makeMiniTable},

	"004/fig5.6":   {mnistTuned, makeMNISTCurves},
	"004/table5.1": {mnistMethods, makeMNISTTable},
}

// Catalogue returns all published results, in the order of the documents.
func Catalogue() (reproduce.Catalogue, error) {
	results, err := reproduce.ParseCriteria("criteria.toml", criteria)
	if err != nil {
		return nil, err
	}
	var all reproduce.Catalogue
	for _, r := range results {
		e := reproduce.Entry{Result: r}
		if m, ok := makers[r.ID]; ok {
			e.Trainings = func(s reproduce.Scale) []reproduce.Training {
				var trainings []reproduce.Training
				for _, p := range m.plans(s) {
					trainings = append(trainings, p.at(s))
				}
				return trainings
			}
			e.Make = func(ctx context.Context, w *reproduce.Work) error {
				return m.make(&work{Work: w, ctx: ctx})
			}
		}
		all = append(all, e)
	}
	for id := range makers {
		if _, err := all.Select(id); err != nil {
			return nil, fmt.Errorf("criteria.toml has no result %s", id)
		}
	}
	return all, nil
}
