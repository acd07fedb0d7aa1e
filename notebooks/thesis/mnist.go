package thesis

import (
	"fmt"

	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/notebooks/reproduce"
)

// mnistMethods are the trainings of 004, table 5.1 and fig. 5.6.
func mnistMethods(reproduce.Scale) []plan {
	var plans []plan
	for _, m := range []struct {
		name   string
		method hm.Method
	}{
		{"nrws", hm.NRWS().LearningRate(0.002).Damping(0.2)},
		{"rws", hm.RWS().LearningRate(0.002)},
		{"ws", hm.WS().LearningRate(0.002)},
		{"dnrws", hm.DNRWS().LearningRate(0.002).Damping(0.2)},
	} {
		plans = append(plans, plan{
			name: "mnist-" + m.name, data: binarizedMNIST, machine: dense(twelveLayers...),
			method: m.method, laptop: 50, full: 2000, seeds: 1,
		})
	}
	return plans
}

// mnistRates are the learning rates among which that of a method is chosen.
var mnistRates = map[string][]float64{"nrws": {0.002, 0.005, 0.01, 0.02}, "rws": {0.005, 0.01, 0.02, 0.04}}

// mnistTuned are the trainings of 004, fig. 5.6, with those that tune η of RWS and of
// NRWS.
func mnistTuned(s reproduce.Scale) []plan {
	plans := mnistMethods(s)
	for i, method := range []string{"nrws", "rws"} {
		for _, η := range mnistRates[method] {
			plans = append(plans, plan{
				name: rated(method, η), data: binarizedMNIST, machine: dense(twelveLayers...),
				method: []hm.Method{hm.NRWS().Damping(0.2), hm.RWS()}[i].LearningRate(η), laptop: 5, full: 50, seeds: 3,
			})
		}
	}
	return plans
}

// rated names a training of a method at a learning rate.
func rated(method string, η float64) string { return fmt.Sprintf("mnist-%s-lr-%g", method, η) }

// tuned are the runs of the learning rate by which a method ends with the highest
// validation log p.
func (w *work) tuned(method, label string) ([]trained, float64, error) {
	var best []trained
	var rate float64
	for _, η := range mnistRates[method] {
		of, err := w.trained(rated(method, η), fmt.Sprintf("%s, η = %g", label, η))
		if err != nil {
			return nil, 0, err
		}
		if best == nil || curve(of).last() > curve(best).last() {
			best, rate = of, η
		}
	}
	return best, rate, nil
}

// mnistLabels are the names of the methods' trainings, and what they are called.
var mnistLabels = []struct{ name, label string }{{"mnist-nrws", "NRWS"}, {"mnist-dnrws", "DNRWS"}, {"mnist-rws", "RWS"}, {"mnist-ws", "WS"}}

func makeMNISTTable(w *work) error {
	var all [][]trained
	var methods []scored
	for _, m := range mnistLabels {
		of, err := w.trained(m.name, m.label)
		if err != nil {
			return err
		}
		evaluations, err := w.evaluate(of)
		if err != nil {
			return err
		}
		v := value(evaluations, logP)
		v.Elsewhere = w.elsewhere()
		w.Found(m.label, "log p", v)
		all, methods = append(all, of), append(methods, scored{m.label, evaluations})
	}
	seconds, err := w.secondsAnEpoch(all)
	if err != nil {
		return err
	}
	for i, name := range []string{"NRWS", "DNRWS", "", "WS"} {
		if name != "" {
			w.Found("seconds of an epoch, "+name+" over RWS", "ratio", ratio(seconds[i], seconds[2]))
		}
	}
	verdict, evidence := order(methods...)
	w.Judge("NRWS is best, before DNRWS, RWS and WS.", verdict, "%s", evidence)
	nrws, _ := logP(methods[0].of[0].Evaluation)
	verdict = reproduce.Fails
	switch {
	case nrws > -85:
		verdict = reproduce.Holds
	case w.Scale != reproduce.Full:
		verdict = reproduce.Open
	}
	w.Judge("NRWS with a fixed rate beats published RWS (−86.0) and BiHM (−85.0; 001 has −84.5).", verdict,
		"log p of NRWS is %.2f after %d epochs, %+.2f from −84.5", nrws, w.epochsOf("mnist-nrws"), nrws+84.5)
	return nil
}

func makeMNISTCurves(w *work) error {
	var all [][]trained
	for _, m := range mnistLabels {
		of, err := w.trained(m.name, m.label)
		if err != nil {
			return err
		}
		all = append(all, of)
	}
	if err := w.timed(all...); err != nil {
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
