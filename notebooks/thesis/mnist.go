package thesis

import (
	"fmt"
	"math"

	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/notebooks/reproduce"
)

// mnist is a training on binarised MNIST with the machine of twelve layers.
func mnist(name string, method hm.Method, full int) plan {
	return plan{name: "mnist-" + name, data: binarizedMNIST, machine: dense(twelveLayers...), method: method, laptop: full / 40, full: full, seeds: 1, part: 0.25}
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

// mnistRates are the learning rates among which that of a method is chosen.
var mnistRates = []float64{0.005, 0.01, 0.02, 0.04, 0.08}

// mnistTuned are the trainings of Várady 2025, fig. 5.6, with those that tune η of RWS and of
// NRWS.
func mnistTuned(reproduce.Scale) []plan {
	plans := plansOf(table51)
	for i, method := range []string{"nrws", "rws"} {
		for _, η := range mnistRates {
			p := mnist(rated(method, η), []hm.Method{hm.NRWS().Damping(0.2), hm.RWS()}[i].LearningRate(η), 50)
			p.laptop, p.seeds = 5, 3
			plans = append(plans, p)
		}
	}
	return plans
}

// rated names a training of a method at a learning rate.
func rated(method string, η float64) string { return fmt.Sprintf("%s-lr-%g", method, η) }

// tuned are the runs of the learning rate by which a method ends with the highest
// validation log p, and whether that is one of the ends of those tried.
func (w *work) tuned(method, label string, passed *passedOver) (best curve, rate float64, edge bool) {
	each, at := w.atRates(mnistRates, label, passed, func(η float64) string { return "mnist-" + rated(method, η) })
	return each[at], mnistRates[at], atEnd(at, mnistRates)
}

// atRates are the runs of a method at each of several rates, nil where training has diverged, and
// which of them end with the highest validation log p. name is that of the training at a rate.
func (w *work) atRates(rates []float64, label string, passed *passedOver, name func(η float64) string) (each []curve, best int) {
	_, best = bestOf(passed, rates, func(η float64) (curve, float64) {
		each = append(each, nil)
		of := w.trained(name(η), fmt.Sprintf("%s, η = %g", label, η))
		each[len(each)-1] = of
		return of, of.mean(end)
	})
	return each, best
}

func makeTable51(w *work) {
	of := w.cells(table51)
	for _, m := range []struct {
		name string
		plan plan
	}{{"NRWS", mnistNRWS}, {"DNRWS", mnistDNRWS}, {"WS", mnistWS}} {
		w.foundRatio("seconds of an epoch, "+m.name+" over RWS", m.plan, mnistRWS)
	}
	var j, beats judgement
	j.order("", scored{"NRWS", of["NRWS"]}, scored{"DNRWS", of["DNRWS"]}, scored{"RWS", of["RWS"]}, scored{"WS", of["WS"]})
	nrws := of["NRWS"][0]
	beats.add(holdsIf(nrws.LogP > -85), "log p of NRWS %.2f after %d epochs, %+.2f from −84.5", nrws.LogP, mnistNRWS.epochs(w.Scale), nrws.LogP+84.5)
	w.judge("NRWS is best, before DNRWS, RWS and WS.", j)
	w.judgeFull("NRWS with a fixed rate beats published RWS (−86.0) and BiHM (−85.0; BiHM thesis 2016 has −84.5).", beats)
}

func makeFig56(w *work) {
	all := w.timedCells(table51)
	nrws, rws := all[0], all[2]
	var faster, sooner, tuned judgement
	w.aheadByEpochs(&faster, "NRWS over RWS", nrws, rws)
	w.judge("NRWS converges faster by epochs and to a better minimum.", faster)
	w.aheadBySeconds(&sooner, "NRWS over RWS", nrws, rws, 1)
	w.judge("NRWS is faster by time.", sooner)
	seconds := w.secondsAnEpoch(all)
	w.foundTimes("seconds of an epoch, NRWS over RWS", "ratio", seconds[0], seconds[2], nrws)
	w.curves("binarised MNIST, twelve layers", all...)

	var passed passedOver
	bestNRWS, ηNRWS, edgeNRWS := w.tuned("nrws", "NRWS", &passed)
	bestRWS, ηRWS, edgeRWS := w.tuned("rws", "RWS", &passed)
	w.timed(bestNRWS, bestRWS)
	what := fmt.Sprintf("NRWS at η %g over RWS at %g, %d epochs, %d seeds,", ηNRWS, ηRWS, bestRWS.epochs(), len(bestRWS))
	w.aheadByEpochs(&tuned, what, bestNRWS, bestRWS)
	w.aheadBySeconds(&tuned, what, bestNRWS, bestRWS, 1)
	gain := w.ends(bestNRWS, bestRWS)
	w.Beside("NRWS over RWS, each at its best rate", "difference of validation log p", reproduce.Value{Ours: gain.nats, SE: &gain.se, Seeds: len(bestRWS)})
	w.Beyond("At the learning rates that are best for each, %g and %g of those tried, NRWS ends %v above RWS on validation rows of MNIST, after %d epochs", ηNRWS, ηRWS, gain, bestRWS.epochs())
	passed.note(&tuned)
	if edgeNRWS || edgeRWS {
		tuned.undecided("the best rate of a method lies at an end of those tried")
	}
	w.judge("The gain is the metric's, each method being at its best rate.", tuned)
	w.curves("binarised MNIST, each method at its best rate", bestNRWS, bestRWS)
}

// timedCells are the runs of a table's cells, in order, with the seconds of epochs that
// are timed in turn.
func (w *work) timedCells(cells []cell) []curve {
	all := w.trainedCells(cells)
	w.timed(all...)
	return all
}

var table53 = []cell{{"BiHM", mnistBiHM, 0}, {"NBiHM", mnistNBiHM, 0}, {"NRWS", mnistNRWS, 0}}

func makeTable53(w *work) {
	of := w.cells(table53)
	w.foundRatio("seconds of an epoch, NBiHM over BiHM", mnistNBiHM, mnistBiHM)
	var j judgement
	j.order("", scored{"NRWS", of["NRWS"]}, scored{"NBiHM", of["NBiHM"]}, scored{"BiHM", of["BiHM"]})
	w.judge("NRWS, NBiHM, BiHM, in this order.", j)
}

func makeFig510(w *work) {
	all := w.timedCells(table53)
	bihm, nbihm, nrws := all[0], all[1], all[2]
	var gains, behind judgement
	w.aheadByEpochs(&gains, "NBiHM over BiHM", nbihm, bihm)
	w.aheadBySeconds(&gains, "NBiHM over BiHM", nbihm, bihm, 1)
	w.judge("NBiHM gains over BiHM in speed and minimum.", gains)
	seconds := w.secondsAnEpoch(all)
	shorter, se := seconds[1].over(seconds[2])
	behind.add(positive(1-shorter, se), "seconds of an epoch × %.3f ± %.3f", shorter, se)
	w.endsAbove(&behind, "NRWS − NBiHM at the end", nrws, nbihm)
	w.judge("An epoch of NBiHM is shorter than one of NRWS, and NBiHM does not reach NRWS.", behind)
	w.curves("binarised MNIST, bidirectional machines", all...)
}

// fig55 are the first 500 epochs of the runs of Várady 2025, table 5.1.
var fig55 = drawn(cell{"RWS", mnistRWS, 0.25}, cell{"DNRWS", mnistDNRWS, 0.25}, cell{"NRWS", mnistNRWS, 0.25})

func makeFig55(w *work) {
	all := w.trainedCells(fig55)
	w.timed(all...)
	rws, dnrws, nrws := all[0], all[1], all[2]
	var between, sooner judgement
	w.aheadByEpochs(&between, "DNRWS over RWS", dnrws, rws)
	w.endsAbove(&between, "NRWS − DNRWS at the end", nrws, dnrws)
	w.judge("DNRWS is faster than RWS and its minimum worse than that of NRWS.", between)
	sooner.ahead("DNRWS over RWS", "first tenth of the seconds", w.bySeconds(dnrws, rws, rws, 1, 1))
	w.judgeFull("By time DNRWS beats RWS for a longer period.", sooner)
	w.curves("binarised MNIST, diagonal metric", all...)
}

// fig54 are the learning rates and damping factors of DNRWS.
func fig54() []cell {
	var cells []cell
	for _, η := range []float64{0.001, 0.002, 0.004} {
		for _, α := range []float64{0.05, 0.1, 0.2, 0.4} {
			p := mnist(fmt.Sprintf("dnrws-lr-%g-damping-%g", η, α), hm.DNRWS().LearningRate(η).Damping(α), 200)
			cells = append(cells, cell{fmt.Sprintf("η %g, α %g", η, α), p, 0})
		}
	}
	return cells
}

func makeFig54(w *work) {
	of := w.curvesOf(fig54(), "")
	var faster, early judgement
	for _, η := range []string{"0.001", "0.002", "0.004"} {
		for _, α := range [][2]string{{"0.05", "0.1"}, {"0.1", "0.2"}, {"0.2", "0.4"}} {
			smaller, larger := of["η "+η+", α "+α[0]], of["η "+η+", α "+α[1]]
			epoch := min(5, smaller.epochs())
			w.aboveAt(&faster, fmt.Sprintf("η %s, training after %d epochs, α %s − %s", η, epoch, α[0], α[1]), smaller, larger, trainedAfter(epoch))
			if α[1] != "0.4" {
				w.aboveAt(&faster, fmt.Sprintf("best validation, α %s − %s", α[1], α[0]), larger, smaller, best)
			}
		}
		w.epochCurves("binarised MNIST, DNRWS, η "+η, of["η "+η+", α 0.05"], of["η "+η+", α 0.1"], of["η "+η+", α 0.2"], of["η "+η+", α 0.4"])
	}
	w.judgeFull("Smaller α is faster at first, with a worse minimum.", faster)
	w.endsAbove(&early, "η 0.002, α 0.2 over η 0.004, α 0.4 at the end", of["η 0.002, α 0.2"], of["η 0.004, α 0.4"])
	w.judgeFull("A larger η that makes up for a larger α converges too early.", early)
}

var table61 = accelerated("", mnist, 0.2)

func makeTable61(w *work) {
	of := w.cells(table61)
	const rws, nrws = "RWS, 5,000 epochs", "NRWS, 2,000 epochs"
	var j judgement
	for _, optimizer := range []string{"", ", momentum", ", Nesterov"} {
		j.aboveOf(of, nrws+optimizer, rws+optimizer)
	}
	j.aboveOf(of, rws+", Adam", nrws+", Adam")
	w.judge("NRWS after 2,000 epochs is ahead of RWS after 5,000, Adam excepted.", j)
}

// fig63 are the first 2,000 epochs of its trainings, fig64 two of them.
var (
	fig63 = drawn(table61...)
	fig64 = numbered(fig63, "RWS, 2,000 epochs, Adam", "NRWS, 2,000 epochs, Nesterov")
)

func makeFig63(w *work) {
	of := w.curvesOf(fig63, "")
	var all, best judgement
	for _, m := range []string{"RWS", "NRWS"} {
		for _, o := range []string{", momentum", ", Nesterov", ", Adam"} {
			w.aheadByEpochs(&all, m+o+" over gradient descent", of[m+o], of[m])
		}
		w.epochCurves("binarised MNIST: "+m, of[m], of[m+", momentum"], of[m+", Nesterov"], of[m+", Adam"])
	}
	w.endsAbove(&best, "RWS, Adam over gradient descent", of["RWS, Adam"], of["RWS"])
	for _, o := range []string{", momentum", ", Nesterov"} {
		w.endsAbove(&best, "RWS, Adam over"+o[1:], of["RWS, Adam"], of["RWS"+o])
		w.endsAbove(&best, "NRWS"+o+" over Adam", of["NRWS"+o], of["NRWS, Adam"])
		w.endsAbove(&best, "NRWS"+o+" over gradient descent", of["NRWS"+o], of["NRWS"])
	}
	w.judge("All three accelerate both methods.", all)
	w.judge("Adam is best for RWS, momentum and Nesterov for NRWS.", best)
}

func makeFig64(w *work) {
	of := w.curvesOf(fig64, "")
	w.aheadBothWays("NRWS with Nesterov is ahead from the start, both ways.", "binarised MNIST, the best optimisers", of["NRWS, Nesterov"], of["RWS, Adam"])
}

// final is the training of the last column of Várady 2025, table 6.5, on a set.
func final(of func(string, hm.Method, int) plan, damping float64) plan {
	return of("nrws-final", hm.NRWS().LearningRate(0.0001).Damping(damping).Optimizer(hm.Nesterov).EntropyEstimator(0.5).WarmUp(50), 2000)
}

// The claim is of NRWS, whose trainings are of three seeds.
var table65 = append(thrice(
	cell{"MNIST, NRWS", mnistNRWS, 0},
	cell{"MNIST, NRWS, entropy and Nesterov", final(mnist, 0.2), 0},
	cell{"FashionMNIST, NRWS", fashionNRWS, 0},
	cell{"FashionMNIST, NRWS, entropy and Nesterov", final(fashion, 0.1), 0},
), cell{"MNIST, RWS", mnistRWS, 0}, cell{"FashionMNIST, RWS", fashionLong, 0})

func makeTable65(w *work) {
	of := w.cells(table65)
	var j judgement
	for _, set := range []string{"MNIST", "FashionMNIST"} {
		j.aboveOf(of, set+", NRWS, entropy and Nesterov", set+", NRWS")
	}
	w.judgeFull("Entropy and acceleration together almost always help.", j)
}

// The seven-layer machines of BiHM thesis 2016, 3.7.4: five samples for 1,000 epochs, then a hundred
// for 500, at the rates of its 3.6.2.
var (
	sevenBiHM = sevenLayers("bihm", hm.BiHM().L1(1e-5))
	sevenRWS  = sevenLayers("rws", hm.RWS().L1(1e-5))
)

func sevenLayers(name string, method hm.Method) plan {
	return plan{
		name: "seven-layers-" + name, data: binarizedMNIST, machine: bidirectional(400, 300, 200, 100, 50, 25, 10),
		method: method.Optimizer(hm.Adam).BatchSize(100).LearningRate(0.001).StepDecay(1000, 0.3).Samples(5).SamplesAfter(1000, 100), laptop: 20, full: 1500, seeds: 1,
	}
}

func sevenPlans(reproduce.Scale) []plan { return []plan{sevenBiHM, sevenRWS} }

func makeText374(w *work) {
	bihm := w.trained(sevenBiHM.name, "BiHM")
	rws := w.trained(sevenRWS.name, "RWS")
	a := w.evaluate(bihm)
	b := w.evaluate(rws)
	w.found("BiHM", "log p", a, logP)
	w.found("BiHM", "log p̃*", a, logPTildeStar)
	w.found("RWS", "log p", b, logP)
	samples := w.testSamples()
	spread := keptOf(w, fmt.Sprintf("range-of-ten-%d", samples), bihm[0].snapshot, func() float64 {
		set := w.dataset(bihm[0])
		least, most := math.Inf(1), math.Inf(-1)
		for seed := range uint64(10) {
			w.Say("evaluating the BiHM, %d of 10", seed+1)
			e := must(bihm[0].model.WithSeed(seed+1).Evaluate(w.ctx, bihm[0].model.Subset(set.Test(), w.few(0, 0, 50)), samples, w.Progress))
			least, most = math.Min(least, e.LogP), math.Max(most, e.LogP)
		}
		return most - least
	})
	w.Found("range of ten evaluations with 10,000 samples", "at most", reproduce.Value{Ours: spread, Seeds: 1, By: value(a, logP).By, Data: a[0].data})
}

// The twelve-layer machines of BiHM thesis 2016, fig. 3.4.
var fig34 = []cell{{"BiHM", twelve("bihm", hm.BiHM().L1(1e-5)), 0}, {"RWS", twelve("rws", hm.RWS().L1(1e-5)), 0}}

// fig34Rows are the test rows that are measured along training.
const fig34Rows = 1000

func twelve(name string, method hm.Method) plan {
	return plan{
		name: "adam-" + name, data: binarizedMNIST, machine: bidirectional(twelveLayers...),
		method: method.Optimizer(hm.Adam).BatchSize(100).LearningRate(0.0005), laptop: 40, full: 2000, seeds: 1,
		measured: []hm.Measurement{{Every: 4, Rows: fig34Rows, Samples: 1000}},
	}
}

func makeFig34(w *work) {
	all := w.timedCells(fig34)
	bihm, rws := onTest(all[0], fig34Rows), onTest(all[1], fig34Rows)
	updates := w.byEpochs(bihm, rws, rws.tenths())
	seconds := w.bySeconds(bihm, rws, rws, 2, 10)
	var j judgement
	j.add(atLeast(6, verdicts(updates)), "above RWS at %s tenths of the updates", count(verdicts(updates)))
	j.behindLess(0.5, "tenths of the seconds of RWS from the second on", seconds)
	w.judgeFull("BiHM converges very well by updates and competitively by time.", j)
	w.curves("binarised MNIST, twelve layers, Adam", bihm, rws)
}

// The training rows of Várady 2025, fig. C.4: fewer than the document's, so that its 2,000 steps are
// 20 epochs and measures are taken on the way; and the steps between refreshes.
const figC4Rows = 3200

var refreshSteps = []int{1, 2, 3, 5, 10, 20, 50, 100, 500, 1000}

func figC4() []cell {
	var cells []cell
	for _, k := range refreshSteps {
		p := mnist(fmt.Sprintf("nrws-refresh-%d", k), hm.NRWS().LearningRate(0.002).Damping(0.2).RefreshEvery(k), 20)
		p.data.Subset, p.laptop = figC4Rows, 20
		cells = append(cells, cell{fmt.Sprintf("K = %d", k), p, 0})
	}
	return cells
}

func makeFigC4(w *work) {
	of := w.trainedCells(figC4())
	all := map[int]curve{}
	for i, k := range refreshSteps {
		all[k] = of[i]
	}
	var drawn []curve
	for _, k := range []int{1, 10, 100, 500, 1000} {
		drawn = append(drawn, all[k])
	}
	w.timed(drawn...)
	one := all[1]
	var level, unstable, faster judgement
	setting := fmt.Sprintf("%s training rows, %d epochs of 100 steps, where the published figure has all rows", thousands(figC4Rows), one.epochs())
	for _, k := range refreshSteps[1:] {
		d := all[k].mean(end) - one.mean(end)
		if k <= 100 {
			level.add(holdsIf(math.Abs(d) < 0.5), "validation log p, K %d over K 1 %+.3f nats", k, d)
		}
	}
	thousand := all[1000]
	rises, n := false, thousand.epochs()
	for part := 2; part <= 10; part++ {
		rises = rises || thousand.mean(trainedAfter(max(1, n*part/10))) < thousand.mean(trainedAfter(max(1, n*(part-1)/10)))
	}
	behind := one.mean(trainedAfter(n)) - thousand.mean(trainedAfter(n))
	unstable.add(holdsIf(rises || behind > 2), "training loss of K 1000 rises between parts: %t; log p of training rows, K 1000 over K 1 %+.2f nats", rises, -behind)
	ratio := all[100].seconds() / one.seconds()
	faster.add(holdsIf(ratio < 1.0/3), "seconds at K 100 over those at K 1: %.3f", ratio)
	for _, claim := range []struct {
		says string
		j    judgement
	}{
		{"K of 1 to 100 has no visible effect; all K below 500 reach the same minimum.", level},
		{"K 1000 is unstable, 500 less so.", unstable},
		{"Large K is much faster.", faster},
	} {
		claim.j.say("%s", setting)
		w.show(claim.says, claim.j)
	}
	w.curves("binarised MNIST, NRWS, steps between refreshes", drawn...)
}
