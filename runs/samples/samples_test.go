package samples

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/runs"
)

func near(t *testing.T, what string, got, want, by float64) {
	t.Helper()
	if !(math.Abs(got-want) <= by) {
		t.Errorf("%s is %v, not %v ± %v", what, got, want, by)
	}
}

// A perfect set of C classes has the score C, and rows of one kind have 1. The standard error agrees with the jackknife's.
func TestScore(t *testing.T) {
	perfect, same := mat.NewDense(12, 4, nil), mat.NewDense(12, 4, nil)
	for r := range 12 {
		perfect.Set(r, r%4, 1)
		same.SetRow(r, []float64{0.1, 0.2, 0.3, 0.4})
	}
	near(t, "the score of a perfect set", score(perfect).Value, 4, 1e-12)
	near(t, "the score of equal rows", score(same).Value, 1, 1e-12)
	random, n := rand.New(rand.NewPCG(1, 1)), 400
	scores := mat.NewDense(n, 3, nil)
	scores.Apply(func(_, _ int, _ float64) float64 { return 2 * random.NormFloat64() }, scores)
	p := probabilities(scores)
	var without []float64
	for r := range n {
		values := slices.Clone(p.RawMatrix().Data)
		without = append(without, score(mat.NewDense(n-1, 3, slices.Delete(values, 3*r, 3*r+3))).Value)
	}
	jackknife := math.Sqrt(stat.Variance(without, nil)/float64(n)) * float64(n-1)
	near(t, "the standard error of the score", score(p).SE/jackknife, 1, 0.03)
}

// The standard error of the share of classes is the standard deviation over all resamples.
func TestReachedEnumeratesResamples(t *testing.T) {
	of := []int{0, 0, 1, 2}
	p := mat.NewDense(4, 5, nil)
	for r, c := range of {
		p.Set(r, c, 1)
	}
	var shares []float64
	for k := range 256 {
		var classes []int
		for range 4 {
			classes, k = append(classes, of[k%4]), k/4
		}
		slices.Sort(classes)
		shares = append(shares, float64(len(slices.Compact(classes)))/5)
	}
	e := reached(p, 5)
	near(t, "the share", e.Value, 0.6, 1e-12)
	near(t, "its standard error", e.SE, math.Sqrt(stat.PopVariance(shares, nil)), 1e-12)
}

// Distances of bits are exactly the square roots of Hamming distances, so that ties are ties and copies have distance 0.
func TestNearestCountsBits(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 1))
	bits := func(n int, scale float64) (rows [][]float64) {
		for range n {
			row := make([]float64, 30)
			for i := range row {
				row[i] = scale * float64(random.IntN(2))
			}
			rows = append(rows, row)
		}
		return rows
	}
	x, y := bits(20, 1), bits(2500, 1)
	x[3] = slices.Clone(y[2400])
	for i, got := range nearest(x, y) {
		want := 31
		for _, row := range y {
			differ := 0
			for k := range row {
				if row[k] != x[i][k] {
					differ++
				}
			}
			want = min(want, differ)
		}
		if got != float64(want) {
			t.Errorf("row %d is %v from its nearest row, not %d", i, got, want)
		}
	}
	thirds := bits(5, 1.0/3)
	if d := squared(thirds, thirds); slices.Max(nearest(thirds, thirds)) != 0 || d.At(0, 1) != d.At(1, 0) {
		t.Error("copies differ by rounding")
	}
}

// The mean of MMD² over all samples of two coins is the squared difference of their means in the kernel's space.
func TestDiscrepancyIsUnbiasedByEnumeration(t *testing.T) {
	const a, b, between, n = 0.3, 0.8, 0.4, 3
	for _, b := range []float64{a, b} {
		mean := 0.0
		for state := range 1 << (2 * n) {
			chance, k := 1.0, mat.NewDense(2*n, 2*n, nil)
			for i := range 2 * n {
				one := []float64{a, b}[i/n]
				if state>>i&1 == 0 {
					one = 1 - one
				}
				chance *= one
				for j := range 2 * n {
					k.Set(i, j, 1)
					if state>>i&1 != state>>j&1 {
						k.Set(i, j, between)
					}
				}
			}
			mmd, _ := discrepancy(k, 1)
			mean += chance * mmd.Value
		}
		near(t, "the mean of MMD²", mean, 2*(a-b)*(a-b)*(1-between), 1e-12)
	}
}

