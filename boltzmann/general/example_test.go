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
	experiment := general.Family.Experiment(lines)
	experiment.Epochs = 2
	run, err := experiment.Train(context.Background(), lines, dir)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(run.Model())
	// Output: a general Boltzmann machine of 9 visible and 0 hidden units, with 36 pairs
}
