//go:build cuda

package gpu

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	_ "github.com/helmholtz-go/helmholtz/hm/engine/cpu"
	"github.com/helmholtz-go/helmholtz/hm/engine/enginetest"
	"github.com/helmholtz-go/helmholtz/hm/engine/oracle"
	"github.com/helmholtz-go/helmholtz/internal/file/filetest"
	"github.com/helmholtz-go/helmholtz/internal/numbers"
	"gorgonia.org/cu"
)

// opened returns the engine of the device, which may be emulated. It skips the test if there is no
// device and none was requested.
func opened(t testing.TB) *cuda {
	t.Helper()
	e, err := engine.Open(name)
	if err != nil {
		if os.Getenv("HELMHOLTZ_CUDA_DRIVER") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	return e.(*cuda)
}

func onCPU(t testing.TB) engine.Engine {
	t.Helper()
	e, err := engine.Open("cpu")
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// memoryOn returns memory on the device, which is closed when the test ends.
func memoryOn(t testing.TB, d *device) *memory {
	t.Helper()
	m, err := d.newMemory()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

func TestConformance(t *testing.T) {
	enginetest.Run(t, opened(t), lacks...)
}

// minibatches returns a job that trains on rows in order.
func minibatches(a engine.Algorithm, data engine.Data) engine.Job {
	return engine.Job{Algorithm: a, Data: data, Seed: 7, Rows: func(step int) []int {
		rows := make([]int, a.BatchSize)
		for k := range rows {
			rows[k] = (step*a.BatchSize + k) % data.Rows
		}
		return rows
	}}
}

// stripes returns rows with a structure that a machine can learn.
func stripes(rows, units int) engine.Data {
	data := engine.Data{Values: numbers.Bytes(units, make([]uint8, rows*units))}
	for r := range rows {
		for j := range units {
			if (j/(1+r%4)+r/4)%2 == 0 {
				data.Bytes()[r*units+j] = 255
			}
		}
	}
	return data
}

var nrws = engine.Algorithm{
	Rule: engine.ReweightedWakeSleep, Metric: engine.Block, Damping: 0.05, RefreshEvery: 3, Baseline: true,
	BatchSize: 6, Samples: 7, SleepSteps: 1,
}

// Both engines must draw the same samples, and compute the same gradients from them. A draw flips
// if its uniform number lies within rounding of its probability.
func TestStepsAgreeWithTheCPU(t *testing.T) {
	e := opened(t)
	reference := onCPU(t)
	for _, units := range [][]int{{70, 40, 33, 5}, {9, 6, 3}} {
		for _, metric := range []engine.Metric{engine.Euclidean, engine.Block, engine.Diagonal} {
			t.Run(fmt.Sprint(units, metric), func(t *testing.T) {
				a := nrws
				a.Metric = metric
				algorithms, plain, natural := [2]engine.Algorithm{a, a}, 1e-5, 1e-4
				algorithms[1].FisherPrecision = engine.SixteenBits
				if metric == engine.Block && units[0] > tileSize { // some numbers of the inverses have half precision
					plain, natural = 3e-5, 3e-4
				}
				data, p := stripes(40, units[0]), oracle.Random(engine.Architecture{Units: units, Coding: engine.PlusMinusOne}, 3)
				var trainers [2]engine.Trainer
				var err error
				for k, one := range []engine.Engine{reference, e} {
					if trainers[k], err = one.NewTrainer(minibatches(algorithms[k], data), engine.NewState(a, p)); err != nil {
						t.Fatal(err)
					}
					defer trainers[k].Close()
				}
				flips := 0
				for range 5 {
					var g [2]engine.Gradients
					for k, trainer := range trainers {
						if g[k], err = trainer.Gradients(0.01); err != nil {
							t.Fatal(err)
						}
					}
					different := differentDraws(g[0].Wake, g[1].Wake) + differentDraws(g[0].Dreams, g[1].Dreams)
					flips += different
					if different == 0 {
						wantClose(t, "plain gradient", g[1].Plain.Flat, g[0].Plain.Flat, plain)
						wantClose(t, "natural gradient", g[1].Natural.Flat, g[0].Natural.Flat, natural)
					}
					for _, trainer := range trainers {
						if _, err := trainer.Steps(context.Background(), []float64{0.01}); err != nil {
							t.Fatal(err)
						}
					}
				}
				if flips > 2 {
					t.Errorf("%d draws differ", flips)
				}
			})
		}
	}
}

// Both engines must move the chains of the training rows to the same samples, and learn the same baselines. Each
// engine must continue from a state of the other. The rows of a minibatch repeat in some steps.
func TestChainsAndBaselinesAgreeWithTheCPU(t *testing.T) {
	e := opened(t)
	reference := onCPU(t)
	learned := engine.Algorithm{Rule: engine.Reinforce, ReinforceBaseline: engine.LearnedBaseline, BatchSize: 6, Samples: 7, SleepSteps: 1}
	single := learned
	single.Samples = 1
	chained := engine.Algorithm{Rule: engine.JointStochastic, BatchSize: 6, Samples: 7, SleepSteps: 1, Damping: 0.05, RefreshEvery: 3}
	natural, diagonal := chained, chained
	natural.Metric, diagonal.Metric, diagonal.RefreshEvery = engine.Block, engine.Diagonal, 1
	data, p := stripes(40, 30), oracle.Random(engine.Architecture{Units: []int{30, 40, 9}, Coding: engine.PlusMinusOne}, 3)
	for name, a := range map[string]engine.Algorithm{"baselines": learned, "one sample": single, "chains": chained, "natural": natural, "diagonal": diagonal} {
		t.Run(name, func(t *testing.T) {
			j, tolerance := minibatches(a, data), 1e-5
			if a.HasLearnedBaseline() { // from which most of a signal may be subtracted
				tolerance = 1e-4
			}
			j.Rows = func(step int) []int { return []int{step % 3, 1, step % 2, 3, 4, 2} }
			j.Repeats = true
			states := [2]*engine.State{engine.NewState(a, p), engine.NewState(a, p)}
			for step := range 8 {
				var g [2]engine.Gradients
				var reports [2]engine.Report
				for k, one := range []engine.Engine{reference, e} {
					if step == 4 { // each continues from the state of the other
						k = 1 - k
					}
					trainer, err := one.NewTrainer(j, states[k].Clone())
					if err != nil {
						t.Fatal(err)
					}
					defer trainer.Close()
					if step%3 > 0 { // else a step samples by itself
						if g[k], err = trainer.Gradients(0.01); err != nil {
							t.Fatal(err)
						}
					}
					for left := 1 + step%2; left > 0; {
						some, err := trainer.Steps(t.Context(), []float64{0.01, 0.01}[:left])
						if err != nil {
							t.Fatal(err)
						}
						reports[k], left = some[len(some)-1], left-len(some)
					}
					if states[k], err = trainer.State(); err != nil {
						t.Fatal(err)
					}
				}
				if step%3 > 0 {
					if n := differentDraws(g[0].Wake, g[1].Wake); n > 0 {
						t.Fatalf("step %d: %d draws differ", step, n)
					}
					wantClose(t, "plain gradient", g[1].Plain.Flat, g[0].Plain.Flat, tolerance)
					wantClose(t, "natural gradient", g[1].Natural.Flat, g[0].Natural.Flat, 1e-4)
				}
				if math.Abs(reports[0].LogP-reports[1].LogP)+math.Abs(reports[0].Bound-reports[1].Bound) > 1e-4 {
					t.Errorf("step %d: the reports are %v and %v", step, reports[0], reports[1])
				}
				if !slices.Equal(states[0].Chains, states[1].Chains) || a.Chains && !slices.Contains(states[0].Chains, 1) {
					t.Errorf("step %d: the chains are at %v and %v", step, states[0].Chains, states[1].Chains)
				}
				wantClose(t, "parameters", states[1].Parameters.Flat, states[0].Parameters.Flat, 1e-5)
				if a.HasLearnedBaseline() {
					wantClose(t, "network of the baselines", states[1].Baseline, states[0].Baseline, 1e-5)
				}
			}
		})
	}
}

// Natural gradients from blocks in single precision must be much closer to the CPU's than natural gradients
// from blocks of which some numbers have half precision.
func TestFisherPrecision(t *testing.T) {
	e := opened(t)
	reference := onCPU(t)
	data, p := stripes(40, 70), oracle.Random(engine.Architecture{Units: []int{70, 40, 33, 5}, Coding: engine.PlusMinusOne}, 3)
	natural := func(one engine.Engine, precision engine.FisherPrecision) []float32 {
		a := nrws
		a.FisherPrecision = precision
		trainer, err := one.NewTrainer(minibatches(a, data), engine.NewState(a, p))
		if err != nil {
			t.Fatal(err)
		}
		defer trainer.Close()
		g, err := trainer.Gradients(0.01)
		if err != nil {
			t.Fatal(err)
		}
		return g.Natural.Flat
	}
	want := natural(reference, engine.SinglePrecision)
	single, half := distance(natural(e, engine.SinglePrecision), want), distance(natural(e, engine.SixteenBits), want)
	if !(single < half/10) {
		t.Errorf("natural gradients differ by a relative %.2g in single precision, and by %.2g in half precision", single, half)
	}
}

// The error must name the network, the layer and the unit of a Fisher block that cannot be inverted.
func TestSingularBlocksAreNamed(t *testing.T) {
	made, err := opened(t).NewTrainer(minibatches(nrws, stripes(40, 12)), engine.NewState(nrws, oracle.Random(engine.Architecture{Units: []int{12, 8, 4}}, 3)))
	if err != nil {
		t.Fatal(err)
	}
	defer made.Close()
	trainer := made.(*trainer)
	if err := trainer.checkInverses(); err != nil {
		t.Error(err)
	}
	upload(trainer.memory, trainer.failed.floats(trainer.inverses[recognition][1].flags+7), []uint32{1})
	err = trainer.checkInverses()
	if s := new(engine.Singular); !errors.As(err, &s) || s.Network != recognition || s.Layer != 1 || !strings.Contains(err.Error(), "unit 7 ") {
		t.Errorf("unit 7 of layer 1 of q cannot be inverted, and the error is %v", err)
	}
}

// If each step computes the diagonal, steps are launched together, with their diagonals. Gradients computes
// the diagonal by itself.
func TestDiagonalsOfStepsThatAreLaunchedTogether(t *testing.T) {
	e := opened(t)
	data, p := stripes(40, 70), oracle.Random(engine.Architecture{Units: []int{70, 40, 33, 5}}, 3)
	for _, optimizer := range []engine.Optimizer{engine.GradientDescent, engine.Nesterov} {
		a := nrws
		a.Metric, a.RefreshEvery, a.Optimizer, a.Momentum = engine.Diagonal, 1, optimizer, 0.9
		train := func(steps func(trainer engine.Trainer) error) *engine.State {
			trainer, err := e.NewTrainer(minibatches(a, data), engine.NewState(a, p.Clone()))
			if err != nil {
				t.Fatal(err)
			}
			err = steps(trainer)
			state, unread := trainer.State()
			if err := errors.Join(err, unread, trainer.Close()); err != nil {
				t.Fatal(err)
			}
			return state
		}
		rates := []float64{0.01, 0.02, 0.01, 0.03, 0.01}
		together := train(func(trainer engine.Trainer) error {
			_, err := trainer.Steps(t.Context(), rates)
			return err
		})
		apart := train(func(trainer engine.Trainer) error {
			var errs []error
			for _, rate := range rates {
				_, unknown := trainer.Gradients(rate)
				_, err := trainer.Steps(t.Context(), []float64{rate})
				errs = append(errs, unknown, err)
			}
			return errors.Join(errs...)
		})
		if together.Step != apart.Step || together.RefreshStep != apart.RefreshStep ||
			!slices.Equal(together.Parameters.Flat, apart.Parameters.Flat) ||
			!slices.Equal(together.RefreshParameters.Flat, apart.RefreshParameters.Flat) {
			t.Errorf("%v: steps launched together end in another state than single steps: after step %d with the diagonal of step %d, and after step %d with that of step %d",
				optimizer, together.Step, together.RefreshStep, apart.Step, apart.RefreshStep)
		}
	}
}

// Trainers that share the device have fewer thread blocks each, which must not change a bit.
func TestTrainersShareTheDevice(t *testing.T) {
	e := opened(t)
	data, p := stripes(40, 70), oracle.Random(engine.Architecture{Units: []int{70, 40, 33, 5}}, 3)
	metrics := []engine.Metric{engine.Euclidean, engine.Block, engine.Diagonal}
	train := func(metric engine.Metric) ([]float32, error) {
		a := nrws
		a.Metric = metric
		trainer, err := e.NewTrainer(minibatches(a, data), engine.NewState(a, p.Clone()))
		if err != nil {
			return nil, err
		}
		_, err = trainer.Steps(t.Context(), []float64{0.01, 0.01, 0.01, 0.01, 0.01})
		state, unread := trainer.State()
		return state.Parameters.Flat, errors.Join(err, unread, trainer.Close())
	}
	var alone, together [3][]float32
	var errs [3]error
	for k, metric := range metrics {
		if alone[k], errs[k] = train(metric); errs[k] != nil {
			t.Fatal(errs[k])
		}
	}
	for _, others := range []int32{0, 1, 1000} {
		e.device.trainers.Add(others)
		var all sync.WaitGroup
		for k, metric := range metrics {
			all.Go(func() { together[k], errs[k] = train(metric) })
		}
		all.Wait()
		e.device.trainers.Add(-others)
		for k, metric := range metrics {
			if errs[k] != nil || !slices.Equal(alone[k], together[k]) {
				t.Errorf("%v, with two trainers and %d others: other parameters than alone, error %v", metric, others, errs[k])
			}
		}
	}
	if n := e.device.trainers.Load(); n != 0 {
		t.Errorf("%d trainers remain", n)
	}
}

func differentDraws(a, b engine.Draws) int {
	n := 0
	for i := range a.States {
		for k := range a.States[i] {
			if a.States[i][k] != b.States[i][k] {
				n++
			}
		}
	}
	return n
}

func wantClose(t *testing.T, what string, got, want []float32, tolerance float64) {
	t.Helper()
	if relative := distance(got, want); !(relative <= tolerance) {
		t.Errorf("%s differs by a relative %.2g, tolerated %.2g", what, relative, tolerance)
	}
}

// distance returns the 2-norm of the difference, relative to the norm of want.
func distance(got, want []float32) float64 {
	difference, norm := 0.0, 0.0
	for k := range want {
		d := float64(got[k]) - float64(want[k])
		difference += d * d
		norm += float64(want[k]) * float64(want[k])
	}
	return math.Sqrt(difference / norm)
}

// Over 1,000 steps the engines' trajectories diverge but their measures must not: the means of log
// p over the last half of the steps lie within four standard errors.
func TestTrainingAgreesWithTheCPU(t *testing.T) {
	e := opened(t)
	reference := onCPU(t)
	const steps = 1000
	data, p := stripes(40, 12), oracle.Random(engine.Architecture{Units: []int{12, 8, 4}, Coding: engine.PlusMinusOne}, 3)
	var mean, variance [2]float64
	for k, one := range []engine.Engine{reference, e} {
		trainer, err := one.NewTrainer(minibatches(nrws, data), engine.NewState(nrws, p))
		if err != nil {
			t.Fatal(err)
		}
		defer trainer.Close()
		for step := range steps {
			report, err := trainer.Steps(context.Background(), []float64{0.01})
			if err != nil {
				t.Fatal(err)
			}
			if step >= steps/2 {
				mean[k] += report[0].LogP / (steps / 2)
				variance[k] += report[0].LogP * report[0].LogP / (steps / 2)
			}
		}
		variance[k] -= mean[k] * mean[k]
	}
	se := math.Sqrt((variance[0] + variance[1]) / (steps / 2))
	t.Logf("log p %.3f and %.3f, standard error of the difference %.3f", mean[0], mean[1], se)
	if !(math.Abs(mean[0]-mean[1]) <= 4*se) {
		t.Errorf("log p %.3f on the CPU, %.3f on the device: more than four standard errors of %.3f apart", mean[0], mean[1], se)
	}
}

// Each engine must resume from a state of the other.
func TestEnginesResumeEachOther(t *testing.T) {
	e := opened(t)
	reference := onCPU(t)
	data, p := stripes(40, 12), oracle.Random(engine.Architecture{Units: []int{12, 8, 4}}, 3)
	a := nrws
	a.Optimizer, a.AdamBeta1, a.AdamBeta2, a.AdamEpsilon = engine.Adam, 0.9, 0.999, 1e-8
	for _, order := range [][2]engine.Engine{{reference, e}, {e, reference}} {
		var gradients [2]engine.Gradients
		s := engine.NewState(a, p)
		for k, one := range order {
			trainer, err := one.NewTrainer(minibatches(a, data), s)
			if err != nil {
				t.Fatal(err)
			}
			defer trainer.Close()
			for range 2 * (1 - k) { // between two refreshes
				if _, err := trainer.Steps(context.Background(), []float64{0.001}); err != nil {
					t.Fatal(err)
				}
			}
			if s, err = trainer.State(); err != nil {
				t.Fatal(err)
			}
			if gradients[k], err = trainer.Gradients(0.001); err != nil {
				t.Fatal(err)
			}
		}
		if n := differentDraws(gradients[0].Wake, gradients[1].Wake); n > 0 {
			t.Fatalf("%d draws differ", n)
		}
		wantClose(t, "natural gradient", gradients[1].Natural.Flat, gradients[0].Natural.Flat, 1e-4)
	}
}

// A trainer and an evaluation may take at most what Memory announces on the device, without programs and
// data, and not much less, since fewer thread blocks may be resident than possible. Nothing may remain
// allocated after everything is closed.
func TestMemory(t *testing.T) {
	e := opened(t)
	for _, arch := range slices.Concat(labelled(), grouped()[2:], []engine.Architecture{{Units: []int{60, 40, 20}}}) {
		p := oracle.Random(arch, 3)
		m, err := e.NewModel(p, engine.FloatingPoint)
		if err != nil {
			t.Fatal(err)
		}
		evaluation := int64(0)
		for _, samples := range []int{1, 2, samplesAPass} {
			if err := m.(*model).in(0, func(s *session) error {
				newClasses(s.memory, s.newImportance(engine.Data{}, newPiece(rowsAPass, samples)).pass)
				evaluation = max(evaluation, s.memory.bytes)
				return nil
			}); err != nil {
				t.Fatal(err)
			}
		}
		algorithm, metrics := nrws, []engine.Metric{engine.Euclidean, engine.Block, engine.Diagonal}
		if arch.Labels() > 0 {
			algorithm, _ = bidirectional(arch)
			metrics = metrics[:1]
		}
		for _, metric := range metrics {
			a := algorithm
			a.Metric = metric
			made, err := e.NewTrainer(minibatches(a, engine.Data{Labels: []uint8{}}), engine.NewState(a, p))
			if err != nil {
				t.Fatal(err)
			}
			got, want := made.(*trainer).memory.bytes, e.Memory(p.Architecture, a)-evaluation
			if got > want || got < want*3/4 {
				t.Errorf("%v, %v: a trainer takes %d bytes, announced were %d", arch.Units, a.Metric, got, want)
			}
			if err := made.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	if e.device.holders != 0 || e.device.held != 0 {
		t.Errorf("the context is held %d times, and %d bytes, after all is closed", e.device.holders, e.device.held)
	}
}

// Planning a machine must not allocate its parameters.
func TestMemoryOfLargeMachines(t *testing.T) {
	e, arch := &cuda{&device{}}, engine.Architecture{Units: []int{1 << 18, 1 << 18}}
	if took := filetest.Allocated(func() { e.Memory(arch, nrws) }); took > 1<<20 {
		t.Errorf("planning takes %d bytes", took)
	}
}

func TestTooLargeMachines(t *testing.T) {
	e := opened(t)
	p := engine.NewParameters(engine.Architecture{Units: []int{2000, 2000}})
	a := nrws
	a.BatchSize, a.Samples = 1000, 1000
	if e.Memory(p.Architecture, a) < e.device.memory {
		t.Skip("the device has room for it")
	}
	_, err := e.NewTrainer(minibatches(a, engine.Data{}), engine.NewState(a, p))
	if err == nil || !strings.Contains(err.Error(), "MB requested") || !strings.Contains(err.Error(), "--backend cpu") {
		t.Errorf("a machine that is too large: %v", err)
	}
	if err := e.device.tooLarge(1, 1, cu.OutOfMemory, "free:", 0); !strings.Contains(err.Error(), " 1 MB requested") {
		t.Errorf("a byte that is too much: %v", err)
	}
	if errors.As(err, new(*engine.DeviceError)) {
		t.Errorf("the device is to blame for %v", err)
	}
	if e.device.holders != 0 {
		t.Errorf("the context is held %d times after the failure", e.device.holders)
	}
}

// The error must distinguish memory that other programs hold on the device from memory that this
// program holds.
func TestMemoryThatOthersHold(t *testing.T) {
	if os.Getenv("HELMHOLTZ_CUDA_DRIVER") == "" {
		t.Skip("only an emulated device becomes smaller when it is told to")
	}
	d := opened(t).device
	ask := func(bytes int64) error {
		m, err := d.newMemory()
		if err != nil {
			t.Fatal(err)
		}
		m.allocate(int(bytes))
		return errors.Join(m.err, m.close())
	}
	memoryOn(t, d).allocate(1)
	if err := ask(d.memory + 1); !errors.Is(err, cu.OutOfMemory) || errors.As(err, new(*engine.DeviceError)) {
		t.Errorf("more than all of a device: error %v", err)
	}
	if err := ask(d.memory); !errors.Is(err, cu.OutOfMemory) || !errors.As(err, new(*engine.DeviceError)) {
		t.Errorf("all of a device of which this program holds some: error %v", err)
	}
	t.Setenv("HELMHOLTZ_EMULATED_MEMORY", fmt.Sprint(d.memory/16))
	if err := ask(d.memory / 16); !errors.Is(err, cu.OutOfMemory) || !errors.As(err, new(*engine.DeviceError)) {
		t.Errorf("memory that another program holds: error %v", err)
	}
}

// A thread block has room for the sums of at most mostPacked rows. Too large blocks count as memory, too.
func TestTooLargeFisherBlocks(t *testing.T) {
	e, arch, a := &cuda{&device{processors: 1}}, engine.Architecture{Units: []int{1, 2 * mostPacked}}, nrws
	before := int64(0)
	for _, samples := range []int{mostPacked, mostPacked + 1} {
		a.BatchSize, a.Samples = samples, 1
		if err := e.Check(arch, a); (err == nil) != (samples <= mostPacked) {
			t.Errorf("blocks from %d samples: error %v", samples, err)
		}
		if more := e.Memory(arch, a); more <= before {
			t.Errorf("blocks from %d samples take %d bytes, and from fewer %d", samples, more, before)
		} else {
			before = more
		}
	}
}

// The kernels index arrays with 32 bits, among them the residuals of x, which has one row per sample.
func TestTooManyNumbersForTheIndices(t *testing.T) {
	for _, c := range []struct {
		units []int
		batch int
		says  string
	}{
		{[]int{784, 100}, 50_000, ""},
		{[]int{784, 100}, 60_000, "layer 0 has 784 units and 6000000 rows, too many"},
		{[]int{784, 1000}, 50_000, "layer 1 has 1000 units and 5000000 rows, too many"},
		{[]int{40_000, 50_000}, 1, ""},
		{[]int{50_000, 50_000}, 1, "5000150000 parameters are too many"},
	} {
		a := engine.Algorithm{Rule: engine.Bidirectional, BatchSize: c.batch, Samples: 100, SleepSteps: 1}
		err := (&cuda{&device{}}).Check(engine.Architecture{Units: c.units}, a)
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("layers %v, %d rows: error %v, want %q", c.units, c.batch, err, c.says)
		}
	}
}

// An evaluation that panics or is cancelled must release all memory on the device.
func TestEvaluationsThatEndEarlyReleaseTheDevice(t *testing.T) {
	e := opened(t)
	m, err := e.NewModel(oracle.Random(engine.Architecture{Units: []int{12, 8, 4}}, 3), engine.FloatingPoint)
	if err != nil {
		t.Fatal(err)
	}
	released := func(after string) {
		t.Helper()
		if e.device.holders != 0 {
			t.Errorf("the context is held %d times after %s", e.device.holders, after)
		}
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic was lost")
			}
		}()
		_, _ = m.Evaluate(t.Context(), stripes(4, 12), 10, 1, func(float64) { panic("in the report of progress") })
	}()
	released("a panic")
	ctx, cancel := context.WithCancel(t.Context())
	_, err = m.Evaluate(ctx, stripes(4, 12), 10_000, 1, func(float64) { cancel() })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled evaluation: error %v", err)
	}
	released("a cancellation")
}

// Memory is used again, but never holds more of the device than its users do.
func TestSpareMemory(t *testing.T) {
	d := opened(t).device
	t.Cleanup(func() { // after the user's memory is closed
		if len(d.spare) > 0 || d.spareBytes != 0 {
			t.Errorf("%d bytes are spare although the device has no users", d.spareBytes)
		}
	})
	memoryOn(t, d).allocate(10_000)
	var last address
	for _, bytes := range []int{1000, 1000, leastSpare / 2, leastSpare / 3, leastSpare / 4, 2 * leastSpare} {
		m, err := d.newMemory()
		if err != nil {
			t.Fatal(err)
		}
		at := m.allocate(bytes)
		if again := bytes == 1000 && last != 0; again && at != last {
			t.Error("memory is not used again")
		}
		last = at
		zeros := make([]byte, bytes)
		download(m, zeros, at)
		if slices.ContainsFunc(zeros, func(b byte) bool { return b != 0 }) {
			t.Errorf("%d bytes are not 0", bytes)
		}
		upload(m, at, slices.Repeat([]byte{1}, bytes))
		if err := m.close(); err != nil || d.spareBytes > leastSpare {
			t.Errorf("%d bytes are spare, and %d in use, error %v", d.spareBytes, d.held, err)
		}
	}
}

// Thread blocks that are not all resident would wait for each other forever.
func TestGridsHaveToBeResident(t *testing.T) {
	d := opened(t).device
	m := memoryOn(t, d)
	l := m.load(&program{}, 0)
	if err := l.run("nothing", moment{}); err != nil {
		t.Fatal(err)
	}
	d.blocks = 100 * d.mostBlocks() // until the context is opened anew
	if err := l.run("nothing", moment{}); !errors.Is(err, cu.CooperativeLaunchTooLarge) {
		t.Errorf("a grid of %d blocks: error %v, want %v", d.blocks, err, cu.CooperativeLaunchTooLarge)
	}
}

// A fault on the device must name the kernel and its task. It is tested in a separate process,
// because it destroys the process's context.
func TestFaultsNameTheKernel(t *testing.T) {
	const child = "HELMHOLTZ_TEST_FAULT"
	opened(t) // skips without a device
	if os.Getenv(child) == "" {
		command := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
		command.Env = append(os.Environ(), child+"=1")
		if output, err := command.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, output)
		}
		return
	}
	m, err := opened(t).device.newMemory()
	if err != nil {
		t.Fatal(err)
	}
	nowhere := &program{}
	add(nowhere, 0, scale, 1, scaleOf{count: 1})
	err = m.load(nowhere, 0).run("a store to nowhere", moment{})
	if err == nil || !strings.Contains(err.Error(), "kernel walk, a store to nowhere") {
		t.Errorf("a fault of the kernel: %v", err)
	}
}
