package thesis

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/floats"

	"github.com/helmholtz-go/helmholtz/boltzmann"
	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/internal/statistics"
	"github.com/helmholtz-go/helmholtz/notebooks/reproduce"
	"github.com/helmholtz-go/helmholtz/plotting"
	"github.com/helmholtz-go/helmholtz/runs"
)

var boltzmannEntries = map[string]reproduce.Entry{
	"boltzmann/rbm": by(func(w *work) {
		all := w.machines(rbm)
		of := w.tested(all)
		w.Found("log p by AIS", "at least", annealedValue("test", of))
		j := w.claim("AIS and RAISE agree.")
		var apart []float64
		rows, chains := w.few(100, 100, 5), w.few(10, 10, 2)
		for i, run := range all {
			r := w.raise(run, of[i], rows, chains)
			apart = append(apart, math.Abs(r.nats))
			j.add(r.of("seed %d: log p by AIS less that by RAISE", run.Experiment().Seed).Within(1).Errors(0))
		}
		v := reproduce.Over(spread(apart), len(apart))
		v.By = fmt.Sprintf("%d test rows, %d chains each", rows, chains)
		w.Found("distance of log p by AIS and by RAISE, same rows", "at most", v)
		w.drawChains(all[0])
	}, rbm),
	"boltzmann/dbn": by(func(w *work) { w.deeper(dbn, "estimate of log p", "A second layer raises log p.") }, rbm, dbn),
	"boltzmann/dbm": by(func(w *work) { w.deeper(dbm, "mean-field estimate of log p", "Centring does without pretraining.") }, rbm, dbm),
	"boltzmann/inpainting": by(func(w *work) {
		for _, of := range []struct {
			name string
			plan training
		}{{"Digits", dbm}, {"Faces", facesDBM}} {
			run := w.machines(of.plan)[0]
			set := w.setOf(run.Run)
			mask := must(dataset.ParseMask("left", set.Shape(), 1))
			filled := must(run.Model.Inpaint(w.ctx, set.Test().Subset(w.few(10, 10, 2), drawSeed), mask, 5, w.few(1000, 1000, 5),
				w.Progress))
			j := w.shown(of.name + " are restored better than by the means of their pixels, in different ways.")
			restored(j, filled, mask, set.Train())
			w.Draw(slug(of.name), of.name+": left halves of test rows by five chains of a DBM", plotting.Inpainting(filled))
		}
	}, dbm, facesDBM),
	"natural-rbm": searching(func(w *work) {
		all := w.tuned(metrics, metricRates, 20, 5)
		plain, joint, marginal := all[0], all[1], all[2]
		w.ahead("The joint metric is ahead of plain gradients.", joint, plain)
		w.ahead("The metric of p(v) is ahead of plain gradients.", marginal, plain)
		alike := w.claim("The two metrics are alike.")
		alike.add(marginal.over(joint).of("p(v) over p(v,h)").Within(0).Errors(-2))
		alike.noteTuned(joint, marginal)
	}, metrics, metricRates, way.plan),
	"estimates-of-log-p": by(makeEstimates, enumerable...),
	"two-hours": by(func(w *work) {
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
	}, twoHours),
	"boltzmann/chains": searching(func(w *work) {
		all := w.tuned(chainKinds, chainRates, 50, 5)
		cd, pcd, pt, ptt := all[0], all[1], all[2], all[3]
		w.ahead("Persistent chains are ahead of CD.", pcd, cd)
		w.ahead("Parallel tempering is ahead of PCD.", pt, pcd)
		w.ahead("Trajectories are ahead of PCD.", ptt, pcd)
		j := w.claim("AIS, RAISE and Bennett's ratio agree.")
		if z, err := ptt.runs[0].Model.Bridge(w.ctx, w.few(200, 200, 20), w.Progress); w.ctx.Err() != nil {
			check(err)
		} else if err != nil {
			j.undecided("no estimate by Bennett's ratio: %v", err)
		} else {
			j.add(nats(ptt.tested[0].LogZ-float64(z.LogZ), math.Hypot(ptt.tested[0].SE, float64(z.SE)), "log p by Bennett's ratio less that by AIS").Within(1).Errors(0))
			j.say("%v", z)
		}
		j.add(ptt.apart[0].of("log p by AIS less that by RAISE").Within(1).Errors(0))
	}, chainKinds, chainRates, way.plan),
	"boltzmann/conditionals": searching(func(w *work) {
		rates := tried(w.Scale, conditionalRates)
		all := each(conditionals, func(m way) atBestRate {
			b := atBestRate{way: m}
			best, at := bestOf(&b.passed, rates, func(η float64) ([]*boltzmann.Run, float64) {
				all := w.machines(m.small(η))
				return all, mean(each(all, func(run *boltzmann.Run) float64 { return w.exactly(run, "validation").logP() }))
			})
			b.runs, b.edge = best, atEnd(at, rates)
			b.tested = each(b.runs, func(run *boltzmann.Run) annealed { return w.exactly(run, "test") })
			w.Beside(fmt.Sprintf("%s, η = %g", m.name, b.runs[0].Experiment().Method.LearningRate), "log p", annealedValue("test", b.tested))
			return b
		})
		w.ahead("Persistent chains are ahead of the pseudo-likelihood.", all[0], all[1])
		w.ahead("Persistent chains are ahead of ratio matching.", all[0], all[2])
		w.ahead("The pseudo-likelihood is ahead of ratio matching.", all[1], all[2])
	}, conditionals, conditionalRates, way.small),
	"boltzmann/discriminative": digitClasses.entry(),
	"boltzmann/habitats":       habitats.entry(),
	"boltzmann/census":         maritalStatus.entry(),
}

