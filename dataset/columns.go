package dataset

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
)

// These match the names that pandas gives to an index without a name, words of the names of identifiers, and the words
// of a last line that sums up the rows above it.
var (
	indexName      = regexp.MustCompile(`^(Unnamed: \d+(\.\d+)?|__index_level_\d+__)$`)
	identifierName = regexp.MustCompile(`^#$|(?i:^|[ _.-])(?i:ids?|idx|index|key|nr|no|uuid|guid|row[ ._-]?(names?|id|number)?)$|\p{Ll}I[Dd]$`)
	totalWord      = regexp.MustCompile(`(?i)^((grand|sub)[ -]?)?(totals?|sum|average|avg|mean|overall|all|summe|(ins)?gesamt|somme|suma|totale|moyenne|media)\W*$`)
)

// isNameless reports whether a column of a table with a header has no name of its own.
func (t *table) isNameless(i int) bool {
	return t.header != nil && (t.header[i] == "" || indexName.MatchString(t.header[i]))
}

// isIdentifier reports whether each row of the first file has another value in a column: a text, a whole number if the
// column is named like an identifier or has no name, or the number of the row if the file has no header.
func (t *table) isIdentifier(i int) bool {
	c := t.columns[i]
	switch {
	case c.numbers != nil && t.header != nil:
		return !t.alike && (t.isNameless(i) || identifierName.MatchString(t.header[i])) && areIndices(c.numbers[:t.train])
	case c.numbers != nil:
		return !t.alike && i == 0 && len(t.columns) > 1 && t.train > 4 && (c.numbers[0] == 0 || c.numbers[0] == 1) &&
			every(t.train, func(r int) bool { return c.numbers[r] == c.numbers[0]+float64(r) })
	}
	return c.missing == "" && t.train > 2 && (c.seen != nil || c.codes != nil && len(c.trained(t.train)) == t.train)
}

// areApart reports whether the numbers among headings ascend or descend, such as years, and are farther from the numbers below them than
// these from each other, or count columns from 1 above fractions or smaller numbers.
func areApart(all []heading) bool {
	far, counted := 0, 0
	all = slices.DeleteFunc(slices.Clone(all), func(h heading) bool { return !h.number })
	for i, h := range all {
		if i > 1 && (h.value > all[i-1].value) != (all[1].value > all[0].value) || i > 0 && h.value == all[i-1].value {
			return false
		}
		beyond, spread := math.Inf(1), 0.0
		if h.numbers != nil {
			least, most := slices.Min(h.numbers), slices.Max(h.numbers)
			beyond, spread = max(least-h.value, h.value-most), most-least
		}
		if beyond > spread {
			far++
		}
		if h.text == strconv.Itoa(h.place+1) && (h.isFractional() || beyond > 0 || h.place < 2) {
			counted++
		}
	}
	return len(all) > 1 && far == len(all) || len(all) > 2 && counted == len(all)
}

// checkRepeated refuses a first row whose fields recur below it, but only together, like the header of another file
// that was appended.
func (t *table) checkRepeated(first []string) error {
	line := t.again
	t.again = 0
	if t.rules == FirstRules || line == 0 || t.named || t.second() || len(first) < 2 {
		return nil
	}
	var together []int
	for i, name := range first {
		c := t.columns[i]
		var rows []int
		for r, code := range c.codes {
			if c.values[code] == name {
				rows = append(rows, r)
			}
		}
		if _, is := t.numberIn(name); is || c.codes != nil && together != nil && !slices.Equal(rows, together) || len(rows) == t.rows {
			return nil
		}
		if c.codes != nil {
			together = rows
		}
	}
	return fmt.Errorf("line %d repeats line %d (%s): remove it if it is the header of a file that was appended; if both are rows, write a line of names above them", line, t.line, quoted(first))
}

// checkEnds refuses a last row that sums up the rows above it, and a second header.
func (t *table) checkEnds() error {
	last := t.last
	t.last = nil
	if t.rules == FirstRules {
		return nil
	}
	for i, field := range last {
		if t.order != nil {
			i = t.order[i]
		}
		c := t.columns[i]
		if _, given := t.kinds[t.name(i)]; !given && totalWord.MatchString(field) && !c.hasTwice(field) {
			kind := CategoricalColumn
			if isLabel(t.name(i)) {
				kind = LabelColumn
			}
			return fmt.Errorf("%s, column %q: %q may sum up the rows above it: remove the line, or if it is a row, give the kind of the column with columns = %q (--columns)", t.lineOf(t.lastLine), t.name(i), field, t.name(i)+"="+string(kind))
		}
	}
	if t.second() || t.header == nil || len(t.kinds) > 0 || len(t.columns) < 2 || t.rows < 5 {
		return nil
	}
	for _, c := range t.columns {
		if c.codes == nil || c.numbers != nil || c.hasTwice(c.values[c.codes[0]]) || slices.ContainsFunc(c.values, func(v string) bool { return v != c.values[c.codes[0]] && !c.hasTwice(v) }) {
			return nil
		}
	}
	return fmt.Errorf("line %d may be a second header, since none of its fields recurs: remove it, or the lines above it if they are a title; if it is a row, give the kind of a column, such as columns = %q (--columns)", t.below, t.name(0)+"=categorical")
}

