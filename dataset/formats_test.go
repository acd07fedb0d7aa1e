package dataset

import (
	"archive/zip"
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/png"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/internal/fuzz"
)

// The rows of testdata/formats, whose files make.py wrote: bytes, their classes, and the first row standardised.
var (
	formatRows   = []uint8{255, 0, 34, 121, 243, 189, 6, 131, 102, 168, 82, 193, 187, 150, 81, 243, 205, 24, 236, 8, 246, 164, 231, 36}
	formatLabels = []uint8{0, 1, 2, 0, 1, 2}
	standardised = []float64{0.9267086536391594, -1.5522173275552522, -0.8619231342807125, -0.012223635819048274}
)

// zipped returns a ZIP archive of an empty file.
func zipped(t *testing.T, name string) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	if _, err := z.Create(name); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Files that other programs wrote are read as the same rows, or refused by the name of their format with a remedy.
// docs/data.md lists them.
func TestFilesOfOtherPrograms(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string][]byte{
		"h5py.h5": []byte("\x89HDF\r\n\x1a\n\x00\x00"), "feather.arrow": []byte("ARROW1\x00\x00"), "excel.xlsx": zipped(t, "[Content_Types].xml"), "sparse.npz": zipped(t, "format.npy"), "matlab73.mat": []byte("MATLAB 7.3 MAT-file, Platform"),
		"libsvm.txt": []byte("0 0:0.5 1:0.25\n1 1:1\n"), "list.json": []byte("[[255, 0]]"), "page.html": []byte("<!DOCTYPE html>"), "one.png": []byte("\x89PNG\r\n\x1a\n"),
		"comment.arff": []byte("% by Fisher\n\n@Relation iris\n@attribute a numeric\n@data\n0.5\n"), "unmarked.txt": []byte("a\x00,\x00b\x00\n\x001\x00,\x000\x00\n\x00"),
		"song.mid": []byte("MThd\x00\x00\x00\x06\x00\x00\x00\x01"), "frame.rds": []byte("X\n\x00\x00\x00\x03"), "frame.rda": []byte("RDX3\nX\n\x00"),
		"text.rds": []byte("A\n2\n262658\n131840\n14\n3\n0.5\n1\n0.25\n"), "text3.rds": []byte("A\n3\n262658\n197888\n5\nUTF-8\n14\n1\n0.5\n"), "text.rda": []byte("RDA3\nA\n3\n262658\n"), "native.rds": []byte("B\n\x03\x00\x00\x00"),
		"a.nc": []byte("CDF\x01\x00"), "bytes4.mat": []byte("2\x00\x00\x00\x04\x00\x00\x00"), "a.orc": []byte("ORC\n\x06\x12\x04"), "a.avro": []byte("Obj\x01\x02\x16avro.schema"), "a.dta": []byte("<stata_dta><header>"), "old.dta": []byte("r\x02\x01\x00\x02\x00"), "a.mtx": []byte("%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 1\n"),
		"record.npy": append([]byte("\x93NUMPY\x01\x00\x76\x00"), fmt.Sprintf("%-117s\n", "{'descr': [('a', '<f8'), ('b', '<i8')], 'fortran_order': False, 'shape': (1,), }")...), "one.svm": []byte("-1 1:0.5 3:1\n"),
		"stream.arrows": []byte("\xff\xff\xff\xff\xa0\x00\x00\x00\x10\x00"),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	bits := make([]uint8, len(formatRows))
	for i, v := range formatRows {
		bits[i] = v / 128 * 255
	}
	const grey, binary, real = "grey", "binary", "real"
	read, refused := documentedFormats(t)
	tried := map[string]bool{"Parquet": true, "JSON": true} // in other tests
	for _, c := range []struct {
		file, format string // of testdata/formats, and as docs/data.md has it
		kind         string // of its values, or words of its refusal
		labeled      bool
	}{
		{"01-kaggle-digits.csv", "CSV, TSV", grey, true}, {"02-pandas-bits-header.csv", "CSV, TSV", binary, false}, {"03-pandas-default-index.csv", "CSV, TSV", binary, false},
		{"04-pandas-01.csv", "CSV, TSV", grey, false}, {"05-pandas-standardised.csv", "CSV, TSV", real, false}, {"06-pandas.tsv", "CSV, TSV", grey, true},
		{"07-semicolon-decimal-comma.csv", "CSV, TSV", real, false}, {"08-quoted.csv", "CSV, TSV", binary, false}, {"09-numpy-savetxt.txt", "other text", grey, false},
		{"10-numpy-savetxt-comma.csv", "CSV, TSV", grey, false}, {"11-pandas-gzip.csv.gz", "gzip", binary, false}, {"13-bom.csv", "CSV, TSV", grey, false},
		{"18-float64.npy", "NPY", real, false}, {"19-int64.npy", "NPY", grey, false}, {"20-fortran.npy", "NPY", grey, false}, {"21-nchw.npy", "NPY", grey, false},
		{"22-float16.npy", "NPY", grey, false}, {"23-bool.npy", "NPY", binary, false}, {"24-mnist-floats-255.npy", "NPY", grey, false}, {"25-keras.npz", "NPZ", grey, true},
		{"26-one.npz", "NPZ", binary, false}, {"28-matlab.mat", "MATLAB 5 to 7", binary, true}, {"29-matlab-images.mat", "MATLAB 5 to 7", grey, true},
		{"32-floats-idx3-float", "IDX", grey, false}, {"34-png-folders", "PNG, JPEG", grey, true},
		{"12-excel-utf16.txt", "UTF-16", "UTF-16", false}, {"14-missing.csv", "CSV, TSV", `line 6, column "pixel2": a missing value`, false}, {"17-weka.arff", "ARFF", "liac-arff", false},
		{"27-objects.npy", "NPY of objects", "Python objects", false}, {"30-matlab4.mat", "MATLAB 4", "version 4", false}, {"40-gzip-in-gzip.gz", "gzip within gzip", "gzip within gzip", false},
		{"41-pickle.pkl", "pickle", "pickle", false}, {"h5py.h5", "HDF5", "HDF5", false}, {"feather.arrow", "Feather", "Feather", false}, {"excel.xlsx", "Excel", "Excel", false},
		{"matlab73.mat", "MATLAB 7.3", "-v7", false}, {"libsvm.txt", "LIBSVM", "zero_based=True);", false}, {"list.json", "JSON lists", "JSON", false}, {"page.html", "HTML", "HTML", false}, {"one.png", "PNG, JPEG", "folder of the pictures", false},
		{"sparse.npz", "NPZ of SciPy's sparse matrices", "scipy.sparse.load_npz(FILE).toarray()", false}, {"comment.arff", "ARFF", "Weka", false}, {"unmarked.txt", "UTF-16", "UTF-16", false},
		{"song.mid", "MIDI", "get_piano_roll(fs=4)", false}, {"frame.rds", "R", "write.csv", false}, {"frame.rda", "R", "write.csv", false},
		{"text.rds", "R", "readRDS(FILE)", false}, {"text3.rds", "R", "readRDS(FILE)", false}, {"text.rda", "R", "load(FILE)", false}, {"native.rds", "R", "write.csv", false}, {"a.nc", "NetCDF", "xarray.open_dataset(FILE)", false}, {"bytes4.mat", "MATLAB 4", "version 4", false}, {"a.orc", "ORC", "pandas.read_orc(FILE)", false}, {"a.avro", "Avro", "polars.read_avro(FILE)", false}, {"a.dta", "Stata", "pandas.read_stata(FILE)", false}, {"old.dta", "Stata", "pandas.read_stata(FILE)", false},
		{"a.mtx", "Matrix Market", "scipy.io.mmread(FILE, spmatrix=False).toarray()", false}, {"record.npy", "NPY of records", "pandas.DataFrame(numpy.load(FILE))", false}, {"one.svm", "LIBSVM", "zero_based=False);", false},
		{"stream.arrows", "Arrow streams", "pyarrow.ipc.open_stream(FILE)", false},
		{"42-matlab-structure.mat", "MATLAB structures", `s of the MATLAB file is a structure, not an array of numbers: save what is in it, for example with scipy.io.savemat("rows.mat", scipy.io.loadmat(FILE, simplify_cells=True)["s"])`, false},
		{"43-matlab-cell.mat", "MATLAB structures", "c of the MATLAB file is a cell", false},
	} {
		listed := read
		if c.kind != grey && c.kind != binary && c.kind != real && c.file != "14-missing.csv" && c.file != "one.png" {
			listed = refused
		}
		if !slices.Contains(listed, c.format) {
			t.Errorf("docs/data.md has no format %q among %q", c.format, listed)
		}
		tried[c.format] = true
		path := filepath.Join("testdata", "formats", c.file)
		if _, err := os.Stat(path); err != nil {
			path = filepath.Join(dir, c.file)
		}
		spec, want := Spec{Name: path, Validation: new(0), Binarization: Gray}, formatRows
		if c.file == "28-matlab.mat" { // of classes from 1 on
			spec.FirstLabel = 1
		}
		switch c.kind {
		case grey:
		case binary:
			want = bits
		case real:
			spec.Binarization = Real
		default:
			_, err := spec.Open()
			wantError(t, err, path, c.kind)
			continue
		}
		set, err := spec.Open()
		if err != nil {
			t.Errorf("%s: %v", c.file, err)
			continue
		}
		wantFormatRows(t, c.file, set, want, c.labeled)
	}
	for _, format := range slices.Concat(read, refused) {
		if !tried[format] {
			t.Errorf("docs/data.md has the format %q, of which no file is read here", format)
		}
	}
}

