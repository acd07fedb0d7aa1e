package sequences_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/helmholtz-go/helmholtz/sequences"
)

// After a few epochs, a temporal belief network is closer to the entropy of a grammar of four voices than a
// Markov chain per note.
func Example() {
	dir, err := os.MkdirTemp("", "voices")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	voices, err := dataset.Open("voices")
	if err != nil {
		log.Fatal(err)
	}
	e := sequences.Beliefs.Experiment(voices)
	e.Epochs, e.Settings.Hidden = 2, 10
	run, err := e.Train(context.Background(), voices, dir, runs.Quiet)
	if err != nil {
		log.Fatal(err)
	}
	test := voices.Test()
	of, err := run.Model().LogP(context.Background(), test, 30, 1, nil)
	if err != nil {
		log.Fatal(err)
	}
	first, next := dataset.VoicesEntropy()
	best, logP := -(first+49*next)/50, sequences.PerStep(test.Lengths, of.LogP).Value
	fmt.Printf("log p per step: independent notes %.2f, a Markov chain per note %.2f, the grammar itself %.2f\n",
		sequences.Independent(voices.Train(), test).Value, sequences.Chain(voices.Train(), test).Value, best)
	fmt.Println("temporal belief network between the chains and the grammar:",
		sequences.Chain(voices.Train(), test).Value < logP && logP < best)
	// Output:
	// log p per step: independent notes -7.64, a Markov chain per note -6.88, the grammar itself -1.95
	// temporal belief network between the chains and the grammar: true
}
