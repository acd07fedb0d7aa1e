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

// Sweep draws the results of a sweep against each numeric setting (SweepCurves) and against each pair of
// numeric settings (SweepMap). It yields each figure with a name for its file. It omits settings with a
// single value, and yields no figures before the first result.
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

func reached(r runs.SweepReport) bool {
	return slices.ContainsFunc(r.Settings, func(s runs.SettingReport) bool { return !math.IsNaN(s.Value().Mean) })
}

// varying returns the index of a setting among the settings that vary in a report with results. name is the full name
// of the setting or, if that is unambiguous, the last part of its name.
func varying(r runs.SweepReport, name string) (at int, err error) {
	if len(r.Keys) == 0 {
		return -1, errors.New("the sweep varies no settings: give it an axis")
	}
	ends := names.Ending(r.Keys, name)
	switch {
	case len(ends) == 1 && reached(r):
		return slices.Index(r.Keys, ends[0]), nil
	case len(ends) == 1:
		return -1, errors.New("the sweep has no results yet: wait until all seeds of one setting have finished")
	case len(ends) == 0:
		return -1, fmt.Errorf("no setting %q varies: use one of %s", name, strings.Join(r.Keys, ", "))
	}
	return -1, fmt.Errorf("%q is ambiguous: write %s", name, strings.Join(ends, " or "))
}

// mostCurves is the largest number of curves that can be distinguished.
const mostCurves = 8

// SweepCurves draws the results of a sweep against key, a numeric setting: one curve for each
// combination of the other settings, with bars of one standard deviation over seeds if there are
// several. It omits a combination of settings with a failed seed. If there are too many curves to
// distinguish, it draws a single curve: the best result at each value of key.
func SweepCurves(r runs.SweepReport, key string) *Figure {
	at, err := varying(r, key)
	if err != nil {
		return failed(err)
	}
	label, sign := loss(r.Objective)
	settings := map[string][]runs.SettingReport{}
	for _, s := range r.Settings {
		settings[others(r, s, at)] = append(settings[others(r, s, at)], s)
	}
	if len(settings) > mostCurves {
		seen := map[float64]bool{}
		best := slices.DeleteFunc(r.ByBest().Settings, func(s runs.SettingReport) bool {
			x := settingValue(s.Values[at])
			worse := seen[x]
			seen[x] = true
			return worse
		})
		settings = map[string][]runs.SettingReport{"best of all other settings": best}
	}
	var measured []Measured
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		slices.SortStableFunc(settings[name], func(a, b runs.SettingReport) int {
			return cmp.Compare(settingValue(a.Values[at]), settingValue(b.Values[at]))
		})
		m, known := Measured{Name: name, SpreadName: "± 1 sd over seeds"}, false
		for _, s := range settings[name] {
			v := s.Value()
			if math.IsNaN(v.Mean) { // a seed has failed
				continue
			}
			if math.IsNaN(v.SD) { // there is one seed
				v.SD = 0
			} else {
				known = true
			}
			m.X, m.Y, m.Spread = append(m.X, settingValue(s.Values[at])), append(m.Y, sign*v.Mean), append(m.Spread, v.SD)
		}
		if !known {
			m.Spread = nil
		}
		if len(m.X) > 0 {
			measured = append(measured, m)
		}
	}
	return Measurements(Axis{Label: r.Keys[at], Logarithmic: spansDecades(r, at)}, Axis{Label: label}, measured...)
}

// SweepMap draws the results of a sweep as a map over two numeric settings, x and y. Each cell shows the
// best result over all other settings. It is crossed out if all these settings have a failed seed.
func SweepMap(r runs.SweepReport, x, y string) *Figure {
	column, err := varying(r, x)
	if err != nil {
		return failed(err)
	}
	row, err := varying(r, y)
	if err != nil {
		return failed(err)
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

// others names a setting by the values of all keys that vary, except the key with index but.
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

// spansDecades reports whether the values of a setting are positive and the largest is at least ten
// times the smallest.
func spansDecades(r runs.SweepReport, at int) bool {
	least, most := math.Inf(1), 0.0
	for _, s := range r.Settings {
		least, most = min(least, settingValue(s.Values[at])), max(most, settingValue(s.Values[at]))
	}
	return least > 0 && most >= 10*least
}

// settingValue returns the value of a setting, or NaN if it is not a number.
func settingValue(text string) float64 {
	if v, err := strconv.ParseFloat(text, 64); err == nil {
		return v
	}
	return math.NaN()
}
