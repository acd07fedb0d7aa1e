package dataset

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/internal/npy"
	"github.com/helmholtz-go/helmholtz/internal/philox"
	"github.com/helmholtz-go/helmholtz/internal/work"
)

// FromRows makes a set from your own rows. Each row has shape.Units() values from 0 to 1; if all values are -1 or
// 1, -1 becomes 0. FromRows rounds the values to 0 or 1, as Fixed does; Spec.FromRows can also keep grey values,
// as multiples of 1/255. FromRows refuses rows of other lengths and other values. If test is empty, a tenth of
// train, drawn from the seed, becomes the test rows.
func FromRows(name string, shape Shape, train, test [][]float64) (*Set, error) {
	return Spec{Name: name}.FromRows(shape, train, test)
}

// FromRows makes a set from your own rows and divides it according to the Spec. The Name of the Spec must not be
// the name of a set that comes with the program. The Spec cannot open the set again: call FromRows again, or
// store the set with Set.Save.
func (s Spec) FromRows(shape Shape, train, test [][]float64) (*Set, error) {
	return s.FromLabeledRows(shape, train, test, nil, nil)
}

// FromLabeledRows is like FromRows, for rows with labels. A label is the class of a row, counted from
// FirstLabel, or Unlabeled. A slice of labels may be nil if no row has a label.
func (s Spec) FromLabeledRows(shape Shape, train, test [][]float64, trainLabels, testLabels []uint8) (*Set, error) {
	if err := s.checkGiven(shape, trainLabels != nil); err != nil {
		return nil, err
	}
	if len(train) == 0 {
		return nil, fmt.Errorf("data set %s: no rows to train on", s.Name)
	}
	var data source
	parts := []struct {
		name   string
		to     *rows
		values [][]float64
		labels []uint8
	}{{"training", &data.train, train, trainLabels}, {"test", &data.test, test, testLabels}}
	for _, part := range parts {
		*part.to = rows{Split: Split{Shape: shape}, numbers: make([]float64, 0, len(part.values)*shape.Units())}
		for i, values := range part.values {
			if len(values) != shape.Units() {
				return nil, fmt.Errorf("data set %s: %s row %d has %d values, but a row of shape %v has %d", s.Name, part.name, i+1, len(values), shape, shape.Units())
			}
			part.to.numbers = append(part.to.numbers, values...)
		}
	}
	if s.Binarization != Real && s.Largest == 0 {
		spinsToBits(&data.train, &data.test)
	}
	for _, part := range parts {
		if err := s.scaleRows(part.to); err != nil {
			return nil, fmt.Errorf("data set %s: %s %w", s.Name, part.name, err)
		}
		err := part.to.label(part.labels)
		if err == nil {
			err = shift(part.to.Labels, s.FirstLabel)
		}
		if err != nil {
			return nil, fmt.Errorf("data set %s: %s rows: %w", s.Name, part.name, err)
		}
	}
	set, err := s.divide(data)
	if err != nil {
		return nil, err
	}
	set.madeFromRows = true
	return set, nil
}

// checkGiven refuses settings that are not for rows that a program gives.
func (s Spec) checkGiven(shape Shape, labelled bool) error {
	_, taken := find(s.Name)
	err, misshapen := s.check(), shape.Check()
	switch {
	case s.Name == "":
		return errors.New("rows without a name: give them one that no set of the program has")
	case err != nil:
		return err
	case taken:
		return fmt.Errorf("data set %s: this is the name of a set that comes with the program; choose another", s.Name)
	case s.Test != "":
		return fmt.Errorf("data set %s: test = %q names a file, but the test rows are given as a slice; leave test empty", s.Name, s.Test)
	case s.LabelFile != "":
		return fmt.Errorf("data set %s: label_file = %q names a file, but the labels are given as a slice; leave it empty", s.Name, s.LabelFile)
	case s.WeightFile != "":
		return fmt.Errorf("data set %s: weight_file = %q: it is only for the rows of a file of your own; leave it empty", s.Name, s.WeightFile)
	case s.Columns+s.Schema+s.Header+s.Decimal+s.Shape != "":
		return fmt.Errorf("data set %s: columns = %q, shape = %q, or schema, header or decimal: they are for a file of your own, but the rows and their shape are given; leave both empty", s.Name, s.Columns, s.Shape)
	case s.FirstLabel != 0 && !labelled:
		return fmt.Errorf("data set %s: first_label = %d, but the rows have no labels: call FromLabeledRows, or omit first_label", s.Name, s.FirstLabel)
	case misshapen != nil:
		return fmt.Errorf("data set %s: %w", s.Name, misshapen)
	}
	return nil
}

