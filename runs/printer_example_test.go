package runs_test

import (
	"fmt"

	"github.com/helmholtz-go/helmholtz/runs"
)

func ExampleMeasuresText() {
	measures := []runs.Measure{runs.LogP, {Name: "bound", Unit: "nats"}, {Name: "ESS", Fraction: true}}
	values := map[string]float64{"log p": -91.0304, "bound": -93.25, "ESS": 0.312}
	fmt.Println(runs.MeasuresText(measures, func(m runs.Measure, scale float64, decimals int) string {
		return fmt.Sprintf("%.*f", decimals, scale*values[m.Name])
	}))
	// Output: log p -91.030, bound -93.250 nats, ESS 31.2 %
}
