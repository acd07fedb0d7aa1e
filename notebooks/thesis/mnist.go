package thesis

import (
	"fmt"
	"slices"
	"strings"

	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/notebooks/reproduce"
	"github.com/helmholtz-go/helmholtz/plotting"
	"github.com/helmholtz-go/helmholtz/runs"
)

var mnistEntries = map[string]reproduce.Entry{
	"varady/table5.1": row{cells: nrwsAndRWS, table: true}.with(
		logPOver("NRWS over RWS", "NRWS", "RWS"),
		secondsOver("seconds of an epoch, NRWS over RWS", "NRWS", "RWS"),
		judged("NRWS with a fixed rate beats published RWS (−86.0) and BiHM (−85.0; BiHM thesis 2016 has −84.5).", func(c *comparison, j *judgement) {
			logP := c.tested("NRWS")[0].LogP
			j.add(exact(logP, "nats", "log p of NRWS after %d epochs", mnistNRWS.epochs(c.Scale)).Over(-85))
			j.say("%+.2f from −84.5", logP+84.5)
		}),
	),
	"varady/table5.1-others": row{cells: table51, table: true}.with(
		secondsOver("seconds of an epoch, DNRWS over RWS", "DNRWS", "RWS"),
		secondsOver("seconds of an epoch, WS over RWS", "WS", "RWS"),
		judged("NRWS is best, before DNRWS, RWS and WS.", falling("NRWS", "DNRWS", "RWS", "WS")),
		curves("binarised MNIST, twelve layers, four methods"),
	),
	"varady/fig5.4": row{cells: fig54()}.with(
		judged("Smaller α is faster at first, with a worse minimum.", func(c *comparison, j *judgement) {
			for _, η := range []string{"0.001", "0.002", "0.004"} {
				for _, α := range [][2]string{{"0.05", "0.1"}, {"0.1", "0.2"}, {"0.2", "0.4"}} {
					smaller, larger := c.of("η "+η+", α "+α[0]), c.of("η "+η+", α "+α[1])
					epoch := min(5, smaller.epochs())
					j.above(fmt.Sprintf("η %s, training after %d epochs, α %s − %s", η, epoch, α[0], α[1]), c.gain(smaller, larger, trainedAfter(epoch)))
					if α[1] != "0.4" {
						j.above(fmt.Sprintf("best validation, α %s − %s", α[1], α[0]), c.gain(larger, smaller, best))
					}
				}
			}
		}),
		judged("A larger η that makes up for a larger α converges too early.",
			endsAbove(pair{"η 0.002, α 0.2 over η 0.004, α 0.4 at the end", "η 0.002, α 0.2", "η 0.004, α 0.4"})),
		func(c *comparison) {
			for _, η := range []string{"η 0.001", "η 0.002", "η 0.004"} {
				curves("binarised MNIST, DNRWS, "+η, η+", α 0.05", η+", α 0.1", η+", α 0.2", η+", α 0.4")(c)
			}
		},
	),
	"varady/fig5.5": row{cells: drawn(cell{"RWS", mnistRWS, 0.25}, cell{"DNRWS", mnistDNRWS, 0.25}, cell{"NRWS", mnistNRWS, 0.25}),
		timed: true}.with(
		judged("DNRWS is faster than RWS and its minimum worse than that of NRWS.",
			aheadByEpochs(over("DNRWS", "RWS")), endsAbove(pair{"NRWS − DNRWS at the end", "NRWS", "DNRWS"})),
		judged("By time DNRWS beats RWS for a longer period.", func(c *comparison, j *judgement) {
			dnrws, rws := c.of("DNRWS"), c.of("RWS")
			j.ahead("DNRWS over RWS", "first tenth of the seconds", c.bySeconds(dnrws, rws, rws, 1, 1))
		}),
		curves("binarised MNIST, diagonal metric"),
	),
	"varady/fig5.6": row{cells: nrwsAndRWS, timed: true, drawn: "varady/table5.1"}.with(
		secondsOver("seconds of an epoch, NRWS over RWS", "NRWS", "RWS"),
		judged("NRWS converges faster by epochs and to a better minimum.", aheadByEpochs(over("NRWS", "RWS"))),
		judged("NRWS is faster by time.", aheadBySeconds(over("NRWS", "RWS"))),
		curves("binarised MNIST, twelve layers"),
	),
	"varady/fig5.6-rates": row{more: mnistTuned()}.with(func(c *comparison) {
		var passed passedOver
		tuned := func(method string) (best curve, η float64, edge bool) {
			all, at := c.atRates(mnistRates, method, &passed,
				func(η float64) string { return "mnist-" + rated(strings.ToLower(method), η) })
			return all[at], mnistRates[at], atEnd(at, mnistRates)
		}
		nrws, ηNRWS, edgeNRWS := tuned("NRWS")
		rws, ηRWS, edgeRWS := tuned("RWS")
		c.timed(nrws, rws)
		what := fmt.Sprintf("NRWS at η %g over RWS at %g, %d epochs, %d seeds,", ηNRWS, ηRWS, rws.epochs(), len(rws))
		j := c.claim("The gain is the metric's, each method being at its best rate.")
		c.aheadByEpochs(j, what, nrws, rws)
		c.aheadBySeconds(j, what, nrws, rws, 1)
		gain := c.ends(nrws, rws)
		c.Beside("NRWS over RWS, each at its best rate", "difference of validation log p", reproduce.Value{Ours: gain.nats, SE: &gain.se, Seeds: len(rws)})
		c.Beyond("At the learning rates that are best for each, %g and %g of those tried, NRWS ends %v above RWS on validation rows of MNIST, after %d epochs", ηNRWS, ηRWS, gain, rws.epochs())
		passed.note(j)
		if edgeNRWS || edgeRWS {
			j.undecided("the best rate of a method lies at an end of those tried")
		}
		c.curves("binarised MNIST, each method at its best rate", nrws, rws)
	}),
	"varady/table5.3": row{cells: table53, table: true}.with(
		secondsOver("seconds of an epoch, NBiHM over BiHM", "NBiHM", "BiHM"),
		judged("NRWS, NBiHM, BiHM, in this order.", falling("NRWS", "NBiHM", "BiHM")),
	),
	"varady/fig5.10": row{cells: table53, timed: true, drawn: "varady/table5.3"}.with(
		judged("NBiHM gains over BiHM in speed and minimum.", aheadByEpochs(over("NBiHM", "BiHM")), aheadBySeconds(over("NBiHM", "BiHM"))),
		judged("An epoch of NBiHM is shorter than one of NRWS, and NBiHM does not reach NRWS.",
			func(c *comparison, j *judgement) {
				shorter, se := c.secondsRatio("NBiHM", "NRWS", c.labels...)
				j.add(reproduce.Measured(shorter, se, "", "seconds of an epoch ×").Under(1))
			},
			endsAbove(pair{"NRWS − NBiHM at the end", "NRWS", "NBiHM"})),
		curves("binarised MNIST, bidirectional machines"),
	),
	"varady/table6.1": row{cells: table61, table: true}.with(
		judged("NRWS after 2,000 epochs is ahead of RWS after 5,000, Adam excepted.",
			falling("NRWS, 2,000 epochs", "RWS, 5,000 epochs"),
			falling("NRWS, 2,000 epochs, momentum", "RWS, 5,000 epochs, momentum"),
			falling("NRWS, 2,000 epochs, Nesterov", "RWS, 5,000 epochs, Nesterov"),
			falling("RWS, 5,000 epochs, Adam", "NRWS, 2,000 epochs, Adam")),
	),
	"varady/fig6.3": row{cells: fig63, drawn: "varady/table6.1"}.with(
		judged("All three accelerate both methods.", aheadByEpochs(overPlain("RWS", "momentum", "Nesterov", "Adam")...), aheadByEpochs(overPlain("NRWS", "momentum", "Nesterov", "Adam")...)),
		judged("Adam is best for RWS, momentum and Nesterov for NRWS.",
			endsAbove(overPlain("RWS", "Adam")...),
			endsAbove(overOther("RWS", "Adam", "momentum"), overOther("NRWS", "momentum", "Adam")), endsAbove(overPlain("NRWS", "momentum")...),
			endsAbove(overOther("RWS", "Adam", "Nesterov"), overOther("NRWS", "Nesterov", "Adam")), endsAbove(overPlain("NRWS", "Nesterov")...)),
		curvesByMethod("binarised MNIST", "", ", momentum", ", Nesterov", ", Adam"),
	),
	"varady/fig6.4": row{cells: fig64}.with(func(c *comparison) {
		c.aheadBothWays("NRWS with Nesterov is ahead from the start, both ways.", "binarised MNIST, the best optimisers", c.of("NRWS, Nesterov"), c.of("RWS, Adam"))
	}),
	"varady/table6.5": row{cells: table65, table: true}.with(
		judged("Entropy and acceleration together almost always help.",
			falling("MNIST, NRWS, entropy and Nesterov", "MNIST, NRWS"),
			falling("FashionMNIST, NRWS, entropy and Nesterov", "FashionMNIST, NRWS")),
	),
	"bihm/text3.7.4": row{cells: sevenLayers, table: true}.with(
		findRange,
		judged("Removing a layer decreases log p.", falling("BiHM", "BiHM, six layers")),
	),
	"varady/figC.4": row{cells: figC4()}.with(func(c *comparison) {
		of := func(k int) curve { return c.of(refreshEvery(k)) }
		one, hundred, thousand := of(1), of(100), of(1000)
		drawn := []curve{one, of(10), hundred, of(500), thousand}
		c.timed(drawn...)
		level := c.claim("K of 1 to 100 has no visible effect; all K below 500 reach the same minimum.")
		unstable := c.claim("K 1000 is unstable, 500 less so.")
		faster := c.claim("Large K is much faster.")
		for _, k := range refreshSteps[1:] {
			if k <= 100 {
				level.add(exact(of(k).mean(end)-one.mean(end), "nats", "validation log p, K %d over K 1", k).Within(0.5))
			}
		}
		tenths, first := inParts(thousand[0], 10).Epochs, inParts(one[0], 10).Epochs
		rises := false
		for i := range tenths[1:] {
			rises = rises || ofTraining(tenths[i+1]) < ofTraining(tenths[i])
		}
		behind := ofTraining(first[len(first)-1]) - ofTraining(tenths[len(tenths)-1])
		unstable.add(fact(rises || behind > 2, "training loss of K 1000 rises between tenths of the steps, or is more than 2 nats behind K 1 in the last"))
		unstable.say("log p of training rows in the last tenth, K 1000 over K 1 %+.2f nats", -behind)
		faster.add(exact(hundred.seconds()/one.seconds(), "", "seconds at K 100 over those at K 1:").Under(1.0 / 3))
		title := "binarised MNIST, NRWS, steps between refreshes"
		c.Draw(slug(title)+"-steps", title+": −log p of the minibatches, by 10 samples of each row, mean over each fiftieth of the steps",
			plotting.CurvesByStep(each(drawn, func(of curve) runs.History { return inParts(of[0], 50) })...).Title(title))
	}),
	"bihm/fig3.4": row{cells: fig34, timed: true, onTest: true}.with(
		judged("BiHM converges very well by updates and competitively by time.", func(c *comparison, j *judgement) {
			bihm, rws := c.of("BiHM"), c.of("RWS")
			least := slices.Min(each(c.bySeconds(bihm, rws, rws, 2, 10), func(g gain) float64 { return g.nats })) // NaN where they cannot be compared
			j.add(atLeast(6, "above RWS at tenths of the updates:", ofGains(c.byEpochs(bihm, rws, rws.tenths()))),
				exact(least, "nats", "at the worst of the tenths of the seconds of RWS from the second on").Over(-0.5))
		}),
		curves("binarised MNIST, twelve layers, Adam"),
	),
	"fixed-point": row{cells: slices.Concat(inBoth("NRWS", mnistNRWS), inBoth("RWS", mnistRWS))}.with(
		endsAlike("NRWS"),
		endsAlike("RWS"),
		curves("binarised MNIST, fixed point and float32"),
	),
	"estimators/mnist": estimators(),
}

