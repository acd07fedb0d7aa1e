package thesis

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/notebooks/reproduce"
	"github.com/helmholtz-go/helmholtz/plotting"
)

var fashionDrawn = dataset.Spec{Name: "fashion", Binarization: dataset.Stochastic}

// fashion is a training on FashionMNIST with the machine of MNIST (Várady 2025, 5.3.2). Its curves
// are those of the test rows, which are measured with the samples of training.
func fashion(name string, method hm.Method, full int) plan {
	return plan{
		name: "fashion-" + name, data: fashionDrawn, machine: dense(twelveLayers...), method: method, laptop: full / 200, full: full, seeds: 1, part: 0.5,
		measured: []hm.Measurement{{Samples: 10}},
	}
}

// The rates of Várady 2025, tables 5.2 and 5.4.
var (
	fashionRWS   = fashion("rws", hm.RWS().LearningRate(0.004), 2000)
	fashionNRWS  = fashion("nrws", hm.NRWS().LearningRate(0.002).Damping(0.1), 2000)
	fashionBiHM  = small(fashion("bihm", hm.BiHM().LearningRate(0.002), 2000))
	fashionNBiHM = small(fashion("nbihm", hm.NBiHM().LearningRate(0.002).Damping(0.1), 2000))
)

// small lets a bidirectional machine start as in Várady 2025, App. A.2.
func small(p plan) plan {
	p.machine = p.machine.Weights(hm.SmallNormal)
	return p
}

var table52 = []cell{{"FashionMNIST, RWS", fashionRWS, 0}, {"FashionMNIST, NRWS", fashionNRWS, 0}}

func makeTable52(w *work) {
	of := w.cells(table52)
	w.foundDifference("FashionMNIST, NRWS over RWS", of["FashionMNIST, NRWS"], of["FashionMNIST, RWS"])
	w.foundRatio("FashionMNIST, seconds of an epoch, NRWS over RWS", fashionNRWS, fashionRWS)
	var j judgement
	j.aboveOf(of, "FashionMNIST, NRWS", "FashionMNIST, RWS")
	j.say("TFD is not public, and says nothing here")
	w.judge("NRWS is ahead on both sets.", j)
}

// fashionRates are the learning rates among which that of RWS is chosen (Várady 2025, fig. 5.7).
var fashionRates = []plan{
	fashion("rws-0.002", hm.RWS().LearningRate(0.002), 2000), fashionRWS, fashion("rws-0.008", hm.RWS().LearningRate(0.008), 2000),
}

func fashionCurves(reproduce.Scale) []plan { return append([]plan{fashionNRWS}, fashionRates...) }

func makeFashionCurves(w *work) {
	nrws := w.trained(fashionNRWS.name, "NRWS")
	var passed passedOver
	all := []curve{nrws}
	rws, at := bestOf(&passed, fashionRates, func(p plan) (curve, float64) {
		of := w.trained(p.name, fmt.Sprintf("RWS, η = %g", p.method.Spec().LearningRate))
		all = append(all, of)
		return of, of.mean(end)
	})
	w.timed(all...)
	for i := range all {
		all[i] = onTest(all[i])
	}
	nrws, rws = all[0], onTest(rws)
	what := "NRWS over " + rws[0].history.Name + ","
	var j judgement
	j.ahead(what, "tenths of the epochs from the second on", w.byEpochs(nrws, rws, rws.tenths()[1:]))
	w.aheadBySeconds(&j, what, nrws, rws, 2)
	passed.note(&j)
	if atEnd(at, fashionRates) {
		const edge = "the best rate of RWS lies at an end of those tried"
		if j.verdict == reproduce.Fails { // a better one would not help
			j.say(edge)
		} else {
			j.undecided(edge)
		}
	}
	w.judge("RWS at its best rate does not catch up with NRWS by epochs or by time.", j)
	w.curves("FashionMNIST, C", all...)
}

// fashionDreams are of the first half of the training of NRWS.
func fashionDreams(reproduce.Scale) []plan {
	half := fashionNRWS
	half.until = 0.5
	return []plan{half}
}

