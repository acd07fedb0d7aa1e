package dataset

import (
	"compress/gzip"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// emptyFolders points the search for files at two folders that are empty.
func emptyFolders(t *testing.T) (data, cache string) {
	t.Helper()
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CACHE_HOME", home)
	t.Setenv(Environment, t.TempDir())
	folders, err := Folders()
	if err != nil {
		t.Fatal(err)
	}
	return folders[0], folders[1]
}

func write(t *testing.T, file []byte, path ...string) {
	t.Helper()
	target := filepath.Join(path...)
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(target, file, 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestNamedSetsOfTheRealData(t *testing.T) {
	if os.Getenv(Environment) == "" {
		t.Logf("%s is not set: nothing of the real data is checked", Environment)
		return
	}
	for _, info := range List() {
		t.Run(info.Name, func(t *testing.T) {
			if !info.Ready() {
				t.Fatalf("files are missing: %v", info.Files)
			}
			spec := Spec{Name: info.Name, Binarization: Stochastic}
			s, err := spec.Open()
			if err != nil && strings.Contains(err.Error(), "use binarization real") {
				spec.Binarization = Real
				s, err = spec.Open()
			}
			if err != nil {
				t.Fatal(err)
			}
			if s.Shape() != info.Shape || s.Train().Rows != info.Train || s.Validation().Rows != info.Validation || s.Test().Rows != info.Test {
				t.Errorf("%d, %d and %d rows of shape %v, want %d, %d and %d of %v",
					s.Train().Rows, s.Validation().Rows, s.Test().Rows, s.Shape(),
					info.Train, info.Validation, info.Test, info.Shape)
			}
			for _, split := range []Split{s.Train(), s.Validation(), s.Test()} {
				if split.Units != info.Shape.Units() {
					t.Errorf("%s has rows of %d values", split.Name, split.Units)
				}
			}
		})
	}
}

// The first test image of MNIST is a 7, and 6,742 training images are ones.
func TestRealMNIST(t *testing.T) {
	if os.Getenv(Environment) == "" {
		t.Logf("%s is not set: nothing of the real data is checked", Environment)
		return
	}
	s, err := Spec{Name: "mnist", Validation: new(0)}.Open()
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Test().Labels[0]; got != 7 {
		t.Errorf("the first test image has label %d", got)
	}
	ones := 0
	for _, label := range s.Train().Labels {
		if label == 1 {
			ones++
		}
	}
	if ones != 6742 {
		t.Errorf("%d training images are ones", ones)
	}
	for _, c := range collections() {
		for _, f := range c.files {
			if f.sha256 == "" {
				continue
			}
			path, err := c.locate(f)
			if err != nil {
				t.Fatal(err)
			}
			if valid, err := f.verify(path); !valid {
				t.Errorf("%s does not verify (%v)", path, err)
			}
			if f.unpackedSHA256 == "" {
				continue
			}
			packed, err := os.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer packed.Close()
			unpacked, err := gzip.NewReader(packed)
			if err != nil {
				t.Fatal(err)
			}
			if valid, err := f.matches(unpacked); !valid {
				t.Errorf("%s does not verify unpacked (%v)", path, err)
			}
		}
	}
}

func TestMissingFilesAreNamedWithTheRemedy(t *testing.T) {
	data, cache := emptyFolders(t)
	_, err := Open("mnist")
	wantError(t, err, "mnist", filepath.Join(data, "mnist", "train-images-idx3-ubyte.gz"),
		filepath.Join(cache, "mnist", "train-images-idx3-ubyte.gz"), "helmholtz data get mnist", Environment)
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v is not fs.ErrNotExist", err)
	}
	_, err = Open("uci/dna")
	wantError(t, err, "uci/dna", filepath.Join(data, "uci", "dna", "dna.train.data.gz"), "put it there", Environment)
}

// A path that does not exist is answered by the closest file or folder, or by the folder from which paths start, and the name of a set
// that is misspelt by the closest set.
func TestPathsThatDoNotExist(t *testing.T) {
	t.Chdir(t.TempDir())
	start, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"people.json", "people.csv", "tables/trees.csv.gz"} {
		write(t, []byte("a,b\n1,2\n"), filepath.FromSlash(path))
	}
	const given = "give the whole path of a file, or its path from the folder "
	for name, want := range map[string]string{
		"peple.csv": `no such file or directory (did you mean "people.csv"?)`, "people.tsv": `did you mean "people.csv"?`, "poeple.json": `did you mean "people.json"?`,
		"people": `did you mean "people.csv"?`, "tables/tree.csv": `did you mean "tables/trees.csv.gz"?`, "table/trees.csv.gz": `did you mean "tables"?`,
		"nosuch.csv": given + start, "nowhere/at/all.csv": given + start, "nosuch": given + start,
		"uci/mushroom": `did you mean "uci/mushrooms"?`, "mnsit": `did you mean "mnist"?`,
	} {
		_, err := Open(name)
		wantError(t, err, want)
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%v is not fs.ErrNotExist", err)
		}
		if isFile := filepath.Ext(name) != ""; isFile && strings.Contains(err.Error(), "mnist") {
			t.Errorf("the error for the file %s lists sets: %v", name, err)
		}
	}
	for _, s := range []Spec{{Name: "people.csv", Test: "peple.csv"}, {Name: "people.csv", Schema: "people.jsn"}, {Name: "people.csv", LabelFile: "people.txt"}} {
		_, err := s.Open()
		wantError(t, err, `did you mean "people.`)
	}
}

