#!/usr/bin/env bash
# gonum 0.17.0: a stat.PC that has analysed rows with weights and then analyses rows without weights divides by −1: all
# variances are negative and have the wrong scale. A new stat.PC is right.
set -euo pipefail
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
cd "$home"
cat >main.go <<'GO'
package main

import (
	"fmt"
	"os"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
)

func main() {
	rows := mat.NewDense(4, 2, []float64{1, 2, 2, 1, 3, 4, 9, 3})
	var fresh, used stat.PC
	fresh.PrincipalComponents(rows, nil)
	right := fresh.VarsTo(nil)
	fmt.Println("a new stat.PC:", right)
	used.PrincipalComponents(rows, []float64{1, 2, 1, 2})
	ok := used.PrincipalComponents(rows, nil)
	wrong := used.VarsTo(nil)
	fmt.Println("one that had weights before:", wrong, "ok:", ok)
	if !ok || right[0] < 0 || wrong[0] >= 0 {
		fmt.Println("gonum behaves otherwise now")
		os.Exit(1)
	}
}
GO
go mod init probe 2>/dev/null
go get gonum.org/v1/gonum/stat@v0.17.0 2>/dev/null
go run .
