package main

import (
	"encoding/json"
	"fmt"

	"github.com/helmholtz-go/helmholtz/boltzmann/general"
	"github.com/helmholtz-go/helmholtz/plotting"
	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/spf13/cobra"
)

// openGeneral opens the run of a general Boltzmann machine in a directory, and the model of a
// checkpoint with a seed for its draws.
func openGeneral(dir, which string, seed uint64) (*general.Run, *general.Model, error) {
	run, err := general.OpenRun(dir)
	if err != nil {
		return nil, nil, err
	}
	model, err := run.Checkpoint(which)
	if err != nil {
		return nil, nil, err
	}
	return run, model.Seed(seed), nil
}

// sampleGeneral draws images from the model of a run.
func sampleGeneral(c *cobra.Command, dir, which, kind string, n, sweeps int, seed uint64, out string) error {
	if kind != "means" {
		return misuse(c, "--kind %s: of general Boltzmann machines means are drawn; leave it out", kind)
	}
	_, model, err := openGeneral(dir, which, seed)
	if err != nil {
		return err
	}
	sheet, err := model.Sample(c.Context(), n, sweeps)
	if err != nil {
		return err
	}
	if err := plotting.Samples(sheet).Save(out); err != nil {
		return err
	}
	fmt.Fprintln(c.OutOrStdout(), out)
	return nil
}

// generalEvaluation is the evaluation of a run of a general Boltzmann machine.
type generalEvaluation struct {
	Run        string         `json:"run"`
	Checkpoint string         `json:"checkpoint"`
	Seed       uint64         `json:"seed"` // of training
	Exact      bool           `json:"exact"`
	Split      string         `json:"split"`
	Data       int            `json:"data"`
	Chains     int            `json:"chains"` // of AIS
	DrawSeed   uint64         `json:"draw_seed"`
	Estimates  runs.Estimates `json:"estimates"`
}

// evalGeneral evaluates the general Boltzmann machines of a run or of the runs of several seeds.
func evalGeneral(c *cobra.Command, dir string, x estimate, chains int, asJSON bool) error {
	if err := refuseOthers(c, "general Boltzmann machines", []string{"samples", "parts", "shard", "log-z2", "log-z2-inner", "schedule", "raise", "raise-chains", "format", "table"}); err != nil {
		return err
	}
	seeds, err := runs.OpenSeeds(dir)
	if err != nil {
		return err
	}
	for _, of := range seeds.Runs {
		run, model, err := openGeneral(of.Dir(), x.checkpoint, x.seed)
		if err != nil {
			return err
		}
		set, err := run.Dataset()
		if err != nil {
			return err
		}
		rows := pick(set, x.split).Some(x.rows, x.seed)
		e := generalEvaluation{Run: of.Dir(), Checkpoint: x.checkpoint, Seed: run.Experiment().Seed, Exact: model.Enumerable(), Split: rows.Name, Data: rows.Rows, Chains: chains, DrawSeed: x.seed}
		if e.Estimates, err = model.Evaluate(c.Context(), rows, chains, newFraction(c.ErrOrStderr(), "annealing")); err != nil {
			return err
		}
		if asJSON {
			err = json.NewEncoder(c.OutOrStdout()).Encode(e)
		} else {
			_, err = fmt.Fprint(c.OutOrStdout(), e)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// String writes the evaluation for people.
func (e generalEvaluation) String() string {
	ofLogP, ofLogZ := "nats, exact", "nats, exact"
	if !e.Exact {
		ofLogP = fmt.Sprintf("nats by AIS of %d chains, too high in expectation; ± is of the rows alone", e.Chains)
		ofLogZ = "nats by AIS, too low in expectation"
	}
	line := func(key, name, unit string) string {
		of := e.Estimates[key]
		return runs.Spread{Mean: of.Value, SD: of.SE}.Line(name, unit)
	}
	return line(runs.LogP.Key, "log p", ofLogP) + line("log_z", "log Z", ofLogZ) + line("free_energy", "free energy", "nats") +
		fmt.Sprintf("%s, checkpoint %s: %d %s rows, draws of seed %d\n", e.Run, e.Checkpoint, e.Data, e.Split, e.DrawSeed)
}
