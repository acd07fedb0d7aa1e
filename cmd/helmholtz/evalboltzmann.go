package main

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/helmholtz-go/helmholtz/boltzmann"
	"github.com/helmholtz-go/helmholtz/boltzmann/general"
	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// annealingFlags say how Boltzmann machines are evaluated.
type annealingFlags struct {
	annealing         boltzmann.Annealing
	raise, ofRow      int // rows; chains of each
	split, checkpoint string
	rows              int
	seed              uint64
}

// ofAnnealing and ofImportance are flags of eval for one family alone.
var (
	ofAnnealing  = []string{"schedule", "chains", "raise", "raise-chains"}
	ofImportance = []string{"log-z2", "log-z2-inner", "parts", "shard"}
)

func newAnnealingFlags(f *pflag.FlagSet) *annealingFlags {
	x := &annealingFlags{}
	f.TextVar(&x.annealing.Schedule, "schedule", boltzmann.Published(), "of a Boltzmann machine, the `steps` of AIS: published, even:N or adaptive:N")
	numberFlag(f, &x.annealing.Chains, "chains", 100, 2, "`M` chains of AIS")
	numberFlag(f, &x.raise, "raise", 0, 0, "estimate log p of `N` of the rows by RAISE too, along the same schedule")
	numberFlag(f, &x.ofRow, "raise-chains", 10, 1, "`M` chains of each row of RAISE")
	return x
}

// runEvaluation is the evaluation of a checkpoint of a run, maybe one of several seeds.
type runEvaluation struct {
	Run        string `json:"run"`        // its directory
	Checkpoint string `json:"checkpoint"` // last, best, or the number of an epoch
	Seed       uint64 `json:"seed"`       // of training
	Epochs     int    `json:"epochs"`     // done
	Finished   bool   `json:"finished"`
	boltzmann.Evaluation
}

// row is what comes before the evaluation in a table.
func (e runEvaluation) row() []any { return []any{e.Run, e.Checkpoint, e.Seed, e.Epochs, e.Finished} }

var runColumns = []runs.Column{{Key: "run"}, {Key: "checkpoint"}, {Key: "seed", Kind: runs.Integer}, {Key: "epochs", Kind: runs.Integer}, {Key: "finished", Kind: runs.Boolean}}

// refuseOthers refuses flags of another family of machines.
func refuseOthers(c *cobra.Command, family string, flags []string) error {
	for _, name := range flags {
		if c.Flags().Changed(name) {
			return misuse(c, "--%s: %s do without it; leave it out", name, family)
		}
	}
	return nil
}

// evalBoltzmann evaluates the Boltzmann machines of a run or of the runs of several
// seeds.
func (x *annealingFlags) evalBoltzmann(c *cobra.Command, dir string, tables *tableFlags, asJSON bool) error {
	if x.raise == 0 {
		if err := refuseIdle(c, "--raise", "raise-chains"); err != nil {
			return err
		}
	}
	seeds, err := runs.OpenSeeds(dir)
	if err != nil {
		return err
	}
	var each []runEvaluation
	for _, of := range seeds.Runs {
		e, err := x.evaluate(c, of.Dir())
		if err != nil {
			return fmt.Errorf("%s: %w", of.Dir(), err)
		}
		if err := x.refuseAnnealing(c, e); err != nil {
			return err
		}
		each = append(each, e)
	}
	table := evaluationsTable(runColumns, each)
	if tables.chosen() {
		return tables.print(table)
	}
	return errors.Join(printBoltzmann(c, seeds, each, asJSON), tables.save(table))
}

// printBoltzmann writes the evaluations of the runs of seeds, of several with their spread.
func printBoltzmann(c *cobra.Command, seeds *runs.Seeds, each []runEvaluation, asJSON bool) error {
	several, out := seeds.Runs[0].Dir() != seeds.Dir(), c.OutOrStdout()
	over := boltzmannOverSeeds(each)
	switch {
	case asJSON && several:
		return json.NewEncoder(out).Encode(struct {
			Seeds   []runEvaluation        `json:"seeds"`
			Waiting int                    `json:"waiting"` // seeds without a checkpoint
			Over    map[string]runs.Spread `json:"over_seeds"`
		}{each, seeds.Waiting, over})
	case asJSON:
		return json.NewEncoder(out).Encode(each[0])
	}
	for _, e := range each {
		if _, err := fmt.Fprintf(out, "%s, checkpoint %s\n%v", e.Run, e.Checkpoint, e.Evaluation); err != nil {
			return err
		}
	}
	if several {
		waiting := ""
		if seeds.Waiting > 0 {
			waiting = fmt.Sprintf(", %d more have no checkpoint yet", seeds.Waiting)
		}
		fmt.Fprintf(out, "mean ± sd over %d seeds%s\n%s", len(each), waiting, over[runs.LogP.Key].Line("log p", "nats"))
		if each[0].Classification != nil {
			wrong := runs.SpreadOf(each, func(e runEvaluation) float64 { return 100 * float64(e.Classification.Error) })
			fmt.Fprint(out, wrong.Line("error of labels", "%"))
		}
	}
	return nil
}

