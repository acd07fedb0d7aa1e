package oracle_test

import (
	"fmt"
	"log"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/hm/engine/oracle"
)

// A machine of 4, 3 and 2 units has so few states that its log p, its log Z² and its gradients are sums over
// them.
func Example() {
	exact, err := oracle.New(oracle.Random(engine.Architecture{Units: []int{4, 3, 2}}, 1))
	if err != nil {
		log.Fatal(err)
	}
	x := []bool{true, false, true, true}
	fmt.Println("the bound is below log p:", exact.Bound(x) < exact.LogP(x))
	fmt.Println("log p̃* is below both:", exact.LogPTildeStar(x) < exact.LogP(x) && exact.LogPTildeStar(x) < exact.LogPStar(x))
	fmt.Println("log Z² is below 0:", exact.LogZ2() < 0)

	total := 0.0
	for _, p := range exact.Model() {
		total += p
	}
	fmt.Printf("probabilities of all states sum to %.3f\n", total)
	// Output:
	// the bound is below log p: true
	// log p̃* is below both: true
	// log Z² is below 0: true
	// probabilities of all states sum to 1.000
}
