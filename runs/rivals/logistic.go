package rivals

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"
	"gonum.org/v1/gonum/stat"
)

// Logistic is a multinomial logistic regression on standardised features.
type Logistic struct {
	means, deviations []float64
	weights           *mat.Dense // features and a constant × classes
}

// FitLogistic fits a logistic regression to rows of features and their classes, by the mean cross-entropy and a penalty on its squared
// weights.
func FitLogistic(rows [][]float64, of []uint8, classes int, penalty float64) (Logistic, error) {
	x := mat.NewDense(len(rows), len(rows[0]), nil)
	for r, row := range rows {
		x.SetRow(r, row)
	}
	c := Logistic{make([]float64, len(rows[0])), make([]float64, len(rows[0])), mat.NewDense(len(rows[0])+1, classes, nil)}
	for i := range c.means {
		c.means[i], c.deviations[i] = stat.MeanStdDev(mat.Col(nil, i, x), nil)
	}
	inputs := c.inputs(rows)
	evaluate := func(gradient, at []float64) float64 {
		weights := mat.NewDense(len(c.means)+1, classes, at)
		var scores, slope mat.Dense
		scores.Mul(inputs, weights)
		loss := CrossEntropy(&scores, of, penalty/2*floats.Dot(at, at))
		if gradient != nil {
			slope.Mul(inputs.T(), &scores)
			floats.AddScaledTo(gradient, slope.RawMatrix().Data, penalty, at)
		}
		return loss
	}
	weights, err := Minimize(evaluate, c.weights.RawMatrix().Data, 100)
	if err != nil {
		return c, err
	}
	c.weights = mat.NewDense(len(c.means)+1, classes, weights)
	return c, nil
}

// CrossEntropy returns a loss plus the mean of −log p(y|x) over rows of scores, which are log p(y|x) without its normalisation, and
// replaces the scores by the derivatives of that mean.
func CrossEntropy(scores *mat.Dense, of []uint8, loss float64) float64 {
	n := float64(len(of))
	for r, class := range of {
		row := scores.RawRowView(r)
		logZ := floats.LogSumExp(row)
		loss -= (row[class] - logZ) / n
		for k, score := range row {
			row[k] = math.Exp(score-logZ) / n
		}
		row[class] -= 1 / n
	}
	return loss
}

// Minimize returns where L-BFGS ends that begins at a point, after a number of iterations at most. evaluate returns the loss, and
// writes its gradient unless that is nil.
func Minimize(evaluate func(gradient, at []float64) float64, at []float64, iterations int) ([]float64, error) {
	result, err := optimize.Minimize(optimize.Problem{
		Func: func(at []float64) float64 { return evaluate(nil, at) },
		Grad: func(gradient, at []float64) { evaluate(gradient, at) },
	}, at, &optimize.Settings{MajorIterations: iterations, GradientThreshold: 1e-5}, &optimize.LBFGS{})
	if result == nil {
		return nil, err
	}
	return result.X, nil
}

func (c Logistic) inputs(rows [][]float64) *mat.Dense {
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

// Scores returns log p(y|x) of each row and class, without its normalisation.
func (c Logistic) Scores(rows [][]float64) *mat.Dense {
	var scores mat.Dense
	scores.Mul(c.inputs(rows), c.weights)
	return &scores
}
