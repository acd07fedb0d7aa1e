// Package dataset opens the data sets that machines learn: named sets, synthetic sets and your own data. A row
// is an image of visible units. Each unit has a byte v, which stands for v/255: the probability that the unit is
// on, or the value of a Gaussian unit. With the binarisation Real, each unit has a real number instead.
//
// A set is opened from a Spec, which names the data and describes how its rows are divided into training,
// validation and test rows:
//
//	digits, err := dataset.Open("mnist")
//	few, err := dataset.Spec{Name: "mnist", Subset: 1000, Seed: 3}.Open()
//
// Open looks for the files of named sets in the folder that the environment variable HELMHOLTZ_DATA names, then
// in the user's cache directory. It never downloads; Get does.
package dataset

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/helmholtz-go/helmholtz/internal/lists"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/internal/numbers"
	"github.com/helmholtz-go/helmholtz/internal/philox"
	"github.com/helmholtz-go/helmholtz/internal/shell"
)

// Shape describes how the visible units of a row form an image. Rows that are not images have height 1.
type Shape struct {
	Height, Width int
}

// Units returns the number of visible units.
func (s Shape) Units() int { return s.Height * s.Width }

// String returns the shape as height×width.
func (s Shape) String() string { return fmt.Sprintf("%d×%d", s.Height, s.Width) }

// Check refuses a shape without pixels.
func (s Shape) Check() error {
	if s.Height < 1 || s.Width < 1 {
		return fmt.Errorf("shape %v: give a height and a width of 1 or more", s)
	}
	return nil
}

// Values are the numbers of rows: bytes, of which v stands for v/255, bits or real numbers.
type Values = numbers.Values

// Bytes returns rows of bytes, each of a number of units, one after the other. v stands for v/255.
func Bytes(units int, values []uint8) Values { return numbers.Bytes(units, values) }

// Reals returns rows of real numbers, each of a number of units, one after the other.
func Reals(units int, values []float32) Values { return numbers.Reals(units, values) }

// Split is a part of a data set: training, validation or test rows.
type Split struct {
	Name   string // "train", "validation" or "test"
	Shape  Shape
	Values         // rows of Shape.Units() values: the probability that a unit is on, or the value of a Gaussian unit
	Labels []uint8 // class of each row, or Unlabeled; nil if no row has a label
	// Weights are the relative frequencies with which training visits the rows; nil if training visits all rows
	// equally often. Means over the rows count them by MeanWeights.
	Weights []float64
	visits  bool // whether Weights only determine visits, because FirstRules read the file
	// Lengths are the numbers of steps of sequences; nil for other rows. A sequence is a row of Shape.Height
	// steps of Shape.Width units, which are 0 after its last step.
	Lengths []int
	// Missing reports which values are missing, parallel to the values of all rows. It is nil unless Spec.Gaps is set. Some
	// value of the unit stands in the place of a missing one.
	Missing []bool

	notice string
}

// Notice returns warnings about rows of ReadRows that rounding made constant, about columns whose numbers are far from
// the training numbers, and about numbers too close to 0 for float32, or "" if there are none.
func (s Split) Notice() string { return s.notice }

// MeanWeights returns the weights by which rows count in means, or nil if they count alike: if there are no weights, or
// if FirstRules read their file.
func (s Split) MeanWeights() []float64 {
	if s.visits {
		return nil
	}
	return s.Weights
}

// Counts returns, for each row, the number of rows that it counts as: 1 without MeanWeights, or the weight if all
// weights are whole numbers. Other weights are scaled so that the rows with a weight count as their number.
func (s Split) Counts() []float64 {
	counts := slices.Repeat([]float64{1}, s.Rows)
	if weights := s.MeanWeights(); weights != nil {
		copy(counts, weights)
		if slices.ContainsFunc(weights, func(w float64) bool { return w != math.Trunc(w) }) {
			positive := floats.Count(func(w float64) bool { return w > 0 }, weights)
			floats.Scale(float64(positive)/floats.Sum(weights), counts)
		}
	}
	return counts
}

// Shares returns, for each row, by how much more it counts in means than a mean row: 1 without MeanWeights.
func (s Split) Shares() []float64 {
	shares, weights := slices.Repeat([]float64{1}, s.Rows), s.MeanWeights()
	perWeight := float64(s.Rows) / floats.Sum(weights)
	for r, w := range weights {
		shares[r] = w * perWeight
	}
	return shares
}

// Floats returns the values of the given rows, or of all rows if none are given, one slice per row. Grey values v
// become v/255, and real numbers stay as they are.
func (s Split) Floats(rows ...int) [][]float64 {
	if len(rows) == 0 {
		for i := range s.Rows {
			rows = append(rows, i)
		}
	}
	all := make([][]float64, len(rows))
	n := s.Shape.Units()
	for i, row := range rows {
		all[i] = make([]float64, n)
		for j := range n {
			all[i][j] = s.At(row*n + j)
		}
	}
	return all
}