var (
	rbm = machine("rbm-500", drawnMNIST, boltzmann.PCD().LearningRate(0.1), 20, 300, 3, 500)
	dbn = atop(&rbm, machine("dbn-500-2000", drawnMNIST, boltzmann.PCD().LearningRate(0.05), 5, 100, 1, 2000))
	dbm = machine("dbm-500-1000", drawnMNIST, boltzmann.PCD().LearningRate(0.05), 5, 200, 1, 500, 1000)
)

// machine returns a training run of a Boltzmann machine. At the scale smoke it has few rows, and just too many
// units to enumerate, unless the machine is small enough to enumerate anyway.
func machine(name string, data dataset.Spec, method boltzmann.Method, laptop, full, seeds int, layers ...int) training {
	smoke := data
	smoke.Name, smoke.Subset, smoke.Columns = madeUp(data.Name), 128, ""
	return training{
		name: name, laptop: laptop, full: full, seeds: seeds, falls: true, arithmetic: hm.FloatingPoint.String(), data: data, smoke: smoke,
		model: func(small bool) runs.Experiment {
			method, layers := method, layers
			if small {
				method = method.BatchSize(32)
				layers = each(layers, func(units int) int {
					if units <= 20 {
						return 6
					}
					return min(units, 30)
				})
			}
			e := boltzmann.Experiment{Method: method.Spec(), Budget: runs.Budget{Seed: 1}}
			e.Machine = boltzmann.New(dataset.Shape{}).Hidden(layers[0], layers[1:]...).Spec()
			return e
		},
	}
}

func atop(below *training, top training) training {
	top.below = below
	return top
}

func standOn(e runs.Experiment, dir string, epoch int) runs.Experiment {
	of := e.(boltzmann.Experiment)
	of.Below = &runs.Source{Run: dir, Checkpoint: strconv.Itoa(epoch)}
	return of
}

func (w *work) machines(p training) []*boltzmann.Run {
	return each(w.dirs(p), func(dir string) *boltzmann.Run { return must(boltzmann.OpenRun(dir)) })
}

// along returns annealing of 100 chains along a schedule, or, at the scale smoke, in a few steps.
func (w *work) along(s boltzmann.AnnealingSchedule) boltzmann.Annealing {
	if w.Scale == reproduce.Smoke {
		s = boltzmann.Even(20)
	}
	return boltzmann.Annealing{Schedule: s, Chains: 100}
}

// drawSeed is the seed that draws grey rows once, the same for all machines.
const drawSeed = 1

// annealed holds log p of rows by an estimate of log Z, and how log Z was estimated.
type annealed struct {
	annealedLogZ
	Each []float64 `json:"each"` // of each row
}

type annealedLogZ struct {
	LogZ float64 `json:"log_z"`
	SE   float64 `json:"se"`
	By   string  `json:"by,omitempty"`
}

func (a annealed) logP() float64 {
	mean, _ := a.mean()
	return mean
}

// mean returns log p with its standard error: over the rows, and of log Z, which all rows share.
func (a annealed) mean() (mean, se float64) {
	mean, se = statistics.MeanAndErrorOf(a.Each)
	return mean, math.Hypot(se, a.SE)
}

func (a annealed) over(b annealed) gain {
	g := paired(a.Each, b.Each)
	return gain{g.nats, math.Hypot(g.se, math.Hypot(a.SE, b.SE)), g.n}
}

