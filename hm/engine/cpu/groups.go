package cpu

import (
	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/philox"
)

// newGroups returns the distribution of a layer with these groups: categorical variables, Gaussian
// units or both.
func newGroups(all []engine.Group) units {
	var u mixed
	for _, of := range all {
		last := len(u) - 1
		variable := kernels.Variable{Units: of.Units, Rest: of.Rest}
		if of.Real {
			u = append(u, run{gaussian{of.Units}, of.Units, of.Outputs(), of.Units})
			continue
		}
		if last < 0 || u[last].units != u[last].outputs { // after a Gaussian run
			u, last = append(u, run{of: groups(nil)}), last+1
		}
		to := &u[last]
		to.of = append(to.of.(groups), variable)
		to.units, to.outputs, to.draws = to.units+of.Units, to.outputs+of.Outputs(), to.draws+1
	}
	if len(u) == 1 {
		return u[0].of
	}
	return u
}

// groups are consecutive categorical variables.
type groups []kernels.Variable

func (u groups) do(todo int, states, outputs []float32, key philox.Key, c philox.Counter) float64 {
	if todo&kernels.Draws != 0 {
		kernels.DrawCategories(states, outputs, u, key, c)
	}
	if todo&kernels.Scores == 0 {
		return 0
	}
	return kernels.ResidualCategories(outputs, states, u)
}

func (u groups) means(means, outputs []float32) {
	copy(means, outputs)
	kernels.MeanCategories(means[:len(outputs)], u)
}

// information writes the diagonal of the Fisher information, π(1−π) for a unit with probability π.
func (u groups) information(dst, outputs, residuals []float32, weight float64) {
	bernoulli{}.information(dst, outputs, residuals, weight)
}

// mixed holds the units of a layer of several kinds, run by run.
type mixed []run

// run describes consecutive units of one kind: their distribution, the number of units, the number
// of their outputs, and the number of random words that a draw of them uses.
type run struct {
	of                    units
	units, outputs, draws int
}

// do uses different blocks of the counter for each run. A block has four random words.
func (u mixed) do(todo int, states, outputs []float32, key philox.Key, c philox.Counter) (logP float64) {
	for _, run := range u {
		logP += run.of.do(todo, states[:run.units], outputs[:run.outputs], key, c)
		c.Unit += uint16((run.draws + 3) / 4)
		states, outputs = states[run.units:], outputs[run.outputs:]
	}
	return logP
}

func (u mixed) means(means, outputs []float32) {
	for _, run := range u {
		run.of.means(means[:run.units], outputs[:run.outputs])
		means, outputs = means[run.units:], outputs[run.outputs:]
	}
}

func (u mixed) information(dst, outputs, residuals []float32, weight float64) {
	for _, run := range u {
		n := run.outputs
		run.of.information(dst[:n], outputs[:n], residuals[:n], weight)
		dst, outputs, residuals = dst[n:], outputs[n:], residuals[n:]
	}
}

// probabilities writes the probabilities π of categorical units, given the residuals on − π.
func probabilities(dst, residuals []float32) {
	for j, δ := range residuals {
		if dst[j] = -δ; δ > 0 { // on
			dst[j] = 1 - δ
		}
	}
}
