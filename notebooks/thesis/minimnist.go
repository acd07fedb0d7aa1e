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
	"github.com/helmholtz-go/helmholtz/runs"
)

// miniMethods are the trainings of 004, table D.1 and fig. D.2.
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
func (w *work) mini(binarisation string) (nrws, rws, ws []trained, err error) {
	for _, m := range []struct {
		name, label string
		to          *[]trained
	}{{"nrws", "NRWS", &nrws}, {"rws", "RWS", &rws}, {"ws", "WS", &ws}} {
		if *m.to, err = w.trained("minimnist-"+binarisation+"-"+m.name, m.label); err != nil {
			return nil, nil, nil, err
		}
	}
	return nrws, rws, ws, nil
}

func makeMiniTable(w *work) error {
	verdict, evidence := reproduce.Holds, ""
	for _, binarisation := range []string{"B", "C"} {
		nrws, rws, ws, err := w.mini(strings.ToLower(binarisation))
		if err != nil {
			return err
		}
		var of [3][]evaluation
		for i, method := range [][]trained{nrws, rws, ws} {
			if of[i], err = w.evaluate(method); err != nil {
				return err
			}
		}
		seconds, err := w.secondsAnEpoch([][]trained{nrws, rws, ws})
		if err != nil {
			return err
		}
		for name, v := range map[string]reproduce.Value{
			"NRWS over RWS": differenceValue(of[0], of[1]),
			"RWS over WS":   differenceValue(of[1], of[2]),
		} {
			v.Elsewhere = w.elsewhere()
			w.Found(binarisation+", "+name, "difference of log p", v)
		}
		w.Found(binarisation+", seconds of an epoch, NRWS over RWS", "ratio", ratio(seconds[0], seconds[1]))
		for i, name := range []string{"NRWS", "RWS", "WS"} {
			w.Beside(binarisation+", "+name, "log p", value(of[i], logP))
		}
		v, e := order(scored{"NRWS", of[0]}, scored{"RWS", of[1]}, scored{"WS", of[2]})
		verdict, evidence = both(verdict, evidence, v, binarisation+": "+e)
	}
	w.Judge("NRWS is ahead of RWS, RWS of WS, with B and with C.", verdict, "%s", evidence)
	return nil
}

func makeMiniCurves(w *work) error {
	time, timeEvidence := reproduce.Holds, ""
	for _, binarisation := range []string{"B", "C"} {
		nrws, rws, ws, err := w.mini(strings.ToLower(binarisation))
		if err != nil {
			return err
		}
		from, claim := 20, "With B, NRWS is ahead from the 12th epoch, by epochs."
		if binarisation == "C" {
			from, claim = 3, "With C, NRWS is ahead from the very beginning."
		}
		var d []float64
		for epoch := from; epoch <= curve(nrws).epochs(); epoch++ {
			d = append(d, curve(nrws).after(epoch)-math.Max(curve(rws).after(epoch), curve(ws).after(epoch)))
		}
		verdict, evidence := ahead(fmt.Sprintf("epochs from %d on", from), d)
		w.Judge(claim, verdict, "%s", evidence)

		if err := w.timed(nrws, rws, ws); err != nil {
			return err
		}
		verdict, evidence = ahead("tenths of the time of RWS", bySeconds(curve(nrws), curve(rws), 2))
		time, timeEvidence = both(time, timeEvidence, verdict, binarisation+": "+evidence)
		if err := w.curves("miniMNIST, "+binarisation, groups(nrws, rws, ws)); err != nil {
			return err
		}
	}
	w.Judge("NRWS is ahead by time.", time, "%s", timeEvidence)
	return nil
}

// dreamers are the trainings of 004, fig. D.1.
func dreamers(s reproduce.Scale) []plan {
	var plans []plan
	for _, p := range miniMethods(s) {
		if p.name == "minimnist-b-nrws" || p.name == "minimnist-c-nrws" {
			plans = append(plans, p)
		}
	}
	return plans
}

func makeDreamers(w *work) error {
	verdict, evidence := reproduce.Holds, ""
	for _, binarisation := range []string{"B", "C"} {
		nrws, err := w.trained("minimnist-"+strings.ToLower(binarisation)+"-nrws", "NRWS")
		if err != nil {
			return err
		}
		model := nrws[0].model
		sheet, err := model.Sample(w.ctx, 100)
		if err != nil {
			return err
		}
		if err := w.Figure(strings.ToLower(binarisation), "Means of 100 dreams of NRWS trained on miniMNIST, "+binarisation, plotting.Samples(sheet)); err != nil {
			return err
		}
		set, err := w.dataset(nrws[0])
		if err != nil {
			return err
		}
		many, err := model.Sample(w.ctx, 10_000)
		if err != nil {
			return err
		}
		mean, se := pixels(many)
		rows := rowPixels(set.Train())
		v := reproduce.Fails
		if math.Abs(mean-rows) < 0.02 {
			v = reproduce.Holds
		}
		verdict, evidence = both(verdict, evidence, v, fmt.Sprintf("%s: mean of the pixels %.4f ± %.4f, of the training rows %.4f", binarisation, mean, se, rows))
	}
	w.JudgeFull("(shown) Digits are recognisable.", verdict, "%s", evidence)
	return nil
}

// manySeeds are the trainings of 004, 5.3.7, with RWS beside them.
func manySeeds(s reproduce.Scale) []plan {
	plans := miniMethods(s)
	rws := plans[slices.IndexFunc(plans, func(p plan) bool { return p.name == "minimnist-b-rws" })]
	return []plan{rws, {
		name: "minimnist-seeds", data: miniMNIST, machine: dense(miniLayers...),
		method: hm.NRWS().LearningRate(0.002).Damping(0.05), laptop: 100, full: 200, seeds: 24, part: 0.5,
	}}
}