// anneal estimates log p of some rows of a split by AIS; 0 stands for all rows.
func (w *work) anneal(run *boltzmann.Run, split string, rows int, a boltzmann.Annealing) annealed {
	model := run.Model.WithSeed(drawSeed)
	z := keptOf(w, fmt.Sprintf("log-z-%v-%d-chains", a.Schedule, a.Chains), run.Snapshot(), func() annealedLogZ {
		w.Say("estimating log Z by AIS: %v, seed %d", run.Experiment(), run.Experiment().Seed)
		z := must(model.LogZ(w.ctx, w.setOf(run.Run).Train(), a, w.Progress))
		by := fmt.Sprintf("AIS, %d chains, %v; log Z %.2f (%.2f to %.2f at three standard errors)", z.Chains, a.Schedule, z.Value, z.Low, z.High)
		if z.Optimistic {
			by += fmt.Sprintf(", ESS %.1f %%, so log p is optimistic", 100*z.ESS)
		}
		return annealedLogZ{float64(z.Value), float64(z.SE), by}
	})
	energies := keptOf(w, fmt.Sprintf("free-energies-of-%s-rows-%d", split, rows), run.Snapshot(), func() []float64 {
		of, _ := w.setOf(run.Run).Split(split)
		return must(model.FreeEnergy(w.ctx, of.Subset(rows, drawSeed)))
	})
	return annealed{z, each(energies, func(energy float64) float64 { return -energy - z.LogZ })}
}

// tested estimates log p of the test rows of each seed, as the criteria require.
func (w *work) tested(all []*boltzmann.Run) []annealed {
	return each(all, func(run *boltzmann.Run) annealed {
		return w.anneal(run, "test", w.few(0, 0, 50), w.along(boltzmann.Published()))
	})
}

// annealedValue returns log p over seeds, or the value of a single seed with its standard error.
func annealedValue(split string, of []annealed) reproduce.Value {
	v := reproduce.Over(runs.SpreadOf(of, annealed.logP), len(of))
	if len(of) == 1 {
		_, se := of[0].mean()
		v.SE = &se
	}
	by := each(of, func(e annealed) string { return e.By })
	v.By = fmt.Sprintf("%s %s rows, each drawn once; %s", thousands(len(of[0].Each)), split, strings.Join(by, "; "))
	return v
}

// raise returns how far log p by AIS is above log p by RAISE, on some of the test rows with some chains each.
func (w *work) raise(run *boltzmann.Run, z annealed, rows, chains int) gain {
	a := w.along(boltzmann.Published())
	a.Chains = chains
	// The log Z for which log p of the rows would equal log p by RAISE, with its error over the rows.
	r := keptOf(w, fmt.Sprintf("log-z-by-raise-%d-rows-%v-%d-chains", rows, a.Schedule, a.Chains), run.Snapshot(), func() annealedLogZ {
		w.Say("estimating log p of %d test rows by RAISE: %v, seed %d", rows, run.Experiment(), run.Experiment().Seed)
		set := w.setOf(run.Run)
		model, some := run.Model.WithSeed(drawSeed), set.Test().Subset(rows, drawSeed)
		logP := must(model.RAISE(w.ctx, set.Train(), some, a, w.Progress))
		energies := must(model.FreeEnergy(w.ctx, some))
		mean, se := statistics.MeanAndError(rows, func(i int) float64 { return -energies[i] - logP[i] })
		return annealedLogZ{mean, se, ""}
	})
	return gain{r.LogZ - z.LogZ, math.Hypot(r.SE, z.SE), rows}
}

func (w *work) drawChains(run *boltzmann.Run) {
	n, sweeps := w.few(100, 100, 4), w.few(10_000, 5000, 10)
	w.Draw("chains", fmt.Sprintf("%v: %d chains after %s sweeps from coin flips, means of the pixels", run.Experiment(), n, thousands(sweeps)),
		plotting.Samples(must(run.Means(w.ctx, n, sweeps))))
}

// deeper finds log p of a machine of several layers, and judges the claim that it is above log p of the RBM,
// over the same rows.
func (w *work) deeper(p training, number, says string) {
	deep, flat := w.machines(p), w.machines(rbm)
	of, others := w.tested(deep), w.tested(flat[:1])
	w.Found(number, "at least", annealedValue("test", of))
	w.Beside("the RBM of 500 units", "log p", annealedValue("test", others))
	j := w.claim(says)
	j.above(fmt.Sprintf("%v over %v:", deep[0].Experiment(), flat[0].Experiment()), of[0].over(others[0]))
	ofRows := paired(of[0].Each, others[0].Each)
	j.say("of that error ± %.3f is over the rows, and the rest of log Z of both", ofRows.se)
	if v := ofRows.of("").Over(0).Verdict(); v != reproduce.VerdictOn(j.on) {
		j.say("by the rows alone, as the criterion has it, the verdict would be “%s”", v)
	}
	w.drawChains(deep[0])
}

