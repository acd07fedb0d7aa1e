// Package thesis is the catalogue of the figures and tables of two theses, (Várady 2025) and
// (BiHM thesis 2016), that report a result, and of the results that slides on deep Boltzmann
// machines, (DBM slides), stand on: their settings, the published numbers, what they claim, by
// what each counts as reproduced, and what makes it here.
package thesis

import (
	"context"
	_ "embed"
	"fmt"
	"maps"
	"strings"

	"github.com/helmholtz-go/helmholtz/notebooks/reproduce"
)

//go:embed criteria.toml
var criteria []byte

//go:embed conclusions.toml
var conclusions []byte

// maker is how a result is made.
type maker struct {
	trainings func(reproduce.Scale) []reproduce.Training
	make      func(*work)
}

// rows are the results that compare trainings, and specials the others, by their ids.
var rows = []map[string]row{mnistRows, fashionRows}

var specials = map[string]maker{
	"varady/fig5.17":   {planned(sleepSteps), makeSleepSteps},
	"varady/fig5.18":   {planned(sleepScales), makeSleepScales},
	"varady/text5.3.7": {planned(manySeeds), makeManySeeds},
	"varady/figD.1":    {planned(dreamers), makeDreamers},
	"varady/figD.2":    {planned(miniMethods), makeMiniCurves},
	"varady/tableD.1":  {planned(miniMethods), makeMiniTable},

	"varady/figC.1":   {planned(threeByThree), makeFigC1},
	"varady/figC.2":   {planned(miniGrid), makeFigC2},
	"varady/figC.3":   {planned(bothGrids), makeFigC3},
	"varady/figC.5":   {of(figC5()), makeFigC5},
	"varady/tableC.1": {of(figC5()), makeTableC1},
	"bihm/table3.1":   {planned(uciPlans), makeTable31},
	"bihm/table3.2":   {planned(uciPlans), makeTable32},

	"varady/fig5.7": {planned(fashionCurves), makeFashionCurves},
	"varady/fig5.9": {planned(fashionDreams), makeFashionDreams},

	"varady/fig6.10": {planned(untrained), makeFig610},
	"varady/figA.1":  {planned(untrained), makeFigA1},

	"varady/fig7.1": {planned(untrained), makeFig71},
	"varady/fig7.2": {planned(untrained), makeFig72},
	"varady/fig7.7": {planned(untrained), makeFig77},

	"varady/fig5.8":  {of(fig58), makeFig58},
	"varady/fig5.12": {of(fig512), makeFig512},
	"varady/fig5.19": {of(fig519()), makeFig519},
	"varady/fig6.8":  {of(fig68()), makeFig68},
	"varady/fig7.3":  {planned(fig73), makeFig73},
	"varady/fig7.8":  {of(fig78), makeFig78},
	"varady/fig7.9":  {of(fig79), makeFig79},
	"varady/figC.6":  {of(figC6()), makeFigC6},
	"bihm/fig3.9":    {planned(largeFacesPlan), makeFig39},
	"bihm/fig3.10":   {planned(largeFacesPlan), makeFig310},

	"boltzmann/rbm": {planned(rbmPlans), makeRBM},
	"boltzmann/dbn": {planned(dbnPlans), makeDBN},
	"boltzmann/dbm": {planned(dbmPlans), makeDBM},
	"natural-rbm":   {planned(metricPlans), makeNatural},
	"fixed-point":   {planned(arithmeticPlans), makeArithmetic},

	"minimnist/optimisers": {planned(miniOptimised), makeMiniOptimisers},
	"minimnist/penalties":  {of(penalisedMini()), makeMiniPenalties},
	"minimnist/entropy":    {planned(miniEntropy), makeMiniEntropy},

	"two-hours":      {planned(twoHoursPlan), makeTwoHours},
	"bihm/table4.1":  {planned(labeledPlans), makeTable41},
	"bihm/text3.7.4": {planned(sevenPlans), makeText374},
	"bihm/fig3.1":    {planned(bihmPlans), makeFig31},
	"bihm/fig3.2":    {planned(bihmPlans), makeFig32},
	"bihm/fig3.3":    {planned(bihmAndRWS), makeFig33},
	"bihm/fig3.5":    {planned(bihmPlans), makeFig35},
	"bihm/fig3.6":    {planned(bihmPlans), makeFig36},
	"bihm/fig3.7":    {planned(bihmFirstPlan), makeFig37},
	"bihm/fig3.8":    {planned(bihmFirstPlan), makeFig38},
	"bihm/fig3.11":   {planned(bihmPlans), makeFig311},
	"bihm/table3.3":  {planned(bihmAndRWS), makeTable33},
	"bihm/text3.6.2": {planned(bihmDepths), makeText362},
	"bihm/text3.7.1": {planned(bihmPlans), makeText371},
	"bihm/text3.7.2": {planned(bihmAndRWS), makeText372},
	"bihm/fig4.1":    {planned(bihmPlans), makeDescent(5, 8, "From a deeper layer samples are noisier and of other digits.", rising)},
	"bihm/fig4.2":    {planned(bihmPlans), makeDescent(9, 12, "Deep layers know little of the digit.", farther(9, 0.8))},
	"bihm/fig4.3":    {planned(bihmPlans), makeDescent(1, 4, "Lower layers keep the digit.", nearer(2, 0.5))},
}

