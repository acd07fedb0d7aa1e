package parquet_test

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/dataset/parquet"
	"github.com/helmholtz-go/helmholtz/internal/fuzz"
	pq "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

const example = "../testdata/formats/36-pyarrow.parquet" // which make.py wrote

// A Parquet file is read as the CSV file of the same rows is.
func TestParquetIsReadAsCSV(t *testing.T) {
	var sets []*dataset.Set
	for _, path := range []string{example, "../testdata/formats/01-kaggle-digits.csv"} {
		set, err := dataset.Spec{Name: path, Binarization: dataset.Gray}.Open()
		if err != nil {
			t.Fatal(err)
		}
		sets = append(sets, set)
	}
	if sets[0].Fingerprint() != sets[1].Fingerprint() || sets[0].Classes() != 3 || !slices.Equal(sets[0].Train().Labels, sets[1].Train().Labels) {
		t.Errorf("%v, not %v", sets[0], sets[1])
	}
}

// read reads the rows of a file without the columns that are skipped. The first row has the names of the columns.
func read(file []byte, rules dataset.Rules, skipped ...string) (rows [][]string, err error) {
	table := dataset.TableFile{ReaderAt: bytes.NewReader(file), Size: int64(len(file)), Rules: rules, Skips: func(name string) bool { return slices.Contains(skipped, name) }}
	err = parquet.Read(table, func(fields []string) error {
		rows = append(rows, slices.Clone(fields))
		return nil
	})
	return rows, err
}

const tables = "../testdata/parquet" // which make.py wrote

// Columns of every type, in every encoding, version of pages and compression that programs write, have the values that
// these programs read.
func TestEveryEncodingOfEveryProgram(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(tables, "values.json"))
	var want map[string][]string
	if err := cmp.Or(err, json.Unmarshal(text, &want)); err != nil {
		t.Fatal(err)
	}
	paths, err := filepath.Glob(filepath.Join(tables, "*.parquet"))
	if err != nil || len(paths) < 20 {
		t.Fatal(paths, err)
	}
	for _, path := range paths {
		file, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(path, "refused") || strings.Contains(path, "lists") || strings.Contains(path, "pictures") {
			continue
		}
		rows, err := read(file, dataset.NewestRules)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		for k, name := range rows[0] {
			if len(rows) != 1+len(want[name]) {
				t.Fatalf("%s: %d rows, want %d", path, len(rows)-1, len(want[name]))
			}
			for r, value := range want[name] {
				got := rows[1+r][k]
				x, err := strconv.ParseFloat(got, 64)
				y, wrong := strconv.ParseFloat(value, 64)
				if !strings.HasPrefix(name, "float64") { // whose shortest text is another float64
					x, y = float64(float32(x)), float64(float32(y))
				}
				if same := got == value || strings.HasPrefix(name, "float") && err == nil && wrong == nil && x == y; !same {
					t.Errorf("%s, column %s, row %d: %q, want %q", path, name, r, got, value)
				}
			}
		}
	}
}