var facesDBM = machine("dbm-faces", smallFaces, boltzmann.PCD().LearningRate(0.01), 500, 500, 1, 300, 200)

// way is a way of training the RBM of 500 units, with its name in figures.
type way struct {
	name, file   string
	method       boltzmann.Method
	laptop, full int // epochs
	seeds        int
}

var (
	metrics = []way{
		{"plain", "euclidean", boltzmann.PCD(), 3, 30, 3},
		{"metric of p(v,h)", "joint", boltzmann.PCD().Natural(boltzmann.Joint, 0.1), 3, 30, 3},
		{"metric of p(v)", "marginal", boltzmann.PCD().Natural(boltzmann.Marginal, 0.1), 3, 30, 3},
	}
	metricRates = []float64{0.05, 0.1, 0.2, 0.4}

	chainKinds = []way{
		{"CD-1", "cd", boltzmann.CD(), 10, 300, 1},
		{"PCD-1", "pcd", boltzmann.PCD(), 10, 300, 1},
		{"parallel tempering", "pt", boltzmann.PT(), 10, 300, 1},
		{"parallel trajectory tempering", "ptt", boltzmann.PTT(), 10, 300, 1},
	}
	chainRates = []float64{0.05, 0.1, 0.2}

	conditionals = []way{
		{"PCD-1", "pcd", boltzmann.PCD(), 100, 100, 3},
		{"pseudo-likelihood", "pl", boltzmann.PL(), 100, 100, 3},
		{"ratio matching", "rm", boltzmann.RM(), 100, 100, 3},
	}
	conditionalRates = []float64{0.02, 0.05, 0.1, 0.2, 0.5, 1, 2}
)

// smallGlyphs are the rows of machines whose log Z can be summed.
var smallGlyphs = dataset.Spec{Name: "miniglyphs", Subset: 1000, Seed: 1}

// small returns a training run of a machine whose log Z can be summed.
func (m way) small(η float64) training {
	return machine(fmt.Sprintf("rbm-20-%s-lr-%g", m.file, η), smallGlyphs, m.method.LearningRate(η), m.laptop, m.full, m.seeds, 20)
}

// exactly returns log p of all rows of a split by the exact log Z.
func (w *work) exactly(run *boltzmann.Run, split string) annealed {
	return keptOf(w, "exact-log-p-of-"+split, run.Snapshot(), func() annealed {
		of, _ := w.setOf(run.Run).Split(split)
		return annealed{annealedLogZ{LogZ: must(run.Model.ExactLogZ(w.ctx)), By: "exact log Z"}, must(run.Model.ExactLogP(w.ctx, of))}
	})
}

func (m way) plan(η float64) training {
	return machine(fmt.Sprintf("rbm-500-%s-lr-%g", m.file, η), drawnMNIST, m.method.LearningRate(η), m.laptop, m.full, m.seeds, 500)
}

// atBestRate holds the results of a way of training at the rate with the highest log p of validation rows.
type atBestRate struct {
	way
	runs    []*boltzmann.Run
	edge    bool // whether the rate is the first or the last of those tried
	passed  passedOver
	reached plotting.Measured // at each rate
	tested  []annealed        // log p of test rows, by seed
	apart   []gain            // over log p by RAISE, by seed
}

// tuned finds the best of the rates that are tried for each way of training, and draws log p at each rate. It compares AIS with RAISE
// on the given numbers of rows and chains.
func (w *work) tuned(all []way, rates []float64, rows, chains int) []atBestRate {
	rates = tried(w.Scale, rates)
	of := each(all, func(m way) atBestRate {
		b := atBestRate{way: m, reached: plotting.Measured{Name: m.name}}
		if m.seeds > 1 {
			b.reached.SpreadName = "± 1 sd over seeds"
		}
		best, at := bestOf(&b.passed, rates, func(η float64) ([]*boltzmann.Run, float64) {
			all := w.machines(m.plan(η))
			of := each(all, func(run *boltzmann.Run) annealed {
				return w.anneal(run, "validation", w.few(1000, 1000, 50), w.along(boltzmann.Adaptive(2000)))
			})
			logP, to := runs.SpreadOf(of, annealed.logP), &b.reached
			to.X, to.Y = append(to.X, η), append(to.Y, logP.Mean)
			if m.seeds > 1 {
				to.Spread = append(to.Spread, logP.SD)
			}
			return all, logP.Mean
		})
		b.runs, b.edge = best, atEnd(at, rates)
		b.tested = w.tested(b.runs)
		for n, run := range b.runs {
			b.apart = append(b.apart, w.raise(run, b.tested[n], w.few(rows, rows, 5), w.few(chains, chains, 2)))
		}
		w.Beside(fmt.Sprintf("%s, η = %g", m.name, b.runs[0].Experiment().Method.LearningRate), "log p", annealedValue("test", b.tested))
		return b
	})
	w.Draw("rates", "log p of validation rows by AIS, by learning rate",
		plotting.Measurements(plotting.Axis{Label: "learning rate η", Logarithmic: true}, plotting.Axis{Label: "log p (nats)"},
			each(of, func(b atBestRate) plotting.Measured { return b.reached })...))
	return of
}

