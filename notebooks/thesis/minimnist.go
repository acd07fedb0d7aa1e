package thesis

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/notebooks/reproduce"
	"github.com/helmholtz-go/helmholtz/plotting"
	"github.com/helmholtz-go/helmholtz/runs"
)

var miniEntries = map[string]reproduce.Entry{
	"varady/tableD.1": row{cells: miniCells(), table: true}.with(
		logPOver("B, NRWS over RWS", "B, NRWS", "B, RWS"),
		logPOver("B, RWS over WS", "B, RWS", "B, WS"),
		secondsOver("B, seconds of an epoch, NRWS over RWS", "B, NRWS", "B, RWS", "B, NRWS", "B, RWS", "B, WS"),
		logPOver("C, NRWS over RWS", "C, NRWS", "C, RWS"),
		logPOver("C, RWS over WS", "C, RWS", "C, WS"),
		secondsOver("C, seconds of an epoch, NRWS over RWS", "C, NRWS", "C, RWS", "C, NRWS", "C, RWS", "C, WS"),
		judged("NRWS is ahead of RWS, RWS of WS, with B and with C.", above(
			pair{"B, NRWS − RWS", "B, NRWS", "B, RWS"}, pair{"B, RWS − WS", "B, RWS", "B, WS"},
			pair{"C, NRWS − RWS", "C, NRWS", "C, RWS"}, pair{"C, RWS − WS", "C, RWS", "C, WS"})),
	),
	"varady/fig5.17": row{cells: sleepSteps(1, 3, 5, 10), timed: true}.with(
		judged("More sleep steps converge better by epochs.", endsAbove(
			pair{"WS, sleep steps: 3 over the one before", "WS, sleep steps: 3", "WS, sleep steps: 1"},
			pair{"WS, sleep steps: 5 over the one before", "WS, sleep steps: 5", "WS, sleep steps: 3"},
			pair{"WS, sleep steps: 10 over the one before", "WS, sleep steps: 10", "WS, sleep steps: 5"})),
		judged("By time their cost eats the gain up.", func(c *comparison, j *judgement) {
			one := c.of("WS, sleep steps: 1")
			for _, label := range c.labels[1:] {
				j.add(exact(c.of(label).mean(at(one.seconds()))-one.mean(end), "nats", "%s at the seconds of one", label).Under(0.3))
			}
		}),
		curves("WS on miniMNIST with several sleep steps"),
	),
	"varady/fig5.18": row{cells: append(sleepSteps(1, 3), sleepScales("NRWS, ", 0.001, miniSleep)...)}.with(func(c *comparison) {
		labels := c.labels[2:]
		all := c.all(labels...)
		c.timed(all...)
		plain, scaled, thrice := all[0], all[1], all[2]
		gain := c.ends(thrice, plain)
		more := c.claim("NRWS gains from more sleep, less than WS.")
		longer := c.claim("A factor of 3 gains at no cost, about as much as three steps.")
		more.above("NRWS", gain)
		more.above("gain of WS less gain of NRWS", c.ends(c.of("WS, sleep steps: 3"), c.of("WS, sleep steps: 1")).over(gain))
		c.endsAbove(longer, "a factor of 3 over none", scaled, plain)
		apart := c.ends(scaled, thrice)
		longer.add(exact(math.Abs(apart.nats)-gain.nats/2, "nats", "distance of a factor of 3 from 3 steps less half of the gain of 3 steps").Under(0))
		cost, se := c.secondsRatio(labels[1], labels[0], labels...)
		longer.add(reproduce.Measured(cost, se, "", "seconds of an epoch ×").Over(0.95).Under(1.05))
		both := c.claim("Three steps of factor 3 can be worse than three plain ones.")
		c.endsAbove(both, "three steps over three of factor 3", thrice, all[3])
		c.curves("NRWS on miniMNIST with more and with longer sleep", all...)
	}),
	"minimnist/penalties": row{cells: penalisedMini(), table: true, few: true}.with(
		judged("L1 and L2 help neither method.", forPenalties(func(plain, little, much string) []ask {
			return []ask{notAbove(little, plain), notAbove(much, plain)}
		})),
		judged("The larger β, the worse.", forPenalties(func(plain, little, much string) []ask {
			return []ask{falling(little, much), falling(plain, much)}
		})),
		curvesByMethod("miniMNIST, C, penalties", "", ", L1 0.00001", ", L2 0.00001", ", L1 0.001", ", L2 0.001"),
	),
	"minimnist/entropy": row{cells: entropicMini(), more: nesterovPlans(), table: true, few: true}.with(
		judged("The printed estimator helps both methods.", falling("RWS, entropy as printed, β 2", "RWS"), falling("NRWS, entropy as printed, β 2", "NRWS")),
		judged("The exact gradient of the entropy helps both methods.", falling("RWS, entropy, β 0.01", "RWS"), falling("NRWS, entropy, β 0.01", "NRWS")),
		curvesByMethod("miniMNIST, C, entropy", "", ", entropy as printed, β 2", ", entropy, β 0.01"),
		func(c *comparison) {
			alone, entropic := nesterovMini()
			without, with := c.atItsBest(alone), c.atItsBest(entropic)
			adds := c.claim("Entropy adds to Nesterov.")
			with.above(adds, without)
			adds.noteBests(with, without)
		},
	),
	"varady/text5.3.7": by(func(w *work) {
		t := must(w.Training("minimnist-seeds"))
		// The published lengths are 100 and 200 epochs; RWS is available after length.
		epochs := t.Experiment.Header().Epochs
		first, length := w.few(100, 100, 1), min(epochs, w.epochsOf("minimnist-b-rws"))
		of := map[int][]evaluation{}
		for _, at := range []int{length, first, epochs} {
			if of[at] == nil {
				of[at] = w.evaluate(w.trainedAt("minimnist-seeds", "NRWS", at))
				w.Beside(fmt.Sprintf("miniMNIST, %d epochs", at), "log p", value(of[at], logP))
			}
		}
		sdAt := func(at int) float64 { return sd(logPs(of[at])) }
		found := func(number, measure string, ours, se float64, after string) {
			w.Found(number, measure, reproduce.Value{Ours: ours, SE: &se, Seeds: t.Seeds, By: value(of[epochs], logP).By + ", after " + after, Data: of[epochs][0].data})
		}
		half, whole := names.Count(first, "epoch"), names.Count(epochs, "epoch")
		errorOfSD := 1 / math.Sqrt(2*float64(t.Seeds-1)) // relative to the sd
		found("miniMNIST, sd over 24 seeds, 100 epochs", "sd of log p", sdAt(first), sdAt(first)*errorOfSD, half)
		if epochs > first {
			found("miniMNIST, sd over 24 seeds, 200 epochs", "sd of log p", sdAt(epochs), sdAt(epochs)*errorOfSD, whole)
			rise := paired(logPs(of[epochs]), logPs(of[first]))
			found("miniMNIST, mean at 200 less mean at 100 epochs", "difference of log p", rise.nats, rise.se, whole+" less after "+half)
		}

		gap := difference(of[length], w.evaluate(w.trainedAt("minimnist-b-rws", "RWS", length)))
		w.claim("Training is robust against chance.").above("NRWS over RWS", gap).
			add(exact(sdAt(length)/gap.nats, "", "after %d epochs: sd over %d seeds, over NRWS − RWS", length, t.Seeds).Under(0.1)).
			say("sd %.3f nats", sdAt(length))
	}, miniMethod("b-rws"), manySeeds),
	"varady/figD.1": by(func(w *work) {
		j := w.look("(shown) Digits are recognisable.")
		for _, binarization := range []string{"B", "C"} {
			name := strings.ToLower(binarization)
			nrws := w.trained("minimnist-"+name+"-nrws", "NRWS")[0]
			w.drawDreams(name, "Means of 100 dreams of NRWS trained on miniMNIST, "+binarization, nrws)
			w.Draw(name+"-drawn", "Pixels drawn from these means, "+binarization, plotting.Samples(must(nrws.model.Draw(w.ctx, w.few(100, 100, 10)))))
			w.likeTheRows(j, binarization+": ", nrws)
		}
	}, miniMethod("b-nrws"), miniMethod("c-nrws")),
	"varady/figD.2": by(func(w *work) {
		time := &judgement{says: "NRWS is ahead by time, from the second tenth on."}
		for _, binarization := range []string{"B", "C"} {
			from, claim := 20, "With B, NRWS is ahead from the 20th epoch on, by epochs."
			if binarization == "C" {
				from, claim = 3, "With C, NRWS is ahead from the third epoch on."
			}
			trained := func(method string) curve {
				return w.trained("minimnist-"+strings.ToLower(binarization+"-"+method), method)
			}
			nrws, rws, ws := trained("NRWS"), trained("RWS"), trained("WS")
			w.timed(nrws, rws, ws)
			var epochs []int
			for epoch := from; epoch <= nrws.epochs(); epoch++ {
				epochs = append(epochs, epoch)
			}
			j := w.claim(claim)
			for _, other := range []curve{rws, ws} {
				what := "NRWS over " + other[0].history.Name
				j.ahead(what, fmt.Sprintf("epochs from %d on", from), w.byEpochs(nrws, other, epochs))
				time.ahead(binarization+", "+what, "tenths of the seconds of RWS from the second on", w.bySeconds(nrws, other, rws, 2, 10))
			}
			w.curves("miniMNIST, "+binarization, nrws, rws, ws)
		}
		w.judgements = append(w.judgements, time)
	}, miniMethods()...),
	"minimnist/optimisers": by(makeMiniOptimisers, miniOptimised()...),
}

