package general

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/helmholtz-go/helmholtz/boltzmann/oracle"
	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/philox"
	"github.com/helmholtz-go/helmholtz/internal/statistics"
	"github.com/helmholtz-go/helmholtz/runs"
)

// randomModel has normal parameters of a standard deviation.
func randomModel(t *testing.T, visible int, s MachineSpec, deviation float64) *Model {
	t.Helper()
	m, err := s.Model(dataset.Shape{Height: 1, Width: visible})
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(uint64(visible), uint64(s.Hidden)))
	for k := range m.flat {
		m.flat[k] = deviation * random.NormFloat64()
	}
	m.spread()
	return m
}

// exactly is the oracle of a model: its statistics are x_i x_j of each pair, and x_i.
func exactly(m *Model) *oracle.Machine {
	return &oracle.Machine{
		Visible: oracle.Binary(m.shape.Units()), Hidden: oracle.Binary(m.hidden), Parameters: m.flat,
		Statistics: func(v, h []float64) (t []float64) {
			x := slices.Concat(v, h)
			for _, p := range m.pairs {
				t = append(t, x[p[0]]*x[p[1]])
			}
			return append(t, x...)
		},
	}
}

// machines are of each kind of connections.
func machines() []MachineSpec {
	return []MachineSpec{
		{Hidden: 3}, {Hidden: 3, Connections: SemiRestricted}, {Hidden: 3, Connections: Restricted}, {Hidden: 0},
		{Hidden: 2, Connections: Listed, Pairs: []Pair{{4, 5}, {0, 1}, {1, 4}, {2, 5}}},
	}
}

// split has rows of zeros and ones as its values.
func split(states [][]float64) dataset.Split {
	var values []uint8
	for _, x := range slices.Concat(states...) {
		values = append(values, uint8(255*x))
	}
	return dataset.Split{Name: "test", Shape: dataset.Shape{Height: 1, Width: len(states[0])}, Values: dataset.Bytes(len(states[0]), values)}
}

// log Z, free energies and log p(v) are those of enumeration, whatever is connected.
func TestSumsAreThoseOfEnumeration(t *testing.T) {
	for _, s := range machines() {
		m := randomModel(t, 4, s, 1)
		exact := exactly(m)
		if logZ, err := m.LogZ(); err != nil || math.Abs(logZ-exact.LogZ()) > 1e-10 {
			t.Errorf("%v: log Z = %v (%v), want %v", s, logZ, err, exact.LogZ())
		}
		logP, err := m.LogP(t.Context(), split(exact.Visible))
		if err != nil {
			t.Fatal(err)
		}
		for r, v := range exact.Visible {
			if math.Abs(logP[r]-exact.LogP(v)) > 1e-10 {
				t.Errorf("%v: log p(%v) = %v, want %v", s, v, logP[r], exact.LogP(v))
			}
		}
	}
}

// With W = U + Uᵀ, and U_ii in the biases, the energy is −xᵀUx − bᵀx, and the input of a unit is
// what turning it on takes from the energy.
func TestEnergyIsThatOfU(t *testing.T) {
	const n = 5
	random, U, b := rand.New(rand.NewPCG(1, 2)), [n][n]float64{}, [n]float64{}
	m := randomModel(t, 3, MachineSpec{Hidden: 2}, 1)
	for i := range n {
		b[i] = random.NormFloat64()
		for j := range n {
			U[i][j] = random.NormFloat64()
		}
		m.biases()[i] = b[i] + U[i][i]
	}
	for k, p := range m.pairs {
		m.flat[k] = U[p[0]][p[1]] + U[p[1]][p[0]]
	}
	m.spread()
	energy := func(x []float64) (e float64) {
		for i := range n {
			e -= b[i] * x[i]
			for j := range n {
				e -= x[i] * U[i][j] * x[j]
			}
		}
		return e
	}
	var terms []float64
	for _, x := range oracle.Binary(n) {
		terms = append(terms, -energy(x))
		for i := range n {
			on, off := slices.Clone(x), slices.Clone(x)
			on[i], off[i] = 1, 0
			if got, want := m.Input(i, x), energy(off)-energy(on); math.Abs(got-want) > 1e-10 {
				t.Errorf("the input of unit %d in %v is %v, want %v", i, x, got, want)
			}
		}
	}
	if logZ, err := m.LogZ(); err != nil || math.Abs(logZ-floats.LogSumExp(terms)) > 1e-10 {
		t.Errorf("log Z = %v (%v), want %v", logZ, err, floats.LogSumExp(terms))
	}
}

