package dataset

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// separators lists the characters that may separate fields. The first character of this list that the first line
// contains separates the fields of the file. If the line contains none, spaces do.
var separators = []rune{'\t', ';', ',', '|'}

// maxComments bounds the comments, in bytes, before the first line of a table.
const maxComments = 1 << 18

// weka matches the start of a Weka file, whose comments begin with %.
var weka = regexp.MustCompile(`(?i)^(\s|%.*\n)*@relation\s`)

// readDelimited reads text with one row per line into a table. Tabs, semicolons, commas, bars or spaces separate
// the fields. Fields may be quoted unless spaces separate them. Lines that begin with # are skipped, unless they
// might be rows.
func readDelimited(r io.Reader, t *table) error {
	raw := inputOf(r)
	raw.skipMark()
	raw.Reader = bufio.NewReaderSize(raw.Reader, maxComments)
	start, err := raw.Peek(maxComments)
	if err != nil && err != io.EOF {
		return err
	}
	text := strings.ReplaceAll(string(start), "\r", "\n")
	if weka.MatchString(text) {
		return unreadError("a Weka file (ARFF)", `convert it, for example with the package liac-arff: t = arff.load(open(FILE)); pandas.DataFrame(t["data"], columns=[a for a, _ in t["attributes"]]).to_csv("rows.csv", index=False)`)
	}
	separator := separatorOf(text)
	in := &lineEnds{r: raw, separator: byte(separator), line: 1, start: true, zeros: t.rules == FirstRules, commented: map[int]int{}}
	t.commas, t.separator = separator != ',', separator
	if separator == ' ' {
		return readSpaced(in, t)
	}
	lines := &records{Reader: bufio.NewReaderSize(in, 1<<16), separator: byte(separator)}
	for {
		record, line, err := lines.read()
		if err == io.EOF {
			if line := in.commented[t.width()-1]; line > t.line {
				return commentedRow(line)
			}
			if err := t.end(); err != nil || in.gap == 0 || t.width() > 1 {
				return err
			}
			only := 0
			if t.order != nil {
				only = t.order[0]
			}
			t.columns[only].missing, t.columns[only].empty = t.lineOf(in.gap), `""`
			return nil
		}
		if parse, is := errors.AsType[*csv.ParseError](err); is {
			return fmt.Errorf("line %d: %w: put a field that contains quotes into quotes, and double each quote in it", parse.Line+lines.line-1, parse.Err)
		}
		if err != nil {
			return err
		}
		if err := t.add(record, line); err != nil {
			return err
		}
	}
}

// records reads the fields of lines: up to the first line with quotes several times faster than csv.Reader, which reads
// the others.
type records struct {
	*bufio.Reader
	separator byte
	line      int // the number of the last line, or of the first with quotes
	fields    []string
	quoted    *csv.Reader // nil up to the first line with quotes
}

// read returns the fields of the next line that is neither empty nor a comment, and its number. The fields are valid until
// the next call.
func (r *records) read() ([]string, int, error) {
	for r.quoted == nil {
		r.line++
		text, err := r.ReadString('\n')
		if text == "" && err != nil {
			return nil, 0, err
		}
		if strings.IndexByte(text, '"') >= 0 {
			r.quoted = csv.NewReader(io.MultiReader(strings.NewReader(text), r.Reader))
			r.quoted.Comma, r.quoted.Comment, r.quoted.ReuseRecord, r.quoted.FieldsPerRecord, r.quoted.TrimLeadingSpace = rune(r.separator), '#', true, -1, r.separator != '\t'
			break
		}
		if text = strings.TrimSuffix(text, "\n"); text == "" || text[0] == '#' {
			continue
		}
		r.fields = r.fields[:0]
		for {
			end := strings.IndexByte(text, r.separator)
			if end < 0 {
				return append(r.fields, text), r.line, nil
			}
			r.fields, text = append(r.fields, text[:end]), text[end+1:]
		}
	}
	record, err := r.quoted.Read()
	if err != nil {
		return nil, 0, err
	}
	line, _ := r.quoted.FieldPos(0)
	return record, line + r.line - 1, nil
}

