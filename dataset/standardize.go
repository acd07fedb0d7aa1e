package dataset

import (
	"fmt"
	"iter"
	"math"
	"slices"
	"sync"
)

// scaling is how the numbers of a unit are standardised: the unit's number v stands for Mean + SD · v in the file.
type scaling struct {
	Mean float64 `json:"mean"`
	SD   float64 `json:"sd"`
}

// each yields the index of each real number and its unit, without the steps that pad sequences.
func (r Split) each() iter.Seq2[int, int] {
	return func(yield func(index, unit int) bool) {
		n, width := r.Shape.Units(), r.Shape.Width
		for i := range r.Reals() {
			unit := i % n
			if r.Lengths != nil {
				if unit/width >= r.Lengths[i/n] {
					continue
				}
				unit %= width
			}
			if !yield(i, unit) {
				return
			}
		}
	}
}

// scalingOf returns the scaling of a unit of rows that are no sequences.
func (s *Set) scalingOf(unit int) scaling {
	if s.scalings == nil {
		return scaling{0, 1}
	}
	return s.scalings[unit]
}

// original returns the number of the file for the number v of a unit.
func (by scaling) original(v float64) float64 { return by.Mean + by.SD*v }

// moments returns the mean and the standard deviation of each unit, for sequences of a step, by the rows and their
// weights.
func (r Split) moments(weights []float64) []scaling {
	units := r.Shape.Units()
	if r.Lengths != nil {
		units = r.Shape.Width
	}
	weight := func(i int) float64 {
		switch {
		case r.Missing != nil && r.Missing[i]:
			return 0
		case weights == nil:
			return 1
		}
		return weights[i/r.Shape.Units()]
	}
	all, sums := make([]scaling, units), make([]float64, units)
	for i, k := range r.each() {
		if w := weight(i); w > 0 {
			sums[k] += w
			all[k].Mean += (float64(r.Reals()[i]) - all[k].Mean) * w / sums[k]
		}
	}
	for i, k := range r.each() {
		if w := weight(i); w > 0 {
			d := float64(r.Reals()[i]) - all[k].Mean
			all[k].SD += d * d * w / sums[k]
		}
	}
	for k := range all {
		all[k].SD = math.Sqrt(all[k].SD)
	}
	return all
}

// scalings returns the scaling of each unit by its moments. The units of binary and categorical columns keep their
// numbers, and a constant unit becomes 0.
func (r Split) scalings(columns []Column) []scaling {
	all := r.moments(r.Weights)
	for k := range all {
		if all[k].SD == 0 {
			all[k].SD = 1
		}
	}
	for _, c := range columns {
		if c.Kind != RealColumn {
			for k := range c.Units {
				all[c.First+k] = scaling{0, 1}
			}
		}
	}
	return all
}

// standardize replaces the real numbers of a set that has no users yet, in place.
func (s *Set) standardize() error {
	if s.isImages() {
		return fmt.Errorf("data set %s: standardize = true is for columns of numbers, but the rows are images of %v: omit standardize", s.Name(), s.Shape())
	}
	for i, of := range []Split{s.train, s.validation, s.test} {
		if i == 0 {
			s.scalings = of.scalings(s.columns)
		}
		of.standardize(s.scalings)
	}
	s.spec.Standardize, s.fingerprint = true, sync.OnceValue(s.hash)
	return nil
}

// standardize replaces the numbers, in place. It does nothing without scalings.
func (r Split) standardize(by []scaling) {
	if by == nil {
		return
	}
	for i, k := range r.each() {
		r.Reals()[i] = float32((float64(r.Reals()[i]) - by[k].Mean) / by[k].SD)
	}
}

// logs returns the units that hold logarithms.
func (s *Set) logs() (units []int) {
	for _, c := range s.columns {
		if c.Log {
			units = append(units, c.First)
		}
	}
	return units
}

// Original returns rows of units, such as draws from a model, with the numbers that they stand for in the file if
// the set is standardised or has logarithms, and otherwise the rows themselves.
func (s *Set) Original(rows Sheet) Sheet {
	logs := s.logs()
	if s.scalings == nil && logs == nil {
		return rows
	}
	of := Sheet{rows.Shape, slices.Clone(rows.Values)}
	for r, row := range rows.Values {
		of.Values[r] = slices.Clone(row)
		for i, v := range row {
			if s.scalings != nil {
				of.Values[r][i] = s.scalings[i%len(s.scalings)].original(v)
			}
		}
		for _, i := range logs {
			of.Values[r][i] = math.Exp(of.Values[r][i])
		}
	}
	return of
}

// fromZeroToOne reports whether the real training numbers of the file are from 0 to 1.
func (s *Set) fromZeroToOne() bool {
	n := len(s.scalings)
	for i, v := range s.train.Reals() {
		x, rounding := float64(v), 0.0
		if n > 0 {
			x, rounding = s.scalings[i%n].original(x), 1e-6
		}
		if x < -rounding || x > 1+rounding {
			return false
		}
	}
	return true
}

// LogScale returns the number of nats by which log p of a row of the file, or of a step of a sequence, is lower than
// log p of its units: the sum of the logarithms of the standard deviations and, in columns of logarithms, the mean of
// these over the training rows. It is 0 if the set is not standardised and has no logarithms.
func (s *Set) LogScale() (nats float64) {
	for _, by := range s.scalings {
		nats += math.Log(by.SD)
	}
	for _, i := range s.logs() {
		by := s.scalingOf(i)
		for r := range s.train.Rows {
			nats += by.original(s.train.At(r*s.Shape().Units()+i)) / float64(s.train.Rows)
		}
	}
	return nats
}
