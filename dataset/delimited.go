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
	"unicode"
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
	in := &lines{Reader: raw.Reader}
	t.commas, t.separator = separator != ',', separator
	var fields []string
	empty, gap, commented := 0, 0, 0 // the first empty line below a row, also if a row follows, and the last comment as long as a row
	for {
		text, err := in.next()
		if err == io.EOF {
			break
		}
		if err == nil && t.rules != FirstRules && strings.IndexByte(text, 0) >= 0 {
			err = errors.New("it has bytes of 0, which text has not: the file is damaged, or no text")
		}
		if err != nil {
			return err
		}
		if text = strings.TrimLeft(text, endOfText); separator == ' ' {
			text = strings.TrimSpace(text)
		}
		line, comment := in.number, strings.HasPrefix(text, "#")
		switch {
		case text == "" && t.first != nil:
			empty = cmp.Or(empty, line)
			fallthrough
		case text == "":
			continue
		case separator == ' ':
			fields = strings.Fields(text)
		case comment:
			fields = strings.Split(quotedPart.ReplaceAllString(text, ""), string(separator))
		default:
			gap = empty
			fields, err = in.fields(fields[:0], text, byte(separator))
		}
		switch {
		case err != nil:
			return fmt.Errorf("line %d: %w: put a field that contains quotes into quotes, and double each quote in it", line, err)
		case comment && separator == ' ' && t.first != nil && len(fields) == t.width() && len(fields) > 1:
			return commentedRow(line)
		case comment && t.first != nil && len(fields) == t.width():
			commented = line
			fallthrough
		case comment:
			continue
		case separator == ' ' && t.isLibSVM(fields):
			return unreadError("a LIBSVM file", fmt.Sprintf(`convert it, for example with x, y = sklearn.datasets.load_svmlight_file(FILE, n_features=N, zero_based=%s); numpy.savez("rows.npz", x=x.toarray(), y=numpy.unique(y, return_inverse=True)[1]), where N is the number of columns; zero_based=True if they are counted from 0`, zeroBased[strings.HasPrefix(fields[min(1, len(fields)-1)], "0:")]))
		}
		if err := t.add(fields, line); err != nil {
			return err
		}
	}
	if commented > 0 && separator != ' ' {
		return commentedRow(commented)
	}
	if err := t.end(); err != nil || gap == 0 || t.width() > 1 {
		return err
	}
	only := 0
	if t.order != nil {
		only = t.order[0]
	}
	t.columns[only].missing, t.columns[only].empty = t.lineOf(gap), `""`
	return nil
}

// quotedPart matches a part of a line in quotes.
var quotedPart = regexp.MustCompile(`"[^"]*("|$)`)

func commentedRow(line int) error {
	return fmt.Errorf("line %d begins with #, but has as many fields as a row: put the field into quotes to keep the row, or remove the line", line)
}

// endOfText is the character, Ctrl-Z, that ends text of DOS. It is left out where a line begins.
const endOfText = "\x1a"

// lines reads lines that a carriage return, a line feed, or both end.
type lines struct {
	io.Reader
	number int      // of the last line
	more   []string // the lines behind it that are already read
	text   string   // what is read behind them
	buffer bytes.Buffer
	err    error // from reading
}

// textBytes is the number of bytes of text that are read at once.
const textBytes = 1 << 18

// next returns the next line.
func (l *lines) next() (string, error) {
	if len(l.more) == 0 {
		text, rest, ended := strings.Cut(l.text, "\n")
		if !ended && l.err == nil {
			l.read()
			text, rest, ended = strings.Cut(l.text, "\n")
		}
		if !ended && (text == "" || l.err != io.EOF) {
			return "", l.err
		}
		if l.text = rest; ended {
			text = strings.TrimSuffix(text, "\r")
		}
		if strings.IndexByte(text, '\r') < 0 {
			l.number++
			return text, nil
		}
		if l.more = strings.Split(text, "\r"); !ended && strings.HasSuffix(text, "\r") {
			l.more = l.more[:len(l.more)-1]
		}
	}
	text := l.more[0]
	l.number, l.more = l.number+1, l.more[1:]
	return text, nil
}

// read reads more text, up to the end of a line or more.
func (l *lines) read() {
	l.buffer.Reset()
	l.buffer.WriteString(l.text)
	for ended := false; !ended && l.err == nil; {
		from, n := l.buffer.Len(), int64(0)
		if n, l.err = l.buffer.ReadFrom(io.LimitReader(l.Reader, textBytes)); l.err == nil && n < textBytes {
			l.err = io.EOF
		}
		ended = bytes.IndexByte(l.buffer.Bytes()[from:], '\n') >= 0
	}
	l.text = l.buffer.String()
}

