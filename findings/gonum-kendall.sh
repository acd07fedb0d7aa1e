#!/usr/bin/env bash
# gonum 0.17.0: stat.Kendall takes a tied pair for one that increases, so that with ties it depends on the order of the
# rows: the same rows, turned round, have another tau, and a constant has any tau from −1 to 1. All definitions for ties
# give the same tau in each order.
set -euo pipefail
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
cd "$home"
cat >main.go <<'GO'
package main

import (
	"fmt"
	"os"
	"slices"

	"gonum.org/v1/gonum/stat"
)

func main() {
	cases := []struct {
		name string
		x, y []float64
		tau  string // b and a
	}{
		{"no ties", []float64{1, 2, 3, 4}, []float64{1, 3, 2, 4}, "0.667, 0.667"},
		{"two ties", []float64{1, 1, 2, 3}, []float64{1, 2, 2, 3}, "0.800, 0.667"},
		{"independent bits", []float64{0, 0, 1, 1}, []float64{0, 1, 0, 1}, "0, 0"},
		{"a constant", []float64{5, 5, 5, 5}, []float64{1, 2, 3, 4}, "undefined, 0"},
	}
	var differ []bool
	for _, c := range cases {
		tau := stat.Kendall(c.x, c.y, nil)
		slices.Reverse(c.x)
		slices.Reverse(c.y)
		turned := stat.Kendall(c.x, c.y, nil)
		differ = append(differ, tau != turned)
		fmt.Printf("%s: Kendall %.3f, of the rows turned round %.3f (tau-b and tau-a: %s)\n", c.name, tau, turned, c.tau)
	}
	if !slices.Equal(differ, []bool{false, true, true, true}) {
		fmt.Println("gonum behaves otherwise now")
		os.Exit(1)
	}
}
GO
go mod init probe 2>/dev/null
go get gonum.org/v1/gonum/stat@v0.17.0 2>/dev/null
go run .