// label gives the rows their labels, if there are any.
func (r *rows) label(labels []uint8) error {
	if labels != nil && len(labels) != r.count() {
		return fmt.Errorf("%s for %s; give one per row, or none", names.Count(len(labels), "label"), names.Count(r.count(), "row"))
	}
	r.Labels = slices.Clone(labels)
	return nil
}

// gray returns v as a grey value, 255·v rounded, and reports whether v is a probability.
func gray(v float64) (uint8, bool) {
	if !(0 <= v && v <= 1) {
		return 0, false
	}
	return uint8(math.Round(255 * v)), true
}

// isPath reports whether a name that no set has is meant as the path of a file.
func isPath(name string) bool {
	if strings.ContainsAny(name, `/\`) || filepath.Ext(name) != "" || strings.HasSuffix(name, "-ubyte") {
		return true
	}
	_, err := os.Stat(name)
	return err == nil
}

// loadOwn reads the user's files that the Spec names.
func (s Spec) loadOwn() (source, error) {
	data, t, err := s.readOwn(s.Name, nil)
	if err != nil {
		return source{}, err
	}
	if s.Test != "" {
		if data.test.count() > 0 {
			return source{}, fmt.Errorf("data set %s: test = %q: the file already has test rows; leave test empty", s.Name, s.Test)
		}
		test, of, err := s.readOwn(s.Test, t)
		if err != nil {
			return source{}, err
		}
		if of != nil && t == nil {
			return source{}, fmt.Errorf("data set %s: test = %q: it is a table with columns, and the training rows are not: give both in one format, with a header or without", s.Name, s.Test)
		}
		if err := test.checkOnePart(s.Test); err != nil {
			return source{}, err
		}
		if of != nil && of.doubt != "" {
			data.doubt = s.Test + ": " + of.doubt
		}
		data.test = test.train
		if err := data.test.classify(data.train.classes); err != nil {
			return source{}, fmt.Errorf("%s: %w", s.Test, err)
		}
	}
	if t != nil {
		return s.fromTable(t, data)
	}
	if s.Columns+s.Schema+s.Header+s.Decimal != "" {
		return source{}, fmt.Errorf("data set %s: columns = %q, schema = %q, header = %q, decimal = %q: only tables have columns: save the rows as CSV or Parquet, or leave these settings empty (--columns)", s.Name, s.Columns, s.Schema, s.Header, s.Decimal)
	}
	return data, s.finish(&data, nil)
}

// fromTable turns a table into rows that belong to data. If the Spec leaves the binarisation to the numbers, it tries two.
func (s Spec) fromTable(t *table, data source) (source, error) {
	s.Shape, data.shape = t.shape, t.shape
	if t.separator == ' ' && slices.ContainsFunc(t.header, func(name string) bool { return strings.HasPrefix(name, `"`) }) {
		data.doubt = `quotes belong to the names of columns and to words, since spaces separate them: to take quotes away, save the table as CSV, for example with pandas.read_csv(FILE, sep=r"\s+").to_csv("rows.csv", index=False)`
	}
	tries := []Binarization{s.Binarization}
	named := false // whether columns of numbers have names of their own
	if s.numbers {
		if tries = append(tries, Real); t.header != nil && s.Shape == "" {
			columns, err := t.kindsOf(s)
			if named = err == nil && numbersAmong(columns, t.kinds) != nil; named {
				slices.Reverse(tries)
			} else if err == nil {
				data.doubt = names.Lines(data.doubt, cutWith(columns, t.kinds))
			}
		}
	}
	var failure error
	for i, b := range tries {
		of := data
		s.Binarization, t.kept, of.real, of.gaps = b, i+1 < len(tries), b == Real, t.open
		var err error
		if of.train, of.test, err = t.coded(s, nil); err != nil {
			err = fmt.Errorf("%s: %w", s.files(" and "), err)
		} else if err = s.finish(&of, nil); err == nil {
			if named && failure != nil {
				of.doubt = names.Lines(of.doubt, fmt.Sprintf("columns of numbers become ranges, since real numbers are refused: %v", failure))
			}
			return of, nil
		}
		if failure == nil || !named {
			failure = err
		}
		if !named && !errors.Is(err, ErrOutside) {
			break
		}
	}
	return source{}, failure
}