// overPlain returns pairs of a method's optimisers over gradient descent, and overOther of one optimiser over
// another.
func overPlain(method string, optimizers ...string) []pair {
	return each(optimizers, func(o string) pair {
		return pair{method + ", " + o + " over gradient descent", method + ", " + o, method}
	})
}

func overOther(method, a, b string) pair {
	return pair{method + ", " + a + " over " + b, method + ", " + a, method + ", " + b}
}

func mnist(name string, method hm.Method, full int) plan {
	return plan{name: "mnist-" + name, data: binarizedMNIST, machine: dense(twelveLayers...), method: method, laptop: full / 40, full: full, seeds: 1, part: 0.25, float32: true}
}

// The methods of Várady 2025, tables 5.1 and 5.3.
var (
	mnistNRWS  = mnist("nrws", hm.NRWS().LearningRate(0.002).Damping(0.2), 2000)
	mnistRWS   = mnist("rws", hm.RWS().LearningRate(0.002), 2000)
	mnistWS    = mnist("ws", hm.WS().LearningRate(0.002), 2000)
	mnistDNRWS = mnist("dnrws", hm.DNRWS().LearningRate(0.002).Damping(0.2), 2000)
	mnistBiHM  = small(mnist("bihm", hm.BiHM().LearningRate(0.001), 2000))
	mnistNBiHM = small(mnist("nbihm", hm.NBiHM().LearningRate(0.001).Damping(0.1), 2000))
)

