package dataset

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// wantMoments checks that numbers have mean 0 and standard deviation 1.
func wantMoments(t interface{ Errorf(string, ...any) }, values []float64) {
	m, v := 0.0, 0.0
	for _, x := range values {
		m += x / float64(len(values))
	}
	for _, x := range values {
		v += (x - m) * (x - m) / float64(len(values))
	}
	if !(math.Abs(m) < 1e-5 && math.Abs(math.Sqrt(v)-1) < 1e-5) {
		t.Errorf("%v have the mean %v and the standard deviation %v, want 0 and 1", values, m, math.Sqrt(v))
	}
}

func wantStandardized(t *testing.T, got Split, want [][]float64) {
	t.Helper()
	for r, row := range got.Floats() {
		if !slices.EqualFunc(row, want[r], func(v, w float64) bool { return math.Abs(v-w) < 1e-6 }) {
			t.Errorf("row %d is %v, want %v", r, row, want[r])
		}
	}
}

// Training rows have mean 0 and standard deviation 1, all rows stand for the numbers that were given, and a stored
// set keeps that.
func TestStandardize(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		spread := rapid.Float64Range(1e-3, 1e3).Draw(t, "spread")
		center := spread * rapid.Float64Range(-20, 20).Draw(t, "center")
		units := rapid.IntRange(1, 4).Draw(t, "units")
		var values [][]float64
		for r := range rapid.IntRange(8, 30).Draw(t, "rows") {
			row := make([]float64, units)
			for k := range row {
				row[k] = float64(float32(center + spread*math.Sin(float64(1+r*units+k))))
			}
			values = append(values, row)
		}
		spec := Spec{Name: "own", Binarization: Real, Standardize: true, Validation: new(2)}
		set, err := spec.FromRows(Shape{1, units}, values, values[:3])
		if err != nil {
			t.Fatal(err)
		}
		train := set.Train().Floats()
		for k := range units {
			var column []float64
			for _, row := range train {
				column = append(column, row[k])
			}
			wantMoments(t, column)
		}
		loaded, err := Load(bytes.NewReader(stored(t, set)))
		if err != nil {
			t.Fatal(err)
		}
		original := loaded.Original(Sheet{set.Shape(), set.Test().Floats()})
		for r, row := range original.Values {
			for k, v := range row {
				if math.Abs(v-values[r][k]) > 1e-5*(math.Abs(center)+spread) {
					t.Errorf("row %d, unit %d: %v, want %v", r, k, v, values[r][k])
				}
			}
		}
		if set.LogScale() != loaded.LogScale() {
			t.Errorf("log scale %v, stored %v", set.LogScale(), loaded.LogScale())
		}
	})
}

// Only real columns are standardised, constant ones become 0, and tables are written and read with the numbers of
// the file.
func TestStandardizeTables(t *testing.T) {
	text := "colour,height,flag,level\nred,150,0,7\nblue,170,1,7\ngreen,190,1,7\n"
	path := written(t, "people.csv", text)
	set := opened(t, Spec{Name: path, Test: twin(t, path), Validation: new(0), Binarization: Real, Standardize: true, Columns: "colour=categorical,height=real,level=real,flag=binary"})
	sd := 20 * math.Sqrt(2.0/3)
	want := [][]float64{{0, 0, 1, -20 / sd, 0, 0}, {1, 0, 0, 0, 1, 0}, {0, 1, 0, 20 / sd, 1, 0}}
	wantStandardized(t, set.Train(), want)
	if got := set.LogScale(); math.Abs(got-math.Log(sd)) > 1e-12 {
		t.Errorf("the log scale is %v, want %v", got, math.Log(sd))
	}
	var b strings.Builder
	if err := set.WriteCSV(&b, Sheet{set.Shape(), set.Train().Floats()}); err != nil || b.String() != text {
		t.Errorf("written is\n%s, error %v, want\n%s", b.String(), err, text)
	}
	rows, err := set.ReadRows(written(t, "more.csv", "colour,height,flag,level\nblue,210,0,8\n"))
	if err != nil {
		t.Fatal(err)
	}
	wantStandardized(t, rows, [][]float64{{1, 0, 0, 40 / sd, 0, 1}})
	if says := fmt.Sprintf("lower by %.4f nats", math.Log(sd)); !strings.Contains(set.Description(), says) {
		t.Errorf("the description does not say %q:\n%s", says, set.Description())
	}
	if set.ScaleNotice() != "" {
		t.Errorf("a standardised set has the notice %s", set.ScaleNotice())
	}
	refused := func(s Spec, parts ...string) {
		t.Helper()
		s.Name, s.Standardize = path, true
		_, err := s.Open()
		wantError(t, err, parts...)
	}
	refused(Spec{}, "binarization = fixed", "--binarization real")
	refused(Spec{Binarization: Real, Largest: 2}, "largest = 2", "omit")
	_, err = Spec{Name: "own", Binarization: Real, Standardize: true}.FromRows(Shape{2, 2}, [][]float64{{1, 2, 3, 4}, {4, 3, 2, 1}, {0, 0, 1, 1}}, nil)
	wantError(t, err, "images of 2×2", "omit standardize")
}