// A header that begins like the magic of a binary file or a page is the header of a table.
func TestHeadersThatBeginLikeOtherFormats(t *testing.T) {
	RegisterTable("PAR1", func(TableFile, func([]string) error) error { return errors.New("read as Parquet") })
	defer delete(tableReaders, "PAR1")
	for _, name := range []string{"BMI", "FEA1", "PAR1", "GIF8", "BZh", "Rar!", "ARROW1", "<OPEN>"} {
		set, err := Spec{Name: written(t, "rows.csv", name+",smoker\n1,0\n0,1\n1,1\n"), Validation: new(0)}.Open()
		if err != nil || set.Columns()[0].Name != name {
			t.Errorf("%s: %v", name, err)
		}
	}
	for start, says := range map[string]string{"BM\x46\x00\x00\x00": "BMP", "GIF89a\x02\x00": "GIF", "BZh91AY&SY\xe2\x00\x17": "bzip2", "PAR1\x15\x04": "read as Parquet", "<html>": "HTML", "<?xml version": "HTML", "<!--": "HTML"} {
		_, err := Spec{Name: written(t, "rows.csv", start)}.Open()
		wantError(t, err, says)
	}
	_, err := Spec{Name: written(t, "rows.csv", "1")}.Open() // has no zero bytes, as UTF-16 has
	wantError(t, err, "1 row is too few")
}

