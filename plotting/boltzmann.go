package plotting

import (
	"fmt"

	"github.com/helmholtz-go/helmholtz/boltzmann"
)

// LogZEstimates draws histograms of the estimates of log Z by single chains of annealing,
// in nats, on a logarithmic count axis: of AIS, which errs to the low side, and beside it
// maybe of reverse AIS, which errs to the high one. The estimates of all chains together
// are dotted lines; where few chains stand far out to the right of AIS, or to the left of
// its reverse, there may be more that none has found.
func LogZEstimates(estimates ...boltzmann.LogZ) *Figure {
	var samples []sampled
	for _, z := range estimates {
		side := map[boltzmann.Errs]string{boltzmann.ErrsLow: "AIS", boltzmann.ErrsHigh: "reverse AIS"}[z.Errs]
		samples = append(samples, newSampled(fmt.Sprintf("%s: log Z = %.2f, ESS %s", side, z.Value, percent(float64(z.ESS))), z.Each))
	}
	f := histograms("Estimates of log Z", "log Z by a chain (nats)", "number of chains", false, samples...)
	for _, z := range estimates {
		f.addVertical(float64(z.Value))
	}
	return f
}

// FreeEnergies draws histograms of the free energies F(v) of training and of other rows,
// in nats, on a logarithmic count axis: those of a machine that has learned rows by heart
// are lower in training.
func FreeEnergies(training, others []float64) *Figure {
	return histograms("Free energies", "F(v) (nats)", "number of rows", false, newSampled("training rows", training), newSampled("other rows", others))
}
