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
	"time"
	"unicode/utf8"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/npy"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

func init() { dataset.RegisterTable("PAR1", Read) }

// column is a column that is read.
type column struct {
	*parquet.Column
	place   int // among the columns of the file
	element format.SchemaElement
	text    func(parquet.Value) string
}

// Read reads a Parquet file; it is a dataset.TableReader. A null becomes an empty field. Dates and times become text, as
// pandas writes them. Read refuses columns that it cannot read, and those that parquet-go 0.32 reads wrongly, unless the
// table skips them.
func Read(table dataset.TableFile, row func(fields []string) error) (err error) {
	defer func() { // parquet-go panics on some damaged files
		if recovered := recover(); recovered != nil {
			err = fmt.Errorf("the Parquet file is damaged: save it again (%v)", recovered)
		}
	}()
	var end [8]byte // parquet-go trusts the length that it claims for the description of the file
	if n, _ := table.ReadAt(end[:], max(0, table.Size-8)); n < 8 || int64(binary.LittleEndian.Uint32(end[:])) > table.Size-8 {
		return errors.New("the Parquet file is damaged or ends early: save it again")
	}
	file, err := parquet.OpenFile(table, table.Size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return fmt.Errorf("the Parquet file is damaged: save it again (%w)", err)
	}
	var elements []format.SchemaElement // of the columns that have values
	for _, element := range file.Metadata().Schema {
		if element.Type.Valid {
			elements = append(elements, element)
		}
	}
	var names []string
	var columns []column
	for i, c := range file.Root().Columns() {
		names = append(names, c.Name())
		if table.Skips != nil && table.Skips(c.Name()) {
			continue
		}
		if !c.Leaf() || c.Repeated() {
			return refusal(c, "lists or structures", nested(c))
		}
		of := column{c, i, elements[c.Index()], textOf(c.Type())}
		if _, is := of.element.LogicalType.Value.(*format.Float16Type); is && c.Type().Length() == 2 { // parquet-go reads this type as bytes
			of.text = func(v parquet.Value) string { return textOfHalf(v, table.Missing) }
		}
		if table.Rules != dataset.FirstRules {
			if err := of.check(file); err != nil {
				return err
			}
			if text := timeText(c.Type()); text != nil {
				of.text = text
			}
		}
		columns = append(columns, of)
	}
	if len(columns) == 0 {
		return errors.New("the table has no column that is not skipped")
	}
	if err := row(names); err != nil {
		return err
	}
	buffer, fields := make([]parquet.Row, 64), make([]string, len(names))
	honest := pages{file: table}
	for g, group := range file.RowGroups() {
		if group.NumRows() == 0 {
			continue // which parquet-go cannot read
		}
		var chunks []parquet.ColumnChunk
		for _, c := range columns {
			if err := honest.check(c, &file.Metadata().RowGroups[g]); err != nil {
				return err
			}
			chunks = append(chunks, group.ColumnChunks()[c.Index()])
		}
		rows := parquet.NewColumnChunkRowReader(chunks)
		defer rows.Close()
		for {
			n, err := rows.ReadRows(buffer)
			for _, values := range buffer[:n] {
				if len(values) != len(columns) {
					return errors.New("the Parquet file is damaged: save it again")
				}
				for k, c := range columns {
					v := values[k]
					fields[c.place] = ""
					if !v.IsNull() {
						fields[c.place] = c.text(v)
					}
					if v.Kind() == parquet.ByteArray && table.Rules != dataset.FirstRules && !utf8.Valid(v.ByteArray()) {
						return refusal(c.Column, "bytes that are not text", pictures(c.Name(), ""))
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

// logicalOf returns the logical type of a type, or nil if it has none.
func logicalOf(t parquet.Type) format.LogicalTypeValue {
	if of := t.LogicalType(); of != nil {
		return of.Value
	}
	return nil
}

// textOf returns a function that writes values of a type as text.
func textOf(t parquet.Type) func(parquet.Value) string {
	logical := logicalOf(t)
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

// timeText returns a function that writes dates, times and UUIDs as text, or nil for other types.
func timeText(t parquet.Type) func(parquet.Value) string {
	switch of := logicalOf(t).(type) {
	case *format.DateType:
		return func(v parquet.Value) string { return time.Unix(86400*int64(v.Int32()), 0).UTC().Format(time.DateOnly) }
	case *format.TimestampType:
		layout := "2006-01-02 15:04:05.999999999"
		if of.IsAdjustedToUTC {
			layout += "-07:00"
		}
		unit, second := unitOf(of.Unit)
		return func(v parquet.Value) string {
			return time.Unix(v.Int64()/second, v.Int64()%second*unit).UTC().Format(layout)
		}
	case *format.TimeType:
		unit, second := unitOf(of.Unit)
		return func(v parquet.Value) string {
			n, sign := v.Int64(), ""
			if t.Kind() == parquet.Int32 {
				n = int64(v.Int32())
			}
			if n < 0 { // fastparquet writes durations as times
				n, sign = -n, "-"
			}
			return fmt.Sprintf("%s%02d%s", sign, n/second/3600, time.Unix(n/second, n%second*unit).UTC().Format(":04:05.999999999"))
		}
	case *format.UUIDType:
		return func(v parquet.Value) string {
			b := v.ByteArray()
			return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
		}
	}
	return nil
}

// unitOf returns the nanoseconds of a unit of time, and its number in a second.
func unitOf(unit format.TimeUnit) (nanoseconds, second int64) {
	switch unit.Value.(type) {
	case *format.MilliSeconds:
		nanoseconds = 1e6
	case *format.MicroSeconds:
		nanoseconds = 1e3
	default:
		nanoseconds = 1
	}
	return nanoseconds, 1e9 / nanoseconds
}

// textOfHalf writes a number in half precision as text. The number that is nearest to the code for a missing value
// becomes this code.
func textOfHalf(v parquet.Value, missing string) string {
	x := npy.Numbers["f2"].Value(binary.LittleEndian, v.ByteArray())
	if code, err := strconv.ParseFloat(missing, 64); err == nil && npy.Nearest("f2", code) == x {
		return missing
	}
	return strconv.FormatFloat(x, 'g', -1, 32)
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
