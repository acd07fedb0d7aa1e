package plotting

import (
	"errors"
	"fmt"

	"github.com/helmholtz-go/helmholtz/boltzmann"
)

// Drift draws the change of the mean energy of long chains, in nats, against the number of sweeps. The
// chains begin at training rows, where the change is 0. In equilibrium it stays near 0.
func Drift(d boltzmann.Drift) *Figure {
	if len(d.Path) == 0 {
		return failed(errors.New("no chains to draw: Model.Drift runs them"))
	}
	m := Measured{Name: fmt.Sprintf("%d chains from training rows", d.Chains), SpreadName: "± 1 standard error"}
	for _, at := range d.Path {
		m.X, m.Y, m.Spread = append(m.X, float64(at.Sweeps)), append(m.Y, at.Change), append(m.Spread, at.SE)
	}
	f := Measurements(Axis{Label: "Gibbs sweeps", Logarithmic: true}, Axis{Label: "change of the energy E(v,h) (nats)"}, m)
	title := "Long chains stay near the training rows"
	if d.Away {
		title = "Samples drift away from the training rows"
	}
	for _, panel := range f.panels {
		panel.Y.Min, panel.Y.Max = min(0, panel.Y.Min), max(0, panel.Y.Max)
		panel.Add(across(0, dotted))
	}
	f.legend.add("no drift", sample(dotted))
	return f.Title(title)
}
