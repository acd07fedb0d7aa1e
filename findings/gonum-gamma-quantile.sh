#!/usr/bin/env bash
# gonum 0.17.0: quantiles of a Gamma with a small shape are 0, or another number near 10⁻¹⁶, where the right quantile is
# smaller than that. The CDF at the right quantile, which is (p Γ(shape+1))^(1/shape) for small ones, is p.
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
	seen := map[float64]float64{}
	gamma := distuv.Gamma{Alpha: 0.05, Beta: 1}
	for _, p := range []float64{0.01, 0.1, 0.13, 0.16, 0.2, 0.5} {
		quantile := gamma.Quantile(p)
		small := math.Pow(p*math.Gamma(1.05), 20)
		seen[p] = gamma.CDF(quantile)
		fmt.Printf("p %.2f: Quantile %.3g, whose CDF is %.4f; ", p, quantile, seen[p])
		fmt.Printf("right %.3g, whose CDF is %.4f\n", small, gamma.CDF(small))
	}
	if math.Abs(seen[0.1]-0.1) < 0.01 || seen[0.01] != 0 || math.Abs(seen[0.5]-0.5) > 1e-9 {
		fmt.Println("gonum behaves otherwise now")
		os.Exit(1)
	}
}
GO
go mod init probe 2>/dev/null
go get gonum.org/v1/gonum/stat/distuv@v0.17.0 2>/dev/null
go run .