// miniMethods returns the plans for Várady 2025, table D.1 and fig. D.2.
func miniMethods() (plans []plan) {
	for _, data := range []struct {
		name          string
		spec          dataset.Spec
		nrws, rws, ws float64 // learning rates
	}{{"b", miniMNIST, 0.004, 0.02, 0.04}, {"c", miniMNISTDrawn, 0.004, 0.01, 0.02}} {
		for _, m := range []hm.Method{hm.NRWS().LearningRate(data.nrws).Damping(0.05), hm.RWS().LearningRate(data.rws), hm.WS().LearningRate(data.ws)} {
			p := mini(data.name+"-"+m.Spec().Preset, m, 50, 500)
			p.data = data.spec
			plans = append(plans, p)
		}
	}
	return plans
}

func mini(name string, method hm.Method, laptop, full int) plan {
	return plan{name: "minimnist-" + name, data: miniMNIST, machine: dense(miniLayers...), method: method, laptop: laptop, full: full, seeds: 3}
}

func miniCells() []cell {
	return each(miniMethods(), func(p plan) cell {
		data, method, _ := strings.Cut(strings.ToUpper(strings.TrimPrefix(p.name, "minimnist-")), "-")
		return cell{data + ", " + method, p, 0}
	})
}

func miniMethod(name string) plan {
	plans := miniMethods()
	return plans[slices.IndexFunc(plans, func(p plan) bool { return p.name == "minimnist-"+name })]
}