func TestListSaysWhatIsPresent(t *testing.T) {
	data, cache := emptyFolders(t)
	write(t, nil, data, "uci", "dna", "dna.train.data")
	write(t, nil, cache, "uci", "dna", "dna.test.data.gz")
	for _, info := range List() {
		switch info.Name {
		case "glyphs", "miniglyphs", "taggedglyphs", "fontglyphs", "3by3", "shifteddots":
			if !info.Ready() || len(info.Files) != 0 {
				t.Errorf("%s waits for files: %v", info.Name, info.Files)
			}
		case "uci/dna":
			want := []File{
				{filepath.Join(data, "uci", "dna", "dna.train.data"), true},
				{filepath.Join(data, "uci", "dna", "dna.valid.data.gz"), false},
				{filepath.Join(cache, "uci", "dna", "dna.test.data.gz"), true},
			}
			if !slices.Equal(info.Files, want) || info.Ready() || info.Offered {
				t.Errorf("%+v, want the files %v", info, want)
			}
		case "mnist":
			if info.Ready() || !info.Offered || info.Train != 50_000 || info.Validation != 10_000 || info.Test != 10_000 {
				t.Errorf("%+v", info)
			}
		}
	}
}

// toy is a set of two training images and a test image.
func toy() collection {
	return collection{
		name: "toy", shape: Shape{2, 2}, train: 2, test: 1, read: readIDXFiles, folder: "toy",
		files: []file{{name: "train.gz"}, {name: "train-labels.gz"}, {name: "test.gz"}, {name: "test-labels.gz"}},
	}
}

func writeToy(t *testing.T, folder string) {
	t.Helper()
	write(t, compress(idx(0x803, []uint32{2, 2, 2}, 0, 255, 255, 0, 253, 255, 1, 2)), folder, "toy", "train.gz")
	write(t, compress(idx(0x801, []uint32{2}, 3, 4)), folder, "toy", "train-labels.gz")
	write(t, idx(0x803, []uint32{1, 2, 2}, 9, 8, 7, 6), folder, "toy", "test")
	write(t, idx(0x801, []uint32{1}, 5), folder, "toy", "test-labels")
}

func TestIDXFilesCarryTheirLabels(t *testing.T) {
	_, cache := emptyFolders(t)
	writeToy(t, cache)
	data, err := toy().load()
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(data.train.Labels, []uint8{3, 4}) || !slices.Equal(data.test.Labels, []uint8{5}) {
		t.Errorf("labels %v and %v", data.train.Labels, data.test.Labels)
	}
	if !slices.Equal(data.test.Bytes(), []uint8{9, 8, 7, 6}) {
		t.Errorf("test values %v", data.test.Bytes())
	}
}

