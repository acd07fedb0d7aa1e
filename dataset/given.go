package dataset

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/helmholtz-go/helmholtz/internal/names"
)

// Given is a condition on a column of rows, as Fields writes them: a value, or an interval of numbers.
type Given struct {
	Column          Column
	Value           string  // "" for an interval
	Least, Greatest float64 // the ends of an interval, which belong to it and may be infinite
	Label           int     // the class, if Column is the column of labels

	interval bool
}

// ParseGiven reads conditions such as group=b,age=30:40. The ends of an interval belong to it, and one may be missing. The
// labels are the column label if the data have no column of labels. ParseGiven refuses conditions that no training row can meet,
// such as numbers outside the range of their column.
func (s *Set) ParseGiven(text string) (all []Given, err error) {
	columns, _, err := s.Fields(Sheet{Shape: s.Shape()}, Writing{})
	if err != nil {
		return nil, err
	}
	label := Column{Name: "label", Kind: LabelColumn, Values: s.classes}
	i := slices.IndexFunc(s.columns, func(c Column) bool { return c.Kind == LabelColumn })
	if i >= 0 {
		label = s.columns[i]
	}
	if i >= 0 || s.columns == nil || s.classes != nil || s.spec.LabelFile != "" || !s.spec.IsFile() || s.MadeFromRows() {
		columns = append(columns, label) // other tables have no labels
	}
	begins := func(text string) (c Column, is bool) {
		for _, other := range columns { // the longest name, if several fit
			if strings.HasPrefix(text, other.Name+"=") && len(other.Name) >= len(c.Name) {
				c, is = other, true
			}
		}
		return c, is
	}
	for text = strings.TrimSpace(text); text != ""; {
		c, is := begins(text)
		if !is {
			name, _, equals := strings.Cut(text, "=")
			var known []string
			for _, c := range columns {
				known = append(known, c.Name)
			}
			if !equals {
				return nil, fmt.Errorf("given %q: write NAME=VALUE or NAME=LEAST:GREATEST with the name of a column", text)
			}
			return nil, fmt.Errorf("given %q: the model has no column %q: use %s%s", text, name, listed(known), names.Meant(name, known...))
		}
		value, rest := text[len(c.Name)+1:], ""
		for i, r := range value {
			next := strings.TrimSpace(value[i+1:])
			field, _, _ := strings.Cut(next, ",")
			if _, is := begins(next); r == ',' && (is || strings.Contains(field, "=")) {
				value, rest = value[:i], next
				break
			}
		}
		text = rest
		if slices.ContainsFunc(all, func(g Given) bool { return g.Column.Name == c.Name }) {
			return nil, fmt.Errorf("given has two conditions on the column %q: give one", c.Name)
		}
		g, err := s.given(c, strings.TrimSpace(value))
		if err != nil {
			return nil, fmt.Errorf("given %s=%s: %w", c.Name, value, err)
		}
		all = append(all, g)
	}
	if all == nil {
		return nil, errors.New("given is empty: write conditions such as group=b,age=30:40")
	}
	return all, nil
}

// given reads the condition on a column.
func (s *Set) given(c Column, text string) (g Given, err error) {
	g = Given{Column: c, Value: text}
	values := c.Values
	if values == nil && c.Kind == CategoricalColumn {
		for k := range c.Units {
			values = append(values, strconv.Itoa(k+1))
		}
	}
	if v, err := strconv.ParseFloat(text, 64); err == nil && c.Cuts != nil && indexOf(values, text) < 0 {
		k, _ := slices.BinarySearch(c.Cuts, v)
		g.Value = values[k]
		return g, nil
	}
	if k := meantBy(values, text); k >= 0 {
		g.Value, g.Label = values[k], k-s.spec.FirstLabel
		return g, nil
	}
	if c.Kind == LabelColumn && values == nil {
		class, err := strconv.Atoi(text)
		if g.Label = class - s.spec.FirstLabel; err != nil || g.Label < 0 || g.Label >= Unlabeled {
			return g, fmt.Errorf("the labels are whole numbers from %d", s.spec.FirstLabel)
		}
		return g, nil
	}
	if text == "" && c.Rest {
		return g, nil
	}
	numeric := c.Kind != LabelColumn && c.Cuts == nil && !slices.ContainsFunc(values, func(value string) bool { _, err := strconv.ParseFloat(value, 64); return err != nil })
	least, greatest, interval := strings.Cut(text, ":")
	switch {
	case !numeric:
		return g, fmt.Errorf("no training row has this value: use %s%s", listed(values), names.Meant(text, values...))
	case values != nil && !interval:
		return g, fmt.Errorf("no training row has this value: use %s, or an interval such as %s:%s", listed(values), values[0], values[len(values)-1])
	}
	number := func(text string, missing float64) (v float64) {
		if text = strings.TrimSpace(text); text == "" && interval {
			return missing
		}
		if v, err = strconv.ParseFloat(text, 64); err != nil || math.IsNaN(v) {
			err = fmt.Errorf("%q is not a number: write a number, or an interval such as 30:40", text)
		}
		return v
	}
	g.Value, g.interval = "", true
	if g.Least = number(least, math.Inf(-1)); err != nil {
		return g, err
	}
	if g.Greatest = g.Least; interval {
		if g.Greatest = number(greatest, math.Inf(1)); err != nil {
			return g, err
		}
	}
	n := c.Numbers
	switch {
	case g.Least > g.Greatest:
		return g, fmt.Errorf("the interval is empty: exchange its ends")
	case values != nil && !slices.ContainsFunc(values, g.fits):
		return g, fmt.Errorf("no value lies in the interval: use %s", listed(values))
	case n == nil || n.Least == n.Greatest:
	case g.Least > n.Greatest || g.Greatest < n.Least:
		return g, fmt.Errorf("the numbers of the training rows go from %v to %v: give one of these, or an interval among them", n.Least, n.Greatest)
	case math.Ceil(g.Least*math.Pow10(n.Decimals)-1e-6) > math.Floor(g.Greatest*math.Pow10(n.Decimals)+1e-6):
		return g, fmt.Errorf("the numbers of the column have %s, and none lies there: give such a number, or a wider interval", names.Count(n.Decimals, "decimal"))
	}
	return g, nil
}