// The words of its name tell to which part an array of an archive belongs, and whether it has labels. Arrays that
// would be left out silently are refused.
func TestArraysOfArchives(t *testing.T) {
	bits := func(rows string, values ...byte) string {
		return string(npyFile("{'descr': '|u1', 'fortran_order': False, 'shape': "+rows+", }", values))
	}
	x, y, one := bits("(4, 2)", 0, 1, 1, 0, 1, 1, 0, 0), bits("(4,)", 0, 1, 2, 0), bits("(1, 2)", 1, 1)
	for _, c := range []struct {
		arrays                    map[string]string
		train, validation, tested int
		labeled                   bool
	}{
		{map[string]string{"data": x, "values": y}, 3, 0, 1, false}, {map[string]string{"x": x, "y": y, "latest": y, "classes": bits("(3,)", 0, 1, 2)}, 3, 0, 1, true},
		{map[string]string{"xTrain": x, "yTrain": y, "xTest": x, "yTest": y}, 4, 0, 4, true}, {map[string]string{"trainimages": x, "testimages": x, "valid_set": x}, 4, 4, 4, false},
		{map[string]string{"trainfeatures": x, "testfeatures": x, "x_eval": x}, 4, 4, 4, false},
		{map[string]string{"x_train": x, "x_test": one}, 4, 0, 1, false}, {map[string]string{"x": x, "y": y, "x_test": one, "y_test": bits("(1,)", 2)}, 4, 0, 1, true},
	} {
		set := opened(t, Spec{Name: archiveOf(t, c.arrays)})
		if test := set.Test(); set.Train().Rows != c.train || set.Validation().Rows != c.validation || test.Rows != c.tested || (test.Labels != nil) != c.labeled {
			t.Errorf("%q: %v with the labels %v of test rows", slices.Sorted(maps.Keys(c.arrays)), set, test.Labels)
		}
		for name := range c.arrays {
			if other := name == "values" || name == "latest" || name == "classes"; len(name) > 1 && strings.Contains(set.Notice(), name) != other {
				t.Errorf("whether %s is not read is not in the notice %q", name, set.Notice())
			}
		}
	}
	text := strings.Replace(x, "|u1", "<U1", 1)
	for says, arrays := range map[string]map[string]string{
		"the array y has 3 labels for 4 rows among the arrays": {"x": x, "y": bits("(3,)", 0, 1, 2)},
		"array names: the NPY array has type":                  {"x": x, "names": text},
		"array class: row 1: 2000 is not a class":              {"x": x, "class": string(npyFile("{'descr': '<f4', 'fortran_order': False, 'shape': (4,), }", floats32(2000, 2001, 2002, 2003)))},
	} {
		_, err := Spec{Name: archiveOf(t, arrays)}.Open()
		wantError(t, err, says, "FILE#NAME")
	}
}

