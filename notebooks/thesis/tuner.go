package thesis

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/internal/statistics"
	"github.com/helmholtz-go/helmholtz/notebooks/reproduce"
	"github.com/helmholtz-go/helmholtz/runs"
)

// tunedSets lists the sets on which a tuning is compared with a grid.
var tunedSets = []string{"miniglyphs", "minimnist", "uci/adult", "uci/mushrooms", "uci/connect4"}

func tunerPlan(name string, seed uint64) plan {
	const rows = 1000
	_, method := hm.SuggestedFor(dataset.Shape{}, rows, dataset.Fixed)
	return plan{name: "tuner", data: dataset.Spec{Name: name, Subset: rows, Validation: new(500), Seed: seed}, machine: dense(100, 50, 25), method: method, laptop: 1, full: 1}
}

// searched holds the results of a tuning and of a grid with the same number of epochs.
type searched struct {
	Tuner, Grid   float64 // log p of test rows
	Found, Picked string  // the settings
}

// search runs a tuning and a grid with the same candidates and the same number of epochs, and evaluates the
// best run of each at its best epoch.
func (w *work) search(name string, seed uint64) searched {
	p, budget := tunerPlan(name, seed), w.few(576, 144, 48)
	e := p.at(w.Scale).Experiment.(hm.Experiment)
	e.Seed, e.Keep = seed, nil
	question := fmt.Sprintf("tuner-%s-%d-%.16s", name, budget, e.Hash())
	return must(reproduce.Kept(w.Work, question, func() (searched, error) {
		dir := must(os.MkdirTemp("", "tuner"))
		defer os.RemoveAll(dir)
		tuning := runs.Tuning{Sweep: &runs.Sweep{Base: e.TOML(), Axes: runs.UsualAxes(e), Seeds: 1}, Budget: budget}
		w.Say("tuning on %s, seed %d", name, seed)
		report := must(tuning.Train(w.ctx, filepath.Join(dir, "tuned"), nil))
		e.Epochs = budget / len(report.Candidates)
		grid := runs.Sweep{Base: e.TOML(), Axes: tuning.Sweep.Axes, Seeds: 1}
		w.Say("searching a grid on %s, seed %d", name, seed)
		_, err := grid.Train(w.ctx, filepath.Join(dir, "grid"), runs.Shard{}, nil)
		if err != nil && w.ctx.Err() != nil {
			return searched{}, err // otherwise some candidates have diverged
		}
		picked := must(grid.Report(filepath.Join(dir, "grid"))).ByBest().Settings[0]
		found := report.Candidates[0]
		return searched{
			w.testLogP(found.Seeds[0].Dir), w.testLogP(runs.SeedDir(picked.Dir, seed)), found.Name, picked.Name,
		}, nil
	}))
}

func (w *work) testLogP(dir string) float64 {
	run := must(hm.OpenRun(dir))
	model := must(run.Best())
	rows := model.Subset(must(w.Sets.Open(run.Experiment(), dir)).Test(), w.few(0, 1000, 20))
	return must(model.Evaluate(w.ctx, rows, w.few(1000, 100, 5), w.Progress)).LogP
}

func makeTuner(w *work) {
	j := w.claim("Successive halving ends with a better machine than a grid of equal cost, on four of five sets.")
	var above []reproduce.Quantity
	for _, name := range tunedSets[:w.few(len(tunedSets), len(tunedSets), 1)] {
		of := each([]uint64{1, 2, 3}[:w.few(3, 3, 1)], func(seed uint64) searched { return w.search(name, seed) })
		nats, se := statistics.MeanAndError(len(of), func(i int) float64 { return of[i].Tuner - of[i].Grid })
		by := gain{nats, se, len(of)}.of("%s", name).Over(0)
		above = append(above, by)
		j.say("%v (%.2f against %.2f; seed 1: %s against %s)", by,
			mean(each(of, func(s searched) float64 { return s.Tuner })), mean(each(of, func(s searched) float64 { return s.Grid })), of[0].Found, of[0].Picked)
	}
	j.add(atLeast(min(4, len(above)), "ahead on", above))
}
