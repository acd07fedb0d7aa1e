package parquet

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// plainDictionary is RLEDictionary in data pages of older files.
const plainDictionary = format.Encoding(2)

// again is a line of Python that saves a file as parquet-go reads it.
const again = `save the table again, for example with pandas.read_parquet(FILE).to_parquet("rows.parquet")`

// refusal returns the error for a column that cannot be read because of what it has.
func refusal(column, what, remedy string) error {
	if remedy != "" {
		remedy += ", or "
	}
	return fmt.Errorf("column %q has %s, which cannot be read here: %sleave it out with columns = %q (--columns)", column, what, remedy, column+"=skip")
}

// nested returns how to save the values of a column that has lists or structures.
func nested(c *parquet.Column) string {
	inner := c
	for len(inner.Columns()) == 1 {
		inner = inner.Columns()[0]
	}
	switch {
	case inner.MaxRepetitionLevel() == 0:
		return `give each part a column of its own, for example with pandas.json_normalize(pandas.read_parquet(FILE).to_dict("records")).to_csv("rows.csv", index=False)`
	}
	return ""
}

// greyLevels returns how to save the pictures of a column as lists of grey levels.
func greyLevels(name string) string {
	return fmt.Sprintf(`save grey levels, for example with t = pandas.read_parquet(FILE); t[%[1]q] = [numpy.asarray(PIL.Image.open(io.BytesIO(x["bytes"] if isinstance(x, dict) else x)).convert("L")).ravel() for x in t[%[1]q]]; t.to_parquet("rows.parquet")`, name)
}

