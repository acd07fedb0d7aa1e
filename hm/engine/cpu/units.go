package cpu

import (
	"math"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/philox"
)

// units are those of a layer as one network draws them: what their outputs say
// of their distribution.
type units struct {
	kind     engine.Kind
	off      float32 // of Bernoulli units
	together int     // units of a position, whose outputs lie together
}

func newUnits(a engine.Architecture, i int, c engine.Connection) units {
	kind := a.Kind(i)
	return units{kind, a.Coding.Off(), c.Outputs / kind.Outputs()}
}

// draw writes the states of units with these outputs.
func (u units) draw(states, outputs []float32, key philox.Key, c philox.Counter) {
	if u.kind == engine.Gaussian {
		kernels.DrawGaussian(states, outputs, u.together, engine.SigmaFloor, key, c)
		return
	}
	if u.kind == engine.Categorical {
		kernels.DrawCategorical(states, outputs, key, c)
		return
	}
	kernels.Draw(states, outputs, u.off, key, c)
}

// residual replaces outputs by the derivatives of the log-probability of the
// states, which it returns.
func (u units) residual(outputs, states []float32) float64 {
	if u.kind == engine.Gaussian {
		return kernels.ResidualGaussian(outputs, states, u.together, engine.SigmaFloor)
	}
	if u.kind == engine.Categorical {
		return kernels.ResidualCategorical(outputs, states)
	}
	return kernels.Residual(outputs, states)
}

// drawResidual is draw and then residual.
func (u units) drawResidual(states, outputs []float32, key philox.Key, c philox.Counter) float64 {
	if u.kind != engine.Bernoulli {
		u.draw(states, outputs, key, c)
		return u.residual(outputs, states)
	}
	return kernels.DrawResidual(states, outputs, u.off, key, c)
}

// score returns the log-probability of the states. It may change the outputs.
func (u units) score(outputs, states []float32) float64 {
	if u.kind != engine.Bernoulli {
		return u.residual(outputs, states)
	}
	return kernels.Score(outputs, states)
}

// drawScore is draw and then score.
func (u units) drawScore(states, outputs []float32, key philox.Key, c philox.Counter) float64 {
	if u.kind != engine.Bernoulli {
		u.draw(states, outputs, key, c)
		return u.residual(outputs, states)
	}
	return kernels.DrawScore(states, outputs, u.off, key, c)
}

// means writes the means of units with these outputs.
func (u units) means(means, outputs []float32) {
	if u.kind == engine.Gaussian {
		for j := 0; j < len(means); j += u.together {
			copy(means[j:j+u.together], outputs[2*j:])
		}
		return
	}
	if u.kind == engine.Categorical {
		total := kernels.LogSumExp(outputs)
		for j, a := range outputs {
			means[j] = float32(math.Exp(float64(a) - total))
		}
		return
	}
	for j, a := range outputs {
		means[j] = kernels.Sigmoid(a)
	}
}

// information writes the Fisher information of outputs, times a weight. That of
// Bernoulli units is σ' = |δ|(1−|δ|) by their residuals δ = on − σ(a), whether the unit
// is on or off.
func (u units) information(dst, outputs, residuals []float32, weight float64) {
	if u.kind == engine.Gaussian {
		copy(dst, outputs)
		kernels.InformationGaussian(dst, u.together, engine.SigmaFloor, weight)
		return
	}
	w := float32(weight)
	for j, d := range residuals {
		d = float32(math.Abs(float64(d)))
		dst[j] = w * d * (1 - d)
	}
}
