package thesis

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/internal/statistics"
	"github.com/helmholtz-go/helmholtz/notebooks/reproduce"
	"github.com/helmholtz-go/helmholtz/runs"
)

var settingEntries = map[string]reproduce.Entry{
	"first-try": made(firstTryTrainings, func(w *work) {
		above := w.claim("Suggested settings learn on each of ten sets.")
		near := w.claim("Suggested settings gain at least nine tenths of what tuned settings gain, on eight of ten sets.")
		var reached []reproduce.Quantity
		all := dataset.List()
		for _, f := range firstTries {
			first, best := f.plans(all)
			gains := each([]plan{first, best}, func(p plan) gain {
				of := w.trained(p.name, f.name)[0]
				e := w.estimate(of, "validation", w.few(0, 0, 20), w.few(1000, 100, 10))
				base := of.history.Baseline.Factorized
				return gain{float64(e.LogP) - base.Value, math.Hypot(float64(e.LogPSE), base.SE), e.Data}
			})
			above.add(gains[0].of("%s above the factorised model", f.name).Over(0).Errors(3))
			part := gains[0].nats / gains[1].nats
			reached = append(reached, exact(part, "", "%s", f.name).Over(0.9))
			near.say("%s %.1f %% of %v", f.name, 100*part, gains[1])
		}
		near.add(atLeast(8, "at least 90 % on", reached))
	}),
	"tuner": by[plan](func(w *work) {
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
	}),
}

// A firstTry is a set on which the settings that hm.Suggested chooses are compared with tuned settings.
type firstTry struct {
	name    string
	data    dataset.Spec
	machine hm.Machine
	tuned   hm.Method
}

// tunedNRWS returns NRWS with settings that a search on validation rows found.
func tunedNRWS(rate, damping float64, refresh int, l1 float64, epochs int) hm.Method {
	return hm.NRWS().LearningRate(rate).Schedule(hm.CosineDecay).Damping(damping).RefreshEvery(refresh).L1(l1).Epochs(epochs)
}

// firstTries has the sets with their tuned settings. The UCI sets have the settings of notebooks/experiments.
var firstTries = []firstTry{
	{"glyphs", dataset.Spec{Name: "glyphs"}, dense(100, 50, 25), tunedNRWS(0.1, 0.05, 281, 0.0011, 88)},
	{"miniglyphs", dataset.Spec{Name: "miniglyphs"}, dense(100, 50, 25), tunedNRWS(0.1, 0.05, 281, 0.0011, 88)},
	{"MNIST, 300 rows", dataset.Spec{Name: "mnist", Subset: 300, Validation: new(1000)}, dense(200, 100, 50), tunedNRWS(0.03, 0.2, 10, 0.003, 40)},
	{"MNIST, 3,000 rows", dataset.Spec{Name: "mnist", Subset: 3000, Validation: new(1000)}, dense(100, 50, 25), tunedNRWS(0.1, 0.05, 93, 0.0033, 266)},
	{"miniMNIST, 1,500 rows", dataset.Spec{Name: "minimnist", Subset: 1500, Validation: new(1000)}, dense(100, 50, 25), tunedNRWS(0.1, 0.05, 46, 0.0067, 400)},
	{"FashionMNIST, 3,000 rows", dataset.Spec{Name: "fashion", Subset: 3000, Validation: new(1000)}, dense(100, 50, 25), tunedNRWS(0.1, 0.05, 93, 0.0033, 266)},
	{"adult", dataset.Spec{Name: "uci/adult"}, dense(100, 70, 50, 25), tunedNRWS(0.1, 0.05, 100, 0.002, 80)},
	{"mushrooms", dataset.Spec{Name: "uci/mushrooms"}, dense(150, 100, 90, 60, 40, 20), tunedNRWS(0.1, 0.05, 50, 0.002, 200)},
	{"connect4", dataset.Spec{Name: "uci/connect4"}, dense(300, 110, 50, 20),
		hm.NBiHM().LearningRate(0.1).Schedule(hm.CosineDecay).Damping(0.05).RefreshEvery(500).L1(0.0007).Epochs(100)},
	{"dna", dataset.Spec{Name: "uci/dna"}, dense(200, 150, 130, 100, 70, 50, 30, 20, 10), tunedNRWS(0.03, 0.1, 40, 0.01, 100).WarmUp(60)},
}

// plans returns the plans with the suggested and with the tuned settings, given all data sets.
func (f firstTry) plans(all []dataset.Info) (suggested, tuned plan) {
	rows, shape := f.data.Subset, dataset.Shape{}
	for _, info := range all {
		if info.Name == f.data.Name {
			shape, rows = info.Shape, cmp.Or(rows, info.Train)
		}
	}
	machine, method := hm.SuggestedFor(shape, rows, f.data.Binarization)
	of := func(kind string, machine hm.Machine, method hm.Method) plan {
		epochs := method.Budget().Epochs
		return plan{name: fmt.Sprintf("%s-%d-%s", strings.ReplaceAll(f.data.Name, "/", "-"), rows, kind),
			data: f.data, machine: machine, method: method, laptop: epochs, full: epochs, seeds: 1}
	}
	return of("suggested", machine, method), of("tuned", f.machine, f.tuned)
}

// firstTryTrainings returns all training runs. It looks up the sets only when it is called, which spares
// programs that reproduce nothing.
func firstTryTrainings(s reproduce.Scale) (trainings []reproduce.Training) {
	all := dataset.List()
	for _, f := range firstTries {
		suggested, tuned := f.plans(all)
		trainings = append(trainings, suggested.at(s), tuned.at(s))
	}
	return trainings
}

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