// check refuses a column whose values parquet-go does not know, or reads wrongly.
func (c column) check(file *parquet.File) error {
	switch kind, logical := c.Type().Kind(), c.element.LogicalType.Value; kind {
	case parquet.Int96:
		return refusal(c.name, "times of type INT96", again)
	case parquet.ByteArray:
		_, json := logical.(*format.JsonType)
		if converted := c.element.ConvertedType; json || converted.Valid && converted.V == deprecated.Json {
			return refusal(c.name, "texts in JSON", fmt.Sprintf(`save lists of equal lengths as an array, for example with numpy.save("rows.npy", [json.loads(x) for x in pyarrow.parquet.read_table(FILE)[%q].to_pylist()])`, c.name))
		}
	case parquet.FixedLenByteArray:
		_, half := logical.(*format.Float16Type)
		_, uuid := logical.(*format.UUIDType)
		_, decimal := logicalOf(c.Type()).(*format.DecimalType)
		if !half && !uuid && !decimal {
			return refusal(c.name, fmt.Sprintf("values of %d bytes of no known type, such as whole numbers of 128 bits or intervals", c.Type().Length()),
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
			return refusal(c.name, "values compressed with LZ4", again)
		case codec != groups[0].Columns[c.Index()].MetaData.Codec:
			return refusal(c.name, fmt.Sprintf("values compressed in several ways (%v and %v)", groups[0].Columns[c.Index()].MetaData.Codec, codec), again)
		case c.Type().Kind() == parquet.Int32 && strings.HasPrefix(file.Metadata().CreatedBy, "DuckDB") && slices.Contains(meta.Encoding, format.DeltaBinaryPacked) && !c.isNarrow(file, g):
			return refusal(c.name, "32-bit numbers up to 2³¹ apart, in the form that DuckDB gives to the encoding DELTA_BINARY_PACKED", `save the table again, for example with duckdb.sql("copy (from 'FILE') to 'rows.parquet' (parquet_version V1)")`)
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

// pages checks pages. It uses its memory for all of them.
type pages struct {
	file        dataset.TableFile
	chunk, data []byte
}

// check refuses a column in a group of rows if a page claims more than it has, because parquet-go 0.32 allocates what a page
// claims, and truth values in the encoding RLE, of which parquet-go repeats only a bit in eight.
func (p *pages) check(c column, group *format.RowGroup) error {
	meta := &group.Columns[c.Index()].MetaData
	left := group.NumRows
	if c.MaxRepetitionLevel() > 0 {
		left = meta.NumValues
	}
	start := cmp.Or(meta.DictionaryPageOffset, meta.DataPageOffset)
	size := int(max(0, min(meta.TotalCompressedSize, p.file.Size-max(0, start))))
	p.chunk = slices.Grow(p.chunk[:0], size)[:size]
	n, _ := p.file.ReadAt(p.chunk, start) // parquet-go returns the error
	var protocol thrift.CompactProtocol
	for rest := p.chunk[:n]; len(rest) > 0; {
		var of format.PageHeader
		reader := protocol.NewReaderFromBytes(rest)
		err := thrift.NewDecoder(reader).Decode(&of)
		rest = rest[reader.BytesRead():]
		one, two, size := of.DataPageHeader, of.DataPageHeaderV2, int(of.CompressedPageSize)
		left -= int64(one.V.NumValues) + int64(two.V.NumValues)
		switch {
		case c.Type().Kind() == parquet.Boolean && p.file.Rules != dataset.FirstRules && cmp.Or(one.V.Encoding, two.V.Encoding) == format.RLE:
			return refusal(c.name, "truth values in the encoding RLE", again)
		case err != nil, left < 0, size < 0, size > len(rest), one.Valid != (of.Type == format.DataPage), two.Valid != (of.Type == format.DataPageV2),
			of.DictionaryPageHeader.Valid != (of.Type == format.DictionaryPage), !p.isHonest(c, &of, rest[:size], meta.Codec):
			return fmt.Errorf("the Parquet file is damaged: save it again (a page of column %q has less than it claims)", c.name)
		}
		rest = rest[size:]
	}
	return nil
}

// isHonest reports whether a page has what its header and its parts claim. Programs pad values to 256, so 1024 more are allowed.
func (p *pages) isHonest(c column, of *format.PageHeader, data []byte, codec format.CompressionCodec) bool {
	one, two, dictionary := of.DataPageHeader.V, of.DataPageHeaderV2.V, of.DictionaryPageHeader.V
	values, kind := int(one.NumValues+two.NumValues+dictionary.NumValues), cmp.Or(one.Encoding, two.Encoding, dictionary.Encoding)
	from, to := two.RepetitionLevelsByteLength, two.RepetitionLevelsByteLength+two.DefinitionLevelsByteLength
	if values < 0 || from < 0 || to < from || int(to) > len(data) {
		return false
	}
	repetitions, definitions, data := data[:from], data[from:to], data[to:]
	if codec != format.Uncompressed && (!two.IsCompressed.Valid || two.IsCompressed.V) {
		if claimedSize(codec, data)>>16 > uint64(len(data)) { // neither Snappy nor Zstandard compresses more
			return false
		}
		var err error
		if p.data = p.data[:0]; len(data) > 0 { // Java compresses no values to nothing
			p.data, err = parquet.LookupCompressionCodec(codec).Decode(p.data, data)
		}
		if data = p.data; err != nil || int(of.UncompressedPageSize-to) > len(data) {
			return false
		}
	}
	if of.Type == format.DictionaryPage {
		size := 1
		if c.Type().Kind() == parquet.FixedLenByteArray {
			size = c.Type().Length()
		}
		return values*size <= len(data) && (kind == format.Plain || kind == plainDictionary)
	}
	for _, level := range []struct {
		most   int
		levels []byte
		packed bool
	}{{c.MaxRepetitionLevel(), repetitions, one.RepetitionLevelEncoding == format.BitPacked}, {c.MaxDefinitionLevel(), definitions, one.DefinitionLevelEncoding == format.BitPacked}} {
		if level.most == 0 {
			continue
		}
		if of.Type == format.DataPage {
			level.levels, data = prefixed(data)
		}
		if n := runs(level.levels, bits.Len(uint(level.most))); !level.packed && (n < values || n > values+1024) {
			return false
		}
	}
	n := 0
	switch kind {
	case format.Plain:
		return c.MaxDefinitionLevel() > 0 || values <= 8*len(data)
	case plainDictionary, format.RLEDictionary:
		if len(data) > 0 {
			n = runs(data[1:], int(data[0]))
		}
	case format.RLE:
		data, _ = prefixed(data)
		return c.Type().Kind() == parquet.Boolean && runs(data, 1) <= values+1024
	case format.DeltaBinaryPacked, format.DeltaLengthByteArray, format.DeltaByteArray:
		for range 3 { // the size of a block, its parts and the number of values
			n, data = take(data)
		}
	}
	return n <= values+1024
}

// claimedSize returns the size that compressed data claims to have, or 0 if it claims none.
func claimedSize(codec format.CompressionCodec, data []byte) uint64 {
	switch codec {
	case format.Snappy:
		n, _ := binary.Uvarint(data)
		return n
	case format.Zstd:
		var h [18]byte // in which the bits of the fifth byte give the place and the length of the size
		copy(h[:], data)
		single := int(h[4] >> 5 & 1)
		unused := 64 - 8*[]int{single, 2, 4, 8}[h[4]>>6]
		return binary.LittleEndian.Uint64(h[6-single+[]int{0, 1, 2, 4}[h[4]&3]:]) << unused >> unused
	}
	return 0
}

// runs returns how many numbers of some bits the runs in data claim to have.
func runs(data []byte, bits int) (claimed int) {
	for n := 0; len(data) > 0; {
		n, data = take(data)
		count, size := n>>1, (bits+7)/8
		if n&1 == 1 {
			count, size = 8*count, bits*count
		}
		if claimed += count; count > 0 { // parquet-go takes no value of an empty run
			data = data[min(size, len(data)):]
		}
	}
	return claimed
}

// take returns the number at the beginning of data, at most 2³², and the data after it.
func take(data []byte) (int, []byte) {
	n, size := binary.Uvarint(data)
	if size <= 0 {
		return 0, nil
	}
	return int(min(n, 1<<32)), data[size:]
}

// prefixed returns a part of data that begins with its length, and the data after it.
func prefixed(data []byte) (part, rest []byte) {
	if len(data) < 4 {
		return nil, nil
	}
	end := min(4+int(binary.LittleEndian.Uint32(data)), len(data))
	return data[4:end], data[end:]
}
