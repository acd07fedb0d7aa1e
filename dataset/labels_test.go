package dataset

import (
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
	if !slices.Equal(few.Train().Values, all.Train().Values) || !slices.Equal(few.Test().Labels, all.Test().Labels) {
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
