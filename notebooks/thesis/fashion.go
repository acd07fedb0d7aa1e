package thesis

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/notebooks/reproduce"
	"github.com/helmholtz-go/helmholtz/plotting"
	"github.com/helmholtz-go/helmholtz/runs"
)

var fashionDrawn = dataset.Spec{Name: "fashion", Binarization: dataset.Stochastic}

var fashionEntries = map[string]reproduce.Entry{
	"varady/table5.2": row{cells: table52, table: true}.with(
		logPOver("FashionMNIST, NRWS over RWS", "FashionMNIST, NRWS", "FashionMNIST, RWS"),
		secondsOver("FashionMNIST, seconds of an epoch, NRWS over RWS", "FashionMNIST, NRWS", "FashionMNIST, RWS"),
		judged("NRWS is ahead on FashionMNIST.", falling("FashionMNIST, NRWS", "FashionMNIST, RWS"),
			said("TFD is not public, and says nothing here")),
	),
	"varady/text5.3.7-dnrws": row{cells: []cell{{"FashionMNIST, DNRWS", fashionDNRWS, 0}, {"FashionMNIST, RWS", fashionRWS, 0}},
		table: true}.with(
		judged("DNRWS behaves like RWS, or marginally worse.", notAbove("FashionMNIST, DNRWS", "FashionMNIST, RWS"),
			func(c *comparison, j *judgement) {
				j.add(c.over("FashionMNIST, RWS", "FashionMNIST, DNRWS").of("behind by").Under(2).Errors(0))
			}),
	),
	"varady/fig5.9": row{cells: drawn(cell{"NRWS", fashionNRWS, 0.5})}.with(func(c *comparison) {
		of := c.of("NRWS")[0]
		j := c.look("(shown) Samples are recognisable clothes and faces.")
		c.likeTheRows(j, "", of)
		many := must(of.model.Means(c.ctx, c.few(10_000, 10_000, 100)))
		many.Values = many.Values[:c.few(100, 100, 10)]
		c.Draw("dreams", fmt.Sprintf("Means of 100 dreams of NRWS after %d epochs of FashionMNIST", len(of.history.Epochs)), plotting.Samples(many))
	}),
	"varady/table5.4": row{cells: table54, table: true}.with(
		judged("NBiHM is well ahead of BiHM; NBiHM and NRWS end within the spread of seeds.",
			func(c *comparison, j *judgement) {
				j.add(c.over("FashionMNIST, NBiHM", "FashionMNIST, BiHM").of("NBiHM − BiHM").Over(1).Errors(0))
			},
			within(0.5, "FashionMNIST, NBiHM", "FashionMNIST, NRWS")),
	),
	"varady/fig5.11": row{cells: table54, begin: "FashionMNIST, ", timed: true, onTest: true, drawn: "varady/table5.4"}.with(
		judged("NBiHM is best overall, and BiHM leads NRWS for half of the time.", func(c *comparison, j *judgement) {
			bihm, nbihm, nrws := c.of("BiHM"), c.of("NBiHM"), c.of("NRWS")
			highest, overBiHM := ofGains(c.byEpochs(nbihm, nrws, nrws.tenths())), ofGains(c.byEpochs(nbihm, bihm, nrws.tenths()))
			for i, q := range overBiHM {
				if v := highest[i].Verdict(); v == reproduce.Holds || v == reproduce.Open && q.Verdict() == reproduce.Fails {
					highest[i] = q
				}
			}
			j.add(atLeast(6, "NBiHM highest at tenths of the epochs:", highest),
				atLeast(3, "BiHM above NRWS at the first tenths of the seconds of NRWS:", ofGains(c.bySeconds(bihm, nrws, nrws, 1, 5))))
		}, byFewSamples),
		curves("FashionMNIST, C, bidirectional machines"),
	),
	"varady/table6.2": row{cells: table62, table: true}.with(
		judged("Adam is best for RWS, momentum or Nesterov for NRWS; NRWS is ahead with the same optimiser, Adam on FashionMNIST excepted.",
			func(c *comparison, j *judgement) {
				const rws, nrws = "FashionMNIST, RWS, 5,000 epochs", "FashionMNIST, NRWS, 2,000 epochs"
				for _, optimizer := range []string{"", ", momentum", ", Nesterov"} {
					falling(rws+", Adam", rws+optimizer)(c, j)
					falling(nrws+optimizer, rws+optimizer)(c, j)
				}
				velocity := nrws + ", momentum"
				if c.of(nrws+", Nesterov").mean(end) > c.of(velocity).mean(end) {
					velocity = nrws + ", Nesterov"
				}
				falling(velocity, nrws+", Adam")(c, j)
				falling(velocity, nrws)(c, j)
				falling(rws+", Adam", nrws+", Adam")(c, j)
			}),
	),
	"varady/fig6.5": row{cells: fig65, begin: "FashionMNIST, ", drawn: "varady/table6.2"}.with(
		judged("Momentum and Nesterov nearly overlap; with NRWS on FashionMNIST they are ahead of Adam from the start.",
			func(c *comparison, j *judgement) {
				for _, m := range methods {
					j.add(exact(c.of(m+", momentum").mean(end)-c.of(m+", Nesterov").mean(end), "nats", "%s, momentum − Nesterov", m).Within(0.3))
				}
			},
			aheadByEpochs(overOther("NRWS", "momentum", "Adam"), overOther("NRWS", "Nesterov", "Adam"))),
		curvesByMethod("FashionMNIST, C", "", ", momentum", ", Nesterov", ", Adam"),
	),
	"varady/fig6.6": row{cells: fig65, begin: "FashionMNIST, "}.with(func(c *comparison) {
		c.aheadBothWays("NRWS is ahead both ways.", "FashionMNIST, C, the best optimisers", c.bestOptimised("NRWS"), c.bestOptimised("RWS"))
	}),
	"varady/table6.3": row{cells: table63, table: true}.with(
		judged("L1 and L2 do not help NRWS.",
			notAbove("FashionMNIST, NRWS, 2,000 epochs, L1 0.00001", "FashionMNIST, NRWS, 2,000 epochs"),
			notAbove("FashionMNIST, NRWS, 2,000 epochs, L2 0.00001", "FashionMNIST, NRWS, 2,000 epochs")),
	),
	"varady/fig6.9": row{cells: fig69, begin: "FashionMNIST, ", drawn: "varady/table6.3"}.with(
		judged("Neither helps either method at any β; the larger β, the worse.", func(c *comparison, j *judgement) {
			for _, m := range methods {
				for _, norm := range []string{", L1 ", ", L2 "} {
					little, much := m+norm+"0.00001", m+norm+"0.001"
					for _, penalised := range []string{little, much} {
						j.add(c.over(penalised, m).of("%s over none", penalised).Under(0.3).Errors(0))
					}
					for _, other := range []string{m, little} {
						j.above(other+" over "+much, c.over(other, much))
					}
				}
			}
		}),
		curvesByMethod("FashionMNIST, C, penalties", "", ", L1 0.00001", ", L1 0.001", ", L2 0.00001", ", L2 0.001"),
	),
	"varady/fig6.11": row{cells: fig69, begin: "FashionMNIST, "}.with(
		judged("Weights of unregularised NRWS grow much larger; gradient norms of regularised runs become nearly constant.",
			func(c *comparison, j *judgement) {
				for _, m := range methods {
					free, held := c.normsOf(m), c.normsOf(m+", L2 0.001")
					j.add(exact(held.at(1, ofWeights)/free.at(1, ofWeights), "", "%s: norm of the weights with L2 0.001, over that without", m).Under(0.5),
						exact(held.at(1, ofGradients)/held.at(0.5, ofGradients)-1, "", "relative change of the norm of the gradients over the second half").Within(0.1))
				}
			}),
		drawNorms("with L2 and without", "", ", L2 0.00001", ", L2 0.001"),
	),
	"varady/table6.4": row{cells: table64, table: true}.with(
		logPOver("FashionMNIST, gain of entropy, RWS, 2,000 epochs", "FashionMNIST, RWS, 2,000 epochs, entropy", "FashionMNIST, RWS, 2,000 epochs"),
		logPOver("FashionMNIST, gain of entropy, NRWS, 2,000 epochs", "FashionMNIST, NRWS, 2,000 epochs, entropy", "FashionMNIST, NRWS, 2,000 epochs"),
		judged("The entropy regulariser gains about half a nat.",
			falling("FashionMNIST, RWS, 2,000 epochs, entropy", "FashionMNIST, RWS, 2,000 epochs"),
			falling("FashionMNIST, NRWS, 2,000 epochs, entropy", "FashionMNIST, NRWS, 2,000 epochs")),
	),
	"varady/fig6.12": row{cells: fig612, begin: "FashionMNIST, ", names: strongest, drawn: "varady/table6.4"}.with(
		judged("It helps both methods in speed and minimum; β 2.0 is best.",
			falling("RWS, entropy", "RWS"), falling("RWS, entropy", "RWS, entropy 0.8"), falling("RWS, entropy", "RWS, entropy 5"),
			falling("NRWS, entropy", "NRWS"), falling("NRWS, entropy", "NRWS, entropy 0.8"), falling("NRWS, entropy", "NRWS, entropy 5")),
		curvesByMethod("FashionMNIST, C, entropy regulariser", "", ", entropy 0.8", ", entropy", ", entropy 5"),
	),
	"varady/fig6.13": row{cells: fig612, begin: "FashionMNIST, ", names: strongest}.with(
		judged("Weights grow larger with it, the opposite of L2; gradient norms level out higher.",
			func(c *comparison, j *judgement) {
				for _, m := range methods {
					free, raised := c.normsOf(m), c.normsOf(m+", entropy")
					j.add(exact(raised.at(1, ofWeights)/free.at(1, ofWeights), "", "%s: factor of the norm of the weights", m).Over(1.05),
						exact(raised.at(1, ofGradients)/free.at(1, ofGradients), "", "%s: factor of the norm of the gradients",
							m).Over(1.05))
				}
			}),
		drawNorms("with the entropy regulariser and without", "", ", entropy"),
	),
	"varady/fig5.7": by(func(w *work) {
		nrws := w.trained(fashionNRWS.name, "NRWS")
		var passed passedOver
		all := []curve{nrws}
		rws, at := bestOf(&passed, fashionRates, func(p plan) (curve, float64) {
			of := w.trained(p.name, fmt.Sprintf("RWS, η = %g", p.method.Spec().LearningRate))
			all = append(all, of)
			return of, of.mean(end)
		})
		w.timed(all...)
		all = each(all, onTest)
		nrws, rws = all[0], onTest(rws)
		what := "NRWS over " + rws[0].history.Name + ","
		j := w.claim("RWS at its best rate does not catch up with NRWS by epochs or by time.")
		j.ahead(what, "tenths of the epochs from the second on", w.byEpochs(nrws, rws, rws.tenths()[1:]))
		w.aheadBySeconds(j, what, nrws, rws, 2)
		passed.note(j)
		if atEnd(at, fashionRates) {
			const edge = "the best rate of RWS lies at an end of those tried"
			if reproduce.VerdictOn(j.on) == reproduce.Fails { // a better rate would not help
				j.say(edge)
			} else {
				j.undecided(edge)
			}
		}
		w.curves("FashionMNIST, C", all...)
	}, append([]plan{fashionNRWS}, fashionRates...)...),
}

