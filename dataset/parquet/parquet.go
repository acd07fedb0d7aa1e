// Package parquet reads tables of Apache Parquet files. Importing it adds them to the formats of package
// dataset. It is a separate package because a notebook cell compiles everything that it imports.
package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/big"
	"strconv"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/npy"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
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
	var texts []func(parquet.Value) string
	for i, field := range file.Schema().Fields() {
		if !field.Leaf() || field.Repeated() {
			return fmt.Errorf("column %q has lists or structures: save columns of numbers and text, for example with pandas.read_parquet(FILE).drop(columns=[%[1]q]).to_csv(\"rows.csv\", index=False)", field.Name())
		}
		text := textOf(field.Type())
		if _, is := file.Metadata().Schema[i+1].LogicalType.Value.(*format.Float16Type); is && field.Type().Length() == 2 {
			text = textOfHalf // parquet-go reads this type as bytes
		}
		names, texts = append(names, field.Name()), append(texts, text)
	}
	if err := row(names); err != nil {
		return err
	}
	buffer, fields := make([]parquet.Row, 64), make([]string, len(names))
	for _, group := range file.RowGroups() {
		if group.NumRows() == 0 {
			continue // which parquet-go cannot read
		}
		rows := group.Rows()
		defer rows.Close()
		for {
			n, err := rows.ReadRows(buffer)
			for _, values := range buffer[:n] {
				if len(values) != len(names) {
					return errors.New("the Parquet file is damaged: save it again")
				}
				for _, v := range values {
					fields[v.Column()] = ""
					if !v.IsNull() {
						fields[v.Column()] = texts[v.Column()](v)
					}
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

// mostDigits is the largest number of digits that a decimal number has behind its point.
const mostDigits = 76

// textOf returns a function that writes values of a type as text.
func textOf(t parquet.Type) func(parquet.Value) string {
	var logical format.LogicalTypeValue
	if of := t.LogicalType(); of != nil {
		logical = of.Value
	}
	if of, is := logical.(*format.DecimalType); is && 0 <= of.Scale && of.Scale <= mostDigits {
		one := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(of.Scale)), nil)
		return func(v parquet.Value) string {
			return new(big.Rat).SetFrac(unscaled(v), one).FloatString(int(of.Scale))
		}
	}
	of, is := logical.(*format.IntType)
	unsigned := is && !of.IsSigned
	switch t.Kind() {
	case parquet.Int32:
		if unsigned {
			return func(v parquet.Value) string { return strconv.FormatUint(uint64(uint32(v.Int32())), 10) }
		}
	case parquet.Int64:
		if unsigned {
			return func(v parquet.Value) string { return strconv.FormatUint(uint64(v.Int64()), 10) }
		}
	case parquet.Float:
		return func(v parquet.Value) string { return strconv.FormatFloat(float64(v.Float()), 'g', -1, 32) }
	case parquet.Double:
		return func(v parquet.Value) string { return strconv.FormatFloat(v.Double(), 'g', -1, 64) }
	case parquet.FixedLenByteArray:
		return func(v parquet.Value) string { return fmt.Sprintf("%x", v.ByteArray()) }
	}
	return parquet.Value.String
}

// textOfHalf writes a number in half precision as text.
func textOfHalf(v parquet.Value) string {
	return strconv.FormatFloat(npy.Numbers["f2"].Value(binary.LittleEndian, v.ByteArray()), 'g', -1, 32)
}

// unscaled returns a decimal number without its decimal point.
func unscaled(v parquet.Value) *big.Int {
	switch v.Kind() {
	case parquet.Int32:
		return big.NewInt(int64(v.Int32()))
	case parquet.Int64:
		return big.NewInt(v.Int64())
	}
	bytes := v.ByteArray() // in two's complement, the highest byte first
	n := new(big.Int).SetBytes(bytes)
	if len(bytes) > 0 && bytes[0] >= 1<<7 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(bytes))))
	}
	return n
}
