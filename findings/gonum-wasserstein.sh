#!/usr/bin/env bash
# gonum 0.17.0: distmv.Wasserstein.DistNormal, documented as the distance, returns its square: two normals that differ by
# a shift of 3 are 9 apart, so that the triangle inequality fails.
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

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distmv"
)

func main() {
	at := func(x float64) *distmv.Normal {
		n, _ := distmv.NewNormal([]float64{x, 0}, mat.NewSymDense(2, []float64{1, 0.5, 0.5, 2}), nil)
		return n
	}
	var w distmv.Wasserstein
	near, far := w.DistNormal(at(0), at(3)), w.DistNormal(at(0), at(6))
	fmt.Printf("shifted by 3: %.6f; by 6: %.6f; two shifts by 3: %.6f\n", near, far, 2*near)
	if math.Abs(near-9) > 1e-6 || math.Abs(far-36) > 1e-6 {
		fmt.Println("gonum behaves otherwise now")
		os.Exit(1)
	}
}
GO
go mod init probe 2>/dev/null
go get gonum.org/v1/gonum/stat/distmv@v0.17.0 2>/dev/null
go run .
