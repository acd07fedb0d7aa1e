package thesis

import (
	"fmt"
	"math"

	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/notebooks/reproduce"
	"github.com/helmholtz-go/helmholtz/runs"
)

// mnist is a training on binarised MNIST with the machine of twelve layers.
func mnist(name string, method hm.Method, full int) plan {
	return plan{name: "mnist-" + name, data: binarizedMNIST, machine: dense(twelveLayers...), method: method, laptop: full / 40, full: full, seeds: 1, part: 0.25}
}

// The methods of 004, tables 5.1 and 5.3.
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
var mnistRates = map[string][]float64{"nrws": {0.002, 0.005, 0.01, 0.02}, "rws": {0.005, 0.01, 0.02, 0.04}}

// mnistTuned are the trainings of 004, fig. 5.6, with those that tune η of RWS and of
// NRWS.
func mnistTuned(reproduce.Scale) []plan {
	plans := plansOf(table51)
	for i, method := range []string{"nrws", "rws"} {
		for _, η := range mnistRates[method] {
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
// validation log p.
func (w *work) tuned(method, label string) ([]trained, float64, error) {
	var best []trained
	var rate float64
	for _, η := range mnistRates[method] {
		of, err := w.trained("mnist-"+rated(method, η), fmt.Sprintf("%s, η = %g", label, η))
		if err != nil {
			return nil, 0, err
		}
		if best == nil || curve(of).last() > curve(best).last() {
			best, rate = of, η
		}
	}
	return best, rate, nil
}

func makeTable51(w *work) error {
	of, err := w.cells(table51)
	if err != nil {
		return err
	}
	for name, p := range map[string]plan{"NRWS": mnistNRWS, "DNRWS": mnistDNRWS, "WS": mnistWS} {
		if err := w.foundRatio("seconds of an epoch, "+name+" over RWS", p, mnistRWS); err != nil {
			return err
		}
	}
	var j judgement
	j.add(order(scored{"NRWS", of["NRWS"]}, scored{"DNRWS", of["DNRWS"]}, scored{"RWS", of["RWS"]}, scored{"WS", of["WS"]}))
	w.judge("NRWS is best, before DNRWS, RWS and WS.", j)
	nrws, _ := logP(of["NRWS"][0].Evaluation)
	verdict := holdsIf(nrws > -85)
	if verdict == reproduce.Fails && w.Scale != reproduce.Full {
		verdict = reproduce.Open
	}
	w.JudgeFull("NRWS with a fixed rate beats published RWS (−86.0) and BiHM (−85.0; 001 has −84.5).", verdict,
		"log p of NRWS is %.2f after %d epochs, %+.2f from −84.5", nrws, mnistNRWS.epochs(w.Scale), nrws+84.5)
	return nil
}

func makeFig56(w *work) error {
	all, err := w.timedCells(table51)
	if err != nil {
		return err
	}
	nrws, rws := curve(all[0]), curve(all[2])
	verdict, evidence := ahead("tenths of the epochs", byEpochs(nrws, rws))
	w.Judge("NRWS converges faster by epochs and to a better minimum.", verdict, "%s", evidence)
	verdict, evidence = ahead("tenths of the time of RWS", bySeconds(nrws, rws, 1))
	w.Judge("NRWS is faster by time.", verdict, "%s", evidence)
	w.Found("seconds of an epoch, NRWS over RWS", "ratio", ratio(nrws.seconds(), rws.seconds()))
	if err := w.curves("binarised MNIST, twelve layers", groups(all...)); err != nil {
		return err
	}

	bestNRWS, ηNRWS, err := w.tuned("nrws", "NRWS")
	if err != nil {
		return err
	}
	bestRWS, ηRWS, err := w.tuned("rws", "RWS")
	if err != nil {
		return err
	}
	if err := w.timed(bestNRWS, bestRWS); err != nil {
		return err
	}
	verdict, evidence = ahead("tenths of the epochs", byEpochs(bestNRWS, bestRWS))
	v, e := ahead("tenths of the time of RWS", bySeconds(bestNRWS, bestRWS, 1))
	verdict, evidence = both(verdict, evidence, v, e)
	w.Judge("The gain is the metric's, each method being at its best rate.", verdict, "NRWS at η %g, RWS at %g, %d epochs, %d seeds: %s",
		ηNRWS, ηRWS, curve(bestRWS).epochs(), len(bestRWS), evidence)
	return w.curves("binarised MNIST, each method at its best rate", groups(bestNRWS, bestRWS))
}

// timedCells are the runs of a table's cells, in order, with the seconds of epochs that
// are timed in turn.
func (w *work) timedCells(cells []cell) ([][]trained, error) {
	var all [][]trained
	for _, c := range cells {
		of, err := w.trained(c.plan.name, c.number)
		if err != nil {
			return nil, err
		}
		all = append(all, of)
	}
	return all, w.timed(all...)
}

var table53 = []cell{{"BiHM", mnistBiHM, 0}, {"NBiHM", mnistNBiHM, 0}, {"NRWS", mnistNRWS, 0}}

func makeTable53(w *work) error {
	of, err := w.cells(table53)
	if err != nil {
		return err
	}
	if err := w.foundRatio("seconds of an epoch, NBiHM over BiHM", mnistNBiHM, mnistBiHM); err != nil {
		return err
	}
	var j judgement
	j.add(order(scored{"NRWS", of["NRWS"]}, scored{"NBiHM", of["NBiHM"]}, scored{"BiHM", of["BiHM"]}))
	w.judge("NRWS, NBiHM, BiHM, in this order.", j)
	return nil
}

func makeFig510(w *work) error {
	all, err := w.timedCells(table53)
	if err != nil {
		return err
	}
	bihm, nbihm, nrws := curve(all[0]), curve(all[1]), curve(all[2])
	var j judgement
	j.add(ahead("tenths of the epochs", byEpochs(nbihm, bihm)))
	j.add(ahead("tenths of the time of BiHM", bySeconds(nbihm, bihm, 1)))
	w.judge("NBiHM gains over BiHM in speed and minimum.", j)
	shorter, behind := nbihm.seconds()/nrws.seconds(), nbihm.last()-nrws.last()
	w.Judge("An epoch of NBiHM is shorter than one of NRWS, and NBiHM does not reach NRWS.", holdsIf(shorter < 1 && behind < 0),
		"seconds of an epoch × %.2f; validation log p %+.3f nats", shorter, behind)
	return w.curves("binarised MNIST, bidirectional machines", groups(all...))
}

// fig55 are the first 500 epochs of the runs of 004, table 5.1.
var fig55 = []cell{{"RWS", mnistRWS, 0.25}, {"DNRWS", mnistDNRWS, 0.25}, {"NRWS", mnistNRWS, 0.25}}

func makeFig55(w *work) error {
	var all [][]trained
	for _, c := range fig55 {
		of, err := w.trainedAt(c.plan.name, c.number, partOf(c.part, c.plan.epochs(w.Scale)))
		if err != nil {
			return err
		}
		all = append(all, of)
	}
	if err := w.timed(all...); err != nil {
		return err
	}
	rws, dnrws, nrws := curve(all[0]), curve(all[1]), curve(all[2])
	var j judgement
	j.add(ahead("tenths of the epochs, DNRWS over RWS", byEpochs(dnrws, rws)))
	gap := nrws.last() - dnrws.last()
	j.add(holdsIf(gap > 0), fmt.Sprintf("NRWS − DNRWS at the end %+.3f nats", gap))
	w.judge("DNRWS is faster than RWS and its minimum worse than that of NRWS.", j)
	early := bySeconds(dnrws, rws, 1)
	if len(early) == 0 {
		w.Judge("By time DNRWS beats RWS for a longer period.", reproduce.Open, "no epoch of both has ended by then")
	} else {
		w.Judge("By time DNRWS beats RWS for a longer period.", holdsIf(early[0] > 0), "%+.3f nats at a tenth of the time of RWS", early[0])
	}
	return w.curves("binarised MNIST, diagonal metric", groups(all...))
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

func makeFig54(w *work) error {
	of, err := w.curvesOf(fig54(), "")
	if err != nil {
		return err
	}
	var faster, worse judgement
	for _, η := range []string{"0.001", "0.002", "0.004"} {
		for _, α := range [][2]string{{"0.05", "0.1"}, {"0.1", "0.2"}, {"0.2", "0.4"}} {
			smaller, larger := curve(of["η "+η+", α "+α[0]]), curve(of["η "+η+", α "+α[1]])
			epoch := min(5, smaller.epochs())
			d := smaller.trainedAfter(epoch) - larger.trainedAfter(epoch)
			faster.add(holdsIf(d > 0), fmt.Sprintf("η %s, after %d epochs, α %s over %s %+.2f nats", η, epoch, α[0], α[1], d))
			if α[1] != "0.4" {
				d := larger.best() - smaller.best()
				worse.add(holdsIf(d > 0), fmt.Sprintf("best validation log p, α %s over %s %+.2f", α[1], α[0], d))
			}
		}
		if err := w.epochCurves("binarised MNIST, DNRWS, η "+η, groups(of["η "+η+", α 0.05"], of["η "+η+", α 0.1"], of["η "+η+", α 0.2"], of["η "+η+", α 0.4"])); err != nil {
			return err
		}
	}
	faster.add(worse.verdict, worse.evidence)
	w.judge("Smaller α is faster at first, with a worse minimum.", faster)
	d := curve(of["η 0.004, α 0.4"]).last() - curve(of["η 0.002, α 0.2"]).last()
	w.Judge("A larger η that makes up for a larger α converges too early.", holdsIf(d < 0), "validation log p at the end %+.3f nats", d)
	return nil
}

// trainedAfter is log p of the training rows of an epoch, and best the highest of the
// validation rows.
func (c curve) trainedAfter(epoch int) float64 {
	return runs.SpreadOf(c, func(t trained) float64 { return t.history.Epochs[epoch-1].Train[runs.LogP.Key] }).Mean
}

func (c curve) best() float64 {
	best := math.Inf(-1)
	for epoch := 1; epoch <= c.epochs(); epoch++ {
		best = math.Max(best, c.after(epoch))
	}
	return best
}

var table61 = accelerated("", mnist, 0.2)

func makeTable61(w *work) error {
	of, err := w.cells(table61)
	if err != nil {
		return err
	}
	const rws, nrws = "RWS, 5,000 epochs", "NRWS, 2,000 epochs"
	var j judgement
	for _, optimiser := range []string{"", ", momentum", ", Nesterov"} {
		j.add(above(nrws+optimiser, rws+optimiser, of))
	}
	j.add(above(rws+", Adam", nrws+", Adam", of))
	w.judge("NRWS after 2,000 epochs is ahead of RWS after 5,000, Adam excepted.", j)
	return nil
}

func makeFig63(w *work) error {
	of, err := w.curvesOf(table61, "")
	if err != nil {
		return err
	}
	const rws, nrws = "RWS, 5,000 epochs", "NRWS, 2,000 epochs"
	var all, best judgement
	for _, m := range []string{rws, nrws} {
		for _, o := range []string{", momentum", ", Nesterov", ", Adam"} {
			v, e := ahead("tenths of the epochs", byEpochs(of[m+o], of[m]))
			all.add(v, m+o+" "+e)
		}
		if err := w.epochCurves("binarised MNIST: "+m, groups(of[m], of[m+", momentum"], of[m+", Nesterov"], of[m+", Adam"])); err != nil {
			return err
		}
		adam := curve(of[m+", Adam"]).last() - math.Max(curve(of[m+", momentum"]).last(), curve(of[m+", Nesterov"]).last())
		best.add(holdsIf((adam > 0) == (m == rws)), fmt.Sprintf("%s, Adam over the better of the others %+.3f nats", m, adam))
	}
	w.judge("All three accelerate both methods.", all)
	w.judge("Adam is best for RWS, momentum and Nesterov for NRWS.", best)
	return nil
}

func makeFig64(w *work) error {
	return w.bestOptimisers(table61, "", "NRWS with Nesterov is ahead from the start, both ways.", "binarised MNIST, the best optimisers")
}

// final is the training of the last column of 004, table 6.5, on a set.
func final(of func(string, hm.Method, int) plan, damping float64) plan {
	return of("nrws-final", hm.NRWS().LearningRate(0.0001).Damping(damping).Optimizer(hm.Nesterov).EntropyEstimator(0.5).WarmUp(50), 2000)
}

var table65 = thrice([]cell{
	{"MNIST, RWS", mnistRWS, 0},
	{"MNIST, NRWS", mnistNRWS, 0},
	{"MNIST, NRWS, entropy and Nesterov", final(mnist, 0.2), 0},
	{"FashionMNIST, RWS", fashionRWS, 0},
	{"FashionMNIST, NRWS", fashionNRWS, 0},
	{"FashionMNIST, NRWS, entropy and Nesterov", final(fashion, 0.1), 0},
})

func makeTable65(w *work) error {
	of, err := w.cells(table65)
	if err != nil {
		return err
	}
	var j judgement
	for _, set := range []string{"MNIST", "FashionMNIST"} {
		j.add(above(set+", NRWS, entropy and Nesterov", set+", NRWS", of))
	}
	w.judge("Entropy and acceleration together almost always help.", j)
	return nil
}

// The seven-layer machines of 001, 3.7.4: five samples for 1,000 epochs, then a hundred
// for 500.
var (
	sevenBiHM = sevenLayers("bihm", hm.BiHM().L1(1e-5))
	sevenRWS  = sevenLayers("rws", hm.RWS())
)

func sevenLayers(name string, method hm.Method) plan {
	return plan{
		name: "seven-layers-" + name, data: binarizedMNIST, machine: bidirectional(400, 300, 200, 100, 50, 25, 10),
		method: method.Optimizer(hm.Adam).BatchSize(100).LearningRate(0.001).Samples(5).SamplesAfter(1000, 100), laptop: 20, full: 1500, seeds: 1,
	}
}

func sevenPlans(reproduce.Scale) []plan { return []plan{sevenBiHM, sevenRWS} }

func makeText374(w *work) error {
	bihm, err := w.trained(sevenBiHM.name, "BiHM")
	if err != nil {
		return err
	}
	rws, err := w.trained(sevenRWS.name, "RWS")
	if err != nil {
		return err
	}
	a, err := w.evaluate(bihm)
	if err != nil {
		return err
	}
	b, err := w.evaluate(rws)
	if err != nil {
		return err
	}
	w.found("BiHM", "log p", a, logP)
	w.found("BiHM", "log p̃*", a, logPTildeStar)
	w.found("RWS", "log p", b, logP)
	samples := w.testSamples()
	spread, err := reproduce.KeptOf(w.Work, fmt.Sprintf("range-of-ten-%d", samples), bihm[0].snapshot, func() (float64, error) {
		set, err := w.dataset(bihm[0])
		if err != nil {
			return 0, err
		}
		least, most := math.Inf(1), math.Inf(-1)
		for seed := range uint64(10) {
			w.Say("evaluating the BiHM, %d of 10", seed+1)
			e, err := bihm[0].model.Seed(seed+1).Evaluate(w.ctx, bihm[0].model.Some(set.Test(), w.testRows()), samples, w.Progress)
			if err != nil {
				return 0, err
			}
			least, most = math.Min(least, e.LogP), math.Max(most, e.LogP)
		}
		return most - least, nil
	})
	if err != nil {
		return err
	}
	w.Found("range of ten evaluations with 10,000 samples", "at most", w.here(reproduce.Value{Ours: spread, Seeds: 1, By: value(a, logP).By}))
	return nil
}

// The twelve-layer machines of 001, fig. 3.4.
var fig34 = []cell{{"BiHM", twelve("bihm", hm.BiHM()), 0}, {"RWS", twelve("rws", hm.RWS()), 0}}

func twelve(name string, method hm.Method) plan {
	return plan{
		name: "adam-" + name, data: binarizedMNIST, machine: bidirectional(twelveLayers...),
		method: method.Optimizer(hm.Adam).BatchSize(100).LearningRate(0.0005), laptop: 30, full: 2000, seeds: 1,
	}
}

func makeFig34(w *work) error {
	all, err := w.timedCells(fig34)
	if err != nil {
		return err
	}
	bihm, rws := curve(all[0]), curve(all[1])
	ahead := 0
	for _, d := range byEpochs(bihm, rws) {
		if d > 0 {
			ahead++
		}
	}
	least := math.Inf(1)
	for _, d := range bySeconds(bihm, rws, 2) {
		least = math.Min(least, d)
	}
	w.JudgeFull("BiHM converges very well by updates and competitively by time.", holdsIf(ahead > 5 && least > -0.5),
		"validation log p above RWS at %d of 10 tenths of the updates; %+.3f nats at the worst tenth of the time of RWS", ahead, least)
	return w.curves("binarised MNIST, twelve layers, Adam", groups(all...))
}

// fig C.4: the number of steps between refreshes, for 2,000 steps.
var refreshSteps = []int{1, 2, 3, 5, 10, 20, 50, 100, 500, 1000}

func figC4() []cell {
	var cells []cell
	for _, k := range refreshSteps {
		p := mnist(fmt.Sprintf("nrws-refresh-%d", k), hm.NRWS().LearningRate(0.002).Damping(0.2).RefreshEvery(k), 20)
		p.data.Subset, p.laptop = 3200, 20 // 100 steps an epoch
		cells = append(cells, cell{fmt.Sprintf("K = %d", k), p, 0})
	}
	return cells
}

func makeFigC4(w *work) error {
	all, err := w.timedCells(figC4())
	if err != nil {
		return err
	}
	one := curve(all[0])
	var level, unstable judgement
	for i, k := range refreshSteps[1:] {
		d := curve(all[i+1]).last() - one.last()
		if k <= 100 {
			level.add(holdsIf(math.Abs(d) < 0.5), fmt.Sprintf("K %d %+.3f nats", k, d))
		}
	}
	thousand := curve(all[len(all)-1])
	rises, n := false, thousand.epochs()
	for part := 2; part <= 10; part++ {
		rises = rises || thousand.trainedAfter(max(1, n*part/10)) < thousand.trainedAfter(max(1, n*(part-1)/10))
	}
	behind := one.trainedAfter(n) - thousand.trainedAfter(n)
	unstable.add(holdsIf(rises || behind > 2), fmt.Sprintf("training loss of K 1000 rises between parts: %t; log p of training rows behind K 1 by %.2f nats", rises, behind))
	w.judge("K of 1 to 100 has no visible effect; all K below 500 reach the same minimum.", level)
	w.judge("K 1000 is unstable, 500 less so.", unstable)
	ratio := curve(all[7]).seconds() / one.seconds()
	w.Judge("Large K is much faster.", holdsIf(ratio < 1.0/3), "seconds at K 100 over those at K 1: %.3f", ratio)
	return w.curves("binarised MNIST, NRWS, steps between refreshes", groups(all[0], all[4], all[7], all[8], all[9]))
}
