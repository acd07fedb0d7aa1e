package parquet_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/dataset"
)

// fileValues has the fields of the rows of a file in their order, or an error.
type fileValues struct {
	Error   string
	Shape   string
	Columns []string
	Rows    [][]string
	Labels  []int
	Classes []string
}

// TestValues reads the files of a list of Specs, as internal/formats/formats.py does. The files HELMHOLTZ_SPECS and
// HELMHOLTZ_VALUES have the list and get the values.
func TestValues(t *testing.T) {
	path := os.Getenv("HELMHOLTZ_SPECS")
	if path == "" {
		t.Skip("HELMHOLTZ_SPECS names no list of Specs")
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var specs []dataset.Spec
	if err := json.Unmarshal(text, &specs); err != nil {
		t.Fatal(err)
	}
	var all []fileValues
	for _, spec := range specs {
		values, err := valuesOf(spec)
		if err != nil {
			values.Error = err.Error()
		}
		all = append(all, values)
	}
	if text, err = json.Marshal(all); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(os.Getenv("HELMHOLTZ_VALUES"), text, 0o600); err != nil {
		t.Fatal(err)
	}
}

func valuesOf(spec dataset.Spec) (of fileValues, err error) {
	set, err := spec.Open()
	if err != nil {
		return of, err
	}
	rows, err := set.ReadRows(spec.Name)
	if err != nil {
		return of, err
	}
	sheet := dataset.Sheet{Shape: rows.Shape}
	for i := range rows.Rows {
		sheet.Values = append(sheet.Values, rows.Floats(i)[0])
	}
	if rows.Lengths != nil {
		for _, row := range sheet.Values {
			of.Rows = append(of.Rows, strings.Fields(strings.Trim(fmt.Sprint(row), "[]")))
		}
		return of, nil
	}
	columns, fields, err := set.Fields(sheet, dataset.Writing{Exact: true})
	for k, c := range columns {
		of.Columns = append(of.Columns, c.Name)
		for r := range fields {
			if rows.IsMissing(r*rows.Shape.Units() + c.First) {
				fields[r][k] = ""
			}
		}
	}
	for _, label := range rows.Labels {
		of.Labels = append(of.Labels, int(label))
	}
	of.Shape, of.Rows, of.Classes = rows.Shape.String(), fields, set.ClassNames()
	return of, err
}
