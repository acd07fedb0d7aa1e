package boltzmann

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/work"
)

// mostEnumerated limits sums to 2^mostEnumerated states, the number of states of 25 Bernoulli units. Summing over them
// takes minutes.
const mostEnumerated = 25

// ExactLogZ returns log Z in nats, in double precision. It sums over all states of one side, at most 2²⁵. This is the
// side with fewer states, but never a Gaussian side, and never a visible side with a label. For Gaussian units on both
// sides, it computes an integral.
func (m *Model) ExactLogZ(ctx context.Context) (float64, error) {
	if err := m.checkEnumerable(); err != nil {
		return 0, err
	}
	return m.parameters.logZ(ctx)
}

func (m *Model) checkEnumerable() error {
	if err := m.checkDistribution(); err != nil {
		return err
	}
	p := m.parameters
	if p.summed() > mostEnumerated {
		return fmt.Errorf("log Z of %d %v visible units and %d %v hidden ones: too many to sum over the states of either side; use at most %d of one, or estimate log Z",
			p.Visible(), p.Spec.Visible, p.Hidden(), p.Spec.HiddenUnits, mostEnumerated)
	}
	return nil
}

// ExactLogP returns log p of each row, in nats, with log Z from ExactLogZ. In a deep machine it also sums over the
// hidden units for each row. In a belief network it sums over the hidden units below the top machine, at most 2²⁰
// states. For Gaussian units it returns the log-density of grey values between 0 and 1. A label is summed out: add
// log p(y|v) from LogLabelProbabilities to get log p(v,y). If values are missing, it returns log p of the observed units.
func (m *Model) ExactLogP(ctx context.Context, rows dataset.Split) ([]float64, error) {
	if err := m.checkEnumerable(); err != nil {
		return nil, err
	}
	if m.below != nil {
		return m.exactBeliefLogP(ctx, rows)
	}
	states, err := m.states(ctx, ignoring(rows))
	if err != nil {
		return nil, err
	}
	return m.exactLogP(ctx, rows, states)
}

func (m *Model) exactLogP(ctx context.Context, rows dataset.Split, states kernels.Matrix) ([]float64, error) {
	logZ, err := m.parameters.logZ(ctx)
	if err != nil {
		return nil, err
	}
	var logP []float64
	if rows.Lacking() > 0 {
		logP, err = m.observedFreeEnergies(ctx, rows)
	} else {
		logP, err = m.parameters.exactFreeEnergies(ctx, states)
	}
	settle(logP, rows, logZ)
	for i := range logP {
		logP[i] = -logP[i] - logZ - m.encoding.logScale()
	}
	return logP, err
}

// statesAPart is the largest number of states that are summed together.
const statesAPart = 1 << 10

// logZ returns the logarithm of the sum of e^(−F) over all states of the smaller side, or of the integral for Gaussian
// units on both sides.
func (p *Parameters) logZ(ctx context.Context) (float64, error) {
	if p.Spec.allGaussian() {
		return p.gaussianLogZ()
	}
	parts, err := p.smallerSide().logParts(ctx)
	return floats.LogSumExp(parts), err
}

// side describes a machine for enumeration. It enumerates the states of the units on one side, the few, and sums
// out the units on the other side, the many.
type side struct {
	few, many  []float64                      // the biases of the few and of the many
	weights    kernels.Matrix                 // one row for each of the few
	partition  func(inputs []float64) float64 // log Z of the many, given their inputs
	categories int                            // number of categories of each variable of the few; 0 for Bernoulli units
	low        int                            // the states of a part differ only in the first low variables
}

func (p *Parameters) smallerSide() side {
	var few, many units = p.visibleUnits(), p.hiddenUnits()
	s := side{few: kernels.Doubles(p.VisibleBiases), many: kernels.Doubles(p.HiddenBiases), weights: p.Weights}
	if p.given != nil {
		s.many = p.given
	}
	if p.hiddenFew() {
		few, many = many, few
		s.few, s.many, s.weights = s.many, s.few, kernels.Transposed(p.Weights)
	}
	s.partition, s.categories = many.partition, few.(discrete).categories()
	for s.low < s.variables() && s.power(s.low+1) <= statesAPart {
		s.low++
	}
	return s
}

