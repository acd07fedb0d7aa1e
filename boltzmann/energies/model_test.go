package energies

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/philox"
	"github.com/helmholtz-go/helmholtz/runs"
)

// Filled-in pixels have their means given the known ones, which never change.
func TestInpaintingIsConditional(t *testing.T) {
	of := convolved(t)
	m := &Model{shape: dataset.Shape{Height: 3, Width: 3}, energy: of.energy, free: of.free, schedule: usualSchedule}
	mask := dataset.Mask{true, true, false, false, true, false, false, false, false}
	row := dataset.Split{Name: "test", Shape: m.shape, Values: dataset.Bytes(9, make([]uint8, 9))}
	for i, v := range of.x {
		row.Bytes()[i] = uint8(255 * v)
	}
	const chains = 400
	filled, err := m.Inpainting().Fill(t.Context(), row, mask, chains, runs.Chain{Sweeps: 20}, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	want, sum := make([]float64, 9), 0.0
	states, p, _ := of.probabilities()
	for s, x := range states {
		fits := true
		for i, missing := range mask {
			fits = fits && (missing || x[i] == of.x[i])
		}
		if fits {
			floats.AddScaled(want, p[s], x)
			sum += p[s]
		}
	}
	for i, missing := range mask {
		var values []float64
		for _, image := range filled.Images {
			values = append(values, image.Values[0][i])
		}
		mean, deviation := stat.MeanStdDev(values, nil)
		near(t, "a pixel", mean, want[i]/sum, 5*stat.StdErr(deviation, chains)+1e-12)
		if missing == (deviation == 0) {
			t.Errorf("pixel %d, missing %v, has the standard deviation %v", i, missing, deviation)
		}
	}
}

// Machines of binary units round grey values, and refuse real numbers.
func TestBinaryUnitsReadRowsOfZerosAndOnes(t *testing.T) {
	of, mask := convolved(t), dataset.Mask{true, true, true, false, false, false, false, false, false}
	energy := newConditional(2, mask, false)
	random(energy, 0.6, 2)
	shape := dataset.Shape{Height: 3, Width: 3}
	m, conditional := &Model{shape: shape, energy: of.energy, free: of.free, schedule: usualSchedule}, &Model{shape: shape, energy: energy, free: all(3), given: true, schedule: usualSchedule}
	results := func(rows dataset.Split) (results []any, errs []error) {
		logP, _, err := m.LogP(t.Context(), rows, 1, 1, nil)
		means, of := conditional.HiddenMeans(rows)
		_, fill := m.Inpainting().Fill(t.Context(), rows, mask, 1, runs.Chain{Sweeps: 1}, 1, nil)
		drawn, draw := conditional.Drawings()[0].Draw(t.Context(), runs.Sampling{N: 1, Seed: 1, Rows: rows, Chain: runs.Chain{Sweeps: 1}})
		return []any{logP, means, drawn}, []error{err, of, fill, draw}
	}
	row := dataset.Split{Name: "test", Shape: shape, Values: dataset.Bytes(shape.Units(), []uint8{0, 255, 255, 0, 255, 0, 0, 0, 255})}
	want, _ := results(row)
	grey := row
	grey.Values = dataset.Bytes(9, []uint8{20, 128, 200, 127, 255, 0, 1, 100, 254})
	if got, errs := results(grey); !reflect.DeepEqual(got, want) || errors.Join(errs...) != nil {
		t.Errorf("grey rows give %v (%v), want %v", got, errs, want)
	}
	row.Values = dataset.Reals(9, []float32{0, 1, 1, 0, 1, 0, 0, 0, 1})
	_, errs := results(row)
	for _, err := range errs {
		if err == nil || !strings.Contains(err.Error(), "the model has units of 0 and 1, but the test rows have real numbers") {
			t.Errorf("error %v of real numbers", err)
		}
	}
}

// More chains than fit into memory are refused before they take it.
func TestChainsFitIntoMemory(t *testing.T) {
	of := convolved(t)
	m := &Model{shape: dataset.Shape{Height: 3, Width: 3}, energy: of.energy, free: of.free, schedule: usualSchedule}
	_, annealing := anneal(t.Context(), of.energy, of.x, math.MaxUint32, usualSchedule, 1, philox.Counter{}, nil)
	_, draw := m.Drawings()[0].Draw(t.Context(), runs.Sampling{N: 1 << 40})
	row := dataset.Split{Name: "test", Shape: m.shape, Values: dataset.Bytes(m.shape.Units(), make([]uint8, 9))}
	_, fill := m.Inpainting().Fill(t.Context(), row, dataset.Mask{true, false, false, false, false, false, false, false, false}, 1<<40, runs.Chain{Sweeps: 1}, 1, nil)
	for _, err := range []error{annealing, draw, fill} {
		if err == nil || !strings.Contains(err.Error(), "GB of memory") {
			t.Errorf("the error is %v", err)
		}
	}
}

// Exact log p reports its progress over the rows, and ends when its context is cancelled.
func TestExactLogPEndsWhenCancelled(t *testing.T) {
	energy := newConditional(2, dataset.Mask{true, false}, false)
	m := &Model{shape: dataset.Shape{Height: 1, Width: 2}, energy: energy, free: []int{0}, given: true, schedule: usualSchedule}
	rows := dataset.Split{Name: "test", Shape: m.shape, Values: dataset.Bytes(m.shape.Units(), make([]uint8, 8))}
	var done []float64
	if _, logZ, err := m.LogP(t.Context(), rows, 0, 1, func(part float64) { done = append(done, part) }); logZ.Errs != runs.Exact || err != nil || !slices.Equal(done, []float64{0.25, 0.5, 0.75, 1}) {
		t.Errorf("log Z is %v, the progress %v (%v)", logZ, done, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	calls := 0
	if _, _, err := m.LogP(ctx, rows, 0, 1, func(float64) { calls++; cancel() }); !errors.Is(err, context.Canceled) || calls != 1 {
		t.Errorf("after the first of 4 rows, %d rows are done (%v)", calls, err)
	}
}

// The sum over states is exact if it is short: for 16 hidden and 64 visible units, but not for 16 and 196.
func TestLongSumsAreNotExact(t *testing.T) {
	for _, c := range []struct {
		hidden, units int
		exact         bool
	}{{16, 64, true}, {16, 65, false}, {16, 196, false}, {11, 196, true}, {17, 1, false}} {
		if integrable(c.hidden, c.units) != c.exact {
			t.Errorf("%d hidden and %d visible units: exact is %v", c.hidden, c.units, !c.exact)
		}
	}
	for _, e := range []energy{newSpikeAndSlab(16, 196), newMeanCovariance(MeanCovariance{Hidden: 8, Factors: 8}, 196, false)} {
		if e.exact() {
			t.Errorf("%T: the sum over 65536 states takes minutes", e)
		}
	}
}

// Drawings of a machine of real numbers are on the scale of its rows, and given units keep their values.
func TestDrawingsAreOnTheScaleOfRows(t *testing.T) {
	set := realRows(t)
	e := ConditionalGaussianRBM.Experiment(set)
	e.Settings.Machine, e.Epochs = Conditional{2, "left"}, 1
	start, err := e.Begin(set)
	if err != nil {
		t.Fatal(err)
	}
	m, err := ConditionalGaussianRBM.Kind().Model(e, start)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range m.Drawings() {
		sheets, err := d.Draw(t.Context(), runs.Sampling{N: 2, Seed: 1, Rows: set.Test(), Chain: runs.Chain{Sweeps: 3}})
		if err != nil {
			t.Fatal(err)
		}
		if images := sheets[0].Values; len(images) != 2 || len(images[0]) != 6 {
			t.Fatalf("%s: %d images of %d units", d.Kind, len(images), len(images[0]))
		}
		if d.Kind != "means" {
			continue
		}
		for r, row := range set.Test().Subset(2, 1).Floats() {
			for i, v := range row {
				if got := sheets[0].Values[r][i]; i%3 == 2 { // the given column
					near(t, "a given unit", got, v, 1e-9)
				} else if got == v {
					t.Errorf("the predicted unit %d has the value of the row", i)
				}
			}
		}
	}
	if _, err := m.HiddenMeans(set.Test()); err != nil {
		t.Error(err)
	}
}

// The penalty is at rest where detection units have the probability that it aims at, and otherwise pulls the biases
// towards it.
func TestSparsityAimsAtAnActivity(t *testing.T) {
	e := conv(t, Convolution{Filters: 1, Window: 2, Pool: 2, Activity: 0.1, Sparsity: 3}, dataset.Shape{Height: 3, Width: 3})
	e.Begin([][]float64{make([]float64, 9)}, rand.New(rand.NewPCG(1, 1)))
	clear(e.weights)
	pull := func() float64 {
		to, data := [][]float64{nil, {0}, nil, nil}, [][]float64{make([]float64, 4), {0}, make([]float64, 9), nil}
		e.Products().Gradients(data, 1, [][]float64{make([]float64, 9)})
		e.restrain(to, data)
		return to[1][0]
	}
	near(t, "the pull at the target", pull(), 0, 1e-6)
	e.hidden[0] = 0 // each of the four units, and none of them, has the probability 1/5
	near(t, "the pull above the target", 2*pull(), 2*3*4*(0.2-0.1), 1e-6)
}

// Estimates that a few chains of AIS dominate are reported as such, and others are not.
func TestOptimisticEstimatesAreReported(t *testing.T) {
	for _, c := range []struct {
		scale      float64
		optimistic bool
	}{{1, false}, {6, true}} {
		energy := newSpikeAndSlab(25, 16)
		energy.Begin(nil, rand.New(rand.NewPCG(1, 1)))
		for i := range energy.weights {
			energy.weights[i] *= c.scale
		}
		for i := range energy.bias {
			energy.bias[i], energy.mean[i] = -8, 8
		}
		m := &Model{shape: dataset.Shape{Height: 4, Width: 4}, energy: energy, free: all(16), schedule: usualSchedule}
		rows := dataset.Split{Name: "test", Shape: m.shape, Values: dataset.Bytes(m.shape.Units(), make([]uint8, 16))} // read as binary, without scaling
		estimates, err := m.Estimate(t.Context(), rows, 50, 1, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, says, err := m.LogPOfRows(t.Context(), runs.EvaluationOptions{Rows: rows, Samples: 50, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		few := estimates[runs.LogP.Key].SampleSize.Few() && estimates[runs.LogZ.Key].SampleSize.Few()
		if ess := estimates[runs.ESS.Key].Value; ess < 0.1 != c.optimistic || few != c.optimistic || !strings.Contains(says, "by AIS with 50 chains, and too high in expectation; ") || !strings.Contains(says, "chains effective; half of them give") {
			t.Errorf("with weights times %g the ESS is %v, and log p is %q", c.scale, ess, says)
		}
	}
}

// A schedule sets the steps of AIS, which 1,000 even steps leave as they are.
func TestSchedulesOfEnergies(t *testing.T) {
	energy := newSpikeAndSlab(25, 16)
	energy.Begin(nil, rand.New(rand.NewPCG(1, 1)))
	m := &Model{shape: dataset.Shape{Height: 4, Width: 4}, energy: energy, free: all(16), schedule: usualSchedule}
	rows := dataset.Split{Name: "test", Shape: m.shape, Values: dataset.Bytes(m.shape.Units(), make([]uint8, 16))}
	for schedule, steps := range map[string]int{"even:20": 20, "adaptive:100": 100} {
		along, err := m.Along(schedule)
		if err != nil {
			t.Fatal(err)
		}
		_, z, err := along.(*Model).LogP(t.Context(), rows, 12, 1, nil)
		if err != nil || z.Steps != steps || z.Schedule.String() != schedule {
			t.Errorf("along %s log Z is %v (%v)", schedule, z, err)
		}
	}
	if _, err := m.Along("even:0"); err == nil {
		t.Error("an empty schedule is accepted")
	}
}
