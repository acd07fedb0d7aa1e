package dataset

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestFingerprintTellsSetsApart(t *testing.T) {
	ones := [][]float64{{1, 1, 1, 1}, {1, 1, 1, 0}}
	seen := map[string]string{}
	for name, make := range map[string]func() (*Set, error){
		"a set":           func() (*Set, error) { return FromRows("own", Shape{2, 2}, ones, ones[:1]) },
		"another shape":   func() (*Set, error) { return FromRows("own", Shape{1, 4}, ones, ones[:1]) },
		"other values":    func() (*Set, error) { return FromRows("own", Shape{2, 2}, ones[:1], ones[:1]) },
		"other test rows": func() (*Set, error) { return FromRows("own", Shape{2, 2}, ones, ones[1:]) },
		"another division": func() (*Set, error) {
			return Spec{Name: "own", Validation: new(1)}.FromRows(Shape{2, 2}, ones, ones[:1])
		},
	} {
		s, err := make()
		if err != nil {
			t.Fatal(err)
		}
		print := s.Fingerprint()
		if len(print) != 64 || print != s.Fingerprint() {
			t.Errorf("fingerprint %q of %s", print, name)
		}
		if other, taken := seen[print]; taken {
			t.Errorf("%s and %s have the same fingerprint", name, other)
		}
		seen[print] = name
	}
}

func TestFromRows(t *testing.T) {
	train := [][]float64{{0, 0.49, 0.5, 1}, {0.2, 0.4, 0.6, 0.8}}
	s, err := FromRows("own", Shape{2, 2}, train, train[:1])
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Train().Bytes(); !slices.Equal(got, []uint8{0, 0, 255, 255, 0, 0, 255, 255}) {
		t.Errorf("rounded to %v", got)
	}
	if s.Name() != "own" || s.Shape() != (Shape{2, 2}) || s.Test().Rows != 1 || s.Test().Name != "test" {
		t.Errorf("set %q of shape %v with %d %s rows", s.Name(), s.Shape(), s.Test().Rows, s.Test().Name)
	}
	kept, err := Spec{Name: "own", Binarization: Stochastic}.FromRows(Shape{2, 2}, train, train[:1])
	if err != nil {
		t.Fatal(err)
	}
	if got := kept.Train().Row(1); !slices.Equal(got, []uint8{51, 102, 153, 204}) {
		t.Errorf("kept grey as %v", got)
	}
}

func TestFromRowsRefusesWhatIsNoProbability(t *testing.T) {
	good := []float64{0, 1}
	for _, v := range []float64{math.NaN(), -0.1, 1.1, math.Inf(1)} {
		_, err := FromRows("own", Shape{1, 2}, [][]float64{good, {0, v}}, nil)
		wantError(t, err, "own", "training row 2, value 2")
		_, err = FromRows("own", Shape{1, 2}, [][]float64{good}, [][]float64{{v, 0}})
		wantError(t, err, "own", "test row 1, value 1")
	}
	_, err := FromRows("own", Shape{1, 2}, [][]float64{good, {1}}, nil)
	wantError(t, err, "training row 2 has 1 values", "1×2 has 2")
	_, err = FromRows("own", Shape{0, 2}, [][]float64{good}, nil)
	wantError(t, err, "shape 0×2")
	_, err = FromRows("own", Shape{1, 2}, nil, nil)
	wantError(t, err, "no rows")
	_, err = FromRows("mnist", Shape{1, 2}, [][]float64{good, good}, nil)
	wantError(t, err, "mnist", "choose another")
	for says, spec := range map[string]Spec{
		`"t.npy"`: {Test: "t.npy"}, `weight_file = "w.npy"`: {WeightFile: "w.npy"}, `columns = "a=real"`: {Columns: "a=real"}, `shape = "2x1"`: {Shape: "2x1"},
		"first_label = 1, but the rows have no labels": {FirstLabel: 1}, `missing = "-999,-1" is not a number`: {Missing: Codes{"-999,-1"}},
	} {
		spec.Name = "own.rows"
		_, err = spec.FromRows(Shape{1, 2}, [][]float64{good, good}, nil)
		wantError(t, err, says)
	}
}

