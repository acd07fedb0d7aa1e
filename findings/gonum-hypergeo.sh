#!/usr/bin/env bash
# gonum 0.17.0: mathext.Hypergeo is NaN, without a word, for usual arguments of 2F1: above 0.9, even for a polynomial, and
# below −1 where the first two parameters differ by a whole number. The values by hand are finite.
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
	"slices"

	"gonum.org/v1/gonum/mathext"
)

func main() {
	var missing []bool
	compare := func(name string, got, want float64) {
		fmt.Printf("%s: %.9g, by hand %.9g\n", name, got, want)
		missing = append(missing, math.IsNaN(got))
	}
	for _, z := range []float64{0.5, 0.9, 0.95} {
		compare(fmt.Sprintf("2F1(-2, -2; 1; %g) = 1 + 4z + z²", z), mathext.Hypergeo(-2, -2, 1, z), 1+4*z+z*z)
	}
	for _, x := range []float64{0.5, 2, 3} {
		want := 1.5 * (x*math.Hypot(1, x) - math.Asinh(x)) / (x * x * x)
		compare(fmt.Sprintf("2F1(0.5, 1.5; 2.5; %g) = 3(x√(1+x²) − asinh x)/2x³", -x*x), mathext.Hypergeo(0.5, 1.5, 2.5, -x*x), want)
	}
	if !slices.Equal(missing, []bool{false, false, true, false, true, true}) {
		fmt.Println("gonum behaves otherwise now")
		os.Exit(1)
	}
}
GO
go mod init probe 2>/dev/null
go get gonum.org/v1/gonum/mathext@v0.17.0 2>/dev/null
go run .