func makeFashionDreams(w *work) {
	of := w.trained(fashionNRWS.name, "NRWS")
	set := w.dataset(of[0])
	many := must(of[0].model.Means(w.ctx, w.few(10_000, 10_000, 100)))
	mean, se := pixels(many)
	rows := rowPixels(set.Train())
	var j judgement
	j.add(holdsIf(math.Abs(mean-rows) < 0.02), "mean of the pixels %.4f ± %.4f, of the training rows %.4f", mean, se, rows)
	w.lookAt("(shown) Samples are recognisable clothes and faces.", j)
	many.Values = many.Values[:w.few(100, 100, 10)]
	w.draw("dreams", fmt.Sprintf("Means of 100 dreams of NRWS after %d epochs of FashionMNIST", len(of[0].history.Epochs)), plotting.Samples(many))
}

var table54 = []cell{
	{"FashionMNIST, BiHM", fashionBiHM, 0}, {"FashionMNIST, NBiHM", fashionNBiHM, 0}, {"FashionMNIST, NRWS", fashionNRWS, 0},
}

func makeTable54(w *work) {
	of := w.cells(table54)
	ahead := difference(of["FashionMNIST, NBiHM"], of["FashionMNIST, BiHM"])
	var j judgement
	j.add(holdsIf(ahead.nats > 1), "NBiHM − BiHM %v", ahead)
	j.within(of, "FashionMNIST, NBiHM", "FashionMNIST, NRWS", 0.5)
	w.judgeFull("NBiHM is well ahead of BiHM; NBiHM and NRWS end within the spread of seeds.", j)
}

func makeFig511(w *work) {
	var all []curve
	for _, c := range table54 {
		of := w.trained(c.plan.name, c.number[len("FashionMNIST, "):])
		all = append(all, of)
	}
	w.timed(all...)
	for i := range all {
		all[i] = onTest(all[i])
	}
	bihm, nbihm, nrws := all[0], all[1], all[2]
	overNRWS := w.byEpochs(nbihm, nrws, nrws.tenths())
	overBiHM := w.byEpochs(nbihm, bihm, nrws.tenths())
	early := w.bySeconds(bihm, nrws, nrws, 1, 5)
	var highest []reproduce.Verdict
	for i, v := range verdicts(overNRWS) {
		highest = append(highest, worse(v, overBiHM[i].verdict()))
	}
	var j judgement
	j.add(atLeast(6, highest), "NBiHM highest at %s tenths of the epochs", count(highest))
	j.add(atLeast(3, verdicts(early)), "BiHM above NRWS at %s of the first tenths of the seconds of NRWS", count(verdicts(early)))
	j.fewSamples(bihm)
	w.judge("NBiHM is best overall, and BiHM leads NRWS for half of the time.", j)
	w.curves("FashionMNIST, C, bidirectional machines", all...)
}

// accelerated are the trainings of Várady 2025, 6.1 on a set: RWS and NRWS with each optimiser at
// the same small rate, RWS for 5,000 epochs, of which the first 2,000 count too.
func accelerated(on string, of func(name string, method hm.Method, full int) plan, damping float64) []cell {
	var cells []cell
	for _, o := range []struct {
		name      string
		optimizer hm.Optimizer
	}{{"", hm.GradientDescent}, {"momentum", hm.Momentum}, {"Nesterov", hm.Nesterov}, {"Adam", hm.Adam}} {
		suffix, name := "", "gd"
		if o.name != "" {
			suffix, name = ", "+o.name, o.optimizer.String()
		}
		rws := long(of, "rws-slow-"+name, hm.RWS().LearningRate(0.0001).Optimizer(o.optimizer))
		nrws := of("nrws-slow-"+name, hm.NRWS().LearningRate(0.0001).Damping(damping).Optimizer(o.optimizer), 2000)
		cells = append(cells,
			cell{on + "RWS, 2,000 epochs" + suffix, rws, 0.4}, cell{on + "RWS, 5,000 epochs" + suffix, rws, 0}, cell{on + "NRWS, 2,000 epochs" + suffix, nrws, 0})
	}
	return cells
}