// cutWith returns a notice of the columns of numbers that become ranges only because the kinds give another column ranges, or "".
func cutWith(columns []Column, kinds map[string]Column) string {
	var ranged, others []string
	for _, name := range numbersAmong(columns, nil) {
		if kinds[name].ranges() > 0 {
			ranged = append(ranged, name)
		} else {
			others = append(others, name)
		}
	}
	if ranged == nil || others == nil {
		return ""
	}
	return fmt.Sprintf("the numbers of %s become ranges too, like %s: to keep numbers, write %s in place of the ranges (--columns)", quoted(others), quoted(ranged), strings.Join(ranged, "=real, ")+"=real")
}

// newTable returns a table that reads files with the columns that the Spec or its schema declares.
func (s Spec) newTable() (*table, error) {
	kinds, err := parseColumns(s.Columns)
	if err != nil {
		return nil, err
	}
	t := &table{codes: s.Missing, rules: s.rules(), fresh: s.Rules == 0 && !s.before, kinds: kinds, headed: s.Header, decimal: s.Decimal, open: s.Gaps, shape: s.Shape}
	if s.Schema != "" {
		err = t.declare(s.Schema)
	}
	return t, err
}

// tableLike returns a table without rows that reads files with the columns of a set.
func (s Spec) tableLike(set *Set) (*table, error) {
	kinds, err := parseColumns(s.Columns)
	t := &table{codes: s.Missing, rules: s.rules(), kinds: kinds, shape: s.Shape, decimal: set.decimal, point: set.point, like: set.fields, columns: emptyFields(len(set.fields))}
	for i, c := range set.fields {
		t.columns[i].lacks = c.Missing
		if set.header {
			t.header = append(t.header, c.Name)
		}
	}
	return t, err
}

// loadLike reads rows from the file Name with the columns and the scale of a set. Fields are missing only if gaps, which
// gets them, is not nil.
func (s Spec) loadLike(set *Set, gaps *Gaps) (source, error) {
	var data source
	var t *table
	var err error
	if set.fields != nil {
		if t, err = s.tableLike(set); err == nil {
			if gaps != nil {
				gaps.begin(t)
			}
			_, _, err = s.readOwn(s.Name, t)
		}
	} else if data, t, err = s.readOwn(s.Name, nil); err == nil && t != nil && set.fromFile() {
		err = fmt.Errorf("%s is a table with columns, and the training rows are not: give rows in the format of the training rows, with a header or without", s.Name)
	}
	switch {
	case err != nil:
		return source{}, err
	case t != nil && t.doubt != "":
		return source{}, fmt.Errorf("%s: %s", s.Name, t.doubt)
	case t != nil && t.like != nil:
		columns := set.fields
		if gaps != nil {
			columns = gaps.end()
		}
		data.doubt = t.apart(s.Name, gaps)
		var of rows // with the decimal character
		if of, data.train, err = t.coded(s, columns); gaps != nil {
			gaps.comma = !t.named && t.hasComma(of.point)
		}
	case t != nil:
		data.train, _, err = t.coded(s, nil)
	default:
		if err := data.checkOnePart(s.Name); err != nil {
			return source{}, err
		}
		err = data.train.classify(set.classes)
	}
	if err != nil {
		return source{}, fmt.Errorf("%s: %w", s.Name, err)
	}
	err = s.finish(&data, set)
	data.doubt = names.Lines(data.doubt, data.lost(s.Name))
	return data, err
}

// lost returns a line on numbers of a file that float32 cannot hold well, or "".
func (data *source) lost(path string) string {
	lost := cmp.Or(data.train.lost, data.validation.lost, data.test.lost)
	if lost == "" {
		return ""
	}
	remedy := ""
	if data.train.columns != nil {
		remedy = ", or take the logarithms of a column with NAME=log (--columns)"
	}
	return fmt.Sprintf("numbers of %s are so close to 0 that float32 keeps few of their digits or none (%s): if they matter, scale the numbers%s", path, lost, remedy)
}