// # may be part of the name of a file, of a folder, and of an array.
func TestNumberSignsInPaths(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "C#")
	if err := os.Mkdir(folder, 0o777); err != nil {
		t.Fatal(err)
	}
	array := string(npyFile(small, []byte{0, 1, 1, 1, 0, 0}))
	archive, err := os.ReadFile(archiveOf(t, map[string]string{"F#": array, "G": array}))
	if err != nil {
		t.Fatal(err)
	}
	own(t, folder, "rows#1.txt", "0 1 1\n1 0 0\n")
	own(t, folder, "two#.npz", string(archive))
	for _, name := range []string{"rows#1.txt", "two#.npz#F#", "two#.npz#G"} {
		opened(t, Spec{Name: filepath.Join(folder, name), Validation: new(0)})
	}
	_, err = Spec{Name: filepath.Join(folder, "none.npz#G")}.Open()
	wantError(t, err, filepath.Join(folder, "none.npz")+":")
}

// matlabFile is a MATLAB file of an array x of 4 × 2 bytes with the given flags, compressed.
func matlabFile(flags uint32) []byte {
	word := binary.LittleEndian.AppendUint32
	element := func(kind uint32, content []byte) []byte {
		return append(word(word(nil, kind), uint32(len(content))), append(content, make([]byte, -len(content)&7)...)...)
	}
	array := slices.Concat(element(6, word(word(nil, 9|flags<<8), 0)), element(5, word(word(nil, 4), 2)), element(1, []byte("x")), element(2, []byte{0, 1, 1, 0, 1, 1, 0, 0}))
	var zipped bytes.Buffer
	z := zlib.NewWriter(&zipped)
	z.Write(element(matlabMatrix, array))
	z.Close()
	header := append([]byte(matlabMagic), make([]byte, matlabHeader-len(matlabMagic))...)
	copy(header[124:], "\x00\x01IM")
	return slices.Concat(header, word(word(nil, matlabZipped), uint32(zipped.Len())), zipped.Bytes())
}