func commentedRow(line int) error {
	return fmt.Errorf("line %d begins with #, but has as many fields as a row: put the field into quotes to keep the row, or remove the line", line)
}

// endOfText is the character, Ctrl-Z, that ends text of DOS.
const endOfText = 0x1a

// lineEnds reads text and ends each line with a single line feed, whether the text ends it with a carriage
// return, a line feed, or both, and leaves out Ctrl-Z where a line begins. It also counts the separators in lines
// that begin with #, and notes an empty line between rows.
type lineEnds struct {
	r         io.Reader
	cr        bool // whether the last byte was a carriage return
	separator byte
	line      int
	zeros     bool        // whether the text may have bytes of 0
	start     bool        // whether a line begins
	quoted    bool        // whether this is in quotes
	row       bool        // whether a row has begun
	empty     int         // the first empty line below a row, or 0
	gap       int         // the first empty line between two rows, or 0
	comment   int         // one more than the number of separators so far in a line that begins with #, or 0
	commented map[int]int // the last line that begins with # and has this number of separators outside quotes
}

// note notes a byte of the text.
func (l *lineEnds) note(b byte) {
	switch {
	case l.start && b == '\n':
		if l.row {
			l.empty = cmp.Or(l.empty, l.line)
		}
	case l.start && b == '#':
		l.comment = 1
	case l.comment > 0 && b == l.separator && !l.quoted:
		l.comment++
	case l.comment > 0 && b == '\n':
		l.quoted = false
	case b == '"':
		l.quoted = !l.quoted
	}
	if l.start && b != '\n' && b != '#' {
		l.row, l.gap = true, l.empty
	}
	if l.start = b == '\n' && !l.quoted; l.start && l.comment > 0 {
		l.commented[l.comment-1] = l.line
		l.comment = 0
	}
	if b == '\n' {
		l.line++
	}
}

func (l *lineEnds) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	if !l.zeros && bytes.IndexByte(p[:n], 0) >= 0 {
		return 0, errors.New("it has bytes of 0, which text has not: the file is damaged, or no text")
	}
	kept := p[:0]
	plain := bytes.IndexByte(p[:n], '\r') < 0 && bytes.IndexByte(p[:n], '"') < 0
	for i := 0; i < n; i++ {
		if !l.start && !l.quoted && !l.cr && l.comment == 0 { // within a line, only these have a meaning
			end := 0
			if plain {
				end = bytes.IndexByte(p[i:n], '\n')
			} else {
				end = bytes.IndexAny(p[i:n], "\n\r\"")
			}
			if end < 0 {
				end = n - i
			}
			if len(kept) == i {
				kept = p[:i+end]
			} else {
				kept = append(kept, p[i:i+end]...)
			}
			if i += end; i == n {
				break
			}
		}
		b := p[i]
		if b == '\n' && l.cr {
			l.cr = false
			continue
		}
		if l.start && b == endOfText {
			continue
		}
		if l.cr = b == '\r'; l.cr {
			b = '\n'
		}
		l.note(b)
		kept = append(kept, b)
	}
	if err == io.EOF {
		l.note('\n') // which the last line may lack
	}
	return len(kept), err
}

// separatorOf returns the character that separates the fields of a file, judged by the first line that is
// neither empty nor a comment. It returns a comma if this line has only one field, unless it is a row of a LIBSVM
// file without features.
func separatorOf(start string) rune {
	lone := false // whether the lines so far are lone numbers
	for line := range strings.Lines(start) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		record := strings.Fields(line)
		_, err := strconv.ParseFloat(record[0], 64)
		if err == nil && len(record) == 1 {
			lone = true
			continue
		}
		if lone && err == nil && isSparse(record) {
			return ' '
		}
		if lone {
			break
		}
		quoted := false
		bare := strings.Map(func(r rune) rune {
			if r == '"' {
				quoted = !quoted
			}
			if quoted {
				return -1
			}
			return r
		}, line)
		for _, separator := range separators {
			if strings.ContainsRune(bare, separator) {
				return separator
			}
		}
		if strings.ContainsAny(bare, " ") {
			return ' '
		}
		break
	}
	return ','
}

