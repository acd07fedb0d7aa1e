package hm

import (
	"slices"
	"testing"
)

// The epoch before the measured steps must count as part of the work.
func TestBenchmarkReportsProgress(t *testing.T) {
	const steps = 2
	set := patterns(t)
	var fractions []float64
	timing, err := short(RWS()).Experiment(machineFor(set), set).
		Benchmark(t.Context(), set, steps, func(done float64) { fractions = append(fractions, done) })
	if err != nil {
		t.Fatal(err)
	}
	if timing.Steps != steps {
		t.Errorf("%d steps measured, want %d", timing.Steps, steps)
	}
	if n := len(fractions); !slices.IsSorted(fractions) || n == 0 || fractions[n-1] != 1 || fractions[0] > float64(stepsPerEpoch)/(stepsPerEpoch+steps) {
		t.Errorf("progress %v, want a rise to 1 that begins in the first epoch", fractions)
	}
}

// The parameters of a start must be read before the steps are measured.
func TestBenchmarkStartsFromTheRun(t *testing.T) {
	set := patterns(t)
	_, err := short(RWS()).From("nowhere", "last").Experiment(machineFor(set), set).Benchmark(t.Context(), set, 1, nil)
	wantError(t, err, "start from nowhere")
}
