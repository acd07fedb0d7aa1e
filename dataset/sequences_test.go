package dataset

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The mean of log p of the sequences of voices under their grammar is what VoicesEntropy says, within four
// standard errors.
func TestVoicesHaveTheirEntropy(t *testing.T) {
	set, err := Open("voices")
	if err != nil {
		t.Fatal(err)
	}
	rows, start := set.Train(), stationary()
	sum, squares, n := 0.0, 0.0, float64(rows.Rows)
	for i := range rows.Rows {
		logP, before := 0.0, -1
		for _, step := range rows.Sequence(i) {
			at := 0
			for v := range voices {
				at = at*voicePitches + slices.Index(step[v*voicePitches:(v+1)*voicePitches], 1)
			}
			if before < 0 {
				logP += math.Log(start[at])
			} else {
				logP += math.Log(chordAt(before).successors()[at])
			}
			before = at
		}
		sum, squares = sum+logP, squares+logP*logP
	}
	first, next := VoicesEntropy()
	want := -first - (voicesSteps-1)*next
	se := math.Sqrt((squares/n - sum/n*sum/n) / n)
	if got := sum / n; math.Abs(got-want) > 4*se {
		t.Errorf("log p of a sequence is %v ± %v, and the grammar's entropy says %v", got, se, want)
	}
}

// Balls keep their speed when they bounce off each other, up to what a wall turns round, and never leave the box.
func TestBallsKeepTheirEnergy(t *testing.T) {
	set, err := Spec{Name: "balls", Validation: new(0)}.Open()
	if err != nil {
		t.Fatal(err)
	}
	balls := [3]ball{{at: [2]float64{3, 4}, by: [2]float64{0.75, 0}}, {at: [2]float64{9, 4}, by: [2]float64{0, 0.75}}, {at: [2]float64{8, 10}, by: [2]float64{-0.75, 0}}}
	for range 1000 {
		moveBalls(&balls)
		energy := 0.0
		for _, b := range balls {
			energy += b.by[0]*b.by[0] + b.by[1]*b.by[1]
			if min(b.at[0], b.at[1]) < 0 || max(b.at[0], b.at[1]) > ballsSide {
				t.Fatalf("a ball is at %v", b.at)
			}
		}
		if math.Abs(energy-3*0.75*0.75) > 1e-9 {
			t.Fatalf("the energy is %v", energy)
		}
	}
	for i, on := range set.Test().Sequence(7) {
		if n := countOn(on); n < 8 || n > 36 {
			t.Errorf("step %d has %d pixels, three balls of radius 1.8 have some 30", i, n)
		}
	}
}

func countOn(step []float64) (n int) {
	for _, v := range step {
		n += int(v)
	}
	return n
}

func TestSequencesOfOnesOwn(t *testing.T) {
	dir := t.TempDir()
	path := own(t, dir, "own.json", `{"keys": [60, 64], "train": [[[60, 64], []], [[61]], [[62]]], "valid": [[[63], [63], [63]]], "test": [[[60]]]}`)
	set, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := set.Train().Sequence(0); set.Shape() != (Shape{3, 5}) || !slices.EqualFunc(got, [][]float64{{1, 0, 0, 0, 1}, {0, 0, 0, 0, 0}}, slices.Equal) {
		t.Errorf("rows of %v, the first of which is %v", set.Shape(), got)
	}
	if got := set.Validation().Lengths; !slices.Equal(got, []int{3}) {
		t.Errorf("lengths of validation sequences are %v", got)
	}
	longer := own(t, dir, "longer.json", `{"keys": [60, 64], "train": [[[60, 64]], [[61]], [[62]]], "valid": [[[63], [63], [63]]], "test": [[[60]]]}`)
	if other, err := Open(longer); err != nil || other.Fingerprint() == set.Fingerprint() {
		t.Errorf("a silent last step leaves the fingerprint as it is (%v)", err)
	}
	var stored bytes.Buffer
	if err := set.Save(&stored); err != nil {
		t.Fatal(err)
	}
	back, err := Load(bytes.NewReader(stored.Bytes()))
	if err != nil || !slices.Equal(back.Train().Lengths, set.Train().Lengths) || back.Fingerprint() != set.Fingerprint() {
		t.Errorf("stored and loaded, the set is %v (%v)", back, err)
	}
	if some := set.Train().Subset(2, 1); len(some.Lengths) != 2 {
		t.Errorf("two rows have the lengths %v", some.Lengths)
	}
	real := own(t, dir, "real.json", `{"train": [[[0.5, -2]], [[1, 2], [3, 4]]], "test": [[[0, 1]]]}`)
	numbers, err := Spec{Name: real, Binarization: Real}.Open()
	if err != nil || !slices.EqualFunc(numbers.Train().Sequence(1), [][]float64{{1, 2}, {3, 4}}, slices.Equal) {
		t.Errorf("%v (%v)", numbers, err)
	}
}

