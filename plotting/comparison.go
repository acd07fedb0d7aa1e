package plotting

import "github.com/helmholtz-go/helmholtz/runs"

// Comparison draws the experiments of a comparison as SeedBands does.
func Comparison(c runs.Comparison) *Figure { return SeedBands(groups(c)...) }

// ComparisonByTime draws them as SeedBandsByTime does: what each had reached
// after the same wall-clock time of training.
func ComparisonByTime(c runs.Comparison) *Figure { return SeedBandsByTime(groups(c)...) }

// groups are the experiments by the names of their directories and methods.
func groups(c runs.Comparison) []Group {
	var groups []Group
	for _, e := range c.Experiments {
		groups = append(groups, Group{Name: e.Dir + ": " + e.Method, Seeds: e.Histories()})
	}
	return groups
}