func normal(random *rand.Rand, n, units int, shift float64) (rows [][]float64) {
	for range n {
		row := make([]float64, units)
		for i := range row {
			row[i] = shift + random.NormFloat64()
		}
		rows = append(rows, row)
	}
	return rows
}

// Over many pairs of sets, coverage has the mean of Naeem et al. (2020, Lemma 2), MMD² has the mean 0 and its p-value is uniform if both sets have
// one distribution, and standard errors are as large as the deviations, or up to twice as large.
func TestMeasuresOverManySets(t *testing.T) {
	const sets, n = 300, 60
	for _, shift := range []float64{0, 0.7} {
		random := rand.New(rand.NewPCG(3, 1))
		var values, errors [6][]float64
		known := normal(random, n, 3, 0)
		for range sets {
			x, y := normal(random, n, 3, shift), normal(random, n, 3, 0)
			of := compare(x, y, random.Uint64())
			for i, e := range append(of[:], nearer(nearest(x, known), nearest(y, known))) {
				values[i], errors[i] = append(values[i], e.Value), append(errors[i], e.SE)
			}
		}
		for i, name := range []string{"precision", "recall", "coverage", "MMD²", "p", "nearer"} {
			if name == "p" {
				continue
			}
			ratio := math.Sqrt(stat.Mean(squares(errors[i]), nil)) / stat.StdDev(values[i], nil)
			if ratio < 0.9 || ratio > 2 {
				t.Errorf("shift %v: the standard error of %s is %v times the deviation", shift, name, ratio)
			}
		}
		if shift > 0 {
			if low := stat.Mean(values[4], nil); low > 0.01 {
				t.Errorf("the mean p-value of different sets is %v", low)
			}
			continue
		}
		uncovered := 1.0
		for i := range neighbours {
			uncovered *= float64(n-1-i) / float64(2*n-1-i)
		}
		for i, mean := range map[int]float64{2: 1 - uncovered, 3: 0, 4: 0.5, 5: 0.5} {
			near(t, fmt.Sprint("the mean of measure ", i), stat.Mean(values[i], nil), mean, 3*stat.StdErr(stat.StdDev(values[i], nil), sets))
		}
		small := 0.0
		for _, p := range values[4] {
			if p <= 0.1 {
				small += 1.0 / sets
			}
		}
		near(t, "the share of p-values of at most 0.1", small, 0.1, 3*math.Sqrt(0.09/sets))
	}
}

func squares(x []float64) (all []float64) {
	for _, v := range x {
		all = append(all, v*v)
	}
	return all
}

// judged returns the values of findings about draws of two modes at ±5, of which a set has rows.
func judged(t *testing.T, draws func(random *rand.Rand, train [][]float64) [][]float64) map[string]runs.Estimate {
	random := rand.New(rand.NewPCG(4, 1))
	modes := func(n int) (rows [][]float64, labels []uint8) {
		for i := range n {
			rows, labels = append(rows, normal(random, 1, 4, 10*float64(i%2)-5)...), append(labels, uint8(i%2))
		}
		return rows, labels
	}
	train, trainLabels := modes(400)
	test, testLabels := modes(200)
	set, err := dataset.Spec{Name: "modes", Binarization: dataset.Real, Validation: new(0)}.FromLabeledRows(dataset.Shape{Height: 1, Width: 4}, train, test, trainLabels, testLabels)
	if err != nil {
		t.Fatal(err)
	}
	found, about, err := Judge(set, set.Test(), dataset.Sheet{Shape: set.Shape(), Values: draws(random, set.Train().Floats())}, 1)
	if err != nil || !strings.Contains(about, "200 samples beside as many of 200 test rows") {
		t.Fatal(about, err)
	}
	return found.Estimates()
}