// apart returns a line on the columns of numbers in a file that has the columns of a set, or "". In such a column, most numbers
// are farther from the training numbers than these from each other.
func (t *table) apart(path string, gaps *Gaps) string {
	var columns []string
	for i, c := range t.like {
		if c.Numbers == nil || c.Numbers.Least == c.Numbers.Greatest || c.Units == 0 {
			continue // as in schemas of earlier versions, which lack the range
		}
		var known []float64
		far, least, greatest := 0, c.Numbers.Least, c.Numbers.Greatest
		for r, v := range t.columns[i].numbers {
			if _, named := t.columns[i].ranges[r]; named || gaps != nil && gaps.missing[r][i] {
				continue
			}
			if known = append(known, v); max(least-v, v-greatest) > greatest-least {
				far++
			}
		}
		if len(known) >= fewNumbers && 2*far > len(known) {
			columns = append(columns, fmt.Sprintf("%q, %v to %v, in training rows %v to %v", c.Name, slices.Min(known), slices.Max(known), least, greatest))
		}
	}
	if columns == nil {
		return ""
	}
	return fmt.Sprintf("most numbers of columns of %s are far from the training numbers (%s): check that they have the same unit", path, strings.Join(columns, "; "))
}

// checkOnePart refuses a file of other rows that has test or validation rows of its own.
func (data source) checkOnePart(path string) error {
	if data.test.count()+data.validation.count() > 0 {
		return fmt.Errorf("the file %s has more than one part: name a file of one array or table, or of one list of sequences, train, in the format of the training rows", path)
	}
	return nil
}

// files returns Name or, if Test is set, Name + and + Test.
func (s Spec) files(and string) string {
	if s.Test == "" {
		return s.Name
	}
	return s.Name + and + s.Test
}

// ReadRows reads the rows of another file with the columns, scale, shape and binarisation of the set. The file
// need not have a column of labels, and its sequences may have any number of steps. It refuses numbers that may have
// another scale, and grey levels that rounding would make constant in all rows.
func (s *Set) ReadRows(path string) (Split, error) {
	return work.Interruptible(func() (Split, error) { return s.readRows(path, nil, nil) })
}

// ParseRows is like ReadRows, for rows in memory. Several goroutines may call it at the same time.
func (s *Set) ParseRows(in Input) (Split, error) { return s.readRows(in.Name, &in, nil) }

// readRows reads rows from the file at path, or from in, unless it is nil. It collects missing fields in gaps, unless it is nil.
func (s *Set) readRows(path string, in *Input, gaps *Gaps) (Split, error) {
	spec := Spec{Name: path, input: in, Binarization: s.spec.Binarization, Largest: s.spec.Largest, Missing: s.spec.Missing, Gaps: s.spec.Gaps, Seed: s.spec.Seed, array: true}
	if s.fromFile() {
		spec.Columns, spec.Shape, spec.array = s.spec.Columns, s.spec.Shape, false
		if spec = spec.ReadLike(s.spec); s.spec.LabelFile == "" {
			spec.FirstLabel = s.spec.FirstLabel
		}
	}
	own := gaps
	if own == nil && s.spec.Gaps && s.fields != nil {
		own = &Gaps{set: s, labels: true}
	}
	data, err := spec.loadLike(s, own)
	if err != nil {
		return Split{}, err
	}
	of := data.train.Split
	if own != gaps {
		of.Missing = own.mask()
	}
	if !s.fromFile() && s.fromZeroToOne() && of.AreReal() && slices.Max(of.Reals()) > 2 {
		return Split{}, fmt.Errorf("%s has values up to %v, but the values of %s go from 0 to 1: divide the former by the largest possible value", path, slices.Max(of.Reals()), s.Name())
	}
	switch sequences := s.train.Lengths != nil; {
	case sequences != (of.Lengths != nil):
		return Split{}, fmt.Errorf("only one of %s and %s has sequences: give rows of the kind that the set has", path, s.Name())
	case sequences && of.Shape.Width != s.Shape().Width:
		return Split{}, fmt.Errorf("%s has %s per step, but %s has %d: give sequences of the same units", path, names.Count(of.Shape.Width, "unit"), s.Name(), s.Shape().Width)
	case sequences:
		if err := data.train.checkKeys(s.keys); err != nil {
			return Split{}, fmt.Errorf("%s: %w", path, err)
		}
	case of.Shape.Units() != s.Shape().Units():
		return Split{}, fmt.Errorf("%s has rows of %d values, but %s has rows of %d: give rows with the same columns", path, of.Shape.Units(), s.Name(), s.Shape().Units())
	default:
		of.Shape = s.Shape()
	}
	of.standardize(s.scalings)
	if err := of.checkRounding(); spec.Binarization == Fixed && err != nil {
		return Split{}, fmt.Errorf("%s: %w: scale the rows like the training rows, or train with binarization stochastic, grey or real", path, err)
	}
	constant := 0
	for r := range of.Rows {
		if spec.Binarization == Fixed && (Split{Values: of.Part(r, r+1)}).checkRounding() != nil {
			constant++
		}
	}
	spec.binarize(of, philox.NewStream(spec.Seed, philox.Binarize, rowsOfFile))
	split := of.as("given")
	if constant > 0 {
		data.doubt = names.Lines(data.doubt, fmt.Sprintf("%d of %s of %s have grey levels that rounding at one half makes constant: their log p says nothing of these levels", constant, names.Count(split.Rows, "row"), path))
	}
	split.notice = data.doubt
	return split, nil
}

