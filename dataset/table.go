package dataset

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"unicode"
	"unicode/utf8"

	"gonum.org/v1/gonum/stat"

	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/internal/work"
)

// ColumnKind determines how the fields of a column of a table become units.
type ColumnKind string

const (
	// BinaryColumn has two values and one unit: 0 for the first of them in sorted order, and 1 for the other.
	BinaryColumn ColumnKind = "binary"
	// CategoricalColumn has a unit for each of its values. Exactly one of the units is 1, except in a column with
	// Rest.
	CategoricalColumn ColumnKind = "categorical"
	// RealColumn has numbers. It is one unit with the binarisation Real, or if the table has only numbers and the
	// Spec sets no kinds but label and skip. Otherwise its numbers are divided into ranges with equally many rows of
	// the file Name, before rows for validation and tests are drawn from it: 4 ranges by default, or 6 for real:6.
	// Equal numbers stay together, so that there may be fewer ranges. Each range has a unit, and exactly one of the
	// units is 1.
	RealColumn ColumnKind = "real"
	// LabelColumn has the class of the row, and no units.
	LabelColumn ColumnKind = "label"
	// IdentifierColumn names or numbers the row, and is ignored.
	IdentifierColumn ColumnKind = "identifier"
	// SkippedColumn is ignored.
	SkippedColumn ColumnKind = "skip"
)

// isIgnored reports whether a column of this kind has no meaning for a model.
func (k ColumnKind) isIgnored() bool { return k == SkippedColumn || k == IdentifierColumn }

// Column is a column of a table, and its units.
type Column struct {
	Name  string     `json:"name"`
	Kind  ColumnKind `json:"kind"`
	First int        `json:"first"` // first unit
	Units int        `json:"units"` // number of units, from First on
	// Values names the value or the range of each unit, both values of a binary column, the classes of a label column,
	// or the only value of a column that is left out because of it. It is nil if these have no names, for example if
	// the unit holds the column's number.
	Values []string `json:"values,omitempty"`
	// Cuts divide a real column into ranges: unit k stands for the numbers above Cuts[k−1], up to and including
	// Cuts[k].
	Cuts []float64 `json:"cuts,omitempty"`
	// Rest reports whether a categorical column has one more value, or missing values, for which all its units are
	// 0.
	Rest bool `json:"rest,omitempty"`
	// Numbers describes the numbers of a real column, or is nil.
	Numbers *Numbers `json:"numbers,omitempty"`
	// Missing holds codes for missing values in this column, in addition to the codes of the Spec.
	Missing []string `json:"missing,omitempty"`
	// Log reports whether the unit of a real column holds the logarithms of its numbers, which are above 0.
	Log bool `json:"log,omitempty"`
}

func (c Column) String() string {
	text := fmt.Sprintf("%s: %s", c.Name, c.Kind)
	if !c.Kind.isIgnored() && c.Kind != LabelColumn {
		text += ", " + names.Count(c.Units, "unit")
	}
	if c.Kind == SkippedColumn && c.Values != nil {
		return fmt.Sprintf("%s (%q throughout)", text, c.Values[0])
	}
	if len(c.Values) > 0 {
		values := c.Values
		if len(values) > 8 {
			values = append(values[:7:7], "…")
		}
		text += " (" + strings.Join(plain(values), ", ") + ")"
	}
	return text
}

// plain puts quotes around the values that a list would not show as they are.
func plain(values []string) []string {
	values = slices.Clone(values)
	for i, value := range values {
		if strings.ContainsFunc(value, func(r rune) bool { return r == ',' || r == '"' || !unicode.IsPrint(r) }) || strings.TrimSpace(value) != value {
			values[i] = strconv.Quote(value)
		}
	}
	return values
}

// Numbers describes the numbers of a column in the training file.
type Numbers struct {
	Decimals        int     `json:"decimals"` // the largest number of digits behind the point
	Least, Greatest float64 `json:",omitzero"`
	Mean, SD        float64 `json:",omitzero"`
}

func numbersOf(numbers []float64, decimals int) *Numbers {
	mean, variance := stat.PopMeanVariance(numbers, nil)
	return &Numbers{decimals, slices.Min(numbers), slices.Max(numbers), mean, math.Sqrt(variance)}
}

// usualRanges is the number of ranges into which a column of real numbers is divided by default.
const usualRanges = 4

// listOfNumbers matches a list in Python's notation or NumPy's.
var listOfNumbers = regexp.MustCompile(`^\[[-+\d.eE,\s[\]]+\]$`)

// maxValues is the largest number of values of a categorical column.
const maxValues = 255

// table holds the fields of one or two files, as text or numbers: the training rows, then the test rows.
type table struct {
	codes     Codes // stand for missing values
	rules     Rules
	fresh     bool              // whether the Spec records no Rules, as of data that is opened for the first time
	kinds     map[string]Column // the columns that the Spec or its schema declares, by their names
	alike     bool              // whether the numbers of all columns have one scale, as in an array
	commas    bool              // whether fields may have decimal commas
	separator rune              // separates the fields of a text file
	header    []string          // nil if columns have no names
	columns   []fields
	rows      int
	python    string   // reads a file that is no text of lines, in a remedy
	kept      bool     // whether coded keeps the fields
	schema    bool     // whether the Spec names a schema
	headed    string   // whether the first row is a header, "yes" or "no", or "" if that is not known
	decimal   string   // the decimal point or comma, or "" if that is not known
	point     string   // the decimal character of the training file, or "" if its numbers have none
	like      []Column // of a set whose training rows the file resembles, like a second file, or nil
	train     int      // rows of the first file, 0 while it is read
	first     []string // first row of a file, which may be its header
	line      int      // the line number of first
	again     int      // the line number of the first row that repeats first, or 0
	below     int      // the line number of the row below first
	last      []string // last row of a file
	lastLine  int      // the line number of last
	batch     batch    // the rows of the file that are not in columns
	spare     batch    // the rows that go into columns at this time
	inserting sync.WaitGroup
	room      int    // number of fields for which there is memory
	named     bool   // whether the first row is known to be a header
	doubt     string // whether the first row of the second file is a header
	order     []int  // the column of each field of the second file; nil if both files have the same order
	open      bool   // whether fields may be missing, as a Spec or a schema declares
	shape     string // of the pictures in the rows, or of images as the Spec declares, or ""
	gaps      *Gaps  // collects the missing fields of the second file; nil if they are refused
}

// batch holds rows, with the number of the line of each.
type batch struct {
	records []string
	lines   []int
	size    int // of the records, in bytes
}

// A batch goes into the columns when it has this number of fields or of bytes.
const batchFields, batchBytes = 1 << 15, 4 << 20

// meaning is what a column makes of a text, except its code.
type meaning struct {
	number  float64
	missing bool
}

// recent holds short texts of a column with their codes, each at a place that depends on the text.
type recent struct {
	keys  [64]uint64
	codes [64]uint8
}

// placeOf returns the place of a text of up to seven bytes, and a key that no other text has. The key of others is 0.
func placeOf(text string) (place, key uint64) {
	if len(text) > 7 {
		return 0, 0
	}
	for i := range len(text) {
		key = key<<8 | uint64(text[i])
	}
	key = key<<3 | uint64(len(text))
	return key * 0x9e3779b97f4a7c15 >> 58, key
}