// A column that parquet-go reads wrongly, or whose type is unknown, is refused unless it is skipped. Runs that read it by
// the first rules read it as they did.
func TestRefusedColumns(t *testing.T) {
	for _, c := range []struct {
		file, column, says string
		old                bool // whether the first rules read the column
	}{
		{"pyarrow", "truth", "truth values in the encoding RLE, which cannot be read here: save the table again, for example with pandas", true},
		{"pyarrow", "lz4", "values compressed with LZ4", true}, {"pyarrow", "bytes4", "values of 4 bytes of no known type", true}, {"pyarrow", "bytes16", "values of 16 bytes of no known type", true},
		{"pyarrow", "struct", "pandas.json_normalize", false},
		{"pyarrow", "picture", `.convert("L")).ravel() for x in t["picture"]]; t.to_parquet("rows.parquet")`, false}, {"pyarrow", "map", `read here: leave it out with columns = "map=skip"`, false},
		{"pyarrow", "png", `.convert("L")).ravel() for x in t["png"]]`, true}, {"pyarrow", "kept", "", true}, {"pyarrow", "uuid", "", true},
		{"int96", "int96", "times of type INT96", true}, {"fastparquet", "int96", "times of type INT96", false},
		{"polars", "int128", "values of 16 bytes of no known type, such as whole numbers of 128 bits", true}, {"polars", "uint128", "values of 16 bytes", true},
		{"duckdb", "int32", "32-bit numbers up to 2³¹ apart", true}, {"duckdb", "uint32", "32-bit numbers", false}, {"duckdb", "narrow", "", true}, {"duckdb", "interval", "values of 12 bytes", true},
		{"codecs", "twice", "values compressed in several ways (UNCOMPRESSED and GZIP)", false},
	} {
		file, err := os.ReadFile(filepath.Join(tables, "refused-"+c.file+".parquet"))
		if err != nil {
			t.Fatal(err)
		}
		skipped := slices.DeleteFunc([]string{"truth", "lz4", "bytes4", "bytes16", "list", "struct", "picture", "map", "png", "kept", "uuid", "int128", "uint128", "int32", "uint32", "narrow", "interval"}, func(name string) bool { return name == c.column })
		rows, err := read(file, dataset.NewestRules, skipped...)
		if c.says == "" && (err != nil || len(rows) != 5) || c.says != "" && (err == nil || !strings.Contains(err.Error(), fmt.Sprintf("column %q has ", c.column)) || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s of %s: %q, error %v, want one that says %q", c.column, c.file, rows, err, c.says)
		}
		if _, err := read(file, dataset.FirstRules, skipped...); (err == nil) != c.old {
			t.Errorf("%s of %s by the first rules: %v", c.column, c.file, err)
		}
	}
}

// Lists are no categories in JSON either. Runs that read them as texts read them as they did.
func TestTextsInJSONAreRefused(t *testing.T) {
	var file bytes.Buffer
	w := pq.NewGenericWriter[any](&file, pq.NewSchema("table", pq.Group{"x": pq.JSON(), "y": pq.String()}))
	row := pq.Row{pq.ByteArrayValue([]byte("[0,1]")).Level(0, 0, 0), pq.ByteArrayValue([]byte("[0,1]")).Level(0, 0, 1)}
	if _, err := w.WriteRows([]pq.Row{row}); err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	if _, err := read(file.Bytes(), dataset.NewestRules); err == nil || !strings.Contains(err.Error(), `column "x" has texts in JSON`) || !strings.Contains(err.Error(), `[json.loads(x) for x in pyarrow.parquet.read_table(FILE)["x"].to_pylist()]`) {
		t.Errorf("the error of JSON is %v", err)
	}
	for rules, skipped := range map[dataset.Rules][]string{dataset.NewestRules: {"x"}, dataset.FirstRules: nil} {
		if rows, err := read(file.Bytes(), rules, skipped...); err != nil || !slices.Contains(rows[1], "[0,1]") {
			t.Errorf("rules %d: %q, %v", rules, rows, err)
		}
	}
}

// Lists of one length, also of lists, are rows of images, as several programs write them.
func TestListsAreRows(t *testing.T) {
	for _, program := range []string{"pyarrow", "polars", "duckdb"} {
		path := filepath.Join(tables, "lists-"+program+".parquet")
		set, err := dataset.Spec{Name: path, Shape: "2x3", Binarization: dataset.Real}.Open()
		if err != nil {
			t.Fatal(err)
		}
		wantGrid(t, set, path, 1)
		if _, err := (dataset.Spec{Name: path, Rules: dataset.FirstRules}).Open(); err == nil || !strings.Contains(err.Error(), `column "x" has lists or structures`) {
			t.Errorf("%s by the first rules: %v", path, err)
		}
	}
}

// Pictures that Hugging Face's datasets write have their shape and the names of their classes, also in other files of rows.
func TestPicturesAreRows(t *testing.T) {
	path := filepath.Join(tables, "pictures-datasets.parquet")
	set, err := dataset.Spec{Name: path, Binarization: dataset.Gray}.Open()
	if err != nil {
		t.Fatal(err)
	}
	wantGrid(t, set, path, 255)
	if set.Shape() != (dataset.Shape{Height: 2, Width: 3}) || !slices.Equal(set.ClassNames(), []string{"tea", "ale", "gin"}) {
		t.Errorf("shape %v, classes %q", set.Shape(), set.ClassNames())
	}
	if again, err := set.Spec().Open(); err != nil || again.Fingerprint() != set.Fingerprint() {
		t.Errorf("the set opened again is %v, %v", again, err)
	}
}

