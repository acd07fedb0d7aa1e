package dataset

import (
	"errors"
	"iter"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	files "github.com/helmholtz-go/helmholtz/internal/file"
)

// yielded yields rows, and then an error unless it is nil.
func yielded(rows [][]float64, err error) iter.Seq2[[]float32, error] {
	return func(yield func([]float32, error) bool) {
		row := []float32{}
		for _, numbers := range rows {
			row = row[:0]
			for _, v := range numbers {
				row = append(row, float32(v))
			}
			if !yield(row, nil) {
				return
			}
		}
		if err != nil {
			yield(nil, err)
		}
	}
}

// A sequence of rows becomes the set that the same rows in memory become, to the byte, and takes no memory.
func TestSequenceOfRowsIsTheSetOfTheRows(t *testing.T) {
	shape := Shape{2, 3}
	var made [][]float64
	for r := range 40 {
		row := make([]float64, shape.Units())
		for i := range row {
			row[i] = float64(float32(r*r+7*i*r+i) / 97)
			row[i] -= math.Floor(row[i])
		}
		made = append(made, row)
	}
	for _, spec := range []Spec{
		{}, {Binarization: Drawn, Seed: 3}, {Binarization: Gray, Validation: new(7)}, {Binarization: Stochastic, Subset: 5, Largest: 2},
		{Binarization: Real, Validation: new(3), Seed: 2}, {Binarization: Real, Largest: 3},
	} {
		spec.Name = "mine"
		want, err := spec.FromRows(shape, made, nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := spec.FromSeq(Schema{Shape: shape}, yielded(made, nil))
		if err != nil {
			t.Fatal(err)
		}
		if got.Fingerprint() != want.Fingerprint() || got.String() != want.String() || got.Notice() != want.Notice() || !got.MadeFromRows() || got.Spec().Binarization != spec.Binarization {
			t.Errorf("%+v: %v with the fingerprint %.8s, want %v with %.8s", spec, got, got.Fingerprint(), want, want.Fingerprint())
		}
		if got.Train().Size() != 0 || got.Train().Check() != nil || !slices.Equal(got.Train().Select([]int{1}).Bytes(), want.Train().Select([]int{1}).Bytes()) {
			t.Errorf("%+v: the rows take %d bytes, or row 2 is %v", spec, got.Train().Size(), got.Train().Floats(1))
		}
		for _, of := range []*Set{want, got} {
			again := loadedFromFile(t, of)
			inFile := of == got && want.Train().AreReal() || want.Train().AreGrey()
			if again.Fingerprint() != want.Fingerprint() || inFile && again.Train().Size() != 0 {
				t.Errorf("%+v: stored and loaded, the set is %v, whose training rows take %d bytes", spec, again, again.Train().Size())
			}
		}
	}
}

// loadedFromFile stores a set, and loads it without its rows.
func loadedFromFile(t *testing.T, of *Set) *Set {
	most := mostLoaded
	mostLoaded = 0
	defer func() { mostLoaded = most }()
	path := filepath.Join(t.TempDir(), "stored")
	if err := os.WriteFile(path, stored(t, of), 0o600); err != nil {
		t.Fatal(err)
	}
	f, size, err := files.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	set, err := LoadFile(f, size)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// Rows that FromRows refuses are refused with their numbers, and an error of the sequence is passed on.
func TestSequencesOfRowsRefuse(t *testing.T) {
	broken, spec := errors.New("the connection broke"), Spec{Name: "mine"}
	_, err := spec.FromSeq(Schema{Shape: Shape{1, 2}}, yielded([][]float64{{0, 1}, {1, 1}}, broken))
	if wantError(t, err, "data set mine: row 3: "); !errors.Is(err, broken) {
		t.Errorf("the error is %v", err)
	}
	for says, rows := range map[string][][]float64{
		"row 2 has 3 values": {{0, 1}, {0, 1, 1}}, "row 3, value 2 of the row: 1.5 is not in [0, 1]": {{0, 1}, {1, 0}, {0, 1.5}}, "row 1, value 1 of the row: a missing value": {{math.NaN(), 0}},
		"no rows to train on": nil, "1 row is too few": {{0, 1}}, "rounding at one half makes every value 0": {{0.1, 0.2}, {0.1, 0.3}},
	} {
		_, err := spec.FromSeq(Schema{Shape: Shape{1, 2}}, yielded(rows, nil))
		wantError(t, err, says)
	}
	_, err = spec.FromSeq(Schema{Shape: Shape{1, 2}, Columns: []Column{{Name: "x", Kind: RealColumn, Units: 1}}}, yielded(nil, nil))
	wantError(t, err, "the columns of the schema have 1 unit, but its shape is 1×2")
	_, err = Spec{Name: "mine", Binarization: Real, Standardize: true}.FromSeq(Schema{Shape: Shape{1, 2}}, yielded(nil, nil))
	wantError(t, err, "omit standardize")
	_, err = Spec{Name: "mine", Binarization: Real, Gaps: true}.FromSeq(Schema{Shape: Shape{1, 2}}, yielded([][]float64{{math.NaN(), 0}, {1, 2}}, nil))
	wantError(t, err, "rows on disk keep no missing values")
}