type fields struct {
	numbers  []float64       // numbers of all fields; nil once a field is not a number
	text     string          // the first field that is not a number, with its line
	ranges   map[int]string  // fields of the second file, by their rows, that may be names of ranges
	point    string          // the first number with a decimal point, with its line
	comma    string          // the first number with a decimal comma, with its line
	decimal  bool            // whether a number has a comma or a point that cannot separate thousands
	plain    bool            // whether a number has no comma, in a file where it may have one
	whole    bool            // whether a number has neither a comma nor a point, in such a file
	digits   int             // length of all fields if they have only the digits 0 and 1, or -1
	zero     bool            // whether a field begins with 0
	padded   string          // the first number of several digits that begins with 0, with its line
	decimals int             // the largest number of digits behind the point
	unlisted bool            // whether a field is no list of numbers
	missing  string          // the line of the first field that is missing
	gaps     int             // number of fields that are missing
	absences []bool          // whether each field is missing; nil unless fields may be
	lacks    []string        // codes for missing values that the schema declares
	empty    string          // the first missing field, quoted
	invalid  string          // the line of the first value that is not UTF-8
	absent   bool            // whether the second file lacks this column
	seen     map[string]bool // the texts of the first file if there are too many for values and all differ
	codes    []uint8         // the index of each field in values; nil if there are too many values
	values   []string
	places   map[string]uint8
	meanings []meaning // of values
	recent   *recent
	settled  bool // whether only the digits of a number without spaces may still tell anything of the column
}

// add adds a row of fields. The first row of a file may be its header.
func (t *table) add(record []string, line int) error {
	if t.columns == nil {
		t.columns = emptyFields(len(record))
	}
	if t.first == nil && t.second() && t.header != nil {
		t.first, t.line = []string{}, line
		return t.follow(record)
	}
	if expected := t.width(); len(record) != expected {
		remedy, which := "put a field that contains the separator into quotes", line
		if t.rows == 0 && t.first != nil && t.order == nil {
			which = t.line
		}
		read, _ := t.separators()
		switch {
		case t.rows == 0 && len(record) == expected+1 && record[expected] == "":
			remedy = "end the first line with the separator too if it ends each row"
		case len(record) == expected+1 && t.rows == 0 && !t.named && t.order == nil:
			remedy = fmt.Sprintf(`if the first line does not name a first column, as R writes the names of rows, save them without it, for example with pandas.read_csv(FILE, %sdtype=str, keep_default_na=False).to_csv("rows.csv", index=False)`, read)
		case t.separator == ' ': // quotes have no meaning
			remedy = "if a field contains spaces, save the table as CSV, in R with write.csv"
		}
		return fmt.Errorf("line %d has %s, but the first line has %d: remove line %d if it is a title, a comment or a note; otherwise give all lines the same number of fields, and %s", line, names.Count(len(record), "field"), expected, which, remedy)
	}
	if t.first == nil {
		for _, field := range record {
			t.first = append(t.first, strings.Clone(strings.TrimSpace(field)))
		}
		t.line = line
		for i := range t.columns {
			name := strconv.Itoa(i + 1)
			if t.named || t.headed == "yes" {
				name = t.first[i]
			}
			t.columns[i].lacks = t.kinds[name].Missing
		}
		return nil
	}
	if t.again == 0 && slices.EqualFunc(t.first, record, func(name, field string) bool { return name == strings.TrimSpace(field) }) {
		t.again = line
	}
	if t.rows == 0 {
		t.below = line
	}
	if n := (t.rows + 1) * len(t.columns); n > max(t.room, firstBytes/8) {
		t.room = 2 * n
		if err := checkRoom(int64(t.rows), int64(t.room), numbersEach); err != nil {
			return fmt.Errorf("line %d: %w", line, err)
		}
	}
	t.rows++
	t.batch.records, t.batch.lines = append(t.batch.records, record...), append(t.batch.lines, line)
	for _, field := range record {
		t.batch.size += len(field)
	}
	if len(t.batch.records) >= batchFields || t.batch.size >= batchBytes {
		t.flush()
	}
	return nil
}

// flush begins to insert the batch, while further rows are read.
func (t *table) flush() {
	t.inserting.Wait()
	of, rows := t.batch, t.rows
	if n := len(of.lines); n > 0 {
		t.last, t.lastLine = slices.Clone(of.records[len(of.records)-t.width():]), of.lines[n-1]
		t.inserting.Go(func() { t.insert(rows-n, rows, of) })
	}
	t.batch, t.spare = batch{t.spare.records[:0], t.spare.lines[:0], 0}, of
}

func emptyFields(n int) (all []fields) {
	for range n {
		all = append(all, fields{codes: []uint8{}, numbers: []float64{}, places: map[string]uint8{}, recent: &recent{}})
	}
	return all
}

// second reports whether the columns of the file are known from other rows.
func (t *table) second() bool { return t.train > 0 || t.like != nil }

// width returns the number of fields of a row of the current file.
func (t *table) width() int {
	if t.order != nil {
		return len(t.order)
	}
	return len(t.columns)
}

// insert puts rows into the columns, from row at on. The columns then have the given number of rows.
func (t *table) insert(at, rows int, of batch) {
	width, n := t.width(), len(of.lines)
	insert := func(i int, field string, r int) {
		if t.gaps != nil {
			field = t.gaps.filled(i, at+r, field)
		}
		t.columns[i].insert(t, at+r, rows-n+r+1, field, of.lines[r])
	}
	each := 1 + width/16
	if t.gaps != nil { // which counts
		each = width
		for r := range n {
			t.gaps.add(at+r, of.records[r*width:][:width])
		}
	}
	work.Parts(width, each, func(first, last int) {
		for r := range n {
			for k := first; k < last; k++ { // by rows, as they lie in memory
				i := k
				if t.order != nil {
					i = t.order[k]
				}
				field := of.records[r*width+k]
				if t.gaps != nil || at+n < rows || !t.columns[i].isUsual(t, field) {
					insert(i, strings.TrimSpace(field), r)
				}
			}
		}
	})
	for i := range t.columns {
		c := &t.columns[i]
		for r := 0; r < n && c.absent; r++ {
			if t.gaps != nil && t.like[i].Units > 0 {
				insert(i, "", r)
				continue
			}
			if c.numbers != nil {
				c.numbers = append(c.numbers, 0)
			}
			if c.codes != nil {
				c.codes = append(c.codes, 0)
			}
		}
	}
}

// follow finds, for each name in the header of the second file, the column of the first file with this name.
func (t *table) follow(header []string) error {
	t.order = make([]int, len(header))
	for i := range t.columns {
		t.columns[i].absent = true
	}
	numbers, values := !t.named, true // whether all names are numbers, and may be values of their columns
	for k, name := range header {
		name = strings.TrimSpace(name)
		i := 0
		for i < len(t.header) && (t.header[i] != name && (name != "" || t.header[i] != t.name(i)) || !t.columns[i].absent) {
			i++
		}
		if i == len(t.header) {
			return fmt.Errorf("%s has a column %q that the training file lacks, or has it twice: both need the columns %s; if line %d is a row, write the first line of the training file above it", t.lineOf(t.line), name, quoted(t.header), t.line)
		}
		t.order[k], t.columns[i].absent = i, false
		v, is := t.numberIn(name)
		_, known := t.columns[i].places[name]
		if t.like != nil {
			of := t.like[i]
			known = indexOf(of.Values, name) >= 0 || of.Numbers != nil && of.Numbers.Decimals == 0 && of.Numbers.Least <= v && v <= of.Numbers.Greatest
		}
		numbers, values = numbers && is, values && known
	}
	if numbers && (values || !slices.IsSorted(t.order)) {
		t.doubt = fmt.Sprintf("%s (%s) was read as a header, but may be a row: if it is a row, write the first line of the training file above it; if it is a header, give the columns of both files names that are not numbers", t.lineOf(t.line), quoted(header))
	}
	return nil
}

// lineOf names a line of the file that is being read.
func (t *table) lineOf(line int) string {
	text := fmt.Sprintf("line %d", line)
	if t.named {
		text = fmt.Sprintf("row %d", line-1) // below the names of the columns
	}
	if t.train > 0 {
		text += " of the second file"
	}
	return text
}

