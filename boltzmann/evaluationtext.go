package boltzmann

import (
	"fmt"
	"math"
	"strings"

	"github.com/helmholtz-go/helmholtz/runs"
)

// String is a line for each estimate with its standard error and the side to which it errs, and one
// of what was evaluated.
func (e Evaluation) String() string {
	if e.Data == 0 {
		return "nothing was evaluated\n"
	}
	var b strings.Builder
	nats := func(name string, value, se runs.Float, remark string) {
		b.WriteString(runs.Spread{Mean: float64(value), SD: float64(se)}.Line(name, "nats"+remark))
	}
	hidden := "mean field"
	if e.Samples > 0 {
		hidden = fmt.Sprintf("%d importance samples a row", e.Samples)
	}
	nats("log p", e.LogP, e.LogPSE, map[Errs]string{
		Exact:      ", exact",
		ErrsHigh:   " by AIS, too high in expectation; ± is of the rows alone",
		ErrsLow:    " by " + hidden + ", too low",
		ErrsEither: " by " + hidden + ", too low, and AIS, too high in expectation: an estimate; ± is of the rows alone",
	}[e.LogPErrs])
	nats("baseline (factorised)", e.BaselineLogP, e.BaselineLogPSE, "")
	if e.Errs == Exact {
		fmt.Fprintf(&b, "%-22s %10.3f nats, exact\n", "log Z", e.LogZ.Value)
	} else {
		nats("log Z", e.LogZ.Value, e.LogZ.SE, fmt.Sprintf(" by AIS, too low in expectation; %.3f to %.3f at 3 standard errors", e.Low, e.High))
		b.WriteString(runs.Spread{Mean: 100 * float64(e.ESS), SD: math.NaN()}.Line("ESS of the chains", "%"))
	}
	if c := e.Classification; c != nil {
		b.WriteString(runs.Spread{Mean: 100 * float64(c.Error), SD: 100 * float64(c.ErrorSE)}.Line("error of labels", "%"))
		nats("log p(y|v)", c.LogP, c.LogPSE, ", exact")
	}
	nats("free energy", e.FreeEnergy, e.FreeEnergySE, "")
	nats("free energy, training", e.TrainingFreeEnergy, e.TrainingFreeEnergySE, "")
	if r := e.RAISE; r != nil {
		nats("log p by RAISE", r.LogP, r.LogPSE, fmt.Sprintf(" of %d rows, %d chains each, too low for the annealing model in expectation", r.Data, r.Chains))
		nats("log p less RAISE", r.Excess, r.ExcessSE, ", of the same rows")
	}
	switch {
	case e.Diverged && e.Classification != nil:
		b.WriteString("log p(y|v) is far worse than a guess: training has diverged, or hardly begun\n")
	case e.Diverged:
		b.WriteString("log p is far worse than the baseline: training has diverged, or hardly begun\n")
	}
	fmt.Fprintf(&b, "%d %s rows, binarization %v, draws of seed %d", e.Data, e.Split, e.Binarization, e.DrawSeed)
	if e.Errs != Exact {
		fmt.Fprintf(&b, "; %d chains, schedule %v of %d steps", e.Chains, e.Schedule, e.Steps)
	}
	fmt.Fprintf(&b, ", %.1f s\n", e.Seconds)
	return b.String()
}