// manySeeds is the plan for Várady 2025, 5.3.7.
var manySeeds = plan{
	name: "minimnist-seeds", data: miniMNIST, machine: dense(miniLayers...),
	method: hm.NRWS().LearningRate(0.002).Damping(0.05), laptop: 100, full: 200, seeds: 24, part: 0.5,
}

// sleepSteps returns training runs of WS with several sleep steps (Várady 2025, fig. 5.17).
func sleepSteps(steps ...int) []cell {
	return each(steps, func(n int) cell {
		p := mini(fmt.Sprintf("ws-sleep-%d", n), hm.WS().LearningRate(0.001).SleepSteps(n), 20, 200)
		return cell{fmt.Sprintf("WS, sleep steps: %d", n), p, 0}
	})
}

// sleepScales returns training runs of NRWS with more or longer sleep (Várady 2025, figs 5.18 and 5.19). of
// returns the plan for a method, whose name ends in the given text.
func sleepScales(begin string, η float64, of func(ending string, m hm.Method) plan) []cell {
	return eachPair([]int{1, 3}, []int{1, 3}, func(steps, factor int) cell {
		method := hm.NRWS().LearningRate(η).Damping(0.2).SleepSteps(steps).SleepScale(float64(factor))
		return cell{fmt.Sprintf("%ssleep steps: %d, factor %d", begin, steps, factor), of(fmt.Sprintf("sleep-%d-by-%d", steps, factor), method), 0}
	})
}

func miniSleep(ending string, m hm.Method) plan { return mini("nrws-"+ending, m, 20, 200) }

// These training runs answer, on miniMNIST, the questions that chapter 6 of Várady 2025 asks on larger
// sets about optimisers, penalties and the entropy regulariser. Pixels are drawn at each step.

func miniDrawn(name string, method hm.Method, laptop, full int) plan {
	p := mini("c-"+name, method, laptop, full)
	p.data = miniMNISTDrawn
	return p
}

