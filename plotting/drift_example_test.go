package plotting_test

import (
	"log"
	"math"
	"testing"

	"github.com/helmholtz-go/helmholtz/boltzmann"
	"github.com/helmholtz-go/helmholtz/plotting"
)

// Made-up chains that fall by 9 nats.
func ExampleDrift() {
	d := boltzmann.Drift{Change: -9, ChangeSE: 0.5, Chains: 100, Sweeps: 1024, Away: true}
	for sweeps := 1; sweeps <= d.Sweeps; sweeps *= 2 {
		d.Path = append(d.Path, boltzmann.DriftPoint{Sweeps: sweeps, Change: -9 * (1 - math.Exp(-float64(sweeps)/50)), SE: 0.5})
	}
	if err := plotting.Drift(d).Save("drift.png"); err != nil {
		log.Fatal(err)
	}
}

func TestDrift(t *testing.T) { golden(t, ExampleDrift, "drift.png") }