// Numbers on another scale have another fingerprint, although they are standardised alike, and rows are read on
// the scale of the set.
func TestStandardizedScales(t *testing.T) {
	values := [][]float64{{0.25, 0.5}, {0.75, 1}, {0.5, 0}, {1, 0.25}}
	sets := map[float64]*Set{}
	for _, by := range []float64{1, 1024} {
		var rows [][]float64
		for _, row := range values {
			rows = append(rows, []float64{by * row[0], by * row[1]})
		}
		var err error
		if sets[by], err = (Spec{Name: "own", Binarization: Real, Standardize: true, Validation: new(0)}).FromRows(Shape{1, 2}, rows, rows[:1]); err != nil {
			t.Fatal(err)
		}
	}
	if sets[1].Fingerprint() == sets[1024].Fingerprint() {
		t.Error("sets on different scales have one fingerprint")
	}
	_, err := sets[1].ReadRows(written(t, "large.csv", "10,255\n200,3\n"))
	wantError(t, err, "divide the former")
	if _, err := sets[1024].ReadRows(written(t, "large.csv", "10,255\n200,3\n")); err != nil {
		t.Error(err)
	}
}

// Rows count as often as their weights say, and rows of weight 0 do not count.
func TestStandardizeByWeights(t *testing.T) {
	of := Split{Shape: Shape{1, 1}, Values: Reals(1, []float32{1e6, 1, 4, 7}), Weights: []float64{0, 2, 1, 3}}
	if by, want := of.scalings(nil)[0], (Split{Shape: Shape{1, 1}, Values: Reals(1, []float32{1, 1, 4, 7, 7, 7})}).scalings(nil)[0]; math.Abs(by.Mean-want.Mean) > 1e-12 || math.Abs(by.SD-want.SD) > 1e-12 {
		t.Errorf("by weights %v, want %v", by, want)
	}
}

// A stored header must have a standard deviation above 0 for each unit.
func TestStoredScalings(t *testing.T) {
	header := storedHeader{Height: 1, Width: 2, Bits: 32, Spec: Spec{Name: "own", Binarization: Real, Standardize: true}, Scalings: []scaling{{0, 1}, {0, 2}}}
	header.Splits[0].Rows = 3
	if err := header.check(0); err != nil {
		t.Fatal(err)
	}
	for _, by := range [][]scaling{nil, {{0, 1}}, {{0, 1}, {0, 0}}, {{0, 1}, {0, -1}}} {
		header.Scalings = by
		wantError(t, header.check(0), "standard deviations for 2 units")
	}
	header.Height, header.Scalings = 2, []scaling{{0, 1}, {0, 2}} // of a step, but the rows are no sequences
	wantError(t, header.check(0), "for 4 units")
	header.Splits[0].Lengths = true
	if err := header.check(0); err != nil {
		t.Error(err)
	}
}

// The steps that pad sequences do not count, and stay 0.
func TestStandardizeSequences(t *testing.T) {
	of := Split{Shape: Shape{3, 2}, Values: Reals(6, []float32{1, 10, 3, 10, 0, 0 /* padding */, 5, 10, 7, 10, 9, 10}), Lengths: []int{2, 3}}
	by := of.scalings(nil)
	if want := []scaling{{5, math.Sqrt(8)}, {10, 1}}; math.Abs(by[0].SD-want[0].SD) > 1e-12 || by[0].Mean != want[0].Mean || by[1] != want[1] {
		t.Errorf("the scalings are %v, want %v", by, want)
	}
	of.standardize(by)
	if of.Reals()[4] != 0 || of.Reals()[5] != 0 || of.Reals()[8] != float32(2/math.Sqrt(8)) {
		t.Errorf("the steps are %v", of.Reals())
	}
}

// Numbers that real numbers of 32 bits cannot tell apart become ranges. A notice says so where real numbers were wanted, also from the
// cache.
func TestNumbersThatBecomeRanges(t *testing.T) {
	cached(t)
	text := "east,kind\n"
	for i := range 60 {
		text += fmt.Sprintf("%d.%d,%c\n", 5432100+i*i%31, i%10, 'a'+i%3)
	}
	spec := Spec{Name: written(t, "places.csv", text)}
	for range 2 {
		set, err := spec.OpenSuggested()
		if err != nil || set.Spec().Binarization != Fixed || !strings.HasPrefix(set.Notice(), "columns of numbers become ranges, since") {
			t.Errorf("error %v, notice %q", err, set.Notice())
		}
		if notice := opened(t, set.Spec()).Notice(); notice != "" {
			t.Errorf("notice %q", notice)
		}
	}
}