func TestJudge(t *testing.T) {
	good := judged(t, func(random *rand.Rand, _ [][]float64) [][]float64 {
		return append(normal(random, 100, 4, 5), normal(random, 100, 4, -5)...)
	})
	if p := good["samples_mmd_p"].Value; p < 0.05 || good["samples_precision"].Value < 0.9 || good["samples_recall"].Value < 0.9 {
		t.Errorf("draws of the same distribution have %v", good)
	}
	near(t, "the score of two modes", good["samples_score"].Value, 2, 0.05)
	near(t, "the share that is nearer", good["samples_nearer"].Value, 0.5, 2*good["samples_nearer"].SE)
	dropped := judged(t, func(random *rand.Rand, _ [][]float64) [][]float64 { return normal(random, 200, 4, 5) })
	if dropped["samples_precision"].Value < 0.9 || math.Abs(dropped["samples_recall"].Value-0.5) > 0.05 || dropped["samples_classes"].Value != 0.5 || dropped["samples_mmd_p"].Value > 0.001 {
		t.Errorf("a dropped mode has %v", dropped)
	}
	near(t, "the score of one mode", dropped["samples_score"].Value, 1, 0.02)
	copied := judged(t, func(_ *rand.Rand, train [][]float64) [][]float64 { return train[:200] })
	if copied["samples_nearer"].Value != 1 || copied["samples_copies"].Value != 1 || copied["samples_precision"].Value < 0.9 {
		t.Errorf("copies have %v", copied)
	}
	noisy := judged(t, func(random *rand.Rand, train [][]float64) [][]float64 {
		rows := normal(random, 200, 4, 0)
		for r := range rows {
			for i := range rows[r] {
				rows[r][i] = 2*rows[r][i] + train[r][i]
			}
		}
		return rows
	})
	if noisy["samples_precision"].Value > 0.5 || noisy["samples_recall"].Value < 0.9 || noisy["samples_nearer"].Value > 0.2 {
		t.Errorf("noise has %v", noisy)
	}
	apart := judged(t, func(random *rand.Rand, _ [][]float64) [][]float64 { return normal(random, 200, 4, 100) })
	for _, key := range []string{"samples_precision", "samples_recall", "samples_coverage", "samples_nearer", "samples_copies"} {
		if e := apart[key]; e.Value != 0 {
			t.Errorf("%s of draws far away is %v", key, e)
		}
	}
}

// Draws of grey levels may lie outside 0 to 1, and keep their distances.
func TestJudgeKeepsGreyDraws(t *testing.T) {
	set, err := dataset.Spec{Name: "miniglyphs", Binarization: dataset.Gray, Subset: 200}.OpenNew()
	if err != nil {
		t.Fatal(err)
	}
	brighter := set.Train().Floats()
	for _, row := range brighter {
		for i := range row {
			row[i] += 256.0 / 255
		}
	}
	found, _, err := Judge(set, set.Test(), dataset.Sheet{Shape: set.Shape(), Values: brighter}, 1)
	if err != nil {
		t.Fatal(err)
	}
	of := found.Estimates()
	for _, key := range []string{"samples_precision", "samples_nearer", "samples_copies"} {
		near(t, key, of[key].Value, 0, 0)
	}
}

