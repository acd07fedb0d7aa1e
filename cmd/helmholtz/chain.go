package main

import (
	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/spf13/pflag"
)

// chainFlags adds the flags of Gibbs chains but for their number of sweeps, and
// returns their names.
func chainFlags(f *pflag.FlagSet, chain *hm.Chain) (names []string) {
	own := pflag.NewFlagSet("", pflag.ContinueOnError)
	numberFlag(own, &chain.Candidates, "candidates", 100, 1, "`K` candidates for each layer of a sweep, of which one is picked")
	numberFlag(own, &chain.Inner, "inner", 10, 1, "`N` samples from which p̃*(x) of a candidate is estimated")
	own.BoolVar(&chain.Retain, "retain", false, "let the state before be one of the candidates: exact, but slower to move")
	own.VisitAll(func(flag *pflag.Flag) { names = append(names, flag.Name) })
	f.AddFlagSet(own)
	return names
}
