package plotting

import (
	"fmt"

	"github.com/helmholtz-go/helmholtz/hm"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
)

// addMeans draws the means over the repeats of several estimates with their
// bands, a colour a number of inner samples.
func (f *Figure) addMeans(panel *plot.Plot, estimates []hm.LogZ2, x effort) error {
	f.title = "Estimates of log Z², by the number of inner samples for each outer one"
	banded := false
	means := make([]plotter.XYs, len(estimates))
	for i, z := range estimates {
		var sd []float64
		means[i], sd = overRepeats(z, x)
		banded = addBand(panel, means[i], sd, paletteColor(i)) != nil || banded
	}
	for i, z := range estimates { // above all bands
		style := in(paletteColor(i), solid)
		if err := addLine(panel, "log Z² with "+innerSamples(z), means[i], style); err != nil {
			return err
		}
		f.legend.add(fmt.Sprintf("%s, %d repeats", innerSamples(z), len(z.Repeats)), sample(style))
	}
	if banded {
		f.legend.add("mean ± 1 sd", &plotter.Polygon{Color: translucent(ink)}, sample(solid))
	}
	return nil
}
