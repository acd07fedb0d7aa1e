package dataset

import (
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// numbered are n rows that carry their index: row i is the byte i>>8, then the
// byte i&255, with the label i&255.
func numbered(from, n int) rows {
	var values, labels []uint8
	for i := from; i < from+n; i++ {
		values, labels = append(values, uint8(i>>8), uint8(i)), append(labels, uint8(i))
	}
	return bytesOf(Shape{1, 2}, values, labels)
}

func indices(t interface{ Fatalf(string, ...any) }, s Split) []int {
	var all []int
	for i := range s.Rows {
		row := s.Row(i)
		if s.Labels[i] != row[1] {
			t.Fatalf("%s row %d: label %d parted from its row %v", s.Name, i, s.Labels[i], row)
		}
		all = append(all, int(row[0])<<8|int(row[1]))
	}
	return all
}

func upTo(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

func TestDivisionPartitionsTheRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 700).Draw(t, "rows")
		own := rapid.IntRange(0, 50).Draw(t, "own validation rows")
		hold := rapid.IntRange(0, n+own-1).Draw(t, "held out")
		spec := Spec{Name: "numbered", Binarization: Stochastic, Seed: rapid.Uint64().Draw(t, "seed")}
		test := numbered(n+own, 3)
		divide := func() *Set {
			s, err := spec.divide(source{train: numbered(0, n), validation: numbered(n, own), test: test})
			if err != nil {
				t.Fatal(err)
			}
			return s
		}

		if s := divide(); s.Train().Rows != n || s.Validation().Rows != own {
			t.Fatalf("without a setting: %d training and %d validation rows, the set comes with %d and %d",
				s.Train().Rows, s.Validation().Rows, n, own)
		}

		spec.Validation = &hold
		s := divide()
		train, validation := indices(t, s.Train()), indices(t, s.Validation())
		if len(validation) != hold {
			t.Fatalf("%d rows held out, want %d", len(validation), hold)
		}
		union := slices.Sorted(slices.Values(slices.Concat(train, validation)))
		if !slices.Equal(union, upTo(n+own)) {
			t.Fatalf("training and validation rows are not a partition of all: %v", union)
		}
		if !slices.Equal(s.Test().Bytes(), test.Bytes()) {
			t.Fatal("test rows changed")
		}

		spec.Subset = rapid.IntRange(1, len(train)).Draw(t, "subset")
		kept := divide()
		if !slices.Equal(indices(t, kept.Validation()), validation) {
			t.Fatal("a subset of the training rows changed the validation rows")
		}
		subset := indices(t, kept.Train())
		if len(subset) != spec.Subset || len(slices.Compact(slices.Clone(subset))) != len(subset) {
			t.Fatalf("a subset of %d has rows %v", spec.Subset, subset)
		}
		for _, i := range subset {
			if !slices.Contains(train, i) {
				t.Fatalf("row %d of the subset is no training row", i)
			}
		}
		spec.Subset++
		if spec.Subset <= len(train) {
			larger := indices(t, divide().Train())
			for _, i := range subset {
				if !slices.Contains(larger, i) {
					t.Fatalf("row %d is in the subset of %d, not in that of %d of the same seed", i, spec.Subset-1, spec.Subset)
				}
			}
		}
	})
}