// fashion returns a plan for FashionMNIST with the machine of MNIST (Várady 2025, 5.3.2). Its curves show the
// test rows, measured with the number of samples used in training.
func fashion(name string, method hm.Method, full int) plan {
	return plan{
		name: "fashion-" + name, data: fashionDrawn, machine: dense(twelveLayers...), method: method, laptop: full / 200, full: full, seeds: 1, part: 0.5, float32: true,
		measured: []hm.Measurement{{Samples: 10}},
	}
}

// The rates of Várady 2025, tables 5.2 and 5.4.
var (
	fashionRWS   = fashion("rws", hm.RWS().LearningRate(0.004), 2000)
	fashionNRWS  = fashion("nrws", hm.NRWS().LearningRate(0.002).Damping(0.1), 2000)
	fashionDNRWS = fashion("dnrws", hm.DNRWS().LearningRate(0.002).Damping(0.1), 2000)
	fashionBiHM  = small(fashion("bihm", hm.BiHM().LearningRate(0.002), 2000))
	fashionNBiHM = small(fashion("nbihm", hm.NBiHM().LearningRate(0.002).Damping(0.1), 2000))
)

// small gives a bidirectional machine the initial weights of Várady 2025, App. A.2.
func small(p plan) plan {
	p.machine = p.machine.Weights(hm.SmallNormal)
	return p
}

