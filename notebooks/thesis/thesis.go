// Package thesis is the catalogue of the figures and tables that report a result in two theses, (Várady 2025)
// and (BiHM thesis 2016), and of the results behind slides on deep Boltzmann machines, (DBM slides). Each entry
// has its settings, the published numbers, its claims, the criteria by which it counts as reproduced, and the
// code that makes it here.
package thesis

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/helmholtz-go/helmholtz/notebooks/reproduce"
)

//go:embed criteria.toml
var criteria []byte

//go:embed conclusions.toml
var conclusions []byte

type maker struct {
	trainings func(reproduce.Scale) []reproduce.Training
	make      func(*work)
}

func by[P interface {
	at(reproduce.Scale) reproduce.Training
}](make func(*work), plans ...P) maker {
	return maker{func(s reproduce.Scale) []reproduce.Training {
		return each(plans, func(p P) reproduce.Training { return p.at(s) })
	}, make}
}

// rows holds the results that compare training runs, and specials the other results, by their ids.
var (
	rows     = []map[string]row{mnistRows, fashionRows, facesRows, gridRows, miniRows, bihmRows, {"estimators/mnist": estimatorsRow()}}
	specials = map[string]maker{
		"varady/text5.3.7": by(makeManySeeds, miniMethod("b-rws"), manySeeds),
		"varady/figD.1":    by(makeDreamers, miniMethod("b-nrws"), miniMethod("c-nrws")),
		"varady/figD.2":    by(makeMiniCurves, miniMethods()...),
		"varady/fig5.7":    by(makeFashionCurves, append([]plan{fashionNRWS}, fashionRates...)...),
		"varady/figC.2":    by(makeFigC2, miniGrid...),
		"varady/figC.3":    by(makeFigC3, slices.Concat(mnistGrid, miniGrid)...),

		"varady/fig6.10": by[plan](makeFig610),
		"varady/figA.1":  by[plan](makeFigA1),
		"varady/fig4.1":  by[plan](makeFig41),
		"varady/fig7.1":  by[plan](makeFig71),
		"varady/fig7.2":  by[plan](makeFig72),
		"varady/fig7.7":  by[plan](makeFig77),

		"bihm/fig3.4-vae": by(makeVAE, vae),

		"bihm/fig3.1":    by(makeFig31, bihmTuned),
		"bihm/fig3.2":    by(makeFig32, bihmTuned),
		"bihm/fig3.5":    by(makeFig35, bihmTuned),
		"bihm/fig3.6":    by(makeFig36, bihmTuned),
		"bihm/fig3.7":    by(makeFig37, bihmFirst),
		"bihm/fig3.8":    by(makeFig38, bihmFirst),
		"bihm/fig3.9":    by(makeFig39, largeFaces),
		"bihm/fig3.11":   by(makeFig311, bihmTuned),
		"bihm/table3.1":  by(makeTable31, uciPlans()...),
		"bihm/table3.2":  by(makeTable32, uciPlans()...),
		"bihm/text3.6.2": by(makeText362, append([]plan{bihmTuned}, withoutLayers()...)...),
		"bihm/text3.7.1": by(makeText371, bihmTuned),
		"bihm/fig4.1":    by(makeDescent(5, 8, "The deeper the layer below which a dream is redrawn, the more of its pixels change.", rising), bihmTuned),
		"bihm/fig4.2":    by(makeDescent(9, 12, "Redrawn below a deep layer, a dream differs almost as much as independent dreams do.", besideIndependent(9, reproduce.Quantity.Over, 0.8)), bihmTuned),
		"bihm/fig4.3":    by(makeDescent(2, 4, "Redrawn below a low layer, a dream differs less than half as much as independent dreams do.", besideIndependent(2, reproduce.Quantity.Under, 0.5)), bihmTuned), // below the first layer a dream stays as it was
		"bihm/table4.1":  by(makeTable41, labeledPlans()...),

		"boltzmann/rbm":         by(makeRBM, rbm),
		"boltzmann/dbn":         by(makeDBN, rbm, dbn),
		"boltzmann/dbm":         by(makeDBM, rbm, dbm),
		"boltzmann/inpainting":  by(makeInpainting, dbm, facesDBM),
		"natural-rbm":           by(makeNatural, eachPair(metrics, metricRates, way.plan)...),
		"estimates-of-log-p":    by(makeEstimates, enumerable...),
		"two-hours":             by(makeTwoHours, twoHours),
		"fixed-point":           arithmetic.maker(),
		"first-try":             {firstTryTrainings, makeFirstTry},
		"tuner":                 by[plan](makeTuner),
		"uci-columns/adult":     columnedMaker("uci/adult"),
		"uci-columns/connect4":  columnedMaker("uci/connect4"),
		"uci-columns/dna":       columnedMaker("uci/dna"),
		"uci-columns/mushrooms": columnedMaker("uci/mushrooms"),
		"minimnist/optimisers":  by(makeMiniOptimisers, miniOptimised()...),
		"boltzmann/chains":      by(makeChains, eachPair(chainKinds, chainRates, way.plan)...),
		"boltzmann/patches":     by(makePatches, patches...),
		"boltzmann/halves":      by(makeHalves, halves...),
		"boltzmann/strokes":     by(makeStrokes, strokes),
		"boltzmann/parts":       by(makeParts, parts),
		"boltzmann/shifts":      by(makeShifts, shifts),
		"boltzmann/tags":        {tagTrainings, makeTags},
		"chorales":              by(makeChorales, chorales...),
		"music/nottingham":      makeMusic("nottingham"),
		"music/piano-midi":      makeMusic("piano-midi"),
		"music/musedata":        makeMusic("musedata"),
	}
)

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
				return untilAnError(func() {
					result := &work{Work: w, ctx: ctx}
					m.make(result)
					result.record()
				})
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

// Published returns what the theses and slides report about the results whose id matches one of the patterns,
// such as varady/table5.1 or bihm/*. For each result, the text has its title, numbers and claims, and the
// note of the catalogue. Published refuses a pattern that matches nothing.
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
			fmt.Fprintf(&text, "    claims: %s\n", cmp.Or(c.Broader, c.Says))
		}
		if e.Note != "" {
			fmt.Fprintf(&text, "    %s\n", e.Note)
		}
	}
	return text.String(), nil
}

// Conclusions returns the conclusions that the theses and slides draw from the results of the catalogue.
func Conclusions() (reproduce.Conclusions, error) {
	all, err := Catalog()
	if err != nil {
		return reproduce.Conclusions{}, err
	}
	return all.ParseConclusions("conclusions.toml", conclusions)
}
