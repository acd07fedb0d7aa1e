package factors

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/helmholtz-go/helmholtz/dataset"
)

// processorSeconds returns the processor time of this program so far.
func processorSeconds(b *testing.B) float64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	seconds := func(t syscall.Timeval) float64 { return float64(t.Sec) + float64(t.Usec)/1e6 }
	return seconds(usage.Utime) + seconds(usage.Stime)
}

// BenchmarkPeers times what notebooks/sklearn_factors.py times, on the file of rows that
// HELMHOLTZ_ROWS names, to the objectives of HELMHOLTZ_OBJECTIVES: "factor-analysis=14.9 …". A model
// without one is fitted wholly.
func BenchmarkPeers(b *testing.B) {
	path := os.Getenv("HELMHOLTZ_ROWS")
	if path == "" {
		b.Skip("HELMHOLTZ_ROWS names no rows")
	}
	values, err := os.ReadFile(path)
	if err != nil {
		b.Fatal(err)
	}
	base, n, d := strings.TrimSuffix(filepath.Base(path), ".u8"), 0, 0
	if _, err := fmt.Sscanf(base[strings.LastIndex(base, "-")+1:], "%dx%d", &n, &d); err != nil {
		b.Fatal(err)
	}
	rows := dataset.Split{Name: "train", Shape: dataset.Shape{Height: 1, Width: d}, Rows: n, Values: values}.Floats()
	target := map[string]float64{"dictionary": math.Inf(-1)}
	for _, of := range strings.Fields(os.Getenv("HELMHOLTZ_OBJECTIVES")) {
		name, value, _ := strings.Cut(of, "=")
		var objective float64
		if _, err := fmt.Sscan(value, &objective); err != nil {
			b.Fatal(err)
		}
		target[name] = objective
	}
	const factors, atoms, α, batch, passes = 10, 64, 0.1, 128, 5
	for name, fit := range map[string]func() (objective func() float64, err error){
		"ppca": func() (func() float64, error) {
			m, err := FitPPCA(rows, factors)
			return func() float64 { return stat.Mean(m.LogP(rows), nil) }, err
		},
		"factor-analysis": func() (func() float64, error) {
			m, err := FitFactorAnalysis(b.Context(), rows, factors, FactorAnalysisOptions{})
			return func() float64 { return stat.Mean(m.LogP(rows), nil) }, err
		},
		"fastica": func() (func() float64, error) {
			unmixing, _, err := FastICA(rows, factors, 1)
			return func() float64 {
				mean, _ := meanOf(rows)
				sum := 0.0
				for _, x := range centred(rows, mean).RawMatrix().Data[:0] {
					sum += x
				}
				x := centred(rows, mean)
				for r := range n {
					for k := range factors {
						sum += math.Log(math.Cosh(floats.Dot(unmixing.RawRowView(k), x.RawRowView(r)))) / float64(n)
					}
				}
				return sum
			}, err
		},
		"dictionary": func() (func() float64, error) {
			m := newDictionary(atoms, cost{alpha: α}, dataset.Shape{Height: 1, Width: d})
			m.begin(rows, 1)
			perEpoch := n / batch
			for step := range passes * perEpoch {
				first := step % perEpoch * batch
				if _, err := m.learn(rows[first:first+batch], 1/float64(min(step+1, perEpoch)), perEpoch); err != nil {
					return nil, err
				}
			}
			return func() float64 { return stat.Mean(m.Encode(rows).Objective, nil) }, nil
		},
	} {
		b.Run(name, func(b *testing.B) {
			least, value := math.Inf(1), 0.0
			for b.Loop() {
				start := processorSeconds(b)
				objective, err := fit()
				if err != nil {
					b.Fatal(err)
				}
				least = min(least, processorSeconds(b)-start)
				b.StopTimer()
				value = objective()
				b.StartTimer()
			}
			b.ReportMetric(least, "processor-s")
			b.ReportMetric(value, "objective")
		})
	}
}
