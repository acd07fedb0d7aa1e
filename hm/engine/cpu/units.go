package cpu

import (
	"math"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/philox"
)

// units are the units of a layer in one network: their distribution given their outputs.
type units interface {
	distribution
	// score returns the log-probability of the states. It may change the outputs.
	score(outputs, states []float32) float64
	// drawResidual does draw and then residual; drawScore does draw and then score.
	drawResidual(states, outputs []float32, key philox.Key, c philox.Counter) float64
	drawScore(states, outputs []float32, key philox.Key, c philox.Counter) float64
}

// distribution is the part that each kind of units implements.
type distribution interface {
	// draw writes the states of units with these outputs.
	draw(states, outputs []float32, key philox.Key, c philox.Counter)
	// residual replaces outputs by the derivatives of the log-probability of the states, and
	// returns the log-probability.
	residual(outputs, states []float32) float64
	// means writes the means of units with these outputs.
	means(means, outputs []float32)
	// information writes the Fisher information of outputs, times a weight.
	information(dst, outputs, residuals []float32, weight float64)
}

func newUnits(a engine.Architecture, i int, c engine.Connection) units {
	switch kind := a.Kind(i); kind {
	case engine.Gaussian:
		return apart{gaussian{c.Outputs / kind.Outputs()}}
	case engine.Categorical:
		if i < len(a.Groups) && a.Groups[i] != nil {
			return apart{newGroups(a.Groups[i])}
		}
		return apart{categorical{}}
	}
	return bernoulli{a.Off(i)}
}

// bernoulli units draw and score in one operation.
type bernoulli struct{ off float32 }

func (u bernoulli) draw(states, outputs []float32, key philox.Key, c philox.Counter) {
	kernels.Draw(states, outputs, u.off, key, c)
}

func (bernoulli) residual(outputs, states []float32) float64 {
	return kernels.Residual(outputs, states)
}

func (u bernoulli) drawResidual(states, outputs []float32, key philox.Key, c philox.Counter) float64 {
	return kernels.DrawResidual(states, outputs, u.off, key, c)
}

func (bernoulli) score(outputs, states []float32) float64 { return kernels.Score(outputs, states) }

func (u bernoulli) drawScore(states, outputs []float32, key philox.Key, c philox.Counter) float64 {
	return kernels.DrawScore(states, outputs, u.off, key, c)
}

func (bernoulli) means(means, outputs []float32) {
	for j, a := range outputs {
		means[j] = kernels.Sigmoid(a)
	}
}

// information computes σ' = |δ|(1−|δ|) from the residuals δ = on − σ(a). The formula holds for
// units that are on and for units that are off.
func (bernoulli) information(dst, _, residuals []float32, weight float64) {
	w := float32(weight)
	for j, d := range residuals {
		d = float32(math.Abs(float64(d)))
		dst[j] = w * d * (1 - d)
	}
}

// apart draws units in one operation and scores them in another, which computes their residuals.
type apart struct{ distribution }

func (u apart) drawResidual(states, outputs []float32, key philox.Key, c philox.Counter) float64 {
	u.draw(states, outputs, key, c)
	return u.residual(outputs, states)
}

func (u apart) score(outputs, states []float32) float64 { return u.residual(outputs, states) }

func (u apart) drawScore(states, outputs []float32, key philox.Key, c philox.Counter) float64 {
	return u.drawResidual(states, outputs, key, c)
}

type gaussian struct {
	together int // units per position; the outputs of a position are contiguous
}

func (u gaussian) draw(states, outputs []float32, key philox.Key, c philox.Counter) {
	kernels.DrawGaussian(states, outputs, u.together, engine.SigmaFloor, key, c)
}

func (u gaussian) residual(outputs, states []float32) float64 {
	return kernels.ResidualGaussian(outputs, states, u.together, engine.SigmaFloor)
}

func (u gaussian) means(means, outputs []float32) {
	for j := 0; j < len(means); j += u.together {
		copy(means[j:j+u.together], outputs[2*j:])
	}
}

func (u gaussian) information(dst, outputs, _ []float32, weight float64) {
	copy(dst, outputs)
	kernels.InformationGaussian(dst, u.together, engine.SigmaFloor, weight)
}

// categorical is one variable, a label. It computes in double precision.
type categorical struct{}

func (categorical) draw(states, outputs []float32, key philox.Key, c philox.Counter) {
	kernels.DrawCategorical(states, outputs, key, c)
}

func (categorical) residual(outputs, states []float32) float64 {
	return kernels.ResidualCategorical(outputs, states)
}

func (categorical) means(means, outputs []float32) {
	total := kernels.LogSumExp(outputs)
	for j, a := range outputs {
		means[j] = float32(math.Exp(float64(a) - total))
	}
}

// information writes only the diagonal, treating each unit as a Bernoulli unit.
func (categorical) information(dst, outputs, residuals []float32, weight float64) {
	bernoulli{}.information(dst, outputs, residuals, weight)
}
