package thesis

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/helmholtz-go/helmholtz/boltzmann"
	"github.com/helmholtz-go/helmholtz/notebooks/reproduce"
	"github.com/helmholtz-go/helmholtz/plotting"
	"github.com/helmholtz-go/helmholtz/runs"
)

// twoHours is a training that two cores do within two hours. Its settings are those of
// notebooks/sweeps/two-hours.toml that did best on validation rows.
var twoHours = undirected{
	name: "two-hours", data: binarizedMNIST, layers: []int{2000}, method: boltzmann.PCD().LearningRate(0.1).L1(0.0003),
	laptop: 20, full: 600, seeds: 1, curve: 10,
}

func twoHoursPlan(reproduce.Scale) []undirected { return []undirected{twoHours} }

const mostSeconds = 7200

func makeTwoHours(w *work) error {
	all, err := w.machines(twoHours)
	if err != nil {
		return err
	}
	along := w.along(boltzmann.Adaptive(1500))
	along.Chains = w.few(10_000, 1000, 20)
	var of []annealed
	var apart []raised
	var risen []plotting.Measured
	var seconds float64 // of the longest
	var elsewhere, on string
	for _, run := range all {
		e, err := w.anneal(run, "test", w.few(0, 0, 50), along)
		if err != nil {
			return err
		}
		r, err := w.raise(run, e, w.few(100, 100, 5), w.few(10, 10, 2))
		if err != nil {
			return err
		}
		c, err := w.risen(run)
		if err != nil {
			return err
		}
		sessions, err := run.Provenance()
		if err != nil {
			return err
		}
		of, apart, risen = append(of, e), append(apart, r), append(risen, c)
		seconds = max(seconds, run.History().Epochs[run.Epochs()-1].Seconds)
		elsewhere = cmp.Or(elsewhere, notTwoCores(sessions))
		on = processors(sessions)
	}
	v := annealedValue(of)
	v.By += fmt.Sprintf("; %v, %d epochs, at most %.0f s of training on %s", all[0].Experiment(), all[0].Epochs(), seconds, on)
	if seconds > mostSeconds {
		elsewhere = fmt.Sprintf("longer than %d s", mostSeconds)
	}
	v.Elsewhere = elsewhere
	for _, number := range []string{"gate", "goal"} {
		w.Found(number, "at least", v)
	}
	excess := reproduce.Over(runs.SpreadOf(apart, func(r raised) float64 { return r.Excess }), len(apart))
	excess.By = fmt.Sprintf("%d test rows, %d chains each", apart[0].Rows, apart[0].Chains)
	w.Beside("log p by AIS less that by RAISE, same rows", "difference of log p", excess)
	if w.Scale == reproduce.Full && elsewhere == "" {
		w.Beyond("In %.0f s of training on two cores an RBM reaches log p %.2f of the test rows of binarised MNIST, the mean of %d seeds", seconds, v.Ours, v.Seeds)
	}
	return w.Figure("log-p", fmt.Sprintf("%v: log p of %s validation rows by AIS along training", all[0].Experiment(), thousands(w.few(1000, 1000, 50))),
		plotting.Measurements(plotting.Axis{Label: "seconds of training"}, plotting.Axis{Label: "log p (nats)"}, risen...))
}

// risen is log p of validation rows at the epochs that a run keeps, by the seconds of training.
func (w *work) risen(run *boltzmann.Run) (of plotting.Measured, err error) {
	of.Name = fmt.Sprintf("seed %d", run.Experiment().Seed)
	for _, epoch := range append(run.Kept(), run.Epochs()) {
		e, err := w.annealAt(run, epoch, "validation", w.few(1000, 1000, 50), w.along(boltzmann.Adaptive(2000)))
		if err != nil {
			return of, err
		}
		of.X, of.Y = append(of.X, run.History().Epochs[epoch-1].Seconds), append(of.Y, e.logP())
	}
	return of, nil
}

// notTwoCores is why sessions are not those of two cores, empty where they are.
func notTwoCores(sessions []runs.Provenance) string {
	for _, s := range sessions {
		switch {
		case s.Backend != "" && s.Backend != "cpu":
			return "on " + s.Device
		case s.Threads > 2:
			return fmt.Sprintf("on %d threads", s.Threads)
		}
	}
	if len(sessions) == 0 {
		return "on a machine that is not known"
	}
	return ""
}

// processors names those of sessions.
func processors(sessions []runs.Provenance) string {
	var names []string
	for _, s := range sessions {
		names = append(names, fmt.Sprintf("%d threads of %s", s.Threads, s.Processor))
	}
	slices.Sort(names)
	return strings.Join(slices.Compact(names), ", ")
}
