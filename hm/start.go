package hm

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/shell"
	"github.com/helmholtz-go/helmholtz/runs"
)

// From starts training from the parameters of the run in a directory instead of random ones
// (fine-tuning; BiHM thesis 2016, 3.6.2). checkpoint is last, best, or an epoch whose checkpoint
// the run keeps. Optimisers and Fisher blocks start afresh.
func (m Method) From(dir, checkpoint string) Method {
	m.start = &runs.Source{Run: dir, Checkpoint: checkpoint}
	return m
}

func (e Experiment) startParameters(shape dataset.Shape) (*engine.Parameters, error) {
	fail := func(err error) error { return fmt.Errorf("start from %s: %w", e.Start.Run, err) }
	run, err := OpenRun(e.Start.Run)
	if err != nil {
		return nil, fail(err)
	}
	if was := run.Experiment().Dataset.Standardize; was != e.Dataset.Standardize {
		return nil, fail(fmt.Errorf("it was trained with standardize = %v: train on such data", was))
	}
	model, err := run.Checkpoint(e.Start.Checkpoint)
	if err != nil {
		return nil, fail(err)
	}
	if err := e.checkMachine(model.parameters, shape); err != nil {
		return nil, fail(fmt.Errorf("%w: describe the same machine, as --config %s does", err, shell.Argument(filepath.Join(e.Start.Run, "experiment.toml"))))
	}
	if err := e.Start.CheckParameters(checksum(model.parameters)); err != nil {
		return nil, fail(err)
	}
	return model.parameters, nil
}

func checksum(p *engine.Parameters) string { return runs.Checksum(appendTensors(nil, "", p)) }

// Resolve returns the experiment, completed with the groups of the set's columns and with the checksum
// of the parameters that training starts from.
func (e Experiment) Resolve(set *dataset.Set) (runs.Experiment, error) {
	var err error
	if e.Machine, err = e.Machine.withGroupsOf(set); err != nil {
		return nil, err
	}
	start, err := e.Start.Resolved(func() (string, error) {
		p, err := e.startParameters(set.Shape())
		if err != nil {
			return "", err
		}
		return checksum(p), nil
	})
	e.Start = start
	return e, err
}

func (e Experiment) checkStart() error {
	if e.Start != nil && strings.TrimSpace(e.Start.Run) == "" {
		return fmt.Errorf("start without a run: name the directory of the run whose parameters training starts from")
	}
	return nil
}