// maxLine is the longest line, in bytes, whose fields may be separated by spaces.
const maxLine = 1 << 28

func readSpaced(in io.Reader, t *table) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxLine)
	for line := 1; lines.Scan(); line++ {
		text := strings.TrimSpace(lines.Text())
		record := strings.Fields(text)
		if text == "" || text[0] == '#' {
			if text != "" && t.first != nil && len(record) == t.width() && len(record) > 1 {
				return commentedRow(line)
			}
			continue
		}
		ranked := t.rules != FirstRules && len(record) > 2 && strings.HasPrefix(record[1], "qid:") && isSparse(record[1:])
		if (ranked || isSparse(record)) && (t.rows == 0 || len(record) != t.width()) {
			return unreadError("a LIBSVM file", `convert it, for example with numpy.save("rows.npy", sklearn.datasets.load_svmlight_file(FILE, n_features=N, zero_based=False)[0].toarray()), where N is the number of columns; zero_based=True if they are counted from 0`)
		}
		if err := t.add(record, line); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	return t.end()
}

// isSparse reports whether the second field is an index and a value, INDEX:VALUE.
func isSparse(record []string) bool {
	index, value, _ := strings.Cut(record[min(1, len(record)-1)], ":")
	_, errIndex := strconv.Atoi(index)
	_, err := strconv.ParseFloat(value, 64)
	return err == nil && errIndex == nil
}

// missingCodes are the codes for a missing value that pandas.read_csv knows, and "?". ParseFloat reads the others of
// pandas as NaN.
var missingCodes = []string{"", "?", "NA", "N/A", "n/a", "#N/A", "#N/A N/A", "#NA", "<NA>", "null", "NULL", "None", "-nan", "-NaN", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN"}

// isMissing reports whether a field is in missingCodes, or is the code of the table, or the same number as this code.
// v is the field as a number, if it is one.
func (t *table) isMissing(field string, v float64, is bool) bool {
	if is && t.code == "" { // which is no other code
		return math.IsNaN(v)
	}
	if slices.Contains(missingCodes, field) || t.code != "" && field == t.code {
		return true
	}
	if !is || math.IsNaN(v) || t.code == "" {
		return is && math.IsNaN(v)
	}
	code, coded := t.numberIn(t.code)
	return coded && t.rules.areSame(v, code)
}

// pointed and comma match numbers with separators of thousands, and a decimal point or comma.
var (
	pointed = regexp.MustCompile(`^[-+]?\d{1,3}(,\d{3})+(\.\d*)?$`)
	comma   = regexp.MustCompile(`^[-+]?\d{1,3}(\.\d{3})+(,\d*)?$`)
)

// numberIn parses a field as a number, which is infinite if it is too large for a float64. It accepts a decimal comma if
// t.commas is set. If t.decimal is set, the other character may separate thousands.
func (t *table) numberIn(field string) (float64, bool) {
	if t.decimal != "," || t.named { // JSON and Parquet have numbers of their own, with a point
		if v, is := plainNumber(field); is {
			return v, true
		}
	}
	switch {
	case t.decimal == "." && pointed.MatchString(field):
		field = strings.ReplaceAll(field, ",", "")
	case t.decimal == "," && comma.MatchString(field):
		field = strings.ReplaceAll(strings.ReplaceAll(field, ".", ""), ",", ".")
	case t.decimal == "," && strings.Contains(field, "."):
		return 0, false
	}
	if field == "" || field[0] > '9' && strings.IndexByte("iInN", field[0]) < 0 { // infinity and NaN
		return 0, false
	}
	v, err := strconv.ParseFloat(field, 64)
	if err != nil && (t.decimal == "," || t.decimal == "" && t.commas) && strings.Count(field, ",") == 1 {
		v, err = strconv.ParseFloat(strings.Replace(field, ",", ".", 1), 64)
	}
	return v, err == nil || errors.Is(err, strconv.ErrRange)
}