type comparedMethod struct {
	name  string
	plain plan    // of varady/tableD.1
	least float64 // the smallest rate that is tried with gradient descent
}

var miniPair = []comparedMethod{{"RWS", miniMethod("c-rws"), 0.02}, {"NRWS", miniMethod("c-nrws"), 0.008}}

// optimised is a method with an optimiser, at several rates.
type optimised struct {
	name   string
	method hm.Method
	length float64 // of the steps, as a multiple of the rate
	rates  []float64
}

// momentumLength is the factor by which momentum 0.95 lengthens steps.
const momentumLength = 20

// with returns the method with an optimiser, at four rates.
func (m comparedMethod) with(o hm.Optimizer) optimised {
	of := optimised{name: m.name + ", " + optimizerNames[o], method: m.plain.method.Optimizer(o), length: 1}
	least := m.least
	switch o {
	case hm.Momentum, hm.Nesterov:
		of.length = momentumLength
		least /= momentumLength
	case hm.Adam:
		least = 0.001
	}
	of.rates = []float64{least, 2 * least, 4 * least, 8 * least}
	return of
}

var (
	optimizers     = []hm.Optimizer{hm.GradientDescent, hm.Momentum, hm.Nesterov, hm.Adam}
	optimizerNames = map[hm.Optimizer]string{hm.GradientDescent: "gradient descent", hm.Momentum: "momentum", hm.Nesterov: "Nesterov", hm.Adam: "Adam"}
)

func (o optimised) plan(η float64) plan {
	s := o.method.Spec()
	name := fmt.Sprintf("%s-%v-lr-%g", s.Preset, s.Optimizer, η)
	if s.EntropyEstimator > 0 {
		name = fmt.Sprintf("%s-entropy-%g", name, s.EntropyEstimator)
	}
	return miniDrawn(name, o.method.LearningRate(η), 20, 200)
}

func (o optimised) plans() []plan { return each(o.rates, o.plan) }

func miniOptimised() []plan {
	return slices.Concat(eachPair(miniPair, optimizers, func(m comparedMethod, o hm.Optimizer) []plan { return m.with(o).plans() })...)
}

// atItsBest holds the results of a method with an optimiser at each rate, and at the best rate.
type atItsBest struct {
	optimised
	each   []curve // nil if training has diverged
	best   curve
	edge   bool // whether the best rate is the first or the last of those tried
	passed passedOver
	tested []evaluation // of the best
}

func (w *work) atItsBest(o optimised) (b atItsBest) {
	b.optimised = o
	all, at := w.atRates(o.rates, o.name, &b.passed, func(η float64) string { return o.plan(η).name })
	b.each, b.best, b.edge = all, all[at], atEnd(at, o.rates)
	b.tested = w.evaluateWith(b.best, w.endSamples())
	w.Beside(b.best[0].history.Name, "log p", value(b.tested, logP))
	return b
}

// reached returns validation log p at the end of training as a function of the step length.
func (b atItsBest) reached() plotting.Measured {
	m := plotting.Measured{Name: b.name, SpreadName: "± 1 sd over seeds"}
	for i, of := range b.each {
		if of != nil {
			logP := runs.SpreadOf(of, end)
			m.X, m.Y, m.Spread = append(m.X, b.length*b.rates[i]), append(m.Y, logP.Mean), append(m.Spread, logP.SD)
		}
	}
	return m
}

func (b atItsBest) above(j *judgement, other atItsBest) {
	j.above(b.best[0].history.Name+" − "+other.best[0].history.Name, difference(b.tested, other.tested))
}

// noteBests adds what limits a verdict on methods at their best rates.
func (j *judgement) noteBests(all ...atItsBest) {
	for _, b := range all {
		b.passed.note(j)
		if b.edge {
			j.bestAtEnd(b.name)
		}
	}
}

