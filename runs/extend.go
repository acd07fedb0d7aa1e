package runs

import (
	"errors"
	"fmt"
	"os"

	"github.com/helmholtz-go/helmholtz/internal/file"
)

// Extend raises the number of epochs of the finished run in a directory, or of the runs of all seeds in it, and
// returns the changed experiment, of several seeds the first. Training then continues the run, which ends as if it had
// that number of epochs from the start. Extend refuses a run whose learning rate depends on the number of epochs, or
// that ended by patience. It extends no seed if any of them cannot be extended. A run that already has that number of
// epochs stays as it is.
func Extend(dir string, epochs int) (Experiment, error) {
	e, err := ExperimentIn(dir)
	at := func(Experiment) string { return dir }
	all := []Experiment{e}
	if errors.Is(err, os.ErrNotExist) {
		at = func(e Experiment) string { return SeedDir(dir, e.Header().Seed) }
		if all, err = readSeeds(dir); err == nil && len(all) == 0 {
			err = notSeeds(dir)
		}
	}
	if err != nil {
		return nil, err
	}
	var dirs []string
	for _, e := range all {
		if e.Header().Epochs != epochs {
			dirs = append(dirs, at(e))
		}
	}
	return withEpochs(all[0], epochs), extendAll(dirs, epochs)
}

// extendAll extends the runs in directories after checking that all of them can be extended.
func extendAll(dirs []string, epochs int) error {
	for _, dir := range dirs {
		if _, err := extended(dir, epochs); err != nil {
			return err
		}
	}
	var all []Experiment
	var held []*file.Held
	for _, dir := range dirs {
		h, err := hold(dir)
		if err != nil {
			return err
		}
		defer h.Release()
		longer, err := extended(dir, epochs) // again: another program may have extended it
		if err != nil {
			return err
		}
		all, held = append(all, longer), append(held, h)
	}
	for i, dir := range dirs {
		if err := held[i].WriteAside(experimentFile, sealText(all[i].TOML())); err != nil {
			return notWritten(dir, err)
		}
	}
	return nil
}

func extended(dir string, epochs int) (Experiment, error) {
	run, err := Open(dir)
	if err != nil {
		return nil, err
	}
	e, h := run.experiment, run.experiment.Header()
	switch {
	case h.Epochs == epochs:
		return e, nil // another program has extended it meanwhile
	case !run.Finished():
		return nil, fmt.Errorf("the run in %s is not finished: resume it first, up to epoch %d", dir, h.Epochs)
	case run.Epochs() < h.Epochs || h.Patience > 0 && run.Epochs()-run.BestEpoch() >= h.Patience:
		return nil, fmt.Errorf("the run in %s ended by patience after %d of %d epochs: more epochs would not improve it", dir, run.Epochs(), h.Epochs)
	case epochs < h.Epochs:
		return nil, fmt.Errorf("the run in %s has done %d epochs: give a larger number", dir, h.Epochs)
	}
	set, err := run.Dataset()
	if err != nil {
		return nil, err
	}
	longer := withEpochs(e, epochs)
	if err := longer.Check(set); err != nil {
		return nil, err
	}
	perEpoch := h.StepsPerEpoch(set.Train().Rows)
	if !sameRates(e, longer, run.position.Step, perEpoch) {
		return nil, fmt.Errorf("the run in %s was trained with a learning rate that decayed towards its last epoch, so it differs from the first part of a run of %d epochs: train a new run of that length or, for a Helmholtz or a Boltzmann machine, one that starts from its parameters (--from)", dir, epochs)
	}
	return longer, nil
}

// sameRates reports whether two experiments have the same learning rates in their first steps.
func sameRates(a, b Experiment, steps, perEpoch int) bool {
	for step := range steps {
		if a.LearningRate(step, perEpoch) != b.LearningRate(step, perEpoch) {
			return false
		}
	}
	return true
}