// Different categories have distance 1, also from the category without a unit, and numbers have none that depends on their unit of measurement.
func TestDistancesInTables(t *testing.T) {
	var seen [2][][]float64
	for i, scale := range []float64{1, 1000} {
		var text strings.Builder
		text.WriteString("kind,size,twice\n")
		for r := range 60 {
			fmt.Fprintf(&text, "%s,%g,%s\n", []string{"a", "b", "c"}[r%3], scale*(0.5+float64(r*r%17)), []string{"x", "y"}[r%2])
		}
		path := filepath.Join(t.TempDir(), "rows.csv")
		if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		set, err := dataset.Spec{Name: path, Binarization: dataset.Real, Validation: new(0)}.OpenNew()
		if err != nil {
			t.Fatal(err)
		}
		of := spaceOf(set, set.Train())
		if !of.table {
			t.Fatal("the set is no table")
		}
		seen[i] = of.rows(set.Train().Floats(), 1)
		if _, err := Count(set, set.Test(), 0); err == nil || !strings.Contains(err.Error(), "6 held-out rows and 54 complete training rows: judging samples needs at least 10 of each") {
			t.Error(err)
		}
		x := set.Train().Floats()
		d := squared(seen[i], seen[i])
		differ := func(a, b []float64) float64 {
			if slices.Equal(a, b) {
				return 0
			}
			return 1
		}
		for r := range x {
			for s := range x {
				want := 0.0
				for _, c := range set.Columns() {
					a, b := x[r][c.First:c.First+c.Units], x[s][c.First:c.First+c.Units]
					if c.Name == "size" {
						want += math.Pow((a[0]-b[0])*of.factors[c.First], 2)
					} else {
						want += differ(a, b)
					}
				}
				near(t, fmt.Sprintf("the squared distance of rows %d and %d", r, s), d.At(r, s), want, 1e-5)
			}
		}
	}
	for r := range seen[0] {
		for i := range seen[0][r] {
			near(t, "a coordinate in another unit of measurement", seen[1][r][i], seen[0][r][i], 1e-5)
		}
	}
	rest := space{factors: []float64{math.Sqrt2 / 2, math.Sqrt2 / 2}, rests: []dataset.Column{{Units: 2}}}
	set, err := dataset.Spec{Name: "rest", Binarization: dataset.Real, Validation: new(0)}.FromRows(dataset.Shape{Height: 1, Width: 2}, [][]float64{{0, 0}, {0, 1}, {1, 0}}, [][]float64{{0, 0}})
	if err != nil {
		t.Fatal(err)
	}
	points := rest.rows(set.Train().Floats(), 1)
	for _, pair := range [][2]int{{0, 1}, {0, 2}, {1, 2}} {
		near(t, "the distance between categories", squared(points, points).At(pair[0], pair[1]), 1, 1e-9)
	}
}

func TestCountRefusesRowsWithoutDistances(t *testing.T) {
	set, err := dataset.Spec{Name: "rows", Binarization: dataset.Real, Validation: new(0)}.FromRows(dataset.Shape{Height: 1, Width: 2}, normal(rand.New(rand.NewPCG(5, 1)), 40, 2, 0), normal(rand.New(rand.NewPCG(6, 1)), 30, 2, 0))
	if err != nil {
		t.Fatal(err)
	}
	if n, err := Count(set, set.Test(), 0); n != 30 || err != nil {
		t.Error(n, err)
	}
	if n, err := Count(set, set.Test(), 25); n != 25 || err != nil {
		t.Error(n, err)
	}
	for says, change := range map[string]func(*dataset.Split){
		"are not held out":    func(s *dataset.Split) { *s = set.Train() },
		"have no distances":   func(s *dataset.Split) { s.Lengths = make([]int, s.Rows) },
		"rows with weights":   func(s *dataset.Split) { s.Weights = make([]float64, s.Rows) },
		"have missing values": func(s *dataset.Split) { s.Missing = slices.Repeat([]bool{true}, 2*s.Rows) },
	} {
		rows := set.Test()
		change(&rows)
		if _, err := Count(set, rows, 0); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, not %s", err, says)
		}
	}
	drawn := dataset.Sheet{Shape: set.Shape(), Values: slices.Repeat([][]float64{{1, math.Inf(1)}}, 30)}
	if _, _, err := Judge(set, set.Test(), drawn, 1); err == nil || !strings.Contains(err.Error(), "not finite") {
		t.Error(err)
	}
}