// wantGrid checks the rows of a file that make.py wrote, with values times scale.
func wantGrid(t *testing.T, set *dataset.Set, path string, scale float64) {
	t.Helper()
	rows, err := set.ReadRows(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 30 {
		if got := rows.At(i) * scale; math.Abs(got-7*float64(i)) > 1e-9 {
			t.Errorf("%s: value %d is %v, want %d", path, i, got, 7*i)
		}
	}
	if !slices.Equal(rows.Labels, []uint8{0, 1, 2, 0, 1}) {
		t.Errorf("%s: labels %v", path, rows.Labels)
	}
}

// A list without values is missing. Lists of other lengths, also of lists, are refused.
func TestListsOfOtherLengths(t *testing.T) {
	type lists = [][]int64
	for _, c := range []struct {
		rows []lists
		says string
	}{
		{[]lists{{{1, 2}, {3, 4}}, nil, {{5, 6}, {7, 8}}}, ""}, {[]lists{{{1, 2, 3}, {4, 5, 6}}, {{1, 2}, {3, 4}, {5, 6}}}, "row 2: column \"x\" has lists of different lengths, such as 6 and 6 values"},
		{[]lists{{{1, 2}}, {{1, 2, 3}}}, "such as 2 and 3 values"}, {[]lists{nil, {{1}}}, "row 1: column \"x\" has no list"},
	} {
		type part struct {
			Y []int64 `parquet:"y"`
		}
		type row struct {
			X []part `parquet:"x"`
		}
		var file bytes.Buffer
		var all []row
		for _, lists := range c.rows {
			var of row
			for _, list := range lists {
				of.X = append(of.X, part{list})
			}
			all = append(all, of)
		}
		if err := pq.Write(&file, all); err != nil {
			t.Fatal(err)
		}
		rows, err := read(file.Bytes(), dataset.NewestRules)
		if want := [][]string{{"x0", "x1", "x2", "x3"}, {"1", "2", "3", "4"}, {"", "", "", ""}, {"5", "6", "7", "8"}}; c.says == "" && (err != nil || fmt.Sprint(rows) != fmt.Sprint(want)) {
			t.Errorf("%q, %v, want %q", rows, err, want)
		}
		if c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%v: error %v, want one that says %q", c.rows, err, c.says)
		}
	}
}

// Pictures of classes are labelled by name, -1 is no label, and pictures of other sizes or colours are refused with a remedy.
func TestPicturesAndClasses(t *testing.T) {
	picture := func(width int, c color.Color) []byte {
		img := image.NewRGBA(image.Rect(0, 0, width, 1))
		for x := range width {
			img.Set(x, 0, c)
		}
		var b bytes.Buffer
		if err := png.Encode(&b, img); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	type row struct {
		Picture []byte `parquet:"picture"`
		Label   int64  `parquet:"label"`
	}
	black, white := picture(2, color.Black), picture(2, color.White)
	write := func(classes string, rows ...row) string {
		path := filepath.Join(t.TempDir(), "rows.parquet")
		var file bytes.Buffer
		features := fmt.Sprintf(`{"info": {"features": {"label": {"names": [%s], "_type": "ClassLabel"}, "old": [{"dtype": "int8"}]}}}`, classes)
		if err := cmp.Or(pq.Write(&file, rows, pq.KeyValueMetadata("huggingface", features)), os.WriteFile(path, file.Bytes(), 0o600)); err != nil {
			t.Fatal(err)
		}
		return path
	}
	rows := []row{{black, 1}, {white, 0}, {white, -1}, {black, 1}}
	set, err := dataset.Spec{Name: write(`"1", "0"`, rows...)}.Open()
	if err != nil {
		t.Fatal(err)
	}
	for classes, want := range map[string][]uint8{`"1", "0"`: {1, 0, dataset.Unlabeled, 1}, `"0", "1"`: {0, 1, dataset.Unlabeled, 0}} {
		if got, err := set.ReadRows(write(classes, rows...)); err != nil || !slices.Equal(got.Labels, want) || got.At(0) != 0 || got.At(2) != 1 {
			t.Errorf("classes %s: %v, error %v, want the labels %v", classes, got.Labels, err, want)
		}
	}
	for says, other := range map[string][]byte{"picture has 1x3 pixels, but rows have the shape 1x2": picture(3, color.Black), `pixel 0,0 is coloured`: picture(2, color.RGBA{200, 0, 0, 255}), "damaged": white[:20]} {
		for _, open := range []func(string) error{
			func(path string) error { _, err := dataset.Spec{Name: path}.Open(); return err },
			func(path string) error { _, err := set.ReadRows(path); return err },
		} {
			if err := open(write(`"1", "0"`, row{black, 1}, row{other, 0})); err == nil || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), `for x in t["picture"]]; t.to_parquet("rows.parquet")`) {
				t.Errorf("the error is %v, want one that says %q", err, says)
			}
		}
	}
}

