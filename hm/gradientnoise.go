package hm

import (
	"context"
	"fmt"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/statistics"
	"github.com/helmholtz-go/helmholtz/runs"
)

// GradientNoise describes the distribution of the gradient g of one network, estimated from
// repeated draws, in nats² (parameters have no unit).
type GradientNoise struct {
	Parameters   int        // number of parameters of the network
	Variance     float64    // E‖g − Eg‖², summed over the parameters; an unbiased estimate
	VarianceSE   runs.Float // its standard error
	MeanSquare   float64    // ‖Eg‖²; an unbiased estimate, which may be negative
	MeanSquareSE runs.Float // its standard error
}

// GradientNoise draws pairs of gradients as the method's first step would: from an untrained
// machine, with drawn parameters or the parameters set by From, on the first minibatch. Only the
// samples differ (and the data, if binarisation is stochastic). The gradients are plain: metric and
// optimiser do not affect them. Half the squared distance of a pair estimates the variance, and the
// inner product of a pair the square of the mean.
//
// It can compare the variance of REINFORCE with the variance of wake-sleep (Várady 2025, 2.3.3).
func (m Method) GradientNoise(ctx context.Context, machine Machine, set *dataset.Set, pairs int) (generative, recognition GradientNoise, err error) {
	e := m.Experiment(machine, set)
	if err = e.Check(set); err != nil {
		return generative, recognition, err
	}
	if pairs < 1 {
		return generative, recognition, fmt.Errorf("%d pairs of gradients: draw at least 1, or 2 for a standard error", pairs)
	}
	e.Method.Metric, e.Method.Optimizer, e.Method.SleepSteps = Euclidean, GradientDescent, 1
	// Settings that change with the steps keep the value of the first step.
	e.Method.LaterSamples, e.Method.LaterSamplesAfter = 0, 0
	if e.Method.WarmUp > 0 {
		e.Method.Entropy, e.Method.EntropyEstimator = 0, 0
	}
	plan, err := e.plan(set)
	if err != nil {
		return generative, recognition, err
	}
	rows := plan.job.Rows(0)
	plan.job.Rows = func(int) []int { return rows }
	trainer, err := plan.startTrainer()
	if err != nil {
		return generative, recognition, err
	}
	defer trainer.Close()

	var distances, products [2][]float64 // per network and pair
	for range pairs {
		var pair [2]*engine.Parameters
		for i := range pair {
			if err := ctx.Err(); err != nil {
				return generative, recognition, err
			}
			g, err := trainer.Gradients(0)
			if err != nil {
				return generative, recognition, err
			}
			pair[i] = g.Plain
			// The next draws belong to the next step; this step does not move.
			if _, err := trainer.Steps(ctx, []float64{0}); err != nil {
				return generative, recognition, err
			}
		}
		first := pair[0].Architecture.GenerativeSize()
		for n, half := range [2][2][]float32{
			{pair[0].Flat[:first], pair[1].Flat[:first]},
			{pair[0].Flat[first:], pair[1].Flat[first:]},
		} {
			distance, product := 0.0, 0.0
			for k, a := range half[0] {
				b := half[1][k]
				distance += (float64(a) - float64(b)) * (float64(a) - float64(b)) / 2
				product += float64(a) * float64(b)
			}
			distances[n], products[n] = append(distances[n], distance), append(products[n], product)
		}
	}
	size := plan.architecture.GenerativeSize()
	return newGradientNoise(size, distances[0], products[0]),
		newGradientNoise(plan.architecture.Size()-size, distances[1], products[1]), nil
}

func newGradientNoise(parameters int, distances, products []float64) GradientNoise {
	n := GradientNoise{Parameters: parameters}
	var se float64
	n.Variance, se = statistics.MeanAndError(len(distances), func(i int) float64 { return distances[i] })
	n.VarianceSE = runs.Float(se)
	n.MeanSquare, se = statistics.MeanAndError(len(products), func(i int) float64 { return products[i] })
	n.MeanSquareSE = runs.Float(se)
	return n
}
