package dataset

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/internal/fuzz"
	"github.com/helmholtz-go/helmholtz/internal/npy"
	"github.com/helmholtz-go/helmholtz/internal/work"
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

// npyOf is an NPY file of rows of numbers.
func npyOf(rows int, values ...float64) []byte {
	return npyFile(fmt.Sprintf("{'descr': '>f8', 'fortran_order': False, 'shape': (%d, %d), }", rows, len(values)/rows), bigFloats64(values...))
}

// npyFile is an NPY file with the given header, which numpy writes alike.
func npyFile(header string, data []byte) []byte {
	header += "\n"
	file := append([]byte(npy.Magic), 1, 0, byte(len(header)), byte(len(header)>>8))
	return slices.Concat(file, []byte(header), data)
}

const small = "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3), }"

// readRows reads rows on the scale that they are on without settings.
func readRows(r io.Reader) (rows, error) {
	of, err := Spec{}.readAny(r, "")
	if err != nil {
		return rows{}, err
	}
	data := &of.train
	return *data, cmp.Or(data.checkMissing(Spec{}, true), Spec{}.scale(data))
}

func TestReadersAgreeOnTheSameRows(t *testing.T) {
	want := []uint8{0, 255, 255, 255, 0, 0}
	bits := []uint8{0, 1, 1, 1, 0, 0}
	for name, file := range map[string][]byte{
		"IDX":                idx(0x803, []uint32{2, 1, 3}, want...),
		"IDX of bits":        idx(0x803, []uint32{2, 1, 3}, bits...),
		"spaces":             []byte("0 1 1\n1 0 0\n"),
		"of a spreadsheet":   []byte("\ufeff0,1,1\r\n1,0,0\r\n"),
		"carriage returns":   []byte("0 1 1\r1 0 0\r"),
		"mixed line ends":    []byte("0 1 1\r\r\n1 0 0\n\r"),
		"commas":             []byte("0,1,1\n1,0,0"),
		"commas and spaces":  []byte("0, 1, 1\r\n\r\n1 ,0 ,0\r\n\n"),
		"trailing spaces":    []byte(" 0 1\t1  \n1 0 0 \n"),
		"NPY of bytes":       npyFile(small, want),
		"NPY of bits":        npyFile(small, bits),
		"NPY of booleans":    npyFile(strings.Replace(small, "u1", "b1", 1), bits),
		"NPY of float32":     npyFile(strings.Replace(small, "|u1", "<f4", 1), floats32(0, 1, 1, 1, 0, 0)),
		"NPY of format 3":    append(append([]byte(npy.Magic), 3, 0, byte(len(small)+1), 0, 0, 0), append([]byte(small+"\n"), bits...)...),
		"NPY of three sizes": npyFile(strings.Replace(small, "(2, 3)", "(2, 1, 3)", 1), want),
	} {
		for _, compressed := range []bool{false, true} {
			if compressed {
				file = compress(file)
			}
			got, err := readCompressed(bytes.NewReader(file), readRows)
			if err != nil {
				t.Errorf("%s (gzip: %v): %v", name, compressed, err)
				continue
			}
			if got.Shape != (Shape{1, 3}) || !slices.Equal(got.Bytes(), want) {
				t.Errorf("%s (gzip: %v): shape %v, values %v", name, compressed, got.Shape, got.Bytes())
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

func TestReadersKeepImageShapeAndGray(t *testing.T) {
	gray := []uint8{0, 51, 102, 153, 204, 255, 1, 2}
	for name, file := range map[string][]byte{
		"IDX": idx(0x803, []uint32{2, 2, 2}, gray...),
		"NPY": npyFile(strings.Replace(small, "(2, 3)", "(2, 2, 2)", 1), gray),
	} {
		got, err := readRows(bytes.NewReader(file))
		if err != nil {
			t.Fatal(err)
		}
		if got.Shape != (Shape{2, 2}) || got.count() != 2 || !slices.Equal(got.Bytes(), gray) {
			t.Errorf("%s: %d rows of shape %v, values %v", name, got.count(), got.Shape, got.Bytes())
		}
	}
	got, err := readRows(bytes.NewReader(npyFile(strings.Replace(small, "|u1", "<f4", 1), floats32(0, 0.2, 0.4, 0.6, 0.8, 1))))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got.Bytes(), gray[:6]) {
		t.Errorf("float32 probabilities became %v", got.Bytes())
	}
	got, err = readRows(bytes.NewReader(npyFile(strings.Replace(small, "|u1", ">f8", 1), bigFloats64(0, 0.2, 0.4, 0.6, 0.8, 1))))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got.Bytes(), gray[:6]) {
		t.Errorf("big-endian float64 probabilities became %v", got.Bytes())
	}
}

// Of two files of bytes neither is taken on another scale than the other.
func TestFilesOfBytesAreOfOneScale(t *testing.T) {
	dir := t.TempDir()
	files := map[string][]byte{"bits.npy": {0, 1, 1, 1, 0, 0}, "black and white.npy": {0, 255, 255, 255, 0, 0}, "grey.npy": {0, 200, 1, 255, 0, 0}, "dark.npy": {0, 89, 2, 3, 4, 5}}
	for name, values := range files {
		if err := os.WriteFile(filepath.Join(dir, name), npyFile(small, values), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for train := range files {
		for test := range files {
			_, err := Spec{Name: filepath.Join(dir, train), Test: twin(t, filepath.Join(dir, test)), Validation: new(0), Binarization: Gray}.Open()
			switch {
			case train == "dark.npy":
				wantError(t, err, train, "from 0 to 89", "largest = 89")
			case train == "bits.npy" && test == "grey.npy":
				wantError(t, err, train, test, "grey levels", "save both")
			case train == "grey.npy" && test == "bits.npy", train == "bits.npy" && test == "dark.npy":
				wantError(t, err, train, test, "another scale")
			case err != nil:
				t.Errorf("%s and %s: %v", train, test, err)
			}
		}
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
		"neither format":          {[]byte("\x01\x02GIF89a"), []string{"GIF89a", "has an unknown format"}},
		"IDX labels":              {idx(0x801, []uint32{2}, 1, 2), []string{"shape [2]", "--label-file"}},
		"IDX of no type":          {idx(0xa03, []uint32{1, 1, 1}, 0, 0, 0, 0), []string{"0x00000a03", "its type"}},
		"IDX header torn":         {good[:9], []string{"within its IDX header"}},
		"IDX truncated":           {good[:20], []string{"after 4 of the 6 values"}},
		"IDX trailing":            {append(slices.Clone(good), 7), []string{"continues after the 6 values"}},
		"IDX size 0":              {idx(0x803, []uint32{2, 0, 3}), []string{"size 0 in dimension 2"}},
		"IDX claims too much":     {idx(0x803, []uint32{math.MaxUint32, math.MaxUint32, math.MaxUint32}, 1), []string{"claims too much", "memory"}},
		"IDX claims a gigabyte":   {idx(0x803, []uint32{1 << 10, 1 << 10, 1 << 10}, 1), []string{"after 1 of the 1073741824 values"}},
		"gzip torn":               {torn[:len(torn)-10], []string{"compressed data ends early"}},
		"gzip torn in its header": {torn[:5], []string{"compressed data ends early"}},
		"gzip damaged":            {damaged, []string{"is damaged"}},
		"gzip corrupt":            {corrupt, []string{"is damaged"}},
		"gzip and more":           {append(slices.Clone(torn), "more"...), []string{"compressed data ends early"}},
		"gzip past the claim":     {compress(append(slices.Clone(good), make([]byte, 1<<20)...)), []string{"continues after the 6 values"}},
		"gzip short of the claim": {compress(good[:20]), []string{"after 4 of the 6 values"}},
		"joined rows":             {[]byte("0 1\r1\n0 1\n"), []string{"line 2", "1 values, but the first row has 2"}},
		"line after returns":      {[]byte("0 1\r\n1 0\r0 1\r0 2\n"), []string{`row 4, column "2"`, "largest = 2"}},
		"symbol":                  {[]byte("0 1\n0 2\n"), []string{"row 2, column", "largest = 2"}},
		"number":                  {[]byte("0 1\n10 1\n"), []string{"row 2, column", "largest = 10"}},
		"short row":               {[]byte("0 1 1\n0 1\n"), []string{"line 2", "2 values, but the first row has 3"}},
		"long row":                {[]byte("0 1\n\n0 1 0"), []string{"line 3", "3 values, but the first row has 2"}},
		"missing value":           {[]byte("0,,1\n"), []string{"line 1", `column "2"`, "missing value"}},
		"missing last value":      {[]byte("0,1,\n"), []string{"line 1", `column "3"`, "missing value"}},
		"missing first value":     {[]byte(" ,1\n"), []string{"line 1", `column "1"`, "missing value"}},
		"no rows":                 {[]byte("\n\n"), []string{"no rows"}},
		"only a header":           {[]byte("a,b,label\n"), []string{"no rows below its header"}},
		"infinite number":         {[]byte("1.5,0\n1,+Inf\n"), []string{"row 2, value 2", "+Inf is not finite"}},
		"NPY truncated":           {npyFile(small, make([]byte, 5)), []string{"ends after 5 bytes", "[2 3]"}},
		"NPY trailing":            {npyFile(small, make([]byte, 7)), []string{"continues after the 6 bytes", "[2 3]"}},
		"NPY header torn":         {npyFile(small, nil)[:40], []string{"header of the NPY file is damaged"}},
		"NPY header nonsense":     {npyFile("nonsense", nil), []string{"header of the NPY file is damaged"}},
		"NPY header claim":        {append([]byte(npy.Magic), 2, 0, 255, 255, 255, 255, 0, 0), []string{"header of the NPY file is damaged"}},
		"NPY of bytes up to 16":   {npyFile(small, []byte{0, 3, 16, 0, 9, 2}), []string{"from 0 to 16", "grey levels go to 255", "largest = 16"}},
		"IDX of bytes up to 2":    {idx(0x803, []uint32{1, 2, 3}, 0, 1, 2, 0, 1, 2), []string{"from 0 to 2"}},
		"NPY of integers":         {npyFile(strings.Replace(small, "|u1", "<i8", 1), slices.Repeat([]byte{0, 1, 0, 0, 0, 0, 0, 0}, 6)), []string{"256 is not in [0, 1]", "largest = 256"}},
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
			[]string{"row 2, value 2", "1.5"}},
		"NPY of NaN": {npyFile(strings.Replace(small, "|u1", "<f4", 1), floats32(0, 0, float32(math.NaN()), 0, 0, 0)),
			[]string{"row 1, value 3", "NaN"}},
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
		train: npyOf(1, 0, 0.5, 1),
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
	if alone.Train().Rows != 33 || alone.Test().Rows != 4 || alone.Validation().Rows != 3 || *alone.Spec().Validation != 3 {
		t.Errorf("40 rows without a test file became %d, %d and %d", alone.Train().Rows, alone.Validation().Rows, alone.Test().Rows)
	}
	if of, err := (Spec{Name: test}).Open(); err != nil || of.Train().Rows != 36 || of.Validation().Rows != 0 {
		t.Errorf("the Spec of an earlier version opens %v (%v)", of, err)
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

// wantRows checks that rows fit together, that reading them allocates no more than
// their file accounts for, and that they are read again of what write makes of them.
func wantRows(f *testing.F, parse func(io.Reader) (rows, error), write func(rows) []byte, seeds ...[]byte) {
	for _, seed := range seeds {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		var data rows
		var err error
		fuzz.Bounded(t, len(file), func() { data, err = parse(bytes.NewReader(file)) })
		if err != nil {
			return
		}
		if data.Shape.Height < 1 || data.Shape.Width < 1 || data.count() < 1 || len(data.Bytes()) != data.count()*data.Shape.Units() {
			t.Fatalf("%d values as %d rows of shape %v", len(data.Bytes()), data.count(), data.Shape)
		}
		again, err := parse(bytes.NewReader(write(data)))
		if err != nil {
			t.Fatal(err)
		}
		if again.Shape != data.Shape || !slices.Equal(again.Bytes(), data.Bytes()) {
			t.Errorf("%v of shape %v, written and read again %v of %v", data.Bytes(), data.Shape, again.Bytes(), again.Shape)
		}
	})
}

func imagesOf(r rows) []byte {
	return idx(0x803, []uint32{uint32(r.count()), uint32(r.Shape.Height), uint32(r.Shape.Width)}, r.Bytes()...)
}

// arrayOf writes float64: bytes of 0 and 1 alone would be read as off and on.
func arrayOf(r rows) []byte {
	var data []byte
	for _, v := range r.Bytes() {
		data = binary.LittleEndian.AppendUint64(data, math.Float64bits(float64(v)/255))
	}
	return npyFile(fmt.Sprintf("{'descr': '<f8', 'fortran_order': False, 'shape': (%d, %d, %d), }", r.count(), r.Shape.Height, r.Shape.Width), data)
}

func textOf(r rows) (text []byte) {
	for i, v := range r.Bytes() {
		if text = append(text, '0'+v/255, ' '); (i+1)%r.Shape.Width == 0 {
			text[len(text)-1] = '\n'
		}
	}
	return text
}

func FuzzReadImages(f *testing.F) {
	good := idx(0x803, []uint32{2, 1, 3}, 1, 2, 3, 4, 5, 6)
	wantRows(f, readImages, imagesOf, good, good[:20], good[:7], idx(0x801, []uint32{1}, 1), idx(0x803, []uint32{1 << 31, 1 << 31, 4}, 1))
}

// Labels are read alike from every format, and written again as an IDX file they are the same.
func FuzzReadAnyLabels(f *testing.F) {
	for _, file := range [][]byte{
		[]byte("0\n-1\n\n2\r\n"), []byte("256"), []byte("1.5"), idx(0x801, []uint32{3}, 0, 255, 2), idx(0x801, []uint32{9}, 1),
		labelsOf("<i8", 3, 0, 255, 255, 255, 255, 255, 255, 255, 255), labelsOf(">i2", 2, 0, 7, 255, 255), labelsOf("|u1", 1, 9), labelsOf("<f4", 1, 0, 0, 0, 0),
	} {
		f.Add(file)
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		var data []uint8
		var err error
		fuzz.Bounded(t, len(file), func() { data, err = readPickedLabels(bytes.NewReader(file), "") })
		if err != nil {
			return
		}
		if len(data) == 0 {
			t.Fatal("no labels were read, without an error")
		}
		again, err := readPickedLabels(bytes.NewReader(idx(0x801, []uint32{uint32(len(data))}, data...)), "")
		if err != nil || !slices.Equal(again, data) {
			t.Fatalf("%v, written and read again %v: %v", data, again, err)
		}
	})
}

// labelsOf is an NPY file of labels, of which data are the bytes.
func labelsOf(kind string, n int, data ...byte) []byte {
	return npyFile(fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%d,), }", kind, n), data)
}

func FuzzReadText(f *testing.F) {
	wantRows(f, readText, textOf, []byte("0 1\n1 0\n"), []byte("0,1\r\n\n1, 1"), []byte("0,,1"), []byte("01"), []byte(" \n"))
}

func FuzzReadNPY(f *testing.F) {
	wantRows(f, readRows, arrayOf,
		npyFile(small, make([]byte, 6)),
		npyFile(strings.Replace(small, "|u1", "<f4", 1), floats32(0, 0.2, 0.4, 0.6, 0.8, 1)),
		npyFile(strings.Replace(small, "u1", "b1", 1), make([]byte, 6)),
		npyFile(strings.Replace(small, "(2, 3)", "(6,)", 1), make([]byte, 6)),
		npyOf(2, 0, 1, 1, 0),
		append([]byte(npy.Magic), 2, 0, 255, 255, 255, 255))
}

// FuzzReadArray has the length of the header right, which a change of the header in a
// file seldom leaves so.
func FuzzReadArray(f *testing.F) {
	f.Add("|u1", "False", "(2, 3)", []byte("abcdef"))
	f.Add("<f4", "False", "(1, 1, 1)", floats32(0.5))
	f.Add(">f8", "False", "(1, 1, 1)", bigFloats64(0.5))
	f.Add("|b1", "True", "(1, 2,)", []byte{0, 7})
	f.Fuzz(func(t *testing.T, kind, fortran, shape string, data []byte) {
		file := npyFile(fmt.Sprintf("{'descr': '%s', 'fortran_order': %s, 'shape': %s, }", kind, fortran, shape), data)
		var read rows
		var err error
		fuzz.Bounded(t, len(file), func() { read, err = readRows(bytes.NewReader(file)) })
		if err != nil {
			return
		}
		if again, err := readRows(bytes.NewReader(arrayOf(read))); err != nil || !slices.Equal(again.Bytes(), read.Bytes()) {
			t.Errorf("%v of shape %v, written and read again %v: %v", read.Bytes(), read.Shape, again.Bytes(), err)
		}
	})
}

// FuzzReadCompressed reads files as they are, and compressed. A compressed byte may
// stand for a thousand.
func FuzzReadCompressed(f *testing.F) {
	text := compress([]byte("0 1\n1 0\n"))
	for _, seed := range [][]byte{text, text[:len(text)-3], idx(0x803, []uint32{1, 1, 1}, 9), npyFile(small, make([]byte, 6)), []byte("0 1")} {
		f.Add(seed)
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed) // large, and used again
	f.Fuzz(func(t *testing.T, file []byte) {
		read := func(file []byte) (data rows, err error) {
			fuzz.Bounded(t, 8*len(file), func() { data, err = readCompressed(bytes.NewReader(file), readRows) })
			return data, err
		}
		plain, err := read(file)
		if isGzip(bufio.NewReader(bytes.NewReader(file))) {
			return
		}
		packed.Reset()
		z.Reset(&packed)
		z.Write(file)
		z.Close()
		if same, errPacked := read(packed.Bytes()); (err == nil) != (errPacked == nil) || !slices.Equal(same.Bytes(), plain.Bytes()) {
			t.Errorf("%v with the error %v, compressed %v with the error %v", plain.Bytes(), err, same.Bytes(), errPacked)
		}
	})
}

func FuzzReadLabels(f *testing.F) {
	f.Add(idx(0x801, []uint32{3}, 1, 2, 3))
	f.Add(idx(0x801, []uint32{1 << 31}, 1))
	f.Fuzz(func(t *testing.T, file []byte) {
		var data []uint8
		var err error
		fuzz.Bounded(t, len(file), func() { data, err = readLabels(bytes.NewReader(file)) })
		if err == nil && !bytes.Equal(data, file[8:]) {
			t.Errorf("labels %v of the file %v", data, file)
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

// Reading a file shows its progress, which ends with the file.
func TestReadingShowsItsProgress(t *testing.T) {
	var last float64
	parts := 0
	path := written(t, "rows.csv", "a,b\n"+strings.Repeat("1.5,2\n2.5,3\n", 3000))
	work.Show(func(what string, fraction float64) {
		if what != "reading rows.csv" || fraction < last && last < 1 {
			t.Errorf("%s: %v after %v", what, fraction, last)
		}
		if 0 < fraction && fraction < 1 {
			parts++
		}
		last = fraction
	})
	defer work.Show(func(string, float64) {})
	if opened(t, Spec{Name: path, Binarization: Real}); last != 1 || parts < 5 {
		t.Errorf("%d parts, and %v in the end", parts, last)
	}
}
