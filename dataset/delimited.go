package dataset

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// separators lists the characters that may separate fields. The first character of this list that the first line
// contains separates the fields of the file. If the line contains none, spaces do.
var separators = []rune{'\t', ';', ',', '|'}

// readDelimited reads text with one row per line into a table. Tabs, semicolons, commas, bars or spaces separate
// the fields. Fields may be quoted unless spaces separate them. Lines that begin with # are skipped.
func readDelimited(r io.Reader, t *table) error {
	in := inputOf(&lineEnds{r: r})
	in.skipMark()
	start, err := in.Peek(1 << 12)
	if err != nil && err != io.EOF {
		return err
	}
	separator := separatorOf(string(start))
	t.commas = separator != ',' // decimal commas
	if separator == ' ' {
		return readSpaced(in, t)
	}
	c := csv.NewReader(in)
	c.Comma, c.Comment, c.ReuseRecord, c.FieldsPerRecord, c.TrimLeadingSpace = separator, '#', true, -1, separator != '\t'
	for {
		record, err := c.Read()
		if err == io.EOF {
			return t.end()
		}
		if parse := new(csv.ParseError); errors.As(err, &parse) {
			return fmt.Errorf("line %d: %w: put a field that contains quotes into quotes, and double each quote in it", parse.Line, parse.Err)
		}
		if err != nil {
			return err
		}
		line, _ := c.FieldPos(0)
		if err := t.add(record, line); err != nil {
			return err
		}
	}
}

// lineEnds reads text and ends each line with a single line feed, whether the text ends it with a carriage
// return, a line feed, or both.
type lineEnds struct {
	r  io.Reader
	cr bool // whether the last byte was a carriage return
}

func (l *lineEnds) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	kept := p[:0]
	for _, b := range p[:n] {
		if b == '\n' && l.cr {
			l.cr = false
			continue
		}
		if l.cr = b == '\r'; l.cr {
			b = '\n'
		}
		kept = append(kept, b)
	}
	return len(kept), err
}

// separatorOf returns the character that separates the fields of a file, judged by the first line that is
// neither empty nor a comment. It returns a comma if this line has only one field.
func separatorOf(start string) rune {
	for line := range strings.Lines(start) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
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
		if text == "" || text[0] == '#' {
			continue
		}
		if err := t.add(strings.Fields(text), line); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	return t.end()
}

// isMissing reports whether a field is code or one of the usual codes for a missing value.
func isMissing(field, code string) bool {
	return slices.Contains([]string{"", "?", "NA", "N/A", "NaN", "nan", "null", "NULL", "None"}, field) || code != "" && field == code
}

// numberIn parses a field as a number. It accepts a decimal comma if t.commas is set.
func (t *table) numberIn(field string) (float64, bool) {
	switch field { // the usual fields of binary data
	case "0":
		return 0, true
	case "1":
		return 1, true
	}
	v, err := strconv.ParseFloat(field, 64)
	if err != nil && t.commas && strings.Count(field, ",") == 1 {
		v, err = strconv.ParseFloat(strings.Replace(field, ",", ".", 1), 64)
	}
	return v, err == nil
}