var table62 = accelerated("FashionMNIST, ", fashion, 0.1)

func makeTable62(w *work) {
	of := w.cells(table62)
	const rws, nrws = "FashionMNIST, RWS, 5,000 epochs", "FashionMNIST, NRWS, 2,000 epochs"
	var j judgement
	for _, optimizer := range []string{"", ", momentum", ", Nesterov"} {
		j.aboveOf(of, rws+", Adam", rws+optimizer)
		j.aboveOf(of, nrws+optimizer, rws+optimizer)
	}
	curves := w.curvesOf(numbered(table62, nrws+", momentum", nrws+", Nesterov"), "FashionMNIST, ")
	velocity := nrws + ", momentum"
	if curves["NRWS, Nesterov"].mean(end) > curves["NRWS, momentum"].mean(end) {
		velocity = nrws + ", Nesterov"
	}
	j.aboveOf(of, velocity, nrws+", Adam")
	j.aboveOf(of, velocity, nrws)
	j.aboveOf(of, rws+", Adam", nrws+", Adam")
	w.judge("Adam is best for RWS, momentum or Nesterov for NRWS; NRWS is ahead with the same optimiser, Adam on FashionMNIST excepted.", j)
}

// fig65 are the first 2,000 epochs of its trainings.
var fig65 = drawn(table62...)

func makeFig65(w *work) {
	of := w.curvesOf(fig65, "FashionMNIST, ")
	var j judgement
	for _, m := range []string{"RWS", "NRWS"} {
		apart := of[m+", momentum"].mean(end) - of[m+", Nesterov"].mean(end)
		j.add(holdsIf(math.Abs(apart) < 0.3), "%s, momentum − Nesterov %+.3f nats", m, apart)
		w.epochCurves("FashionMNIST, C: "+m, of[m], of[m+", momentum"], of[m+", Nesterov"], of[m+", Adam"])
	}
	for _, o := range []string{", momentum", ", Nesterov"} {
		w.aheadByEpochs(&j, "NRWS"+o+" over Adam", of["NRWS"+o], of["NRWS, Adam"])
	}
	w.judgeFull("Momentum and Nesterov nearly overlap; with NRWS on FashionMNIST they are ahead of Adam from the start.", j)
}

func makeFig66(w *work) {
	of := w.curvesOf(fig65, "FashionMNIST, ")
	best := func(m string) curve {
		highest := of[m]
		for _, o := range []string{", momentum", ", Nesterov", ", Adam"} {
			if of[m+o].mean(end) > highest.mean(end) {
				highest = of[m+o]
			}
		}
		return highest
	}
	w.aheadBothWays("NRWS is ahead both ways.", "FashionMNIST, C, the best optimisers", best("NRWS"), best("RWS"))
}

// aheadBothWays judges a claim that NRWS is ahead of RWS by epochs and by seconds, and
// draws both.
func (w *work) aheadBothWays(says, title string, nrws, rws curve) {
	w.timed(rws, nrws)
	what := nrws[0].history.Name + " over " + rws[0].history.Name + ","
	var j judgement
	w.aheadByEpochs(&j, what, nrws, rws)
	w.aheadBySeconds(&j, what, nrws, rws, 1)
	w.judge(says, j)
	w.curves(title, rws, nrws)
}

// fashionLong is RWS without a regulariser, as Várady 2025, 6.2 and 6.3 train it on FashionMNIST.
var fashionLong = long(fashion, "rws-long-plain", fashionRWS.method)

// long is a training on a set of 5,000 epochs, of which the first 2,000 count too.
func long(of func(name string, method hm.Method, full int) plan, name string, method hm.Method) plan {
	p := of(name, method, 5000)
	p.part = 0.4
	return p
}

// unpenalised are the trainings without a regulariser.
var unpenalised = []cell{
	{"FashionMNIST, RWS, 2,000 epochs", fashionLong, 0.4}, {"FashionMNIST, RWS, 5,000 epochs", fashionLong, 0},
	{"FashionMNIST, NRWS, 2,000 epochs", fashionNRWS, 0},
}