// variables returns the number of variables of the few. Each takes radix values.
func (s side) variables() int { return len(s.few) / max(1, s.categories) }

func (s side) radix() int { return max(2, s.categories) }

// power returns the number of states of n variables.
func (s side) power(n int) int {
	states := 1
	for range n {
		states *= s.radix()
	}
	return states
}

// logParts returns log Σ e^(−F(s)) over the states of each part.
func (s side) logParts(ctx context.Context) ([]float64, error) {
	parts := make([]float64, s.power(s.variables()-s.low))
	work.Parallel(len(parts), func(part int) {
		if ctx.Err() == nil {
			parts[part] = floats.LogSumExp(s.logTerms(part))
		}
	})
	return parts, ctx.Err()
}

// logTerms returns −F(s) of the states of a part: term k belongs to state(part, k). The order is a reflected
// Gray code, in which neighbours differ in one variable.
func (s side) logTerms(part int) []float64 {
	inputs, linear := slices.Clone(s.many), 0.0
	flip := func(unit int, factor float64) {
		linear += factor * s.few[unit]
		accumulate(inputs, factor, kernels.Row(s.weights, unit))
	}
	for unit, on := range s.state(part, 0) {
		if on == 1 {
			flip(unit, 1)
		}
	}
	terms := make([]float64, s.power(s.low))
	terms[0] = linear + s.partition(inputs)
	for k := 1; k < len(terms); k++ {
		variable := 0
		for step := k; step%s.radix() == 0; step /= s.radix() {
			variable++
		}
		if from := s.unit(variable, s.digit(variable, k-1)); from >= 0 {
			flip(from, -1)
		}
		if to := s.unit(variable, s.digit(variable, k)); to >= 0 {
			flip(to, 1)
		}
		terms[k] = linear + s.partition(inputs)
	}
	return terms
}

// digit returns the value of a variable in the k-th state of a part. As k grows, the value alternately rises and falls;
// it changes direction whenever the next variable changes.
func (s side) digit(variable, k int) int {
	n := s.radix()
	k /= s.power(variable)
	if k/n%2 == 1 {
		return n - 1 - k%n
	}
	return k % n
}

// unit returns the unit that is on if a variable has a value, or −1 if no unit is.
func (s side) unit(variable, value int) int {
	switch {
	case s.categories > 0:
		return variable*s.categories + value
	case value == 1:
		return variable
	}
	return -1
}

// state returns the states of the few in the k-th state of a part.
func (s side) state(part, k int) []float32 {
	units := make([]float32, len(s.few))
	for variable := range s.variables() {
		value := 0
		if variable < s.low {
			value = s.digit(variable, k)
		} else {
			value = part % s.radix()
			part /= s.radix()
		}
		if unit := s.unit(variable, value); unit >= 0 {
			units[unit] = 1
		}
	}
	return units
}

// terms returns the cost of logZ, in factors multiplied.
func (p *Parameters) terms() float64 {
	switch {
	case p.Spec.allGaussian():
		return float64(p.Visible()) * float64(p.Hidden()) * float64(p.Hidden())
	case p.hiddenFew():
		return float64(p.Visible()) * math.Exp2(p.summed())
	}
	return float64(p.Hidden()) * math.Exp2(p.summed())
}

// summed returns the binary logarithm of the number of states that logZ sums over, the states of the smaller side.
// It is 0 if both sides are Gaussian, since logZ then computes an integral.
func (p *Parameters) summed() float64 {
	if p.Spec.allGaussian() {
		return 0
	}
	visible, hidden := p.choices()
	return min(visible, hidden)
}

// hiddenFew reports whether logZ sums over the states of the hidden units, rather than the visible ones.
func (p *Parameters) hiddenFew() bool {
	visible, hidden := p.choices()
	return hidden <= visible
}

// choices returns the binary logarithms of the numbers of visible and of hidden states. They are infinite for
// Gaussian units, and for visible units with a label.
func (p *Parameters) choices() (visible, hidden float64) {
	return p.visibleUnits().choices(p.Visible()), p.hiddenUnits().choices(p.Hidden())
}
