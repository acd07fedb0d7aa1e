package parquet

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// again is a line of Python that saves a file as parquet-go reads it.
const again = `save the table again, for example with pandas.read_parquet(FILE).to_parquet("rows.parquet")`

// refusal returns the error for a column that cannot be read because of what it has.
func refusal(c *parquet.Column, what, remedy string) error {
	if remedy != "" {
		remedy += ", or "
	}
	return fmt.Errorf("column %q has %s, which cannot be read here: %sleave it out with columns = %q (--columns)", c.Name(), what, remedy, c.Name()+"=skip")
}

// nested returns how to save the values of a column that has lists or structures.
func nested(c *parquet.Column) string {
	inner := c
	for len(inner.Columns()) == 1 {
		inner = inner.Columns()[0]
	}
	switch {
	case c.Column("bytes") != nil:
		return pictures(c.Name(), `["bytes"]`)
	case inner.MaxRepetitionLevel() == 0:
		return `give each part a column of its own, for example with pandas.json_normalize(pandas.read_parquet(FILE).to_dict("records")).to_csv("rows.csv", index=False)`
	case inner.Leaf():
		return fmt.Sprintf(`save lists of equal lengths as an array, for example with numpy.save("rows.npy", pyarrow.parquet.read_table(FILE)[%q].to_pylist())`, c.Name())
	}
	return ""
}

// pictures returns how to save a column of pictures as files. member picks the bytes within a value.
func pictures(name, member string) string {
	return fmt.Sprintf(`if they are pictures, make a folder pictures and name it as the data, after [open(f"pictures/{i:08}.png", "wb").write(x%s) for i, x in enumerate(pandas.read_parquet(FILE)[%q])]`, member, name)
}

// check refuses a column whose values parquet-go does not know, or reads wrongly.
func (c column) check(table dataset.TableFile, file *parquet.File) error {
	switch kind, logical := c.Type().Kind(), c.element.LogicalType.Value; kind {
	case parquet.Int96:
		return refusal(c.Column, "times of type INT96", again)
	case parquet.FixedLenByteArray:
		_, half := logical.(*format.Float16Type)
		_, uuid := logical.(*format.UUIDType)
		_, decimal := logicalOf(c.Type()).(*format.DecimalType)
		if !half && !uuid && !decimal {
			return refusal(c.Column, fmt.Sprintf("values of %d bytes of no known type, such as whole numbers of 128 bits or intervals", c.Type().Length()),
				`save the table as CSV with the program that wrote it, for example with polars.read_parquet(FILE).write_csv("rows.csv")`)
		}
	}
	groups := file.Metadata().RowGroups
	for g := range groups {
		chunk := &groups[g].Columns[c.Index()]
		meta := &chunk.MetaData
		switch codec := meta.Codec; {
		case chunk.FilePath != "":
			return fmt.Errorf("the file only describes tables in other files, such as %s: join them, for example with pandas.read_parquet(FOLDER).to_parquet(\"rows.parquet\")", chunk.FilePath)
		case codec == format.Lz4 || codec == format.Lz4Raw:
			return refusal(c.Column, "values compressed with LZ4", again)
		case codec != groups[0].Columns[c.Index()].MetaData.Codec:
			return refusal(c.Column, fmt.Sprintf("values compressed in several ways (%v and %v)", groups[0].Columns[c.Index()].MetaData.Codec, codec), again)
		case c.Type().Kind() == parquet.Boolean && hasRuns(table, meta):
			return refusal(c.Column, "truth values in the encoding RLE", again)
		case c.Type().Kind() == parquet.Int32 && strings.HasPrefix(file.Metadata().CreatedBy, "DuckDB") && slices.Contains(meta.Encoding, format.DeltaBinaryPacked) && !c.isNarrow(file, g):
			return refusal(c.Column, "32-bit numbers up to 2³¹ apart, in the form that DuckDB gives to the encoding DELTA_BINARY_PACKED", `save the table again, for example with duckdb.sql("copy (from 'FILE') to 'rows.parquet' (parquet_version V1)")`)
		}
	}
	return nil
}

// isNarrow reports whether the numbers of a column in a row group are known to be less than 2³¹ apart.
func (c column) isNarrow(file *parquet.File, group int) bool {
	low, high, known := file.RowGroups()[group].ColumnChunks()[c.Index()].(*parquet.FileColumnChunk).Bounds()
	if !known {
		return false
	}
	least, _ := strconv.ParseInt(c.text(low), 10, 64)
	most, _ := strconv.ParseInt(c.text(high), 10, 64)
	return most-least < 1<<31
}

// hasRuns reports whether a page of values has the encoding RLE, of which parquet-go 0.32 repeats only a bit in eight.
func hasRuns(file io.ReaderAt, of *format.ColumnMetaData) bool {
	pages := bufio.NewReader(io.NewSectionReader(file, of.DataPageOffset, of.TotalCompressedSize))
	var protocol thrift.CompactProtocol
	decoder := thrift.NewDecoder(protocol.NewReader(pages))
	for {
		var header format.PageHeader
		if err := decoder.Decode(&header); err != nil || header.CompressedPageSize < 0 {
			return false // the values end, or cannot be read either
		}
		if header.DataPageHeader.V.Encoding == format.RLE || header.DataPageHeaderV2.V.Encoding == format.RLE {
			return true
		}
		_, _ = pages.Discard(int(header.CompressedPageSize)) // an error recurs in Decode
	}
}
