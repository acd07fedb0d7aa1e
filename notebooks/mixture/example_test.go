package mixture_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/notebooks/mixture"
	"github.com/helmholtz-go/helmholtz/runs"
)

// A family of one's own trains like any other, and two seeds of it are compared with one Gaussian.
func Example() {
	dir, err := os.MkdirTemp("", "mixture")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	glyphs, err := dataset.Spec{Name: "miniglyphs", Binarization: dataset.Gray, Subset: 200}.Open()
	if err != nil {
		log.Fatal(err)
	}
	e := mixture.Family.Experiment(glyphs)
	e.Epochs, e.Settings.Components = 5, 8
	if _, err := runs.TrainSeeds(context.Background(), e, glyphs, 2, dir+"/eight", runs.Quiet); err != nil {
		log.Fatal(err)
	}
	e.Settings.Components = 1
	run, err := e.Train(context.Background(), glyphs, dir+"/one", runs.Quiet)
	if err != nil {
		log.Fatal(err)
	}
	comparison, err := runs.Compare(dir+"/one", dir+"/eight")
	if err != nil {
		log.Fatal(err)
	}
	one, eight := comparison.Experiments[0], comparison.Experiments[1]
	fmt.Println(run.Experiment(), "for", run.Epochs(), "epochs")
	fmt.Printf("%s, seeds %v: ahead of one Gaussian: %v\n", eight.Method, eight.Seeds, eight.Validation.Mean > one.Validation.Mean)
	// Output:
	// mixture of 1, η = 0.5 for 5 epochs
	// mixture of 8, η = 0.5, seeds [1 2]: ahead of one Gaussian: true
}