// ReadRows reads sequences of any length, if their units are the units of the set.
func TestReadRowsReadsSequences(t *testing.T) {
	dir := t.TempDir()
	set, err := Open(own(t, dir, "own.json", `{"keys": [60, 62], "train": [[[60], []], [[61]], [[62]]]}`))
	if err != nil {
		t.Fatal(err)
	}
	voices, err := Open("voices")
	if err != nil {
		t.Fatal(err)
	}
	six := "[" + strings.Repeat("[1,0,0,1,0,0],", 99) + "[1,0,0,1,0,0]]" // as many values as 50 steps of 12 units
	twelve := "[[1,0,0,1,0,0,1,0,0,1,0,0]]"
	for _, c := range []struct {
		set        *Set
		text, says string
		steps      int
	}{
		{set, `{"keys": [60, 62], "train": [[[60]]]}`, "", 1},
		{set, `{"keys": [60, 62], "train": [[[60]], [[], [], [62]]]}`, "", 3},
		{set, `{"train": [[[0, 1, 0]]]}`, "", 1},
		{set, `{"keys": [48, 50], "train": [[[48], []]]}`, "keys = [48 50], but the training sequences have the keys [60 62]: give the same keys", 0},
		{set, `{"keys": [60, 63], "train": [[[60], []]]}`, "has 4 units per step", 0},
		{set, "1 0 1 0 1 0\n", "only one of", 0},
		{voices, `{"train": [` + twelve + `]}`, "", 1},
		{voices, `{"train": [` + six + `]}`, "own.json has 6 units per step, but voices has 12: give sequences of the same units", 0},
		{voices, strings.Repeat("1 ", 600) + "\n", "only one of", 0},
	} {
		rows, err := c.set.ReadRows(own(t, t.TempDir(), "own.json", c.text))
		if err == nil && c.says == "" {
			err = rows.Check()
		}
		if c.says == "" && (err != nil || rows.Shape != Shape{c.steps, c.set.Shape().Width}) {
			t.Errorf("%.60s: rows of %v, want %d steps (%v)", c.text, rows.Shape, c.steps, err)
		}
		if c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%.60s: the error is %v, want %q in it", c.text, err, c.says)
		}
	}
	low := own(t, dir, "low.json", `{"keys": [48, 50], "train": [[[48], []]]}`)
	if _, err := (Spec{Name: set.Name(), Test: low}).Open(); err == nil || !strings.Contains(err.Error(), "keys = [48 50]") {
		t.Errorf("test sequences of other keys: the error is %v", err)
	}
}

