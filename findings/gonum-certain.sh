#!/usr/bin/env bash
# gonum 0.17.0: distuv.Binomial has the log-probability NaN for outcomes that are certain (P of 0 or 1), and so has
# distuv.Poisson at the rate 0; distuv.Bernoulli has 0. Other outcomes have −Inf, as they should.
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
	never, always := distuv.Binomial{N: 3, P: 0}, distuv.Binomial{N: 3, P: 1}
	rows := []struct {
		name        string
		certain     float64
		impossible  float64
		probability float64
	}{
		{"Bernoulli P 0", distuv.Bernoulli{P: 0}.LogProb(0), distuv.Bernoulli{P: 0}.LogProb(1), distuv.Bernoulli{P: 0}.Prob(0)},
		{"Binomial  P 0", never.LogProb(0), never.LogProb(1), never.Prob(0)},
		{"Binomial  P 1", always.LogProb(3), always.LogProb(2), always.Prob(3)},
		{"Poisson   λ 0", distuv.Poisson{}.LogProb(0), distuv.Poisson{}.LogProb(1), distuv.Poisson{}.Prob(0)},
	}
	nan := 0
	for _, r := range rows {
		fmt.Printf("%s: log p of the certain outcome %v, of another %v; p of the certain one %v\n",
			r.name, r.certain, r.impossible, r.probability)
		if math.IsNaN(r.certain) {
			nan++
		}
	}
	if nan != 3 {
		fmt.Println("gonum behaves otherwise now")
		os.Exit(1)
	}
}
GO
go mod init probe 2>/dev/null
go get gonum.org/v1/gonum/stat@v0.17.0 2>/dev/null
go run .
