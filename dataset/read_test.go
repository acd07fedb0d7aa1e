package dataset

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sbinet/npyio/npy"
)

func idx(magic uint32, size []uint32, values ...uint8) []byte {
	file := binary.BigEndian.AppendUint32(nil, magic)
	for _, n := range size {
		file = binary.BigEndian.AppendUint32(file, n)
	}
	return append(file, values...)
}

func compress(file []byte) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write(file)
	z.Close()
	return b.Bytes()
}

func array(t testing.TB, values any) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := npy.Write(&b, values); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// npyFile is an NPY file with the given header, which numpy writes alike.
func npyFile(header string, data []byte) []byte {
	header += "\n"
	file := append([]byte(npyMagic), 1, 0, byte(len(header)), byte(len(header)>>8))
	return slices.Concat(file, []byte(header), data)
}

const small = "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3), }"

func TestReadersAgreeOnTheSameRows(t *testing.T) {
	want := []uint8{0, 255, 255, 255, 0, 0}
	bits := []uint8{0, 1, 1, 1, 0, 0}
	for name, file := range map[string][]byte{
		"IDX":                idx(0x803, []uint32{2, 1, 3}, want...),
		"IDX of bits":        idx(0x803, []uint32{2, 1, 3}, bits...),
		"spaces":             []byte("0 1 1\n1 0 0\n"),
		"commas":             []byte("0,1,1\n1,0,0"),
		"commas and spaces":  []byte("0, 1, 1\r\n\r\n1 ,0 ,0\r\n\n"),
		"trailing spaces":    []byte(" 0 1\t1  \n1 0 0 \n"),
		"NPY of bytes":       npyFile(small, want),
		"NPY of bits":        npyFile(small, bits),
		"NPY of booleans":    npyFile(strings.Replace(small, "u1", "b1", 1), bits),
		"NPY of float32":     npyFile(strings.Replace(small, "|u1", "<f4", 1), floats32(0, 1, 1, 1, 0, 0)),
		"NPY of three sizes": npyFile(strings.Replace(small, "(2, 3)", "(2, 1, 3)", 1), want),
	} {
		for _, compressed := range []bool{false, true} {
			if compressed {
				file = compress(file)
			}
			got, err := readCompressed(bytes.NewReader(file), readAny)
			if err != nil {
				t.Errorf("%s (gzip: %v): %v", name, compressed, err)
				continue
			}
			if got.shape != (Shape{1, 3}) || !slices.Equal(got.values, want) {
				t.Errorf("%s (gzip: %v): shape %v, values %v", name, compressed, got.shape, got.values)
			}
		}
	}
}

func floats32(values ...float32) []byte {
	var b []byte
	for _, v := range values {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	return b
}

func TestReadersKeepImageShapeAndGrey(t *testing.T) {
	grey := []uint8{0, 51, 102, 153, 204, 255, 1, 2}
	for name, file := range map[string][]byte{
		"IDX": idx(0x803, []uint32{2, 2, 2}, grey...),
		"NPY": npyFile(strings.Replace(small, "(2, 3)", "(2, 2, 2)", 1), grey),
	} {
		got, err := readAny(bytes.NewReader(file))
		if err != nil {
			t.Fatal(err)
		}
		if got.shape != (Shape{2, 2}) || got.count() != 2 || !slices.Equal(got.values, grey) {
			t.Errorf("%s: %d rows of shape %v, values %v", name, got.count(), got.shape, got.values)
		}
	}
	got, err := readAny(bytes.NewReader(npyFile(strings.Replace(small, "|u1", "<f4", 1), floats32(0, 0.2, 0.4, 0.6, 0.8, 1))))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got.values, grey[:6]) {
		t.Errorf("float32 probabilities became %v", got.values)
	}
	got, err = readAny(bytes.NewReader(npyFile(strings.Replace(small, "|u1", ">f8", 1), bigFloats64(0, 0.2, 0.4, 0.6, 0.8, 1))))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got.values, grey[:6]) {
		t.Errorf("big-endian float64 probabilities became %v", got.values)
	}
}

func bigFloats64(values ...float64) []byte {
	var b []byte
	for _, v := range values {
		b = binary.BigEndian.AppendUint64(b, math.Float64bits(v))
	}
	return b
}

