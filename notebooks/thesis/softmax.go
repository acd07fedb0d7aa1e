package thesis

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"
	"gonum.org/v1/gonum/stat"

	"github.com/helmholtz-go/helmholtz/dataset"
)

type classifier struct {
	means, deviations []float64
	weights           *mat.Dense // features and a constant × classes
}

// penalty is the strength of the squared weights in the loss of a classifier.
const penalty = 1e-4

// classify fits a classifier to rows of features by the mean cross-entropy and a penalty on its squared weights.
func classify(rows [][]float64, of []uint8, classes int) classifier {
	x := mat.NewDense(len(rows), len(rows[0]), nil)
	for r, row := range rows {
		x.SetRow(r, row)
	}
	c := classifier{make([]float64, len(rows[0])), make([]float64, len(rows[0])), mat.NewDense(len(rows[0])+1, classes, nil)}
	for i := range c.means {
		c.means[i], c.deviations[i] = stat.MeanStdDev(mat.Col(nil, i, x), nil)
	}
	inputs := c.inputs(rows)
	evaluate := func(gradient, at []float64) float64 {
		weights := mat.NewDense(len(c.means)+1, classes, at)
		var scores, slope mat.Dense
		scores.Mul(inputs, weights)
		loss := penalty / 2 * floats.Dot(at, at)
		for r := range rows {
			row := scores.RawRowView(r)
			logZ := floats.LogSumExp(row)
			loss -= (row[of[r]] - logZ) / float64(len(rows))
			for k, score := range row {
				row[k] = math.Exp(score-logZ) / float64(len(rows))
			}
			row[of[r]] -= 1 / float64(len(rows))
		}
		if gradient != nil {
			slope.Mul(inputs.T(), &scores)
			floats.AddScaledTo(gradient, slope.RawMatrix().Data, penalty, at)
		}
		return loss
	}
	result, err := optimize.Minimize(optimize.Problem{
		Func: func(at []float64) float64 { return evaluate(nil, at) },
		Grad: func(gradient, at []float64) { evaluate(gradient, at) },
	}, c.weights.RawMatrix().Data, &optimize.Settings{MajorIterations: 100, GradientThreshold: 1e-5}, &optimize.LBFGS{})
	if result == nil {
		check(err)
	}
	c.weights = mat.NewDense(len(c.means)+1, classes, result.X)
	return c
}

func (c classifier) inputs(rows [][]float64) *mat.Dense {
	x := mat.NewDense(len(rows), len(c.means)+1, nil)
	for r, row := range rows {
		to := x.RawRowView(r)
		for i, v := range row {
			to[i] = (v - c.means[i]) / (c.deviations[i] + 1e-3)
		}
		to[len(row)] = 1
	}
	return x
}

func (c classifier) scores(rows [][]float64) *mat.Dense {
	var scores mat.Dense
	scores.Mul(c.inputs(rows), c.weights)
	return &scores
}

// share returns the share of rows whose label has the highest score, and its standard error.
func share(scores *mat.Dense, labels []uint8) (right, se float64) {
	n := float64(len(labels))
	for r, label := range labels {
		if floats.MaxIdx(scores.RawRowView(r)) == int(label) {
			right += 1 / n
		}
	}
	return right, math.Sqrt(right * (1 - right) / n)
}

// averagePrecision ranks rows by falling scores, and returns the mean over the relevant rows of the share of
// relevant rows down to their rank.
func averagePrecision(scores []float64, relevant []bool) float64 {
	order := make([]int, len(scores))
	floats.Argsort(floats.ScaleTo(make([]float64, len(scores)), -1, scores), order)
	found, sum := 0.0, 0.0
	for rank, r := range order {
		if relevant[r] {
			found++
			sum += found / float64(rank+1)
		}
	}
	return sum / found
}

func floatsOf(rows dataset.Split, first, last int) [][]float64 {
	return each(rows.Floats(), func(x []float64) []float64 { return x[first:last:last] })
}
