package command

import (
	"bytes"
	"encoding/json"
	"math"
	"regexp"
	"strconv"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/helmholtz-go/helmholtz/runs/parquet"
)

// rowFormats are the formats of files of rows, as their extensions.
var rowFormats = []string{"csv", "json", "parquet"}

// leadingZero matches the digits of an identifier or a category, and hexadecimal numbers.
var leadingZero = regexp.MustCompile(`^[-+]?0[\dxX]`)

// rowsAs returns the fields of columns in a format, with a separator in CSV. In JSON, an array of an object for each row, and in Parquet, a column
// is numeric if all its fields are finite numbers without leading zeros, and integer if these are whole.
func rowsAs(format string, columns []dataset.Column, fields [][]string, separator rune) ([]byte, error) {
	var b bytes.Buffer
	if format == "csv" {
		err := dataset.WriteCSV(&b, columns, fields, separator)
		return b.Bytes(), err
	}
	names, kinds := make([]string, len(columns)), make([]runs.ColumnKind, len(columns))
	rows := make([][]any, len(fields))
	for i, c := range columns {
		names[i], kinds[i] = c.Name, runs.Integer
		for _, row := range fields {
			if _, err := strconv.ParseInt(row[i], 10, 64); err != nil && kinds[i] == runs.Integer {
				kinds[i] = runs.Number
			}
			if v, err := strconv.ParseFloat(row[i], 64); err != nil || math.IsNaN(v) || math.IsInf(v, 0) || leadingZero.MatchString(row[i]) {
				kinds[i] = runs.Text
			}
		}
	}
	for r, row := range fields {
		for i, field := range row {
			var cell any = field
			switch kinds[i] {
			case runs.Integer:
				cell, _ = strconv.ParseInt(field, 10, 64)
			case runs.Number:
				cell, _ = strconv.ParseFloat(field, 64)
			}
			rows[r] = append(rows[r], cell)
		}
	}
	if format == "parquet" {
		err := parquet.WriteRows(&b, "samples", names, kinds, rows)
		return b.Bytes(), err
	}
	for r, row := range rows {
		b.WriteString([]string{"[\n  {", ",\n  {"}[min(r, 1)])
		for i, cell := range row {
			name, err := json.Marshal(names[i])
			if err != nil {
				return nil, err
			}
			value, err := json.Marshal(cell)
			if err != nil {
				return nil, err
			}
			b.WriteString([]string{"", ", "}[min(i, 1)] + string(name) + ": " + string(value))
		}
		b.WriteString("}")
	}
	b.WriteString("\n]\n")
	return b.Bytes(), nil
}
