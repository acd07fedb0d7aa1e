package energies

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/helmholtz-go/helmholtz/runs"
)

const (
	leapfrogs   = 20  // steps of a trajectory
	acceptances = 0.9 // target share of accepted trajectories
	// Training ends if the mean acceptance is below leastAcceptance for mostRejections gradients in a row.
	leastAcceptance = 0.5
	mostRejections  = 100
)

// hamiltonian samples by Hamiltonian Monte Carlo (Duane, Kennedy, Pendleton and Roweth 1987). Training adapts the step
// size, and saves it with the parameters; evaluation does not change it.
type hamiltonian struct {
	step     []float64 // of length 1: the step size
	rejected []float64 // of length 1: the number of gradients in a row with too few acceptances
}

func newHamiltonian() hamiltonian { return hamiltonian{[]float64{0.1}, []float64{0}} }

func (h hamiltonian) parameters() []parameter {
	return []parameter{newParameter("step_size", 0, h.step), newParameter("rejected", 0, h.rejected)}
}

// decide moves x to the end of a trajectory or leaves it where it is, and returns the probability of the move. before
// and after are the energies at the start and at the end of the trajectory.
func decide(before, after float64, x, end []float64, r *rand.Rand) float64 {
	accepted := math.Exp(before - after)
	if accepted > r.Float64() {
		copy(x, end)
	}
	if math.IsNaN(accepted) {
		return 0
	}
	return math.Min(1, accepted)
}

func (h hamiltonian) adapt(accepted float64) error {
	if accepted < leastAcceptance {
		h.rejected[0]++
	} else {
		h.rejected[0] = 0
	}
	if h.rejected[0] >= mostRejections {
		return runs.Diverging(fmt.Errorf("the chains of Hamiltonian Monte Carlo have accepted less than half of their steps for %d gradients in a row, %.0f %% of the last, at the step size %.2g: lower the learning rate", mostRejections, 100*accepted, h.step[0]))
	}
	if accepted > acceptances {
		h.step[0] *= 1.02
	} else {
		h.step[0] *= 0.98
	}
	return nil
}
