package dataset

import (
	"fmt"
	"slices"

	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/internal/philox"
)

// rows holds rows of values as read from a file.
type rows struct {
	shape   Shape
	values  []uint8   // grey values, or bytes of a file
	packed  []uint8   // values that are all 0 or 1, one bit each, laid out like Split.Bits
	numbers []float64 // numbers of a file, until scale turns them into values or reals
	kind    string    // the type of the numbers of a file, named as in npy.Numbers, pictureKind or tableKind; "" for others
	pixels  []uint16  // of pictures, as 16 bits, until develop or divideBy turns them into values or reals
	white   uint16    // 255 or 65535 if all pictures have 8 or 16 bits, otherwise 0
	merged  string    // a picture whose palette gives different numbers the same colour, or ""
	reals   []float32 // real numbers
	labels  []uint8
	weights []float64
	lengths []int // number of steps of each sequence
	keys    []int // lowest and highest key of sequences of keys
	scaled  bool  // whether a value v stands for v/255
	bits    bool  // whether the values come from bytes that were all 0 or 1
	levels  bool  // whether the values were grey levels from 0 to 255
	spins   bool  // whether the values were all -1 or 1
	columns []Column
	unnamed []string // see Set
	marks   []bool   // for each unit, whether it marks a value or range of a column with 0 or 1; nil if none does
	classes []string // names of the classes
	form             // of a table
}

// form is what a set remembers of the file of its table, to read further files by it.
type form struct {
	fields  []Column // all columns, from which the columns of the set follow
	header  bool     // whether the file names its columns
	decimal string   // the decimal character, if the Spec or a schema sets it
	point   string   // the decimal character, or "" if the numbers have none
}

func (r rows) count() int {
	units := r.shape.Units()
	if n := max(len(r.values), len(r.numbers), len(r.reals), len(r.pixels)); n > 0 {
		return n / units
	}
	return len(r.packed) / max(1, packedBytes(units))
}

func (r rows) split(name string) Split {
	s := Split{Name: name, Shape: r.shape, Rows: r.count(), Values: r.values, Bits: r.packed, Reals: r.reals, Labels: r.labels, Weights: r.weights, Lengths: r.lengths}
	if s.Bits != nil && s.Rows*s.Shape.Units() < leastPacked {
		s.Values, s.Bits = unpackRows(nil, s.Bits, s.Shape.Units()), nil
	}
	return s
}

// pick returns the rows with the given indices. If the rows are packed, it appends them to packed and uses the
// memory of that slice.
func (r rows) pick(indices []int, packed []uint8) rows {
	n := r.shape.Units()
	picked := rows{shape: r.shape, values: pick(r.values, n, indices), reals: pick(r.reals, n, indices), labels: pick(r.labels, 1, indices), weights: pick(r.weights, 1, indices), lengths: pick(r.lengths, 1, indices)}
	if width := packedBytes(n); r.packed != nil {
		packed = slices.Grow(packed, width*len(indices))
		for _, i := range indices {
			packed = append(packed, r.packed[i*width:(i+1)*width]...)
		}
		picked.packed = packed
	}
	return picked
}

// pick returns the values of the rows with the given indices. Each row has n values.
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

// join returns the rows of r followed by the rows of s. The result has labels if both r and s have labels.
func (r rows) join(s rows) rows {
	joined := rows{shape: r.shape, values: slices.Concat(r.values, s.values), reals: slices.Concat(r.reals, s.reals), lengths: slices.Concat(r.lengths, s.lengths)}
	if r.labels != nil && s.labels != nil {
		joined.labels = slices.Concat(r.labels, s.labels)
	}
	return joined
}

// draw divides the rows into n drawn rows and the rest, both in the order of r. The drawn rows are the first n
// of a random permutation, so the same stream with a smaller n draws a subset of them. If r is packed, the rest
// reuses the memory of r.
func (r rows) draw(n int, stream *philox.Stream) (drawn, left rows) {
	if n == 0 {
		return rows{shape: r.shape}, r
	}
	order := stream.Perm(r.count())
	slices.Sort(order[:n])
	slices.Sort(order[n:])
	drawn = r.pick(order[:n], nil)
	return drawn, r.pick(order[n:], r.packed[:0])
}

