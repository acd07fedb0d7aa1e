package thesis

import (
	"fmt"

	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/notebooks/reproduce"
)

// twoHours is a training that two cores do within two hours.
var twoHours = plan{
	name: "two-hours", data: binarizedMNIST, machine: dense(twelveLayers...),
	method: hm.NRWS().LearningRate(0.03).Damping(0.2).Schedule(hm.CosineDecay), laptop: 20, full: 500, seeds: 1, best: true,
}

func twoHoursPlan(reproduce.Scale) []plan { return []plan{twoHours} }

const mostSeconds = 7200

func makeTwoHours(w *work) error {
	of, err := w.trained(twoHours.nameAt(w.Scale), "NRWS")
	if err != nil {
		return err
	}
	chosen, err := atBest(of[0])
	if err != nil {
		return err
	}
	e, err := w.evaluate(curve{chosen})
	if err != nil {
		return err
	}
	sessions, err := chosen.run.Provenance()
	if err != nil {
		return err
	}
	v := value(e, logP)
	seconds := of.seconds()
	v.By += fmt.Sprintf("; epoch %d of %d, %.0f s of training", chosen.run.BestEpoch(), of.epochs(), seconds)
	if seconds > mostSeconds {
		v.Elsewhere = fmt.Sprintf("longer than %d s", mostSeconds)
	}
	for _, s := range sessions {
		v.By += fmt.Sprintf(", on %d threads of %s", s.Threads, s.Processor)
		switch {
		case s.Backend != "" && s.Backend != "cpu":
			v.Elsewhere = "on " + s.Device
		case s.Threads > 2:
			v.Elsewhere = fmt.Sprintf("on %d threads", s.Threads)
		}
	}
	if len(sessions) == 0 {
		v.Elsewhere = "on a machine that is not known"
	}
	for _, number := range []string{"gate", "goal"} {
		w.Found(number, "at least", v)
	}
	if w.Scale == reproduce.Full && v.Elsewhere == "" {
		w.Beyond("In %.0f s of training on two cores NRWS with a cosine schedule reaches log p %.2f ± %.2f of the test rows of binarised MNIST", seconds, e[0].LogP, float64(e[0].LogPSE))
	}
	return nil
}
