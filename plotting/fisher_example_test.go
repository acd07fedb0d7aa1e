package plotting_test

import (
	"log"
	"testing"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/plotting"
)

// This is the machine of Várady 2025, Fig 4.1.
func ExampleFisherStructure() {
	machine := engine.Architecture{Units: []int{6, 3, 2}}
	if err := plotting.FisherStructure(machine).Save("fisher.png"); err != nil {
		log.Fatal(err)
	}
}

func TestFisherStructure(t *testing.T) { golden(t, ExampleFisherStructure, "fisher.png") }
