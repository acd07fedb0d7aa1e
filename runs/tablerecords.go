package runs

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// WriteCSV writes a line of keys, and a line for each row, quoted as RFC 4180
// says, in UTF-8; lines end with a newline alone. A missing cell is an empty field,
// an infinity +Inf or -Inf, a boolean true or false. Numbers have as many digits
// as it takes to read the same number again.
func (t *Table) WriteCSV(w io.Writer) error {
	var b strings.Builder
	var keys []string
	for _, c := range t.columns {
		keys = append(keys, c.Key)
	}
	b.WriteString(strings.Join(keys, ",") + "\n")
	for _, row := range t.rows {
		if len(row) == 1 && row[0] == nil {
			b.WriteString(`""`) // programs pass over an empty line
		}
		var fields []string
		for _, cell := range row {
			fields = append(fields, csvField(cell))
		}
		b.WriteString(strings.Join(fields, ",") + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func csvField(cell any) string {
	text := plain(cell)
	if _, is := cell.(string); is && strings.ContainsAny(text, ",\"\r\n") {
		return `"` + strings.ReplaceAll(text, `"`, `""`) + `"`
	}
	return text
}

// plain is a cell as text, empty where it is missing.
func plain(cell any) string {
	switch x := cell.(type) {
	case nil:
		return ""
	case float64:
		return exactNumber(x)
	}
	return fmt.Sprint(cell)
}

// WriteJSON writes an array with an object a row, on a line of its own, that has
// all keys in the order of the columns. A missing cell is null, and an infinity,
// of which JSON has none, the string "+Inf" or "-Inf". Numbers have as many
// digits as it takes to read the same number again, which pandas.read_json does
// with precise_float=True.
func (t *Table) WriteJSON(w io.Writer) error {
	var rows []string
	for _, row := range t.rows {
		var fields []string
		for i, cell := range row {
			value, err := jsonValue(cell)
			if err != nil {
				return err
			}
			fields = append(fields, fmt.Sprintf("%q:%s", t.columns[i].Key, value))
		}
		rows = append(rows, "\n{"+strings.Join(fields, ",")+"}")
	}
	end := "\n]\n"
	if len(rows) == 0 {
		end = "]\n"
	}
	_, err := io.WriteString(w, "["+strings.Join(rows, ",")+end)
	return err
}

func jsonValue(cell any) ([]byte, error) {
	if x, ok := cell.(float64); ok {
		if !math.IsInf(x, 0) {
			return []byte(exactNumber(x)), nil
		}
		cell = exactNumber(x)
	}
	return json.Marshal(cell)
}

// exactNumber writes the shortest number that is x when it is read again, and no
// integer: programs tell the kind of a column from it.
func exactNumber(x float64) string {
	s := strconv.FormatFloat(x, 'g', -1, 64)
	if !strings.ContainsAny(s, ".eI") {
		s += ".0"
	}
	return s
}
