package dataset

import (
	"fmt"
	"slices"

	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/internal/philox"
)

// rows are rows of values, as they come from a file.
type rows struct {
	shape   Shape
	values  []uint8   // of rows of grey values, or bytes of a file
	numbers []float64 // of a file, until scale makes values or real numbers of them
	reals   []float32 // of rows of real numbers
	labels  []uint8
	lengths []int // of sequences
	scaled  bool  // whether v/255 is what a value v stands for
	bits    bool  // whether the values are of bytes that were 0 and 1
	columns []Column
	classes []string // their names, of labels
}

func (r rows) count() int {
	if n := max(len(r.values), len(r.numbers), len(r.reals)); n > 0 {
		return n / r.shape.Units()
	}
	return 0
}

func (r rows) split(name string) Split {
	return Split{Name: name, Shape: r.shape, Rows: r.count(), Values: r.values, Reals: r.reals, Labels: r.labels, Lengths: r.lengths}
}

// pick returns the rows of the given indices.
func (r rows) pick(indices []int) rows {
	n := r.shape.Units()
	return rows{shape: r.shape, values: pick(r.values, n, indices), reals: pick(r.reals, n, indices), labels: pick(r.labels, 1, indices), lengths: pick(r.lengths, 1, indices)}
}

// pick returns the values of the rows, of n values each, of the given indices.
func pick[T any](values []T, n int, indices []int) []T {
	if values == nil {
		return nil
	}
	picked := make([]T, 0, n*len(indices))
	for _, i := range indices {
		picked = append(picked, values[i*n:(i+1)*n]...)
	}
	return picked
}

// join returns the rows of r and then those of s, with labels if both have
// some.
func (r rows) join(s rows) rows {
	joined := rows{shape: r.shape, values: slices.Concat(r.values, s.values), reals: slices.Concat(r.reals, s.reals), lengths: slices.Concat(r.lengths, s.lengths)}
	if r.labels != nil && s.labels != nil {
		joined.labels = slices.Concat(r.labels, s.labels)
	}
	return joined
}

// draw parts the rows into n that are drawn and those that are left, both in
// the order of r. As a prefix of a random permutation, a smaller draw from the
// same stream is part of a larger one.
func (r rows) draw(n int, stream *philox.Stream) (drawn, left rows) {
	if n == 0 {
		return rows{shape: r.shape}, r
	}
	order := stream.Perm(r.count())
	slices.Sort(order[:n])
	slices.Sort(order[n:])
	return r.pick(order[:n]), r.pick(order[n:])
}

// round rounds the values at one half, in place.
func (r rows) round() {
	for i, v := range r.values {
		r.values[i] = 255 * (v >> 7)
	}
}

// checkRounding refuses grey values that are all on one side of one half: rounding would make them one
// constant.
func (r rows) checkRounding() error {
	if len(r.values) == 0 {
		return nil
	}
	least, most := slices.Min(r.values), slices.Max(r.values)
	if least>>7 != most>>7 || least == most && (most == 0 || most == 255) {
		return nil
	}
	return fmt.Errorf("rounding at one half makes every value %d, for they go from %s to %s: divide what was measured by the largest value that there can be, or keep the values as they are (binarization stochastic, grey or real)",
		most>>7, part(least), part(most))
}

// binarize draws the values, in place.
func (r rows) binarize(stream *philox.Stream) {
	for i, v := range r.values {
		r.values[i] = 0
		if uint64(stream.Uint32())*255 < uint64(v)<<32 {
			r.values[i] = 255
		}
	}
}

// binarize makes of grey values what the Spec says, in place, by draws of a stream.
func (s Spec) binarize(of *rows, stream uint32) {
	switch s.Binarization {
	case Fixed:
		of.round()
	case Drawn:
		of.binarize(philox.NewStream(s.Seed, philox.Binarize, stream))
	}
}

// rowsOfFile is the stream of draws of rows that ReadRows reads, after those of training, validation and test rows.
const rowsOfFile = 3

// keepReal makes real numbers v/255 of grey values v.
func (r *rows) keepReal() {
	for _, v := range r.values {
		r.reals = append(r.reals, float32(v)/255)
	}
	r.values = nil
}

// source is the data of a set as it comes, before a Spec divides it.
type source struct {
	train, validation, test rows

	holdOut int // training rows that are held out unless the Spec says how many
}

// Streams of the purpose HoldOut.
const (
	holdOutValidation = iota
	holdOutTest
)

// testRows is how many of the rows of data without test rows become test rows.
func testRows(rows int) int { return max(1, rows/10) }

func (s Spec) divide(data source) (*Set, error) {
	if s.Binarization == Real {
		data.train.keepReal()
		data.validation.keepReal()
		data.test.keepReal()
	}
	train, validation, test := data.train, data.validation, data.test
	if test.count() == 0 {
		n := testRows(train.count())
		if n >= train.count() {
			return nil, fmt.Errorf("data set %s: %d row is too few to divide into training and test rows", s.Name, train.count())
		}
		test, train = train.draw(n, philox.NewStream(s.Seed, philox.HoldOut, holdOutTest))
	}
	if s.Validation != nil && validation.count() > 0 {
		train, validation = train.join(validation), rows{}
	}
	if validation.count() == 0 {
		n := data.holdOut
		if s.Validation != nil {
			n = *s.Validation
		}
		if n >= train.count() {
			return nil, fmt.Errorf("data set %s: validation = %d leaves none of its %s to train on: hold out fewer",
				s.Name, n, names.Count(train.count(), "row"))
		}
		validation, train = train.draw(n, philox.NewStream(s.Seed, philox.HoldOut, holdOutValidation))
	}
	if s.Subset > train.count() {
		return nil, fmt.Errorf("data set %s: subset = %d, but it has %s: keep fewer, or all with 0",
			s.Name, s.Subset, names.Count(train.count(), "training row"))
	}
	if s.Subset > 0 {
		train, _ = train.draw(s.Subset, philox.NewStream(s.Seed, philox.Subset, keptRows))
	}
	if s.Labels > 0 {
		given := slices.Concat(data.train.labels, data.validation.labels, data.test.labels)
		var err error
		if train.labels, err = train.keepLabels(s.Labels, given, philox.NewStream(s.Seed, philox.Subset, keptLabels)); err != nil {
			return nil, fmt.Errorf("data set %s: labels = %d: %w", s.Name, s.Labels, err)
		}
	}
	if s.Binarization == Fixed {
		for _, of := range []struct {
			name string
			rows
		}{{"training", data.train}, {"validation", data.validation}, {"test", data.test}} {
			if err := of.checkRounding(); err != nil {
				return nil, fmt.Errorf("data set %s: the %s rows: %w", s.Name, of.name, err)
			}
		}
	}
	rounded := false
	for i, of := range []rows{train, validation, test} {
		rounded = rounded || s.Binarization == Fixed && !isBinary(of.values)
		s.binarize(&of, uint32(i))
	}
	set := newSet(s.clone(), train, validation, test)
	set.rounded, set.columns, set.classes = rounded, data.train.columns, data.train.classes
	return set, nil
}
