package boltzmann_test

import (
	"context"
	"fmt"
	"log"
	"math"
	"os"
	"path/filepath"

	"gonum.org/v1/gonum/mat"

	"github.com/helmholtz-go/helmholtz/boltzmann"
	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/runs"
)

// A machine of few hidden units learns the lines of 3by3, and log p is exact.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "rbm")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	lines, err := dataset.Spec{Name: "3by3", Validation: new(500)}.Open()
	if err != nil {
		log.Fatal(err)
	}
	machine := boltzmann.New(lines.Shape()).Hidden(12)
	run, err := boltzmann.PCD().Chains(200).Steps(2).LearningRate(0.3).Epochs(12).Train(ctx, machine, lines, dir)
	if err != nil {
		log.Fatal(err)
	}
	logP, err := run.ExactLogP(ctx, lines.Test())
	if err != nil {
		log.Fatal(err)
	}
	mean := 0.0
	for _, l := range logP {
		mean += l / float64(len(logP))
	}
	fmt.Println("log p is more than −4 nats:", mean > -4)
	// Output: log p is more than −4 nats: true
}

// patterns are the lines of 3by3, 500 of them to train on, and a directory for runs.
func patterns() (set *dataset.Set, dir string, remove func()) {
	set, err := dataset.Spec{Name: "3by3", Subset: 500, Validation: new(100)}.Open()
	if err != nil {
		log.Fatal(err)
	}
	if dir, err = os.MkdirTemp("", "patterns"); err != nil {
		log.Fatal(err)
	}
	return set, dir, func() { os.RemoveAll(dir) }
}