// A code for missing values is found among numbers in half precision. Skipped columns are not read.
func TestCodesInHalfPrecision(t *testing.T) {
	path := filepath.Join(tables, "pyarrow-v2-dictionary.parquet")
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := read(file, dataset.NewestRules)
	if err != nil {
		t.Fatal(err)
	}
	var skipped []string
	for _, name := range rows[0] {
		if name != "float16" {
			skipped = append(skipped, name+"=skip")
		}
	}
	spec := dataset.Spec{Name: path, Columns: strings.Join(skipped, ","), Missing: dataset.Codes{"0.7593"}, Binarization: dataset.Real, Validation: new(0)}
	if _, err := spec.Open(); err == nil || !strings.Contains(err.Error(), `row 1, column "float16": a missing value ("0.7593")`) {
		t.Errorf("error %v", err)
	}
	spec.Missing = dataset.Codes{"9"}
	if set, err := spec.Open(); err != nil || set.Shape() != (dataset.Shape{Height: 1, Width: 1}) {
		t.Errorf("%v, error %v", set, err)
	}
}

// onePage returns a file with eight values of a column x in a page. Before it is a dictionary of one number, unless the
// page is compressed.
func onePage(t *testing.T, page string, header format.PageHeader, codec format.CompressionCodec, repetition format.FieldRepetitionType, kind format.Type) []byte {
	file := []byte("PAR1")
	add := func(v any, data string) {
		b, err := thrift.Marshal(new(thrift.CompactProtocol), v)
		if err != nil {
			t.Fatal(err)
		}
		file = append(append(file, b...), data...)
	}
	if codec == format.Uncompressed {
		add(&format.PageHeader{Type: format.DictionaryPage, UncompressedPageSize: 4, CompressedPageSize: 4, DictionaryPageHeader: thrift.New(format.DictionaryPageHeader{NumValues: 1})}, "\a\x00\x00\x00")
	}
	header.CompressedPageSize += int32(len(page))
	add(&header, page)
	size := int64(len(file))
	add(&format.FileMetaData{Version: 1, NumRows: 8, Schema: []format.SchemaElement{
		{Name: "schema", NumChildren: thrift.New[int32](1)}, {Name: "x", Type: thrift.New(kind), RepetitionType: thrift.New(repetition)},
	}, RowGroups: []format.RowGroup{{NumRows: 8, Columns: []format.ColumnChunk{{
		MetaData: format.ColumnMetaData{Type: kind, PathInSchema: []string{"x"}, Codec: codec, NumValues: 8, TotalCompressedSize: size - 4, DataPageOffset: 4},
	}}}}}, "")
	return append(binary.LittleEndian.AppendUint32(file, uint32(int64(len(file))-size)), "PAR1"...)
}

