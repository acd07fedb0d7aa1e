package main

import (
	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/spf13/pflag"
)

// chainFlagNames are the flags that chainFlags adds.
var chainFlagNames = []string{"candidates", "inner", "retain"}

// chainFlags adds the flags of Gibbs chains but for their number of sweeps.
func chainFlags(f *pflag.FlagSet, chain *hm.Chain) {
	numberFlag(f, &chain.Candidates, "candidates", 100, 1, "`K` candidates for each layer of a sweep, of which one is picked")
	numberFlag(f, &chain.Inner, "inner", 10, 1, "`N` samples from which p̃*(x) of a candidate is estimated")
	f.BoolVar(&chain.Retain, "retain", false, "let the state before be one of the candidates: exact, but slower to move")
}