// String returns the name of the split, and the number and the shape of its rows.
func (s Split) String() string {
	return fmt.Sprintf("%s of %v", names.Count(s.Rows, strings.TrimLeft(s.Name+" row", " ")), s.Shape)
}

// called returns "the train split" for the noun split, or "the split" if the split has no name.
func (s Split) called(noun string) string {
	return strings.Join(strings.Fields("the "+s.Name+" "+noun), " ")
}

// ErrNoRows is the error for a split without rows.
var ErrNoRows = errors.New("no rows")

// Check refuses a split without rows, and a split whose values, labels or lengths do not match the number and the
// shape of its rows.
func (s Split) Check() error {
	if err := s.Shape.Check(); err != nil {
		return fmt.Errorf("%s: %w", s.called("split"), err)
	}
	switch units := s.Shape.Units(); {
	case s.Rows < 1:
		return fmt.Errorf("%s has %w: choose another split", s.called("split"), ErrNoRows)
	case s.Units != units:
		return fmt.Errorf("%s has rows of %d values, but their shape is %v: give %d", s.called("split"), s.Units, s.Shape, units)
	case s.Missing != nil && len(s.Missing) != s.Rows*units:
		return fmt.Errorf("%s has a mask of %d missing values for %s of %d units: give %d, or nil", s.called("split"), len(s.Missing), names.Count(s.Rows, "row"), units, s.Rows*units)
	case s.Labels != nil && len(s.Labels) != s.Rows:
		return fmt.Errorf("%s has %d labels for %s: give one per row, or none", s.called("split"), len(s.Labels), names.Count(s.Rows, "row"))
	}
	if err := s.Values.Check(); err != nil {
		return fmt.Errorf("%s has %w", s.called("split"), err)
	}
	if err := checkLengths(s.Lengths, s.Rows, s.Shape.Height); err != nil {
		return fmt.Errorf("%s: %w", s.called("split"), err)
	}
	return nil
}

// Labeled returns the indices of the rows that have a label. It refuses labels outside 0 to classes−1, and a
// split without any label.
func (s Split) Labeled(classes int) (rows []int, err error) {
	for r, class := range s.Labels {
		switch {
		case class == Unlabeled:
			continue
		case int(class) >= classes:
			return nil, fmt.Errorf("row %d of %s has class %d, but the model has %d classes: give classes from 0 to %d", r+1, s.called("split"), class, classes, classes-1)
		}
		rows = append(rows, r)
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("%s have no labels: choose another split", s.called("rows"))
	}
	return rows, nil
}

// Subset draws n rows from the seed and returns them in their original order. It returns all rows if n is 0, negative,
// or larger than their number. Check must accept the split.
func (s Split) Subset(n int, seed uint64) Split {
	if n <= 0 || n >= s.Rows {
		return s
	}
	chosen := philox.NewStream(seed, philox.Select, 0).Perm(s.Rows)[:n]
	slices.Sort(chosen)
	return s.pick(chosen)
}

// Set is a data set, divided into splits. It does not change: all its users share the slices of its splits, so do
// not write to them.
type Set struct {
	spec                    Spec
	madeFromRows            bool
	doubt                   string
	binarized               bool // whether grey values became binary when the set was opened
	columns                 []Column
	unnamed                 []string  // the numbers of the columns of a table without names, for each unit
	spins                   bool      // whether the values were -1 and 1
	unread                  string    // names arrays of the file that were not read
	keys                    []int     // lowest and highest key of sequences of keys, if the file gave them
	classes                 []string  // names of the classes, if the rows came from folders of classes
	scalings                []scaling // of the units of a standardised set
	train, validation, test Split
	form                          // of the table from which columns follow
	scale                   scale // of the numbers of the file
	fingerprint             func() string
}

func newSet(spec Spec, train, validation, test Split) *Set {
	s := &Set{
		spec:       spec,
		train:      train.as("train"),
		validation: validation.as("validation"),
		test:       test.as("test"),
	}
	for _, of := range []*Split{&s.train, &s.validation, &s.test} {
		of.visits = spec.rules() == FirstRules
		of.Units = s.train.Units // also of a split without rows
	}
	s.fingerprint = sync.OnceValue(s.hash)
	return s
}

// String describes the set: its name, the shape and the numbers of its rows, the range of the training values,
// and the share of ones among them, or their mean if they are not all 0 or 1. For sequences, it gives the number
// of training steps instead of the values. For a set that was just opened, it also reports whether grey values
// were rounded.
func (s *Set) String() string {
	text := fmt.Sprintf("%s: rows of %v, %d for training, %d for validation, %d for tests; %s", s.Name(), s.Shape(), s.train.Rows, s.validation.Rows, s.test.Rows, s.train.values())
	if s.train.Lengths != nil {
		text = fmt.Sprintf("%s: sequences of up to %s of %s, %d for training with %s, %d for validation, %d for tests", s.Name(),
			names.Count(s.Shape().Height, "step"), names.Count(s.Shape().Width, "unit"), s.train.Rows, names.Count(s.train.Steps(), "step"), s.validation.Rows, s.test.Rows)
	}
	if s.binarized && s.spec.Binarization == Fixed {
		text += "; grey values rounded at one half, see --binarization"
	}
	if missing := s.train.Lacking(); s.spec.Gaps {
		text += fmt.Sprintf("; missing: %d of %d units of the training rows", missing, s.train.Rows*s.Shape().Units())
	}
	if s.train.Weights != nil {
		text += "; rows count by the weights of " + s.spec.WeightFile
	}
	return text
}

