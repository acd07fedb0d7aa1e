// Package parquet reads tables of Apache Parquet files. Importing it adds them to the formats of package
// dataset. It is a separate package because a notebook cell compiles everything that it imports.
package parquet

import (
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/parquet-go/parquet-go"
)

func init() { dataset.RegisterTable("PAR1", Read) }

// Read reads a Parquet file; it is a dataset.TableReader. A null becomes an empty field. Read refuses columns
// of lists or structures.
func Read(r io.ReaderAt, size int64, row func(fields []string) error) (err error) {
	defer func() { // parquet-go panics on some damaged files
		if recovered := recover(); recovered != nil {
			err = fmt.Errorf("the Parquet file is damaged: save it again (%v)", recovered)
		}
	}()
	file, err := parquet.OpenFile(r, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return fmt.Errorf("the Parquet file is damaged: save it again (%w)", err)
	}
	var names []string
	for _, field := range file.Schema().Fields() {
		if !field.Leaf() || field.Repeated() {
			return fmt.Errorf("column %q has lists or structures: save columns of numbers and text, for example with pandas.read_parquet(FILE).drop(columns=[%[1]q]).to_csv(\"rows.csv\", index=False)", field.Name())
		}
		names = append(names, field.Name())
	}
	if err := row(names); err != nil {
		return err
	}
	buffer, fields := make([]parquet.Row, 64), make([]string, len(names))
	for _, group := range file.RowGroups() {
		rows := group.Rows()
		defer rows.Close()
		for {
			n, err := rows.ReadRows(buffer)
			for _, values := range buffer[:n] {
				if len(values) != len(names) {
					return errors.New("the Parquet file is damaged: save it again")
				}
				for _, v := range values {
					fields[v.Column()] = text(v)
				}
				if err := row(fields); err != nil {
					return err
				}
			}
			if err == io.EOF {
				break
			}
			if err != nil {
				return fmt.Errorf("the Parquet file is damaged: save it again (%w)", err)
			}
		}
	}
	return nil
}

func text(v parquet.Value) string {
	switch {
	case v.IsNull():
		return ""
	case v.Kind() == parquet.Float:
		return strconv.FormatFloat(float64(v.Float()), 'g', -1, 32)
	case v.Kind() == parquet.Double:
		return strconv.FormatFloat(v.Double(), 'g', -1, 64)
	}
	return v.String()
}