func TestFilesOfAnotherSetAreRefused(t *testing.T) {
	data, _ := emptyFolders(t)
	writeToy(t, data)
	more := toy()
	more.train = 3
	_, err := more.load()
	wantError(t, err, "2 training rows", "toy", "3 of shape 2×2 expected")
	wider := toy()
	wider.shape = Shape{2, 3}
	_, err = wider.load()
	wantError(t, err, "shape 2×2", "2×3 expected")

	write(t, idx(0x801, []uint32{3}, 1, 2, 3), data, "toy", "train-labels.gz")
	_, err = toy().load()
	wantError(t, err, "train.gz has 2 images", "train-labels.gz has 3 labels")
}

func TestPartsOfImages(t *testing.T) {
	images := bytesOf(Shape{4, 3}, []uint8{
		0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11,
		20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31,
	}, []uint8{6, 7})
	for i, want := range [][]uint8{{4, 7}, {24, 27}} {
		if got := images.crop(i, 1, 1, Shape{2, 1}); !slices.Equal(got, want) {
			t.Errorf("part of image %d: %v, want %v", i, got, want)
		}
	}
}

func TestShrinkingTakesMeansOfSquares(t *testing.T) {
	image := bytesOf(Shape{4, 4}, []uint8{
		0, 0, 255, 255,
		0, 0, 255, 255,
		255, 0, 255, 0,
		0, 255, 0, 254,
	}, []uint8{6})
	got := image.shrink()
	if got.Shape != (Shape{2, 2}) || !slices.Equal(got.Labels, image.Labels) {
		t.Errorf("shape %v, labels %v", got.Shape, got.Labels)
	}
	// The third mean is exactly one half, and so on; the fourth just below.
	if want := []uint8{0, 255, 128, 127}; !slices.Equal(got.Bytes(), want) {
		t.Errorf("means %v, want %v", got.Bytes(), want)
	}
	Spec{}.binarize(got.Split, nil)
	if want := []uint8{0, 255, 255, 0}; !slices.Equal(got.Bytes(), want) {
		t.Errorf("rounded means %v, want %v", got.Bytes(), want)
	}
}

// A column of a named set that becomes the label loses its units, and keeps its values as classes: with the rest as
// the last class, or, if it is binary, with off as the first.
func TestColumnOfANamedSetBecomesTheLabel(t *testing.T) {
	columns := []Column{
		{Name: "a", Kind: CategoricalColumn, Units: 2, Rest: true}, {Name: "b", Kind: BinaryColumn, First: 2, Units: 1}, {Name: "c", Kind: CategoricalColumn, First: 3, Units: 2},
	}
	for _, test := range []struct {
		column        string
		labels, first []uint8
		firsts        []int // units of the columns
	}{
		{"a", []uint8{1, 2}, []uint8{255, 0, 255}, []int{0, 0, 1}},
		{"b", []uint8{1, 0}, []uint8{0, 255, 0, 255}, []int{0, 2, 2}},
		{"c", []uint8{1, 0}, []uint8{0, 255, 255}, []int{0, 2, 3}},
	} {
		data := source{train: bytesOf(Shape{1, 5}, []uint8{0, 255, 255, 0, 255, 0, 0, 0, 255, 0}, nil), test: bytesOf(Shape{1, 5}, make([]uint8, 5), nil)}
		data.train.columns = columns
		if err := data.takeLabels(Spec{Name: "toy", Columns: test.column + "=label"}); err != nil {
			t.Fatal(err)
		}
		var firsts []int
		for _, c := range data.train.columns {
			firsts = append(firsts, c.First)
		}
		if !slices.Equal(data.train.Labels, test.labels) || !slices.Equal(data.train.Row(0), test.first) || !slices.Equal(firsts, test.firsts) || data.test.Shape != data.train.Shape {
			t.Errorf("%s: labels %v, row %v, columns from %v, shape of test rows %v", test.column, data.train.Labels, data.train.Row(0), firsts, data.test.Shape)
		}
	}
	for text, want := range map[string]string{"d=label": "a=label", "a=skip": "have their kinds", "b=label,c=label": "have their kinds"} {
		data := source{train: rows{columns: columns}}
		wantError(t, data.takeLabels(Spec{Name: "toy", Columns: text}), text, want)
	}
	_, err := Spec{Name: "miniglyphs", Columns: "a=label"}.Open()
	wantError(t, err, "a=label", "no columns")
}