// refuseAnnealing refuses flags of AIS where nothing was annealed.
func (x *annealingFlags) refuseAnnealing(c *cobra.Command, e runEvaluation) error {
	idle := []string{"chains"}
	if x.raise == 0 {
		idle = append(idle, "schedule")
	}
	for _, name := range idle {
		if e.Errs == boltzmann.Exact && c.Flags().Changed(name) {
			return misuse(c, "--%s: log Z of the run in %s is exact, one side of its machine being small enough to sum it out, and nothing is annealed; leave it out", name, e.Run)
		}
	}
	return nil
}

// of says what is evaluated: a checkpoint of the run in a directory.
func (x *annealingFlags) of(dir string, run *runs.Run) runEvaluation {
	return runEvaluation{Run: dir, Checkpoint: x.checkpoint, Seed: run.Experiment().Header().Seed, Epochs: run.Epochs(), Finished: run.Finished()}
}

// evaluate evaluates the run in a directory.
func (x *annealingFlags) evaluate(c *cobra.Command, dir string) (e runEvaluation, err error) {
	if isUpDown(dir) {
		return x.evaluateUpDown(c, dir)
	}
	if holds[general.Experiment](dir) {
		return x.evaluateGeneral(c, dir)
	}
	run, model, err := openBoltzmann(dir, x.checkpoint, x.seed)
	if err != nil {
		return e, err
	}
	belief := run.Experiment().Below != nil
	if x.annealing.Samples > 0 && !belief {
		return e, misuse(c, "--samples: Boltzmann machines do without it, but for belief networks; leave it out")
	}
	if x.raise > 0 && (belief || len(run.Experiment().Machine.Above) > 0) {
		return e, misuse(c, "--raise: RAISE is of machines with one hidden layer, not of %v; leave it out", run.Experiment())
	}
	set, err := run.Dataset()
	if err != nil {
		return e, err
	}
	rows := pick(set, x.split).Subset(x.rows, x.seed)
	e = x.of(dir, run.Run)
	if e.Evaluation, err = model.Evaluate(c.Context(), set, rows, x.annealing, newFraction(c.ErrOrStderr(), "annealing")); err != nil || x.raise == 0 {
		return e, err
	}
	e.Evaluation, err = e.WithRAISE(c.Context(), model, set, rows.Subset(x.raise, x.seed),
		boltzmann.Annealing{Schedule: x.annealing.Schedule, Chains: x.ofRow}, newFraction(c.ErrOrStderr(), "reverse annealing"))
	return e, err
}

// boltzmannOverSeeds are the spreads of log p, log Z, free energies and what is said of labels over
// evaluations, one a seed, by the keys of measures.
func boltzmannOverSeeds(each []runEvaluation) map[string]runs.Spread {
	over := map[string]runs.Spread{}
	spread := func(key string, value func(boltzmann.Evaluation) runs.Float) {
		over[key] = runs.SpreadOf(each, func(e runEvaluation) float64 { return float64(value(e.Evaluation)) })
	}
	spread(runs.LogP.Key, func(e boltzmann.Evaluation) runs.Float { return e.LogP })
	spread("log_z", func(e boltzmann.Evaluation) runs.Float { return e.LogZ.Value })
	spread("free_energy", func(e boltzmann.Evaluation) runs.Float { return e.FreeEnergy })
	if each[0].Classification != nil {
		spread("label_log_p", func(e boltzmann.Evaluation) runs.Float { return e.Classification.LogP })
		spread("classification_error", func(e boltzmann.Evaluation) runs.Float { return e.Classification.Error })
	}
	return over
}
