package plotting

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/helmholtz-go/helmholtz/internal/lists"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/runs"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
)

// A Group is one experiment repeated with several seeds.
type Group struct {
	Name  string
	Seeds []runs.History
	// HeldOut names the rows on which the validation measures of Seeds were computed, if these are
	// not validation rows. The legend shows the HeldOut of the first group.
	HeldOut string
	// Evaluated is the objective that an evaluation after training found, by more samples than training draws or of
	// other rows, as the figure draws it: −log p for most models. Unless it is 0, a dot marks it at the end of the curves.
	Evaluated float64
}

// SeedBands draws the objective, −log p(x) for most models, against the epoch. Each group has the mean
// over its seeds with a band of one standard deviation (n − 1), training solid and validation dashed. A
// group is drawn only at epochs that all its seeds have, because a mean over fewer seeds would describe
// different runs. A thin horizontal line is the baseline, as in Curves.
//
// If values that occur only in the first quarter of the figure would take more than half of its height,
// they are cut off at the top to make the rest legible; set Panels()[0].Y.Max to change that.
func SeedBands(groups ...Group) *Figure { return seedBands(groups, byEpoch) }

// SeedBandsByTime is like SeedBands, but against the wall-clock time of training. Each seed's curve is
// linear between its epochs. A group is drawn from the time at which all its seeds have finished their
// first epoch to the time at which the first of them finishes training.
func SeedBandsByTime(groups ...Group) *Figure {
	x := byTime(seedsOf(groups))
	x.align = interpolated
	return seedBands(groups, x)
}

func seedsOf(groups []Group) []runs.History {
	return slices.Concat(lists.Map(groups, func(g Group) []runs.History { return g.Seeds })...)
}

func seedBands(groups []Group, x abscissa) *Figure {
	if len(groups) == 0 {
		return failed(errors.New("no groups of seeds to draw: give at least one"))
	}
	all := seedsOf(groups)
	objective, err := objective(all)
	if err != nil {
		return failed(err)
	}
	label, _ := loss(objective)
	var curves []curve
	baseline, validated, evaluated := "", false, false
	for i, g := range groups {
		for _, of := range trainedOn {
			if of.heldOut && len(objectivePoints(g.Seeds[0], byEpoch, true)) == 0 {
				continue
			}
			mean, sd := meanOfSeeds(g, x, of.heldOut)
			if len(mean) == 0 {
				return failed(fmt.Errorf("group %q: there is no %s at which each of its %d seeds has a finite %s measure: train them longer", g.Name, x.label, len(g.Seeds), of.name))
			}
			curves = append(curves, curve{what: g.Name, points: mean, spread: sd, style: in(paletteColor(i), of.style)})
			validated = validated || of.heldOut
		}
		if g.Evaluated != 0 {
			ends := curves[len(curves)-1].points
			curves = append(curves, curve{what: g.Name + ", evaluated", points: plotter.XYs{{X: ends[len(ends)-1].X, Y: g.Evaluated}}, spread: []float64{math.NaN()}, style: in(paletteColor(i), dot)})
			evaluated = true
		}
	}
	f, bands := drawn(chart{x: x.label, y: label, xTicks: x.ticks, curves: curves, around: func(p *plot.Plot) {
		cutBeginning(p, curves)
		baseline = addBaselines(p, all)
	}})
	f.groups = len(groups)
	for i, g := range groups {
		f.legend.add(g.Name+", "+names.Count(len(g.Seeds), "seed"), sample(in(paletteColor(i), solid)))
	}
	f.addLineStyles(validated, cmp.Or(groups[0].HeldOut, "validation"))
	f.addBandStyle(bands, "mean ± 1 sd")
	if evaluated {
		f.legend.add("evaluated", &plotter.Scatter{GlyphStyle: marker(dot)})
	}
	f.legend.add(baseline, sample(baselineStyle))
	return f
}

// meanOfSeeds returns the mean and the standard deviation over the seeds of a group.
func meanOfSeeds(g Group, x abscissa, heldOut bool) (mean plotter.XYs, sd []float64) {
	seeds := lists.Map(g.Seeds, func(h runs.History) plotter.XYs { return finite(objectivePoints(h, x, heldOut)) })
	if x.align != nil {
		seeds = x.align(seeds)
	}
	return acrossSeeds(seeds)
}

