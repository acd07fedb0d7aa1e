package thesis

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/notebooks/reproduce"
	"github.com/helmholtz-go/helmholtz/plotting"
	"github.com/helmholtz-go/helmholtz/runs"
)

// miniMethods are the trainings of Várady 2025, table D.1 and fig. D.2.
func miniMethods(reproduce.Scale) []plan {
	var plans []plan
	for _, data := range []struct {
		name          string
		spec          dataset.Spec
		nrws, rws, ws float64 // learning rates
	}{
		{"b", miniMNIST, 0.004, 0.02, 0.04},
		{"c", miniMNISTDrawn, 0.004, 0.01, 0.02},
	} {
		for _, m := range []struct {
			name   string
			method hm.Method
		}{
			{"nrws", hm.NRWS().LearningRate(data.nrws).Damping(0.05)},
			{"rws", hm.RWS().LearningRate(data.rws)},
			{"ws", hm.WS().LearningRate(data.ws)},
		} {
			plans = append(plans, plan{
				name: "minimnist-" + data.name + "-" + m.name, data: data.spec, machine: dense(miniLayers...),
				method: m.method, laptop: 50, full: 500, seeds: 3,
			})
		}
	}
	return plans
}

// mini are the trained methods on miniMNIST of a binarisation, b or c.
func (w *work) mini(binarization string) (nrws, rws, ws curve) {
	for _, m := range []struct {
		name, label string
		to          *curve
	}{{"nrws", "NRWS", &nrws}, {"rws", "RWS", &rws}, {"ws", "WS", &ws}} {
		*m.to = w.trained("minimnist-"+binarization+"-"+m.name, m.label)
	}
	return nrws, rws, ws
}

func makeMiniTable(w *work) {
	var j judgement
	for _, binarization := range []string{"B", "C"} {
		nrws, rws, ws := w.mini(strings.ToLower(binarization))
		methods := []scored{{name: "NRWS"}, {name: "RWS"}, {name: "WS"}}
		for i, of := range []curve{nrws, rws, ws} {
			methods[i].of = w.evaluate(of)
			w.Beside(binarization+", "+methods[i].name, "log p", value(methods[i].of, logP))
		}
		seconds := w.secondsAnEpoch([]curve{nrws, rws, ws})
		w.foundDifference(binarization+", NRWS over RWS", methods[0].of, methods[1].of)
		w.foundDifference(binarization+", RWS over WS", methods[1].of, methods[2].of)
		w.foundTimes(binarization+", seconds of an epoch, NRWS over RWS", "ratio", seconds[0], seconds[1], nrws)
		j.order(binarization+", ", methods...)
	}
	w.judge("NRWS is ahead of RWS, RWS of WS, with B and with C.", j)
}

func makeMiniCurves(w *work) {
	var time judgement
	for _, binarization := range []string{"B", "C"} {
		nrws, rws, ws := w.mini(strings.ToLower(binarization))
		from, claim := 20, "With B, NRWS is ahead from the 12th epoch, by epochs."
		if binarization == "C" {
			from, claim = 3, "With C, NRWS is ahead from the very beginning."
		}
		w.timed(nrws, rws, ws)
		var epochs []int
		for epoch := from; epoch <= nrws.epochs(); epoch++ {
			epochs = append(epochs, epoch)
		}
		var j judgement
		for _, other := range []curve{rws, ws} {
			what := "NRWS over " + other[0].history.Name
			j.ahead(what, fmt.Sprintf("epochs from %d on", from), w.byEpochs(nrws, other, epochs))
			time.ahead(binarization+", "+what, "tenths of the seconds of RWS from the second on", w.bySeconds(nrws, other, rws, 2, 10))
		}
		w.judge(claim, j)
		w.curves("miniMNIST, "+binarization, nrws, rws, ws)
	}
	w.judge("NRWS is ahead by time.", time)
}

// dreamers are the trainings of Várady 2025, fig. D.1.
func dreamers(s reproduce.Scale) []plan {
	var plans []plan
	for _, p := range miniMethods(s) {
		if p.name == "minimnist-b-nrws" || p.name == "minimnist-c-nrws" {
			plans = append(plans, p)
		}
	}
	return plans
}