// hasTwice reports whether several fields of a column have a value.
func (c fields) hasTwice(value string) bool {
	n := 0
	for _, code := range c.codes {
		if c.values[code] == value {
			n++
		}
	}
	return n > 1
}

// mostHeaders is the largest number of lines that a header of several lines is expected to have.
const mostHeaders = 3

// isBelowText reports whether the first field of a column, or up to mostHeaders of them in new data, are the only ones in the first
// file that are not numbers.
func (t *table) isBelowText(c fields) bool {
	if c.numbers != nil || c.codes == nil || t.train < 3 {
		return false
	}
	numbers, texts, last := 0, 0, 0 // and the row of the last text
	for k, field := range c.trained(t.train) {
		v, is := t.numberIn(field)
		switch {
		case is:
			numbers++
		case t.fresh && t.isMissing(field, v, is):
		case c.hasTwice(field):
			return false
		default:
			texts, last = texts+1, max(last, slices.Index(c.codes, uint8(k)))
		}
	}
	return numbers > 0 && last == texts-1 && (texts == 1 || t.fresh && texts <= mostHeaders)
}

// byKind gives columns of numbers whose kinds the Spec leaves open the kinds that their values in the first file
// suggest. A column with two values is binary, and a column with one is left out; its Values keep the value, so that
// other values of later rows are refused.
func (t *table) byKind(columns []Column, b Binarization) {
	t.alike = t.alike || t.isImage(columns, b)
	for i := range columns {
		c, of := &columns[i], t.columns[i]
		if _, given := t.kinds[c.Name]; given || c.Kind == LabelColumn {
			continue
		}
		values := of.different(t.train, 3)
		switch {
		case c.Kind == SkippedColumn && len(values) == 1 && (of.numbers == nil || of.isBlank()):
			c.Values = values
		case of.missing != "":
		case c.Kind.isIgnored() || of.numbers == nil || t.alike:
		case slices.ContainsFunc(of.numbers[:t.train], func(v float64) bool { return math.Abs(v) > 1<<53 }):
			c.Kind = RealColumn // infinite, or not told apart
		case len(values) == 1 && t.train > 1:
			c.Kind, c.Values = SkippedColumn, values
		case len(values) == 2 && (t.train > 2 || indexOf(values, "0") >= 0 && indexOf(values, "1") >= 0):
			c.Kind = BinaryColumn
		default:
			c.Kind = RealColumn
		}
	}
}

// different returns up to most values of the first train rows, without those that are the same number written in another way.
// It returns nil if there are too many values.
func (c fields) different(train, most int) (values []string) {
	for _, field := range c.trained(train) {
		if len(values) < most && indexOf(values, field) < 0 {
			values = append(values, field)
		}
	}
	return values
}

// isImage reports whether the columns of a table may be the pixels of images: they have no names, or names that only
// count them, and their numbers in the first file are grey levels or, unless they are to stay real numbers, from 0 to 1
// or spins.
func (t *table) isImage(columns []Column, b Binarization) bool {
	var called []string
	var all [][]float64
	for i, c := range columns {
		if c.Kind == LabelColumn || c.Kind.isIgnored() {
			continue
		}
		if t.columns[i].numbers == nil {
			return false
		}
		called, all = append(called, c.Name), append(all, t.columns[i].numbers[:t.train])
	}
	if !areCounted(called) {
		return false
	}
	whole, bits, spins, least, most := true, true, true, math.Inf(1), math.Inf(-1)
	for _, numbers := range all {
		for _, v := range numbers {
			whole, bits, spins = whole && v == math.Trunc(v), bits && (v == 0 || v == 1), spins && (v == -1 || v == 1)
			least, most = min(least, v), max(most, v)
		}
	}
	levels := whole && least >= 0 && 128 <= most && most <= 255
	return levels || b != Real && (least >= 0 && most <= 1 || spins) && (!bits && !spins || t.header == nil)
}
