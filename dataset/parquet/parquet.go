// Package parquet reads tables of Apache Parquet files. Importing it adds them to the formats of package
// dataset. It is a separate package because a notebook cell compiles everything that it imports.
package parquet

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
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

// column is a column of the file. The values of a list, or the pixels of a picture, are fields of a row.
type column struct {
	*parquet.Column // that has the values; nil if the table skips the column
	name            string
	element         format.SchemaElement
	text            func(parquet.Value) string
	fields          int    // number of fields; 0 until the first row
	places          []byte // in the list of the first row: the repetition levels of its values
}

// Read reads a Parquet file; it is a dataset.TableReader. A null becomes an empty field. Dates and times become text, as
// pandas writes them. A list of numbers, also one of lists, becomes a field for each number, if all rows have lists of the same
// lengths. A picture in PNG or JPEG, also in the structure of its bytes and its path that Hugging Face's datasets write,
// becomes a field for each pixel. Classes that datasets number become their names. Read refuses columns that it cannot
// read, and those that parquet-go 0.32 reads wrongly, unless the table skips them.
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
	classes := classesOf(file)
	var columns []column
	leaves := 0
	for _, top := range file.Root().Columns() {
		name, c := top.Name(), top
		if table.Skips != nil && table.Skips(name) {
			columns = append(columns, column{name: name, fields: 1})
			continue
		}
		if bytes := c.Column("bytes"); bytes != nil && bytes.Leaf() && c.Column("path") != nil && table.Rules != dataset.FirstRules {
			c = bytes
		}
		for len(c.Columns()) == 1 {
			c = c.Columns()[0]
		}
		if isList := c.MaxRepetitionLevel() > 0; !c.Leaf() || isList && table.Rules == dataset.FirstRules || !isList && c != top && c.Name() != "bytes" {
			return refusal(name, "lists or structures", nested(top))
		}
		of := column{Column: c, name: name, element: elements[c.Index()], text: textOf(c.Type())}
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
			if names := classes[name]; names != nil && c.Type().Kind() == parquet.Int64 && table.Classes != nil && table.Classes(name, names) {
				of.text = func(v parquet.Value) string {
					if k := v.Int64(); 0 <= k && k < int64(len(names)) {
						return names[k]
					}
					return v.String()
				}
			}
		}
		columns = append(columns, of)
		leaves++
	}
	if leaves == 0 {
		return errors.New("the table has no column that is not skipped")
	}
	buffer, fields, n := make([]parquet.Row, 64), []string(nil), 0
	honest := pages{file: table}
	for g, group := range file.RowGroups() {
		if group.NumRows() == 0 {
			continue // which parquet-go cannot read
		}
		var chunks []parquet.ColumnChunk
		for _, c := range columns {
			if c.Column == nil {
				continue
			}
			if err := honest.check(c, &file.Metadata().RowGroups[g]); err != nil {
				return err
			}
			chunks = append(chunks, group.ColumnChunks()[c.Index()])
		}
		rows := parquet.NewColumnChunkRowReader(chunks)
		defer rows.Close()
		for {
			read, err := rows.ReadRows(buffer)
			for _, values := range buffer[:read] {
				n++
				fields = fields[:0]
				for k := range columns {
					if fields, values, err = columns[k].append(fields, values, table); err != nil {
						return fmt.Errorf("row %d: %w", n, err)
					}
				}
				if n == 1 {
					if err := row(namesOf(columns)); err != nil {
						return err
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
	if n == 0 {
		return row(namesOf(columns))
	}
	return nil
}

// namesOf returns the names of all fields of a row.
func namesOf(columns []column) (names []string) {
	for _, c := range columns {
		if c.places == nil {
			names = append(names, c.name)
			continue
		}
		for i := range c.fields {
			names = append(names, c.name+strconv.Itoa(i))
		}
	}
	return names
}

// classesOf returns the names of the classes of columns in which Hugging Face's datasets number them.
func classesOf(file *parquet.File) map[string][]string {
	var of struct {
		Info struct{ Features map[string]json.RawMessage }
	}
	text, _ := file.Lookup("huggingface")
	_ = json.Unmarshal([]byte(text), &of) // other columns have other features
	all := map[string][]string{}
	for name, feature := range of.Info.Features {
		var class struct {
			Names []string
			Type  string `json:"_type"`
		}
		if json.Unmarshal(feature, &class) == nil && class.Type == "ClassLabel" {
			all[name] = class.Names
		}
	}
	return all
}

// append appends the fields of the column, and returns the values of a row that follow the values of the column.
func (c *column) append(fields []string, values parquet.Row, table dataset.TableFile) ([]string, parquet.Row, error) {
	if c.Column == nil {
		return append(fields, ""), values, nil
	}
	if len(values) == 0 {
		return nil, nil, errors.New("the Parquet file is damaged: save it again")
	}
	n, before := 1, len(fields)
	for n < len(values) && values[n].RepetitionLevel() > 0 {
		n++
	}
	first, isList := values[0], c.MaxRepetitionLevel() > 0
	switch {
	case n == 1 && first.IsNull() && c.fields == 0 && (isList || c.Column.Name() != c.name):
		return nil, nil, refusal(c.name, "no list or picture there", `if the picture is in a file, put the files into a folder and name it, or leave out such rows, for example with pandas.read_parquet(FILE).dropna().to_parquet("rows.parquet")`)
	case n == 1 && first.IsNull() && c.fields > 1: // no list or picture, or an empty list
		fields = append(fields, make([]string, c.fields)...)
	case n == 1 && first.Kind() == parquet.ByteArray && table.Picture != nil && table.Rules != dataset.FirstRules && isPicture(first.ByteArray()) && !isList:
		pixels, err := table.Picture(first.ByteArray())
		if err != nil {
			return nil, nil, fmt.Errorf("column %q: %w: %s", c.name, err, greyLevels(c.name))
		}
		fields = append(fields, pixels...)
		if c.fields == 0 {
			c.places = []byte{}
		}
	default:
		for i, v := range values[:n] {
			if v.Kind() == parquet.ByteArray && table.Rules != dataset.FirstRules && !utf8.Valid(v.ByteArray()) {
				return nil, nil, refusal(c.name, "bytes that are not text", "if they are pictures, "+greyLevels(c.name))
			}
			text := ""
			if !v.IsNull() {
				text = c.text(v)
			}
			fields = append(fields, text)
			if level := byte(v.RepetitionLevel()); isList && c.fields == 0 {
				c.places = append(c.places, level)
			} else if isList && (n != len(c.places) || level != c.places[i]) {
				return nil, nil, refusal(c.name, fmt.Sprintf("lists of different lengths, such as %d and %d values", len(c.places), n), "")
			}
		}
	}
	if made := len(fields) - before; c.fields == 0 {
		c.fields = made
	} else if made != c.fields {
		return nil, nil, refusal(c.name, fmt.Sprintf("%d values in a row and %d in another", c.fields, made), `leave out rows without values, for example with pandas.read_parquet(FILE).dropna().to_parquet("rows.parquet")`)
	}
	return fields, values[n:], nil
}

// isPicture reports whether bytes begin as a PNG or JPEG picture.
func isPicture(content []byte) bool {
	return bytes.HasPrefix(content, []byte("\x89PNG")) || bytes.HasPrefix(content, []byte("\xff\xd8\xff"))
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

// textOfHalf writes a number in half precision as text. The number that is nearest to a code for a missing value becomes
// this code.
func textOfHalf(v parquet.Value, codes dataset.Codes) string {
	x := npy.Numbers["f2"].Value(binary.LittleEndian, v.ByteArray())
	for _, text := range codes {
		if code, err := strconv.ParseFloat(text, 64); err == nil && npy.Nearest("f2", code) == x {
			return text
		}
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
