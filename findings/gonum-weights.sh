#!/usr/bin/env bash
# gonum 0.17.0: stat.Correlation does not depend on the scale of the weights, but stat.CorrelationMatrix does: weights
# that sum to 1 give NaN, and smaller ones a negative diagonal of the covariance and NaN.
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
	"gonum.org/v1/gonum/stat"
)

func main() {
	x, y := []float64{1, 2, 3, 4}, []float64{2, 1, 4, 3}
	rows := mat.NewDense(4, 2, nil)
	rows.SetCol(0, x)
	rows.SetCol(1, y)
	var scalar, matrix, covariance []float64
	for _, weight := range []float64{1, 0.5, 0.25, 0.125} {
		weights := []float64{weight, weight, weight, weight}
		var r, c mat.SymDense
		stat.CorrelationMatrix(&r, rows, weights)
		stat.CovarianceMatrix(&c, rows, weights)
		scalar = append(scalar, stat.Correlation(x, y, weights))
		matrix = append(matrix, r.At(0, 1))
		covariance = append(covariance, c.At(0, 0))
	}
	fmt.Println("sum of weights     4, 2, 1, 0.5")
	fmt.Println("Correlation       ", scalar)
	fmt.Println("CorrelationMatrix ", matrix)
	fmt.Println("CovarianceMatrix  ", covariance)
	if math.Abs(scalar[3]-0.6) > 1e-12 || !math.IsNaN(matrix[2]) || !math.IsNaN(matrix[3]) || covariance[3] >= 0 {
		fmt.Println("gonum behaves otherwise now")
		os.Exit(1)
	}
}
GO
go mod init probe 2>/dev/null
go get gonum.org/v1/gonum/stat@v0.17.0 2>/dev/null
go run .