// penalised are those with one, both methods for 2,000 epochs.
func penalised(suffix, name string, set func(hm.Method) hm.Method) []cell {
	return []cell{
		{"FashionMNIST, RWS, 2,000 epochs" + suffix, fashion("rws-"+name, set(fashionRWS.method), 2000), 0},
		{"FashionMNIST, NRWS, 2,000 epochs" + suffix, fashion("nrws-"+name, set(fashionNRWS.method), 2000), 0},
	}
}

// penalisedLong are those of which RWS has 5,000.
func penalisedLong(suffix, name string, set func(hm.Method) hm.Method) []cell {
	cells, rws := penalised(suffix, name, set), long(fashion, "rws-long-"+name, set(fashionRWS.method))
	return []cell{{cells[0].number, rws, 0.4}, {"FashionMNIST, RWS, 5,000 epochs" + suffix, rws, 0}, cells[1]}
}

func plain(m hm.Method) hm.Method { return m }

var table63 = slices.Concat(unpenalised,
	penalisedLong(", L1 0.00001", "l1-0.00001", func(m hm.Method) hm.Method { return m.L1(1e-5) }),
	penalisedLong(", L2 0.00001", "l2-0.00001", func(m hm.Method) hm.Method { return m.L2(1e-5) }))

func makeTable63(w *work) {
	of := w.cells(table63)
	const nrws = "FashionMNIST, NRWS, 2,000 epochs"
	var j judgement
	j.notAbove(of, nrws+", L1 0.00001", nrws)
	j.notAbove(of, nrws+", L2 0.00001", nrws)
	w.judgeFull("L1 and L2 do not help NRWS.", j)
}

// fig69 are the trainings of table 6.3 for 2,000 epochs, and those with penalties a hundred times
// as large.
var fig69 = drawn(slices.Concat(table63,
	penalised(", L1 0.001", "l1-0.001", func(m hm.Method) hm.Method { return m.L1(1e-3) }),
	penalised(", L2 0.001", "l2-0.001", func(m hm.Method) hm.Method { return m.L2(1e-3) }))...)

func makeFig69(w *work) {
	of := w.curvesOf(fig69, "FashionMNIST, ")
	tested := map[string][]evaluation{}
	for number, runs := range of {
		tested[number] = w.evaluate(runs)
	}
	var j judgement
	for _, m := range []string{"RWS", "NRWS"} {
		for _, norm := range []string{", L1 ", ", L2 "} {
			for _, β := range []string{"0.00001", "0.001"} {
				gain := difference(tested[m+norm+β], tested[m])
				j.add(holdsIf(gain.nats <= 0.3), "%s%s%s over none %v", m, norm, β, gain)
			}
			for _, other := range []string{m, m + norm + "0.00001"} {
				j.above(fmt.Sprintf("%s over %s0.001", other, m+norm), difference(tested[other], tested[m+norm+"0.001"]))
			}
		}
		w.epochCurves("FashionMNIST, C, penalties: "+m, of[m], of[m+", L1 0.00001"], of[m+", L1 0.001"], of[m+", L2 0.00001"], of[m+", L2 0.001"])
	}
	w.judgeFull("Neither helps either method at any β; the larger β, the worse.", j)
}

// normsOf begins the captions of figures of norms.
const normsOf = "Norms of weights and, of the last minibatch of each epoch, of gradients on FashionMNIST, both networks together, "

func makeFig611(w *work) {
	of := w.curvesOf(fig69, "FashionMNIST, ")
	var j judgement
	for _, m := range []string{"RWS", "NRWS"} {
		free, held := of[m][0].history, of[m+", L2 0.001"][0].history
		weights := func(h norms) float64 { return h.at(1, func(l layerNorms) float64 { return l.Weights }) }
		gradients := func(h norms, part float64) float64 {
			return h.at(part, func(l layerNorms) float64 { return l.Gradient })
		}
		ratio := weights(norms(held)) / weights(norms(free))
		j.add(holdsIf(ratio < 0.5), "%s: norm of the weights with L2 0.001 × %.3f", m, ratio)
		change := gradients(norms(held), 1)/gradients(norms(held), 0.5) - 1
		j.add(holdsIf(math.Abs(change) < 0.1), "norm of the gradients %+.1f %% over the second half", 100*change)
		w.draw("norms-"+strings.ToLower(m), normsOf+"with L2 and without: "+m, plotting.NetworkNorms(free, of[m+", L2 0.00001"][0].history, held))
	}
	w.judgeFull("Weights of unregularised NRWS grow much larger; gradient norms of regularised runs become nearly constant.", j)
}

