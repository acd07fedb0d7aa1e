package cpu

import (
	"os"
	"os/exec"
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

// fixedEngine is the engine with everything possible in fixed point.
type fixedEngine struct{ cpu }

func (e fixedEngine) NewTrainer(job engine.Job, state *engine.State) (engine.Trainer, error) {
	job.Algorithm.Arithmetic = engine.FixedPoint
	return e.cpu.NewTrainer(job, state)
}

func (e fixedEngine) NewModel(p *engine.Parameters, _ engine.Arithmetic) (engine.Model, error) {
	return e.cpu.NewModel(p, engine.FixedPoint)
}

func TestConformanceInFixedPoint(t *testing.T) { enginetest.RunOnDraws(t, fixedEngine{}) }

// An unknown instruction set must be an error of the engine, without ending the program.
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
