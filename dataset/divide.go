package dataset

import (
	"fmt"
	"slices"

	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/internal/numbers"
	"github.com/helmholtz-go/helmholtz/internal/philox"
)

// rows holds rows of values as read from a file.
type rows struct {
	Split             // whose bytes may be the bytes of a file
	numbers []float64 // numbers of a file, until scale turns them into bytes or real numbers
	kind    string    // the type of the numbers of a file, named as in npy.Numbers, pictureKind or tableKind; "" for others
	pixels  []uint16  // of pictures, as 16 bits, until develop or divideBy turns them into bytes or real numbers
	white   uint16    // 255 or 65535 if all pictures have 8 or 16 bits, otherwise 0
	before  int       // number of rows before these
	merged  string    // a picture whose palette gives different numbers the same colour, or ""
	lost    string    // the first number that is isLost, with its place, or ""
	keys    []int     // lowest and highest key of sequences of keys
	scaled  bool      // whether a value v stands for v/255
	bits    bool      // whether the values come from bytes that were all 0 or 1
	levels  bool      // whether the values were grey levels from 0 to 255
	spins   bool      // whether the values were all -1 or 1
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

// bytesOf returns rows of bytes.
func bytesOf(shape Shape, values, labels []uint8) rows {
	return rows{Split: Split{Shape: shape, Values: Bytes(shape.Units(), values), Labels: labels}}
}

func (r rows) count() int {
	if n := max(len(r.numbers), len(r.pixels)); n > 0 {
		return n / r.Shape.Units()
	}
	return r.Rows
}

// as returns the split by a name, without bits if they are few.
func (s Split) as(name string) Split {
	if s.Name = name; s.AreBits() && s.Rows*s.Units < leastPacked {
		s.Values = Bytes(s.Units, s.Bytes())
	}
	return s
}

// pick returns the rows with the given indices.
func (s Split) pick(indices []int) Split { return s.with(s.Select(indices), indices) }

// with returns values with what belongs to the rows with the given indices.
func (s Split) with(values Values, indices []int) Split {
	s.Values, s.Labels, s.Weights, s.Lengths = values, numbers.Select(nil, s.Labels, indices, 1), numbers.Select(nil, s.Weights, indices, 1), numbers.Select(nil, s.Lengths, indices, 1)
	s.Missing = numbers.Select(nil, s.Missing, indices, s.Shape.Units())
	return s
}

// join returns the rows of s followed by other rows. The result has labels if both have labels.
func (s Split) join(other Split) Split {
	joined := Split{Shape: s.Shape, Values: s.Join(other.Values), Lengths: slices.Concat(s.Lengths, other.Lengths), Missing: slices.Concat(s.Missing, other.Missing)}
	if s.Labels != nil && other.Labels != nil {
		joined.Labels = slices.Concat(s.Labels, other.Labels)
	}
	return joined
}

// draw divides the rows into n drawn rows and the rest, both in the order of s. The drawn rows are the first n
// of a random permutation, so the same stream with a smaller n draws a subset of them. The rest may use the memory of s.
func (s Split) draw(n int, stream *philox.Stream) (drawn, left Split) {
	if n == 0 {
		return Split{Shape: s.Shape}, s
	}
	order := stream.Perm(s.Rows)
	slices.Sort(order[:n])
	slices.Sort(order[n:])
	drawn = s.pick(order[:n])
	return drawn, s.with(s.Keep(order[n:]), order[n:])
}

// checkRounding refuses grey values that are all on one side of one half, since rounding would make them
// constant. It allows values that are all 0 or all 255, which rounding does not change.
func (s Split) checkRounding() error {
	if !s.AreGrey() {
		return nil
	}
	least, most := slices.Min(s.Bytes()), slices.Max(s.Bytes())
	if least>>7 != most>>7 {
		return nil
	}
	return fmt.Errorf("rounding at one half makes every value %d, since they go from %s to %s",
		most>>7, part(least), part(most))
}

// binarize makes grey values 0 or 255, in place, as the Spec requires.
func (s Spec) binarize(of Split, random *philox.Stream) {
	if of.AreBits() || s.Binarization != Fixed && s.Binarization != Drawn {
		return
	}
	for i, v := range of.Bytes() {
		on := v >= 128
		if s.Binarization == Drawn { // with probability v/255
			on = uint64(random.Uint32())*255 < uint64(v)<<32
		}
		if of.Bytes()[i] = 0; on {
			of.Bytes()[i] = 255
		}
	}
}

// rowsOfFile is the number of the random stream with which ReadRows binarises rows. Streams 0 to 2 are for
// training, validation and test rows.
const rowsOfFile = 3

// keepReal turns bytes v into real numbers v/255.
func (s *Split) keepReal() {
	if s.Rows == 0 || s.AreReal() {
		return
	}
	reals := make([]float32, s.Rows*s.Units)
	for i := range s.Rows {
		s.Read(reals[i*s.Units:][:s.Units], i)
	}
	s.Values = Reals(s.Units, reals)
}

// source is the data of a set before a Spec divides it.
type source struct {
	train, validation, test rows

	scale   scale    // of the training rows
	doubt   string   // for Set.Notice
	unread  []string // names of arrays that were not read
	real    bool     // whether the numbers of a table decided that the binarisation is Real
	gaps    bool     // whether the schema of a table declares gaps
	shape   string   // that the Spec or pictures in a table declare, or ""
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
	if data.train.AreReal() && s.Binarization != Real {
		return nil, fmt.Errorf("data set %s: binarization = %v, but its values are real numbers: use binarization real (--binarization real)", s.Name, s.Binarization)
	}
	train, validation, test := data.train.Split, data.validation.Split, data.test.Split
	if s.Binarization == Real {
		for _, of := range []*Split{&train, &validation, &test} {
			of.keepReal()
		}
	}
	given, parts := slices.Concat(train.Labels, validation.Labels, test.Labels), []Split{train, validation, test}
	if test.Rows == 0 {
		n := testRows(train.Rows)
		if n >= train.Rows {
			return nil, fmt.Errorf("data set %s: %d row is too few to divide into training and test rows", s.Name, train.Rows)
		}
		test, train = train.draw(n, philox.NewStream(s.Seed, philox.HoldOut, holdOutTest))
	}
	if s.Validation != nil && validation.Rows > 0 {
		train, validation = train.join(validation), Split{}
	}
	if validation.Rows == 0 {
		n := data.holdOut
		if s.Validation != nil {
			n = *s.Validation
		}
		if n >= train.Rows {
			return nil, fmt.Errorf("data set %s: validation = %d leaves none of its %s to train on: hold out fewer",
				s.Name, n, names.Count(train.Rows, "row"))
		}
		validation, train = train.draw(n, philox.NewStream(s.Seed, philox.HoldOut, holdOutValidation))
	}
	if s.Subset > train.Rows {
		return nil, fmt.Errorf("data set %s: subset = %d, but it has %s: keep fewer, or all with 0",
			s.Name, s.Subset, names.Count(train.Rows, "training row"))
	}
	if s.Subset > 0 {
		train, _ = train.draw(s.Subset, philox.NewStream(s.Seed, philox.Subset, keptRows))
	}
	if s.Labels > 0 {
		var err error
		if train.Labels, err = train.keepLabels(s.Labels, given, philox.NewStream(s.Seed, philox.Subset, keptLabels)); err != nil {
			return nil, fmt.Errorf("data set %s: labels = %d: %w", s.Name, s.Labels, err)
		}
	}
	if s.Binarization == Fixed {
		for i, of := range parts {
			if err := of.checkRounding(); err != nil {
				return nil, fmt.Errorf("data set %s: the %s rows: %w: divide the measurements by the largest possible value (--largest), or keep the values as they are (binarization stochastic, grey or real)", s.Name, []string{"training", "validation", "test"}[i], err)
			}
		}
	}
	binarized := false
	for i, of := range []Split{train, validation, test} {
		binarized = binarized || (s.Binarization == Fixed || s.Binarization == Drawn) && of.AreGrey()
		s.binarize(of, philox.NewStream(s.Seed, philox.Binarize, uint32(i)))
	}
	if train.Weights != nil && slices.Max(train.Weights) == 0 {
		return nil, fmt.Errorf("data set %s: all training rows have the weight 0 in %s: give some a larger weight", s.Name, s.WeightFile)
	}
	set := newSet(s.clone(), train, validation, test)
	set.binarized, set.columns, set.classes, set.spins = binarized, data.train.columns, data.train.classes, data.train.spins
	set.keys, set.unnamed = data.train.keys, data.train.unnamed
	set.doubt, set.form, set.scale = names.Lines(data.doubt, data.lost(s.Name)), data.train.form, data.scale
	if s.isNamed() && (binarized || train.AreGrey()) {
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
