package thesis

import (
	"fmt"
	"slices"

	"github.com/helmholtz-go/helmholtz/hm"
)

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

func estimatorsRow() row {
	var gain, ahead, behind []pair
	for _, e := range estimatorsOnMNIST {
		gain = append(gain, pair{e.name + ", natural over plain", e.name + natural, e.name})
		if e.name != "RWS" {
			ahead = append(ahead, over(e.name, "RWS"))
			behind = append(behind, over(e.name+natural, "RWS"+natural))
		}
	}
	notAhead := append(each(behind, func(p pair) ask { return notAbove(p.a, p.b) }), askInnerRates)
	return row{
		cells: withEstimators(), table: true, few: true, timed: true,
		claims: []claim{
			judged("Natural gradients help every estimator.", above(gain...)),
			judged("By Adam every later estimator is ahead of RWS.", above(ahead[:4]...)),
			judged("With natural gradients none is ahead of NRWS.", notAhead...),
		},
		figures: []figure{
			{"binarised MNIST, 200–200–200, estimators of the gradient, Adam", each(estimatorsOnMNIST, func(e estimator) string { return e.name })},
			{"binarised MNIST, 200–200–200, estimators of the gradient, natural gradients", each(estimatorsOnMNIST, func(e estimator) string { return e.name + natural })},
		},
	}
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
