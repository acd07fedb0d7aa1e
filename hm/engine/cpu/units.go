package cpu

import (
	"math"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/philox"
)

// units are the units of a layer in one network: their distribution given their outputs.
type units interface {
	// do does kernels.Draws, Scores and Residuals, and returns the log-probability of the states if it scores
	// them. Scoring may change the outputs.
	do(todo int, states, outputs []float32, key philox.Key, c philox.Counter) float64
	// means writes the means of units with these outputs.
	means(means, outputs []float32)
	// information writes the Fisher information of outputs, times a weight.
	information(dst, outputs, residuals []float32, weight float64)
}

func newUnits(a engine.Architecture, i int, c engine.Connection) units {
	switch kind := a.Kind(i); kind {
	case engine.Gaussian:
		return gaussian{c.Outputs / kind.Outputs()}
	case engine.Categorical:
		if i < len(a.Groups) && a.Groups[i] != nil {
			return newGroups(a.Groups[i])
		}
		return categorical{}
	}
	return bernoulli{a.Off(i)}
}

type bernoulli struct{ off float32 }

func (u bernoulli) do(todo int, states, outputs []float32, key philox.Key, c philox.Counter) float64 {
	return kernels.Units(todo, states, outputs, u.off, key, c)
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

type gaussian struct {
	together int // units per position; the outputs of a position are contiguous
}

func (u gaussian) do(todo int, states, outputs []float32, key philox.Key, c philox.Counter) float64 {
	if todo&kernels.Draws != 0 {
		kernels.DrawGaussian(states, outputs, u.together, engine.SigmaFloor, key, c)
	}
	if todo&kernels.Scores == 0 {
		return 0
	}
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

// categorical is one variable, a label. It computes in double precision. Its information is only the diagonal, with each
// unit as a Bernoulli unit.
type categorical struct{ bernoulli }

func (categorical) do(todo int, states, outputs []float32, key philox.Key, c philox.Counter) float64 {
	if todo&kernels.Draws != 0 {
		kernels.DrawCategorical(states, outputs, key, c)
	}
	if todo&kernels.Scores == 0 {
		return 0
	}
	return kernels.ResidualCategorical(outputs, states)
}

func (categorical) means(means, outputs []float32) {
	total := kernels.LogSumExp(outputs)
	for j, a := range outputs {
		means[j] = float32(math.Exp(float64(a) - total))
	}
}