var table52 = []cell{{"FashionMNIST, RWS", fashionRWS, 0}, {"FashionMNIST, NRWS", fashionNRWS, 0}}

// fashionRates lists the runs of RWS from which the best is chosen (Várady 2025, fig. 5.7).
var fashionRates = []plan{
	fashion("rws-0.002", hm.RWS().LearningRate(0.002), 2000), fashionRWS, fashion("rws-0.008", hm.RWS().LearningRate(0.008), 2000),
}

var table54 = []cell{
	{"FashionMNIST, BiHM", fashionBiHM, 0}, {"FashionMNIST, NBiHM", fashionNBiHM, 0}, {"FashionMNIST, NRWS", fashionNRWS, 0},
}

// accelerated returns the training runs of Várady 2025, 6.1 on a set: RWS and NRWS with each optimiser at the
// same small rate. RWS trains for 5,000 epochs; its first 2,000 count as a separate result.
func accelerated(on string, of func(name string, method hm.Method, full int) plan, damping float64) (cells []cell) {
	for _, o := range []struct {
		ending, name string
		optimizer    hm.Optimizer
	}{{"", "gd", hm.GradientDescent}, {", momentum", "momentum", hm.Momentum}, {", Nesterov", "nesterov", hm.Nesterov}, {", Adam", "adam", hm.Adam}} {
		rws := long(of, "rws-slow-"+o.name, hm.RWS().LearningRate(0.0001).Optimizer(o.optimizer))
		nrws := of("nrws-slow-"+o.name, hm.NRWS().LearningRate(0.0001).Damping(damping).Optimizer(o.optimizer), 2000)
		cells = append(cells,
			cell{on + "RWS, 2,000 epochs" + o.ending, rws, 0.4}, cell{on + "RWS, 5,000 epochs" + o.ending, rws, 0}, cell{on + "NRWS, 2,000 epochs" + o.ending, nrws, 0})
	}
	return cells
}

