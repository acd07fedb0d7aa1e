package thesis

import (
	"fmt"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/notebooks/reproduce"
)

// uci are the sets of 001, tables 3.1 and 3.2, that are at hand, with the layers of its
// BiHM and of RWS.
var uci = []struct {
	name, set string
	bihm, rws []int
	epochs    int // 001 trains till convergence: with patience, at most so many
}{
	{"ADULT", "uci/adult", []int{100, 70, 50, 25}, []int{100, 20, 5}, 500},
	{"CONNECT4", "uci/connect4", []int{300, 110, 50, 20}, []int{150, 50, 10}, 300},
	{"DNA", "uci/dna", []int{200, 150, 130, 100, 70, 50, 30, 20, 10}, []int{150, 10}, 500},
	{"MUSHROOM", "uci/mushrooms", []int{150, 100, 90, 60, 40, 20}, []int{150, 50, 10}, 500},
}

// uciRates are those of 001, and those that RWS is tried with.
var uciRates = []float64{0.01, 0.001}

// uciPlan is a training on a UCI set: BiHM or RWS, with layers, at a rate.
func uciPlan(set, name string, method hm.Method, layers []int, η float64, epochs int) plan {
	return plan{
		name: fmt.Sprintf("%s-%s-lr-%g", set, name, η), data: dataset.Spec{Name: set}, machine: bidirectional(layers...),
		method: method.Optimizer(hm.Adam).BatchSize(100).LearningRate(η), laptop: epochs / 20, full: epochs, seeds: 1,
	}
}

// uciPlans are the trainings of both tables.
func uciPlans(reproduce.Scale) []plan {
	var plans []plan
	for _, u := range uci {
		for _, η := range uciRates {
			plans = append(plans,
				uciPlan(u.set, "bihm", hm.BiHM().L1(1e-5), u.bihm, η, u.epochs),
				uciPlan(u.set, "rws", hm.RWS(), u.rws, η, u.epochs),
				uciPlan(u.set, "bihm-with-layers-of-rws", hm.BiHM().L1(1e-5), u.rws, η, u.epochs))
		}
	}
	return plans
}

// uciBest is the run of the rate by which a method reaches the highest validation
// log p, at the epoch of it: these sets are small, and longer training overfits.
func (w *work) uciBest(set, name string) ([]trained, error) {
	var best []trained
	for _, η := range uciRates {
		of, err := w.trained(fmt.Sprintf("%s-%s-lr-%g", set, name, η), name)
		if err != nil {
			return nil, err
		}
		if best == nil || curve(of).best() > curve(best).best() {
			best = of
		}
	}
	var err error
	if best[0].snapshot, err = best[0].run.Run.Best(); err != nil {
		return nil, err
	}
	best[0].model, err = best[0].run.Best()
	return best, err
}

func makeTable31(w *work) error {
	better, evidence := 0, ""
	for _, u := range uci {
		bihm, err := w.uciBest(u.set, "bihm")
		if err != nil {
			return err
		}
		rws, err := w.uciBest(u.set, "rws")
		if err != nil {
			return err
		}
		e, err := w.normalised(bihm[0])
		if err != nil {
			return err
		}
		for _, m := range []struct {
			name string
			of   func(hm.Evaluation) (float64, hm.StandardError)
		}{{"−log p", logP}, {"−log p*", logPStar}, {"−log p̃*", logPTildeStar}} {
			w.found(u.name+", "+m.name, m.name, []evaluation{e}, negative(m.of))
		}
		w.found(u.name+", −2 log Z", "−log Z²", []evaluation{e}, negative(func(e hm.Evaluation) (float64, hm.StandardError) { return *e.LogZ2, *e.LogZ2SE }))
		other, err := w.evaluate(rws)
		if err != nil {
			return err
		}
		gain, se := difference([]evaluation{e}, other)
		if gain > -0.2 {
			better++
		}
		_, evidence = both("", evidence, "", fmt.Sprintf("%s, BiHM − RWS %+.2f ± %.2f nats", u.name, gain, se))
	}
	w.JudgeFull("Similar or better than RWS, with deeper machines.", holdsIf(better >= 3), "%s", evidence)
	return nil
}

// negative is a measure with its sign turned.
func negative(of func(hm.Evaluation) (float64, hm.StandardError)) func(hm.Evaluation) (float64, hm.StandardError) {
	return func(e hm.Evaluation) (float64, hm.StandardError) {
		value, se := of(e)
		return -value, se
	}
}

func makeTable32(w *work) error {
	deeper, evidence := 0, ""
	for _, u := range uci {
		bihm, err := w.uciBest(u.set, "bihm")
		if err != nil {
			return err
		}
		of, err := w.evaluate(bihm)
		if err != nil {
			return err
		}
		w.found(u.name, "ESS, %", of, func(e hm.Evaluation) (float64, hm.StandardError) { return 100 * e.ESSStar, 100 * e.ESSStarSE })
		shallow, err := w.uciBest(u.set, "bihm-with-layers-of-rws")
		if err != nil {
			return err
		}
		deep, err := w.validation(bihm[0])
		if err != nil {
			return err
		}
		flat, err := w.validation(shallow[0])
		if err != nil {
			return err
		}
		gain := *deep.LogPStar - *flat.LogPStar
		if gain > 0 {
			deeper++
		}
		_, evidence = both("", evidence, "", fmt.Sprintf("%s, validation log p* %+.2f nats with its layers", u.name, gain))
	}
	w.Judge("BiHM prefers deeper machines than RWS.", holdsIf(deeper >= 3), "%s", evidence)
	return nil
}

// validation evaluates the validation rows with log p*.
func (w *work) validation(of trained) (evaluation, error) {
	e, err := reproduce.KeptOf(w.Work, fmt.Sprintf("validation-samples-%d", w.testSamples()), of.snapshot, func() (evaluation, error) {
		set, err := w.dataset(of)
		if err != nil {
			return evaluation{}, err
		}
		e, err := of.model.Evaluate(w.ctx, of.model.Some(set.Validation(), w.testRows()), w.testSamples(), w.Progress)
		return evaluation{e, e.Each}, err
	})
	if err != nil {
		return e, err
	}
	z, err := w.logZ2(of, w.few(10_000_000, 1_000_000, 1000), 1, 1)
	if err != nil {
		return e, err
	}
	e.Evaluation = e.Normalise(z.LogZ2)
	return e, nil
}
