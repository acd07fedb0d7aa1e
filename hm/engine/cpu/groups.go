package cpu

import (
	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/philox"
)

// newGroups returns the distribution of a layer with these groups: categorical variables, Gaussian
// units or both.
func newGroups(all []engine.Group) distribution {
	var u mixed
	for _, of := range all {
		last := len(u) - 1
		variable := kernels.Variable{Units: of.Units, Rest: of.Rest}
		if of.Real {
			u = append(u, run{gaussian{of.Units}, of.Units, of.Outputs(), of.Units})
			continue
		}
		if last < 0 || u[last].units != u[last].outputs { // after a Gaussian run
			u, last = append(u, run{distribution: groups(nil)}), last+1
		}
		to := &u[last]
		to.distribution = append(to.distribution.(groups), variable)
		to.units, to.outputs, to.draws = to.units+of.Units, to.outputs+of.Outputs(), to.draws+1
	}
	if len(u) == 1 {
		return u[0].distribution
	}
	return u
}

// groups are consecutive categorical variables.
type groups []kernels.Variable

func (u groups) draw(states, outputs []float32, key philox.Key, c philox.Counter) {
	kernels.DrawCategories(states, outputs, u, key, c)
}

func (u groups) residual(outputs, states []float32) float64 {
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
	distribution
	units, outputs, draws int
}

// each calls f for each run with the indices of its first unit and its first output.
func (u mixed) each(f func(of run, unit, output int)) {
	unit, output := 0, 0
	for _, of := range u {
		f(of, unit, output)
		unit, output = unit+of.units, output+of.outputs
	}
}

// draw uses different blocks of the counter for each run. A block has four random words.
func (u mixed) draw(states, outputs []float32, key philox.Key, c philox.Counter) {
	u.each(func(of run, unit, output int) {
		of.draw(states[unit:unit+of.units], outputs[output:output+of.outputs], key, c)
		c.Unit += uint16((of.draws + 3) / 4)
	})
}

func (u mixed) residual(outputs, states []float32) (logP float64) {
	u.each(func(of run, unit, output int) {
		logP += of.residual(outputs[output:output+of.outputs], states[unit:unit+of.units])
	})
	return logP
}

func (u mixed) means(means, outputs []float32) {
	u.each(func(of run, unit, output int) {
		of.means(means[unit:unit+of.units], outputs[output:output+of.outputs])
	})
}

func (u mixed) information(dst, outputs, residuals []float32, weight float64) {
	u.each(func(of run, _, output int) {
		end := output + of.outputs
		of.information(dst[output:end], outputs[output:end], residuals[output:end], weight)
	})
}

// probabilities writes the probabilities π of categorical units, given the residuals on − π.
func probabilities(dst, residuals []float32) {
	for j, δ := range residuals {
		if dst[j] = -δ; δ > 0 { // on
			dst[j] = 1 - δ
		}
	}
}
