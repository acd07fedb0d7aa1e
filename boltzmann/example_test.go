package boltzmann_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/helmholtz-go/helmholtz/boltzmann"
	"github.com/helmholtz-go/helmholtz/dataset"
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