var table51 = []cell{{"NRWS", mnistNRWS, 0}, {"DNRWS", mnistDNRWS, 0}, {"RWS", mnistRWS, 0}, {"WS", mnistWS, 0}}

var nrwsAndRWS = numbered(table51, "NRWS", "RWS")

// mnistRates lists the learning rates from which a method's best is chosen.
var mnistRates = []float64{0.005, 0.01, 0.02, 0.04, 0.08}

func mnistTuned() []plan {
	return eachPair([]hm.Method{hm.NRWS().Damping(0.2), hm.RWS()}, mnistRates, func(m hm.Method, η float64) plan {
		p := mnist(rated(m.Spec().Preset, η), m.LearningRate(η), 50)
		p.laptop, p.seeds = 5, 3
		return p
	})
}

func rated(method string, η float64) string { return fmt.Sprintf("%s-lr-%g", method, η) }

// atRates returns the runs of a method at each of several rates, or nil if training has diverged, and the
// index of the rate that ends with the highest validation log p. name returns the name of the run at a rate.
func (w *work) atRates(rates []float64, label string, passed *passedOver, name func(η float64) string) (all []curve, best int) {
	_, best = bestOf(passed, rates, func(η float64) (curve, float64) {
		all = append(all, nil)
		of := w.trained(name(η), fmt.Sprintf("%s, η = %g", label, η))
		all[len(all)-1] = of
		return of, of.mean(end)
	})
	return all, best
}