// values describes the values of a split.
func (s Split) values() string {
	n := s.Rows * s.Shape.Units()
	sum, least, most := 0.0, math.Inf(1), math.Inf(-1)
	known := n
	for i := range n {
		if s.IsMissing(i) {
			known--
			continue
		}
		v := s.At(i)
		sum, least, most = sum+v, min(least, v), max(most, v)
	}
	n = known
	if !s.AreReal() && !s.AreGrey() {
		return fmt.Sprintf("values %.3g to %.3g, %.1f %% ones", least, most, 100*sum/float64(max(1, n)))
	}
	return fmt.Sprintf("values %.3g to %.3g, mean %.3g", least, most, sum/float64(max(1, n)))
}

// part returns v/255 as text.
func part(v uint8) string { return fmt.Sprintf("%.3g", float64(v)/255) }

// Notice returns a line for each of these, or "" if there are none: the first line of a file of test rows that may be its
// header or a row, arrays that were not read, columns of a table that
// are left out although the Spec does not skip them, ranges without effect, a class without training rows, and odd training rows: all rows are
// the same, most rows have one value throughout, real columns have a single range, or grey values use a small part of
// the scale from 0 to 1. A model can be trained on such rows, but they are seldom intended.
func (s *Set) Notice() string {
	return names.Lines(s.doubt, s.unread, s.leftOut(), s.uncut(), s.untaught(), s.odd())
}

// uncut names the columns whose ranges in the Spec have no effect, since Real keeps their numbers, or returns "".
func (s *Set) uncut() string {
	kinds, err := parseColumns(s.spec.Columns)
	var whole []string
	for _, c := range s.columns {
		if err == nil && s.spec.Binarization == Real && kinds[c.Name].ranges() > 0 {
			whole = append(whole, c.Name)
		}
	}
	if whole == nil {
		return ""
	}
	return fmt.Sprintf("binarization real keeps the numbers of %s, and the ranges that columns (--columns) gives them have no effect: write %s=real, or omit binarization real to divide all numbers into ranges", quoted(whole), whole[0])
}

// untaught returns a warning about a class of other rows that no training row has, or "".
func (s *Set) untaught() string {
	have := perClass(s.train.Labels, s.Classes())
	for _, label := range slices.Concat(s.validation.Labels, s.test.Labels) {
		if label == Unlabeled || have[label] > 0 || s.spec.isNamed() {
			continue
		}
		class := strconv.Itoa(int(label))
		if called := s.ClassNames(); called != nil {
			class = strconv.Quote(called[label])
		}
		return fmt.Sprintf("no training row of %s has the class %s, but other rows have it, and no model can learn it: give it training rows, or leave its rows out", s.Name(), class)
	}
	return ""
}

// leftOut names the columns that are left out although the Spec does not skip them, and those that perhaps should be, of a
// file whose columns no schema declares.
func (s *Set) leftOut() (text string) {
	kinds, err := parseColumns(s.spec.Columns)
	if err != nil || !s.spec.IsFile() || s.spec.Schema != "" {
		return ""
	}
	var constant, other, doubtful []string
	measured := ""
	for _, c := range s.columns {
		_, given := kinds[c.Name]
		switch {
		case given:
		case c.measured() != "":
			measured = names.Lines(measured, c.measured())
		case c.Kind == RealColumn && (identifierName.MatchString(c.Name) || c.Numbers != nil && c.Numbers.Greatest >= 1<<53), c.Kind == CategoricalColumn && c.Units > 10 && 2*c.Units > s.train.Rows:
			doubtful = append(doubtful, c.Name)
		case !c.Kind.isIgnored():
		case c.Values != nil:
			constant = append(constant, c.Name)
		default:
			other = append(other, c.Name)
		}
	}
	var without []string
	if constant != nil {
		without = append(without, quoted(constant)+" (one value throughout)")
	}
	if other != nil {
		without = append(without, quoted(other)+" (another value in each row)")
	}
	if without != nil {
		text = fmt.Sprintf("left out of %s: %s; to keep a column, give its kind, NAME=real or NAME=categorical (--columns)", s.Name(), strings.Join(without, " and "))
	}
	skewed, coded := s.oddNumbers(kinds)
	if skewed != nil {
		text = names.Lines(text, fmt.Sprintf("columns of %s with positive and skewed numbers (%s): their logarithms may suit the model better, with columns = %q (--columns); NAME=real keeps the numbers", s.Name(), quoted(skewed), strings.Join(skewed, "=log,")+"=log"))
	}
	same, absent := s.alike(kinds)
	text = names.Lines(text, coded, same, absent, measured)
	if doubtful != nil {
		text = names.Lines(text, fmt.Sprintf("columns of %s that may name or number the rows (%s): if they do, leave them out with columns = %q (--columns)", s.Name(), quoted(doubtful), strings.Join(doubtful, "=skip,")+"=skip"))
	}
	return text
}