// Steps of few units follow the exact gradient of the mean log p(v).
func TestExactSteps(t *testing.T) {
	for _, s := range machines() {
		m := randomModel(t, 4, s, 1)
		exact := exactly(m)
		rows := exact.Visible[3:14]
		want := slices.Clone(m.flat)
		for _, v := range rows {
			floats.AddScaled(want, 0.1/float64(len(rows)), exact.Gradient(v))
		}
		var states [][]float64
		for _, v := range rows {
			states = append(states, slices.Concat(v, make([]float64, s.Hidden)))
		}
		gradient, err := m.positive(t.Context(), states)
		if err != nil {
			t.Fatal(err)
		}
		if chains, logZ := m.subtractNegative(t.Context(), gradient, 1, 0); chains != nil || math.Abs(logZ-exact.LogZ()) > 1e-10 {
			t.Errorf("%v: there are %d chains, log Z is %v, want %v", s, len(chains), logZ, exact.LogZ())
		}
		m.ascend(gradient, 0.1)
		if !floats.EqualApprox(m.flat, want, 1e-10) {
			t.Errorf("%v: the parameters are %v, want %v", s, m.flat, want)
		}
	}
}

// Steps of more units follow the statistics of the data, which are exact, less those of the
// chains.
func TestStepsByChains(t *testing.T) {
	m := randomModel(t, 19, MachineSpec{Hidden: 2}, 0.3)
	rows := draws(17, 21)
	states, chains := rows[:11], rows[11:]
	of := exactly(m)
	want := slices.Clone(m.flat)
	for _, x := range states {
		mean := make([]float64, len(m.flat))
		for _, h := range of.Hidden {
			floats.AddScaled(mean, math.Exp(of.LogPHidden(h, x[:19])), of.Statistics(x[:19], h))
		}
		floats.AddScaled(want, 0.1/11, mean)
	}
	m.chains = slices.Concat(chains...)
	gradient, err := m.positive(t.Context(), states)
	if err != nil {
		t.Fatal(err)
	}
	after, _ := m.subtractNegative(t.Context(), gradient, 1, 0)
	if len(after) != len(m.chains) || slices.Equal(after, m.chains) {
		t.Fatalf("%d states of chains, which stay where they are", len(after))
	}
	for x := range slices.Chunk(after, m.units()) {
		floats.AddScaled(want, -0.1/6, of.Statistics(x[:19], x[19:]))
	}
	m.ascend(gradient, 0.1)
	if !floats.EqualApprox(m.flat, want, 1e-10) {
		t.Errorf("the parameters are %v, want %v", m.flat, want)
	}
}

// draws are states of n units, all as probable.
func draws(rows, n int) (states [][]float64) {
	random := rand.New(rand.NewPCG(5, 6))
	for range rows {
		x := make([]float64, n)
		for i := range x {
			x[i] = float64(random.IntN(2))
		}
		states = append(states, x)
	}
	return states
}

// A step takes one matrix of the statistics of the data, however many rows it learns from, and its
// sums do not depend on the number of processors.
func TestStepsTakeOneMatrix(t *testing.T) {
	m := randomModel(t, 260, MachineSpec{Hidden: 3}, 0.1)
	n := m.units()
	gradients := map[int][]float64{}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, processors := range []int{1, 3} {
		runtime.GOMAXPROCS(processors)
		states, chains := draws(100, n), draws(7, n)
		m.chains = slices.Concat(chains...)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		gradient, err := m.positive(t.Context(), states)
		runtime.ReadMemStats(&after)
		if err != nil {
			t.Fatal(err)
		}
		if bytes, matrix := after.TotalAlloc-before.TotalAlloc, uint64(8*n*n); bytes > 3*matrix {
			t.Errorf("the statistics of 100 rows took %d bytes, a matrix has %d", bytes, matrix)
		}
		m.subtractNegative(t.Context(), gradient, 1, 0)
		gradients[processors] = gradient
	}
	if !slices.Equal(gradients[1], gradients[3]) {
		t.Error("a step on three processors is another than on one")
	}
}

