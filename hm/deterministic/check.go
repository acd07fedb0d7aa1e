package deterministic

import (
	"errors"
	"fmt"
	"math"

	"github.com/helmholtz-go/helmholtz/dataset"
)

// Check refuses an experiment that cannot be trained on set, with the setting, its
// value and the remedy.
func (e Experiment) Check(set *dataset.Set) error {
	if err := e.Err(); err != nil {
		return err
	}
	if err := e.Machine.check(); err != nil {
		return err
	}
	if binarization := e.Dataset.Binarization; binarization != dataset.Fixed {
		return fmt.Errorf("binarization = %v: a deterministic machine learns from zeros and ones that stay; use fixed", binarization)
	}
	if rate := e.Training.LearningRate; !(rate > 0) || math.IsInf(rate, 1) {
		return fmt.Errorf("learning rate %v: give a positive, finite number", rate)
	}
	if err := e.Header().Check(set); err != nil {
		return err
	}
	return e.checkLogP()
}

// check refuses hidden layers that no machine has.
func (s MachineSpec) check() error {
	if len(s.Layers) == 0 {
		return errors.New("machine without hidden layers: give the numbers of their units, such as layers = [6]")
	}
	for i, n := range s.Layers {
		if n < 1 || n > mostUnits {
			return fmt.Errorf("hidden layer %d has %d units: give each layer between 1 and %d", i+1, n, mostUnits)
		}
	}
	return nil
}

// checkLogP refuses to measure log p(x) where it cannot be summed.
func (e Experiment) checkLogP() error {
	if e.LogPEvery < 0 {
		return fmt.Errorf("log_p_every = %d: give the number of epochs after which log p is measured, or 0 for never", e.LogPEvery)
	}
	if e.LogPEvery == 0 {
		return nil
	}
	if err := checkStates(e.Machine.Layers); err != nil {
		return fmt.Errorf("log_p_every = %d: %w, or leave log_p_every out", e.LogPEvery, err)
	}
	return nil
}
