package oracle_test

import (
	"fmt"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/hm/engine/oracle"
)

// A machine of 4, 3 and 2 units has so few states that its log p, its log Z² and its gradients are sums over
// them.
func Example() {
	exact := oracle.NewNetworks(oracle.Random(engine.Architecture{Units: []int{4, 3, 2}}, 1))
	x := exact.Explain([]float64{1, 0, 1, 1})
	fmt.Println("the bound is below log p:", x.Bound() < x.LogP())
	fmt.Println("log p̃* is below log p, and log p*:", x.LogPTildeStar() < x.LogP() && exact.LogZ2() < 0)

	total := 0.0
	for _, p := range exact.Model() {
		total += p
	}
	fmt.Printf("probabilities of all states sum to %.3f\n", total)
	// Output:
	// the bound is below log p: true
	// log p̃* is below log p, and log p*: true
	// probabilities of all states sum to 1.000
}
