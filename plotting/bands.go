package plotting

import (
	"errors"
	"fmt"

	"github.com/helmholtz-go/helmholtz/hm"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
)

// A Group is one experiment repeated with several seeds.
type Group struct {
	Name  string
	Seeds []hm.History
}

// SeedBands draws −log p(x) against the epoch, for each group the mean over
// its seeds and a band of one standard deviation (n − 1) to either side:
// training solid, validation dashed. A group is drawn at the epochs that all
// its seeds have, since a mean over those that are left would not be of the
// same runs.
func SeedBands(groups ...Group) *Figure {
	if len(groups) == 0 {
		return failed(errors.New("no groups of seeds to draw: give at least one"))
	}
	panel := newPanel(byEpoch.label, minusLogP)
	panel.X.Tick.Marker = byEpoch.ticks
	f := newFigure(panel)
	validated, banded := false, false
	for i, g := range groups {
		train, err := addSeeds(panel, g, "training", trainPoints, i)
		if err != nil {
			return failed(err)
		}
		banded = banded || train != nil
		f.legend.add(groupLabel(g), sample(in(colour(i), solid)))
		if hasValidation(g.Seeds[0]) {
			if _, err := addSeeds(panel, g, "validation", validationPoints, i); err != nil {
				return failed(err)
			}
			validated = true
		}
	}
	padY(panel)
	f.addLineStyles(validated)
	if banded {
		f.legend.add("mean ± 1 sd", &plotter.Polygon{Color: translucent(ink)}, sample(solid))
	}
	return f
}

func groupLabel(g Group) string {
	if len(g.Seeds) == 1 {
		return g.Name + ", 1 seed"
	}
	return fmt.Sprintf("%s, %d seeds", g.Name, len(g.Seeds))
}

// addSeeds draws the mean and the band of one curve of a group.
func addSeeds(panel *plot.Plot, g Group, what string, points func(hm.History, abscissa) plotter.XYs, i int) (*plotter.Polygon, error) {
	seeds := make([]plotter.XYs, len(g.Seeds))
	for s, h := range g.Seeds {
		seeds[s] = finite(points(h, byEpoch))
	}
	mean, sd := acrossSeeds(seeds)
	if len(mean) == 0 {
		return nil, fmt.Errorf("group %q: there is no epoch at which each of its %d seeds has a finite %s log p", g.Name, len(seeds), what)
	}
	style := solid
	if what == "validation" {
		style = dashed
	}
	band := addBand(panel, mean, sd, colour(i))
	return band, addLine(panel, g.Name, mean, in(colour(i), style))
}

// acrossSeeds returns the mean over the seeds at each x that all of them have,
// and the standard deviation there.
func acrossSeeds(seeds []plotter.XYs) (mean plotter.XYs, sd []float64) {
	values := map[float64][]float64{}
	for _, points := range seeds {
		for _, p := range points {
			values[p.X] = append(values[p.X], p.Y)
		}
	}
	if len(seeds) == 0 {
		return nil, nil
	}
	for _, p := range seeds[0] {
		if len(values[p.X]) == len(seeds) {
			m, s := meanAndSD(values[p.X])
			mean, sd = append(mean, plotter.XY{X: p.X, Y: m}), append(sd, s)
		}
	}
	return mean, sd
}