// entropic are the trainings with the entropy regulariser as printed (Várady 2025, 6.3.3).
func entropic(β float64) func(hm.Method) hm.Method {
	return func(m hm.Method) hm.Method { return m.EntropyEstimator(β).WarmUp(50) }
}

// thrice lets the runs of cells be of three seeds.
func thrice(cells ...cell) []cell {
	all := slices.Clone(cells)
	for i := range all {
		all[i].plan.seeds = 3
	}
	return all
}

var table64 = thrice(slices.Concat(unpenalised, penalisedLong(", entropy", "entropy-2", entropic(2)))...)

func makeTable64(w *work) {
	of := w.cells(table64)
	var j judgement
	for _, m := range []string{"RWS", "NRWS"} {
		number := "FashionMNIST, " + m + ", 2,000 epochs"
		w.foundDifference("FashionMNIST, gain of entropy, "+m+", 2,000 epochs", of[number+", entropy"], of[number])
		j.aboveOf(of, number+", entropy", number)
	}
	w.judgeFull("The entropy regulariser gains about half a nat.", j)
}

// fig612 are the trainings of table 6.4 for 2,000 epochs, and those of the other strengths.
var fig612 = drawn(slices.Concat(table64,
	thrice(penalised(", entropy 0.8", "entropy-0.8", entropic(0.8))...), thrice(penalised(", entropy 5", "entropy-5", entropic(5))...))...)

// entropies are the curves of figure 6.12, each named by its β.
func (w *work) entropies() map[string]curve {
	of := w.curvesOf(fig612, "FashionMNIST, ")
	for _, m := range []string{"RWS", "NRWS"} {
		for i := range of[m+", entropy"] {
			of[m+", entropy"][i].history.Name = m + ", entropy 2"
		}
	}
	return of
}

func makeFig612(w *work) {
	of := w.entropies()
	var j judgement
	for _, m := range []string{"RWS", "NRWS"} {
		tested := map[string][]evaluation{}
		for _, suffix := range []string{"", ", entropy 0.8", ", entropy", ", entropy 5"} {
			tested[m+suffix] = w.evaluate(of[m+suffix])
		}
		for _, other := range []string{"", ", entropy 0.8", ", entropy 5"} {
			j.aboveOf(tested, m+", entropy", m+other)
		}
		w.epochCurves("FashionMNIST, C, entropy regulariser: "+m, of[m], of[m+", entropy 0.8"], of[m+", entropy"], of[m+", entropy 5"])
	}
	w.judgeFull("It helps both methods in speed and minimum; β 2.0 is best.", j)
}

func makeFig613(w *work) {
	of := w.entropies()
	var j judgement
	for _, m := range []string{"RWS", "NRWS"} {
		free, raised := of[m][0].history, of[m+", entropy"][0].history
		for _, n := range []struct {
			name string
			of   func(layerNorms) float64
		}{{"weights", func(l layerNorms) float64 { return l.Weights }}, {"gradients", func(l layerNorms) float64 { return l.Gradient }}} {
			ratio := norms(raised).at(1, n.of) / norms(free).at(1, n.of)
			j.add(holdsIf(ratio > 1.05), "%s: norm of the %s × %.3f", m, n.name, ratio)
		}
		w.draw("norms-"+strings.ToLower(m), normsOf+"with the entropy regulariser and without: "+m, plotting.NetworkNorms(free, raised))
	}
	w.judgeFull("Weights grow larger with it, the opposite of L2; gradient norms level out higher.", j)
}
