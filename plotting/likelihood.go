package plotting

import (
	"errors"
	"fmt"

	"github.com/helmholtz-go/helmholtz/hm"
)

// LikelihoodBySamples draws estimates of log p(x) (nats, mean over the data)
// against the number of importance samples, with a band of one standard error
// to either side. The estimate is a lower bound in expectation and rises with
// the number of samples; where the curve has levelled off, they are enough.
func LikelihoodBySamples(convergences ...hm.Convergence) *Figure {
	if len(convergences) == 0 {
		return failed(errors.New("no estimates of log p(x) to draw: give at least one"))
	}
	panel := newPanel("number of importance samples for each datum", "estimate of log p(x) (nats)")
	panel.X.Tick.Marker = logTicks{}
	f := newFigure(panel)
	for i, c := range convergences {
		name := c.Name
		if name == "" {
			name = fmt.Sprintf("estimate %d", i+1)
		}
		if len(c.LogP) != len(c.Samples) || len(c.SE) != len(c.Samples) {
			return failed(fmt.Errorf("%s has %d estimates and %d standard errors for %d numbers of samples", name, len(c.LogP), len(c.SE), len(c.Samples)))
		}
		if err := checkCounts(name, c.Samples); err != nil {
			return failed(err)
		}
		points := byLog(c.Samples, c.LogP)
		band := addBand(panel, points, c.SE, colour(i))
		if err := addLine(panel, name, points, in(colour(i), solid)); err != nil {
			return failed(err)
		}
		line := sample(in(colour(i), solid))
		if band == nil {
			f.legend.add(name, line)
			continue
		}
		f.legend.add(name+" ± 1 standard error", band, line)
	}
	padY(panel)
	return f
}