var table62 = accelerated("FashionMNIST, ", fashion, 0.1)

// fig65 holds the first 2,000 epochs of the runs of table 6.2.
var fig65 = drawn(table62...)

func (c *comparison) bestOptimised(method string) curve {
	return slices.MaxFunc(c.all(method, method+", momentum", method+", Nesterov", method+", Adam"), func(a, b curve) int { return cmp.Compare(a.mean(end), b.mean(end)) })
}

// aheadBothWays judges a claim that NRWS is ahead of RWS by epochs and by seconds, and
// draws both.
func (w *work) aheadBothWays(says, title string, nrws, rws curve) {
	w.timed(rws, nrws)
	what := nrws[0].history.Name + " over " + rws[0].history.Name + ","
	j := w.claim(says)
	w.aheadByEpochs(j, what, nrws, rws)
	w.aheadBySeconds(j, what, nrws, rws, 1)
	w.curves(title, rws, nrws)
}

// fashionLong is RWS without a regulariser, as Várady 2025, 6.2 and 6.3 train it on FashionMNIST.
var fashionLong = long(fashion, "rws-long-plain", fashionRWS.method)

// long returns a plan of 5,000 epochs on a set; its first 2,000 epochs count as a separate result.
func long(of func(name string, method hm.Method, full int) plan, name string, method hm.Method) plan {
	p := of(name, method, 5000)
	p.part = 0.4
	return p
}

