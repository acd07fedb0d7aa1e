package command

import (
	"bytes"
	"math"
	"regexp"
	"slices"
	"strconv"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/helmholtz-go/helmholtz/runs/parquet"
)

// rowFormats are the formats of files of rows, as their extensions.
var rowFormats = []string{"csv", "json", "parquet"}

// leadingZero matches the digits of an identifier or a category, and hexadecimal numbers.
var leadingZero = regexp.MustCompile(`^[-+]?0[\dxX]`)

// rowsAs returns the fields of columns in a format, with a separator in CSV. In JSON and Parquet, a column is numeric if
// all its fields and values are finite numbers without leading zeros, and integer if these are whole.
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
		all := slices.Clone(c.Values)
		for _, row := range fields {
			all = append(all, row[i])
		}
		for _, field := range all {
			if _, err := strconv.ParseInt(field, 10, 64); err != nil && kinds[i] == runs.Integer {
				kinds[i] = runs.Number
			}
			if v, err := strconv.ParseFloat(field, 64); err != nil || math.IsNaN(v) || math.IsInf(v, 0) || leadingZero.MatchString(field) {
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
	var err error
	if format == "parquet" {
		err = parquet.WriteRows(&b, "samples", names, kinds, rows)
	} else {
		err = runs.WriteRecords(&b, names, rows)
	}
	return b.Bytes(), err
}