func makeManySeeds(w *work) error {
	t, err := w.Training("minimnist-seeds")
	if err != nil {
		return err
	}
	epochs := t.Experiment.Header().Epochs
	of := map[int][]evaluation{}
	for _, at := range []int{epochs / 2, epochs} {
		seeds, err := w.trainedAt("minimnist-seeds", "NRWS", at)
		if err != nil {
			return err
		}
		if of[at], err = w.evaluate(seeds); err != nil {
			return err
		}
		w.Beside(fmt.Sprintf("miniMNIST, %d epochs", at), "log p", value(of[at], logP))
	}
	spread := func(at int) runs.Spread {
		return runs.SpreadOf(of[at], func(e evaluation) float64 { return e.LogP })
	}
	found := func(number, measure string, ours float64) {
		w.Found(number, measure, reproduce.Value{Ours: ours, Seeds: t.Seeds, By: value(of[epochs], logP).By, Elsewhere: w.elsewhere()})
	}
	found("miniMNIST, sd over 24 seeds, 100 epochs", "sd of log p", spread(epochs/2).SD)
	found("miniMNIST, sd over 24 seeds, 200 epochs", "sd of log p", spread(epochs).SD)
	found("miniMNIST, mean at 200 less mean at 100 epochs", "difference of log p", spread(epochs).Mean-spread(epochs/2).Mean)

	rws, err := w.trainedAt("minimnist-b-rws", "RWS", min(epochs, w.epochsOf("minimnist-b-rws")))
	if err != nil {
		return err
	}
	ofRWS, err := w.evaluate(rws)
	if err != nil {
		return err
	}
	gap, _ := difference(of[epochs], ofRWS)
	verdict := reproduce.Fails
	if spread(epochs).SD < gap/10 {
		verdict = reproduce.Holds
	}
	w.JudgeFull("Training is robust against chance.", verdict, "sd over %d seeds %.3f nats; NRWS − RWS %.3f nats", t.Seeds, spread(epochs).SD, gap)
	return nil
}

// sleepSteps are trainings of WS with several sleep steps (004, fig. 5.17).
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

func makeSleepSteps(w *work) error {
	var all [][]trained
	for _, n := range []int{1, 3, 5, 10} {
		label := fmt.Sprintf("WS, sleep steps: %d", n)
		of, err := w.trained(fmt.Sprintf("minimnist-ws-sleep-%d", n), label)
		if err != nil {
			return err
		}
		all = append(all, of)
	}
	if err := w.timed(all...); err != nil {
		return err
	}
	verdict, evidence := reproduce.Holds, ""
	for i, of := range all[1:] {
		v, e := curve(of).endsAbove(curve(all[i]))
		verdict, evidence = both(verdict, evidence, v, fmt.Sprintf("%s over the one before: %s", of[0].history.Name, e))
	}
	w.Judge("More sleep steps converge better by epochs.", verdict, "%s", evidence)

	verdict, evidence = reproduce.Holds, ""
	one := curve(all[0])
	for _, of := range all[1:] {
		gain := curve(of).at(one.seconds()) - one.last()
		v := reproduce.Holds
		if gain > 0.3 {
			v = reproduce.Fails
		}
		verdict, evidence = both(verdict, evidence, v, fmt.Sprintf("%s at that time %+.3f nats", of[0].history.Name, gain))
	}
	w.JudgeFull("By time their cost eats the gain up.", verdict, "%s", evidence)
	return w.curves("WS on miniMNIST with several sleep steps", groups(all...))
}

// sleepScales are trainings of NRWS with more or longer sleep (004, fig. 5.18), and two
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

func makeSleepScales(w *work) error {
	of := map[string][]trained{}
	var all [][]trained
	for _, name := range []string{"1-by-1", "1-by-3", "3-by-1", "3-by-3"} {
		label := fmt.Sprintf("NRWS, sleep steps: %c, factor %c", name[0], name[len(name)-1])
		runs, err := w.trained("minimnist-nrws-sleep-"+name, label)
		if err != nil {
			return err
		}
		of[name], all = runs, append(all, runs)
	}
	if err := w.timed(all...); err != nil {
		return err
	}
	var ws [2]curve
	for i, n := range []int{1, 3} {
		runs, err := w.trained(fmt.Sprintf("minimnist-ws-sleep-%d", n), "WS")
		if err != nil {
			return err
		}
		ws[i] = runs
	}
	end := func(name string) float64 { return curve(of[name]).last() }
	plain, thrice, scaled := end("1-by-1"), end("3-by-1"), end("1-by-3")
	gainWS := ws[1].last() - ws[0].last()
	verdict := reproduce.Fails
	if thrice > plain && thrice-plain < gainWS {
		verdict = reproduce.Holds
	}
	w.Judge("NRWS gains from more sleep, less than WS.", verdict, "NRWS %+.3f nats, WS %+.3f", thrice-plain, gainWS)

	cost := curve(of["1-by-3"]).seconds() / curve(of["1-by-1"]).seconds()
	verdict = reproduce.Fails
	if scaled > plain && math.Abs(scaled-thrice) < (thrice-plain)/2 && math.Abs(cost-1) < 0.05 {
		verdict = reproduce.Holds
	}
	w.JudgeFull("A factor of 3 gains at no cost, about as much as three steps.", verdict,
		"a factor of 3 %+.3f nats, 3 steps %+.3f; seconds of an epoch × %.2f", scaled-plain, thrice-plain, cost)
	return w.curves("NRWS on miniMNIST with more and with longer sleep", groups(all...))
}
