package cpu

import (
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/hm/engine/enginetest"
)

func TestConformance(t *testing.T) {
	e, err := engine.Open("cpu")
	if err != nil {
		t.Fatal(err)
	}
	enginetest.Run(t, e)
}

// An instruction set that there is not is an error of the engine, and the program
// that holds it runs.
func TestUnknownInstructionSet(t *testing.T) {
	const asked = "HELMHOLTZ_TEST_OPEN"
	if os.Getenv(asked) != "" {
		_, err := engine.Open("cpu")
		t.Log("opened:", err)
		return
	}
	c := exec.Command(os.Args[0], "-test.run=^TestUnknownInstructionSet$", "-test.v")
	c.Env = append(os.Environ(), asked+"=1", "HELMHOLTZ_CPU=mmx")
	out, err := c.CombinedOutput()
	if err != nil || !strings.Contains(string(out), `opened: cpu: HELMHOLTZ_CPU: this build on this processor has no instruction set "mmx"`) {
		t.Errorf("%v: %s", err, out)
	}
}

func TestParallelDoesEachTaskOnce(t *testing.T) {
	for _, n := range []int{0, 1, 2, 100} {
		done := make([]atomic.Int32, n)
		parallel(n, func(i int) { done[i].Add(1) })
		for i := range done {
			if times := done[i].Load(); times != 1 {
				t.Errorf("task %d of %d was done %d times", i, n, times)
			}
		}
	}
}

// What a trainer takes after its first step is at most what Memory announces, by a
// few hundredths, and not much less, but for the scratch of a Kronecker metric,
// which is given back.
func TestMemory(t *testing.T) {
	heap := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	architecture := engine.Architecture{Units: []int{200, 150, 100}}
	data := engine.Data{Rows: 16, Units: 200, Values: make([]uint8, 16*200)}
	rows := make([]int, 16)
	for i := range rows {
		rows[i] = i
	}
	for _, algorithm := range []engine.Algorithm{
		{Phases: engine.WakeSleep, Samples: 50},
		{Phases: engine.Bidirectional, Optimizer: engine.Adam, Samples: 50},
		{Phases: engine.Bidirectional, Optimizer: engine.Nesterov, Samples: 50},
		{Phases: engine.WakeSleep, Samples: 5, LaterSamples: 50},
		{Phases: engine.WakeSleep, SleepSteps: 3, SleepScale: 1, Samples: 50},
		{Phases: engine.Bidirectional, Entropy: 1, Samples: 50},
		{Phases: engine.ReweightedWakeSleep, Metric: engine.Block, Samples: 2},
		{Phases: engine.ReweightedWakeSleep, Metric: engine.Block, Samples: 50},
		{Phases: engine.ReweightedWakeSleep, Metric: engine.Diagonal, Samples: 50},
		{Phases: engine.ReweightedWakeSleep, Metric: engine.Kronecker, Samples: 50},
	} {
		algorithm.BatchSize, algorithm.Damping, algorithm.RefreshEvery = 16, 0.1, 100
		before := heap()
		state := engine.NewState(algorithm, engine.NewParameters(architecture))
		job := engine.Job{Algorithm: algorithm, Data: data, Rows: func(int) []int { return rows }}
		trainer, err := cpu{}.NewTrainer(job, state)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := trainer.Step(0.1); err != nil {
			t.Fatal(err)
		}
		got := heap() - before
		runtime.KeepAlive(trainer)
		want := (cpu{}).Memory(architecture, algorithm)
		least := want
		if algorithm.Metric == engine.Kronecker {
			least -= inversionBytes(architecture, algorithm, algorithm.BatchSize*algorithm.Samples)
		}
		if got < least*3/4 || got > want*21/20 {
			t.Errorf("%v, %v, S = %d: a trainer takes %d bytes, announced were %d", algorithm.Phases, algorithm.Metric, algorithm.Samples, got, want)
		}
	}
}