// An archive of arrays has sequences if it has their lengths, and what follows the last step does not count.
func TestSequencesOfArrays(t *testing.T) {
	array := func(kind, shape, values string) string {
		return string(npyFile(fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': %s, }", kind, shape), []byte(values)))
	}
	archive := func(arrays map[string]string) string { return archiveOf(t, arrays) }
	train := array("|u1", "(2, 3, 2)", "\x01\x00\x00\x01\x01\x01\x01\x01\x00\x00\x00\x00")
	test := array("|u1", "(1, 3, 2)", "\x00\x01\x00\x00\x00\x01")
	set, err := Open(archive(map[string]string{"train": train, "train_lengths": array("|u1", "(2,)", "\x02\x03"), "test": test, "test_lengths": array("|u1", "(1,)", "\x03")}))
	if err != nil {
		t.Fatal(err)
	}
	all := map[int][][]float64{}
	for _, rows := range []Split{set.Train(), set.Validation()} {
		for i := range rows.Rows {
			all[rows.Lengths[i]] = rows.Sequence(i)
			if values := rows.Floats(i)[0]; rows.Lengths[i] == 2 && (values[4] != 0 || values[5] != 0) {
				t.Errorf("after the last step the row has %v", values)
			}
		}
	}
	if !slices.EqualFunc(all[2], [][]float64{{1, 0}, {0, 1}}, slices.Equal) || !slices.EqualFunc(all[3], [][]float64{{1, 1}, {0, 0}, {0, 0}}, slices.Equal) || !slices.Equal(set.Test().Lengths, []int{3}) {
		t.Errorf("the sequences are %v", all)
	}
	for says, arrays := range map[string]map[string]string{
		"array lengths: 1 length for 2 rows: give one per sequence":                  {"train": train, "lengths": array("|u1", "(1,)", "\x02")},
		"array lengths: sequence 2 has 4 steps, but rows hold from 1 to 3":           {"train": train, "lengths": array("|u1", "(2,)", "\x02\x04")},
		"array lengths: sequence 1 has 0 steps":                                      {"train": train, "lengths": array("|u1", "(2,)", "\x00\x03")},
		"some rows have lengths and others have none":                                {"train": train, "lengths": array("|u1", "(2,)", "\x02\x03"), "test": test},
		"array lengths: lengths belong to sequences: save them as sequences × steps": {"train": array("|u1", "(2, 3)", "\x01\x00\x00\x01\x01\x01"), "lengths": array("|u1", "(2,)", "\x01\x01")},
		"array lengths: the length 1.5 is not a whole number":                        {"train": train, "lengths": array("<f4", "(2,)", "\x00\x00\xc0\x3f\x00\x00\xc0\x3f")},
	} {
		if _, err := Open(archive(arrays)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("the error is %v, want %q in it", err, says)
		}
	}
}

// archiveOf writes a NumPy archive.
func archiveOf(t *testing.T, arrays map[string]string) string {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, text := range arrays {
		w, err := z.Create(name + ".npy")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, text); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return own(t, t.TempDir(), "own.npz", b.String())
}

func TestDamagedSequencesAreRefused(t *testing.T) {
	dir := t.TempDir()
	for text, says := range map[string]string{
		`{"train": [[[1, 0], [1]]]}`:                  "train, sequence 1, step 2: 1 value, but the first step of the file has 2",
		`{"train": []}`:                               "no sequences to train on",
		`{"train": [[]]}`:                             "no values",
		`{"train": [[[1]], []]}`:                      "train, sequence 2: it has no steps: leave it out",
		`{"keys": [60, 64], "train": [[[60], [65]]]}`: "train, sequence 1, step 2: the key 65 is not a whole number from 60 to 64",
		`{"keys": [60, 64], "train": [[[60.5]]]}`:     "the key 60.5 is not",
		`{"keys": [64, 60], "train": [[[60]]]}`:       "keys = [64 60]: give the lowest and the highest key",
		`{"train": [[["c"]]]}`:                        "JSON of sequences",
		`{"notes": [[[60]]]}`:                         `unknown key "notes"`,
		`{"train": [[[1]]]} {}`:                       "keep one object",
		`{"keys": [0, 65535], "train": [` + strings.Repeat(`[[1]],`, 200_000) + `[` + strings.Repeat(`[],`, 1000) + `[]]]}`: "every sequence is stored at the length of the longest, 1001 steps of 65536 units",
	} {
		if _, err := Open(own(t, dir, "own.json", text)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%.80s: the error is %v, want %q in it", text, err, says)
		}
	}
}

func own(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// JSON that encoding/json reads as something else is refused. Runs that read it by the first rules read it as they did.
func TestDoubtfulJSON(t *testing.T) {
	for text, says := range map[string]string{
		`{"keys": [60, 62], "train": [[[60], null], [[62]]]}`:                   "train[0][1] is null",
		`{"keys": [0, 2], "train": [[[0], [null]], [[2]]]}`:                     "train[0][1][0] is null",
		`{"train": [[[1], [null]], [[0]]]}`:                                     "train[0][1][0] is null",
		`{"train": [[[1], [0]], [[0]]], "valid": null}`:                         "valid is null",
		`{"train": [[[0]]], "train": [[[1], [0]], [[0]]]}`:                      `the key "train" stands twice`,
		`{"train": [[[1], [0]], [[0]]], "test": [[[1]]], "Test": [[[0]]]}`:      `unknown key "Test" (did you mean "test"?)`,
		`{"train": [[[1], [0]], [[0]]], "test": [[[1]]], "te\u0073t": [[[0]]]}`: `the key "test" stands twice`,
	} {
		spec := Spec{Name: written(t, "rows.json", text)}
		_, err := spec.Open()
		wantError(t, err, says)
		if _, err := spec.OpenedBefore().Open(); err != nil {
			t.Errorf("by the first rules: %v", err)
		}
	}
	set := opened(t, Spec{Name: written(t, "rows.json", `{"train": [[[1]], [[0]]]}`)})
	_, err := set.ReadRows(written(t, "new.json", `{"train": [[[null]]]}`))
	wantError(t, err, "train[0][0][0] is null")
}

// A stored set keeps its keys, so that ReadRows refuses sequences of other keys.
func TestStoredSetsKeepTheirKeys(t *testing.T) {
	set := opened(t, Spec{Name: written(t, "keys.json", `{"keys": [30, 32], "train": [[[30], [31, 32]], [[32]]]}`)})
	var b bytes.Buffer
	if err := set.Save(&b); err != nil {
		t.Fatal(err)
	}
	file := b.Bytes()
	loaded, err := Load(bytes.NewReader(file))
	if err != nil || !slices.Equal(loaded.Keys(), []int{30, 32}) {
		t.Fatalf("%v, %v", loaded, err)
	}
	_, err = loaded.ReadRows(written(t, "other.json", `{"keys": [31, 33], "train": [[[31]]]}`))
	wantError(t, err, "keys = [31 33], but the training sequences have the keys [30 32]")
	_, err = Load(bytes.NewReader(bytes.Replace(file, []byte(`"keys":[30,32]`), []byte(`"keys":[30,33]`), 1)))
	wantError(t, err, "damaged")
}

// Parts and files of sequences may be padded to different lengths.
func TestSequencesOfDifferentLengths(t *testing.T) {
	first := written(t, "first.json", `{"train": [[[1, 0], [0, 1]], [[1, 1]]]}`)
	second := written(t, "second.json", `{"train": [[[0, 1], [1, 1], [1, 0]]]}`)
	for _, c := range [][2]string{{first, second}, {second, first}} {
		set := opened(t, Spec{Name: c[0], Test: c[1], Validation: new(0)})
		if set.Shape() != (Shape{3, 2}) || set.Test().Shape != set.Shape() || set.Train().Check() != nil || set.Test().Check() != nil {
			t.Errorf("%v with tests of %v", set, set.Test().Shape)
		}
		for _, split := range []Split{set.Train(), set.Test()} {
			for r := range split.Rows {
				if steps := split.Sequence(r); len(steps) == 3 && !slices.Equal(steps[2], []float64{1, 0}) || len(steps) == 1 && !slices.Equal(steps[0], []float64{1, 1}) {
					t.Errorf("a sequence of %s has the steps %v", split.Name, steps)
				}
			}
		}
	}
	_, err := Spec{Name: first, Test: written(t, "wide.json", `{"train": [[[0, 1, 1]]]}`)}.Open()
	wantError(t, err, "rows of shape 2×2", "rows of shape 2×3")
}

// Arrays of MATLAB with a length for each of their rows are sequences, also if steps are as many as rows or units.
func TestSequencesOfMATLAB(t *testing.T) {
	for _, size := range [][]int{{5, 4, 3}, {4, 4, 3}, {3, 4, 4}} {
		lengths := make([]float64, size[0])
		for i := range lengths {
			lengths[i] = float64(1 + i%size[1])
		}
		arrays := []tensor{{name: "train", size: size, bytes: make([]uint8, product(size))}, {name: "train_lengths", size: []int{1, size[0]}, numbers: lengths}}
		arrays, err := turned(arrays, "")
		if err != nil {
			t.Fatal(err)
		}
		data, err := arrange(arrays, "", true)
		if err != nil || data.train.Shape != (Shape{size[1], size[2]}) || len(data.train.Lengths) != size[0] {
			t.Errorf("size %v: shape %v with %d lengths, %v", size, data.train.Shape, len(data.train.Lengths), err)
		}
	}
}