// insert inserts a field as the field of row at, in a column that then has the given number of rows.
func (c *fields) insert(t *table, at, rows int, field string, line int) {
	if at < rows-1 && c.ranges != nil {
		moved := map[int]string{}
		for row, name := range c.ranges {
			moved[row+1] = name
		}
		c.ranges = moved
	}
	if c.digits == 0 {
		c.digits = len(field)
	}
	if c.digits >= 0 && (c.digits != len(field) || strings.Trim(field, "01") != "") {
		c.digits = -1
	}
	c.zero = c.zero || strings.HasPrefix(field, "0")
	v, decimals, is := t.numberWith(field)
	if is && c.padded == "" && len(field) > 1 && field[0] == '0' && isWhole(field) {
		c.padded = fmt.Sprintf("%.40q on %s", field, t.lineOf(line))
	}
	missing := t.isMissing(field, v, is) || c.lacks != nil && indexOf(c.lacks, field) >= 0
	c.unlisted = c.unlisted || !missing && !(strings.HasPrefix(field, "[") && listOfNumbers.MatchString(field))
	switch {
	case missing:
		if c.missing == "" {
			c.missing, c.empty = t.lineOf(line), strconv.Quote(field)
		}
	case !is && c.numbers != nil && t.second() && isRange(field):
		if c.ranges == nil {
			c.ranges, c.text = map[int]string{}, fmt.Sprintf("%.40q on %s", field, t.lineOf(line))
		}
		c.ranges[at] = strings.Clone(field)
	case !is && c.numbers != nil:
		c.text, c.numbers = fmt.Sprintf("%.40q on %s", field, t.lineOf(line)), nil
	case !is:
	case t.decimal != "":
	case t.commas && strings.Contains(field, ","):
		c.decimal = c.decimal || !thousands.MatchString(field)
		if c.comma == "" {
			c.comma = fmt.Sprintf("%.40q on %s", field, t.lineOf(line))
		}
	case t.commas:
		c.plain = true
		pointed := strings.Contains(field, ".")
		c.whole, c.decimal = c.whole || !pointed, c.decimal || pointed && !thousands.MatchString(field)
		if c.point == "" && pointed {
			c.point = fmt.Sprintf("%.40q on %s", field, t.lineOf(line))
		}
	}
	c.settled = c.codes == nil && c.seen == nil && c.numbers != nil && c.lacks == nil && c.unlisted && c.digits < 0 && t.decimal != "," && len(t.codes) == 0 && !t.open
	of := meaning{v, missing}
	if c.put(t, at, of); c.numbers != nil && !t.second() && c.decimals < mostDecimals && decimals > c.decimals {
		number := field
		if !t.named {
			number = t.ungrouped(field)
		}
		c.decimals = max(c.decimals, decimalsOf(number))
	}
	if c.codes == nil {
		if c.seen != nil && t.train == 0 {
			if c.seen[field] {
				c.seen = nil
				return
			}
			c.seen[strings.Clone(field)] = true
		}
		return
	}
	code, known := c.places[field]
	if !known {
		if len(c.values) == maxValues {
			if c.numbers == nil && t.train == 0 && rows == maxValues+1 {
				c.seen = map[string]bool{strings.Clone(field): true}
				for _, value := range c.values {
					c.seen[value] = true
				}
			}
			c.codes, c.values, c.places, c.meanings = nil, nil, nil, nil
			return
		}
		if c.invalid == "" && !utf8.ValidString(field) {
			c.invalid = t.lineOf(line)
		}
		code, field = uint8(len(c.values)), strings.Clone(field)
		c.values, c.meanings, c.places[field] = append(c.values, field), append(c.meanings, of), code
	}
	c.codes = slices.Insert(c.codes, at, code)
}

// isUsual appends a field, and reports true, if it tells nothing new of the column: a text that has a code, or a number
// with no more decimals than others.
func (c *fields) isUsual(t *table, field string) bool {
	if c.codes != nil {
		code, known := c.codeOf(field)
		if known = known && c.ranges == nil && t.train == 0 && field != ""; known { // in a second file, a text may have another meaning
			c.put(t, len(c.codes), c.meanings[code])
			c.codes = append(c.codes, code)
		}
		return known
	}
	if !c.settled || t.commas {
		return false
	}
	v, decimals, is := plainNumber(field)
	if is = is && decimals <= c.decimals && (field[0] != '0' || c.zero && decimals > 0); is {
		c.put(t, len(c.numbers), meaning{number: v})
	}
	return is
}

// codeOf returns the code of a field of a column with codes, and whether it has one.
func (c *fields) codeOf(field string) (code uint8, known bool) {
	place, key := placeOf(field)
	if key != 0 && c.recent.keys[place] == key {
		return c.recent.codes[place], true
	}
	if code, known = c.places[field]; known && key != 0 {
		c.recent.keys[place], c.recent.codes[place] = key, code
	}
	return code, known
}

// put inserts what the field of row at means.
func (c *fields) put(t *table, at int, of meaning) {
	if of.missing {
		c.gaps++
	}
	if t.open {
		c.absences = slices.Insert(c.absences, at, of.missing)
	}
	switch {
	case c.numbers == nil:
	case at < len(c.numbers):
		c.numbers = slices.Insert(c.numbers, at, of.number)
	default:
		if len(c.numbers) == cap(c.numbers) {
			c.numbers = slices.Grow(c.numbers, max(64, len(c.numbers))) // by doubling, which copies less than append
		}
		c.numbers = append(c.numbers, of.number)
	}
}

// thousands matches a number whose comma or point may separate thousands.
var thousands = regexp.MustCompile(`^[-+]?[1-9]\d{0,2}[.,]\d{3}$`)

// end ends a file. It decides whether the first row is a header. The header of the second file must match the
// header of the first.
func (t *table) end() error {
	t.flush()
	t.inserting.Wait()
	t.batch, t.spare = batch{}, batch{}
	first := t.first
	t.first = nil
	if err := t.checkRepeated(first); err != nil {
		return err
	}
	header, doubt := t.named || t.headed == "yes", false
	if !header && t.headed == "" && t.header == nil && first != nil {
		header, doubt = t.isHeader(first)
	}
	switch {
	case first == nil:
		return errors.New("the file has no rows")
	case t.rows == 0 && !t.second() && !slices.ContainsFunc(first, func(field string) bool { _, is := t.numberIn(field); return is }):
		return errors.New("the file has no rows below its header")
	case t.second() && t.header != nil:
	case t.second() && header:
		return fmt.Errorf("the file has a header (%s), and the training file has none: give both a header, or neither", quoted(first))
	case header:
		for i, name := range first {
			if !utf8.ValidString(name) {
				return fmt.Errorf("line %d: %w", t.line, errNotUTF8)
			}
			if slices.Contains(first[:i], name) && !(name == "" && (t.rules != FirstRules || t.columns[i].isBlank())) {
				return fmt.Errorf("the first line names two columns %q: give each column its own name", name)
			}
		}
		t.header = first
	case doubt && !t.second():
		return fmt.Errorf("line %d (%s) may be a header or a row: say which with header = \"yes\" or header = \"no\" (--header)", t.line, quoted(first))
	default:
		t.rows++
		t.insert(t.train, t.rows, batch{records: first, lines: []int{t.line}})
	}
	if t.rows == t.train {
		return errors.New("the file has no rows below its header")
	}
	err := t.checkEnds()
	t.fillGaps()
	return err
}