// A page that claims more than it has is refused without memory for what it claims.
func TestPagesThatClaimTooMuch(t *testing.T) {
	const rle, plain, indices, none = format.RLE, format.Plain, format.RLEDictionary, format.Uncompressed
	one := func(values int32, kind format.Encoding, more, size int32) format.PageHeader {
		return format.PageHeader{Type: format.DataPage, CompressedPageSize: more, UncompressedPageSize: size, DataPageHeader: thrift.New(format.DataPageHeader{NumValues: values, Encoding: kind, DefinitionLevelEncoding: rle, RepetitionLevelEncoding: rle})}
	}
	two := func(levels int32) format.PageHeader {
		return format.PageHeader{Type: format.DataPageV2, DataPageHeaderV2: thrift.New(format.DataPageHeaderV2{NumValues: 8, NumRows: 8, Encoding: indices, DefinitionLevelsByteLength: levels})}
	}
	numbers := strings.Repeat("\a\x00\x00\x00", 8)
	snappy, zstd := "\x20\x7c"+numbers, "\x28\xb5\x2f\xfd\x20\x20\x01\x01\x00"+numbers
	for _, c := range []struct {
		name, page string
		header     format.PageHeader
		codec      format.CompressionCodec
		repetition format.FieldRepetitionType
		kind       format.Type
		reads      bool
	}{
		{"indices", "\x00\x10", one(8, indices, 0, 0), none, format.Required, format.Int32, true},
		{"indices", "\x00\x80\x80\x80\x20", one(8, indices, 0, 0), none, format.Required, format.Int32, false},
		{"packed indices", "\x00\x81\x80\x80\x04", one(8, indices, 0, 0), none, format.Required, format.Int32, false},
		{"levels", "\x02\x00\x00\x00\x10\x01\x00\x10", one(8, indices, 0, 0), none, format.Optional, format.Int32, true},
		{"levels", "\x05\x00\x00\x00\x80\x80\x80\x40\x01\x00\x10", one(8, indices, 0, 0), none, format.Optional, format.Int32, false},
		{"levels of version 2", "\x10\x01\x00\x10", two(2), none, format.Optional, format.Int32, true},
		{"levels of version 2", "\x80\x80\x80\x40\x01\x00\x10", two(5), none, format.Optional, format.Int32, false},
		{"values", "\x00\x10", one(1<<26, indices, 0, 0), none, format.Required, format.Int32, false},
		{"the size", numbers, one(8, plain, 1<<28, 0), none, format.Required, format.Int32, false},
		{"nulls", "\x02\x00\x00\x00\x10\x00", one(8, plain, 0, 0), none, format.Optional, format.Int32, true},
		{"Snappy", snappy, one(8, plain, 0, 32), format.Snappy, format.Required, format.Int32, true},
		{"the size of Snappy", snappy, one(8, plain, 0, 1<<28), format.Snappy, format.Required, format.Int32, false},
		{"the size in Snappy", "\x80\x80\x80\x80\x01" + snappy[1:], one(8, plain, 0, 32), format.Snappy, format.Required, format.Int32, false},
		{"Zstandard", zstd, one(8, plain, 0, 32), format.Zstd, format.Required, format.Int32, true},
		{"the size in Zstandard", zstd[:4] + "\xa0\x00\x00\x00\x10" + zstd[6:], one(8, plain, 0, 32), format.Zstd, format.Required, format.Int32, false},
		{"differences", "\x80\x01\x04\x80\x80\x80\x80\x01\x00", one(8, format.DeltaBinaryPacked, 0, 0), none, format.Required, format.Int64, false},
		{"truth values", "\x06\x00\x00\x00\x80\x80\x80\x80\x08\x01", one(8, rle, 0, 0), none, format.Required, format.Boolean, false},
	} {
		file := onePage(t, c.page, c.header, c.codec, c.repetition, c.kind)
		fuzz.Bounded(t, len(file), func() {
			rows, err := read(file, dataset.FirstRules)
			if c.reads && (err != nil || len(rows) != 9) || !c.reads && (err == nil || !strings.Contains(err.Error(), `a page of column "x" has less than it claims`)) {
				t.Errorf("%s: %d rows, error %v", c.name, len(rows), err)
			}
		})
	}
}

func FuzzRead(f *testing.F) {
	file, err := os.ReadFile(example)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(file)
	f.Add(file[:len(file)/2])
	for _, name := range []string{"lists-pyarrow", "lists-polars", "lists-duckdb", "pictures-datasets"} {
		if file, err = os.ReadFile(filepath.Join(tables, name+".parquet")); err != nil {
			f.Fatal(err)
		}
		f.Add(file)
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		rows := 0
		fuzz.Bounded(t, 64*len(file), func() {
			_ = parquet.Read(dataset.TableFile{ReaderAt: bytes.NewReader(file), Size: int64(len(file))}, func([]string) error { rows++; return nil })
		})
	})
}

