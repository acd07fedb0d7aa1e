package rivals

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/helmholtz-go/helmholtz/dataset"
)

// split returns rows of three correlated Gaussians in the plane, from quasi-random numbers, and labels.
func split(first, n int) dataset.Split {
	s := dataset.Split{Name: "rows", Shape: dataset.Shape{Height: 1, Width: 2}}
	var reals []float32
	fraction := func(v float64) float64 { _, part := math.Modf(v); return part }
	for i := first; i < first+n; i++ {
		a, b := fraction(float64(i)*math.Sqrt2), 2*math.Pi*fraction(float64(i)*math.Sqrt(3))
		radius := math.Sqrt(-2 * math.Log(a))
		u, v, label := radius*math.Cos(b), radius*math.Sin(b), i%3
		reals = append(reals, float32([]float64{0, 6, 0}[i%3]+u), float32([]float64{0, 0, 5}[i%3]+0.8*u+0.5*v))
		if i%7 == 0 {
			label = (label + 1) % 3
		}
		s.Labels = append(s.Labels, uint8(label))
	}
	s.Values = dataset.Reals(2, reals)
	return s
}

func wantNear(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

// The numbers come from scikit-learn 1.9.1 on the same rows: GaussianMixture (4 starts, reg_covar=0, lowest BIC),
// LogisticRegression (C=1, on standardised columns and a constant column) and KNeighborsClassifier(1).
func TestRivalsAgreeWithScikitLearn(t *testing.T) {
	train, rows := split(1, 300), split(301, 100)
	of := func(s dataset.Split) table { return table{make([][]int, s.Rows), s.Floats(), nil, s.Counts()} }
	logs, err := conditional(of(train), of(rows))
	if err != nil {
		t.Fatal(err)
	}
	wantNear(t, "log p of the full Gaussian", stat.Mean(logs, nil), -4.796642144172733, 1e-5)
	m := mixtureOf(of(train))
	logs, _ = m.logP(of(rows))
	wantNear(t, "log p of the mixture", stat.Mean(logs, nil), -3.2395649562835795, 1e-4)
	if len(m.shares) != 3 {
		t.Errorf("BIC chooses %d components", len(m.shares))
	}
	classifiers, _, err := Classify(train, rows, 3)
	if err != nil {
		t.Fatal(err)
	}
	wantNear(t, "the error of logistic regression", stat.Mean(classifiers[0].Values, nil), 0.18, 1e-9)
	wantNear(t, "the error of the nearest neighbour", stat.Mean(classifiers[1].Values, nil), 0.26, 1e-9)
	c, err := FitLogistic(train.Floats(), train.Labels, 3, 1./300)
	if err != nil {
		t.Fatal(err)
	}
	scores, sum := c.Scores(rows.Floats()), 0.0
	for r, label := range rows.Labels {
		row := scores.RawRowView(r)
		sum += row[label] - math.Log(math.Exp(row[0])+math.Exp(row[1])+math.Exp(row[2]))
	}
	wantNear(t, "log p of labels", sum/100, -0.5290790884600479, 1e-4)
}

// words opens rows of a chain of three categorical columns and a number that depends on two of them.
func words(t *testing.T, spec dataset.Spec) *dataset.Set {
	t.Helper()
	random, text := rand.New(rand.NewPCG(1, 1)), "a,b,c,x\n"
	for range 200 {
		a := random.IntN(3)
		b := (a + random.IntN(4)/3) % 3
		c := (b > 0) != (random.IntN(8) == 0)
		text += fmt.Sprintf("A%d,B%d,%v,%.3f\n", a, b, c, float64(a)+2*float64(b)+random.NormFloat64())
	}
	spec.Name = filepath.Join(t.TempDir(), "rows.csv")
	if err := os.WriteFile(spec.Name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	set, err := spec.OpenNew()
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// The tree joins the neighbours of a chain, and the tree and the mixture are distributions over all rows.
func TestTreeOfCategories(t *testing.T) {
	set := words(t, dataset.Spec{Columns: "x=skip"})
	rows, err := tableOf(set, set.Train())
	if err != nil {
		t.Fatal(err)
	}
	of := treeOf(rows)
	if fmt.Sprint(of.parents) != "[-1 0 1]" {
		t.Errorf("the parents are %v", of.parents)
	}
	every := table{sizes: rows.sizes}
	for k := range 18 {
		every.codes, every.reals = append(every.codes, []int{k % 3, k / 3 % 3, k / 9}), append(every.reals, nil)
	}
	logs, _ := mixtureOf(rows).logP(every)
	for name, logs := range map[string][]float64{"tree": of.logP(every), "mixture": logs} {
		sum := 0.0
		for _, log := range logs {
			sum += math.Exp(log)
		}
		wantNear(t, "the sum of p of the "+name, sum, 1, 1e-12)
	}
	count, n := 0.0, float64(len(rows.codes))
	for _, codes := range rows.codes {
		if codes[0] == 1 {
			count++
		}
	}
	wantNear(t, "log p of the root", of.logs[0][0][1], math.Log((count+0.5)/(n+1.5)), 1e-12)
}

// Numbers given categories have the entropy of their noise, and a mixed table has a rival of each kind.
func TestNumbersGivenCategories(t *testing.T) {
	set := words(t, dataset.Spec{Binarization: dataset.Real})
	all, err := Fit(set, set.Train())
	if err != nil || all[0].Key != "tree_gaussian" || !strings.HasPrefix(all[1].Name, "mixture of ") || len(all[1].Values) != set.Train().Rows {
		t.Fatal(all, err)
	}
	rows, err := tableOf(set, set.Train())
	if err != nil {
		t.Fatal(err)
	}
	tree, logs := treeOf(rows).logP(rows), 0.0
	for r, log := range all[0].Values {
		logs += (log - tree[r]) / float64(len(tree))
	}
	wantNear(t, "log p of the number given the words", logs, -math.Log(2*math.Pi*math.E)/2, 0.15)
}

// Logistic regression finds the weights by which classes were drawn.
func TestLogistic(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	var x [][]float64
	var classes []uint8
	for range 4000 {
		row := []float64{3 + 2*r.NormFloat64(), r.NormFloat64(), 7}
		class := uint8(0)
		if r.Float64() < 1/(1+math.Exp(-(row[0]-3)+2*row[1])) {
			class = 1
		}
		x, classes = append(x, row), append(classes, class)
	}
	c, err := FitLogistic(x, classes, 2, 1e-4)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{2, -2, 0} { // of standardised features
		if got := c.weights.At(i, 1) - c.weights.At(i, 0); math.Abs(got-want) > 0.2 {
			t.Errorf("the weight of feature %d is %v, want %v", i, got, want)
		}
	}
}
