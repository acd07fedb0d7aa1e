package thesis

import (
	"fmt"
	"math"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/notebooks/reproduce"
	"github.com/helmholtz-go/helmholtz/plotting"
)

var fashionDrawn = dataset.Spec{Name: "fashion", Binarization: dataset.Stochastic}

// fashion is a training on FashionMNIST with the machine of MNIST (004, 5.3.2).
func fashion(name string, method hm.Method, full int) plan {
	return plan{name: "fashion-" + name, data: fashionDrawn, machine: dense(twelveLayers...), method: method, laptop: full / 200, full: full, seeds: 1, part: 0.5}
}

// The rates of 004, tables 5.2 and 5.4.
var (
	fashionRWS   = fashion("rws", hm.RWS().LearningRate(0.004), 2000)
	fashionNRWS  = fashion("nrws", hm.NRWS().LearningRate(0.002).Damping(0.1), 2000)
	fashionBiHM  = small(fashion("bihm", hm.BiHM().LearningRate(0.002), 2000))
	fashionNBiHM = small(fashion("nbihm", hm.NBiHM().LearningRate(0.002).Damping(0.1), 2000))
)

// small lets a bidirectional machine start as in 004, App. A.2.
func small(p plan) plan {
	p.machine = p.machine.Weights(hm.SmallNormal)
	return p
}

var table52 = []cell{{"FashionMNIST, RWS", fashionRWS, 0}, {"FashionMNIST, NRWS", fashionNRWS, 0}}

func makeTable52(w *work) error {
	of, err := w.cells(table52)
	if err != nil {
		return err
	}
	w.Found("FashionMNIST, NRWS over RWS", "difference of log p", w.here(differenceValue(of["FashionMNIST, NRWS"], of["FashionMNIST, RWS"])))
	if err := w.foundRatio("FashionMNIST, seconds of an epoch, NRWS over RWS", fashionNRWS, fashionRWS); err != nil {
		return err
	}
	var j judgement
	j.add(above("FashionMNIST, NRWS", "FashionMNIST, RWS", of))
	w.judge("NRWS is ahead on both sets.", j)
	return nil
}

// fashionRates are the learning rates among which that of RWS is chosen (004, fig. 5.7).
var fashionRates = []plan{
	fashion("rws-0.002", hm.RWS().LearningRate(0.002), 2000), fashionRWS, fashion("rws-0.008", hm.RWS().LearningRate(0.008), 2000),
}

func fashionCurves(reproduce.Scale) []plan { return append([]plan{fashionNRWS}, fashionRates...) }

func makeFashionCurves(w *work) error {
	nrws, err := w.trained(fashionNRWS.name, "NRWS")
	if err != nil {
		return err
	}
	var best []trained
	var all [][]trained
	for _, p := range fashionRates {
		of, err := w.trained(p.name, fmt.Sprintf("RWS, η = %g", p.method.Spec().LearningRate))
		if err != nil {
			return err
		}
		all = append(all, of)
		if best == nil || curve(of).last() > curve(best).last() {
			best = of
		}
	}
	if err := w.timed(append([][]trained{nrws}, all...)...); err != nil {
		return err
	}
	var j judgement
	j.add(ahead("tenths of the epochs", byEpochs(nrws, best)[1:]))
	j.add(ahead("tenths of the time of RWS", bySeconds(nrws, best, 2)))
	j.evidence = best[0].history.Name + ", validation rows: " + j.evidence
	w.judge("RWS at its best rate does not catch up with NRWS by epochs or by time.", j)
	return w.curves("FashionMNIST, C", groups(append([][]trained{nrws}, all...)...))
}

func fashionDreams(reproduce.Scale) []plan { return []plan{fashionNRWS} }

func makeFashionDreams(w *work) error {
	of, err := w.trainedAt(fashionNRWS.name, "NRWS", partOf(0.5, fashionNRWS.epochs(w.Scale)))
	if err != nil {
		return err
	}
	set, err := w.dataset(of[0])
	if err != nil {
		return err
	}
	many, err := of[0].model.Sample(w.ctx, w.few(10_000, 10_000, 100))
	if err != nil {
		return err
	}
	mean, se := pixels(many)
	rows := rowPixels(set.Train())
	w.JudgeFull("(shown) Samples are recognisable clothes and faces.", holdsIf(math.Abs(mean-rows) < 0.02),
		"mean of the pixels %.4f ± %.4f, of the training rows %.4f", mean, se, rows)
	many.Values = many.Values[:min(100, len(many.Values))]
	return w.Figure("dreams", fmt.Sprintf("Means of 100 dreams of NRWS after %d epochs of FashionMNIST", len(of[0].history.Epochs)), plotting.Samples(many))
}

