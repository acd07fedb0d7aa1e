package autoencoder_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/factors/autoencoder"
	"github.com/helmholtz-go/helmholtz/runs"
)

// An autoencoder with four latent variables learns the 18 patterns of 3by3, each of which has the
// log-probability −ln 18 = −2.89.
func Example() {
	grid, err := dataset.Open("3by3")
	if err != nil {
		log.Fatal(err)
	}
	e := autoencoder.Family.Experiment(grid)
	e.Epochs = 10
	e.Settings.Hidden, e.Settings.Code, e.Settings.LearningRate, e.Settings.BatchSize = []int{20}, 4, 0.01, 9
	dir, err := os.MkdirTemp("", "autoencoder")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	run, err := e.Train(ctx, grid, dir, runs.Quiet)
	if err != nil {
		log.Fatal(err)
	}
	of, err := run.Model().Estimate(ctx, grid.Test(), 1000, 1, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(run.Model())
	fmt.Printf("log p(x) > −3.3 nats: %v\n", of["log_p"].Value > -3.3)
	// Output:
	// an autoencoder with VAE 9–20–4 and 657 parameters
	// log p(x) > −3.3 nats: true
}