// alike returns a line on a column whose values differ only in upper and lower case, in spaces, or in characters that cannot be
// seen, and a line on a column of words with a value that may stand for missing values, unless kinds has the column.
func (s *Set) alike(kinds map[string]Column) (same, absent string) {
	for _, c := range s.columns {
		if _, given := kinds[c.Name]; given || s.spec.rules() == FirstRules || c.Cuts != nil {
			continue
		}
		unlike := slices.ContainsFunc(c.Values, func(value string) bool { // a code for missing values
			return !absentWord.MatchString(value) && (letters.MatchString(value) || c.Kind == BinaryColumn && len(value) == 1 && isWhole(value))
		})
		plain := make([]string, len(c.Values))
		for i, value := range c.Values {
			plain[i] = plainly(value)
			other := slices.IndexFunc(plain[:i], func(v string) bool { return strings.EqualFold(v, plain[i]) })
			switch {
			case other < 0 || same != "":
			case strings.EqualFold(c.Values[other], value):
				same = fmt.Sprintf("values of column %q of %s differ only in case (%q, %q): if they mean the same, write them alike in the file", c.Name, s.Name(), c.Values[other], value)
			default:
				same = fmt.Sprintf("values of column %q of %s differ only in spaces or in characters that cannot be seen (%+q, %+q): write them alike in the file", c.Name, s.Name(), c.Values[other], value)
			}
			if absent == "" && unlike && absentWord.MatchString(value) {
				absent = fmt.Sprintf("column %q of %s has the value %q, which may stand for missing values: if it does, give %s", c.Name, s.Name(), value, s.spec.withCode(value))
			}
		}
	}
	return same, absent
}

// plainly returns a text with single spaces, and without characters that cannot be seen.
func plainly(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, text)
	return strings.Join(strings.Fields(text), " ")
}

// letters matches a text with two of them, absentWord a text that often stands for a missing value.
var (
	letters    = regexp.MustCompile(`\pL\pL`)
	absentWord = regexp.MustCompile(`(?i)^([^\pL\pN]+|#(div/0|value|ref|name|num)[!?]|\\n|nat|na|nd|(n|k)\. ?[ad]\.|not (available|applicable)|no data|missing|unknown|-9+|9{2,}|-?inf(inity)?)$`)
)

// withUnit matches a number and its unit, date a day with or without a time.
var (
	withUnit = regexp.MustCompile(`^[-+]?[0-9]+([.,][0-9]+)? ?(\pL[\pL/²³]*|°\pL?|%)$`)
	date     = regexp.MustCompile(`^([0-9]{4}[-/.][0-9]{1,2}[-/.][0-9]{1,2}|[0-9]{1,2}[-/.][0-9]{1,2}[-/.][0-9]{4})([T ][0-9:.]+([Zz]|[-+][0-9:]+)?)?$`)
)

// measured returns what is odd about a column of categories that are all dates, or numbers of one unit, or about numbers from one
// date to another, such as 20261130, or "".
func (c Column) measured() string {
	if n := c.Numbers; c.Kind == RealColumn && n != nil && n.Decimals == 0 && isDate(n.Least) && isDate(n.Greatest) {
		return fmt.Sprintf("column %q has numbers that may be dates (%.0f), whose differences are no numbers of days: leave it out with columns = %q (--columns), or write days or months into the file", c.Name, n.Least, c.Name+"=skip")
	}
	if c.Kind != CategoricalColumn || len(c.Values) <= fewNumbers {
		return ""
	}
	units, dates := map[string]bool{}, true
	for _, value := range c.Values {
		unit := ""
		if parts := withUnit.FindStringSubmatch(value); parts != nil {
			unit = parts[2]
		}
		units[unit], dates = true, dates && date.MatchString(value)
	}
	switch {
	case dates:
		return fmt.Sprintf("column %q has dates (%s), and each is a category of its own: leave it out with columns = %q (--columns), or write numbers into the file, such as months or days", c.Name, c.Values[0], c.Name+"=skip")
	case len(units) == 1 && !units[""]:
		return fmt.Sprintf("column %q has numbers with a unit (%q), and each is a category of its own: take the unit away in the file, or keep the categories with columns = %q (--columns)", c.Name, c.Values[0], c.Name+"=categorical")
	}
	return ""
}

// isDate reports whether a number has a year, a month and a day as its digits.
func isDate(v float64) bool {
	day, err := time.Parse("20060102", strconv.FormatFloat(v, 'f', -1, 64))
	return err == nil && 1900 <= day.Year() && day.Year() < 2100
}

