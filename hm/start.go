package hm

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/runs"
)

// Start says from which run's parameters training starts, instead of from drawn
// ones: fine-tuning (BiHM thesis 2016, 3.6.2). Optimisers and Fisher blocks begin anew.
type Start struct {
	Run string `toml:"run" json:"-"` // its directory
	// Checkpoint is last, best, or the number of an epoch whose checkpoint the run
	// keeps; empty stands for last.
	Checkpoint string `toml:"checkpoint,omitempty" json:"-"`
	// Parameters is the SHA-256 of the parameters. Training writes it; where it is
	// given, others are refused.
	Parameters string `toml:"parameters,omitempty" json:"parameters"`
}

// From starts training from the parameters of the run in a directory: its last
// checkpoint, its best, or that of an epoch that it keeps (last, best or a number).
func (m Method) From(dir, checkpoint string) Method {
	m.start = &Start{Run: dir, Checkpoint: checkpoint}
	return m
}

// Checkpoint returns the model of a checkpoint by its name: last, best, or the
// number of an epoch.
func (r *Run) Checkpoint(name string) (*Model, error) { return r.modelOf(r.Run.Checkpoint(name)) }

// parameters reads the parameters from which the experiment starts, for images of
// a shape.
func (s Start) parameters(e Experiment, shape dataset.Shape) (*engine.Parameters, error) {
	fail := func(err error) error { return fmt.Errorf("start from %s: %w", s.Run, err) }
	run, err := OpenRun(s.Run)
	if err != nil {
		return nil, fail(err)
	}
	model, err := run.Checkpoint(s.Checkpoint)
	if err != nil {
		return nil, fail(err)
	}
	if err := e.checkMachine(model.parameters, shape); err != nil {
		return nil, fail(fmt.Errorf("%w: describe the same machine", err))
	}
	if is := checksum(model.parameters); s.Parameters != "" && s.Parameters != is {
		return nil, fail(fmt.Errorf("its parameters are no longer those of the experiment (SHA-256 %.12s, not %.12s): restore its directory, or start a new run in another directory", is, s.Parameters))
	}
	return model.parameters, nil
}

// checksum is the SHA-256 of parameters.
func checksum(p *engine.Parameters) string { return runs.Checksum(appendTensors(nil, "", p)) }

// Resolve implements runs.Resolver.
func (e Experiment) Resolve(set *dataset.Set) (runs.Experiment, error) {
	if e.Start == nil || e.Start.Parameters != "" {
		return e, nil
	}
	p, err := e.Start.parameters(e, set.Shape())
	if err != nil {
		return nil, err
	}
	start := *e.Start
	start.Parameters = checksum(p)
	if start.Run, err = filepath.Abs(start.Run); err != nil {
		return nil, err
	}
	e.Start = &start
	return e, nil
}

// check refuses a start that names no run.
func (s *Start) check() error {
	if s != nil && strings.TrimSpace(s.Run) == "" {
		return fmt.Errorf("start without a run: name the directory of the run whose parameters it takes")
	}
	return nil
}