// fields appends the fields of a line, and of the lines behind it if a quoted field continues there.
func (l *lines) fields(to []string, text string, separator byte) ([]string, error) {
	bare := strings.IndexByte(text, '"') < 0
	for {
		field, quoted := text, false
		if !bare && separator != '\t' {
			field = strings.TrimLeftFunc(field, unicode.IsSpace)
		}
		if field, quoted = strings.CutPrefix(field, `"`); quoted && !bare {
			var err error
			if field, text, err = l.quoted(field); err != nil {
				return nil, err
			}
			if to = append(to, field); text == "" {
				return to, nil
			}
			if text[0] != separator {
				return nil, csv.ErrQuote
			}
			text = text[1:]
			continue
		}
		end := strings.IndexByte(text, separator)
		if field = text; end >= 0 {
			field = text[:end]
		}
		if !bare && strings.IndexByte(field, '"') >= 0 {
			return nil, csv.ErrBareQuote
		}
		if to = append(to, field); end < 0 {
			return to, nil
		}
		text = text[end+1:]
	}
}

// quoted returns the field that begins with text, and the text behind its last quote.
func (l *lines) quoted(text string) (field, rest string, err error) {
	for {
		part, rest, ended := strings.Cut(text, `"`)
		field += part
		switch {
		case !ended:
			if text, err = l.next(); err == io.EOF {
				err = csv.ErrQuote
			}
			if err != nil {
				return "", "", err
			}
			field += "\n"
		case strings.HasPrefix(rest, `"`):
			field, text = field+`"`, rest[1:]
		default:
			return field, rest, nil
		}
	}
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

// isLibSVM reports whether a row is one of a LIBSVM file, of another length than the rows before it.
func (t *table) isLibSVM(record []string) bool {
	ranked := t.rules != FirstRules && len(record) > 2 && strings.HasPrefix(record[1], "qid:") && isSparse(record[1:])
	return (ranked || isSparse(record)) && (t.rows == 0 || len(record) != t.width())
}

// zeroBased has Python's names of truth values.
var zeroBased = map[bool]string{false: "False", true: "True"}

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

// isMissingInPandas reports whether pandas.read_csv takes a field for a missing value without na_values.
func isMissingInPandas(field string) bool {
	return field != "?" && slices.Contains(missingCodes, field) || field == "nan" || field == "NaN"
}

// isMissing reports whether a field is in missingCodes, or is a code of the table, or the same number as one.
// v is the field as a number, if it is one.
func (t *table) isMissing(field string, v float64, is bool) bool {
	if is && len(t.codes) == 0 { // which is no other code
		return math.IsNaN(v)
	}
	if slices.Contains(missingCodes, field) || slices.Contains(t.codes, field) {
		return true
	}
	return is && (math.IsNaN(v) || slices.ContainsFunc(t.codes, func(text string) bool {
		code, coded := t.numberIn(text)
		return coded && t.rules.areSame(v, code)
	}))
}

// pointed and comma match numbers with separators of thousands, and a decimal point or comma.
var (
	pointed = regexp.MustCompile(`^[-+]?\d{1,3}(,\d{3})+(\.\d*)?$`)
	comma   = regexp.MustCompile(`^[-+]?\d{1,3}(\.\d{3})+(,\d*)?$`)
)

// numberIn parses a field as a number, which is infinite if it is too large for a float64. It accepts a decimal comma if
// t.commas is set. If t.decimal is set, the other character may separate thousands.
func (t *table) numberIn(field string) (float64, bool) {
	v, _, is := t.numberWith(field)
	return v, is
}

// ungrouped removes the characters that separate thousands from a number, if the decimal character is known.
func (t *table) ungrouped(field string) string {
	switch {
	case t.decimal == "." && pointed.MatchString(field):
		return strings.ReplaceAll(field, ",", "")
	case t.decimal == "," && comma.MatchString(field):
		return strings.ReplaceAll(field, ".", "")
	}
	return field
}

// numberWith returns what numberIn does, and the largest number of digits that the field may have behind the point.
func (t *table) numberWith(field string) (v float64, decimals int, is bool) {
	if t.decimal != "," || t.named { // JSON and Parquet have numbers of their own, with a point
		if v, decimals, is = plainNumber(field); is {
			return v, decimals, true
		}
	}
	decimals = len(field)
	if field = t.ungrouped(field); t.decimal == "," && !t.named && strings.Contains(field, ".") {
		return 0, 0, false
	}
	switch {
	case field == "" || field[0] > '9' && strings.IndexByte("iInN", field[0]) < 0: // infinity and NaN
		return 0, 0, false
	case t.rules != FirstRules && strings.Contains(field, "_"): // which ParseFloat ignores: 2_11 may be a well of plate 2
		return 0, 0, false
	}
	v, err := strconv.ParseFloat(field, 64)
	if err != nil && (t.decimal == "," || t.decimal == "" && t.commas) && strings.Count(field, ",") == 1 {
		v, err = strconv.ParseFloat(strings.Replace(field, ",", ".", 1), 64)
	}
	return v, decimals, err == nil || errors.Is(err, strconv.ErrRange)
}
