package hm_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"slices"

	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/runs"
)

// tempered weighs the samples of a row by normalised (p/q)ʳ: wake-phase RWS at r = 1.
var tempered = hm.RegisterPhases("tempered", hm.Estimator{
	Parameters: []float64{0.7}, // r
	Source:     "this example",
	Weigh: func(r, logP, logQ, p, q []float64) {
		for k := range p {
			p[k] = r[0] * (logP[k] - logQ[k])
		}
		largest, sum := slices.Max(p), 0.0
		for k := range p {
			p[k] = math.Exp(p[k] - largest)
			sum += p[k]
		}
		for k := range p {
			p[k] /= sum
			q[k] = p[k] - 1/float64(len(p)) // the mean as control variate
		}
	},
})

// A program registers its own estimator, and trains with it in any metric.
func ExampleRegisterPhases() {
	set, dir := lines(), must(os.MkdirTemp("", "tempered"))
	defer os.RemoveAll(dir)

	method := must(hm.Preset(string(tempered))).Metric(hm.Block).LearningRate(0.05).Damping(0.1).RefreshEvery(10).PhaseParameters(0.5).Epochs(20)
	run := must(method.Train(context.Background(), hm.New(set.Shape()).Dense(6, 3), set, dir, runs.Quiet))

	test := must(run.Evaluate(context.Background(), set.Test(), 100, nil))
	fmt.Println(method)
	fmt.Println("better than independent pixels:", test.LogP > run.Experiment().Baseline(set, set.Test()).Factorized.Value)
	// Output:
	// TEMPERED, η = 0.05, α = 0.1, phase parameters [0.5], metric block, K = 10; 20 epochs, seed 1
	// better than independent pixels: true
}
