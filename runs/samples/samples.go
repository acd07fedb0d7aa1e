// Package samples judges draws of a model beside as many held-out rows, by measures that need no log p: a score and the share of classes,
// both by a classifier of the training rows (Salimans et al. 2016, Barratt and Sharma 2018), precision and recall (Kynkäänniemi et al.
// 2019), coverage (Naeem et al. 2020), a kernel two-sample test (Gretton et al. 2012), and distances from training rows.
package samples

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/lists"
	"github.com/helmholtz-go/helmholtz/internal/memory"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/internal/philox"
	"github.com/helmholtz-go/helmholtz/internal/statistics"
	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/helmholtz-go/helmholtz/runs/rivals"
)

const (
	fewest = 10     // samples, of which each has five neighbours
	usual  = 1000   // samples
	most   = 10_000 // training rows of the classifier
)

// Count returns the number of samples for Judge: n, or 1,000 if n is 0, but no more than there are held-out rows or complete
// training rows. It refuses rows whose distances mean nothing, fewer than 10 rows, and training rows in the place of held-out ones.
func Count(set *dataset.Set, heldOut dataset.Split, n int) (int, error) {
	train := set.Train().Complete()
	switch n = min(cmp.Or(n, usual), heldOut.Rows, train.Rows); {
	case heldOut.Name == "train":
		return 0, errors.New("training rows are not held out: name test, validation or a file of other rows")
	case heldOut.Lengths != nil || train.Lengths != nil:
		return 0, errors.New("sequences have no distances, since their lengths may differ: compare log p instead, without --samples-against")
	case heldOut.MeanWeights() != nil || train.MeanWeights() != nil:
		return 0, errors.New("rows with weights cannot be compared with samples, which count alike: compare log p instead, if the model has one, without --samples-against")
	case heldOut.Lacking() > 0:
		return 0, errors.New("distances need complete rows, and held-out rows have missing values: give a file of complete rows, which helmholtz impute writes")
	case n < fewest:
		return 0, fmt.Errorf("%s and %s: judging samples needs at least %d of each, so name a file with more rows", names.Count(heldOut.Rows, "held-out row"), names.Count(train.Rows, "complete training row"), fewest)
	}
	bytes := 100*float64(n)*float64(n) + 16*float64(train.Rows)*float64(train.Units)
	return n, memory.Check("distances of "+names.Count(n, "sample"), bytes, "use fewer (--rows N)")
}