// cutBeginning cuts off the top of a panel if only the first quarter of the panel needs it and if it is
// more than half of the height. The new top is the maximum of the curves, with their bands, after the
// first quarter. If all curves have few points, they stay whole, because the beginning is a large part of them.
func cutBeginning(panel *plot.Plot, curves []curve) {
	const few = 4
	longest, top := 0, math.Inf(-1)
	begun := panel.X.Min + (panel.X.Max-panel.X.Min)/4
	for _, c := range curves {
		longest = max(longest, len(c.points))
		for j, p := range c.points {
			if !math.IsNaN(c.spread[j]) {
				p.Y += c.spread[j]
			}
			if p.X >= begun {
				top = max(top, p.Y)
			}
		}
	}
	if longest >= few && panel.Y.Max-top > top-panel.Y.Min {
		panel.Y.Max = top
	}
}

// Published adds dotted horizontal lines to a figure of SeedBands or SeedBandsByTime and returns the figure. values[i]
// is the published value of the objective of group i, −log p for most models, or NaN to omit the group. The line has
// the colour of the group's curves. Copies of the figure share its panel, so the lines also appear in them. The figure
// remembers an error for an infinite value, for more values than groups, and if it is another kind of figure.
func (f *Figure) Published(values ...float64) *Figure {
	if f.err == nil && len(values) > f.groups {
		f.err = fmt.Errorf("plotting: there are %d published values for the %d groups of the figure: draw the groups with SeedBands, and give at most one value for each", len(values), f.groups)
	}
	drawn := false
	for i, y := range values {
		if math.IsNaN(y) || f.err != nil {
			continue
		}
		if math.IsInf(y, 0) {
			f.err = fmt.Errorf("plotting: published value %d is %v: use a finite number, or NaN to omit the group", i+1, y)
			break
		}
		panel, style := f.panels[0], in(paletteColor(i), published)
		panel.Add(across(y, style))
		margin := 0.04 * (panel.Y.Max - panel.Y.Min)
		panel.Y.Min, panel.Y.Max = min(panel.Y.Min, y-margin), max(panel.Y.Max, y+margin)
		drawn = true
	}
	if drawn {
		f.legend.add("published", sample(in(ink, published)))
	}
	return f
}

// acrossSeeds returns the mean and the standard deviation over the seeds at each x that all seeds have.
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

// interpolated returns the curves of all seeds at common x: the x of all points of all curves within the
// range that the curves share. It interpolates linearly. The x of each curve must increase.
func interpolated(seeds []plotter.XYs) []plotter.XYs {
	first, last := math.Inf(-1), math.Inf(1)
	var all []float64
	for _, points := range seeds {
		if len(points) == 0 {
			return seeds
		}
		first, last = max(first, points[0].X), min(last, points[len(points)-1].X)
		for _, p := range points {
			all = append(all, p.X)
		}
	}
	slices.Sort(all)
	all = slices.DeleteFunc(slices.Compact(all), func(x float64) bool { return x < first || x > last })
	curves := make([]plotter.XYs, len(seeds))
	for s, points := range seeds {
		for _, x := range all {
			curves[s] = append(curves[s], plotter.XY{X: x, Y: valueAt(points, x)})
		}
	}
	return curves
}

// valueAt returns the value of a curve at an x between its first and its last point.
func valueAt(points plotter.XYs, x float64) float64 {
	i, found := slices.BinarySearchFunc(points, x, func(p plotter.XY, x float64) int { return cmp.Compare(p.X, x) })
	if found {
		return points[i].Y
	}
	a, b := points[i-1], points[i]
	return a.Y + (b.Y-a.Y)*(x-a.X)/(b.X-a.X)
}

// Comparison draws the experiments of a comparison as SeedBands does.
func Comparison(c runs.Comparison) *Figure { return SeedBands(groups(c)...) }

// ComparisonByTime draws the experiments of a comparison as SeedBandsByTime does. It shows what each
// experiment had reached after the same wall-clock time of training.
func ComparisonByTime(c runs.Comparison) *Figure { return SeedBandsByTime(groups(c)...) }

// groups returns the experiments as groups, named after their directories and methods.
func groups(c runs.Comparison) []Group {
	return lists.Map(c.Experiments, func(e runs.Compared) Group { return Group{Name: e.Dir + ": " + e.Method, Seeds: e.Histories()} })
}
