package thesis

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/notebooks/reproduce"
	"github.com/helmholtz-go/helmholtz/plotting"
	"github.com/helmholtz-go/helmholtz/runs"
)

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
		w.epochCurves("miniMNIST, C, each at its best rate: "+m.name, best...)
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

func addToNesterov(c *comparison) {
	alone, entropic := nesterovMini()
	without, with := c.atItsBest(alone), c.atItsBest(entropic)
	adds := c.claim("Entropy adds to Nesterov.")
	with.above(adds, without)
	adds.noteBests(with, without)
}
