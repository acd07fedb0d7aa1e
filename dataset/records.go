package dataset

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
)

// These match the start of JSON that is a table, a table with an object in each line, and sequences.
var (
	recordsStart   = regexp.MustCompile(`^\s*(\[\s*\{|\{\s*")`)
	linesStart     = regexp.MustCompile(`^\s*\{\s*"([^"\\]|\\.)*"\s*:\s*[^\s\[{]`)
	sequencesStart = regexp.MustCompile(`^\s*\{\s*"((keys|train|valid|test)"\s*:\s*\[|[^"]*"\s*:\s*\[\s*\[)`)
)

// notNumber matches the error for NaN, Infinity and -Infinity, which Python writes.
var notNumber = regexp.MustCompile(`^invalid character '[NI]'`)

// isRecords reports whether the first bytes of a file show a table in JSON.
func isRecords(start []byte) bool { return recordsStart.Match(start) && !sequencesStart.Match(start) }

// member is a key of a JSON object, with its value as the field of a table or, if it is an object or a list, with the keys
// and the fields in it. The keys of a list are numbers.
type member struct {
	key, field   string
	nested       bool
	keys, fields []string
}

const (
	jsonTable  = "JSON of a table"
	jsonRemedy = `convert the file with the orient that wrote it, "split", "index" or "table", with pandas.read_json(FILE, orient=ORIENT).to_csv("rows.csv", index=False), or keep lists of numbers with pandas.read_json(FILE, lines=True).to_parquet("rows.parquet"), without lines=True for one list of rows`
)

// readRecords reads a table in JSON: a list of objects or one object after the other, each a row, or an object of columns,
// each an object or a list. These are the forms that pandas' to_json writes as records, lines and columns, which is its
// default. It passes the names of the columns to row, and then the fields of each row: null is an empty field.
func readRecords(r io.Reader, row func([]string) error) error {
	d := json.NewDecoder(r)
	d.UseNumber()
	var names, fields []string
	listed, ended := false, false
	for n := 1; ; n++ {
		token, err := d.Token()
		if n == 1 && token == json.Delim('[') {
			listed = true
			token, err = d.Token()
		}
		if listed && token == json.Delim(']') {
			ended = true
			token, err = d.Token()
		}
		switch {
		case err == io.EOF && listed == ended:
			return nil
		case err != nil:
			return fmt.Errorf("%s: it ends early or is damaged (%w): get the file again", jsonTable, err)
		case token != json.Delim('{') || ended:
			return fmt.Errorf("%s: %v stands where row %d, an object, or the end should be: write one list of objects, as pandas does with to_json(FILE, orient=\"records\")", jsonTable, token, n)
		}
		members, err := readMembers(d, '}', n == 1 && !listed)
		if damage := new(json.SyntaxError); errors.As(err, &damage) && notNumber.MatchString(err.Error()) {
			return fmt.Errorf(`%s, row %d: %w: JSON has no NaN and no Infinity: write null, for example with pandas.DataFrame(json.load(open(FILE))).to_json("rows.json", orient="records")`, jsonTable, n, err)
		}
		if err != nil {
			return fmt.Errorf("%s, row %d: %w", jsonTable, n, err)
		}
		if n == 1 && len(members) > 0 && members[0].nested {
			if _, err := d.Token(); err != io.EOF {
				return fmt.Errorf("%s: text follows the columns: keep one object of columns", jsonTable)
			}
			return byRow(members, row)
		}
		if n == 1 {
			for _, m := range members {
				names = append(names, m.key)
			}
			if err := row(names); err != nil {
				return err
			}
			fields = make([]string, len(names))
		}
		clear(fields)
		for k, m := range members {
			if k >= len(names) || names[k] != m.key {
				k = slices.Index(names, m.key)
			}
			if k < 0 || m.nested {
				return fmt.Errorf("%s, row %d: %q is not a key of the first row, or has several values: give all rows the same keys, with one value each", jsonTable, n, m.key)
			}
			fields[k] = m.field
		}
		if err := row(fields); err != nil {
			return err
		}
	}
}

// readMembers reads the rest of an object or a list. Its values may be objects or lists if nested is true.
func readMembers(d *json.Decoder, end json.Delim, nested bool) (all []member, err error) {
	known := map[string]bool{}
	for {
		m := member{key: strconv.Itoa(len(all))}
		token, err := d.Token()
		if err != nil || token == end {
			return all, err
		}
		if key, is := token.(string); is && end == '}' {
			if known[key] {
				return nil, fmt.Errorf("the key %q stands twice: keep one", key)
			}
			known[key], m.key = true, key
			if token, err = d.Token(); err != nil {
				return nil, err
			}
		}
		switch v := token.(type) {
		case nil:
		case json.Delim:
			if !nested {
				return nil, fmt.Errorf("the value of %q is a list or an object: %s", m.key, jsonRemedy)
			}
			m.nested = true
			parts, err := readMembers(d, v+2, false) // { and }, or [ and ]
			if err != nil {
				return nil, err
			}
			for _, of := range parts {
				m.keys, m.fields = append(m.keys, of.key), append(m.fields, of.field)
			}
		default:
			m.field = fmt.Sprint(v)
		}
		all = append(all, m)
	}
}

// byRow passes columns to row, row by row. Their keys become a column without a name if they are no numbers, like the index
// that pandas' to_csv writes.
func byRow(columns []member, row func([]string) error) error {
	isName := func(key string) bool { _, err := strconv.Atoi(key); return err != nil }
	first, counted := columns[0], true
	for i, c := range columns {
		counted = counted && c.key == strconv.Itoa(i)
		if !slices.Equal(c.keys, first.keys) {
			return fmt.Errorf("%s: the columns %q and %q have different rows: give both a value for each row, or null; if they are no columns, %s", jsonTable, first.key, c.key, jsonRemedy)
		}
	}
	if named := slices.ContainsFunc(first.keys, isName); named && counted {
		return fmt.Errorf("%s: its keys %q and below it %s may be rows or columns: %s", jsonTable, first.key, quoted(first.keys), jsonRemedy)
	} else if named {
		columns = slices.Insert(columns, 0, member{fields: first.keys})
	}
	fields := make([]string, len(columns))
	for r := -1; r < len(first.keys); r++ {
		for i, c := range columns {
			if fields[i] = c.key; r >= 0 {
				fields[i] = c.fields[r]
			}
		}
		if err := row(fields); err != nil {
			return err
		}
	}
	return nil
}
