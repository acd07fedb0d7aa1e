package thesis

import (
	"fmt"

	"gonum.org/v1/gonum/floats"

	"github.com/helmholtz-go/helmholtz/boltzmann"
	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/statistics"
	"github.com/helmholtz-go/helmholtz/notebooks/reproduce"
	"github.com/helmholtz-go/helmholtz/plotting"
)

// enumerable lists training runs of machines whose log Z can be summed at each checkpoint.
var enumerable = []training{
	enumerated("rbm-20-ptt", boltzmann.PTT().LearningRate(0.1)),
	enumerated("rbm-20-pcd", boltzmann.PCD().LearningRate(0.5)),
}

func enumerated(name string, method boltzmann.Method) training {
	p := machine(name, dataset.Spec{Name: "miniglyphs", Subset: 1000, Seed: 1}, method, 100, 100, 1, 20)
	p.keep = []int{1, 3, 10, 30, 100}
	return p
}

// estimates holds estimates of log p of a checkpoint, minus the exact value.
type estimates struct {
	Exact, ExactSE float64 // log p of the rows
	Long, Short    estimatedByAIS
	RAISE, RAISESE float64
	Bridge         *laddered // nil if the machine has no ladder
	Change         float64   // of the energy of long chains
	Away           bool
}

type laddered struct{ Excess, SE float64 }

type estimatedByAIS struct{ Excess, SE, ESS float64 }

func (w *work) enumerate(run *boltzmann.Run, epoch int) estimates {
	return keptOf(w, "estimates-of-log-p", must(run.Run.At(epoch)), func() (of estimates) {
		w.Say("estimating log p after epoch %d: %v", epoch, run.Experiment())
		model, set := must(run.At(epoch)).WithSeed(drawSeed), w.setOf(run.Run)
		rows := set.Test().Subset(w.few(500, 500, 20), drawSeed)
		logZ := must(model.ExactLogZ(w.ctx))
		logP := must(model.ExactLogP(w.ctx, rows))
		of.Exact, of.ExactSE = statistics.MeanAndErrorOf(logP)
		by := func(s boltzmann.AnnealingSchedule) estimatedByAIS {
			z := must(model.AIS(w.ctx, set.Train(), boltzmann.Annealing{Schedule: s, Chains: 100}, w.Progress))
			return estimatedByAIS{logZ - float64(z.Value), float64(z.SE), float64(z.ESS)}
		}
		long := w.along(boltzmann.Adaptive(1000))
		of.Long, of.Short = by(long.Schedule), by(boltzmann.Even(30))
		long.Chains = w.few(10, 10, 2)
		some := rows.Subset(w.few(50, 50, 5), drawSeed)
		raised := must(model.RAISE(w.ctx, set.Train(), some, long, w.Progress))
		floats.Sub(raised, must(model.ExactLogP(w.ctx, some)))
		of.RAISE, of.RAISESE = statistics.MeanAndErrorOf(raised)
		if run.Experiment().Method.Algorithm == boltzmann.Trajectories {
			bridge := must(model.Bridge(w.ctx, 30, w.Progress))
			of.Bridge = &laddered{float64(bridge.LogZ) - logZ, float64(bridge.SE)}
		}
		drift := must(model.Drift(w.ctx, set.Train()))
		of.Change, of.Away = float64(drift.Change), drift.Away
		return of
	})
}

func makeEstimates(w *work) {
	right := w.claim("AIS of 1,000 steps is right for two machines of 20 hidden units.")
	told := w.claim("A low effective sample size tells where AIS is optimistic.")
	below := w.claim("RAISE is not above log p by more than twice its standard error.")
	held := w.claim("Log Z by Bennett's ratio is within three standard errors of the exact one, for one machine.")
	for _, p := range enumerable {
		run := w.machines(p)[0]
		name := run.Experiment().Method.Algorithm.String()
		curves := map[string]*plotting.Measured{}
		var names []string
		add := func(by string, epoch int, excess, se float64) {
			if curves[by] == nil {
				curves[by] = &plotting.Measured{Name: by, SpreadName: "± 1 standard error"}
				names = append(names, by)
			}
			to := curves[by]
			to.X, to.Y, to.Spread = append(to.X, float64(epoch)), append(to.Y, excess), append(to.Spread, se)
		}
		for _, epoch := range p.keep {
			if epoch > run.Experiment().Epochs {
				continue
			}
			e, at := w.enumerate(run, epoch), fmt.Sprintf("%s, epoch %d", name, epoch)
			right.add(nats(e.Long.Excess, e.Long.SE, "%s: AIS less exact", at).Within(0.25).Errors(0))
			for i, by := range []estimatedByAIS{e.Long, e.Short} {
				steps := []string{"1,000", "30"}[i]
				if by.Excess > 0.5 {
					told.add(exact(by.ESS, "", "%s, %s steps: AIS less exact %+.3f ± %.3f nats, ESS", at, steps, by.Excess, by.SE).Under(0.1))
				}
			}
			below.add(nats(e.RAISE, e.RAISESE, "%s: RAISE less exact", at).Under(0).Errors(-2))
			add("AIS, 1,000 steps", epoch, e.Long.Excess, e.Long.SE)
			add("AIS, 30 steps", epoch, e.Short.Excess, e.Short.SE)
			add("RAISE", epoch, e.RAISE, e.RAISESE)
			if b := e.Bridge; b != nil {
				held.add(nats(b.Excess, b.SE, "epoch %d: log Z less exact", epoch).Within(0).Errors(-3))
				add("Bennett's ratio", epoch, -b.Excess, b.SE)
			}
			w.Beside(at, "log p", reproduce.Value{Ours: e.Exact, SE: &e.ExactSE, Seeds: 1, By: fmt.Sprintf("exact; energy of long chains %+.2f nats, drifts away: %v", e.Change, e.Away)})
		}
		w.Draw(name, fmt.Sprintf("%v: estimates of log p less the exact one, by epoch", run.Experiment()),
			plotting.Measurements(plotting.Axis{Label: "epoch", Logarithmic: true}, plotting.Axis{Label: "estimate less exact log p (nats)"},
				each(names, func(by string) plotting.Measured { return *curves[by] })...).Title("Estimates of log p, "+name))
	}
	if len(told.on) == 0 {
		told.undecided("no estimate is above the exact log p by more than half a nat")
	}
}
