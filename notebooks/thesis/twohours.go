package thesis

import (
	"fmt"
	"slices"
	"strings"

	"github.com/helmholtz-go/helmholtz/boltzmann"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/notebooks/reproduce"
	"github.com/helmholtz-go/helmholtz/plotting"
	"github.com/helmholtz-go/helmholtz/runs"
)

// twoHours is a training run that two cores finish within two hours: the widest machine of
// notebooks/sweeps/two-hours.toml, which is also the best on validation rows.
var twoHours = machine("two-hours", binarizedMNIST, boltzmann.PCD().LearningRate(0.1).L1(0.0003), 20, 600, 1, 2000)

const mostSeconds = 7200

func makeTwoHours(w *work) {
	run := w.machines(twoHours)[0]
	along := w.along(boltzmann.Adaptive(1500))
	along.Chains = w.few(10_000, 1000, 20)
	tested := w.anneal(run, "test", w.few(0, 0, 50), along)
	validated := w.anneal(run, "validation", w.few(0, 0, 50), along)
	rows, chains := w.few(100, 100, 5), w.few(10, 10, 2)
	apart := w.raise(run, tested, rows, chains)
	sessions := must(run.Provenance())
	seconds := run.History().Epochs[run.Epochs()-1].Seconds
	v := annealedValue("test", []annealed{tested})
	v.By += fmt.Sprintf("; %v, %d epochs, %.0f s of training on %s", run.Experiment(), run.Epochs(), seconds, processors(sessions))
	v.Elsewhere = notTwoCores(sessions)
	switch {
	case seconds > mostSeconds:
		v.Elsewhere = fmt.Sprintf("longer than %d s", mostSeconds)
	case apart.nats > 1: // AIS overestimates log p, most for a machine whose chains do not mix
		v.Elsewhere = apart.of("log p by AIS less that by RAISE").String()
	}
	w.Found("gate", "at least", v)
	w.Found("goal", "at least", v)
	w.Beside("validation rows", "log p", annealedValue("validation", []annealed{validated}))
	w.Beside("log p by AIS less that by RAISE, same rows", "difference of log p", reproduce.Value{
		Ours: apart.nats, SE: &apart.se, Seeds: 1, By: fmt.Sprintf("%d test rows, %d chains each", rows, chains),
	})
	if w.Scale == reproduce.Full && v.Elsewhere == "" {
		w.Beyond("In %.0f s of training on at most two cores an RBM reaches log p %.2f ± %.2f of the test rows of binarised MNIST by AIS, %v above the estimate by RAISE", seconds, v.Ours, *v.SE, apart)
	}
	name := fmt.Sprint(run.Experiment())
	w.Draw("curve", name+": pseudo-likelihood of training and of validation rows along training, whose rate falls to 0, by seconds",
		plotting.CurvesByTime(reproduce.History(name, run.Run, run.Epochs())))
}

// notTwoCores returns the reason why sessions were not on two cores, or "" if they were.
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

func processors(sessions []runs.Provenance) string {
	all := each(sessions, func(s runs.Provenance) string {
		return fmt.Sprintf("%s of %s", names.Count(s.Threads, "thread"), s.Processor)
	})
	slices.Sort(all)
	return strings.Join(slices.Compact(all), ", ")
}