func TestBadFilesAreRefused(t *testing.T) {
	good := idx(0x803, []uint32{2, 1, 3}, 1, 2, 3, 4, 5, 6)
	torn := compress(good)
	damaged := compress(good)
	damaged[len(damaged)-5] ^= 0xff // in the checksum
	tornArray := compress(npyFile(small, make([]byte, 6)))
	corrupt := compress(good)
	corrupt[10] = 0xff // the type of the first block
	for name, c := range map[string]struct {
		file []byte
		want []string
	}{
		"empty":                   {nil, []string{"empty"}},
		"neither format":          {[]byte("GIF89a"), []string{"GIF89a", "neither"}},
		"IDX labels":              {idx(0x801, []uint32{2}, 1, 2), []string{"0x00000801", "0x00000803"}},
		"IDX of floats":           {idx(0xd03, []uint32{1, 1, 1}, 0, 0, 0, 0), []string{"0x00000d03"}},
		"IDX header torn":         {good[:9], []string{"within its IDX header"}},
		"IDX truncated":           {good[:20], []string{"after 4 of the 6 values"}},
		"IDX trailing":            {append(slices.Clone(good), 7), []string{"goes on after the 6 values"}},
		"IDX size 0":              {idx(0x803, []uint32{2, 0, 3}), []string{"size 0 in dimension 2"}},
		"IDX claims too much":     {idx(0x803, []uint32{math.MaxUint32, math.MaxUint32, math.MaxUint32}, 1), []string{"claims too much", "memory"}},
		"IDX claims a gigabyte":   {idx(0x803, []uint32{1 << 10, 1 << 10, 1 << 10}, 1), []string{"after 1 of the 1073741824 values"}},
		"gzip torn":               {torn[:len(torn)-10], []string{"compressed data ends early"}},
		"gzip torn in its header": {torn[:5], []string{"compressed data ends early"}},
		"gzip damaged":            {damaged, []string{"is damaged"}},
		"gzip corrupt":            {corrupt, []string{"is damaged"}},
		"gzip and more":           {append(slices.Clone(torn), "more"...), []string{"compressed data ends early"}},
		"gzip past the claim":     {compress(append(slices.Clone(good), make([]byte, 1<<20)...)), []string{"goes on after the 6 values"}},
		"gzip short of the claim": {compress(good[:20]), []string{"after 4 of the 6 values"}},
		"symbol":                  {[]byte("0 1\n0 2\n"), []string{"line 2", "'2' after 1 values"}},
		"number":                  {[]byte("0 1\n10 1\n"), []string{"line 2", "value 1 is longer"}},
		"short row":               {[]byte("0 1 1\n0 1\n"), []string{"line 2", "2 values, but the first row has 3"}},
		"long row":                {[]byte("0 1\n\n0 1 0"), []string{"line 3", "3 values, but the first row has 2"}},
		"missing value":           {[]byte("0,,1\n"), []string{"line 1", "before a comma", "1 values"}},
		"missing last value":      {[]byte("0,1,\n"), []string{"line 1", "after the last comma", "2 values"}},
		"missing first value":     {[]byte(" ,1\n"), []string{"line 1", "before a comma"}},
		"no rows":                 {[]byte("\n\n"), []string{"no rows"}},
		"NPY truncated":           {npyFile(small, make([]byte, 5)), []string{"ends after 5 bytes", "[2 3]"}},
		"NPY trailing":            {npyFile(small, make([]byte, 7)), []string{"goes on after the 6 bytes", "[2 3]"}},
		"NPY header torn":         {npyFile(small, nil)[:40], []string{"header of the NPY file is damaged"}},
		"NPY header nonsense":     {npyFile("nonsense", nil), []string{"header of the NPY file is damaged"}},
		"NPY header claim":        {append([]byte(npyMagic), 2, 0, 255, 255, 255, 255, 0, 0), []string{"header of the NPY file is damaged"}},
		"NPY in Fortran order":    {npyFile(strings.Replace(small, "False", "True", 1), make([]byte, 6)), []string{"Fortran", "ascontiguousarray"}},
		"NPY of integers":         {npyFile(strings.Replace(small, "|u1", "<i8", 1), make([]byte, 48)), []string{`"<i8"`}},
		"NPY of one dimension":    {npyFile(strings.Replace(small, "(2, 3)", "(6,)", 1), make([]byte, 6)), []string{"shape [6]"}},
		"NPY of size 0":           {npyFile(strings.Replace(small, "(2, 3)", "(0, 3)", 1), nil), []string{"positive"}},
		"NPY of negative size":    {npyFile(strings.Replace(small, "(2, 3)", "(-2, -3)", 1), make([]byte, 6)), []string{"positive"}},
		"NPY that overflows": {npyFile(strings.Replace(small, "(2, 3)", "(4294967296, 4294967296)", 1), make([]byte, 6)),
			[]string{"claims too much", "[4294967296 4294967296]", "memory"}},
		"NPY claims too much": {npyFile(strings.Replace(strings.Replace(small, "|u1", "<f8", 1), "(2, 3)", "(1099511627776, 1024)", 1), make([]byte, 6)),
			[]string{"claims too much", "fewer rows"}},
		"NPY claims a gigabyte": {npyFile(strings.Replace(small, "(2, 3)", "(1048576, 1024)", 1), make([]byte, 6)),
			[]string{"ends after 6 bytes", "has 1073741824"}},
		"NPY gzip torn": {tornArray[:len(tornArray)-10], []string{"compressed data ends early"}},
		"NPY past 1": {npyFile(strings.Replace(small, "|u1", "<f4", 1), floats32(0, 0, 0, 0, 1.5, 0)),
			[]string{"row 1, column 1", "1.5"}},
		"NPY of NaN": {npyFile(strings.Replace(small, "|u1", "<f4", 1), floats32(0, 0, float32(math.NaN()), 0, 0, 0)),
			[]string{"row 0, column 2", "NaN"}},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "rows.data")
			if err := os.WriteFile(path, c.file, 0o644); err != nil {
				t.Fatal(err)
			}
			_, err := Open(path)
			wantError(t, err, append(c.want, path)...)
		})
	}
}