// planned gives the trainings of plans at each scale.
func planned[P interface {
	at(reproduce.Scale) reproduce.Training
}](plans func(reproduce.Scale) []P) func(reproduce.Scale) []reproduce.Training {
	return func(s reproduce.Scale) []reproduce.Training {
		var trainings []reproduce.Training
		for _, p := range plans(s) {
			trainings = append(trainings, p.at(s))
		}
		return trainings
	}
}

// of gives the trainings of a table's cells at every scale.
func of(cells []cell) func(reproduce.Scale) []reproduce.Training {
	return planned(func(reproduce.Scale) []plan { return plansOf(cells) })
}

// Catalog returns all published results, in the order of the documents.
func Catalog() (reproduce.Catalog, error) {
	results, err := reproduce.ParseCriteria("criteria.toml", criteria)
	if err != nil {
		return nil, err
	}
	makers := maps.Clone(specials)
	for _, of := range rows {
		for id, r := range of {
			makers[id] = r.maker()
		}
	}
	var all reproduce.Catalog
	for _, r := range results {
		e := reproduce.Entry{Result: r}
		if m, ok := makers[r.ID]; ok {
			e.Trainings = m.trainings
			e.Make = func(ctx context.Context, w *reproduce.Work) error {
				return untilAnError(func() { m.make(&work{Work: w, ctx: ctx}) })
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

// Published returns what the documents say of the results of which the id is one of the
// patterns, such as varady/table5.1 or bihm/*, as text of several lines: of each its title,
// its numbers, what is claimed, and the note of the catalogue. It refuses a pattern that
// nothing matches.
func Published(patterns ...string) (string, error) {
	all, err := Catalog()
	if err != nil {
		return "", err
	}
	chosen, err := all.Select(patterns...)
	if err != nil {
		return "", err
	}
	var text strings.Builder
	for _, e := range chosen {
		fmt.Fprintf(&text, "%s (%s)\n", e.Title, e.Place)
		for _, n := range e.Numbers {
			fmt.Fprintf(&text, "    %s, %s: %g\n", n.Of, n.Measure, n.Published)
		}
		for _, c := range e.Claims {
			fmt.Fprintf(&text, "    claims: %s\n", c.Says)
		}
		if e.Note != "" {
			fmt.Fprintf(&text, "    %s\n", e.Note)
		}
	}
	return text.String(), nil
}

// Conclusions returns what the documents conclude from the results of the catalogue.
func Conclusions() (reproduce.Conclusions, error) {
	all, err := Catalog()
	if err != nil {
		return reproduce.Conclusions{}, err
	}
	return all.ParseConclusions("conclusions.toml", conclusions)
}
