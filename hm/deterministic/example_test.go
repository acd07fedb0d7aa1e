package deterministic_test

import (
	"fmt"
	"log"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm/deterministic"
)

// The text of an experiment is a file that "helmholtz train --config" trains.
func ExampleNewExperiment() {
	grid, err := dataset.Open("3by3")
	if err != nil {
		log.Fatal(err)
	}
	e := deterministic.NewExperiment(grid, deterministic.NoisyOr, 6)
	e.Fingerprint = "" // train on whatever data the name opens
	fmt.Printf("%s", e.TOML())
	// Output:
	// family = "deterministic"
	// epochs = 20
	// patience = 0
	// seed = 1
	//
	// [dataset]
	//   name = "3by3"
	//   binarization = "fixed"
	//   seed = 0
	//
	// [machine]
	//   activation = "noisy-or"
	//   layers = [6]
	//
	// [training]
	//   learning_rate = 0.01
	//   batch_size = 32
}