// What is cancelled sums nothing more.
func TestCanceledStepsEnd(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	m := randomModel(t, 20, MachineSpec{Hidden: 3}, 1)
	states := draws(5, 23)
	want := slices.Concat(states...)
	if _, err := m.positive(ctx, states); !errors.Is(err, context.Canceled) || !slices.Equal(slices.Concat(states...), want) {
		t.Errorf("the error is %v, states %v, not %v", err, slices.Concat(states...), want)
	}
	if measured := m.measure(ctx, states, 16, philox.Counter{}); measured[runs.FreeEnergy.Key] != 0 {
		t.Errorf("the measures are %v", measured)
	}
}

// frequent checks that states have probabilities, within 4.5 standard errors.
func frequent(t *testing.T, drawn, states [][]float64, probability func(x []float64) float64) {
	t.Helper()
	counts, n := map[string]float64{}, float64(len(drawn))
	for _, x := range drawn {
		counts[fmt.Sprint(x)]++
	}
	for _, x := range states {
		p := probability(x)
		if got, se := counts[fmt.Sprint(x)]/n, math.Sqrt(p*(1-p)/n); math.Abs(got-p) > 4.5*se+1e-12 {
			t.Errorf("%v has the frequency %v ± %v, want %v", x, got, se, p)
		}
	}
}

// Chains settle at p(x), and clamped ones at p(x|known).
func TestChainsSettleAtTheModel(t *testing.T) {
	const n, sweeps = 8_000, 30
	m := randomModel(t, 3, MachineSpec{Hidden: 2}, 0.7)
	exact, states := exactly(m), oracle.Binary(5)
	logP := func(x []float64) float64 { return floats.Dot(m.flat, exact.Statistics(x[:3], x[3:])) - exact.LogZ() }
	settled := func(free []int) (drawn [][]float64) {
		for chain := range uint32(n) {
			x, c := []float64{0, 1, 0, 0, 0}, philox.Counter{Word: philox.Word{Purpose: philox.Start}, Datum: chain}
			start(x, free, 1, c)
			c.Purpose = philox.Chain
			m.run(t.Context(), x, free, sweeps, c)
			drawn = append(drawn, x)
		}
		return drawn
	}
	frequent(t, settled(m.all()), states, func(x []float64) float64 { return math.Exp(logP(x)) })
	known := 0.0
	for _, x := range states {
		if x[0] == 0 && x[1] == 1 {
			known += math.Exp(logP(x))
		}
	}
	frequent(t, settled([]int{2, 3, 4}), states, func(x []float64) float64 {
		if x[0] != 0 || x[1] != 1 {
			return 0
		}
		return math.Exp(logP(x)) / known
	})
}

// AIS has log Z within its standard errors, and refuses a single chain, which has none.
func TestAIS(t *testing.T) {
	if _, err := randomModel(t, 4, machines()[0], 1).AIS(t.Context(), 1, nil); err == nil || !strings.Contains(err.Error(), "1 chain of annealing: give at least 2") {
		t.Errorf("the error of one chain is %v", err)
	}
	for _, s := range machines() {
		m := randomModel(t, 4, s, 1).WithSeed(3)
		z, err := m.AIS(t.Context(), 100, nil)
		want := exactly(m).LogZ()
		if err != nil || math.Abs(float64(z.Value)-want) > 4.5*float64(z.SE)+1e-9 {
			t.Errorf("%v: log Z = %v ± %v (%v), want %v", s, z.Value, z.SE, err, want)
		}
		// Weights of chains have the mean Z, and squares of them the mean Z²/ESS.
		mean, square := 0.0, 0.0
		for _, log := range z.Each {
			mean += math.Exp(log-want) / 100
			square += math.Exp(2*(log-want)) / 100
		}
		for got, want := range map[runs.Float]float64{
			z.ESS: mean * mean / square, z.Value: want + math.Log(mean),
			z.Low: float64(z.Value) + math.Log(1-3*float64(z.SE)), z.High: float64(z.Value) + math.Log(1+3*float64(z.SE)),
		} {
			if math.Abs(float64(got)-want) > 1e-9 {
				t.Errorf("%v: %v in %+v, want %v", s, got, z, want)
			}
		}
	}
}