// leastSkewness is the smallest skewness of positive numbers for which oddNumbers names their column, if their logarithms
// have less than half of it.
const leastSkewness = 2

// oddNumbers returns the columns of positive real numbers that are skewed, and a line on a column or an array with a number, such
// as −999.9, that may stand for a missing value, unless kinds has the columns.
func (s *Set) oddNumbers(kinds map[string]Column) (skewed []string, coded string) {
	if s.spec.rules() == FirstRules || s.spec.Schema != "" || s.train.Rows < 3 {
		return nil, ""
	}
	ofColumn := func(c Column, code string) string {
		return fmt.Sprintf("column %q of %s has %s, or missing = [%q] for this column in a schema", c.Name, s.Name(), s.spec.mayBeMissing(code), code)
	}
	for _, c := range s.columns {
		if _, is := kinds[c.Name]; is || coded != "" {
			continue
		}
		if code := c.codeBesideCuts(); code != "" {
			coded = ofColumn(c, code)
		}
	}
	if !s.train.AreReal() {
		return nil, coded
	}
	units := s.Shape().Units()
	at := func(k int) float64 { return s.scalingOf(k % units).original(s.train.At(k)) }
	if s.columns == nil {
		least, greatest := math.Inf(1), math.Inf(-1)
		for k := range s.train.Rows * units {
			least, greatest = min(least, at(k)), max(greatest, at(k))
		}
		for _, v := range []*float64{&least, &greatest} { // as the file had them, before they were standardised
			*v, _ = strconv.ParseFloat(strconv.FormatFloat(*v, 'g', 6, 64), 64)
		}
		if code := codeAmong(s.train.Rows*units, at, least, greatest); code != "" {
			coded = fmt.Sprintf("%s has %s", s.Name(), s.spec.mayBeMissing(code))
		}
	}
	numbers := make([]float64, s.train.Rows)
	for _, c := range s.columns {
		if _, is := kinds[c.Name]; is || c.Numbers == nil || c.Units != 1 {
			continue
		}
		for r := range numbers {
			numbers[r] = at(r*units + c.First)
		}
		if code := codeAmong(len(numbers), func(r int) float64 { return numbers[r] }, c.Numbers.Least, c.Numbers.Greatest); code != "" && coded == "" {
			coded = ofColumn(c, code)
		}
		if c.Numbers.Least <= 0 {
			continue
		}
		for r, v := range numbers {
			numbers[r] = max(v, c.Numbers.Least)
		}
		skewness := stat.Skew(numbers, nil)
		if skewness <= leastSkewness {
			continue
		}
		for r, v := range numbers {
			numbers[r] = math.Log(v)
		}
		if math.Abs(stat.Skew(numbers, nil)) < skewness/2 {
			skewed = append(skewed, c.Name)
		}
	}
	return skewed, coded
}

func (s Spec) mayBeMissing(code string) string {
	return fmt.Sprintf("numbers %s far from the others, which may stand for missing values: if they do, give %s", code, s.withCode(code))
}

// withCode returns the setting, and the flags, of the codes for missing values of the Spec and another one.
func (s Spec) withCode(code string) string {
	s.Missing = append(slices.Clone(s.Missing), code)
	setting, _ := s.Missing.MarshalTOML()
	flags := lists.Map(s.Missing, func(code string) string { return "--missing " + shell.Argument(code) })
	return fmt.Sprintf("missing = %s (%s)", setting, strings.Join(flags, " "))
}

// nines matches numbers that often stand for missing values.
var nines = regexp.MustCompile(`^-?9+(\.9+)?$`)

// codeAmong returns the least or the greatest of n numbers if it has only nines, several times, and is farther from
// the other numbers than these from each other. Otherwise it returns "".
func codeAmong(n int, number func(int) float64, least, greatest float64) string {
	for _, code := range []float64{least, greatest} {
		text := strconv.FormatFloat(code, 'f', -1, 64)
		if !nines.MatchString(text) {
			continue
		}
		times, low, high := 0, math.Inf(1), math.Inf(-1) // low and high of the other numbers
		for k := range n {
			if v := number(k); math.Abs(v-code) < 1e-5*math.Abs(code) { // standardising rounds numbers
				times++
			} else {
				low, high = min(low, v), max(high, v)
			}
		}
		if 1 < times && times < n && min(math.Abs(low-code), math.Abs(high-code)) > high-low {
			return text
		}
	}
	return ""
}

// codeBesideCuts returns the least or the greatest number of a column of ranges if it has only nines, and is farther from the
// nearest cut than the other end of the column is from there. Otherwise it returns "".
func (c Column) codeBesideCuts() string {
	n := c.Numbers
	if n == nil || len(c.Cuts) == 0 {
		return ""
	}
	first, last := c.Cuts[0], c.Cuts[len(c.Cuts)-1]
	if first == n.Least && len(c.Cuts) > 1 {
		first = c.Cuts[1]
	}
	least, greatest := strconv.FormatFloat(n.Least, 'f', -1, 64), strconv.FormatFloat(n.Greatest, 'f', -1, 64)
	switch {
	case nines.MatchString(least) && first-n.Least > n.Greatest-first:
		return least
	case nines.MatchString(greatest) && n.Greatest-last > last-n.Least:
		return greatest
	}
	return ""
}

