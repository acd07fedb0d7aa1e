package runs

import (
	"cmp"
	"slices"
	"strings"
)

// measureColumn is the column, of a key, of the measure that the second key is that
// of, and of which people are told more.
func measureColumn(measures []Measure, key, of, more string) Column {
	of, isError := strings.CutSuffix(of, StandardErrorKey)
	m := Measure{Key: of}
	if i := slices.IndexFunc(measures, func(m Measure) bool { return m.Key == of }); i >= 0 {
		m = measures[i]
	}
	c := Column{Key: key, Label: cmp.Or(m.Name, m.Key) + ", " + more, Unit: m.Unit, Kind: Number, Decimals: m.decimals(), Fraction: m.Fraction}
	if isError {
		c.Label = "± se"
	}
	return c
}

// decimals are those with which people read the measure: fewer where it has no unit, and of
// a fraction, in percent.
func (m Measure) decimals() int {
	switch {
	case m.Fraction:
		return 1
	case m.Unit == "":
		return 2
	}
	return 3
}