var table53 = []cell{{"BiHM", mnistBiHM, 0}, {"NBiHM", mnistNBiHM, 0}, {"NRWS", mnistNRWS, 0}}

func fig54() []cell {
	return eachPair([]float64{0.001, 0.002, 0.004}, []float64{0.05, 0.1, 0.2, 0.4}, func(η, α float64) cell {
		p := mnist(fmt.Sprintf("dnrws-lr-%g-damping-%g", η, α), hm.DNRWS().LearningRate(η).Damping(α), 200)
		return cell{fmt.Sprintf("η %g, α %g", η, α), p, 0}
	})
}

var table61 = accelerated("", mnist, 0.2)

// fig63 holds the first 2,000 epochs of the runs of table 6.1, and fig64 two of these runs.
var (
	fig63 = drawn(table61...)
	fig64 = numbered(fig63, "RWS, 2,000 epochs, Adam", "NRWS, 2,000 epochs, Nesterov")
)

// final returns the plan for the last column of Várady 2025, table 6.5, on a set.
func final(of func(string, hm.Method, int) plan, damping float64) plan {
	return of("nrws-final", hm.NRWS().LearningRate(0.0001).Damping(damping).Optimizer(hm.Nesterov).EntropyEstimator(0.5).WarmUp(50), 2000)
}

