package factors

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/helmholtz-go/helmholtz/dataset"
)

// processorSeconds returns the processor time that this program has taken.
func processorSeconds(b *testing.B) float64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return float64(usage.Utime.Nano()+usage.Stime.Nano()) / 1e9
}

// BenchmarkPeers times what notebooks/sklearn_factors.py times, on the file of rows that
// HELMHOLTZ_ROWS names. A dictionary learns until it has the objective HELMHOLTZ_OBJECTIVE, for 20
// passes at most.
func BenchmarkPeers(b *testing.B) {
	const sources, atoms, α, batch, passes = 10, 64, 0.1, 128, 20
	path := os.Getenv("HELMHOLTZ_ROWS")
	if path == "" {
		b.Skip("HELMHOLTZ_ROWS names no rows")
	}
	target, err := strconv.ParseFloat(os.Getenv("HELMHOLTZ_OBJECTIVE"), 64)
	if err != nil {
		b.Fatal(err)
	}
	values, err := os.ReadFile(path)
	if err != nil {
		b.Fatal(err)
	}
	size, n, d := filepath.Base(path), 0, 0
	if _, err := fmt.Sscanf(size[strings.LastIndex(size, "-")+1:], "%dx%d.u8", &n, &d); err != nil {
		b.Fatal(err)
	}
	shape := dataset.Shape{Height: 1, Width: d}
	rows := dataset.Split{Name: "train", Shape: shape, Values: dataset.Bytes(shape.Units(), values)}.Floats()
	measure := func(name string, fit func(seconds func(func() error)) (objective float64)) {
		b.Run(name, func(b *testing.B) {
			least, objective := math.Inf(1), 0.0
			for b.Loop() {
				spent := 0.0
				objective = fit(func(work func() error) {
					start := processorSeconds(b)
					if err := work(); err != nil {
						b.Fatal(err)
					}
					spent += processorSeconds(b) - start
				})
				least = min(least, spent)
			}
			b.ReportMetric(least, "processor-s")
			b.ReportMetric(objective, "objective")
		})
	}
	var model *Model
	measure("ppca", func(seconds func(func() error)) float64 {
		seconds(func() (err error) { model, err = FitPPCA(rows, sources); return err })
		return stat.Mean(model.LogP(rows), nil)
	})
	measure("factor-analysis", func(seconds func(func() error)) float64 {
		seconds(func() (err error) {
			model, err = FitFactorAnalysis(b.Context(), rows, sources, FactorAnalysisOptions{})
			return err
		})
		return stat.Mean(model.LogP(rows), nil)
	})
	measure("dictionary", func(seconds func(func() error)) (objective float64) {
		m, perPass := newDictionary(atoms, cost{alpha: α}, shape), n/batch
		seconds(func() error { m.begin(rows, 1); return nil })
		for pass := range passes {
			seconds(func() error {
				for k := range perPass {
					if _, err := m.learn(b.Context(), rows[k*batch:(k+1)*batch], 1/float64(min(pass*perPass+k+1, perPass)), perPass); err != nil {
						return err
					}
				}
				return nil
			})
			if objective = stat.Mean(m.Encode(rows).Objective, nil); objective <= target {
				break
			}
		}
		return objective
	})
}