func TestDrawsDependOnTheSeedAndAreNoPrefixes(t *testing.T) {
	open := func(seed uint64) *Set {
		spec := Spec{Name: "numbered", Validation: new(300), Subset: 300, Seed: seed, Binarization: Stochastic}
		s, err := spec.divide(source{train: numbered(0, 1000), test: numbered(0, 1)})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	a, again, b := open(1), open(1), open(2)
	if a.Fingerprint() != again.Fingerprint() {
		t.Error("the same seed gives different rows")
	}
	for _, pick := range []func(*Set) Split{(*Set).Train, (*Set).Validation} {
		rows := indices(t, pick(a))
		if slices.Equal(rows, indices(t, pick(b))) {
			t.Errorf("seeds 1 and 2 draw the same %s rows", pick(a).Name)
		}
		// The largest of 300 of at least 700 rows lies below 600 with
		// probability under 1e-40.
		if slices.Max(rows) < 600 || slices.Min(rows) > 400 {
			t.Errorf("%s rows lie between %d and %d, not over all", pick(a).Name, slices.Min(rows), slices.Max(rows))
		}
	}
}

func TestDataWithoutTestRowsGivesATenth(t *testing.T) {
	s, err := Spec{Name: "numbered", Validation: new(30), Binarization: Stochastic}.divide(source{train: numbered(0, 100)})
	if err != nil {
		t.Fatal(err)
	}
	train, validation, test := indices(t, s.Train()), indices(t, s.Validation()), indices(t, s.Test())
	if len(train) != 60 || len(validation) != 30 || len(test) != 10 {
		t.Errorf("100 rows became %d, %d and %d", len(train), len(validation), len(test))
	}
	if all := slices.Sorted(slices.Values(slices.Concat(train, validation, test))); !slices.Equal(all, upTo(100)) {
		t.Errorf("the splits are not a partition: %v", all)
	}
}

func TestFixedBinarizationRoundsAtOneHalf(t *testing.T) {
	gray := bytesOf(Shape{1, 4}, []uint8{0, 127, 128, 255}, nil)
	data := source{train: gray, test: rows{Split: gray.pick([]int{0})}}
	kept, err := Spec{Name: "grey", Binarization: Stochastic}.divide(data)
	if err != nil {
		t.Fatal(err)
	}
	if got := kept.Train().Row(0); !slices.Equal(got, []uint8{0, 127, 128, 255}) {
		t.Errorf("stochastic: grey values became %v", got)
	}
	rounded, err := Spec{Name: "grey"}.divide(data)
	if err != nil {
		t.Fatal(err)
	}
	for _, split := range []Split{rounded.Train(), rounded.Test()} {
		if got := split.Row(0); !slices.Equal(got, []uint8{0, 0, 255, 255}) {
			t.Errorf("fixed: %s row became %v", split.Name, got)
		}
	}
}

func TestImpossibleDivisionsAreRefused(t *testing.T) {
	for _, c := range []struct {
		spec  Spec
		train int
		want  []string
	}{
		{Spec{Validation: new(10)}, 10, []string{"validation = 10", "none of its 10 rows"}},
		{Spec{Subset: 8, Validation: new(3)}, 10, []string{"subset = 8", "7 training rows"}},
		{Spec{}, 1, []string{"1 row is too few"}},
	} {
		c.spec.Name = "small"
		data := source{train: numbered(0, c.train)}
		if c.train > 1 {
			data.test = numbered(0, 1)
		}
		_, err := c.spec.divide(data)
		wantError(t, err, append(c.want, "small")...)
	}
}

func wantError(t *testing.T, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("no error, want one that says %q", parts)
		return
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q does not say %q", err, part)
		}
	}
}

// Values that are drawn once are on as often as they say, within four standard errors, and
// the same each time.
func TestDrawnBinarization(t *testing.T) {
	const units, n = 16, 4000
	values := make([]uint8, 0, units*n)
	for range n {
		for j := range units {
			values = append(values, uint8(17*j))
		}
	}
	open := func(seed uint64) *Set {
		s, err := Spec{Name: "grey", Binarization: Drawn, Validation: new(0), Seed: seed}.divide(source{
			train: bytesOf(Shape{1, units}, slices.Clone(values), nil), test: bytesOf(Shape{1, units}, slices.Clone(values[:units]), nil),
		})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	train := open(1).Train()
	on := make([]float64, units)
	for i := range train.Rows {
		for j, v := range train.Row(i) {
			if v != 0 && v != 255 {
				t.Fatalf("a value is %d after drawing", v)
			}
			on[j] += float64(v / 255)
		}
	}
	for j, count := range on {
		got, p := count/n, float64(17*j)/255
		if se := math.Sqrt(p * (1 - p) / n); math.Abs(got-p) > 4*se {
			t.Errorf("grey level %d is on in %.4f of the rows, want %.4f ± %.4f", 17*j, got, p, se)
		}
	}
	if again := open(1).Train(); !slices.Equal(again.Bytes(), train.Bytes()) {
		t.Error("the same seed draws other values")
	}
	if other := open(2).Train(); slices.Equal(other.Bytes(), train.Bytes()) {
		t.Error("another seed draws the same values")
	}
}