// Judge returns findings about n drawn rows of units beside n held-out rows, which it chooses by the seed, and a sentence about them. A finding whose
// key ends in _reference is the same measure of rows of the data in place of the drawn ones: of n training rows for precision, recall,
// coverage and the two-sample test, and of the held-out rows for the other measures. Count must accept the rows.
//
// Distances are Euclidean. In a table, a number is divided by its standard deviation over the training rows, and another category is as
// far as one of these. Other units count as they are, so that binary rows have the square roots of Hamming distances.
func Judge(set *dataset.Set, heldOut dataset.Split, drawn dataset.Sheet, seed uint64) (all runs.Findings, about string, err error) {
	n, train := len(drawn.Values), set.Train().Complete()
	of := spaceOf(set, train)
	known, own, draws := of.rows(train.Floats(), seed), of.rows(heldOut.Subset(n, seed).Floats(), seed+1), of.rows(drawn.Values, seed)
	if slices.ContainsFunc(draws, func(row []float64) bool { return !statistics.Finite(floats.Dot(row, row)) }) {
		return nil, "", errors.New("samples have values that are not finite: train again with a lower learning rate")
	}
	add := func(m runs.Measure, decimals int, x runs.Estimate, beside string, y runs.Estimate) {
		m.Key = "samples_" + m.Key
		f := runs.Finding{Measure: m, Column: runs.Column{Decimals: decimals}, Value: x.Value, SE: x.SE, Text: m.Name, Seeds: m.Key}
		if m.Fraction {
			f.Remark = fmt.Sprintf(" (%s %s %%)", beside, runs.Estimate{Value: 100 * y.Value, SE: 100 * y.SE}.Text(2))
		} else {
			f.Remark = fmt.Sprintf("(%s %s)", beside, y.Text(max(3, decimals)))
		}
		m.Key, m.Name = m.Key+"_reference", m.Name+", "+beside
		all = append(all, f, runs.Finding{Measure: m, Column: f.Column, Value: y.Value, SE: y.SE})
	}
	about = fmt.Sprintf("%d samples beside as many of %s, distances ", n, names.Count(heldOut.Rows, heldOut.Name+" row"))
	if of.table {
		about += "in standard deviations of numbers, and 1 between categories"
	} else {
		about += "between units as they are"
	}
	learned := train.Subset(most, seed)
	if labeled, failure := learned.Labeled(max(1, set.Classes())); failure == nil && len(labeled) > 1 {
		var inputs [][]float64
		var labels []uint8
		present, points := map[uint8]bool{}, of.rows(learned.Floats(), seed)
		for _, r := range labeled {
			label := learned.Labels[r]
			inputs, labels, present[label] = append(inputs, points[r]), append(labels, label), true
		}
		fitted, err := rivals.FitLogistic(inputs, labels, set.Classes(), 1/float64(len(inputs)))
		if err != nil {
			return nil, "", err
		}
		x, y := probabilities(fitted.Scores(draws)), probabilities(fitted.Scores(own))
		add(runs.Measure{Key: "score", Name: "score", Rises: true}, 0, score(x), "held-out rows", score(y))
		add(runs.Measure{Key: "classes", Name: "classes reached", Fraction: true, Rises: true}, 0, reached(x, len(present)), "held-out rows", reached(y, len(present)))
	} else {
		about += "; no score and no classes, which need labels of training rows: train on data with labels"
	}
	x, y := compare(draws, own, seed), compare(of.rows(train.Subset(n, seed).Floats(), seed), own, seed)
	for i, m := range []runs.Measure{
		{Key: "precision", Name: "precision", Fraction: true, Rises: true}, {Key: "recall", Name: "recall", Fraction: true, Rises: true},
		{Key: "coverage", Name: "coverage", Fraction: true, Rises: true}, {Key: "mmd", Name: "MMD²"}, {Key: "mmd_p", Name: "p of the test", Rises: true},
	} {
		add(m, []int{0, 0, 0, 5, 3}[i], x[i], "training rows", y[i])
	}
	copies := func(distances []float64) runs.Estimate {
		return shareOf(floats.Count(func(d float64) bool { return d == 0 }, distances), n)
	}
	near, far := nearest(draws, known), nearest(own, known)
	by := nearer(near, far)
	remark := ": samples and held-out rows do not differ clearly"
	switch {
	case by.Value > 0.5+2*by.SE:
		remark = ": samples are nearer to training rows than held-out rows are"
	case by.Value < 0.5-2*by.SE:
		remark = ": samples are farther from training rows than held-out rows are"
	}
	m := runs.Measure{Key: "samples_nearer", Name: "nearer to training", Fraction: true}
	all = append(all, runs.Finding{Measure: m, Value: by.Value, SE: by.SE, Text: m.Name, Seeds: m.Key, Remark: remark})
	add(runs.Measure{Key: "copies", Name: "copies", Fraction: true}, 0, copies(near), "held-out rows", copies(far))
	return all, about, nil
}

// space holds how rows become points with Euclidean distances.
type space struct {
	table   bool
	draws   bool             // whether grey values are probabilities of binary units
	factors []float64        // of each unit
	rests   []dataset.Column // which get a unit for the value in which all their units are 0
}

func spaceOf(set *dataset.Set, train dataset.Split) space {
	of := space{table: set.CheckPixels() != nil, draws: set.Spec().Binarization == dataset.Stochastic, factors: slices.Repeat([]float64{1}, train.Shape.Units())}
	if !of.table {
		return of
	}
	x := train.Floats()
	for _, c := range set.Columns() {
		switch real := c.Kind == dataset.RealColumn && c.Values == nil; {
		case c.Units == 1 && real && train.AreReal():
			numbers := lists.Map(x, func(row []float64) float64 { return row[c.First] })
			if sd := stat.StdDev(numbers, nil); sd > 0 {
				of.factors[c.First] = 1 / sd
			}
		case c.Units > 1:
			for i := range c.Units {
				of.factors[c.First+i] = math.Sqrt2 / 2
			}
			if c.Rest {
				of.rests = append(of.rests, c)
			}
		}
	}
	return of
}

// rows returns points for rows of units, which it leaves as they are.
func (of space) rows(units [][]float64, seed uint64) [][]float64 {
	x, random := make([][]float64, len(units)), philox.NewStream(seed, philox.Observe, 0)
	for r := range units {
		row := slices.Clone(units[r])
		for i, v := range row {
			if of.draws && v > 0 && v < 1 {
				row[i] = 0
				if float64(philox.Uniform(random.Uint32())) < v {
					row[i] = 1
				}
			}
		}
		for _, c := range of.rests {
			row = append(row, math.Sqrt2/2*(1-floats.Sum(row[c.First:c.First+c.Units])))
		}
		floats.Mul(row[:len(of.factors)], of.factors)
		x[r] = row
	}
	return x
}
