package hm

import (
	"fmt"
	"strings"

	"github.com/helmholtz-go/helmholtz/runs"
)

// String is a line for each estimate with its standard error, and one of what it took.
func (e Evaluation) String() string {
	if e.Data == 0 {
		return "nothing was evaluated\n"
	}
	var b strings.Builder
	row := func(name string, value float64, se runs.Float, unit string) {
		b.WriteString(runs.Spread{Mean: value, SD: float64(se)}.Line(name, unit))
	}
	row("log p", e.LogP, e.LogPSE, "nats")
	if e.BaselineLogP != nil {
		row("baseline (factorised)", *e.BaselineLogP, *e.BaselineLogPSE, "nats")
	}
	row("lower bound of log p", e.Bound, e.BoundSE, "nats")
	row("log p̃*", e.LogPTildeStar, e.LogPTildeStarSE, "nats")
	if e.LogZ2 != nil {
		row("log Z²", *e.LogZ2, *e.LogZ2SE, "nats")
		row("log p* (no bound)", *e.LogPStar, *e.LogPStarSE, "nats")
	}
	row("ESS of q for p", 100*e.ESS, 100*e.ESSSE, "%")
	row("ESS of q for p*", 100*e.ESSStar, 100*e.ESSStarSE, "%")
	if e.Classification != nil {
		row("error of labels", 100*e.Classification.Error, 100*e.Classification.ErrorSE, "% by p*(y|x)")
		row("log p*(y|x)", e.Classification.LogP, e.Classification.LogPSE, "nats")
	}
	if e.KLExact != nil {
		fmt.Fprintf(&b, "%-22s %10.4f nats, exact\n", "KL(p_D‖p)", *e.KLExact)
	}
	if e.Diverged != nil && *e.Diverged {
		b.WriteString("log p is far worse than the baseline: training has diverged, or hardly begun\n")
	}
	fmt.Fprintf(&b, "%d samples a datum, %d data, %.1f s\n", e.Samples, e.Data, e.Seconds)
	return b.String()
}