func makeDreamers(w *work) {
	var j judgement
	for _, binarization := range []string{"B", "C"} {
		nrws := w.trained("minimnist-"+strings.ToLower(binarization)+"-nrws", "NRWS")
		model := nrws[0].model
		sheet := must(model.Means(w.ctx, w.few(100, 100, 10)))
		w.draw(strings.ToLower(binarization), "Means of 100 dreams of NRWS trained on miniMNIST, "+binarization, plotting.Samples(sheet))
		set := w.dataset(nrws[0])
		many := must(model.Means(w.ctx, w.few(10_000, 10_000, 100)))
		mean, se := pixels(many)
		rows := rowPixels(set.Train())
		drawn := must(model.Draw(w.ctx, w.few(100, 100, 10)))
		w.draw(strings.ToLower(binarization)+"-drawn", "Pixels drawn from these means, "+binarization, plotting.Samples(drawn))
		j.add(holdsIf(math.Abs(mean-rows) < 0.02), "%s: mean of the pixels %.4f ± %.4f, of the training rows %.4f", binarization, mean, se, rows)
	}
	w.lookAt("(shown) Digits are recognisable.", j)
}

// manySeeds are the trainings of Várady 2025, 5.3.7, with RWS beside them.
func manySeeds(s reproduce.Scale) []plan {
	plans := miniMethods(s)
	rws := plans[slices.IndexFunc(plans, func(p plan) bool { return p.name == "minimnist-b-rws" })]
	return []plan{rws, {
		name: "minimnist-seeds", data: miniMNIST, machine: dense(miniLayers...),
		method: hm.NRWS().LearningRate(0.002).Damping(0.05), laptop: 100, full: 200, seeds: 24, part: 0.5,
	}}
}

func makeManySeeds(w *work) {
	t := must(w.Training("minimnist-seeds"))
	// The published lengths are 100 epochs and 200; RWS is at hand after length.
	epochs := t.Experiment.Header().Epochs
	first, length := w.few(100, 100, 1), min(epochs, w.epochsOf("minimnist-b-rws"))
	of := map[int][]evaluation{}
	for _, at := range []int{length, first, epochs} {
		if of[at] != nil {
			continue
		}
		seeds := w.trainedAt("minimnist-seeds", "NRWS", at)
		of[at] = w.evaluate(seeds)
		w.Beside(fmt.Sprintf("miniMNIST, %d epochs", at), "log p", value(of[at], logP))
	}
	spread := func(at int) runs.Spread {
		return runs.SpreadOf(of[at], func(e evaluation) float64 { return e.LogP })
	}
	found := func(number, measure string, ours, se float64, after string) {
		w.FoundAsPublished(number, measure, reproduce.Value{Ours: ours, SE: &se, Seeds: t.Seeds, By: value(of[epochs], logP).By + ", after " + after, Data: of[epochs][0].data})
	}
	half, whole := names.Count(first, "epoch"), names.Count(epochs, "epoch")
	errorOfSD := 1 / math.Sqrt(2*float64(t.Seeds-1)) // as a part of it
	found("miniMNIST, sd over 24 seeds, 100 epochs", "sd of log p", spread(first).SD, spread(first).SD*errorOfSD, half)
	if epochs > first {
		found("miniMNIST, sd over 24 seeds, 200 epochs", "sd of log p", spread(epochs).SD, spread(epochs).SD*errorOfSD, whole)
		rise := paired(logPs(of[epochs]), logPs(of[first]))
		found("miniMNIST, mean at 200 less mean at 100 epochs", "difference of log p", rise.nats, rise.se, whole+" less after "+half)
	}

	rws := w.trainedAt("minimnist-b-rws", "RWS", length)
	ofRWS := w.evaluate(rws)
	gap := difference(of[length], ofRWS)
	var j judgement
	j.add(holdsIf(spread(length).SD < gap.nats/10), "after %d epochs: sd over %d seeds %.3f nats; NRWS − RWS %v", length, t.Seeds, spread(length).SD, gap)
	w.judgeFull("Training is robust against chance.", j)
}

