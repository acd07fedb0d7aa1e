// Wasm trains a small machine, as a web page might, and prints the log p of each epoch
// and of the test rows. Its test runs it in Node.js.
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/runs"
)

func main() {
	if err := train(); err != nil {
		log.Fatal(err)
	}
}

func train() error {
	dir, err := os.MkdirTemp("", "wasm")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	set, err := dataset.Spec{Name: "3by3", Subset: 500, Validation: new(100)}.Open()
	if err != nil {
		return err
	}
	ctx := context.Background()
	machine := hm.New(set.Shape()).Dense(6, 3)
	nrws := hm.NRWS().LearningRate(0.05).Damping(0.1).RefreshEvery(10).Epochs(10)
	run, err := nrws.Train(ctx, machine, set, dir, runs.Quiet)
	if err != nil {
		return err
	}
	history := run.History()
	if history.Err != nil {
		return history.Err
	}
	for _, epoch := range history.Epochs {
		fmt.Println(epoch.Train[runs.LogP.Key])
	}
	test, err := run.Evaluate(ctx, set.Test(), 100, nil)
	if err != nil {
		return err
	}
	fmt.Println(test.LogP)
	return nil
}