// Evaluations have log p and log Z of the oracle where units are enumerable, and say how they err
// where they are not.
func TestEvaluations(t *testing.T) {
	set := lines(t)
	rows := set.Test()
	for _, e := range experiments(set) {
		m, err := e.Settings.Machine.Model(set.Shape())
		if err != nil {
			t.Fatal(err)
		}
		for i := range m.biases() {
			m.biases()[i] = float64(i%3) - 1
		}
		of, err := m.Evaluate(t.Context(), set, rows, 7, nil)
		if err != nil {
			t.Fatal(err)
		}
		errs, chains := [2]runs.Errs{runs.ErrsLow, runs.ErrsHigh}, 7
		if m.Enumerable() {
			errs, chains = [2]runs.Errs{}, 0
		}
		if got := [2]runs.Errs{of.LogZ.Errs, of.LogPErrs}; got != errs || of.Chains != chains || of.Data != rows.Rows {
			t.Errorf("%v: errs %v, %d chains, %d rows", e, got, of.Chains, of.Data)
		}
		logP, logZ := 0.0, 0.0 // of units without weights
		for i, b := range m.biases() {
			logZ += statistics.Softplus(b)
			for r := 0; r < rows.Rows && i < 9; r++ {
				logP += (b*m.state(rows.Row(r))[i] - statistics.Softplus(b)) / float64(rows.Rows)
			}
		}
		if math.Abs(float64(of.LogP)-logP) > 1e-9 || math.Abs(float64(of.LogZ.Value)-logZ) > 1e-9 {
			t.Errorf("%v: log p %v, log Z %v, want %v, %v", e, of.LogP, of.LogZ.Value, logP, logZ)
		}
		if line := e.Baseline(set, rows); float64(of.BaselineLogP) != line.Factorized.Value || of.Diverged {
			t.Errorf("%v: baseline %v, want %v; diverged: %v", e, of.BaselineLogP, line.Factorized.Value, of.Diverged)
		}
		m.biases()[0] = 1e200
		if of, err = m.Evaluate(t.Context(), set, rows, 7, nil); err != nil || !of.Diverged {
			t.Errorf("%v: log p %v (%v) of an endless bias is not said to have diverged", e, of.LogP, err)
		}
	}
}

// Options of annealing are refused before anything is computed, even before the rows are read, if log Z is exact.
func TestAnnealingOfAnExactLogZIsRefusedFirst(t *testing.T) {
	m, o := randomModel(t, 4, machines()[0], 1), runs.EvaluationOptions{Chains: 9}
	_, err := m.Evaluations().Evaluate(t.Context(), o)
	_, _, failure := m.LogPOfRows(t.Context(), o)
	for _, err := range []error{err, failure} {
		if refused, is := errors.AsType[*runs.OptionError](err); !is || refused.Option != "chains" {
			t.Errorf("the error is %v", err)
		}
	}
}

// Inpainting keeps what is known, and draws what is missing near its mean given that.
func TestInpainting(t *testing.T) {
	const chains = 3_000
	m := randomModel(t, 3, MachineSpec{Hidden: 2}, 1)
	exact := exactly(m)
	p, err := m.inpaint(t.Context(), split([][]float64{{1, 0, 1}}), dataset.Mask{false, true, false}, chains, runs.Chain{Sweeps: 20}, nil)
	if err != nil {
		t.Fatal(err)
	}
	mean, square := 0.0, 0.0
	for _, image := range p.Images {
		values := image.Values[0]
		if values[0] != 1 || values[2] != 1 {
			t.Fatalf("what is known becomes %v", values)
		}
		mean += values[1] / chains
		square += values[1] * values[1] / chains
	}
	on, off := math.Exp(exact.LogP([]float64{1, 1, 1})), math.Exp(exact.LogP([]float64{1, 0, 1}))
	want := on / (on + off)
	if math.Abs(mean-want) > 4.5*math.Sqrt((square-mean*mean)/chains) {
		t.Errorf("the missing unit has the mean %v, want %v", mean, want)
	}
	p, err = m.Inpainting().Fill(t.Context(), split([][]float64{{1, 0, 1}}), dataset.Mask{false, true, false}, chains, runs.Chain{Sweeps: 20, Draws: true}, 2, nil)
	if err != nil {
		t.Fatal(err)
	}
	share := 0.0
	for _, image := range p.Images {
		if v := image.Values[0][1]; v == 1 {
			share += v / chains
		} else if v != 0 {
			t.Fatalf("a draw is %v", v)
		}
	}
	if math.Abs(share-want) > 4.5*math.Sqrt(want*(1-want)/chains) {
		t.Errorf("the missing unit is on in %v of the draws, want %v", share, want)
	}
	m = randomModel(t, 3, MachineSpec{Hidden: 2}, 0) // whose sweeps draw a fair unit anew
	if p, err = m.inpaint(t.Context(), split([][]float64{{1, 0, 1}}), dataset.Mask{false, true, false}, chains, runs.Chain{Sweeps: 3}, nil); err != nil || math.Abs(p.Moved-0.5) > 4.5*math.Sqrt(0.25/chains) {
		t.Errorf("the last sweep changed a share of %v of the chains (%v)", p.Moved, err)
	}
}