// The claim is about NRWS, so its runs have three seeds.
var table65 = append(thrice(
	cell{"MNIST, NRWS", mnistNRWS, 0},
	cell{"MNIST, NRWS, entropy and Nesterov", final(mnist, 0.2), 0},
	cell{"FashionMNIST, NRWS", fashionNRWS, 0},
	cell{"FashionMNIST, NRWS, entropy and Nesterov", final(fashion, 0.1), 0},
), cell{"MNIST, RWS", mnistRWS, 0}, cell{"FashionMNIST, RWS", fashionLong, 0})

// The seven-layer machines of BiHM thesis 2016, 3.7.4: 1,000 epochs with five samples, then 500 with a hundred,
// at the rates of its 3.6.2.
var sevenLayers = []cell{
	{"BiHM", layered("seven-layers-bihm", hm.BiHM(), 400, 300, 200, 100, 50, 25, 10), 0},
	{"BiHM, six layers", layered("six-layers-bihm", hm.BiHM(), 400, 300, 200, 50, 25, 10), 0},
	{"RWS", layered("seven-layers-rws", hm.RWS(), 400, 300, 200, 100, 50, 25, 10), 0},
}

func layered(name string, method hm.Method, layers ...int) plan {
	return plan{
		name: name, data: binarizedMNIST, machine: bidirectional(layers...),
		method: method.L1(1e-5).Optimizer(hm.Adam).BatchSize(100).LearningRate(0.001).StepDecay(1000, 0.3).Samples(5).SamplesAfter(1000, 100), laptop: 20, full: 1500, seeds: 1,
	}
}

func findRange(c *comparison) {
	bihm := c.of("BiHM")[0]
	spread := keptOf(c.work, fmt.Sprintf("range-of-ten-%d", c.samples), bihm.snapshot, func() float64 {
		rows := bihm.model.Subset(c.dataset(bihm).Test(), c.few(0, 0, 50))
		var all []float64
		for seed := range uint64(10) {
			c.Say("evaluating the BiHM, %d of 10", seed+1)
			all = append(all, must(bihm.model.WithSeed(seed+1).Evaluate(c.ctx, rows, c.samples, c.Progress)).LogP)
		}
		return slices.Max(all) - slices.Min(all)
	})
	of := c.tested("BiHM")
	c.Found("range of ten evaluations with 10,000 samples", "at most", reproduce.Value{Ours: spread, Seeds: 1, By: value(of, logP).By, Data: of[0].data})
}

// The twelve-layer machines of BiHM thesis 2016, fig. 3.4.
var fig34 = []cell{{"BiHM", twelve("bihm", hm.BiHM().L1(1e-5)), 0}, {"RWS", twelve("rws", hm.RWS().L1(1e-5)), 0}}

func twelve(name string, method hm.Method) plan {
	return plan{
		name: "adam-" + name, data: binarizedMNIST, machine: bidirectional(twelveLayers...),
		method: method.Optimizer(hm.Adam).BatchSize(100).LearningRate(0.0005), laptop: 40, full: 2000, seeds: 1,
		measured: []hm.Measurement{{Every: 4, Rows: 1000, Samples: 1000}},
	}
}

var refreshSteps = []int{1, 2, 3, 5, 10, 20, 50, 100, 500, 1000}

func figC4() []cell {
	return each(refreshSteps, func(k int) cell {
		p := mnist(fmt.Sprintf("nrws-refresh-%d", k), hm.NRWS().LearningRate(0.002).Damping(0.2).RefreshEvery(k), 2)
		p.laptop, p.part, p.steps = 2, 0, 1
		return cell{refreshEvery(k), p, 0}
	})
}

// inParts returns the recorded steps of a run as the means of n equal parts, or as they are if they are fewer.
func inParts(t trained, n int) runs.History {
	h := must(t.run.Steps())
	h.Name, n = t.history.Name, min(n, len(h.Epochs))
	var parts []runs.Epoch
	for i := range n {
		of := h.Epochs[i*len(h.Epochs)/n : (i+1)*len(h.Epochs)/n]
		part := of[len(of)-1]
		part.Train = runs.Measures{runs.LogP.Key: runs.SpreadOf(of, ofTraining).Mean}
		parts = append(parts, part)
	}
	h.Epochs = parts
	return h
}

// An estimator is an estimator of the gradient with the rates that the searches of
// notebooks/sweeps/estimators-plain.toml and estimators-natural.toml found best.
type estimator struct {
	name           string
	method         hm.Method
	plain, natural float64
}

