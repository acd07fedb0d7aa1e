package thesis

import (
	"math"

	"github.com/helmholtz-go/helmholtz/notebooks/reproduce"
)

// arithmeticPair is a training in fixed point beside the same training in float32.
type arithmeticPair struct {
	method       string
	fixed, float plan
}

var arithmeticPairs = []arithmeticPair{inBoth("NRWS", mnistNRWS), inBoth("RWS", mnistRWS)}

// inBoth returns the first 200 epochs of a training in either arithmetic.
func inBoth(method string, p plan) arithmeticPair {
	p.laptop, p.full, p.part = 5, 200, 0
	float := p
	float.name, float.float32 = p.name+"-float32", true
	return arithmeticPair{method, p, float}
}

func arithmeticPlans(reproduce.Scale) []plan {
	var plans []plan
	for _, p := range arithmeticPairs {
		plans = append(plans, p.fixed, p.float)
	}
	return plans
}

// makeArithmetic compares test log p of each pair.
func makeArithmetic(w *work) {
	const most = 0.2 // nats
	var all []curve
	for _, p := range arithmeticPairs {
		fixed := w.trained(p.fixed.name, p.method+", fixed point")
		float := w.trained(p.float.name, p.method+", float32")
		all = append(all, fixed, float)
		a := w.evaluate(fixed)
		b := w.evaluate(float)
		g := difference(a, b)
		w.Beside(p.method+", fixed point − float32", "difference of log p", reproduce.Value{Ours: g.nats, SE: &g.se, Seeds: 1})
		var j judgement
		switch apart := math.Abs(g.nats); {
		case apart+2*g.se < most:
			j.add(reproduce.Holds, "fixed point − float32 %v", g)
		case apart-2*g.se > most:
			j.add(reproduce.Fails, "fixed point − float32 %v", g)
		default:
			j.add(reproduce.Open, "fixed point − float32 %v", g)
		}
		w.judgeFull(p.method+" ends alike in fixed point and in float32.", j)
	}
	w.epochCurves("binarised MNIST, fixed point and float32", all...)
}