var table54 = []cell{
	{"FashionMNIST, BiHM", fashionBiHM, 0}, {"FashionMNIST, NBiHM", fashionNBiHM, 0}, {"FashionMNIST, NRWS", fashionNRWS, 0},
}

func makeTable54(w *work) error {
	of, err := w.cells(table54)
	if err != nil {
		return err
	}
	ahead, se := difference(of["FashionMNIST, NBiHM"], of["FashionMNIST, BiHM"])
	var j judgement
	j.add(holdsIf(ahead > 1), fmt.Sprintf("NBiHM − BiHM %.3f ± %.3f nats", ahead, se))
	j.add(within("FashionMNIST, NBiHM", "FashionMNIST, NRWS", 0.5, of))
	w.judgeFull("NBiHM is well ahead of BiHM; NBiHM and NRWS end within the spread of seeds.", j)
	return nil
}

func makeFig511(w *work) error {
	var all [][]trained
	for _, c := range table54 {
		of, err := w.trained(c.plan.name, c.number[len("FashionMNIST, "):])
		if err != nil {
			return err
		}
		all = append(all, of)
	}
	if err := w.timed(all...); err != nil {
		return err
	}
	bihm, nbihm, nrws := curve(all[0]), curve(all[1]), curve(all[2])
	highest, early := 0, 0
	for i, d := range byEpochs(nbihm, nrws) {
		if d > 0 && byEpochs(nbihm, bihm)[i] > 0 {
			highest++
		}
	}
	for tenth := 1; tenth <= 5; tenth++ {
		if t := nrws.seconds() * float64(tenth) / 10; bihm.at(t) > nrws.at(t) {
			early++
		}
	}
	w.Judge("NBiHM is best overall, and BiHM leads NRWS for half of the time.", holdsIf(highest > 5 && early >= 3),
		"validation rows: NBiHM highest at %d of 10 tenths of the epochs; BiHM above NRWS at %d of the first five tenths of the time of NRWS", highest, early)
	return w.curves("FashionMNIST, C, bidirectional machines", groups(all...))
}

// accelerated are the trainings of 004, 6.1 on a set: RWS and NRWS with each optimiser at
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
		rws := of("rws-slow-"+name, hm.RWS().LearningRate(0.0001).Optimizer(o.optimizer), 5000)
		rws.part = 0.4
		nrws := of("nrws-slow-"+name, hm.NRWS().LearningRate(0.0001).Damping(damping).Optimizer(o.optimizer), 2000)
		cells = append(cells,
			cell{on + "RWS, 2,000 epochs" + suffix, rws, 0.4}, cell{on + "RWS, 5,000 epochs" + suffix, rws, 0}, cell{on + "NRWS, 2,000 epochs" + suffix, nrws, 0})
	}
	return cells
}

var table62 = accelerated("FashionMNIST, ", fashion, 0.1)

func makeTable62(w *work) error {
	of, err := w.cells(table62)
	if err != nil {
		return err
	}
	const rws, nrws = "FashionMNIST, RWS, 5,000 epochs", "FashionMNIST, NRWS, 2,000 epochs"
	var j judgement
	for _, optimiser := range []string{"", ", momentum", ", Nesterov"} {
		j.add(above(nrws+optimiser, rws+optimiser, of))
		j.add(notAbove(rws+optimiser, rws+", Adam", of))
	}
	j.add(above(rws+", Adam", nrws+", Adam", of))
	j.add(notAbove(nrws+", Adam", nrws+", Nesterov", of))
	w.judge("Adam is best for RWS, momentum or Nesterov for NRWS; NRWS is ahead with the same optimiser, Adam on FashionMNIST excepted.", j)
	return nil
}

func makeFig65(w *work) error {
	of, err := w.curvesOf(table62, "FashionMNIST, ")
	if err != nil {
		return err
	}
	const rws, nrws = "RWS, 5,000 epochs", "NRWS, 2,000 epochs"
	var j judgement
	for _, m := range []string{rws, nrws} {
		apart := curve(of[m+", momentum"]).last() - curve(of[m+", Nesterov"]).last()
		j.add(holdsIf(math.Abs(apart) < 0.3), fmt.Sprintf("%s, momentum − Nesterov %+.3f nats", m, apart))
	}
	for _, o := range []string{", momentum", ", Nesterov"} {
		v, e := ahead("tenths of the epochs", byEpochs(of[nrws+o], of[nrws+", Adam"]))
		j.add(v, "NRWS"+o+" over Adam "+e)
	}
	w.judgeFull("Momentum and Nesterov nearly overlap; with NRWS on FashionMNIST they are ahead of Adam from the start.", j)
	for _, m := range []string{rws, nrws} {
		if err := w.epochCurves("FashionMNIST, C: "+m, groups(of[m], of[m+", momentum"], of[m+", Nesterov"], of[m+", Adam"])); err != nil {
			return err
		}
	}
	return nil
}