// Decimal and unsigned numbers have the text of their values, not of the integers and bytes that store them.
func TestNumbersThatIntegersAndBytesStore(t *testing.T) {
	schema := pq.NewSchema("table", pq.Group{
		"a": pq.Decimal(2, 9, pq.Int32Type), "b": pq.Decimal(2, 38, pq.FixedLenByteArrayType(16)),
		"c": pq.Uint(32), "d": pq.Uint(64), "e": pq.Optional(pq.Decimal(1, 9, pq.Int64Type)),
	})
	var file bytes.Buffer
	w := pq.NewGenericWriter[any](&file, schema)
	minus := slices.Repeat([]byte{0xff}, 16) // −100, so −1.00
	minus[15] = 156
	unsigned := uint32(4_000_000_000)
	row := pq.Row{
		pq.Int32Value(1234).Level(0, 0, 0), pq.FixedLenByteArrayValue(minus).Level(0, 0, 1),
		pq.Int32Value(int32(unsigned)).Level(0, 0, 2), pq.Int64Value(-1).Level(0, 0, 3), pq.Value{}.Level(0, 0, 4),
	}
	if _, err := w.WriteRows([]pq.Row{row}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := read(file.Bytes(), dataset.NewestRules)
	want := []string{"12.34", "-1.00", "4000000000", "18446744073709551615", ""}
	if err != nil || len(got) != 2 || !slices.Equal(got[1], want) {
		t.Errorf("read %q, %v; want %q", got, err, want)
	}
	file.Reset()
	if err := pq.Write(&file, []struct{ ID [16]byte }{{}}); err != nil {
		t.Fatal(err)
	}
	got, err = read(file.Bytes(), dataset.FirstRules)
	if err != nil || got[1][0] != strings.Repeat("00", 16) {
		t.Errorf("bytes are read as %q, %v", got, err)
	}
}

// half is the type of numbers in half precision.
type half struct{ pq.Type }

func (half) LogicalType() *format.LogicalType {
	return &format.LogicalType{Value: &format.Float16Type{}}
}

// Numbers in half precision are numbers, the index of a selection of rows is no column, and a file without rows is
// not damaged.
func TestTablesOfPandas(t *testing.T) {
	dir := t.TempDir()
	path, twin := filepath.Join(dir, "rows.parquet"), filepath.Join(dir, "test.parquet")
	write := func(rows ...pq.Row) {
		var file bytes.Buffer
		w := pq.NewGenericWriter[any](&file, pq.NewSchema("table", pq.Group{"__index_level_0__": pq.Int(64), "h": pq.Leaf(half{pq.FixedLenByteArrayType(2)})}))
		_, err := w.WriteRows(rows)
		if err := cmp.Or(err, w.Close(), os.WriteFile(path, file.Bytes(), 0o600), os.WriteFile(twin, file.Bytes(), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	row := func(index int64, low, high byte) pq.Row {
		return pq.Row{pq.Int64Value(index).Level(0, 0, 0), pq.FixedLenByteArrayValue([]byte{low, high}).Level(0, 0, 1)}
	}
	write(row(3, 0, 0x3e), row(7, 0, 0xc0), row(2, 0, 0x34)) // 1.5, −2 and 0.25
	set, err := dataset.Spec{Name: path, Test: twin, Binarization: dataset.Real}.Open()
	if err != nil || !slices.Equal(set.Train().Reals(), []float32{1.5, -2, 0.25}) {
		t.Errorf("read %v, %v", set, err)
	}
	write()
	if _, err := dataset.Open(path); err == nil || !strings.Contains(err.Error(), "no rows below its header") {
		t.Errorf("without rows: %v", err)
	}
}

// The error for a missing value gives a line that reads Parquet.
func TestMissingValuesOfParquet(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rows.parquet")
	one := 1.0
	if err := pq.WriteFile(path, []struct{ A, B *float64 }{{&one, &one}, {&one, nil}}); err != nil {
		t.Fatal(err)
	}
	_, err := dataset.Open(path)
	if says := `column "B": a missing value (""): fill it in, or leave out its row, for example with pandas.read_parquet(FILE).dropna().to_parquet("rows.parquet")`; err == nil || !strings.Contains(err.Error(), says) {
		t.Errorf("the error is %v, which does not say %s", err, says)
	}
}
