package general_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/helmholtz-go/helmholtz/boltzmann/general"
	"github.com/helmholtz-go/helmholtz/dataset"
)

// A machine without hidden units, all of whose visible ones are connected, is an Ising model.
func Example() {
	dir, err := os.MkdirTemp("", "general")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	lines, err := dataset.Open("3by3")
	if err != nil {
		log.Fatal(err)
	}
	experiment := general.NewExperiment(lines, general.All, 0)
	experiment.Epochs = 2
	run, err := experiment.Train(context.Background(), lines, dir)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(run.Experiment(), len(run.Model().Connected()), "weights")
	// Output: general BM 0, all, η = 0.1 36 weights
}