// estimatorRates lists the rates that these searches tried.
var estimatorRates = []float64{0.001, 0.003, 0.01}

var estimatorsOnMNIST = []estimator{
	{"RWS", hm.RWS(), 0.003, 0.003},
	{"VIMCO", hm.VIMCO(), 0.001, 0.001},
	{"OVIS", hm.OVIS(), 0.001, 0.001},
	{"TVO", hm.TVO(), 0.001, 0.003},
	{"JSA", hm.JSA(), 0.003, 0.001},
	{"REINFORCE", hm.REINFORCE(), 0.003, 0.001},
}

const natural = ", natural"

// withEstimators returns the training runs with each estimator, by Adam and by natural gradients
// with Nesterov's look-ahead.
func withEstimators() (cells []cell) {
	train := func(number string, m hm.Method, rate float64) {
		m = m.LearningRate(rate)
		p := plan{name: fmt.Sprintf("mnist-200-200-200-%s-%v-lr-%g", m.Spec().Preset, m.Spec().Optimizer, rate), data: binarizedMNIST,
			machine: dense(200, 200, 200), method: m, laptop: 50, full: 50, seeds: 3, once: true}
		cells = append(cells, cell{number, p, 0})
	}
	for _, e := range estimatorsOnMNIST {
		train(e.name, e.method.Optimizer(hm.Adam), e.plain)
		method := e.method.Metric(hm.Block)
		if e.name == "RWS" {
			method = hm.NRWS()
		}
		train(e.name+natural, method.Damping(0.1).RefreshEvery(500).Optimizer(hm.Nesterov), e.natural)
	}
	return cells
}

func estimators() reproduce.Entry {
	var gain, ahead, behind []pair
	for _, e := range estimatorsOnMNIST {
		gain = append(gain, pair{e.name + ", natural over plain", e.name + natural, e.name})
		if e.name != "RWS" {
			ahead = append(ahead, over(e.name, "RWS"))
			behind = append(behind, over(e.name+natural, "RWS"+natural))
		}
	}
	notAhead := append(each(behind, func(p pair) ask { return notAbove(p.a, p.b) }), askInnerRates)
	return row{cells: withEstimators(), table: true, few: true, timed: true}.with(
		judged("Natural gradients help every estimator.", above(gain...)),
		judged("By Adam every later estimator is ahead of RWS.", above(ahead[:4]...)),
		judged("With natural gradients none is ahead of NRWS.", notAhead...),
		curves("binarised MNIST, 200–200–200, estimators of the gradient, Adam",
			each(estimatorsOnMNIST, func(e estimator) string { return e.name })...),
		curves("binarised MNIST, 200–200–200, estimators of the gradient, natural gradients",
			each(estimatorsOnMNIST, func(e estimator) string { return e.name + natural })...),
	)
}

// askInnerRates leaves a claim open if the rate of an estimator with natural gradients lies at an end of those that
// the search tried: another rate may be better.
func askInnerRates(_ *comparison, j *judgement) {
	for _, e := range estimatorsOnMNIST {
		if atEnd(slices.Index(estimatorRates, e.natural), estimatorRates) {
			j.bestAtEnd(e.name + natural)
		}
	}
}

func inBoth(method string, of plan) []cell {
	of.laptop, of.full, of.part = 5, 200, 0
	fixed, float := of, of
	fixed.name, fixed.float32 = of.name+"-fixed", false
	float.name = of.name + "-float32"
	return []cell{{method + ", fixed point", fixed, 0}, {method + ", float32", float, 0}}
}

// endsAlike judges whether a method ends alike in fixed point and in float32.
func endsAlike(method string) step {
	return func(c *comparison) {
		g := c.over(method+", fixed point", method+", float32")
		c.Beside(method+", fixed point − float32", "difference of log p", reproduce.Value{Ours: g.nats, SE: &g.se, Seeds: 1})
		j := c.claim(method + " ends alike in fixed point and in float32.")
		if c.of(method + ", fixed point")[0].run.Experiment().Method.Arithmetic != hm.FixedPoint {
			j.undecided("the engine in use has no fixed point")
		}
		j.add(g.of("fixed point − float32").Within(0.2))
	}
}