// sleepSteps are trainings of WS with several sleep steps (Várady 2025, fig. 5.17).
func sleepSteps(reproduce.Scale) []plan {
	var plans []plan
	for _, n := range []int{1, 3, 5, 10} {
		plans = append(plans, plan{
			name: fmt.Sprintf("minimnist-ws-sleep-%d", n), data: miniMNIST, machine: dense(miniLayers...),
			method: hm.WS().LearningRate(0.001).SleepSteps(n), laptop: 20, full: 200, seeds: 3,
		})
	}
	return plans
}

func makeSleepSteps(w *work) {
	var all []curve
	for _, n := range []int{1, 3, 5, 10} {
		label := fmt.Sprintf("WS, sleep steps: %d", n)
		of := w.trained(fmt.Sprintf("minimnist-ws-sleep-%d", n), label)
		all = append(all, of)
	}
	w.timed(all...)
	var epochs, time judgement
	one := all[0]
	for i, of := range all[1:] {
		w.endsAbove(&epochs, of[0].history.Name+" over the one before", of, all[i])
		gain := of.mean(at(one.seconds())) - one.mean(end)
		time.add(holdsIf(gain <= 0.3), "%s at the seconds of one %+.3f nats", of[0].history.Name, gain)
	}
	w.judge("More sleep steps converge better by epochs.", epochs)
	w.judgeFull("By time their cost eats the gain up.", time)
	w.curves("WS on miniMNIST with several sleep steps", all...)
}

// sleepScales are trainings of NRWS with more or longer sleep (Várady 2025, fig. 5.18), and two
// of WS to compare the gain with.
func sleepScales(s reproduce.Scale) []plan {
	plans := sleepSteps(s)[:2]
	for _, steps := range []int{1, 3} {
		for _, factor := range []int{1, 3} {
			plans = append(plans, plan{
				name: fmt.Sprintf("minimnist-nrws-sleep-%d-by-%d", steps, factor), data: miniMNIST, machine: dense(miniLayers...),
				method: hm.NRWS().LearningRate(0.001).Damping(0.2).SleepSteps(steps).SleepScale(float64(factor)),
				laptop: 20, full: 200, seeds: 3,
			})
		}
	}
	return plans
}

func makeSleepScales(w *work) {
	of := map[string]curve{}
	var all []curve
	for _, name := range []string{"1-by-1", "1-by-3", "3-by-1", "3-by-3"} {
		label := fmt.Sprintf("NRWS, sleep steps: %c, factor %c", name[0], name[len(name)-1])
		runs := w.trained("minimnist-nrws-sleep-"+name, label)
		of[name], all = runs, append(all, runs)
	}
	w.timed(all...)
	var ws [2]curve
	for i, n := range []int{1, 3} {
		ws[i] = w.trained(fmt.Sprintf("minimnist-ws-sleep-%d", n), "WS")
	}
	plain, thrice, scaled := of["1-by-1"], of["3-by-1"], of["1-by-3"]
	gain := w.ends(thrice, plain)
	gainWS := w.ends(ws[1], ws[0])
	var more, longer judgement
	more.above("NRWS", gain)
	more.above("gain of WS less that of NRWS", gainWS.over(gain))
	w.judge("NRWS gains from more sleep, less than WS.", more)
	w.endsAbove(&longer, "a factor of 3 over none", scaled, plain)
	apart := w.ends(scaled, thrice)
	longer.add(holdsIf(math.Abs(apart.nats) < gain.nats/2), "a factor of 3 over 3 steps %v, 3 steps over 1 %v", apart, gain)
	seconds := w.secondsAnEpoch(all)
	cost, se := seconds[1].over(seconds[0])
	longer.add(positive(0.05-math.Abs(cost-1), se), "seconds of an epoch × %.3f ± %.3f", cost, se)
	w.judgeFull("A factor of 3 gains at no cost, about as much as three steps.", longer)
	w.curves("NRWS on miniMNIST with more and with longer sleep", all...)
}
