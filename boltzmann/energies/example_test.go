package energies_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/helmholtz-go/helmholtz/boltzmann/energies"
	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/runs"
)

// A conditional RBM predicts the lower two lines of a pattern from the upper one better than logistic
// regression, which is the same machine without hidden units.
func Example() {
	dir, err := os.MkdirTemp("", "energies")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	lines, err := dataset.Spec{Name: "3by3", Subset: 600}.Open()
	if err != nil {
		log.Fatal(err)
	}
	logP := func(hidden int) float64 {
		e := energies.ConditionalRBM.Experiment(lines)
		e.Epochs, e.Settings.Training.LearningRate = 20, 0.1
		e.Settings.Machine = energies.Conditional{Hidden: hidden, Predict: "bottom"}
		e.Settings.Training.BatchSize = 20
		run, err := e.Train(context.Background(), lines, fmt.Sprint(dir, "/", hidden), runs.Quiet)
		if err != nil {
			log.Fatal(err)
		}
		estimates, err := run.Model().Estimate(context.Background(), lines.Test(), 0, 1, nil)
		if err != nil {
			log.Fatal(err)
		}
		return estimates[runs.LogP.Key].Value
	}
	fmt.Printf("log p(v|u) %.1f, by regression %.1f\n", logP(8), logP(0))
	// Output: log p(v|u) -0.5, by regression -1.4
}
