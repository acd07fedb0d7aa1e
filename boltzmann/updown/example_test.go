package updown_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/helmholtz-go/helmholtz/boltzmann"
	"github.com/helmholtz-go/helmholtz/boltzmann/updown"
	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/runs"
)

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

// A belief network is trained layer by layer, and then as a whole.
func Example() {
	ctx, dir := context.Background(), must(os.MkdirTemp("", "updown"))
	defer os.RemoveAll(dir)

	set := must(dataset.Spec{Name: "3by3", Subset: 5000, Validation: new(100)}.Open())
	greedy := filepath.Join(dir, "greedy")
	machine := boltzmann.New(set.Shape()).Hidden(12, 6)
	must(boltzmann.PCD().LearningRate(0.3).Epochs(6).TrainBelief(ctx, machine, set, greedy, runs.Quiet))

	experiment := updown.Family.Experiment(set)
	experiment.Settings.Network.Run = boltzmann.LayerDir(greedy, 2)
	run := must(experiment.Train(ctx, set, filepath.Join(dir, "tuned"), runs.Quiet))
	before := must(must(boltzmann.OpenRun(boltzmann.LayerDir(greedy, 2))).Evaluate(ctx, set, set.Test(), boltzmann.Annealing{}, nil))
	after := must(run.Model().Evaluate(ctx, set, set.Test(), boltzmann.Annealing{}, nil))
	fmt.Println("the whole is better than its layers:", after.LogP > before.LogP)
	// Output: the whole is better than its layers: true
}
