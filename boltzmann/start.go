package boltzmann

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/philox"
	"github.com/helmholtz-go/helmholtz/internal/shell"
	"github.com/helmholtz-go/helmholtz/runs"
)

// From starts training from the parameters of the run in a directory, instead of random ones. checkpoint is
// last, best or the number of an epoch that the run keeps. Training also takes over the run's offsets of the
// centred gradient, standardisation of Gaussian units and chains; optimisers start afresh. If the method has
// another number of chains or temperatures, training copies the run's chains at temperature 1 as often as
// needed. If the run has no chains, the new chains begin at hidden units drawn given training rows.
func (m Method) From(dir, checkpoint string) Method {
	m.start = &runs.Source{Run: dir, Checkpoint: checkpoint}
	return m
}

// startState reads the state from which the experiment starts, and returns it with the method that trained
// it. It refuses a machine for images of another shape.
func (e Experiment) startState(shape dataset.Shape) (s state, by MethodSpec, err error) {
	fail := func(err error) (state, MethodSpec, error) {
		return state{}, by, fmt.Errorf("start from %s: %w", e.Start.Run, err)
	}
	run, err := OpenRun(e.Start.Run)
	if err != nil {
		return fail(err)
	}
	at, err := run.Run.Checkpoint(e.Start.Checkpoint)
	if err != nil {
		return fail(err)
	}
	s, of, err := readSnapshot(at)
	if err != nil {
		return fail(err)
	}
	alike := run.Experiment()
	alike.Machine = e.Machine
	switch err := alike.checkState(s, of); {
	case err != nil:
		return fail(fmt.Errorf("%w: describe the same machine, as --config %s does", err, shell.Argument(filepath.Join(e.Start.Run, "experiment.toml"))))
	case of != shape:
		return fail(fmt.Errorf("it is for images of %v, the data have %v: train on data of the same shape", of, shape))
	case s.below != nil:
		return fail(errors.New("it is the top of a belief network: fine-tune the whole network, by --up-down, or start from a machine of images"))
	}
	if err := e.Start.CheckParameters(startChecksum(s)); err != nil {
		return fail(err)
	}
	return s, run.Experiment().Method, nil
}

// start replaces the initial state of training by the state of the run that the experiment starts from.
func (e Experiment) start(s *state, set *dataset.Set) error {
	from, by, err := e.startState(set.Shape())
	if err != nil {
		return err
	}
	s.parameters, s.standard = from.parameters, from.standard
	if by.Centered && e.Method.Centered {
		s.visibleOffsets, s.hiddenOffsets = from.visibleOffsets, from.hiddenOffsets
	}
	switch chains := from.persistent; {
	case s.persistent.Rows == 0:
		return nil
	case e.Method.Algorithm == Trajectories && (len(from.rungs) == 0 || by.Chains != e.Method.Chains):
		return fmt.Errorf("start from %s: the ladder is too short, with no rung between a machine without weights and the run's: start from a ptt run with the same number of chains, or train from random weights", e.Start.Run)
	case chains.Rows == 0:
		return e.startAtRows(s, set)
	case by.Chains == e.Method.Chains && by.Temperatures == e.Method.Temperatures:
		s.persistent = chains
		if e.Method.Algorithm == Trajectories {
			s.rungs = from.rungs
		}
	default:
		for r := range s.persistent.Rows {
			copy(kernels.Row(s.persistent, r), kernels.Row(chains, r%e.Method.Chains%by.Chains))
		}
	}
	return nil
}

// startAtRows draws the hidden units of chains given training rows.
func (e Experiment) startAtRows(s *state, set *dataset.Set) error {
	chains := s.persistent
	states, err := e.model(*s, set.Shape()).states(context.Background(), set.Train().Subset(chains.Rows, e.Seed))
	if err != nil {
		return err
	}
	visible, inputs := kernels.NewMatrix(chains.Rows, states.Cols), kernels.NewMatrix(chains.Rows, chains.Cols)
	for r := range visible.Rows {
		copy(kernels.Row(visible, r), kernels.Row(states, r%states.Rows))
	}
	newProducts(s.parameters).up(inputs, visible)
	place{key: philox.Key(e.Seed), purpose: philox.Start}.draw(s.parameters.hiddenUnits(), chains, inputs)
	return nil
}

func startChecksum(s state) string {
	return runs.Snapshot{Tensors: parameterTensors("", s.parameters)}.Checksum()
}

// checkStart refuses a start that names no run, or that conflicts with another source of parameters.
func (e Experiment) checkStart() error {
	switch {
	case e.Start == nil:
		return nil
	case strings.TrimSpace(e.Start.Run) == "":
		return errors.New("start without a run: name the directory of the run whose parameters training starts from")
	case e.Pretrained != nil:
		return errors.New("start together with pretrained layers: the run that it names has the parameters of all layers; leave the pretrained ones out")
	case e.Below != nil:
		return errors.New("start of a machine that stands on a run: the layers of a belief network begin from random weights; leave it out")
	}
	return nil
}