func TestOpenOwnFiles(t *testing.T) {
	folder := t.TempDir()
	train, test := filepath.Join(folder, "train.npy"), filepath.Join(folder, "test.txt.gz")
	var text strings.Builder
	for range 20 {
		text.WriteString("0 1 1\n1 0 0\n")
	}
	for path, file := range map[string][]byte{
		train: array(t, [][3]float64{{0, 0.5, 1}, {1, 1, 1}, {0, 0, 0}}[:1]),
		test:  compress([]byte(text.String())),
	} {
		if err := os.WriteFile(path, file, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s, err := Spec{Name: train, Test: test}.Open()
	if err != nil {
		t.Fatal(err)
	}
	if s.Name() != train || s.Train().Rows != 1 || s.Test().Rows != 40 || s.Shape() != (Shape{1, 3}) {
		t.Errorf("%s: %d and %d rows of shape %v", s.Name(), s.Train().Rows, s.Test().Rows, s.Shape())
	}
	alone, err := Open(test)
	if err != nil {
		t.Fatal(err)
	}
	if alone.Train().Rows != 36 || alone.Test().Rows != 4 || alone.Validation().Rows != 0 {
		t.Errorf("40 rows without a test file became %d, %d and %d", alone.Train().Rows, alone.Validation().Rows, alone.Test().Rows)
	}

	other := filepath.Join(folder, "other.txt")
	if err := os.WriteFile(other, []byte("0 1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err = Spec{Name: train, Test: other}.Open()
	wantError(t, err, train, "1×3", other, "1×2")
	_, err = Open(filepath.Join(folder, "none.npy"))
	wantError(t, err, filepath.Join(folder, "none.npy"))
}

// fuzz checks that a parser neither panics nor returns rows that do not fit
// together.
func fuzz(f *testing.F, parse func(io.Reader) (rows, error), seeds ...[]byte) {
	for _, seed := range seeds {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		data, err := parse(bytes.NewReader(file))
		if err != nil {
			return
		}
		if data.shape.Height < 1 || data.shape.Width < 1 || data.count() < 1 || len(data.values) != data.count()*data.shape.Units() {
			t.Errorf("%d values as %d rows of shape %v", len(data.values), data.count(), data.shape)
		}
	})
}

func FuzzReadImages(f *testing.F) {
	good := idx(0x803, []uint32{2, 1, 3}, 1, 2, 3, 4, 5, 6)
	fuzz(f, readImages, good, good[:20], good[:7], idx(0x801, []uint32{1}, 1), idx(0x803, []uint32{1 << 31, 1 << 31, 4}, 1))
}

func FuzzReadText(f *testing.F) {
	fuzz(f, readText, []byte("0 1\n1 0\n"), []byte("0,1\r\n\n1, 1"), []byte("0,,1"), []byte("01"), []byte(" \n"))
}

func FuzzReadNPY(f *testing.F) {
	fuzz(f, readNPY,
		npyFile(small, make([]byte, 6)),
		npyFile(strings.Replace(small, "|u1", "<f4", 1), floats32(0, 0.2, 0.4, 0.6, 0.8, 1)),
		npyFile(strings.Replace(small, "u1", "b1", 1), make([]byte, 6)),
		npyFile(strings.Replace(small, "(2, 3)", "(6,)", 1), make([]byte, 6)),
		array(f, [][2]float64{{0, 1}, {1, 0}}),
		append([]byte(npyMagic), 2, 0, 255, 255, 255, 255))
}

func FuzzReadCompressed(f *testing.F) {
	text := compress([]byte("0 1\n1 0\n"))
	fuzz(f, func(r io.Reader) (rows, error) { return readCompressed(r, readAny) },
		text, text[:len(text)-3], compress(idx(0x803, []uint32{1, 1, 1}, 9)), compress(npyFile(small, make([]byte, 6))), []byte("0 1"))
}

func FuzzReadLabels(f *testing.F) {
	f.Add(idx(0x801, []uint32{3}, 1, 2, 3))
	f.Add(idx(0x801, []uint32{1 << 31}, 1))
	f.Fuzz(func(t *testing.T, file []byte) {
		data, err := readLabels(bytes.NewReader(file))
		if err == nil && len(data.labels) != len(file)-8 {
			t.Errorf("%d labels in %d bytes", len(data.labels), len(file))
		}
	})
}

func FuzzBinarization(f *testing.F) {
	f.Add("fixed")
	f.Add("stochastic")
	f.Fuzz(func(t *testing.T, text string) {
		var b Binarization
		if err := b.UnmarshalText([]byte(text)); err == nil && b.String() != text {
			t.Errorf("%q is read as %v", text, b)
		}
	})
}
