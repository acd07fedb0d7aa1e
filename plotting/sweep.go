package plotting

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/runs"
)

// Sweep draws what the settings of a sweep reached: against each setting that is a
// number (SweepCurves), and against each pair of these (SweepMap), with names for their
// files. Settings that take one value are left out, and where none has reached anything yet
// there is nothing to draw.
func Sweep(r runs.SweepReport) iter.Seq2[string, *Figure] {
	var keys []string
	for i, key := range r.Keys {
		values := map[float64]bool{}
		for _, s := range r.Settings {
			values[settingValue(s.Values[i])] = true
		}
		numbers := !slices.ContainsFunc(r.Settings, func(s runs.SettingReport) bool { return math.IsNaN(settingValue(s.Values[i])) })
		if numbers && len(values) > 1 && reached(r) {
			keys = append(keys, key)
		}
	}
	return func(yield func(string, *Figure) bool) {
		for i, key := range keys {
			if !yield(key, SweepCurves(r, key)) {
				return
			}
			for _, other := range keys[:i] {
				if !yield(other+","+key, SweepMap(r, other, key)) {
					return
				}
			}
		}
	}
}

var errNothingReached = errors.New("no setting of the sweep has reached anything yet: wait until all seeds of one have finished")

// reached says whether any setting of a report has reached anything.
func reached(r runs.SweepReport) bool {
	return slices.ContainsFunc(r.Settings, func(s runs.SettingReport) bool { return !math.IsNaN(s.Value().Mean) })
}

// varying is the place of a setting among those that vary in a report, by its full name or, where
// no other ends alike, by the last part of it.
func varying(r runs.SweepReport, name string) (at int, err error) {
	ends := names.Ending(r.Keys, name)
	switch len(ends) {
	case 1:
		return slices.Index(r.Keys, ends[0]), nil
	case 0:
		return -1, fmt.Errorf("no setting %q varies: give one of %s", name, strings.Join(r.Keys, ", "))
	}
	return -1, fmt.Errorf("%q can be %s: write the whole name", name, strings.Join(ends, " or "))
}

// mostCurves are as many as can be told apart.
const mostCurves = 8

// SweepCurves draws what the settings of a sweep reached against key, one that is a number:
// a curve for each combination of the others, with bars of one standard deviation over
// the seeds where there are several. A setting of which a seed has failed is left out. Where
// there are more than can be told apart there is one curve, of the best of all.
func SweepCurves(r runs.SweepReport, key string) *Figure {
	at, err := varying(r, key)
	if err != nil {
		return failed(err)
	}
	if !reached(r) {
		return failed(errNothingReached)
	}
	label, sign := loss(r.Objective)
	settings := inOrderOf(r, at)
	name := func(s runs.SettingReport) string { return others(r, s, at) }
	names := map[string]bool{}
	for _, s := range settings {
		names[name(s)] = true
	}
	if len(names) > mostCurves {
		name = func(runs.SettingReport) string { return "best of all other settings" }
		seen := map[float64]bool{}
		r := r.ByBest()
		r.Settings = slices.DeleteFunc(r.Settings, func(s runs.SettingReport) bool {
			x := settingValue(s.Values[at])
			worse := seen[x] || math.IsNaN(s.Value().Mean)
			seen[x] = true
			return worse
		})
		settings = inOrderOf(r, at)
	}
	curves := map[string]*Measured{}
	for _, s := range settings {
		if curves[name(s)] == nil {
			curves[name(s)] = &Measured{Name: name(s)}
		}
		curves[name(s)].add(settingValue(s.Values[at]), sign*s.Value().Mean, s.Value().SD)
	}
	var measured []Measured
	for _, name := range slices.Sorted(maps.Keys(curves)) {
		if len(curves[name].X) > 0 {
			curves[name].nameSpread()
			measured = append(measured, *curves[name])
		}
	}
	return Measurements(Axis{Label: r.Keys[at], Logarithmic: spansDecades(r, at)}, Axis{Label: label}, measured...)
}

// add adds a value where there is one, with its standard deviation where it is known.
func (m *Measured) add(x, y, sd float64) {
	if math.IsNaN(y) {
		return
	}
	m.X, m.Y, m.Spread = append(m.X, x), append(m.Y, y), append(m.Spread, sd)
}

// nameSpread says what the spreads are, where some are known; others are of one seed, and none is
// drawn.
func (m *Measured) nameSpread() {
	if !slices.ContainsFunc(m.Spread, func(sd float64) bool { return !math.IsNaN(sd) }) {
		m.Spread = nil
		return
	}
	m.SpreadName = "± 1 sd over seeds"
	for i, sd := range m.Spread {
		if math.IsNaN(sd) {
			m.Spread[i] = 0
		}
	}
}

// SweepMap draws what the settings of a sweep reached as a map over two that are
// numbers: the best of all others. A cell of which all settings have lost a seed is crossed out.
func SweepMap(r runs.SweepReport, x, y string) *Figure {
	column, err := varying(r, x)
	if err != nil {
		return failed(err)
	}
	row, err := varying(r, y)
	if err != nil {
		return failed(err)
	}
	if !reached(r) {
		return failed(errNothingReached)
	}
	label, sign := loss(r.Objective)
	var cells []Cell
	seen := map[[2]float64]bool{}
	for _, s := range r.ByBest().Settings {
		at := [2]float64{settingValue(s.Values[column]), settingValue(s.Values[row])}
		if !seen[at] {
			cells = append(cells, Cell{at[0], at[1], sign * s.Value().Mean})
		}
		seen[at] = true
	}
	return HeatMap(r.Keys[column], r.Keys[row], label, cells...)
}

// inOrderOf are the settings of a report in the order of one that is a number.
func inOrderOf(r runs.SweepReport, at int) []runs.SettingReport {
	settings := slices.Clone(r.Settings)
	slices.SortStableFunc(settings, func(a, b runs.SettingReport) int {
		return cmp.Compare(settingValue(a.Values[at]), settingValue(b.Values[at]))
	})
	return settings
}

// others names a setting by its values of all keys that vary but one.
func others(r runs.SweepReport, s runs.SettingReport, but int) string {
	var parts []string
	for i, key := range r.Keys {
		varies := slices.ContainsFunc(r.Settings, func(other runs.SettingReport) bool { return other.Values[i] != s.Values[i] })
		if i != but && varies {
			parts = append(parts, key[strings.LastIndex(key, ".")+1:]+" = "+strings.Trim(s.Values[i], `"`))
		}
	}
	return strings.Join(parts, ", ")
}

// spansDecades says whether the values of a setting are positive, and the largest ten
// times the least or more.
func spansDecades(r runs.SweepReport, at int) bool {
	least, most := math.Inf(1), 0.0
	for _, s := range r.Settings {
		least, most = min(least, settingValue(s.Values[at])), max(most, settingValue(s.Values[at]))
	}
	return least > 0 && most >= 10*least
}

// settingValue is the value of a setting, NaN where it is none.
func settingValue(text string) float64 {
	if v, err := strconv.ParseFloat(text, 64); err == nil {
		return v
	}
	return math.NaN()
}