func makeFig66(w *work) error {
	return w.bestOptimisers(table62, "FashionMNIST, ", "NRWS is ahead both ways.", "FashionMNIST, C, the best optimisers")
}

// bestOptimisers judges and draws NRWS with Nesterov beside RWS with Adam, of the cells of
// a set whose numbers begin alike.
func (w *work) bestOptimisers(cells []cell, begin, says, title string) error {
	of, err := w.curvesOf(cells, begin)
	if err != nil {
		return err
	}
	rws, nrws := of["RWS, 5,000 epochs, Adam"], of["NRWS, 2,000 epochs, Nesterov"]
	if err := w.timed(rws, nrws); err != nil {
		return err
	}
	var j judgement
	j.add(ahead("tenths of the epochs", byEpochs(nrws, rws)))
	j.add(ahead("tenths of the time of RWS", bySeconds(nrws, rws, 1)))
	w.judge(says, j)
	return w.curves(title, groups(rws, nrws))
}

// regularised are the trainings of 004, 6.2 and 6.3 on FashionMNIST.
func regularised(name string, set func(hm.Method) hm.Method) (rws, nrws plan) {
	rws = fashion("rws-long-"+name, set(hm.RWS().LearningRate(0.004)), 5000)
	rws.part = 0.4
	return rws, fashion("nrws-"+name, set(hm.NRWS().LearningRate(0.002).Damping(0.1)), 2000)
}

func penalised(suffix, name string, set func(hm.Method) hm.Method) []cell {
	rws, nrws := regularised(name, set)
	return []cell{
		{"FashionMNIST, RWS, 2,000 epochs" + suffix, rws, 0.4}, {"FashionMNIST, RWS, 5,000 epochs" + suffix, rws, 0},
		{"FashionMNIST, NRWS, 2,000 epochs" + suffix, nrws, 0},
	}
}

func plain(m hm.Method) hm.Method { return m }

var table63 = append(append(
	penalised("", "plain", plain),
	penalised(", L1 0.00001", "l1-0.00001", func(m hm.Method) hm.Method { return m.L1(1e-5) })...),
	penalised(", L2 0.00001", "l2-0.00001", func(m hm.Method) hm.Method { return m.L2(1e-5) })...)

func makeTable63(w *work) error {
	of, err := w.cells(table63)
	if err != nil {
		return err
	}
	const nrws = "FashionMNIST, NRWS, 2,000 epochs"
	var j judgement
	j.add(notAbove(nrws+", L1 0.00001", nrws, of))
	j.add(notAbove(nrws+", L2 0.00001", nrws, of))
	w.judge("L1 and L2 do not help NRWS.", j)
	return nil
}

// strong are the penalties a hundred times as large (004, fig. 6.9).
var strong = append(
	penalised(", L1 0.001", "l1-0.001", func(m hm.Method) hm.Method { return m.L1(1e-3) }),
	penalised(", L2 0.001", "l2-0.001", func(m hm.Method) hm.Method { return m.L2(1e-3) })...)

func penalties(reproduce.Scale) []plan {
	return plansOf(append(append([]cell{}, table63...), strong...))
}

func makeFig69(w *work) error {
	all := append(append([]cell{}, table63...), strong...)
	of, err := w.curvesOf(all, "FashionMNIST, ")
	if err != nil {
		return err
	}
	tested := map[string][]evaluation{}
	for number, runs := range of {
		if tested[number], err = w.evaluate(runs); err != nil {
			return err
		}
	}
	var j judgement
	for _, m := range []string{"RWS, 5,000 epochs", "NRWS, 2,000 epochs"} {
		for _, norm := range []string{", L1 ", ", L2 "} {
			for _, β := range []string{"0.00001", "0.001"} {
				gain, se := difference(tested[m+norm+β], tested[m])
				j.add(holdsIf(gain <= 0.3), fmt.Sprintf("%s%s%s %+.3f ± %.3f nats", m, norm, β, gain, se))
			}
			worse, se := difference(tested[m+norm+"0.001"], tested[m+norm+"0.00001"])
			j.add(holdsIf(worse < 0), fmt.Sprintf("of %s%sthe larger β %+.3f ± %.3f", m, norm, worse, se))
		}
		if err := w.epochCurves("FashionMNIST, C, penalties: "+m, groups(of[m], of[m+", L1 0.00001"], of[m+", L1 0.001"], of[m+", L2 0.00001"], of[m+", L2 0.001"])); err != nil {
			return err
		}
	}
	w.judgeFull("Neither helps either method at any β; the larger β, the worse.", j)
	return nil
}

