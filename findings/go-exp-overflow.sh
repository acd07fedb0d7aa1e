#!/usr/bin/env bash
# Go 1.26.8 on amd64: math.Exp is +Inf from about 709.44 on, although e to 709.78 is a float64: e to 709.5 is e to 354.75,
# squared. amd64 has assembly of its own; the same program for 386, which runs Go's code in Go, has the right value.
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
)

func main() {
	const x = 709.5
	half := math.Exp(x / 2)
	direct, squared := math.Exp(x), half*half
	fmt.Printf("exp(%v) is %v, and exp(%v) squared %v; the largest float64 is %v\n", x, direct, x/2, squared, math.MaxFloat64)
	low, high := 700.0, 710.0
	for range 60 {
		if middle := (low + high) / 2; math.IsInf(math.Exp(middle), 1) {
			high = middle
		} else {
			low = middle
		}
	}
	fmt.Printf("exp is +Inf from %.4f on; the logarithm of the largest float64 is %.4f\n", high, math.Log(math.MaxFloat64))
	if !math.IsInf(direct, 1) || math.IsInf(squared, 1) || high > 709.5 {
		os.Exit(1)
	}
}
GO
cat >go.mod <<'MOD'
module probe

go 1.26.8
MOD
[ "$(go env GOARCH)" = amd64 ] || { echo "this finding is about amd64"; exit 0; }
export GOTOOLCHAIN=go1.26.8
go run . || { echo "Go behaves otherwise now"; exit 1; }
echo "for 386:"
if GOARCH=386 go run . 2>/dev/null; then
	echo "Go behaves otherwise now"
	exit 1
fi