// A flipped bit that the checksum of an archive or of a MATLAB file shows is noticed, and so is an imaginary part.
func TestChecksumsOfArrays(t *testing.T) {
	var archive bytes.Buffer
	array, z := npyFile(small, []byte{0, 1, 1, 1, 0, 0}), zip.NewWriter(&archive)
	w, err := z.CreateHeader(&zip.FileHeader{Name: "x.npy", Method: zip.Store})
	if err != nil {
		t.Fatal(err)
	}
	w.Write(array)
	z.Close()
	stored, flipped := archive.Bytes(), slices.Clone(archive.Bytes())
	flipped[bytes.Index(flipped, array)+len(array)-1] ^= 1
	matlab, torn := matlabFile(0), matlabFile(0)
	torn[len(torn)-1] ^= 1
	for says, content := range map[string][2][]byte{
		"is damaged, get the file again (zip: checksum error)":      {stored, flipped},
		"is damaged, get the file again (zlib: invalid checksum)":   {matlab, torn},
		"array x is complex: save real(x) or abs(x), or both parts": {matlab, matlabFile(matlabComplex)},
	} {
		opened(t, Spec{Name: written(t, "good.mat", string(content[0]))})
		_, err := Spec{Name: written(t, "bad.mat", string(content[1]))}.Open()
		wantError(t, err, says)
	}
}

// wantFormatRows checks that the rows of a set are the wanted ones in any order, with their labels.
func wantFormatRows(t *testing.T, name string, set *Set, want []uint8, labeled bool) {
	t.Helper()
	rows := 0
	for _, split := range []Split{set.Train(), set.Test()} {
		if (split.Labels != nil) != labeled {
			t.Errorf("%s: %v has the labels %v", name, split, split.Labels)
		}
		for r := range split.Rows {
			rows++
			at := -1
			for k := range formatLabels {
				if split.Reals() == nil && slices.Equal(split.Row(r), want[4*k:4*k+4]) && (!labeled || split.Labels[r] == formatLabels[k]) {
					at = k
				}
			}
			if split.Reals() != nil && math.Abs(split.Floats(r)[0][0]-standardised[0]) < 1e-6 {
				for i, v := range split.Floats(r)[0] {
					if math.Abs(v-standardised[i]) > 1e-6 {
						t.Errorf("%s: %v of value %d, want %v", name, v, i, standardised[i])
					}
				}
			} else if split.Reals() == nil && at < 0 {
				t.Errorf("%s: row %v of the label %v was not written", name, split.Row(r), split.Labels)
			}
		}
	}
	if rows != len(formatLabels) {
		t.Errorf("%s: %d rows", name, rows)
	}
}

// documentedFormats lists the formats in the two tables of docs/data.md.
func documentedFormats(t *testing.T) (read, refused []string) {
	text, err := os.ReadFile("../docs/data.md")
	if err != nil {
		t.Fatal(err)
	}
	tables := strings.Split(string(text), "| format |")[1:]
	if len(tables) != 2 {
		t.Fatalf("docs/data.md has %d tables of formats, want one of those that are read and one of the others", len(tables))
	}
	formats := func(table string) (first []string) {
		table, _, _ = strings.Cut(table, "\n\n")
		for line := range strings.Lines(table) {
			if cells := strings.Split(line, "|"); len(cells) > 2 && cells[1] != " --- " {
				first = append(first, strings.TrimSpace(cells[1]))
			}
		}
		return first
	}
	return formats(tables[0]), formats(tables[1])
}

// JPEG keeps levels within a few of 255; folders train and test are the splits, and their folders the classes.
func TestJPEGFolders(t *testing.T) {
	set := opened(t, Spec{Name: "testdata/formats/35-jpeg-folders", Binarization: Gray})
	if set.Train().Rows != 4 || set.Test().Rows != 2 || set.Shape() != (Shape{8, 8}) || set.Classes() != 3 {
		t.Fatalf("%v with %d classes", set, set.Classes())
	}
	for _, split := range []Split{set.Train(), set.Test()} {
		for r := range split.Rows {
			mean := 0.0
			for _, v := range split.Floats(r)[0] {
				if math.Min(v, 1-v) > 0.1 {
					t.Errorf("%v: a level of %v, where 0 and 1 were saved", split, v)
				}
				mean += v / 64
			}
			if math.Abs(4*mean-math.Round(4*mean)) > 0.1 {
				t.Errorf("a mean of %v of four blocks", mean)
			}
		}
	}
}

