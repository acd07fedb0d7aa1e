package hm

import (
	"context"
	"fmt"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/statistics"
	"github.com/helmholtz-go/helmholtz/runs"

	"gonum.org/v1/gonum/floats"
)

// GradientNoise describes the distribution of the gradient g of one network, estimated from repeated
// draws. Squares are in nats², because parameters have no unit.
type GradientNoise struct {
	Parameters   int        // number of parameters of the network
	Draws        int        // number of drawn gradients
	Variance     float64    // E‖g − Eg‖², summed over the parameters; an unbiased estimate
	VarianceSE   runs.Float // its standard error, NaN for one pair of gradients
	MeanSquare   float64    // ‖Eg‖²; an unbiased estimate, which may be negative
	MeanSquareSE runs.Float // its standard error, NaN for one pair of gradients
	Mean         []float64  // mean of the drawn gradients in nats, one value per parameter
}

// SquaredBias estimates ‖Eg − exact‖² in nats². exact is the exact gradient with respect to the same
// parameters, for example from package hm/engine/oracle. The estimate is unbiased, so it may be negative.
func (n GradientNoise) SquaredBias(exact []float64) float64 {
	distance := floats.Distance(n.Mean, exact, 2)
	return distance*distance - n.Variance/float64(n.Draws)
}

// GradientNoise draws pairs of gradients of the method's first step: on the first minibatch, at random
// initial parameters or the parameters set by From. The gradients differ only in their samples, and in
// their data if binarisation is stochastic. The chains of JSA begin anew for each gradient, and a learned baseline
// of REINFORCE learns from one to the next. Metric and
// optimiser do not affect the gradients. Half the squared distance between the gradients of a pair estimates
// the variance, and their inner product estimates the square of the mean.
//
// Use it, for example, to compare the variances of REINFORCE and wake-sleep (Várady 2025, 2.3.3).
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
	state, err := trainer.State()
	if err != nil {
		return generative, recognition, err
	}

	size := plan.architecture.GenerativeSize()
	sizes := [2]int{size, plan.architecture.Size() - size}
	var noise [2]GradientNoise
	for n := range noise {
		noise[n] = GradientNoise{Parameters: sizes[n], Draws: 2 * pairs, Mean: make([]float64, sizes[n])}
	}
	var distances, products [2][]float64 // per network and pair
	for range pairs {
		var pair [2]*engine.Parameters
		for i := range pair {
			if err := ctx.Err(); err != nil {
				return generative, recognition, err
			}
			clear(state.Chains)
			g, err := trainer.Gradients(0)
			if err != nil {
				return generative, recognition, err
			}
			pair[i] = g.Plain
			// A step at rate 0 moves no parameters, and the next step has new draws.
			if _, err := trainer.Steps(ctx, []float64{0}); err != nil {
				return generative, recognition, err
			}
		}
		for n, half := range [2][2][]float32{
			{pair[0].Flat[:size], pair[1].Flat[:size]},
			{pair[0].Flat[size:], pair[1].Flat[size:]},
		} {
			distance, product := 0.0, 0.0
			for k, a := range half[0] {
				a, b := float64(a), float64(half[1][k])
				distance += (a - b) * (a - b) / 2
				product += a * b
				noise[n].Mean[k] += (a + b) / float64(2*pairs)
			}
			distances[n], products[n] = append(distances[n], distance), append(products[n], product)
		}
	}
	for n := range noise {
		g := &noise[n]
		var se [2]float64
		g.Variance, se[0] = statistics.MeanAndError(pairs, func(i int) float64 { return distances[n][i] })
		g.MeanSquare, se[1] = statistics.MeanAndError(pairs, func(i int) float64 { return products[n][i] })
		g.VarianceSE, g.MeanSquareSE = runs.Float(se[0]), runs.Float(se[1])
	}
	return noise[0], noise[1], nil
}