// isHeader reports whether the first row of a file names its columns. A single sign of a header leaves this in doubt.
func (t *table) isHeader(first []string) (is, doubt bool) {
	if t.rows == 0 {
		return false, false
	}
	all, indexed := t.headings(first), first[0] == ""
	some := func(is func(heading) bool) bool { return slices.ContainsFunc(all, is) }
	every := func(is func(heading) bool) bool { return !some(func(h heading) bool { return !is(h) }) }
	counted := func(h heading) bool {
		return h.text == strconv.Itoa(h.place) || indexed && h.text == strconv.Itoa(h.place-1)
	}
	pair := slices.Equal(first, []string{"0", "1"})
	numbered := false
	for i := range first {
		_, is := t.kinds[strconv.Itoa(i+1)]
		numbered = numbered || is
	}
	switch {
	// 0, 1, 2 and so on, as pandas counts columns
	case every(counted) && (len(first) > 2 || indexed && (t.columns[0].numbers == nil || areIndices(t.columns[0].numbers))):
		return true, false
	// different names, and numbers below one of them if a column has no name
	case every(heading.isName) && !some(func(h heading) bool { return slices.Contains(first[:h.place], h.text) }):
		lacks := t.rules != FirstRules && slices.ContainsFunc(first[1:], func(name string) bool { return name == "" }) && !t.columns[slices.Index(first[1:], "")+1].isBlank()
		is = !lacks || some(func(h heading) bool { return h.numbers != nil && t.hasNumbers(h.fields) })
		return is, !is
	// label, class, or a name in the Spec
	case some(func(h heading) bool { _, given := t.kinds[h.text]; return h.isName() && (given || isLabel(h.text)) }):
		return true, false
	// a name above numbers, and otherwise names and whole numbers
	case some(func(h heading) bool { return h.isName() && h.numbers != nil && t.hasNumbers(h.fields) }) && every(heading.isNameOrWhole):
		return true, false
	// years, or the numbers of columns
	case t.rules != FirstRules && t.rows > 4 && every(heading.isWhole) && !pair && areApart(all):
		return false, true
	// a row: a field is missing, is a fraction or recurs in its column, or the Spec names its column by number
	case numbered || some(func(h heading) bool { return h.missing || h.number && (!h.isWhole() || h.again && !pair) }):
		return false, false
	}
	signs := 0
	for _, h := range all {
		// a name above texts that all recur, or 0 and 1, as pandas names two columns, above a column without whole numbers
		if h.isName() && h.recurs() || pair && !h.again && h.isFractional() {
			signs++
		}
	}
	if years := countUp(all); every(heading.isNameOrWhole) && (1 < years && years < len(first) || t.rules != FirstRules && t.rows > 4 && some(heading.isName) && areApart(all)) {
		signs++
	}
	return signs > 1, signs == 1
}

// heading is a field of a first row, with the column below it.
type heading struct {
	fields
	place   int // of the column
	text    string
	value   float64
	number  bool // whether text is a number, which is value
	again   bool // whether text occurs in the column
	missing bool // whether text stands for a missing value
}

// headings returns the fields of a first row, except empty fields above an index or a blank column.
func (t *table) headings(first []string) (all []heading) {
	for i, text := range first {
		h := heading{fields: t.columns[i], place: i, text: text}
		if text == "" && (i == 0 || t.rules != FirstRules || h.isBlank()) {
			continue
		}
		h.value, h.number = t.numberIn(text)
		_, h.again = h.places[text]
		h.missing = t.isMissing(text, h.value, h.number) || t.second() && isRange(text)
		all = append(all, h)
	}
	return all
}

// isName reports whether a heading can only be a name.
func (h heading) isName() bool {
	return !h.number && !h.again && !h.missing && strings.Trim(h.text, "-.") != ""
}

func (h heading) isWhole() bool { return h.number && h.value == math.Trunc(h.value) }

func (h heading) isNameOrWhole() bool { return h.isName() || h.isWhole() }

// countUp returns how many headings are numbers, such as years, if they count up, each outside the numbers below it.
func countUp(all []heading) (n int) {
	last := 0.0
	for _, h := range all {
		if !h.number {
			continue
		}
		if n > 0 && h.value != last+1 || !h.isFractional() && slices.Min(h.numbers) <= h.value && h.value <= slices.Max(h.numbers) {
			return 0
		}
		n, last = n+1, h.value
	}
	return n
}

// recurs reports whether a column has text, and each of its values more than once.
func (c fields) recurs() bool {
	counts := make([]int, len(c.values))
	for _, code := range c.codes {
		counts[code]++
	}
	return c.numbers == nil && c.codes != nil && !slices.Contains(counts, 1)
}

// isFractional reports whether a column has text or no whole number.
func (c fields) isFractional() bool {
	return !slices.ContainsFunc(c.numbers, func(v float64) bool { return v == math.Trunc(v) })
}

// hasNumbers reports whether a field of the column is a number that does not stand for a missing value.
func (t *table) hasNumbers(c fields) bool {
	return c.codes == nil || slices.ContainsFunc(c.values, func(field string) bool {
		v, is := t.numberIn(field)
		return is && !t.isMissing(field, v, is)
	})
}

// isLabel reports whether a column of this name has the classes of the rows.
func isLabel(name string) bool {
	return strings.EqualFold(name, "label") || strings.EqualFold(name, "class")
}

// name returns the name of a column. A column without a name has its number, counted from 1, unless another column
// has this name.
func (t *table) name(i int) string {
	number := strconv.Itoa(i + 1)
	if t.header == nil || t.header[i] == "" && !slices.Contains(t.header, number) {
		return number
	}
	return t.header[i]
}

// isIndex reports whether a column has no name, or one that pandas gives its index, and numbers the rows in any order.
func (t *table) isIndex(i int) bool {
	c := t.columns[i]
	return t.header != nil && slices.Contains([]string{"", "Unnamed: 0", "__index_level_0__"}, t.header[i]) && c.numbers != nil && areIndices(c.numbers[:t.train])
}

// areIndices reports whether numbers are whole, different and not negative.
func areIndices(numbers []float64) bool {
	seen := make(map[float64]bool, len(numbers))
	for _, v := range numbers {
		if v != math.Trunc(v) || v < 0 || seen[v] {
			return false
		}
		seen[v] = true
	}
	return true
}

// isBlank reports whether all fields of a column are empty, as behind a separator that ends each line.
func (c fields) isBlank() bool { return len(c.values) == 1 && c.values[0] == "" }

// isBits reports whether all fields of a column are 0 or 1, and both occur.
func (c fields) isBits() bool {
	return slices.Contains(c.numbers, 0) && slices.Contains(c.numbers, 1) && !slices.ContainsFunc(c.numbers, func(v float64) bool { return v != 0 && v != 1 })
}

// ranges returns the number of ranges that a Spec gives a real column, or 0.
func (c Column) ranges() int {
	if c.Kind != RealColumn || c.Values != nil || c.Units == 1 {
		return 0
	}
	return c.Units
}

// parseColumns returns the columns in a list NAME=KIND,NAME=KIND. Names may contain commas and equals signs.
func parseColumns(text string) (map[string]Column, error) {
	kinds := map[string]Column{}
	start := "" // of a name that contains commas
	parts := strings.Split(text, ",")
	for i, part := range parts {
		if text == "" {
			break
		}
		name, of, is := parseColumn(start + part)
		switch _, twice := kinds[name]; {
		case !is && i+1 < len(parts):
			start += part + ","
			continue
		case !is:
			return nil, fmt.Errorf("columns: %q: give NAME=KIND, with the kind binary, categorical, real, real:N of 2 to %d ranges, log, label, identifier or skip", start+part, maxValues)
		case twice:
			return nil, fmt.Errorf("columns: %q is given twice", name)
		}
		kinds[name], start = of, ""
	}
	return kinds, nil
}

// parseColumn reads NAME=KIND, and reports whether the kind is known.
func parseColumn(text string) (name string, of Column, is bool) {
	text = strings.TrimSpace(text)
	cut := max(0, strings.LastIndex(text, "="))
	kind, number, ranged := strings.Cut(strings.TrimPrefix(text[cut:], "="), ":")
	if of.Kind = ColumnKind(kind); kind == logarithm {
		of.Kind, of.Log = RealColumn, true
	}
	var err error
	if ranged {
		of.Units, err = strconv.Atoi(number)
	}
	is = cut > 0 && err == nil && slices.Contains([]ColumnKind{BinaryColumn, CategoricalColumn, RealColumn, LabelColumn, IdentifierColumn, SkippedColumn}, of.Kind) &&
		(!ranged || of.Kind == RealColumn && !of.Log && 2 <= of.Units && of.Units <= maxValues)
	return text[:cut], of, is
}

