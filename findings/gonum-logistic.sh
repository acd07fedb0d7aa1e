#!/usr/bin/env bash
# gonum 0.17.0: distuv.Logistic.LogProb ignores the location and the scale, and is −Inf above 709. Prob is right, and its
# logarithm is what LogProb should return.
set -euo pipefail
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
cd "$home"
cat >main.go <<'GO'
package main

import (
	"fmt"
	"math"
	"os"

	"gonum.org/v1/gonum/stat/distuv"
)

func main() {
	same := true
	for _, l := range []distuv.Logistic{{Mu: 0, S: 1}, {Mu: 0, S: 0.5}, {Mu: 3, S: 1}, {Mu: 3, S: 2}} {
		fmt.Printf("Mu %g, S %g at 1: LogProb %.6f, logarithm of Prob %.6f\n", l.Mu, l.S, l.LogProb(1), math.Log(l.Prob(1)))
		same = same && l.LogProb(1) == distuv.Logistic{Mu: 0, S: 1}.LogProb(1)
	}
	far := distuv.Logistic{Mu: 800, S: 1}
	fmt.Printf("Mu 800, S 1 at its mode: LogProb %g, logarithm of Prob %.6f\n", far.LogProb(800), math.Log(far.Prob(800)))
	if !same || !math.IsInf(far.LogProb(800), -1) {
		fmt.Println("gonum behaves otherwise now")
		os.Exit(1)
	}
}
GO
go mod init probe 2>/dev/null
go get gonum.org/v1/gonum/stat/distuv@v0.17.0 2>/dev/null
go run .
