package dataset

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func opened(t *testing.T, s Spec) *Set {
	t.Helper()
	set, err := s.Open()
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func countLabels(t *testing.T, s *Set) []int {
	t.Helper()
	count := make([]int, s.Classes())
	for _, label := range s.Train().Labels {
		if label != Unlabeled {
			count[label]++
		}
	}
	return count
}

// Of each class alike rows keep their label, those of a smaller number are among
// those of a larger one, other rows and labels are as they were, and another seed
// keeps others.
func TestLabelsAreKeptByClass(t *testing.T) {
	all := opened(t, Spec{Name: "glyphs"})
	few := opened(t, Spec{Name: "glyphs", Labels: 50})
	more := opened(t, Spec{Name: "glyphs", Labels: 200})
	for _, n := range countLabels(t, few) {
		if n != 5 {
			t.Fatalf("labels of %v rows a class are kept, want 5 of each", countLabels(t, few))
		}
	}
	for row, label := range few.Train().Labels {
		if label != Unlabeled && (label != more.Train().Labels[row] || label != all.Train().Labels[row]) {
			t.Fatalf("row %d has label %d of 50, %d of 200, %d of all", row, label, more.Train().Labels[row], all.Train().Labels[row])
		}
	}
	if !slices.Equal(few.Train().Bytes(), all.Train().Bytes()) || !slices.Equal(few.Test().Labels, all.Test().Labels) {
		t.Error("keeping labels changes rows or the labels of test rows")
	}
	if few.Fingerprint() == all.Fingerprint() || few.Fingerprint() == more.Fingerprint() {
		t.Error("sets of other labels have the same fingerprint")
	}
	other := opened(t, Spec{Name: "glyphs", Labels: 50, Validation: new(1000), Seed: 1})
	if slices.Equal(other.Train().Labels, few.Train().Labels) {
		t.Error("two seeds keep the same labels")
	}
}

// Labels of one's own, from a file of any format or from slices, go where their rows go.
func TestLabelsOfOnesOwn(t *testing.T) {
	dir := t.TempDir()
	at := func(name string, file []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, file, 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	var images [][2]float64
	var train [][]float64
	var text strings.Builder
	var labels []uint8
	for i := range 40 { // the class is in the pixels
		class := i % 3
		images = append(images, [2]float64{float64(class & 1), float64(class >> 1)})
		train = append(train, images[i][:])
		labels = append(labels, uint8(class))
		fmt.Fprintln(&text, class)
	}
	wide := make([]byte, 0, 8*len(labels))
	for _, label := range labels {
		wide = append(wide, label, 0, 0, 0, 0, 0, 0, 0)
	}
	rows := at("rows.npy", npyOf(len(images), slices.Concat(train...)...))
	sets := map[string]*Set{}
	for name, file := range map[string][]byte{
		"labels.txt": []byte(text.String()), "marked.txt": []byte("\ufeff" + text.String()), "labels.txt.gz": compress([]byte(text.String())),
		"labels.idx": idx(0x801, []uint32{40}, labels...), "labels.npy": labelsOf("<i8", 40, wide...),
	} {
		sets[name] = opened(t, Spec{Name: rows, LabelFile: at(name, file), Validation: new(5), Labels: 12, Seed: 3})
	}
	var err error
	if sets["slices"], err = (Spec{Name: "own", Validation: new(5), Labels: 12, Seed: 3}).FromLabeledRows(Shape{1, 2}, train, nil, labels, nil); err != nil {
		t.Fatal(err)
	}
	for name, set := range sets {
		for _, split := range []Split{set.Train(), set.Validation(), set.Test()} {
			if len(split.Labels) != split.Rows || split.Rows == 0 {
				t.Fatalf("%s: %d labels of %v", name, len(split.Labels), split)
			}
			for r, label := range split.Labels {
				if of := split.Row(r)[0]/255 + 2*(split.Row(r)[1]/255); label != of && (split.Name != "train" || label != Unlabeled) {
					t.Errorf("%s: row %d of %v has the label %d and the pixels of %d", name, r, split, label, of)
				}
			}
		}
		if n := countLabels(t, set); set.Classes() != 3 || !slices.Equal(n, []int{4, 4, 4}) {
			t.Errorf("%s: %d classes, and %v labels of them are kept", name, set.Classes(), n)
		}
	}
	first := opened(t, Spec{Name: rows, LabelFile: at("edited.txt", []byte(text.String()))})
	at("edited.txt", []byte("2"+text.String()[1:]))
	if edited := opened(t, first.Spec()); edited.Fingerprint() == first.Fingerprint() {
		t.Error("a set has the same fingerprint with other labels")
	}
	own := slices.Clone(labels)
	kept, err := (Spec{Name: "own"}).FromLabeledRows(Shape{1, 2}, train, train, own, own)
	if err != nil {
		t.Fatal(err)
	}
	own[0] = 9
	if kept.Classes() != 3 {
		t.Error("a set changes with the slice that it was made of")
	}
	few := at("few.txt", []byte("1\n2\n"))
	test := opened(t, Spec{Name: rows, Test: twin(t, rows), LabelFile: at("again.txt", []byte(text.String())), TestLabelFile: at("test.txt", []byte(text.String()))})
	if !slices.Equal(test.Test().Labels, labels) {
		t.Errorf("the test rows have the labels %v", test.Test().Labels)
	}
	_, slicesErr := Spec{Name: "own"}.FromLabeledRows(Shape{1, 2}, train, nil, labels[:3], nil)
	wantError(t, slicesErr, "training rows", "3 labels for 40 rows")
	for _, c := range []struct {
		spec Spec
		says []string
	}{
		{Spec{Name: rows, LabelFile: few}, []string{rows, few, "2 labels for 40 rows"}},
		{Spec{Name: rows, LabelFile: at("odd.txt", []byte("0\nseven\n"))}, []string{"odd.txt", "line 2", "seven"}},
		{Spec{Name: rows, LabelFile: at("large.txt", []byte("300\n"))}, []string{"line 1", "300 is not a class"}},
		{Spec{Name: rows, LabelFile: at("large.npy", labelsOf("<u2", 1, 1, 1))}, []string{"row 1", "257 is not a class"}},
		{Spec{Name: rows, LabelFile: at("huge.npy", labelsOf("<u8", 1, 255, 255, 255, 255, 255, 255, 255, 255))}, []string{"is not a class"}},
		{Spec{Name: rows, LabelFile: at("two.npy", labelsOf("|u1", 2, 1))}, []string{"two.npy", "ends after 1"}},
		{Spec{Name: rows, LabelFile: at("signs.txt", []byte(strings.Repeat("-1\n1\n", 20)))}, []string{"signs.txt", "-1 means no label", "write 0 and 1"}},
		{Spec{Name: rows, LabelFile: at("signs.npy", labelsOf("|i1", 40, []byte(strings.Repeat("\x01\xff", 20))...))}, []string{"signs.npy", "-1 means no label", "write 0 and 1"}},
		{Spec{Name: rows, LabelFile: rows}, []string{"one number per row is needed"}},
		{Spec{Name: rows, TestLabelFile: few}, []string{"give both"}},
		{Spec{Name: rows, LabelFile: at("ones.txt", []byte(strings.Repeat("1\n2\n", 20))), Labels: 12}, []string{"no training row is of class 0", "numbered from 0", "first_label = 1"}},
		{Spec{Name: rows, LabelFile: at("gap.txt", []byte(strings.Repeat("0\n2\n", 20))), Labels: 12}, []string{"no training row is of class 1", "without gaps"}},
		{Spec{Name: rows, LabelFile: at("rare.txt", []byte("0\n1\n"+strings.Repeat("1\n2\n", 19))), Subset: 6, Labels: 3}, []string{"none of the 6 training rows", "class 0", "keep more of them"}},
		{Spec{Name: rows, LabelFile: at("from one.txt", []byte(strings.Repeat("1\n2\n", 20))), Labels: 11}, []string{"first_label = 1"}},
		{Spec{Name: rows, LabelFile: at("two classes.txt", []byte(strings.Repeat("0\n1\n", 20))), Test: twin(t, rows), TestLabelFile: at("third class.txt", []byte(strings.Repeat("1\n2\n", 20))), Labels: 3},
			[]string{"none of the", "class 2"}},
		{Spec{Name: rows, LabelFile: at("from zero.txt", []byte(strings.Repeat("0\n1\n", 20))), FirstLabel: 1}, []string{"from zero.txt", "row 1 has the class 0", "first_label = 1"}},
		{Spec{Name: rows, Test: rows}, []string{rows, "the file of the training rows", "omit test"}},
		{Spec{Name: rows, Test: twin(t, rows), LabelFile: few, TestLabelFile: few}, []string{few, "the file of the training labels"}},
		{Spec{Name: rows, FirstLabel: 1}, []string{"first_label = 1", "label_file"}},
		{Spec{Name: rows, FirstLabel: -1}, []string{"first_label = -1"}},
		{Spec{Name: "glyphs", LabelFile: few}, []string{"glyphs", "a file of your own"}},
	} {
		_, err := c.spec.Open()
		wantError(t, err, c.says...)
	}
}

func TestLabelsThatCannotBeKept(t *testing.T) {
	for _, c := range []struct {
		spec Spec
		says string
	}{
		{Spec{Name: "3by3", Labels: 10}, "no labels"},
		{Spec{Name: "glyphs", Labels: 15}, "multiple of 10"},
		{Spec{Name: "glyphs", Labels: 100_000}, "give at most"},
		{Spec{Name: "glyphs", Labels: -10}, "positive"},
	} {
		if _, err := c.spec.Open(); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%d labels of %s: %v, want %q", c.spec.Labels, c.spec.Name, err, c.says)
		}
	}
}

// Labels that begin at 1 are shifted on demand, and before that no model is told to have one class more.
func TestLabelsThatBeginAtOne(t *testing.T) {
	dir := t.TempDir()
	rows, labels := filepath.Join(dir, "rows.txt"), filepath.Join(dir, "labels.txt")
	for path, text := range map[string]string{rows: strings.Repeat("0 1\n1 0\n", 20), labels: strings.Repeat("1\n2\n3\n-1\n", 10)} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	set := opened(t, Spec{Name: rows, LabelFile: labels})
	wantError(t, set.CheckClasses(3), "begin at 1 and end at 3", "first_label = 1", "--first-label 1")
	wantError(t, set.CheckClasses(2), "give classes = 4")
	shifted := opened(t, Spec{Name: rows, LabelFile: labels, FirstLabel: 1})
	if err := shifted.CheckClasses(3); err != nil {
		t.Error(err)
	}
	for i, label := range shifted.Train().Labels {
		if was := set.Train().Labels[i]; was == Unlabeled && label != Unlabeled || was != Unlabeled && label != was-1 {
			t.Errorf("row %d has the label %d, was %d", i+1, label, was)
		}
	}
}

// Further rows may lack their column of labels, which the error for a row without a label advises.
func TestFurtherRowsNeedNoLabels(t *testing.T) {
	set := opened(t, Spec{Name: written(t, "train.csv", "a,b,label\nyes,no,cat\nno,no,dog\nyes,yes,cat\n"), Validation: new(0)})
	_, err := set.ReadRows(written(t, "some.csv", "a,b,label\nyes,no,\nno,no,dog\n"))
	wantError(t, err, `or leave out its row, or the column, since rows need no labels here`)
	if rows, err := set.ReadRows(written(t, "none.csv", "a,b\nyes,no\nno,no\n")); err != nil || rows.Rows != 2 || rows.Labels != nil {
		t.Errorf("rows without labels: %v, %v", rows, err)
	}
}
