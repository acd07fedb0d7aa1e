package oracle

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/lists"
)

// These are the rules of the thesis. The printed q-wake phase (2.30) has no baseline. The baseline
// does not change the mean, and reduces the variance if the weights are nearly equal.
var (
	WakeSleep           = engine.Algorithm{Rule: engine.WakeSleep}                           // (2.22), (2.23)
	ReweightedWakeSleep = engine.Algorithm{Rule: engine.ReweightedWakeSleep, Baseline: true} // (2.32)
	Bidirectional       = engine.Algorithm{Rule: engine.Bidirectional, Baseline: true}       // (2.38)
)

// addScore adds scale·∂ log p(x,h) or scale·∂ log q(h|x) to the gradient. Without tanh layers, this
// is scale·(on − σ(a))·[1; parents] for each Bernoulli unit.
func (n *Networks) addScore(gradient []float64, network []Unit, v Values, scale float64) {
	for _, u := range network {
		state := v[u.Layer][u.Index]
		add := func(start int, residual float64) {
			n.addGradient(gradient, u, start, u.parentsOf(v), scale*residual)
		}
		if u.Kind != engine.Gaussian {
			on := 0.0
			if state > 0 {
				on = 1
			}
			add(u.Start, on-n.On(u, v))
			continue
		}
		mu, sigma, a := n.Outputs(u, v)
		add(u.Start, (state-mu)/(sigma*sigma))
		add(u.Deviation, ((state-mu)*(state-mu)/(sigma*sigma)-1)*math.Exp(a)/sigma)
	}
}

// Score returns E[∂ log p(x,h)] in the generative part and E[∂ log q(h|x)] in the recognition part,
// under a measure. Under exact measures it is the gradient of an objective:
//
//	Wake(data, Ratio), θ       mean log p(x)                        (2.26)
//	Wake(data, Ratio), φ       −mean KL(p(h|x)‖q(h|x)), the q-wake phase
//	Wake(data, SquareRoot)     mean log p̃*(x), both networks        (2.35)
//	Wake(data, Uniform), θ     mean Bound(x), the wake phase        (2.22)
//	Model(), φ                 E_p[log q(h|x)], the sleep phase     (2.31)
//
// A score has mean zero under its own distribution, so the θ part under Model and the φ part under
// Wake(data, Uniform) vanish.
func (n *Networks) Score(m Distribution) []float64 {
	score := make([]float64, len(n.Flat))
	for v, weight := range m {
		n.addScore(score, n.Generative, v, weight)
		n.addScore(score, n.Recognition, v, weight)
	}
	return score
}

// GradientOn returns the direction in which a training step that has drawn these samples moves both
// networks, in the Euclidean metric and without regularisers.
func (n *Networks) GradientOn(samples Draws, r engine.Algorithm) []float64 {
	if r.Sleep != 0 && len(samples.Dreams) == 0 {
		panic("oracle: the rule has a sleep phase, but there are no dreams")
	}
	gradient := make([]float64, len(n.Flat))
	for _, datum := range samples.Wake {
		logP, logQ := n.logs(datum)
		floats.AddScaled(gradient, 1/float64(len(samples.Wake)), n.wakeGradient(r, n.scores(datum), logP, logQ))
	}
	for v, weight := range Equal(samples.Dreams) {
		n.addScore(gradient, n.Recognition, v, r.Sleep*weight)
	}
	return gradient
}

// scores returns the score of each state.
func (n *Networks) scores(states []Values) [][]float64 {
	return lists.Map(states, n.ScoreOf)
}

// wakeGradient returns the gradient of the wake and the q-wake phase on samples h ~ q(h|x) of one
// datum, given their scores and their log p(x,h) and log q(h|x).
func (n *Networks) wakeGradient(r engine.Algorithm, scores [][]float64, logP, logQ []float64) []float64 {
	gradient, size := make([]float64, len(n.Flat)), n.Architecture.GenerativeSize()
	p, q := weights(r, logP, logQ)
	for s, score := range scores {
		floats.AddScaled(gradient[:size], p[s], score[:size])
		floats.AddScaled(gradient[size:], q[s], score[size:])
	}
	if r.Reinforce {
		signal := floats.SubTo(make([]float64, len(logP)), logP, logQ)
		floats.ScaleTo(gradient[size:], r.QWake, reinforced(r.ReinforceBaseline, signal, scores)[size:])
	}
	return gradient
}

// weights returns the weights of the scores of p in the wake phase, and of q in the q-wake phase.
func weights(r engine.Algorithm, logP, logQ []float64) (p, q []float64) {
	if r.Estimator != nil {
		p, q = make([]float64, len(logP)), make([]float64, len(logP))
		r.Estimator.Weigh(logP, logQ, p, q)
	} else {
		p = Weighting(r.Exponent).weights(logP, logQ)
		q = slices.Clone(p)
		if r.Baseline {
			floats.AddConst(-1/float64(len(q)), q)
		}
	}
	floats.Scale(r.QWake, q)
	return p, q
}

// Limit returns the limit of GradientOn on this data as the numbers of samples and dreams grow. The
// baseline does not change it. Estimators have other limits, which Limit does not compute.
func (n *Networks) Limit(data [][]float64, r engine.Algorithm) []float64 {
	gradient, size := n.Score(n.Wake(data, Weighting(r.Exponent))), n.Architecture.GenerativeSize()
	if r.Reinforce {
		copy(gradient[size:], n.BoundScore(data)[size:])
	}
	floats.Scale(r.QWake, gradient[size:])
	floats.AddScaled(gradient[size:], r.Sleep, n.Score(n.Model())[size:])
	return gradient
}