// odd returns a warning about odd training rows, or "".
func (s *Set) odd() string {
	t := s.train
	same, constant, n := 0, 0, t.Shape.Units()
	for row := 0; row < t.Rows*n; row += n {
		if every(n, func(j int) bool { return t.At(row+j) == t.At(j) }) {
			same++
		}
		if every(n, func(j int) bool { return t.At(row+j) == t.At(row) }) {
			constant++
		}
	}
	var single []string
	for _, c := range s.columns {
		if c.Kind == RealColumn && len(c.Values) == 1 {
			single = append(single, c.Name)
		}
	}
	fixed, without := s.constant()
	few := s.binary()
	var least, most uint8
	if t.AreGrey() {
		least, most = slices.Min(t.Bytes()), slices.Max(t.Bytes())
	}
	switch {
	case t.Rows < 2:
		return ""
	case same == t.Rows:
		return fmt.Sprintf("all %d training rows of %s are the same: check that this is the file you mean", t.Rows, s.Name())
	case 2*constant > t.Rows && n >= 8: // shorter rows often have one value throughout
		return fmt.Sprintf("%d of %d training rows of %s have one value throughout: check the scale of the values, and that rows and columns are not exchanged", constant, t.Rows, s.Name())
	case single != nil:
		return fmt.Sprintf("%s of %s with a single range, whose unit is always on (%s): divide the numbers into more ranges or categories, such as columns = %q or %q (--columns), or leave a constant column out with %q",
			names.Count(len(single), "column"), s.Name(), listed(single), single[0]+"=real:20", single[0]+"=categorical", single[0]+"=skip")
	case fixed != "":
		return fmt.Sprintf("%s of %s has the same number in all training rows, which adds nats to log p that say nothing of the other numbers: leave it out %s", fixed, s.Name(), without)
	case few != nil:
		return fmt.Sprintf("the numbers at the places %s of the rows of %s have at most two values, but only the columns of tables can be binary: save the rows as CSV with a header", listed(few), s.Name())
	case t.AreGrey() && (most < 128 || most-least < 26):
		return fmt.Sprintf("the values of %s go from %s to %s, a small part of the scale from 0 to 1: check that they were divided by the largest possible value, or keep them as they are with --binarization real", s.Name(), part(least), part(most))
	}
	return ""
}

// mostScale is the largest mean, without its sign, and standard deviation without a ScaleNotice. On 1000
// rows of 5 correlated columns, the machine and method of hm.Suggested end above the factorised baseline with
// deviations of 1 and 3, and below it with means of 3 (by 0.3 nats), 5 (3.3) and 20 (39), or deviations of 5 (0.3)
// and 10 (6.8).
const mostScale = 3

// ScaleNotice returns a warning for models that do not standardise real numbers if a training column has a large mean
// or standard deviation, or "" if none has.
func (s *Set) ScaleNotice() string {
	if s.scalings != nil || !s.train.AreReal() {
		return ""
	}
	column, most := "", scaling{}
	for i, of := range s.train.moments(s.train.MeanWeights()) {
		if max(math.Abs(of.Mean), of.SD) > max(math.Abs(most.Mean), most.SD) {
			column, most = s.placeOf(i), of
		}
	}
	if max(math.Abs(most.Mean), most.SD) <= mostScale {
		return ""
	}
	remedy := "standardise the numbers with standardize = true (--standardize)"
	if s.isImages() {
		remedy = fmt.Sprintf("divide the numbers by the largest possible value, such as largest = %v (--largest)", max(slices.Max(s.train.Reals()), -slices.Min(s.train.Reals())))
	}
	return fmt.Sprintf("%s of %s has the mean %.4g and the standard deviation %.4g, but a new model expects numbers within a few units of 0: %s", column, s.Name(), most.Mean, most.SD, remedy)
}

// DensityNotice returns a warning for models that treat all units as real numbers if some columns of real rows have
// categories, or "".
func (s *Set) DensityNotice() string {
	var columns []string
	for _, c := range s.columns {
		if s.train.AreReal() && c.Units > 0 && c.Values != nil {
			columns = append(columns, c.Name)
		}
	}
	if columns == nil {
		return ""
	}
	return fmt.Sprintf("columns of %s with categories (%s) have densities here, like real numbers: do not compare log p with the log p of a model of their probabilities, such as a Helmholtz machine with --groups data", s.Name(), quoted(columns))
}