// Where log Z can be summed, annealed importance sampling can be held against it.
func ExampleModel_AIS() {
	ctx := context.Background()
	set, dir, remove := patterns()
	defer remove()
	run, err := boltzmann.PCD().Epochs(5).Train(ctx, boltzmann.New(set.Shape()).Hidden(6), set, dir, runs.Quiet)
	if err != nil {
		log.Fatal(err)
	}
	exact, err := run.ExactLogZ(ctx)
	if err != nil {
		log.Fatal(err)
	}
	ais, err := run.AIS(ctx, set.Train(), boltzmann.Annealing{Schedule: boltzmann.Even(200), Chains: 200}, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("log Z within a tenth of a nat:", math.Abs(float64(ais.Value)-exact) < 0.1)
	fmt.Println("chains:", ais.Chains, "steps:", ais.Steps)
	// Output:
	// log Z within a tenth of a nat: true
	// chains: 200 steps: 200
}

// Natural gradients follow the Fisher metric of p(v), here of a small machine, whose whole
// matrix its chains estimate.
func ExampleMethod_Natural() {
	ctx := context.Background()
	set, dir, remove := patterns()
	defer remove()
	method := boltzmann.PCD().Natural(boltzmann.Marginal, 0.1).LearningRate(0.1).Epochs(40)
	run, err := method.Train(ctx, boltzmann.New(set.Shape()).Hidden(6), set, dir, runs.Quiet)
	if err != nil {
		log.Fatal(err)
	}
	evaluation, err := run.Evaluate(ctx, set, set.Test(), boltzmann.Annealing{}, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(run.Experiment())
	fmt.Println("log p is", evaluation.LogPErrs, "and above that of independent pixels:", evaluation.LogP > evaluation.BaselineLogP)
	// Output:
	// RBM 6, PCD-1, η = 0.1, marginal metric, α = 0.1
	// log p is exact and above that of independent pixels: true
}

// Two hidden layers make a deep Boltzmann machine by Train, a deep belief network by
// TrainBelief; what is known of their log p
// differs: of a belief network it is by importance samples, which are too low in expectation.
func ExampleMethod_TrainBelief() {
	ctx := context.Background()
	set, dir, remove := patterns()
	defer remove()
	machine, pcd := boltzmann.New(set.Shape()).Hidden(6, 4), boltzmann.PCD().LearningRate(0.05).Epochs(2)
	deep, err := pcd.Train(ctx, machine, set, filepath.Join(dir, "dbm"), runs.Quiet)
	if err != nil {
		log.Fatal(err)
	}
	belief, err := pcd.TrainBelief(ctx, machine, set, filepath.Join(dir, "dbn"), runs.Quiet)
	if err != nil {
		log.Fatal(err)
	}
	for _, run := range []*boltzmann.Run{deep, belief} {
		e, err := run.Evaluate(ctx, set, set.Test(), boltzmann.Annealing{}, nil)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%v: log Z is %v, log p is %v\n", run.Experiment(), e.LogZ.Errs, e.LogPErrs)
	}
	// Output:
	// DBM 6–4, PCD-1, η = 0.05: log Z is exact, log p is exact
	// DBN, top 4, PCD-1, η = 0.05: log Z is exact, log p is low
}

// A machine with a label beside its visible units tells labels by p(y|v).
func ExampleMachine_Labels() {
	ctx := context.Background()
	_, dir, remove := patterns()
	defer remove()
	digits, err := dataset.Spec{Name: "miniglyphs", Subset: 500}.Open()
	if err != nil {
		log.Fatal(err)
	}
	machine := boltzmann.New(digits.Shape()).Hidden(30).Labels(10)
	run, err := boltzmann.CD().Discriminative(1).BatchSize(20).LearningRate(2).Epochs(10).Train(ctx, machine, digits, dir, runs.Quiet)
	if err != nil {
		log.Fatal(err)
	}
	c, err := run.Classify(ctx, digits.Test())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("fewer than a quarter of the test digits are told wrong:", c.Error < 0.25)
	// Output: fewer than a quarter of the test digits are told wrong: true
}

// Parallel trajectory tempering keeps a ladder of earlier machines, along which Bennett's ratio gives log Z.
func ExampleModel_Bridge() {
	ctx := context.Background()
	set, dir, remove := patterns()
	defer remove()
	run, err := boltzmann.PTT().LearningRate(0.1).Epochs(10).Train(ctx, boltzmann.New(set.Shape()).Hidden(6), set, dir, runs.Quiet)
	if err != nil {
		log.Fatal(err)
	}
	exact, err := run.ExactLogZ(ctx)
	if err != nil {
		log.Fatal(err)
	}
	bridged, err := run.Bridge(ctx, 100, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("log Z within a tenth of a nat:", math.Abs(float64(bridged.LogZ)-exact) < 0.1)
	// Output: log Z within a tenth of a nat: true
}

// The parameters of a machine that another program trained become a run, which can be evaluated.
func ExampleWeights_Import() {
	ctx := context.Background()
	set, dir, remove := patterns()
	defer remove()
	w := boltzmann.Weights{W: mat.NewDense(9, 2, nil), B: make([]float64, 9), C: make([]float64, 2)}
	run, err := w.Import(set, boltzmann.Imported{File: "theirs.npz"}, dir)
	if err != nil {
		log.Fatal(err)
	}
	logP, err := run.ExactLogP(ctx, set.Test())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("without weights, each of the 2⁹ images has log p %.3f\n", logP[0])
	// Output: without weights, each of the 2⁹ images has log p -6.238
}

// Features returns hidden means, as inputs of a classifier.
func ExampleModel_Features() {
	ctx := context.Background()
	set, dir, remove := patterns()
	defer remove()
	run, err := boltzmann.PCD().Epochs(2).Train(ctx, boltzmann.New(set.Shape()).Hidden(6), set, dir, runs.Quiet)
	if err != nil {
		log.Fatal(err)
	}
	layers, err := run.Features(ctx, set.Test())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(layers), "layer,", len(layers[0]), "rows of", len(layers[0][0]), "means")
	// Output: 1 layer, 18 rows of 6 means
}

// Chains keep the known pixels and draw the missing ones.
func ExampleModel_Inpaint() {
	ctx := context.Background()
	set, dir, remove := patterns()
	defer remove()
	run, err := boltzmann.PCD().LearningRate(0.3).Epochs(10).Train(ctx, boltzmann.New(set.Shape()).Hidden(12), set, dir, runs.Quiet)
	if err != nil {
		log.Fatal(err)
	}
	mask, err := dataset.ParseMask("right", set.Shape(), 1)
	if err != nil {
		log.Fatal(err)
	}
	filled, err := run.Inpaint(ctx, set.Test(), mask, 3, 50, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(filled.Images), "chains for each of", len(filled.Originals.Values), "images")
	// Output: 3 chains for each of 18 images
}