// lines are 40 training and 4 validation rows of 3by3.
func lines(t *testing.T) *dataset.Set {
	t.Helper()
	set, err := dataset.Spec{Name: "3by3", Subset: 40, Validation: new(4)}.Open()
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// experiments are one with an exact gradient, and one with chains.
func experiments(set *dataset.Set) []Experiment {
	exact, chains := Family.Experiment(set), Family.Experiment(set)
	exact.Settings.Machine.Hidden = 2
	chains.Settings.Machine = MachineSpec{Hidden: 12, Connections: SemiRestricted}
	for _, e := range []*Experiment{&exact, &chains} {
		e.Settings.Training.BatchSize, e.Epochs = 9, 3
	}
	chains.Settings.Training.Chains = 5
	return []Experiment{exact, chains}
}

// Validation measures what the oracle has.
func TestValidationIsExact(t *testing.T) {
	set := lines(t)
	e := experiments(set)[0]
	run, err := e.Train(t.Context(), set, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	exact, rows := exactly(run.Model()), set.Validation()
	want := runs.Measures{"pseudo_likelihood": 0, "free_energy": 0, "log_p": 0}
	for r := range rows.Rows {
		v, n := run.Model().state(rows.Row(r))[:9], float64(rows.Rows)
		want["free_energy"] += exact.FreeEnergy(v) / n
		want["log_p"] -= (exact.FreeEnergy(v) + exact.LogZ()) / n
		for i := range v {
			other := slices.Clone(v)
			other[i] = 1 - v[i]
			want["pseudo_likelihood"] -= math.Log1p(math.Exp(exact.FreeEnergy(v)-exact.FreeEnergy(other))) / n
		}
	}
	epochs := run.History().Epochs
	for key, value := range want {
		if got := epochs[len(epochs)-1].Validation[key]; math.Abs(got-value) > 1e-9 {
			t.Errorf("%s is %v, want %v", key, got, value)
		}
	}
	estimates, err := run.Model().Estimate(t.Context(), rows, 1, 1, nil)
	if err != nil || math.Abs(estimates["log_p"].Value-want["log_p"]) > 1e-9 {
		t.Errorf("log p of the rows is %v (%v), want %v", estimates["log_p"], err, want["log_p"])
	}
}

// Connections among visible units alone learn the lines of 3by3 better than none, and hidden units
// better still: the data's own distribution has log p = −log 12.
func TestTrainingLearns(t *testing.T) {
	set, err := dataset.Spec{Name: "3by3", Subset: 1_000, Validation: new(100)}.Open()
	if err != nil {
		t.Fatal(err)
	}
	before := math.Inf(-1)
	for hidden, least := range []float64{-5.5, -5, -4.5} {
		e := Family.Experiment(set)
		e.Settings.Machine.Hidden = 2 * hidden
		e.Epochs, e.Settings.Training.LearningRate, e.Settings.Training.BatchSize = 10, 0.5, 20
		run, err := e.Train(t.Context(), set, t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		h := run.History()
		logP := h.Epochs[len(h.Epochs)-1].Validation["log_p"]
		if !(logP > least) || !(logP > before) || !(logP > h.Baseline.Factorized.Value) || logP > -math.Log(12)+0.05 {
			t.Errorf("with %d hidden units log p is %v, with fewer %v, baseline %v", 2*hidden, logP, before, h.Baseline.Factorized.Value)
		}
		before = logP
	}
}

// Training whose log p is far below the baseline is said to have diverged, though the
// pseudo-likelihood is far above it, with validation rows and without.
func TestDivergenceIsJudgedByLogP(t *testing.T) {
	for validation, rows := range map[int]string{0: "train", 4: "validation"} {
		set, err := dataset.Spec{Name: "3by3", Subset: 40, Validation: new(validation)}.Open()
		if err != nil {
			t.Fatal(err)
		}
		e := experiments(set)[0]
		e.Settings.Training.LearningRate = 1e200
		run, err := e.Train(t.Context(), set, t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		h := run.History()
		if text := h.LastWarning(); !strings.HasPrefix(text, "log p -") || h.Baseline.Rows != rows {
			t.Errorf("over the %s rows the warning is %q, where the last epoch is %+v", h.Baseline.Rows, text, h.Epochs[len(h.Epochs)-1])
		}
		e.Settings.Training.LearningRate = 0.1
		if run, err = e.Train(t.Context(), set, t.TempDir()); err != nil || run.History().LastWarning() != "" {
			t.Errorf("at a usual learning rate the warning is %q (%v)", run.History().LastWarning(), err)
		}
	}
}

func TestWhatCannotBeTrainedIsRefused(t *testing.T) {
	set := lines(t)
	shades, err := dataset.Spec{Name: "shades", Binarization: dataset.Stochastic}.FromRows(set.Shape(), slices.Repeat([][]float64{{0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8}}, 20), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := randomModel(t, 9, MachineSpec{Hidden: 2}, 1).Evaluate(t.Context(), shades, set.Test(), 1, nil); err == nil || !strings.Contains(err.Error(), "binarization = stochastic: the units") {
		t.Errorf("a set of grey values: %v", err)
	}
	m := randomModel(t, 19, MachineSpec{Hidden: 2}, 1)
	if _, err := m.LogZ(); err == nil || !strings.Contains(err.Error(), "use at most 20") {
		t.Errorf("log Z of 21 units: %v", err)
	}
	for says, change := range map[string]func(rows *dataset.Split){
		"the model has 19 visible units":       func(rows *dataset.Split) { rows.Shape = set.Shape() },
		"has no rows":                          func(rows *dataset.Split) { rows.Rows = 0 },
		"has 19 values for 2 rows of 19":       func(rows *dataset.Split) { rows.Rows = 2 },
		"has 2 labels for 1 row: give one per": func(rows *dataset.Split) { rows.Labels = []uint8{1, 2} },
	} {
		rows := dataset.Split{Name: "test", Shape: dataset.Shape{Height: 1, Width: 19}, Values: dataset.Bytes(19, make([]uint8, 19))}
		change(&rows)
		if _, err := m.FreeEnergy(t.Context(), rows); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("error %v, want one that says %q", err, says)
		}
	}
	if _, err := (MachineSpec{Hidden: 1, Connections: 9}).Model(dataset.Shape{Height: 1, Width: 2}); err == nil || !strings.Contains(err.Error(), "unknown connections 9: use all, semi-restricted, restricted or listed") {
		t.Errorf("error %v of unknown connections", err)
	}
}

// A model file whose settings ask for far more memory than it has numbers is refused without taking it.
func TestModelFilesTakeNoMoreThanTheyHave(t *testing.T) {
	set := lines(t)
	e := experiments(set)[1]
	s, err := e.Begin(set)
	if err != nil {
		t.Fatal(err)
	}
	for _, chains := range []int{3_000_000, math.MaxUint32, -1} {
		e.Settings.Training.Chains = chains
		file, err := runs.MarshalModel(e, s)
		if err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		m, err := Family.LoadModel(bytes.NewReader(file))
		runtime.ReadMemStats(&after)
		if bytes := after.TotalAlloc - before.TotalAlloc; err == nil || m != nil || bytes > 10<<20 {
			t.Errorf("%d chains: the model %v, the error %v, and %d bytes", chains, m, err, bytes)
		}
	}
}

// Snapshots of other machines are refused.
func TestForeignSnapshotsAreRefused(t *testing.T) {
	set := lines(t)
	e := experiments(set)[1]
	for _, c := range []struct {
		says   string
		change func(s *runs.Snapshot)
	}{
		{"the description of the model", func(s *runs.Snapshot) { s.Header = json.RawMessage("[]") }},
		{"no model for images of 0×0", func(s *runs.Snapshot) { s.Header = json.RawMessage("{}") }},
		{"too few for a model for images of 1×4096", func(s *runs.Snapshot) { s.Header = json.RawMessage(`{"shape":{"Height":1,"Width":4096}}`) }},
		{"for images of 1×9", func(s *runs.Snapshot) { s.Header = json.RawMessage(`{"shape":{"Height":1,"Width":9}}`) }},
	} {
		s, err := e.Begin(set)
		if err != nil {
			t.Fatal(err)
		}
		c.change(&s)
		if _, err := e.Learner(set, s); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("error %v, want one that says %q", err, c.says)
		}
	}
}