func makeMiniOptimisers(w *work) {
	of := map[string][]atItsBest{} // in the order of optimizers
	for _, m := range miniPair {
		var best []curve
		var reached []plotting.Measured
		for _, o := range optimizers {
			b := w.atItsBest(m.with(o))
			of[m.name] = append(of[m.name], b)
			best, reached = append(best, b.best), append(reached, b.reached())
		}
		w.curvesBeside("miniMNIST, C, each at its best rate: "+m.name, false, nil, nil, best...)
		w.Draw("rates-"+strings.ToLower(m.name), "log p of validation rows at the end, by 10 samples of each row, by optimiser and learning rate, of momentum and Nesterov twenty times this, mean and sd over seeds: "+m.name,
			plotting.Measurements(plotting.Axis{Label: "learning rate η; of momentum and Nesterov 20 η", Logarithmic: true}, plotting.Axis{Label: "log p (nats)"}, reached...))
	}
	accelerate := w.claim("Momentum, Nesterov and Adam accelerate both methods.")
	best := w.claim("Adam is best for RWS, momentum or Nesterov for NRWS.")
	ahead := w.claim("NRWS is ahead of RWS with the same optimiser.")
	for _, m := range miniPair {
		plain := of[m.name][0]
		for _, b := range of[m.name][1:] {
			w.aheadByEpochs(accelerate, b.name+" over "+optimizerNames[hm.GradientDescent], b.best, plain.best)
		}
	}
	rws, nrws := of["RWS"], of["NRWS"]
	for _, other := range rws[:3] {
		rws[3].above(best, other)
	}
	velocity := nrws[1]
	if nrws[2].best.mean(end) > velocity.best.mean(end) {
		velocity = nrws[2]
	}
	velocity.above(best, nrws[0])
	velocity.above(best, nrws[3])
	for i := range optimizers {
		nrws[i].above(ahead, rws[i])
	}
	for _, j := range []*judgement{accelerate, best, ahead} {
		j.noteBests(slices.Concat(rws, nrws)...)
	}
	for _, m := range miniPair {
		plain, momentum := of[m.name][0], of[m.name][1]
		j := w.claim("To " + m.name + " momentum is more than longer steps.")
		for i, η := range momentum.rates {
			if plain.each[i] == nil || momentum.each[i] == nil {
				j.add(reproduce.Quantity{Of: fmt.Sprintf("at η %g training has diverged", η)})
				continue
			}
			j.above(fmt.Sprintf("η %g over %g", η, plain.rates[i]), w.gain(momentum.each[i], plain.each[i], end))
		}
	}
}

func plainMini() []cell {
	return each(miniPair, func(m comparedMethod) cell { return cell{m.name, m.plain, 0} })
}

func regularised(label, name string, set func(hm.Method) hm.Method) []cell {
	return each(miniPair, func(m comparedMethod) cell {
		return cell{m.name + ", " + label, miniDrawn(strings.ToLower(m.name)+"-"+name, set(m.plain.method), m.plain.laptop, m.plain.full), 0}
	})
}

// penalisedMini returns training runs with the penalties of Várady 2025, fig. 6.9.
func penalisedMini() []cell {
	all := plainMini()
	for _, β := range []float64{1e-5, 1e-3} {
		label := strconv.FormatFloat(β, 'f', -1, 64)
		all = append(all, regularised("L1 "+label, fmt.Sprintf("l1-%g", β), withL1(β))...)
		all = append(all, regularised("L2 "+label, fmt.Sprintf("l2-%g", β), withL2(β))...)
	}
	return all
}

// forPenalties asks the questions for each method and norm, given the labels without, with a small and with a
// large penalty.
func forPenalties(asks func(plain, little, much string) []ask) ask {
	return func(c *comparison, j *judgement) {
		for _, m := range methods {
			for _, norm := range []string{", L1 ", ", L2 "} {
				for _, ask := range asks(m, m+norm+"0.00001", m+norm+"0.001") {
					ask(c, j)
				}
			}
		}
	}
}

func entropicMini() []cell {
	const warmUp = 5
	return slices.Concat(plainMini(),
		regularised("entropy as printed, β 2", "entropy-printed-2", func(m hm.Method) hm.Method { return m.EntropyEstimator(2).WarmUp(warmUp) }),
		regularised("entropy, β 0.01", "entropy-exact-0.01", func(m hm.Method) hm.Method { return m.Entropy(0.01).WarmUp(warmUp) }))
}

func nesterovMini() (alone, entropic optimised) {
	alone = miniPair[1].with(hm.Nesterov)
	entropic = alone
	entropic.name += " and entropy as printed, β 0.5"
	entropic.method = alone.method.EntropyEstimator(0.5).WarmUp(5)
	return alone, entropic
}

func nesterovPlans() []plan {
	alone, entropic := nesterovMini()
	return append(alone.plans(), entropic.plans()...)
}