// fromFile reports whether the rows of the set come from a file of the user.
func (s *Set) fromFile() bool { return s.spec.IsFile() && !s.madeFromRows }

// finish gives the rows of the user's files their labels, weights, shape and scale, or the scale of a set. It refuses
// missing values, and images of several shapes.
func (s Spec) finish(data *source, set *Set) error {
	codes := s.codes()
	for _, of := range []struct {
		rows         *rows
		file, labels string
	}{{&data.train, s.Name, s.LabelFile}, {&data.test, cmp.Or(s.Test, "test rows"), s.TestLabelFile}, {&data.validation, "validation rows", ""}} {
		if of.labels != "" {
			if err := of.rows.readLabels(of.file, of.labels); err != nil {
				return err
			}
		}
		var err error
		if i := slices.IndexFunc(of.rows.Labels, func(label uint8) bool { return label != Unlabeled && slices.Contains(codes, float64(label)) }); i >= 0 && (of.labels != "" || npy.Numbers[of.rows.kind].Width > 0) {
			err = fmt.Errorf("row %d has the class %v, which is a code for a missing value (--missing): give -1 to a row without a class", i+1, of.rows.Labels[i])
		} else {
			err = shift(of.rows.Labels, s.FirstLabel)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", cmp.Or(of.labels, of.file), err)
		}
	}
	if i := slices.IndexFunc(codes, func(code float64) bool { return math.IsNaN(npy.Nearest(data.train.kind, code)) }); i >= 0 {
		return fmt.Errorf("%s: missing = %q, but its numbers have type %s, which cannot have this value: give the code that the file has, or omit missing (--missing)", s.Name, strconv.FormatFloat(codes[i], 'f', -1, 64), data.train.kind)
	}
	if s.WeightFile != "" {
		if err := data.readWeights(s); err != nil {
			return fmt.Errorf("weight_file = %q: %w", s.WeightFile, err)
		}
	}
	if s.FirstLabel != 0 && data.train.Labels == nil {
		return fmt.Errorf("data set %s: first_label = %d, but the rows have no labels: give them with label_file, or omit first_label", s.Name, s.FirstLabel)
	}
	var first, parts []*rows // of the first file, and of both
	var second *rows         // rows that have the scale of others
	training := s.Name
	switch {
	case set != nil:
		second, training = &data.train, set.Name()
		if !set.fromFile() && s.Binarization != Real && s.Largest == 0 {
			spinsToBits(second)
		}
	case s.Test != "" && s.rules() != FirstRules:
		second = &data.test
	}
	for _, part := range []*rows{&data.train, &data.validation, &data.test} {
		if part.count() > 0 {
			parts = append(parts, part)
			if part != second {
				first = append(first, part)
			}
		}
		if part.AreBits() && (s.Binarization == Real || s.Largest != 0 || len(s.Missing) > 0) { // these settings need unpacked bytes
			part.Values = Bytes(part.Units, part.Bytes())
			for i := range part.Bytes() {
				if !part.scaled {
					part.Bytes()[i] &= 1
				}
			}
		}
	}
	longest := 0
	for _, part := range parts {
		if err := part.reshape(s.Shape); err != nil {
			return fmt.Errorf("%s: %w", s.Name, err)
		}
		longest = max(longest, part.Shape.Height)
	}
	for _, part := range parts {
		if part.Lengths != nil {
			if err := part.lengthen(longest); err != nil {
				return fmt.Errorf("%s: %w", s.files(" or "), err)
			}
		}
		if part.Shape != data.train.Shape {
			return fmt.Errorf("%s has rows of shape %v, but %s has rows of shape %v", s.Name, data.train.Shape, cmp.Or(s.Test, "its test or validation part"), part.Shape)
		}
	}
	for _, part := range parts {
		path := s.Name
		if part == &data.test {
			path = cmp.Or(s.Test, s.Name)
		}
		if err := part.checkMissing(s, true); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if err := part.checkKeys(data.train.keys); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	if err := s.scale(first...); err != nil {
		return fmt.Errorf("%s: %w", s.files(" or "), err)
	}
	if data.scale = data.train.scale(); set != nil {
		data.scale = set.scale
	}
	if second != nil {
		if err := s.scaleLike(data.scale, second); err != nil {
			return fmt.Errorf("%s has values on another scale than %s: %w", cmp.Or(s.Test, s.Name), training, err)
		}
	}
	for _, part := range parts {
		if data.scale.Bits && part.AreGrey() || part.bits && data.scale.Gray {
			return fmt.Errorf("one of %s and %s has only bytes of 0 and 1, but the other has grey levels: save both as floating-point numbers from 0 to 1, or round the grey levels to 0 and 1", training, cmp.Or(s.Test, cmp.Or(strings.TrimPrefix(s.Name, training), "its other rows")))
		}
	}
	return nil
}

// classify gives rows the numbers that classes have in other data, if both know the names of their classes.
func (r *rows) classify(classes []string) error {
	if classes == nil || r.classes == nil {
		return nil
	}
	for i, label := range r.Labels {
		class := slices.Index(classes, r.classes[label])
		if class < 0 {
			return fmt.Errorf("the training rows have no class %q, but %s: leave out its rows", r.classes[label], listed(classes))
		}
		r.Labels[i] = uint8(class)
	}
	r.classes = classes
	return nil
}

// readWeights reads the weights of the training rows from the file that the Spec names.
func (data *source) readWeights(s Spec) error {
	weights, is := readVector(s.WeightFile)
	if !is {
		spec := Spec{Name: s.WeightFile, Binarization: Real, Rules: FirstRules} // which keep two values as numbers
		of, err := spec.loadOwn()
		if err != nil {
			return err
		}
		if of.train.Shape.Units() > 1 && of.train.count() > 1 {
			return fmt.Errorf("its rows have %d values: give one weight per row", of.train.Shape.Units())
		}
		for _, w := range of.train.Reals() {
			weights = append(weights, float64(w))
		}
		if _, t, err := spec.readOwn(spec.Name, nil); err == nil && t != nil && s.rules() > FirstRules { // with all digits
			columns, _ := t.inferred(spec)
			var exact []float64
			for r := range t.rows {
				for i, c := range columns {
					if c.Units == 1 && c.Values == nil {
						exact = append(exact, t.columns[i].numbers[r])
					}
				}
			}
			if len(exact) == len(weights) {
				weights = exact
			}
		}
	}
	rows := data.train.count()
	codes := s.codes()
	coded := slices.IndexFunc(weights, func(w float64) bool {
		return slices.ContainsFunc(codes, func(code float64) bool { return s.rules().areSame(w, code) })
	})
	wrong := slices.IndexFunc(weights, func(w float64) bool { return !(0 <= w && w <= math.MaxFloat32) })
	switch {
	case data.validation.count() > 0:
		return errors.New("weights for a file that has its own validation rows: join them with the training rows, or leave weight_file empty")
	case len(weights) != rows:
		return fmt.Errorf("%s for %s; give one per row", names.Count(len(weights), "weight"), names.Count(rows, "row"))
	case coded >= 0:
		return fmt.Errorf("a weight is %v, a code for a missing value (--missing): to leave a row out, give it the weight 0", weights[coded])
	case wrong >= 0:
		return fmt.Errorf("the weight of row %d is %v, below 0 or not finite in float32: to leave a row out, give it the weight 0", wrong+1, weights[wrong])
	}
	if largest := slices.Max(weights); s.rules() > FirstRules && 0 < largest && largest < 1 { // so that sums do not underflow
		for i := range weights {
			weights[i] /= largest
		}
	}
	data.train.Weights = weights
	return nil
}

// readVector reads an array of one dimension, of n × 1 or of 1 × n from a file, and reports whether the file has one.
func readVector(path string) (numbers []float64, is bool) {
	path, pick := cutArray(path)
	array, err := readFile(path, func(r io.Reader) (tensor, error) {
		b, start, err := begin(r)
		if err != nil {
			return tensor{}, err
		}
		array, _, err := readArray(b, start, pick)
		return array, err
	})
	if err != nil || !array.isVector() || array.packed != nil {
		return nil, false
	}
	for i := range array.count() {
		numbers = append(numbers, array.at(i))
	}
	return numbers, true
}

// reshape gives rows the shape that a text such as 28x28 describes. An empty text changes nothing. The columns of
// a table then become pixels.
func (r *rows) reshape(text string) error {
	if text == "" {
		return nil
	}
	shape, err := parseShape(text)
	if err != nil {
		return err
	}
	if shape.Units() != r.Shape.Units() {
		return fmt.Errorf("shape = %s has %d values, but a row has %d: give a shape with the same number, or give columns that are no pixels the kind label or skip (--columns)", text, shape.Units(), r.Shape.Units())
	}
	for _, c := range r.columns {
		if c.Kind == LabelColumn {
			r.classes = c.Values
		}
	}
	r.Shape, r.columns = shape, nil
	return nil
}

// parseShape reads a shape HEIGHTxWIDTH.
func parseShape(text string) (shape Shape, err error) {
	height, width, _ := strings.Cut(strings.Replace(text, "×", "x", 1), "x")
	shape.Height, err = strconv.Atoi(height)
	if err == nil {
		shape.Width, err = strconv.Atoi(width)
	}
	if err != nil || shape.Check() != nil || shape.Height > 1<<20 || shape.Width > 1<<20 {
		return shape, fmt.Errorf("shape = %q: give the height and the width of images, such as 28x28", text)
	}
	return shape, nil
}

// readLabels labels the rows from a file.
func (r *rows) readLabels(rowsPath, path string) error {
	if r.Labels != nil {
		return fmt.Errorf("label_file = %q: the rows have labels in their own file; leave label_file empty, or skip their column", path)
	}
	path, pick := cutArray(path)
	labels, err := readFile(path, func(r io.Reader) ([]uint8, error) { return readPickedLabels(r, pick) })
	if err != nil {
		return err
	}
	if err := r.label(labels); err != nil {
		return fmt.Errorf("%s and %s: %w", rowsPath, path, err)
	}
	return nil
}

// shift subtracts the number of the first class from labels.
func shift(labels []uint8, first int) error {
	for i, label := range labels {
		switch {
		case label == Unlabeled:
		case int(label) < first:
			return fmt.Errorf("row %d has the class %d, before first_label = %d: give the number of the first class", i+1, label, first)
		default:
			labels[i] -= uint8(first)
		}
	}
	return nil
}

// errNotBits is the error for text with values other than 0 and 1.
var errNotBits = errors.New("values are 0 or 1, separated by spaces or commas")

// ErrOutside is the error for numbers that are neither from 0 to 1 nor grey levels up to 255 if Spec.Largest gives no
// other scale. The binarisation Real keeps such numbers.
var ErrOutside = errors.New("not in [0, 1]")

// readOwn reads a user's file or folder. For text with values other than 0 and 1, and for other formats of
// tables, it returns a table. If t is not nil, readOwn reads the file as a table, adds its rows to t and returns
// t. A path FILE#NAME names an array in a file.
func (s Spec) readOwn(path string, t *table) (source, *table, error) {
	pick := ""
	if s.input == nil {
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			data, err := readFolder(path)
			return data, nil, err
		}
		path, pick = cutArray(path)
	}
	var data source
	if t == nil {
		var err error
		data, err = readInput(s.input, path, func(r io.Reader) (source, error) { return s.readAny(r, pick) })
		if err == nil || !errors.Is(err, errNotBits) {
			return data, nil, err
		}
		if t, err = s.newTable(); err != nil {
			return source{}, nil, err
		}
	}
	t.train = t.rows
	if s.input != nil && s.input.Rows != nil {
		t.beginNamed()
		t.python = "pandas.DataFrame(ROWS)"
		for line, fields := range s.input.Rows {
			if err := t.add(fields, line+1); err != nil {
				return data, t, err
			}
		}
		return data, t, t.end()
	}
	_, err := readInput(s.input, path, func(r io.Reader) (struct{}, error) { return struct{}{}, t.read(r) })
	if !t.second() {
		t.train = t.rows
	}
	return data, t, err
}