// kindsOf returns the columns without their units, but with the ranges that the Spec gives a real column. The kind is the
// one that the Spec sets; otherwise the fields suggest it.
func (t *table) kindsOf(s Spec) (columns []Column, err error) {
	t.alike = s.array || s.Shape != "" || s.Largest != 0
	kinds := maps.Clone(t.kinds)
	labels := -1
	for i, c := range t.columns {
		name := t.name(i)
		of, is := kinds[name]
		delete(kinds, name)
		switch {
		case is:
		case t.isIndex(i):
			of.Kind = IdentifierColumn
		case t.header != nil && t.header[i] == "" && c.isBlank():
			of.Kind = SkippedColumn
		case isLabel(name):
			of.Kind = LabelColumn
		case c.digits > 1 && c.zero:
			return nil, fmt.Errorf("column %q has %d digits 0 and 1 in each row: put separators between the digits if each is a value, or make the column categorical with columns = %q (--columns)", name, c.digits, name+"=categorical")
		case t.rules != FirstRules && c.numbers == nil && !c.unlisted:
			return nil, fmt.Errorf(`column %q has lists of numbers (%s): give each number a column, for example with pandas.DataFrame(pandas.read_csv(FILE)[%q].str.findall(r"[^][,\s]+").tolist()).to_csv("rows.csv", index=False), or make the column categorical with columns = %q (--columns)`, name, c.text, name, name+"=categorical")
		case t.rules != FirstRules && t.isBelowText(c):
			remedy := "remove the line if it names units, or the lines above it if it is the header"
			if t.header == nil && t.headed == "" {
				remedy += `, or give header = "yes" (--header yes) if the first line is`
			}
			return nil, fmt.Errorf("column %q has numbers below text (%s): %s; write a header of several lines as one; otherwise correct the text, give the code for missing values (missing, --missing), or make the column categorical with columns = %q (--columns)", name, c.text, remedy, name+"=categorical")
		case c.numbers == nil && t.mostlyNumbers(c):
			return nil, fmt.Errorf("column %q has numbers, and text (%s): %scorrect the text, give the code for missing values (missing, --missing), or make the column categorical with columns = %q (--columns)", name, c.text, t.byDecimal(c), name+"=categorical")
		case t.rules != FirstRules && t.isIdentifier(i):
			of.Kind = IdentifierColumn
		case t.rules != FirstRules && c.numbers != nil && (c.padded != "" || t.areExponential(c)) && t.header != nil && !t.alike:
			return nil, fmt.Errorf("column %q has numbers that %s, and may have codes: give its kind with columns = %q or %q, or leave it out with %q (--columns)", name, c.oddly(), name+"=categorical", name+"=real", name+"=skip")
		case t.rules != FirstRules && t.isNameless(i) && (i == 0 || strings.HasPrefix(name, "__")):
			return nil, fmt.Errorf("column %q has no name, and may be an index whose values recur: leave it out with columns = %q (--columns), or keep it with another kind, such as %q", name, name+"=skip", name+"=categorical")
		case t.rules != FirstRules && c.numbers == nil && c.missing == "" && len(c.trained(t.train)) == 1:
			of.Kind = SkippedColumn
		case c.numbers == nil && len(c.trained(t.train)) > 2, c.codes != nil && c.numbers == nil && c.missing != "":
			of.Kind = CategoricalColumn
		case c.numbers == nil && len(c.trained(t.train)) == 2, c.isBits():
			of.Kind = BinaryColumn
		case c.numbers == nil && c.codes == nil:
			return nil, fmt.Errorf("column %q has text (%s) and more than %d values, too many for categories: %sleave it out with columns = %q (--columns), or correct what should be numbers", name, c.text, maxValues, t.byDecimal(c), name+"=skip")
		case c.numbers == nil:
			return nil, fmt.Errorf("column %q has one value throughout (%s): leave it out with columns = %q (--columns)", name, c.text, name+"=skip")
		default:
			of.Kind = RealColumn
		}
		if of.Kind == LabelColumn {
			if labels >= 0 {
				return nil, fmt.Errorf("the columns %q and %q both have labels: keep one with columns = %q (--columns)", t.name(labels), name, name+"=skip")
			}
			labels = i
		}
		columns = append(columns, Column{Name: name, Kind: of.Kind, Log: of.Log, Missing: of.Missing, Units: of.ranges()})
	}
	for i := range t.columns {
		if _, is := t.kinds[t.name(i)]; t.schema && !is {
			return nil, fmt.Errorf("the schema has no column %q: add it, for example with kind = \"skip\", or write the schema anew", t.name(i))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(kinds)) {
		return nil, fmt.Errorf("columns: there is no column %q%s: the table has %s; kinds are binary, categorical, real, real:N, log, label, identifier and skip", name, names.Meant(name, t.namesOf()...), quoted(t.namesOf()))
	}
	if t.rules != FirstRules {
		t.byKind(columns, s.Binarization)
	}
	return columns, nil
}

// exponential matches a number such as 1E5, which may be the name of a well, since few programs write numbers in this way.
var exponential = regexp.MustCompile(`^\d+[eE]\d+$`)

// areExponential reports whether exponential matches all numbers of a column of new text.
func (t *table) areExponential(c fields) bool {
	return t.fresh && !t.named && c.codes != nil && !slices.ContainsFunc(c.values, func(field string) bool { return !exponential.MatchString(field) })
}

// oddly tells how numbers that may be codes are written.
func (c fields) oddly() string {
	if c.padded != "" {
		return fmt.Sprintf("begin with 0 (%s)", c.padded)
	}
	return fmt.Sprintf("all have an exponent (%q)", c.values[0])
}

// fewNumbers is the largest number of different numbers that may be categories together with text, as 0, 1, 2 and 3+.
const fewNumbers = 10

// mostlyNumbers reports whether a column of text may be a column of numbers with mistakes. It may if only the second
// file has text, or if more than half of its different values are numbers, or would be without signs of currencies,
// thousands, percent or losses. A column of few numbers must also have such a sign, or a value without letters and digits.
func (t *table) mostlyNumbers(c fields) bool {
	signs := []string{"−", "-", "$", "", "€", "", "£", "", "%", "", ",", "", "'", "", " ", "", "\u00a0", ""}
	if t.fresh {
		signs = append(signs, "’", "", "\u2009", "", "\u202f", "", "(", "", ")", "")
	}
	bare := strings.NewReplacer(signs...)
	numbers, texts, mistake, second := 0, 0, false, true
	values, trained := c.values, len(c.trained(t.train))
	if c.seen != nil {
		values, trained = slices.Collect(maps.Keys(c.seen)), len(c.seen)
	}
	for k, field := range values {
		v, is := t.numberIn(field)
		_, err := strconv.ParseFloat(bare.Replace(field), 64)
		switch {
		case t.isMissing(field, v, is):
		case is || err == nil || t.fresh && comma.MatchString(field):
			numbers++
			mistake = mistake || !is
		default:
			texts++
			second = second && k >= trained
			mistake = mistake || !strings.ContainsFunc(field, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
		}
	}
	return numbers > 0 && second || numbers > texts && (mistake || numbers > fewNumbers)
}

// byDecimal returns the decimal characters, as a remedy, that make a number of the first text of a column, or "".
func (t *table) byDecimal(c fields) (remedy string) {
	quoted, _ := strconv.QuotedPrefix(c.text)
	field, _ := strconv.Unquote(quoted)
	for _, decimal := range []string{",", "."} {
		as := table{decimal: decimal, rules: t.rules}
		if _, is := as.numberIn(field); is && t.decimal == "" {
			remedy += fmt.Sprintf("give decimal = %q (--decimal %[1]s) if it is a number with this decimal character, ", decimal)
		}
	}
	return remedy
}

func (t *table) namesOf() (names []string) {
	for i := range t.columns {
		names = append(names, t.name(i))
	}
	return names
}

// trained returns the values of a column in the first file, which has train rows, or nil if there are too many.
func (c fields) trained(train int) []string {
	if c.codes == nil {
		return nil
	}
	return c.values[:1+int(slices.Max(c.codes[:train]))] // in the order in which they appear
}

// sorted returns values in ascending order. It compares two numbers by size, and other values as text.
func sorted(values []string) []string {
	values = slices.Clone(values)
	slices.SortFunc(values, func(a, b string) int {
		v, errV := strconv.ParseFloat(a, 64)
		w, errW := strconv.ParseFloat(b, 64)
		if errV == nil && errW == nil && v != w {
			return cmp.Compare(v, w)
		}
		return strings.Compare(a, b)
	})
	return values
}

// checkCodes refuses a code that is a list of numbers, and no number in this table.
func (t *table) checkCodes() error {
	for _, code := range t.codes {
		parts := strings.Split(code, ",")
		_, is := t.numberIn(code)
		if t.fresh && !is && len(parts) > 1 && !slices.ContainsFunc(parts, func(part string) bool { _, err := strconv.ParseFloat(part, 64); return err != nil }) {
			return fmt.Errorf("missing = %q is not a number here, but a list: give each code by itself, such as --missing %s --missing %s, or say which comma it has, with decimal = \".\" or decimal = \",\" (--decimal)", code, parts[0], parts[1])
		}
	}
	return nil
}

// coded turns a table into training and test rows, with given columns, or inferred columns if columns is nil. A
// table of only numbers keeps its numbers unless the Spec sets their kinds. Any other table becomes units of 0 and
// 1 and, with the binarisation Real, also real numbers.
func (t *table) coded(s Spec, columns []Column) (train, test rows, err error) {
	inferred := columns == nil
	if err := t.checkCodes(); err != nil {
		return train, test, err
	}
	if inferred {
		if columns, err = t.inferred(s); err != nil {
			return train, test, err
		}
	}
	var data rows
	var parts []coding
	units := 0
	var point, comma string // the first numbers with a decimal point and a decimal comma
	switch t.point {
	case ".":
		point = "in the training file"
	case ",":
		comma = "in the training file"
	}
	var grouped string // the first column whose commas or points may separate thousands
	decimal := false   // whether one of them cannot
	for i, c := range columns {
		of := &t.columns[i]
		if of.missing != "" && !c.Kind.isIgnored() {
			remedy := t.withoutMissing(c.Name) + t.gapsOf(columns)
			switch {
			case t.open, t.like == nil && of.isBlank():
			case t.like == nil:
				if of.numbers == nil && quotedWord.MatchString(of.empty) {
					remedy += fmt.Sprintf("; if %s is a value here, write it in another way in the file", of.empty)
				}
				remedy += "; or keep such rows for a model that learns from rows with gaps, with gaps = true (--gaps)"
			case c.Kind == LabelColumn:
				remedy = ", or the column, since rows need no labels here"
			default:
				remedy += "; or train the model with gaps = true (train --gaps), so that rows may have gaps"
			}
			return train, test, absentError(fmt.Sprintf("%s, column %q", of.missing, c.Name), of.empty, remedy)
		}
		if of.invalid != "" && !c.Kind.isIgnored() {
			return train, test, fmt.Errorf("%s, column %q: %w", of.invalid, c.Name, errNotUTF8)
		}
		if c.Kind == RealColumn {
			point, comma, decimal = cmp.Or(point, of.point), cmp.Or(comma, of.comma), decimal || of.decimal
			if of.comma != "" && of.plain { // decimals of a fixed number of digits would all have a comma
				grouped = cmp.Or(grouped, fmt.Sprintf("column %q: the comma of %s", c.Name, of.comma))
			}
			if t.fresh && of.point != "" && (of.whole || t.separator == ';') { // programs that write semicolons often write decimal commas
				grouped = cmp.Or(grouped, fmt.Sprintf("column %q: the point of %s", c.Name, of.point))
			}
		}
		if point != "" && comma != "" {
			return train, test, fmt.Errorf("some numbers have a point (%s) and some a comma (%s): if one of them separates thousands, give the other, such as decimal = \",\" (--decimal ,)", point, comma)
		}
		if of.absent && c.Kind != LabelColumn && !c.Kind.isIgnored() {
			return train, test, fmt.Errorf("the file has no column %q: give all columns of the training file except labels", c.Name)
		}
		if c.Kind == SkippedColumn && c.Values != nil && !of.absent {
			if _, err := of.coding(Column{Kind: CategoricalColumn, Units: 1, Values: c.Values}, t.train); err != nil {
				return train, test, fmt.Errorf("column %q, which has one value throughout the training file and is left out: %w, or leave out the column: remove it from this file if it has a header, or skip it before training with columns = %q (--columns)", c.Name, err, c.Name+"=skip")
			}
		}
		if c.Kind == LabelColumn {
			if of.absent && t.train == 0 {
				continue
			}
			if data.Labels, err = of.labels(c.Values, t.train); err != nil && c.Values == nil && t.like == nil {
				return train, test, fmt.Errorf("column %q: %w; if its numbers are no classes, give the column another kind, such as columns = %q (--columns)", c.Name, err, c.Name+"=real")
			} else if err != nil {
				return train, test, fmt.Errorf("column %q: %w", c.Name, err)
			}
			if of.absent {
				data.Labels = data.Labels[:t.train]
			}
			for r, absent := range of.absences {
				if absent {
					data.Labels[r] = Unlabeled
				}
			}
			continue
		}
		made, err := of.coding(c, t.train)
		if err != nil {
			return train, test, fmt.Errorf("column %q: %w", c.Name, err)
		}
		if made.units == 0 {
			continue
		}
		if made.absences = of.absences; inferred && !c.Log && of.absences == nil {
			made.known = c.Numbers
		}
		parts, units = append(parts, made), units+made.units
		for range made.units {
			data.marks = append(data.marks, c.Values != nil)
		}
		if !t.kept { // to free memory
			of.numbers, of.codes = nil, nil
		}
	}
	if grouped != "" && !decimal {
		return train, test, fmt.Errorf("%s may separate thousands or decimals: say which with decimal = \".\" or decimal = \",\" (--decimal)", grouped)
	}
	if units == 0 {
		return train, test, fmt.Errorf("no column of the table is left, since each is skipped, has labels, has one value throughout, or has another text in each row: to keep a column, give its kind, such as columns = %q (--columns)", t.name(0)+"=categorical")
	}
	data.Shape, data.fields, data.header, data.kind = Shape{1, units}, columns, t.header != nil, tableKind
	data.columns, data.unnamed = known(columns, data.header, t.kinds)
	data.decimal = t.decimal
	switch {
	case point != "":
		data.point = "."
	case comma != "":
		data.point = ","
	}
	train, test = data, rows{Split: Split{Shape: data.Shape}, columns: data.columns, kind: data.kind, marks: data.marks}
	n, cut := units*t.rows, units*t.train
	if s.Binarization == Real && s.Largest == 0 && arePlain(parts, t.train) {
		reals := make([]float32, n)
		fill(reals, parts, units)
		if train.Values = Reals(units, reals[:cut:cut]); cut < n {
			test.Values = Reals(units, reals[cut:])
		}
	} else {
		numbers := make([]float64, n)
		fill(numbers, parts, units)
		if train.numbers = numbers[:cut:cut]; cut < n {
			test.numbers = numbers[cut:]
		}
	}
	if t.open {
		missing := make([]bool, 0, n)
		for r := range t.rows {
			for _, of := range parts {
				for range of.units {
					missing = append(missing, of.absences[r])
				}
			}
		}
		train.Missing, test.Missing = missing[:cut:cut], missing[cut:]
	}
	if len(data.Labels) > t.train {
		train.Labels, test.Labels = data.Labels[:t.train:t.train], data.Labels[t.train:]
	}
	return train, test, nil
}

// quotedWord matches letters in quotes.
var quotedWord = regexp.MustCompile(`^"\pL+"$`)

// gapsOf lists the numbers of missing values in columns, if there are several.
func (t *table) gapsOf(columns []Column) string {
	var counts []string
	all := 0
	for i, c := range columns {
		if n := t.columns[i].gaps; n > 0 && !c.Kind.isIgnored() {
			counts, all = append(counts, fmt.Sprintf("%d in %q", n, c.Name)), all+n
		}
	}
	if all < 2 {
		return ""
	}
	return fmt.Sprintf("; of %s, values are missing: %s", names.Count(t.rows, "row"), listed(counts))
}

// known returns the columns of a table or, if they have no names or values, the name of the column of each unit. The
// Spec sets kinds.
func known(columns []Column, header bool, kinds map[string]Column) (all []Column, unnamed []string) {
	for _, c := range columns {
		if _, given := kinds[c.Name]; header || c.Values != nil || c.Kind.isIgnored() && !given {
			return columns, nil
		}
		unnamed = append(unnamed, slices.Repeat([]string{c.Name}, c.Units)...)
	}
	return nil, unnamed
}

// withoutMissing returns how to leave out the rows that lack a value, or a column of this name.
func (t *table) withoutMissing(column string) string {
	read, write := t.separators()
	if t.header == nil {
		read, write = read+"header=None, ", write+"header=False, "
	}
	i := slices.Index(t.namesOf(), column)
	const filling = ", or fill in all missing values with helmholtz impute"
	if t.columns[i].isBlank() {
		if t.like != nil {
			return filling
		}
		return fmt.Sprintf(", or the column, which is empty, with columns = %q (--columns)", column+"=skip")
	}
	of := t.columns[i]
	codes := of.lacks
	if codes == nil {
		if codes = t.codes; len(codes) == 0 {
			codes = []string{"?"}
		}
	}
	if field, _ := strconv.Unquote(of.empty); !isMissingInPandas(field) && !slices.Contains(codes, field) {
		codes = append(slices.Clip(codes), field) // which is another text, such as -9.0 for -9
	}
	list := quoted(codes)
	if len(codes) > 1 || of.lacks != nil {
		list = "[" + list + "]"
	}
	if of.lacks != nil {
		list = fmt.Sprintf("{%q: %s}", column, list)
	}
	line := fmt.Sprintf(`pandas.read_csv(FILE, %sdtype=str, na_values=%s).dropna().to_csv("rows.csv", %sindex=False)`, read, list, write)
	if t.named {
		line = t.python + `.dropna().to_csv("rows.csv", index=False)`
		if strings.Contains(t.python, "parquet") {
			line = t.python + `.dropna().to_parquet("rows.parquet")`
		}
	}
	if t.like != nil { // a model has these columns
		return ", for example with " + line + filling
	}
	return fmt.Sprintf(", for example with %s, or the column with columns = %q (--columns)", line, column+"=skip")
}

// separators returns the arguments of pandas' read_csv and to_csv that read and write text of the table.
func (t *table) separators() (read, write string) {
	switch t.separator {
	case ',':
		return "", ""
	case ' ':
		return `sep=r"\s+", `, `sep=" ", `
	}
	read = fmt.Sprintf("sep=%q, ", string(t.separator))
	return read, read
}

// inferred returns the columns and their units. The Spec sets the kinds of the columns; otherwise the fields
// suggest them.
func (t *table) inferred(s Spec) ([]Column, error) {
	columns, err := t.kindsOf(s)
	if err != nil {
		return nil, err
	}
	plain := true // whether all columns keep their numbers
	for _, of := range t.kinds {
		plain = plain && (of.Kind == LabelColumn || of.Kind.isIgnored())
	}
	for i, c := range columns {
		plain = plain && (c.Kind == LabelColumn || c.Kind.isIgnored() || t.columns[i].numbers != nil)
	}
	units := 0
	for i := range columns {
		c, of := &columns[i], t.columns[i]
		c.First = units
		values := of.trained(t.train)
		if c.Kind == BinaryColumn && t.rules != FirstRules {
			values = of.different(t.train, maxValues)
		} else if c.Kind == BinaryColumn && of.numbers != nil {
			values = of.different(t.rows, maxValues) // 0 and 1, although the training rows may lack one of them
		}
		switch {
		case c.Kind.isIgnored():
			if d, is := t.kinds[c.Name]; is {
				c.Values = d.Values
			}
		case c.Log && s.Binarization != Real:
			return nil, fmt.Errorf("column %q: its logarithms are %w: keep them as they are with binarization real (--binarization real)", c.Name, ErrOutside)
		case t.kinds[c.Name].isComplete(c.Kind):
			d := t.kinds[c.Name]
			c.Values, c.Cuts, c.Units = d.Values, d.Cuts, d.Units
		case c.Kind == LabelColumn && of.numbers != nil:
		case c.Kind == LabelColumn && of.codes == nil:
			return nil, fmt.Errorf("column %q has more than %d classes: give it another kind, or skip it, with columns = %q (--columns)", c.Name, maxValues-1, c.Name+"=skip")
		case c.Kind == LabelColumn:
			c.Values = sorted(values)
		case plain && (t.rules == FirstRules || t.alike || c.Kind == RealColumn || of.missing != ""), c.Kind == RealColumn && of.numbers != nil && s.Binarization == Real:
			c.Units = 1
		case c.Kind == RealColumn && of.numbers == nil:
			return nil, fmt.Errorf("column %q is real, but has %s: correct it, or make the column categorical with columns = %q (--columns)", c.Name, of.text, c.Name+"=categorical")
		case c.Kind == RealColumn:
			c.Cuts = cutsOf(of.observed(t.train), cmp.Or(c.Units, usualRanges))
			c.Values = rangesOf(c.Cuts)
			c.Units = len(c.Values)
		case of.codes == nil:
			return nil, fmt.Errorf("column %q has more than %d values: make it real or skip it with columns = %q (--columns)", c.Name, maxValues, c.Name+"=real")
		case c.Kind == BinaryColumn && len(values) != 2:
			return nil, fmt.Errorf("column %q is binary, but has %s: make it categorical with columns = %q (--columns)", c.Name, names.Count(len(values), "value"), c.Name+"=categorical")
		case c.Kind == BinaryColumn:
			c.Values, c.Units = sorted(values), 1
		default:
			c.Values = sorted(values)
			c.Units = len(c.Values)
		}
		units += c.Units
	}
	work.Parallel(len(columns), func(i int) {
		if of := t.columns[i]; columns[i].Kind == RealColumn {
			columns[i].Numbers = numbersOf(of.observed(t.train), of.decimals)
		}
	})
	return columns, nil
}

// rowOf names row r of the table, counted in its own file from 1. The first file has train rows, or 0 if there is one file.
func rowOf(r, train int) string {
	if 0 < train && train <= r {
		return fmt.Sprintf("row %d of the second file", r-train+1)
	}
	return fmt.Sprintf("row %d", r+1)
}

// coding tells the units of a column in each row.
type coding struct {
	units    int
	numbers  []float64              // of the unit; nil if the units mark values
	at       func(row int) (on int) // the unit that is 1, or −1 if all are 0
	absences []bool                 // see fields
	known    *Numbers               // of the first file, or nil
}

// fill fills rows of units, row-major, with what parts tell.
func fill[T float32 | float64](to []T, parts []coding, units int) {
	work.Parts(len(to)/units, 256, func(first, last int) {
		unit := 0
		for _, of := range parts {
			for r := first; r < last; r++ {
				if of.numbers != nil {
					to[r*units+unit] = T(of.numbers[r])
				} else if on := of.at(r); on >= 0 {
					to[r*units+unit+on] = 1
				}
			}
			unit += of.units
		}
	})
}

// arePlain reports whether no number of parts is one that checkMissing, divideBy or checkPrecise may refuse or name. The first file has
// train rows.
func arePlain(parts []coding, train int) bool {
	var doubtful atomic.Bool
	work.Parallel(len(parts), func(i int) {
		if parts[i].numbers == nil {
			return
		}
		for k, numbers := range [][]float64{parts[i].numbers[:train], parts[i].numbers[train:]} {
			most, deviation := 0.0, 0.0
			if of := parts[i].known; k == 0 && of != nil {
				most, deviation = max(-of.Least, of.Greatest), of.SD
			} else if len(numbers) > 0 {
				var of spread
				for _, v := range numbers {
					of.add(v)
				}
				most, deviation = of.most, of.deviation()
			}
			if !(most <= 1<<53 && (deviation == 0 || deviation >= leastSpread*most)) || slices.ContainsFunc(numbers, isLost) {
				doubtful.Store(true)
			}
		}
	})
	return !doubtful.Load()
}

// coding returns the units of a column. The first file has train rows.
func (c fields) coding(of Column, train int) (made coding, err error) {
	codes, numbers, ranges := c.codes, c.numbers, c.ranges // so that at keeps no other fields in memory
	switch {
	case of.Units == 0:
		return made, nil
	case of.Values == nil || of.Kind == RealColumn:
		if numbers == nil || of.Values == nil && ranges != nil {
			return made, fmt.Errorf("%s is not a number: correct it, or leave out the row", c.text)
		}
	case codes == nil:
		return made, fmt.Errorf("more than %d values", maxValues)
	}
	if of.Values == nil && of.Log {
		if r := slices.IndexFunc(numbers, func(v float64) bool { return !(v > 0) }); r >= 0 {
			return made, fmt.Errorf("%s has %v, which has no logarithm: correct it, or keep the numbers of the column as they are", rowOf(r, train), numbers[r])
		}
		numbers = slices.Clone(numbers)
		for r, v := range numbers {
			numbers[r] = math.Log(v)
		}
	}
	if of.Values == nil {
		return coding{units: 1, numbers: numbers}, nil
	}
	places, off := c.placesIn(of.Values), 0
	place, n := func(r int) int { return places[codes[r]] }, len(codes)
	switch of.Kind {
	case BinaryColumn:
		off = 1
	case RealColumn:
		if r := slices.IndexFunc(numbers, func(v float64) bool { return math.IsInf(v, 0) }); r >= 0 {
			return made, fmt.Errorf("%s has %v, which is not finite: correct it, or leave out the row", rowOf(r, train), numbers[r])
		}
		n = len(numbers)
		place = func(r int) int {
			if name, is := ranges[r]; is {
				return slices.Index(of.Values, name)
			}
			k, _ := slices.BinarySearch(of.Cuts, numbers[r])
			return k
		}
	}
	for r := range n {
		if place(r) < 0 {
			value, is := ranges[r]
			if !is {
				value = c.values[codes[r]]
			}
			return made, fmt.Errorf("%s has %q, which is not a value of the training data (%s): correct it, or leave out the row", rowOf(r, train), value, listed(of.Values))
		}
	}
	return coding{units: len(of.Values) - off, at: func(r int) int { return place(r) - off }}, nil
}

// placesIn returns the index in values of each value of the column, or −1 if values lacks it.
func (c fields) placesIn(values []string) []int {
	places := make([]int, len(c.values))
	for i, value := range c.values {
		places[i] = meantBy(values, value)
	}
	return places
}

// indexOf returns the index of a value, or of the same number written in another way, or −1.
func indexOf(values []string, value string) int {
	if i := slices.Index(values, value); i >= 0 {
		return i
	}
	number := func(text string) (float64, bool) {
		v, err := strconv.ParseFloat(text, 64)
		return v, err == nil && !strings.Contains(text, "_")
	}
	v, is := number(value)
	return slices.IndexFunc(values, func(other string) bool {
		w, isToo := number(other)
		return is && isToo && v == w
	})
}

// meantBy returns the same as indexOf or, for true and false, which JSON and Parquet have where pandas writes True to CSV and spreadsheets
// TRUE, the index of the only value that differs from them in capitals.
func meantBy(values []string, value string) int {
	place := indexOf(values, value)
	if place >= 0 || value != "true" && value != "false" {
		return place
	}
	for i, other := range values {
		switch {
		case !strings.EqualFold(other, value):
		case place >= 0:
			return -1
		default:
			place = i
		}
	}
	return place
}

// labels returns the classes of a column: for text, the indices in values; otherwise, whole numbers.
func (c fields) labels(values []string, train int) (labels []uint8, err error) {
	if values == nil {
		if c.ranges != nil {
			return nil, fmt.Errorf("%s is not a class", c.text)
		}
		return tensor{size: []int{len(c.numbers)}, numbers: c.numbers}.labels()
	}
	places := c.placesIn(values)
	for r, code := range c.codes {
		k := places[code]
		if k < 0 && !c.absent && c.values[code] != "-1" { // which becomes Unlabeled
			return nil, fmt.Errorf("%s has %q, which is not a class of the training data (%s): correct it, or leave out the row", rowOf(r, train), c.values[code], listed(values))
		}
		labels = append(labels, uint8(k))
	}
	return labels, nil
}

// cutsOf returns the cuts that divide numbers into ranges that hold equally many of them, as far as ties allow.
func cutsOf(numbers []float64, ranges int) (cuts []float64) {
	sorted := slices.Sorted(slices.Values(numbers))
	for k := 1; k < ranges; k++ {
		cut := sorted[max(0, (k*len(sorted)-1)/ranges)]
		if cut < sorted[len(sorted)-1] && (len(cuts) == 0 || cut > cuts[len(cuts)-1]) {
			cuts = append(cuts, cut)
		}
	}
	return cuts
}

// rangesOf returns the names of the ranges between cuts. Whole numbers keep all their digits, and others six, or
// more if they differ in later ones.
func rangesOf(cuts []float64) (values []string) {
	if len(cuts) == 0 {
		return []string{onlyRange}
	}
	for digits := 6; len(distinct(values)) < len(cuts); digits++ {
		values = nil
		for _, cut := range cuts {
			text := strconv.FormatFloat(cut, 'g', digits, 64)
			if cut == math.Trunc(cut) && math.Abs(cut) < 1e15 {
				text = strconv.FormatFloat(cut, 'f', -1, 64)
			}
			values = append(values, text)
		}
	}
	last := values[len(values)-1]
	for k := range values {
		values[k] = atMost + values[k]
	}
	return append(values, above+last)
}

// onlyRange, and atMost and above with a number, are the names of ranges.
const onlyRange, atMost, above = "any", "≤ ", "> "

// isRange reports whether a field may be the name of a range.
func isRange(field string) bool {
	return field == onlyRange || strings.HasPrefix(field, atMost) || strings.HasPrefix(field, above)
}

// mostDecimals is a number of decimals above which all numbers are written with the same digits.
const mostDecimals = 15

// decimalsOf returns the number of digits behind the point of a number, without zeros at its end.
func decimalsOf(field string) int {
	end, exponent := len(field), 0 // end of the digits that are not 0
	for i := len(field) - 1; i >= 0; i-- {
		switch field[i] {
		case '.', ',':
			return max(0, end-1-i-exponent)
		case 'e', 'E':
			exponent, _ = strconv.Atoi(field[i+1:])
			end = i
		case '0':
			if end == i+1 {
				end = i
			}
		}
	}
	return max(0, -exponent)
}

func distinct(texts []string) []string { return slices.Compact(slices.Sorted(slices.Values(texts))) }