func (b atBestRate) over(other atBestRate) gain {
	if len(b.tested) == 1 && len(other.tested) == 1 {
		return b.tested[0].over(other.tested[0])
	}
	return gainOverSeeds(each(b.tested, annealed.logP), each(other.tested, annealed.logP))
}

// noteTuned adds what limits a verdict on ways of training. AIS overestimates log p, most for a machine whose chains
// do not mix, so a distance from RAISE leaves the claim open.
func (j *judgement) noteTuned(of ...atBestRate) {
	for _, b := range of {
		b.passed.note(j)
		if b.edge {
			j.bestAtEnd(b.name)
		}
		if b.apart == nil { // log Z is exact
			continue
		}
		excess := mean(each(b.apart, func(g gain) float64 { return g.nats }))
		if said := fmt.Sprintf("%s, log p by AIS less that by RAISE: %+.2f", b.name, excess); math.Abs(excess) > 1 {
			j.undecided("%s, more than a nat", said)
		} else {
			j.say("%s", said)
		}
	}
}

func (w *work) ahead(says string, a, b atBestRate) {
	j := w.claim(says)
	j.above(fmt.Sprintf("%s over %s", a.name, b.name), a.over(b))
	j.noteTuned(a, b)
}

// enumerable lists training runs of machines whose log Z can be summed at each checkpoint.
var enumerable = []training{
	enumerated("rbm-20-ptt", boltzmann.PTT().LearningRate(0.1)),
	enumerated("rbm-20-pcd", boltzmann.PCD().LearningRate(0.5)),
}

func enumerated(name string, method boltzmann.Method) training {
	p := machine(name, smallGlyphs, method, 100, 100, 1, 20)
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
		curves := each([]string{"AIS, 1,000 steps", "AIS, 30 steps", "RAISE", "Bennett's ratio"}, func(by string) plotting.Measured {
			return plotting.Measured{Name: by, SpreadName: "± 1 standard error"}
		})
		add := func(by, epoch int, excess, se float64) {
			to := &curves[by]
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
			add(0, epoch, e.Long.Excess, e.Long.SE)
			add(1, epoch, e.Short.Excess, e.Short.SE)
			add(2, epoch, e.RAISE, e.RAISESE)
			if b := e.Bridge; b != nil {
				held.add(nats(b.Excess, b.SE, "epoch %d: log Z less exact", epoch).Within(0).Errors(-3))
				add(3, epoch, -b.Excess, b.SE)
			}
			w.Beside(at, "log p", reproduce.Value{Ours: e.Exact, SE: &e.ExactSE, Seeds: 1, By: fmt.Sprintf("exact; energy of long chains %+.2f nats, drifts away: %v", e.Change, e.Away)})
		}
		w.Draw(name, fmt.Sprintf("%v: estimates of log p less the exact one, by epoch", run.Experiment()),
			plotting.Measurements(plotting.Axis{Label: "epoch", Logarithmic: true}, plotting.Axis{Label: "estimate less exact log p (nats)"},
				slices.DeleteFunc(curves, func(m plotting.Measured) bool { return m.X == nil })...).Title("Estimates of log p, "+name))
	}
	if len(told.on) == 0 {
		told.undecided("no estimate is above the exact log p by more than half a nat")
	}
}

// twoHours is a training run that two cores finish within two hours: the widest machine of
// notebooks/sweeps/two-hours.toml, which is also the best on validation rows.
var twoHours = machine("two-hours", binarizedMNIST, boltzmann.PCD().LearningRate(0.1).L1(0.0003), 20, 600, 1, 2000)

const mostSeconds = 7200

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