// RangesNotice returns a warning for models that treat all units as real numbers if the units of columns of numbers are
// ranges, or "".
func (s *Set) RangesNotice() string {
	var columns []string
	for _, c := range s.columns {
		if c.Cuts != nil && c.Units > 0 {
			columns = append(columns, c.Name)
		}
	}
	if columns == nil {
		return ""
	}
	return fmt.Sprintf("numbers of %s (%s) are cut into ranges, each a unit of 0 and 1, which this model takes for real numbers: --binarization real --standardize keeps the numbers", s.Name(), quoted(columns))
}

// placeOf names the column or the place of a unit of the rows, for sequences of a step.
func (s *Set) placeOf(unit int) string {
	for _, c := range s.columns {
		if c.First <= unit && unit < c.First+c.Units {
			return fmt.Sprintf("column %q", c.Name)
		}
	}
	if s.train.Lengths != nil {
		return fmt.Sprintf("value %d of the steps", unit+1)
	}
	return fmt.Sprintf("value %d of the rows", unit+1)
}

// isImages reports whether the rows are images, whose units cannot be left out or standardised alone.
func (s *Set) isImages() bool { return s.Shape().Height > 1 && s.train.Lengths == nil }

// constant returns the place of the first unit of real numbers that has the same number in all training rows, or "",
// and how to leave it out.
func (s *Set) constant() (place, without string) {
	if !s.train.AreReal() || s.isImages() {
		return "", ""
	}
	for k, of := range s.train.moments(s.train.MeanWeights()) {
		i := slices.IndexFunc(s.columns, func(c Column) bool { return c.First <= k && k < c.First+c.Units })
		switch {
		case of.SD > 0 || i >= 0 && (s.columns[i].Kind != RealColumn || s.columns[i].Units > 1):
			continue
		case i >= 0:
			without = fmt.Sprintf("with columns = %q (--columns)", s.columns[i].Name+"=skip")
		case s.unnamed != nil:
			without = fmt.Sprintf("with columns = %q (--columns)", s.unnamed[k]+"=skip")
		case s.madeFromRows:
			without = "of the rows"
		default:
			without = fmt.Sprintf("with numpy.delete(a, %d, -1) of its array a", k)
		}
		return s.placeOf(k), without
	}
	return "", ""
}

// binary returns the places of numbers with at most two values in rows without columns, or nil if all numbers are from 0
// to 1.
func (s *Set) binary() (places []string) {
	if t, n := s.train, s.Shape().Units(); t.AreReal() && s.columns == nil && t.Lengths == nil && s.Shape().Height == 1 && t.Rows > 2 && !s.fromZeroToOne() {
		for j := range n {
			values := map[float32]bool{}
			for r := 0; r < t.Rows && len(values) < 3; r++ {
				values[t.Reals()[r*n+j]] = true
			}
			if len(values) < 3 {
				places = append(places, strconv.Itoa(j+1))
			}
		}
	}
	return places
}

// every reports whether all numbers below n satisfy a condition.
func every(n int, satisfies func(int) bool) bool {
	for i := range n {
		if !satisfies(i) {
			return false
		}
	}
	return true
}

// Name returns the name or the path by which the set was opened.
func (s *Set) Name() string { return s.spec.Name }

// Shape returns the shape of a row.
func (s *Set) Shape() Shape { return s.train.Shape }

// Train returns the training rows.
func (s *Set) Train() Split { return s.train }

// Validation returns the rows held out to choose settings and the best epoch. There may be none.
func (s *Set) Validation() Split { return s.validation }

// Test returns the rows on which results are reported.
func (s *Set) Test() Split { return s.test }

// Split returns the split named "train", "validation" or "test", and whether the name is one of these.
func (s *Set) Split(name string) (rows Split, known bool) {
	all := []Split{s.train, s.validation, s.test}
	if i := slices.IndexFunc(all, func(of Split) bool { return of.Name == name }); i >= 0 {
		return all[i], true
	}
	return rows, false
}

// Spec returns the Spec from which the set was opened.
func (s *Set) Spec() Spec { return s.spec.clone() }

// CheckValues refuses a set whose Binarization or Standardize is not the one with which the model was trained. Rows
// of 0 and 1 are an exception: all models read them alike, unless one of the two binarisations is Real.
func (s *Set) CheckValues(model Spec) error {
	is, was := s.spec.Binarization, model.Binarization
	switch {
	case s.spec.Standardize != model.Standardize:
		return fmt.Errorf("the rows of %s have standardize = %v, but the model was trained with %v: open the set as Dataset of its run does", s.Name(), s.spec.Standardize, model.Standardize)
	case is == was || is != Real && was != Real && !s.train.AreGrey() && !s.validation.AreGrey() && !s.test.AreGrey():
		return nil
	}
	return fmt.Errorf("the rows of %s have the binarization %v, the model has %v: open the set with the binarization of the model, as Dataset of its run does", s.Name(), is, was)
}

// MadeFromRows reports whether FromRows made the set, so that its Spec cannot open it again.
func (s *Set) MadeFromRows() bool { return s.madeFromRows }