// cutArray cuts FILE#NAME into the path of a file and the name of an array in it, or "". # may also be part of either:
// the longest path of a file that exists is the file.
func cutArray(path string) (file, array string) {
	for end := len(path); end > 0; end = strings.LastIndex(path[:end], "#") {
		if info, err := os.Stat(path[:end]); err == nil && !info.IsDir() {
			return path[:end], strings.TrimPrefix(path[end:], "#")
		}
	}
	if end := strings.LastIndex(path, "#"); end > 0 {
		return path[:end], path[end+1:]
	}
	return path, ""
}

// begin returns the content of a file after any byte order mark, and its first bytes.
func begin(r io.Reader) (b *input, start []byte, err error) {
	b = inputOf(r)
	b.skipMark()
	start, err = b.Peek(longestStart)
	switch {
	case err != nil && err != io.EOF:
		return nil, nil, err
	case len(start) == 0:
		return nil, nil, errors.New("the file is empty")
	}
	return b, start, nil
}

// readAny detects the format of a file from its first bytes and reads it. pick names an array in the file. For
// text with values other than 0 and 1, for all text if the Spec has columns, and for registered formats of tables,
// readAny returns errNotBits, so that the caller reads a table.
func (s Spec) readAny(r io.Reader, pick string) (source, error) {
	b, start, err := begin(r)
	if err != nil {
		return source{}, err
	}
	if arrays, is, named, err := readArrays(b, start, pick); is && (named || pick == "") {
		switch {
		case err != nil:
			return source{}, err
		case !named:
			read, err := arrays[0].rows()
			return source{train: read}, err
		case bytes.HasPrefix(start, []byte(matlabMagic)):
			arrays, err = turned(arrays, pick)
		}
		if err != nil {
			return source{}, err
		}
		return arrange(arrays, pick, s.rules() != FirstRules)
	}
	if pick != "" {
		return source{}, fmt.Errorf("it has no array %q: only .npz and MATLAB files have named arrays", pick)
	}
	if tableReader(start) != nil || s.rules() != FirstRules && isRecords(start) {
		return source{}, errNotBits
	}
	if err := checkRead(start); err != nil {
		return source{}, err
	}
	if s.rules() != FirstRules && textOfR.Match(start) {
		return source{}, unreadError(rName, rRemedy)
	}
	if start[0] == '{' {
		return s.readSequences(b, nil)
	}
	var read rows
	switch {
	case strings.IndexByte("01 \t\r\n", start[0]) >= 0 && s.Columns+s.Schema+s.Header+s.Decimal == "":
		read, err = readText(b)
	case isText(start):
		err = errNotBits
	case isText(bytes.ToValidUTF8(start, nil)):
		err = errNotUTF8
	default:
		err = fmt.Errorf("a file that begins with %q has an unknown format: save it as NPY, CSV, IDX or pictures", start)
	}
	return source{train: read}, err
}

// isText reports whether the first bytes of a file are text in UTF-8. The last character may be incomplete.
func isText(start []byte) bool {
	for len(start) > 0 {
		r, n := utf8.DecodeRune(start)
		if r == utf8.RuneError && len(start) >= utf8.UTFMax || r < ' ' && r != '\t' && r != '\r' && r != '\n' {
			return false
		}
		start = start[n:]
	}
	return true
}