func makeFig611(w *work) error {
	of, err := w.curvesOf(append(append([]cell{}, table63...), strong...), "FashionMNIST, ")
	if err != nil {
		return err
	}
	var j judgement
	for _, m := range []string{"RWS, 5,000 epochs", "NRWS, 2,000 epochs"} {
		free, held := of[m][0].history, of[m+", L2 0.001"][0].history
		weights := func(h norms) float64 { return h.at(1, func(l layerNorms) float64 { return l.Weights }) }
		gradients := func(h norms, part float64) float64 {
			return h.at(part, func(l layerNorms) float64 { return l.Gradient })
		}
		ratio := weights(norms(held)) / weights(norms(free))
		j.add(holdsIf(ratio < 0.5), fmt.Sprintf("%s: norm of the weights with L2 0.001 × %.3f", m, ratio))
		change := gradients(norms(held), 1)/gradients(norms(held), 0.5) - 1
		j.add(holdsIf(math.Abs(change) < 0.1), fmt.Sprintf("norm of the gradients %+.1f %% over the second half", 100*change))
		if err := w.Figure(fmt.Sprintf("norms-%.4s", m), "Norms of weights and of gradients on FashionMNIST, with L2 and without: "+m,
			plotting.NetworkNorms(free, of[m+", L2 0.00001"][0].history, held)); err != nil {
			return err
		}
	}
	w.judgeFull("Weights of unregularised NRWS grow much larger; gradient norms of regularised runs become nearly constant.", j)
	return nil
}

// entropic are the trainings with the entropy regulariser as printed (004, 6.3.3).
func entropic(β float64) func(hm.Method) hm.Method {
	return func(m hm.Method) hm.Method { return m.EntropyEstimator(β).WarmUp(50) }
}

// thrice lets the runs of cells be of three seeds.
func thrice(cells []cell) []cell {
	for i := range cells {
		cells[i].plan.seeds = 3
	}
	return cells
}

var table64 = thrice(append(penalised("", "plain", plain), penalised(", entropy", "entropy-2", entropic(2))...))

func makeTable64(w *work) error {
	of, err := w.cells(table64)
	if err != nil {
		return err
	}
	var j judgement
	for _, m := range []string{"RWS", "NRWS"} {
		number := "FashionMNIST, " + m + ", 2,000 epochs"
		w.Found("FashionMNIST, gain of entropy, "+m+", 2,000 epochs", "difference of log p", w.here(differenceValue(of[number+", entropy"], of[number])))
		j.add(above(number+", entropy", number, of))
	}
	w.judge("The entropy regulariser gains about half a nat.", j)
	return nil
}

// strengths are the other strengths of fig. 6.12.
var strengths = append(append(append([]cell{}, table64...),
	penalised(", entropy 0.8", "entropy-0.8", entropic(0.8))...), penalised(", entropy 5", "entropy-5", entropic(5))...)

func makeFig612(w *work) error {
	of, err := w.curvesOf(strengths, "FashionMNIST, ")
	if err != nil {
		return err
	}
	var j judgement
	for _, m := range []string{"RWS, 5,000 epochs", "NRWS, 2,000 epochs"} {
		tested := map[string][]evaluation{}
		for _, suffix := range []string{"", ", entropy 0.8", ", entropy", ", entropy 5"} {
			if tested[m+suffix], err = w.evaluate(of[m+suffix]); err != nil {
				return err
			}
		}
		for _, other := range []string{"", ", entropy 0.8", ", entropy 5"} {
			j.add(above(m+", entropy", m+other, tested))
		}
		if err := w.epochCurves("FashionMNIST, C, entropy regulariser: "+m, groups(of[m], of[m+", entropy 0.8"], of[m+", entropy"], of[m+", entropy 5"])); err != nil {
			return err
		}
	}
	w.judge("It helps both methods in speed and minimum; β 2.0 is best.", j)
	return nil
}

func makeFig613(w *work) error {
	of, err := w.curvesOf(strengths, "FashionMNIST, ")
	if err != nil {
		return err
	}
	var j judgement
	for _, m := range []string{"RWS, 5,000 epochs", "NRWS, 2,000 epochs"} {
		free, raised := of[m][0].history, of[m+", entropy"][0].history
		for _, n := range []struct {
			name string
			of   func(layerNorms) float64
		}{{"weights", func(l layerNorms) float64 { return l.Weights }}, {"gradients", func(l layerNorms) float64 { return l.Gradient }}} {
			ratio := norms(raised).at(1, n.of) / norms(free).at(1, n.of)
			j.add(holdsIf(ratio > 1.05), fmt.Sprintf("%s: norm of the %s × %.3f", m, n.name, ratio))
		}
		if err := w.Figure(fmt.Sprintf("norms-%.4s", m), "Norms of weights and of gradients on FashionMNIST, with the entropy regulariser and without: "+m,
			plotting.NetworkNorms(free, raised)); err != nil {
			return err
		}
	}
	w.judgeFull("Weights grow larger with it, the opposite of L2; gradient norms level out higher.", j)
	return nil
}