var unpenalised = []cell{
	{"FashionMNIST, RWS, 2,000 epochs", fashionLong, 0.4}, {"FashionMNIST, RWS, 5,000 epochs", fashionLong, 0},
	{"FashionMNIST, NRWS, 2,000 epochs", fashionNRWS, 0},
}

func penalised(suffix, name string, set func(hm.Method) hm.Method) []cell {
	return []cell{
		{"FashionMNIST, RWS, 2,000 epochs" + suffix, fashion("rws-"+name, set(fashionRWS.method), 2000), 0},
		{"FashionMNIST, NRWS, 2,000 epochs" + suffix, fashion("nrws-"+name, set(fashionNRWS.method), 2000), 0},
	}
}

// penalisedLong returns the runs of penalised, with 5,000 epochs of RWS.
func penalisedLong(suffix, name string, set func(hm.Method) hm.Method) []cell {
	cells, rws := penalised(suffix, name, set), long(fashion, "rws-long-"+name, set(fashionRWS.method))
	return []cell{{cells[0].number, rws, 0.4}, {"FashionMNIST, RWS, 5,000 epochs" + suffix, rws, 0}, cells[1]}
}

func withL1(β float64) func(hm.Method) hm.Method {
	return func(m hm.Method) hm.Method { return m.L1(β) }
}
func withL2(β float64) func(hm.Method) hm.Method {
	return func(m hm.Method) hm.Method { return m.L2(β) }
}

var table63 = slices.Concat(unpenalised,
	penalisedLong(", L1 0.00001", "l1-0.00001", withL1(1e-5)),
	penalisedLong(", L2 0.00001", "l2-0.00001", withL2(1e-5)))

// fig69 holds the runs of table 6.3 for 2,000 epochs, and runs with penalties a hundred times as large.
var fig69 = drawn(slices.Concat(table63,
	penalised(", L1 0.001", "l1-0.001", withL1(1e-3)),
	penalised(", L2 0.001", "l2-0.001", withL2(1e-3)))...)

func ofWeights(l runs.LayerNorms) float64   { return l.Weights }
func ofGradients(l runs.LayerNorms) float64 { return l.Gradient }

func (c *comparison) normsOf(label string) norms { return norms(c.of(label)[0].history) }

func drawNorms(what string, endings ...string) func(*comparison) {
	return func(c *comparison) {
		for _, m := range methods {
			all := each(endings, func(ending string) runs.History { return c.of(m + ending)[0].history })
			c.Draw("norms-"+strings.ToLower(m), "Norms of weights and, of the last minibatch of each epoch, of gradients on FashionMNIST, both networks together, "+what+": "+m,
				plotting.NetworkNorms(all...))
		}
	}
}

// entropic returns a function that adds the entropy regulariser as printed (Várady 2025, 6.3.3).
func entropic(β float64) func(hm.Method) hm.Method {
	return func(m hm.Method) hm.Method { return m.EntropyEstimator(β).WarmUp(50) }
}

func thrice(cells ...cell) []cell {
	return each(cells, func(c cell) cell {
		c.plan.seeds = 3
		return c
	})
}

var table64 = thrice(slices.Concat(unpenalised, penalisedLong(", entropy", "entropy-2", entropic(2)))...)

// fig612 holds the runs of table 6.4 for 2,000 epochs, and runs with the other strengths.
var fig612 = drawn(slices.Concat(table64,
	thrice(penalised(", entropy 0.8", "entropy-0.8", entropic(0.8))...), thrice(penalised(", entropy 5", "entropy-5", entropic(5))...))...)

// strongest names the cells of table 6.4 by their β, to distinguish them from the other strengths.
var strongest = map[string]string{"RWS, entropy": "RWS, entropy 2", "NRWS, entropy": "NRWS, entropy 2"}