// fits reports whether a field meets the condition.
func (g Given) fits(field string) bool {
	if !g.interval {
		return indexOf([]string{g.Value}, field) == 0
	}
	v, err := strconv.ParseFloat(field, 64)
	return err == nil && g.Least <= v && v <= g.Greatest
}

// Choose returns the indices of rows that meet all conditions but the condition on labels, as Fields writes them. It leaves out
// rows with no value of a categorical column or several, which Fields would refuse.
func (s *Set) Choose(of Sheet, given []Given, how Writing) (chosen []int, err error) {
	columns := s.unitColumns()
	possible := Sheet{Shape: of.Shape}
	for r, row := range of.Values {
		if !slices.ContainsFunc(columns, func(c Column) bool { return c.checkDraws([][]float64{row}) != nil }) {
			chosen, possible.Values = append(chosen, r), append(possible.Values, row)
		}
	}
	places := make([]int, len(given))
	for k, g := range given {
		places[k] = slices.IndexFunc(columns, func(c Column) bool { return c.Name == g.Column.Name && g.Column.Kind != LabelColumn })
	}
	if slices.Max(append(places, -1)) < 0 {
		return chosen, nil
	}
	_, fields, err := s.Fields(possible, how)
	fitting := chosen[:0]
	for i, row := range fields {
		if every(len(given), func(k int) bool { return places[k] < 0 || given[k].fits(row[places[k]]) }) {
			fitting = append(fitting, chosen[i])
		}
	}
	return fitting, err
}

// Clamp returns n rows that hold the values of conditions, and a mask of the other units. Units stay masked if their
// condition is an interval.
func (s *Set) Clamp(given []Given, n int) (Split, Mask) {
	row, mask := make([]float64, s.Shape().Units()), slices.Repeat(Mask{true}, s.Shape().Units())
	for _, g := range given {
		c, values := g.Column, g.Column.Values
		units := row[c.First : c.First+c.Units]
		switch {
		case c.Kind == LabelColumn || s.columns == nil:
			continue
		case !g.interval && c.Kind == BinaryColumn:
			units[0] = float64(indexOf(values, g.Value))
		case !g.interval && g.Value != "" && values == nil:
			k, _ := strconv.Atoi(g.Value) // categories without names are numbered from 1
			units[k-1] = 1
		case !g.interval && g.Value != "":
			units[indexOf(values, g.Value)] = 1
		case g.interval && (values != nil || g.Least != g.Greatest || !s.train.AreReal()):
			continue
		case g.interval:
			units[0] = s.UnitOf(c, g.Least)
		}
		for k := range units {
			mask[c.First+k] = false
		}
	}
	return s.Rows(Sheet{s.Shape(), slices.Repeat([][]float64{row}, n)}), mask
}

// UnitOf returns the unit of a column of numbers that stands for a number of the file.
func (s *Set) UnitOf(c Column, number float64) float64 {
	v, by := number/cmp.Or(s.spec.Largest, 1), s.scalingOf(c.First)
	if c.Log {
		v = math.Log(v)
	}
	return (v - by.Mean) / by.SD
}

// Rows returns rows of units, such as draws from a model, as a split without labels. Grey values outside 0 to 1 are moved into this range.
func (s *Set) Rows(of Sheet) Split {
	all, rows := slices.Concat(of.Values...), Split{Name: "drawn", Shape: of.Shape}
	if s.train.AreReal() {
		reals := make([]float32, len(all))
		for i, v := range all {
			reals[i] = float32(v)
		}
		rows.Values = Reals(of.Shape.Units(), reals)
		return rows
	}
	bytes := make([]uint8, len(all))
	for i, v := range all {
		bytes[i] = uint8(math.Round(255 * min(max(v, 0), 1)))
	}
	rows.Values = Bytes(of.Shape.Units(), bytes)
	return rows
}