// pngOf writes an image as PNG.
func pngOf(c image.Image) []byte {
	var b bytes.Buffer
	if err := png.Encode(&b, c); err != nil {
		panic(err)
	}
	return b.Bytes()
}

func FuzzReadPicture(f *testing.F) {
	f.Add(pngOf(image.NewGray(image.Rect(0, 0, 3, 2))))
	f.Add(pngOf(image.NewRGBA(image.Rect(0, 0, 2, 2))))
	f.Add(pngOf(image.NewGray(image.Rect(0, 0, 3, 2)))[:40])
	f.Fuzz(func(t *testing.T, file []byte) {
		var data rows
		var err error
		fuzz.Bounded(t, 16*len(file), func() {
			in := inputOf(bytes.NewReader(file))
			in.at, in.size = bytes.NewReader(file), int64(len(file))
			data, err = readPicture(in)
		})
		if err == nil && (data.count() != 1 || len(data.pixels) != data.Shape.Units()) {
			t.Errorf("%d pixels of %v", len(data.pixels), data.Shape)
		}
	})
}

// FuzzReadArrays reads archives of arrays and MATLAB files.
func FuzzReadArrays(f *testing.F) {
	for _, name := range []string{"25-keras.npz", "26-one.npz", "28-matlab.mat", "29-matlab-images.mat"} {
		file, err := os.ReadFile(filepath.Join("testdata", "formats", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(file)
		f.Add(file[:len(file)*2/3])
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		var data source
		var err error
		fuzz.Bounded(t, 8*len(file), func() {
			in := inputOf(bytes.NewReader(file))
			in.at, in.size = bytes.NewReader(file), int64(len(file))
			data, err = Spec{}.readAny(in, "")
		})
		if err != nil {
			return
		}
		for _, part := range []rows{data.train, data.validation, data.test} {
			if part.count()*part.Shape.Units() != max(len(part.Bytes()), len(part.numbers)) || part.Labels != nil && len(part.Labels) != part.count() {
				t.Errorf("%d rows of %v with %d labels", part.count(), part.Shape, len(part.Labels))
			}
		}
	})
}

// Every table that is read has one value of each unit in each row, and is read again of what is written of it.
func FuzzReadTable(f *testing.F) {
	for _, seed := range []string{"a,b\n1,2\n3,4\n", "a;b\n1,5;\"x\"\"y\"\n2;z\n", "# of\n1 2.5\n-1e3 4\n", "x\ty\n?\t1\n", ",0,1,2\n0,1,0,1\n1,0,1,0\n", "label,p\n0,m\n1,n\n1,o\n", "a,b\r1,2\r"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var data rows
		var err error
		spec := Spec{Name: "own.csv", Binarization: Real}
		fuzz.Bounded(t, 16*len(text), func() {
			of := &table{rules: NewestRules}
			if err = of.read(strings.NewReader(text)); err == nil {
				of.train = of.rows
				data, _, err = of.coded(spec, nil)
			}
		})
		if err != nil {
			return
		}
		units := 0
		for _, c := range data.columns {
			units += c.Units
		}
		if data.count() < 1 || data.Units != 0 && data.Units != data.Shape.Units() || data.columns != nil && units != data.Shape.Units() {
			t.Fatalf("%d rows of %v, of columns %v", data.count(), data.Shape, data.columns)
		}
		var again strings.Builder
		for i := range data.Shape.Units() {
			if i > 0 {
				again.WriteByte(',')
			}
			fmt.Fprintf(&again, "x%d", i)
		}
		again.WriteByte('\n')
		for r := range data.count() {
			for i := range data.Shape.Units() {
				if i > 0 {
					again.WriteByte(',')
				}
				fmt.Fprint(&again, data.number(r*data.Shape.Units()+i))
			}
			again.WriteByte('\n')
		}
		of := &table{named: false}
		if err := of.read(strings.NewReader(again.String())); err != nil && !slices.ContainsFunc(data.numbers, math.IsNaN) {
			t.Errorf("%q, written again: %v", again.String(), err)
		}
	})
}