// Fingerprint returns the SHA-256, in hexadecimal digits, of the shape of the rows, the values and lengths of
// all splits, the weights of training rows, and the means and standard deviations of a standardised set. Two sets
// with the same fingerprint and Binarization give the same training and evaluation. The fingerprint alone is not
// enough, since Stochastic and Gray keep the same values. The hash covers the labels of training rows if the Spec
// limits how many are kept, and the labels of all rows if they come from your own data.
func (s *Set) Fingerprint() string { return s.fingerprint() }

func (s *Set) hash() string {
	h := sha256.New()
	if s.train.AreReal() {
		h.Write([]byte("float32"))
	}
	for _, split := range []Split{s.train, s.validation, s.test} {
		for _, n := range []int{split.Shape.Height, split.Shape.Width, split.Rows} {
			h.Write(binary.LittleEndian.AppendUint64(nil, uint64(n)))
		}
		split.eachPart(func(some Values) { _, _ = some.WriteTo(h) })
		h.Write(lengthBytes(split.Lengths))
		if split.Missing != nil {
			h.Write(packMask(split.Missing))
		}
		if !s.spec.isNamed() {
			h.Write(split.Labels)
		}
	}
	if s.spec.Labels > 0 {
		h.Write(s.train.Labels)
	}
	binary.Write(h, binary.LittleEndian, s.train.Weights)
	binary.Write(h, binary.LittleEndian, s.scalings)
	return hex.EncodeToString(h.Sum(nil))
}

// Keys returns the lowest and the highest key of sequences whose file gives them, or nil.
func (s *Set) Keys() []int { return slices.Clone(s.keys) }

// Columns returns the columns of a table and their units, or nil for other data, whose units are pixels.
func (s *Set) Columns() []Column {
	columns := slices.Clone(s.columns)
	for i, c := range columns {
		columns[i].Values, columns[i].Cuts = slices.Clone(c.Values), slices.Clone(c.Cuts)
	}
	return columns
}

// Numbers returns the names of the columns of numbers, as they are or divided into ranges. It returns nil if the Spec
// gives one of them a number of ranges, or if the names of the columns only count pixels, such as pixel0 and pixel1.
func (s *Set) Numbers() (columns []string) {
	kinds, err := parseColumns(s.spec.Columns)
	if err != nil {
		return nil
	}
	return numbersAmong(s.columns, kinds)
}

// numbersAmong returns the Numbers of a set with these columns, whose kinds the Spec gives.
func numbersAmong(all []Column, kinds map[string]Column) (columns []string) {
	if (&rows{columns: all}).named() == nil {
		return nil
	}
	for _, c := range all {
		if c.Kind != RealColumn {
			continue
		}
		if kinds[c.Name].ranges() > 0 {
			return nil
		}
		columns = append(columns, c.Name)
	}
	return columns
}

// lengthBytes returns lengths as little-endian uint32.
func lengthBytes(lengths []int) (all []byte) {
	for _, n := range lengths {
		all = binary.LittleEndian.AppendUint32(all, uint32(n))
	}
	return all
}

// Sheet is a set of images: expected values or draws of visible units.
type Sheet struct {
	Shape  Shape
	Values [][]float64 // one image per row: the probability of each unit, in [0, 1], or the value of a Gaussian unit
}

// Filters returns filters as images of a shape. In each image 0 is grey, and the value farthest from 0 is black or
// white.
func Filters(shape Shape, filters [][]float64) Sheet {
	sheet := Sheet{Shape: shape}
	for _, filter := range filters {
		image, most := make([]float64, len(filter)), 0.0
		for _, v := range filter {
			most = max(most, math.Abs(v))
		}
		for i, v := range filter {
			if image[i] = 0.5; most > 0 {
				image[i] += v / most / 2
			}
		}
		sheet.Values = append(sheet.Values, image)
	}
	return sheet
}

// Check refuses a shape without pixels, images whose values do not match the shape, and values that are NaN.
func (s Sheet) Check() error {
	if err := s.Shape.Check(); err != nil {
		return err
	}
	for i, values := range s.Values {
		if len(values) != s.Shape.Units() {
			return fmt.Errorf("image %d has %s, but its shape is %v: give %d", i+1, names.Count(len(values), "value"), s.Shape, s.Shape.Units())
		}
		if j := slices.IndexFunc(values, math.IsNaN); j >= 0 {
			return fmt.Errorf("value %d of image %d is not a number: leave out the image", j+1, i+1)
		}
	}
	return nil
}

// Inpainting holds images that a model has completed.
type Inpainting struct {
	Originals Sheet
	Corrupted Sheet // the originals with missing pixels set to 0.5
	// Images holds the last states of the chains: the known pixels unchanged, and the expected values of the
	// missing pixels. Images[c] holds chain c of each original.
	Images []Sheet
	// Effective holds the effective sample sizes of the originals, if importance resampling drew the images.
	Effective []float64
	Moved     float64 // share of the chains whose last sweep changed a missing unit, if the model counts them
}