// Values of another scale are refused where rounding would make them a constant, and otherwise named,
// whichever way they come in.
func TestTheScaleIsJudgedAlike(t *testing.T) {
	ways := map[string]func(b Binarization, values ...uint8) (*Set, error){
		"NPY of float32": func(b Binarization, v ...uint8) (*Set, error) {
			return fromFile(t, b, npyFile(strings.Replace(small, "|u1", "<f4", 1), floats32(parts(v)...)))
		},
		"NPY of float64": func(b Binarization, v ...uint8) (*Set, error) {
			var wide []float64
			for _, v := range parts(v) {
				wide = append(wide, float64(v))
			}
			return fromFile(t, b, npyFile(strings.Replace(small, "|u1", ">f8", 1), bigFloats64(wide...)))
		},
		"FromRows": func(b Binarization, v ...uint8) (*Set, error) {
			rows := [][]float64{nil, nil}
			for i, v := range v {
				rows[i/3] = append(rows[i/3], float64(v)/255)
			}
			return Spec{Name: "own", Binarization: b}.FromRows(Shape{1, 3}, rows, rows)
		},
		"NPY of bytes": func(b Binarization, v ...uint8) (*Set, error) { return fromFile(t, b, npyFile(small, v)) },
		"IDX": func(b Binarization, v ...uint8) (*Set, error) {
			return fromFile(t, b, idx(0x803, []uint32{2, 1, 3}, v...))
		},
	}
	for name, open := range ways {
		_, err := open(Fixed, 0, 102, 0, 102, 102, 0)
		wantError(t, err, "divide")
		_, err = open(Fixed, 254, 255, 255, 254, 254, 255)
		wantError(t, err, "makes every value 1", "0.996 to 1", "divide", "stochastic")
		for _, c := range []struct {
			binarization Binarization
			values       []uint8
			says         string
		}{
			{Gray, []uint8{254, 255, 255, 254, 254, 255}, "0.996 to 1, a small part"},
			{Fixed, []uint8{0, 200, 0, 0, 200, 0}, "all 2 training rows of"},
			{Fixed, []uint8{200, 200, 200, 0, 0, 0}, ""},
			{Fixed, []uint8{0, 200, 255, 0, 0, 200}, ""},
			{Gray, []uint8{0, 200, 255, 0, 0, 200}, ""},
		} {
			set, err := open(c.binarization, c.values...)
			if err != nil {
				t.Errorf("%s, %v: %v", name, c.values, err)
			} else if got := set.Notice(); got == "" != (c.says == "") || !strings.Contains(got, c.says) {
				t.Errorf("%s, %v: notice %q, want %q", name, c.values, got, c.says)
			}
		}
	}
	set, err := ways["FromRows"](Stochastic, 0, 51, 102, 0, 51, 51)
	if err != nil {
		t.Fatal(err)
	}
	if got := set.Notice(); !strings.Contains(got, "from 0 to 0.4") {
		t.Errorf("the notice of dark grey values is %q", got)
	}
	if text := set.String(); !strings.Contains(text, "rows of 1×3, 2 for training") || !strings.Contains(text, "values 0 to 0.4, mean 0.167") {
		t.Errorf("the set is described as %s", text)
	}
	set, err = ways["FromRows"](Fixed, 0, 51, 255, 0, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	if text := set.String(); !strings.Contains(text, "values 0 to 1, 16.7 % ones") {
		t.Errorf("the set is described as %s", text)
	}
}

// Rows with one value throughout give a notice unless they are short.
func TestNoticeOfConstantRows(t *testing.T) {
	for n, says := range map[int]string{3: "", 7: "", 8: "2 of 2 training rows of own have one value throughout"} {
		rows := [][]float64{slices.Repeat([]float64{0}, n), slices.Repeat([]float64{1}, n)}
		set, err := FromRows("own", Shape{1, n}, rows, rows)
		if err != nil {
			t.Fatal(err)
		}
		if got := set.Notice(); got == "" != (says == "") || !strings.Contains(got, says) {
			t.Errorf("%d units: notice %q, want %q", n, got, says)
		}
	}
}

// Real numbers far from 0 give a notice that names the farthest column.
func TestNoticeOfTheScaleOfRealNumbers(t *testing.T) {
	for text, says := range map[string]string{
		"wind,heat,pressure\n0.5,21,1013\n-1.5,19,1009\n0.5,20,1011\n": `column "pressure" of`,
		"wind,rain\n-1.5,90\n1.5,-90\n-2.5,91\n":                       "and the standard deviation 8",
		"wind,rain\n-1.5,2.5\n1.5,3\n0,0\n":                            "",
	} {
		path := written(t, "rows.csv", text)
		set := opened(t, Spec{Name: path, Test: twin(t, path), Binarization: Real})
		if got := set.ScaleNotice(); got == "" != (says == "") || !strings.Contains(got, says) {
			t.Errorf("%q: notice %q, want %q", text, got, says)
		}
	}
}

// A unit of real numbers with the same number in all training rows is left out by what the format allows, and pixels are
// scaled together. The remedy ends the notice.
func TestNoticeOfConstantUnits(t *testing.T) {
	array := func(height int) string {
		var data []byte
		for i := range 12 * height * 3 {
			v := 50.0
			if i%3 != 1 {
				v = math.Sin(float64(i))
			}
			data = binary.LittleEndian.AppendUint64(data, math.Float64bits(v))
		}
		return string(npyFile(fmt.Sprintf("{'descr': '<f8', 'fortran_order': False, 'shape': (12, %d, 3), }", height), data))
	}
	lengths := string(npyFile("{'descr': '|u1', 'fortran_order': False, 'shape': (12,), }", []byte("\x04\x03\x02\x04\x04\x04\x04\x04\x04\x04\x04\x04")))
	for path, c := range map[string]struct {
		says   string
		remedy Spec
	}{
		written(t, "rows.npy", array(1)):                                     {"value 2 of the rows", Spec{}},
		archiveOf(t, map[string]string{"x": array(4), "lengths": lengths}):   {"value 2 of the steps", Spec{}},
		written(t, "images.npy", array(4)):                                   {"largest = 50 (--largest)", Spec{Largest: 50}},
		written(t, "rows.csv", strings.Repeat("7,50,1.5\n2,50,-2.5\n", 9)):   {`columns = "2=skip"`, Spec{Columns: "2=skip"}},
		written(t, "bits.csv", strings.Repeat("0,1,1\n1,1,0\n0,1,0\n", 9)):   {`columns = "2=skip"`, Spec{Columns: "2=skip"}},
		written(t, "named.csv", "a,b\n"+strings.Repeat("7.5,50\n2,50\n", 9)): {`columns = "b=skip"`, Spec{Columns: "a=real,b=skip"}},
	} {
		spec := Spec{Name: path, Binarization: Real, Validation: new(0)}
		if !strings.Contains(path, "bits") { // a kind keeps a constant column
			spec.Columns = strings.ReplaceAll(c.remedy.Columns, "skip", "real")
		}
		set := opened(t, spec)
		got := cmp.Or(set.Notice(), set.ScaleNotice())
		if !strings.Contains(got, c.says) || strings.Contains(got, "standardise") {
			t.Errorf("%s: notice %q, want %q", path, got, c.says)
		}
		if !reflect.DeepEqual(c.remedy, Spec{}) {
			c.remedy.Name, c.remedy.Binarization, c.remedy.Validation = path, Real, new(0)
			set := opened(t, c.remedy)
			if got := cmp.Or(set.Notice(), set.ScaleNotice()); strings.Contains(got, "same number") || strings.Contains(got, "largest") {
				t.Errorf("%s, with the remedy: notice %q", path, got)
			}
		} else if !strings.HasSuffix(got, "numpy.delete(a, 1, -1) of its array a") {
			t.Errorf("%s: notice %q", path, got)
		}
	}
}

// The errors and the description of a split do without its name if it has none.
func TestSplitWithoutAName(t *testing.T) {
	wantError(t, Split{}.Check(), "the split: shape 0×0")
	wantError(t, Split{Name: "test", Shape: Shape{1, 1}}.Check(), "the test split has no rows")
	if text := (Split{Shape: Shape{1, 2}, Values: Values{Rows: 3}}).String(); text != "3 rows of 1×2" {
		t.Errorf("the description is %q", text)
	}
}

// parts are bytes as numbers from 0 to 1.
func parts(values []uint8) (all []float32) {
	for _, v := range values {
		all = append(all, float32(v)/255)
	}
	return all
}

// fromFile opens a file as both the training and the test rows of a set.
func fromFile(t *testing.T, b Binarization, content []byte) (*Set, error) {
	path := filepath.Join(t.TempDir(), "rows.data")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return Spec{Name: path, Test: twin(t, path), Binarization: b}.Open()
}

// Rows of spins are read as bits, 0 for -1: in a file, and in a program. Spins in one part and a 0 in another
// are refused.
func TestSpinsAreBits(t *testing.T) {
	shape := Shape{Height: 1, Width: 3}
	set, err := FromRows("spins", shape, [][]float64{{-1, 1, 1}, {1, 1, -1}}, [][]float64{{1, 1, 1}})
	if err != nil {
		t.Fatal(err)
	}
	if got := set.Train().Floats(0, 1); !slices.EqualFunc(got, [][]float64{{0, 1, 1}, {1, 1, 0}}, slices.Equal) {
		t.Errorf("the rows are %v", got)
	}
	if got := set.Test().Floats(0)[0]; !slices.Equal(got, []float64{1, 1, 1}) {
		t.Errorf("the test row is %v", got)
	}
	path := filepath.Join(t.TempDir(), "spins.csv")
	if err := os.WriteFile(path, []byte("-1,1,1\n1,1,-1\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if set, err = Open(path); err != nil {
		t.Fatal(err)
	}
	if text := set.Description(); !strings.Contains(text, "spins of -1 and 1") {
		t.Errorf("the set is described as %s", text)
	}
	if _, err := FromRows("mixed", shape, [][]float64{{-1, 1, 1}, {1, 1, -1}}, [][]float64{{0, 1, 1}}); err == nil || !strings.Contains(err.Error(), "-1 is not in [0, 1]") {
		t.Errorf("spins beside bits give the error %v", err)
	}
}

// Rows keep their weights when rows are held out, the fingerprint depends on them, and weights that rows
// cannot have are refused.
func TestWeightsOfRows(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	// The number of ones in a row is its weight.
	rows := write("rows.txt", strings.Repeat("0 0 1\n0 1 1\n1 1 1\n", 10))
	spec := Spec{Name: rows, WeightFile: write("weights.txt", strings.Repeat("1\n2\n3\n", 10)), Validation: new(7)}
	set, err := spec.Open()
	if err != nil {
		t.Fatal(err)
	}
	train := set.Train()
	for i, row := range train.Floats() {
		if want := row[0] + row[1] + row[2]; train.Weights[i] != want {
			t.Errorf("row %v has the weight %v", row, train.Weights[i])
		}
	}
	plain := spec
	plain.WeightFile = ""
	if other, err := plain.Open(); err != nil || other.Fingerprint() == set.Fingerprint() {
		t.Errorf("the fingerprint does not depend on the weights (%v)", err)
	}
	for says, text := range map[string]string{
		"2 weights for 30 rows": "1\n2\n", "below 0": strings.Repeat("1\n-2\n3\n", 10), "all training rows have the weight 0": strings.Repeat("0\n", 30),
	} {
		spec.WeightFile = write("wrong.txt", text)
		if _, err := spec.Open(); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("weights %q give the error %v, want one that says %s", text, err, says)
		}
	}
	if _, err := (Spec{Name: "3by3", WeightFile: rows}).Open(); err == nil || !strings.Contains(err.Error(), "a file of your own") {
		t.Errorf("weights of a named set give the error %v", err)
	}
}

// Positive and skewed columns are named, unless their logarithms are as skewed, or the Spec or a schema gives their kind.
func TestSkewedColumns(t *testing.T) {
	text := "pay,half,age,loss\n"
	for i := range 60 {
		z := float64(i*i%61)/10 - 3
		text += fmt.Sprintf("%.2f,%.4f,%.1f,%.2f\n", math.Exp(1.5*z+5), 1+math.Pow(float64(i)/59, 30), 40+z, -math.Exp(1.5*z))
	}
	path := written(t, "rows.csv", text)
	for _, c := range []struct {
		spec Spec
		want bool
	}{{Spec{}, true}, {Spec{Standardize: true}, true}, {Spec{Columns: "pay=real"}, false}, {Spec{Columns: "pay=log"}, false}, {Spec{Rules: FirstRules}, false}} {
		spec, want := c.spec, c.want
		spec.Name, spec.Binarization = path, Real
		if notice := opened(t, spec).Notice(); strings.Contains(notice, `skewed numbers ("pay")`) != want {
			t.Errorf("%+v: notice %q", spec, notice)
		}
	}
}