// round rounds the values at one half, in place.
func (r rows) round() {
	for i, v := range r.values {
		r.values[i] = 255 * (v >> 7)
	}
}

// checkRounding refuses grey values that are all on one side of one half, since rounding would make them
// constant. It allows values that are all 0 or all 255, which rounding does not change.
func (r rows) checkRounding() error {
	if len(r.values) == 0 {
		return nil
	}
	least, most := slices.Min(r.values), slices.Max(r.values)
	if least>>7 != most>>7 || least == most && (most == 0 || most == 255) {
		return nil
	}
	return fmt.Errorf("rounding at one half makes every value %d, since they go from %s to %s",
		most>>7, part(least), part(most))
}

// binarize replaces each grey value v, in place, by 255 with probability v/255, and otherwise by 0.
func (r rows) binarize(stream *philox.Stream) {
	for i, v := range r.values {
		r.values[i] = 0
		if uint64(stream.Uint32())*255 < uint64(v)<<32 {
			r.values[i] = 255
		}
	}
}

// binarize binarises grey values in place, as s.Binarization requires. stream is the number of the random
// stream that Drawn uses.
func (s Spec) binarize(of *rows, stream uint32) {
	switch s.Binarization {
	case Fixed:
		of.round()
	case Drawn:
		of.binarize(philox.NewStream(s.Seed, philox.Binarize, stream))
	}
}

// rowsOfFile is the number of the random stream with which ReadRows binarises rows. Streams 0 to 2 are for
// training, validation and test rows.
const rowsOfFile = 3

// keepReal turns grey values v into real numbers v/255.
func (r *rows) keepReal() {
	for _, v := range r.values {
		r.reals = append(r.reals, float32(v)/255)
	}
	r.values = nil
}

// source is the data of a set before a Spec divides it.
type source struct {
	train, validation, test rows

	scale   scale    // of the training rows
	doubt   string   // for Set.Notice
	unread  []string // names of arrays that were not read
	real    bool     // whether the numbers of a table decided that the binarisation is Real
	holdOut int      // number of training rows to hold out unless Spec.Validation sets it
}

// These are the random streams of the purpose philox.HoldOut.
const (
	holdOutValidation = iota
	holdOutTest
)

// testRows returns how many rows become test rows if the data has none.
func testRows(rows int) int { return max(1, rows/10) }

func (s Spec) divide(data source) (*Set, error) {
	if data.train.reals != nil && s.Binarization != Real {
		return nil, fmt.Errorf("data set %s: binarization = %v, but its values are real numbers: use binarization real (--binarization real)", s.Name, s.Binarization)
	}
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
				return nil, fmt.Errorf("data set %s: the %s rows: %w: divide the measurements by the largest possible value (--largest), or keep the values as they are (binarization stochastic, grey or real)", s.Name, of.name, err)
			}
		}
	}
	binarized := false
	for i, of := range []rows{train, validation, test} {
		binarized = binarized || (s.Binarization == Fixed || s.Binarization == Drawn) && !isBinary(of.values)
		s.binarize(&of, uint32(i))
	}
	if train.weights != nil && slices.Max(train.weights) == 0 {
		return nil, fmt.Errorf("data set %s: all training rows have the weight 0 in %s: give some a larger weight", s.Name, s.WeightFile)
	}
	set := newSet(s.clone(), train, validation, test)
	set.binarized, set.columns, set.classes, set.spins = binarized, data.train.columns, data.train.classes, data.train.spins
	set.keys, set.unnamed = data.train.keys, data.train.unnamed
	set.doubt, set.form, set.scale = data.doubt, data.train.form, data.scale
	if s.isNamed() && (binarized || !isBinary(train.values)) {
		set.scale = scale{Levels: true, Gray: true}
	}
	if data.unread != nil {
		set.unread = fmt.Sprintf("arrays of %s that were not read (%s): if one of them has labels or weights, give FILE#NAME as label_file (--label-file) or weight_file (--weight-file)", s.Name, listed(data.unread))
	}
	if s.Standardize {
		return set, set.standardize()
	}
	return set, nil
}
