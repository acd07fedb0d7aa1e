package hm_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/runs"
)

// must returns the value, or ends the program with the error.
func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

// lines returns the images of 3by3, 500 of them to train on.
func lines() *dataset.Set {
	return must(dataset.Spec{Name: "3by3", Subset: 500, Validation: new(100)}.Open())
}

// A machine of two hidden layers learns lines of 3×3 pixels. Its log p(x) is compared with a model
// of independent pixels.
func Example() {
	ctx, dir := context.Background(), must(os.MkdirTemp("", "lines"))
	defer os.RemoveAll(dir)

	set := lines()
	machine := hm.New(set.Shape()).Dense(6, 3)
	nrws := hm.NRWS().LearningRate(0.05).Damping(0.1).RefreshEvery(10).Epochs(20)
	run := must(nrws.Train(ctx, machine, set, dir, runs.Quiet))

	test := must(run.Evaluate(ctx, set.Test(), 100, nil))
	alone := run.Experiment().Baseline(set, set.Test())
	fmt.Println("better than independent pixels:", test.LogP > alone.Factorized.Value)
	fmt.Println("the bound is below it:", test.Bound < test.LogP)
	fmt.Println("standard error below 0.2 nats:", test.LogPSE < 0.2)
	// Output:
	// better than independent pixels: true
	// the bound is below it: true
	// standard error below 0.2 nats: true
}

// interrupt ends training after an epoch, as Ctrl-C does.
type interrupt struct {
	runs.Recorder
	after int
	end   context.CancelFunc
}

func (i interrupt) Epoch(e runs.Epoch) {
	if e.Epoch == i.after {
		i.end()
	}
}

// If the context ends, training leaves a checkpoint. The same call resumes there, and produces the
// same bytes as an uninterrupted run.
func ExampleMethod_Train_resume() {
	dir := must(os.MkdirTemp("", "resumed"))
	defer os.RemoveAll(dir)

	set := lines()
	machine, rws := hm.New(set.Shape()).Dense(4), hm.RWS().LearningRate(0.05).Epochs(5)
	ctx, end := context.WithCancel(context.Background())
	_, err := rws.Train(ctx, machine, set, filepath.Join(dir, "a"), interrupt{runs.Quiet, 2, end})
	var stopped *runs.Interruption
	if errors.As(err, &stopped) {
		fmt.Println("stopped in epoch", stopped.Epoch, "of", stopped.Epochs)
	}

	resumed := must(rws.Train(context.Background(), machine, set, filepath.Join(dir, "a"), runs.Quiet))
	whole := must(rws.Train(context.Background(), machine, set, filepath.Join(dir, "b"), runs.Quiet))
	fmt.Println("epochs:", resumed.Epochs())
	fmt.Println("as if never stopped:", resumed.Snapshot().Checksum() == whole.Snapshot().Checksum())
	// Output:
	// stopped in epoch 3 of 5
	// epochs: 5
	// as if never stopped: true
}

// OpenRun opens a run by its directory, and its model draws dreams.
func ExampleOpenRun() {
	ctx, dir := context.Background(), must(os.MkdirTemp("", "dreams"))
	defer os.RemoveAll(dir)

	set := lines()
	bihm := hm.BiHM().LearningRate(0.05).Epochs(2)
	must(bihm.Train(ctx, hm.New(set.Shape()).Dense(6, 3), set, dir, runs.Quiet))

	run := must(hm.OpenRun(dir))
	dreams := must(run.Draw(ctx, 16))                             // x ~ p
	between := must(run.Gibbs(ctx, 16, hm.Chain{Sweeps: 5}, nil)) // means of p*, by Gibbs chains
	fmt.Println(run.Experiment())
	fmt.Println(len(dreams.Values), "dreams of", dreams.Shape)
	fmt.Println(len(between.Values), "states of chains, the first unit within [0, 1]:", 0 <= between.Values[0][0] && between.Values[0][0] <= 1)
	// Output:
	// BiHM, η = 0.05
	// 16 dreams of 3×3
	// 16 states of chains, the first unit within [0, 1]: true
}

// Two methods are compared on the same data: their differing settings, and their results.
func Example_compare() {
	ctx, dir := context.Background(), must(os.MkdirTemp("", "compared"))
	defer os.RemoveAll(dir)

	set := lines()
	machine := hm.New(set.Shape()).Dense(6, 3)
	ws, rws := filepath.Join(dir, "ws"), filepath.Join(dir, "rws")
	must(hm.WS().LearningRate(0.05).Epochs(3).TrainSeeds(ctx, machine, set, 2, ws, runs.Quiet))
	must(hm.RWS().LearningRate(0.05).Epochs(3).TrainSeeds(ctx, machine, set, 2, rws, runs.Quiet))

	comparison := must(must(runs.Compare(ws, rws)).EvaluateCheckpoint(ctx, "last", set.Test(), 50, nil))
	fmt.Println("different:", comparison.Settings)
	for _, c := range comparison.Experiments {
		logP := c.Evaluation["log_p"] // mean and standard deviation over the seeds, nats
		fmt.Printf("%v, seeds %v: log p within −7 and −5 nats: %t\n", c.Method, c.Seeds, -7 < logP.Mean && logP.Mean < -5)
	}
	// Output:
	// different: [method.phases method.preset]
	// WS, η = 0.05, seeds [1 2]: log p within −7 and −5 nats: true
	// RWS, η = 0.05, seeds [1 2]: log p within −7 and −5 nats: true
}

// A method with another metric uses natural gradients: RWS in the Fisher metric is NRWS. At the
// same learning rate natural gradients are ahead, partly because their steps are longer. For a
// machine this small, KL(p_D‖p) of the model from the data is computed by enumeration.
func ExampleMethod_Metric() {
	ctx, dir := context.Background(), must(os.MkdirTemp("", "natural"))
	defer os.RemoveAll(dir)

	set := lines()
	machine := hm.New(set.Shape()).Dense(6, 3)
	plain := hm.RWS().LearningRate(0.02).Epochs(10)
	natural := plain.Metric(hm.Block).Damping(0.1).RefreshEvery(10)
	fmt.Println(natural)

	p := must(plain.Train(ctx, machine, set, filepath.Join(dir, "plain"), runs.Quiet))
	n := must(natural.Train(ctx, machine, set, filepath.Join(dir, "natural"), runs.Quiet))
	fmt.Println("natural gradients are ahead:", must(n.ExactKL(ctx, set.Test())) < must(p.ExactKL(ctx, set.Test())))
	// Output:
	// RWS, η = 0.02, α = 0.1, metric block, K = 10; 10 epochs, seed 1
	// natural gradients are ahead: true
}
