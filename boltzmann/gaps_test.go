package boltzmann

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/optimize"
	"gonum.org/v1/gonum/stat"

	"github.com/helmholtz-go/helmholtz/boltzmann/oracle"
	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/philox"
	"github.com/helmholtz-go/helmholtz/runs"
)

// fitting returns the states that agree with v where mask hides nothing.
func fitting(states [][]float64, v []float64, mask dataset.Mask) (those [][]float64) {
	for _, state := range states {
		fits := true
		for i := range v {
			fits = fits && (mask[i] || state[i] == v[i])
		}
		if fits {
			those = append(those, state)
		}
	}
	return those
}

// logObserved returns the logarithm of the sum of p(v) over the states of the missing units.
func logObserved(of *oracle.Machine, v []float64, mask dataset.Mask) float64 {
	var terms []float64
	for _, state := range fitting(of.Visible, v, mask) {
		terms = append(terms, of.LogP(state))
	}
	return floats.LogSumExp(terms)
}

// Log p of the observed units is the sum of p(v) over the others, for all masks and kinds of units.
func TestLogPOfObservedUnits(t *testing.T) {
	for _, machine := range []Machine{
		New(dataset.Shape{Height: 1, Width: 4}).Hidden(3), New(dataset.Shape{Height: 1, Width: 3}).Hidden(6),
		New(dataset.Shape{Height: 1, Width: 6}).Categorical(3).Hidden(2), New(dataset.Shape{Height: 1, Width: 4}).Hidden(4).HiddenCategorical(2),
	} {
		m, err := machine.Model(1)
		if err != nil {
			t.Fatal(err)
		}
		random := rand.New(rand.NewPCG(1, 2))
		for k := range m.parameters.Flat {
			m.parameters.Flat[k] = float32(random.NormFloat64())
		}
		of := exactly(m)
		each := max(1, m.parameters.Spec.Categories)
		var rows [][]float64
		var missing []bool
		for _, v := range of.Visible {
			for _, hidden := range oracle.Binary(len(v) / each) {
				rows = append(rows, v)
				for i := range v {
					missing = append(missing, hidden[i/each] == 1)
				}
			}
		}
		all := split(rows)
		all.Missing = missing
		got, err := m.ExactLogP(t.Context(), all)
		if err != nil {
			t.Fatal(err)
		}
		for r, v := range rows {
			mask := missing[r*len(v) : (r+1)*len(v)]
			if want := logObserved(of, v, mask); math.Abs(got[r]-want) > 1e-12*max(1, math.Abs(want)) {
				t.Errorf("%v hidden in %v: log p %v, want %v", mask, v, got[r], want)
			}
		}
		estimates, err := m.Estimate(t.Context(), all, 1, 1, nil)
		if err != nil || math.Abs(estimates["log_p"].Value-stat.Mean(got, nil)) > 1e-12 {
			t.Error(estimates, err)
		}
	}
}

// Log p by the bridge is the mean over the rows with their weights of log p of their observed values, with log Z by the bridge, and 0 for
// a row without observed values. Its error has the error of log Z by the share of the other rows.
func TestLogPOfObservedUnitsByTheBridge(t *testing.T) {
	m := randomModel(t, 4, 3)
	of, set := exactly(m), openTable(t, exactly(m), 100, 0.3, 1)
	rows := split([][]float64{{0, 0, 0, 0}, {1, 0, 1, 1}, {0, 1, 1, 0}})
	rows.Missing = []bool{true, true, true, true, false, true, false, false, false, false, false, false}
	rows.Weights = []float64{2, 1, 3}
	e, err := laddered(t, m.WithSeed(1), 40, 0.3, 0.7).Evaluate(t.Context(), set, rows, Annealing{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var logP []float64
	for r, v := range rows.Floats() {
		logP = append(logP, logObserved(of, v, rows.Missing[4*r:][:4]))
	}
	want := stat.Mean(logP, rows.Weights) + 4./6*float64(e.LogZ.Value-e.Bridge.LogZ)
	if got := float64(e.Bridge.LogP); logP[0] > 1e-12 || math.Abs(got-want) > 1e-12 || e.Bridge.LogZ == e.LogZ.Value {
		t.Errorf("log p by the bridge is %v, want %v", got, want)
	}
	if got, want := float64(e.Bridge.LogPSE), math.Hypot(float64(e.LogPSE), 4./6*float64(e.Bridge.SE)); math.Abs(got-want) > 1e-12 {
		t.Errorf("its standard error is %v, want %v", got, want)
	}
	rows.Missing = slices.Repeat([]bool{true}, 12)
	if e, err = laddered(t, m.WithSeed(1), 40, 0.3, 0.7).Evaluate(t.Context(), set, rows, Annealing{}, nil); err != nil || math.Abs(float64(e.Bridge.LogP)) > 1e-12 || e.Bridge.LogPSE != 0 {
		t.Errorf("log p of no values by the bridge is %v ± %v (%v)", e.Bridge.LogP, e.Bridge.LogPSE, err)
	}
}

// Log p of a row without observed values is 0, exactly and without an error, also if log Z is annealed, and its free energy costs
// nothing. Other rows keep their log p. The mean free energy has the error of log Z by the share of rows without observed values,
// and the mean of log p moves by the share of the others.
func TestLogPOfNoValues(t *testing.T) {
	m := randomModel(t, 26, 26)
	if m.checkEnumerable() == nil {
		t.Fatal("log Z is exact")
	}
	for k := range m.parameters.Flat {
		m.parameters.Flat[k] /= 10 // so that annealing is effective
	}
	values := make([]float64, 26)
	few, all := make([]bool, 26), slices.Repeat([]bool{true}, 26)
	few[3], few[7] = true, true
	rows := split([][]float64{values, values, values})
	rows.Missing = slices.Concat(all, few, all)
	set, err := dataset.FromRows("zeros", m.shape, [][]float64{values, values}, [][]float64{values})
	if err != nil {
		t.Fatal(err)
	}
	o := runs.EvaluationOptions{Set: set, Rows: rows, Chains: 20, Schedule: "even:50", Seed: 1}
	logP, se, _, err := m.LogPAndErrors(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	o.Rows = split([][]float64{values})
	o.Rows.Missing = few
	alone, error, _, err := m.LogPAndErrors(t.Context(), o)
	if err != nil || logP[0] != 0 || logP[2] != 0 || se[0] != 0 || se[2] != 0 || logP[1] != alone[0] || se[1] != error[0] || !(se[1] > 0) {
		t.Errorf("log p %v ± %v, of the row with values %v ± %v (%v)", logP, se, alone, error, err)
	}
	a, err := m.AnnealingOf(o)
	if err != nil {
		t.Fatal(err)
	}
	e, err := m.Evaluate(t.Context(), set, rows, a, nil)
	if err != nil || math.Abs(float64(e.LogP)-alone[0]/3) > 1e-12*math.Abs(float64(e.LogZ.Value)) {
		t.Errorf("the mean is %v, want %v (%v)", e.LogP, alone[0]/3, err)
	}
	size, z := e.SampleSizes[runs.FreeEnergy.Key], e.LogZ.SampleSize()
	if want := math.Hypot(float64(e.LogPSE), float64(e.LogZ.SE)*2/3); math.Abs(float64(e.FreeEnergySE)-want) > 1e-12*want || !(e.FreeEnergySE > e.LogPSE) {
		t.Errorf("the free energy has the standard error %v, want %v", e.FreeEnergySE, want)
	}
	if size.Errs != runs.ErrsHigh || size.Count != 20 || math.Abs(float64(size.Moved+z.Moved*2/3)) > 1e-12 || !strings.Contains(e.String(), "−log Z by AIS for rows without") {
		t.Errorf("the free energy is said to be exact: %+v\n%v", size, e)
	}
	if moved := e.SampleSizes[runs.LogP.Key].Moved; math.Abs(float64(moved+z.Moved/3)) > 1e-12 {
		t.Errorf("log p of one row of three moves by %v, log Z by %v", moved, z.Moved)
	}
	rows.Missing = slices.Concat(all, all, all)
	none, err := m.Evaluate(t.Context(), set, rows, a, nil)
	if err != nil || none.LogP != 0 || none.LogPSE != 0 || none.LogPErrs != runs.Exact || math.Abs(float64(none.FreeEnergySE-none.LogZ.SE)) > 1e-12 {
		t.Errorf("log p of no values is %v ± %v, %v, and the free energy ± %v (%v)", none.LogP, none.LogPSE, none.LogPErrs, none.FreeEnergySE, err)
	}
	if _, err := m.FreeEnergy(t.Context(), rows); err == nil || !strings.Contains(err.Error(), "too many to sum over") {
		t.Errorf("the free energy of no values is −log Z, which is unknown: %v", err)
	}
	small := randomModel(t, 4, 3)
	rows = split([][]float64{{0, 1, 1, 0}})
	rows.Missing = slices.Repeat([]bool{true}, 4)
	energies, err := small.FreeEnergy(t.Context(), rows)
	logZ, failure := small.ExactLogZ(t.Context())
	if err != nil || failure != nil || energies[0] != -logZ {
		t.Errorf("the free energy is %v, want −log Z = %v (%v, %v)", energies, -logZ, err, failure)
	}
}

// Missing units are drawn from p(missing|observed), by enumeration and by chains. The mean of the gradient of log p(v) over these
// draws is the gradient of log p of the observed units, by finite differences.
func TestMissingUnitsAreDrawnGivenTheOthers(t *testing.T) {
	const n = 20_000
	m := randomModel(t, 5, 3)
	mask, v := dataset.Mask{true, false, true, false, true}, []float64{0, 1, 1, 0, 0}
	of := exactly(m)
	known := logObserved(of, v, mask)
	for name, sweeps := range map[string]int{"enumerated": 0, "chained": gapSweeps} {
		states, each := matrix(slices.Repeat([][]float64{v}, n)), slices.Repeat([]likelihood{{mask: mask}}, n)
		if sweeps == 0 {
			newProducts(m.parameters).fillIn(states, each, 3, 0)
		} else {
			c := newChains(n, m.parameters)
			c.clamp(t.Context(), newProducts(m.parameters), states, func(int) dataset.Mask { return mask }, place{key: 4, purpose: philox.Clamp}, sweeps)
			states = c.visible
		}
		counts, chi2 := map[string]float64{}, 0.0
		for r := range n {
			counts[fmt.Sprint(kernels.Row(states, r))]++
		}
		for _, state := range fitting(of.Visible, v, mask) {
			expected := n * math.Exp(of.LogP(state)-known)
			d := counts[fmt.Sprint(kernels.Row(matrix([][]float64{state}), 0))] - expected
			chi2 += d * d / expected
			delete(counts, fmt.Sprint(kernels.Row(matrix([][]float64{state}), 0)))
		}
		if chi2 > 24.3 || len(counts) > 0 { // 99.9 % quantile at 7 degrees of freedom
			t.Errorf("%s: chi-squared %.1f, and the states %v", name, chi2, counts)
		}
	}
	mean := make([]float64, len(of.Parameters))
	for _, state := range fitting(of.Visible, v, mask) {
		floats.AddScaled(mean, math.Exp(of.LogP(state)-known), of.Gradient(state))
	}
	numeric := fd.Gradient(nil, func(x []float64) float64 {
		other := *of
		other.Parameters = x
		return logObserved(&other, v, mask)
	}, of.Parameters, &fd.Settings{Formula: fd.Central})
	if !floats.EqualApprox(mean, numeric, 1e-8) {
		t.Errorf("the gradient is %v, by finite differences %v", mean, numeric)
	}
	// With many missing and many hidden units, rows are drawn by chains, and the observed units stay.
	large := randomModel(t, 14, 12)
	states, each := kernels.NewMatrix(1, 14), []likelihood{{mask: slices.Concat(slices.Repeat(dataset.Mask{true}, 12), dataset.Mask{false, false})}}
	kernels.Row(states, 0)[13] = 1
	newProducts(large.parameters).fillIn(states, each, 1, 0)
	if states.Data[12] != 0 || states.Data[13] != 1 || floats.Sum(kernels.Doubles(states.Data[:12])) == 0 {
		t.Errorf("%v", states.Data)
	}
}

// The pseudo-likelihood of a row with missing units is that of its observed units given all others.
func TestPseudoLikelihoodOfObservedUnits(t *testing.T) {
	m := randomModel(t, 4, 3)
	of, v := exactly(m), []float64{1, 0, 1, 1}
	mask, want := dataset.Mask{false, true, false, true}, 0.0
	for _, i := range []int{0, 2} {
		want += of.LogP(v) - logObserved(of, v, dataset.Mask{i == 0, false, i == 2, false})
	}
	states, rows := matrix([][]float64{v}), []likelihood{{mask: mask}}
	w, h := newProducts(m.parameters), kernels.NewMatrix(1, 3)
	w.up(h, states)
	newMeter(w).measure(rows, states, h, kernels.Matrix{}, place{}, 4)
	if math.Abs(rows[0].objective-want) > 1e-5 {
		t.Errorf("%v, want %v", rows[0].objective, want)
	}
}

// openTable draws n rows of a machine of 4 units, with a share of their values missing.
func openTable(t *testing.T, from *oracle.Machine, n int, share float64, seed uint64) *dataset.Set {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 1))
	var logs []float64
	for _, v := range from.Visible {
		logs = append(logs, from.LogP(v))
	}
	var rows [][]float64
	for range n {
		row := slices.Clone(from.Visible[pick(logs, random.Float64())])
		for i := range row {
			if random.Float64() < share {
				row[i] = math.NaN()
			}
		}
		rows = append(rows, row)
	}
	set, err := dataset.Spec{Name: "table", Gaps: true, Validation: new(0)}.FromRows(dataset.Shape{Height: 1, Width: 4}, rows, rows[:50])
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// likeliest returns the machine that maximises log p of the observed units of rows, by exact gradients.
func likeliest(t *testing.T, from *oracle.Machine, rows dataset.Split) *oracle.Machine {
	t.Helper()
	at, counts, masks, values := *from, map[string]float64{}, map[string]dataset.Mask{}, map[string][]float64{}
	for r, v := range rows.Floats() {
		mask := rows.Missing[4*r : 4*r+4]
		for i := range v {
			if mask[i] {
				v[i] = 0
			}
		}
		key := fmt.Sprint(v, mask)
		counts[key]++
		masks[key], values[key] = mask, v
	}
	names := slices.Sorted(maps.Keys(counts))
	n := float64(rows.Rows)
	var posteriors [][]float64
	logs := make([]float64, len(at.Visible)) // log p of each state
	set := func(x []float64) {
		at.Parameters, posteriors = x, nil
		for s, v := range at.Visible {
			logs[s], posteriors = -at.FreeEnergy(v), append(posteriors, at.Posterior(v))
		}
		floats.AddConst(-floats.LogSumExp(logs), logs)
	}
	known := func(key string) (those []int, logP float64) {
		var terms []float64
		for s, v := range at.Visible {
			if fitting([][]float64{v}, values[key], masks[key]) != nil {
				those, terms = append(those, s), append(terms, logs[s])
			}
		}
		return those, floats.LogSumExp(terms)
	}
	result, err := optimize.Minimize(optimize.Problem{
		Func: func(x []float64) (sum float64) {
			set(x)
			for _, key := range names {
				_, logP := known(key)
				sum -= counts[key] / n * logP
			}
			return sum
		},
		Grad: func(gradient, x []float64) {
			set(x)
			clear(gradient)
			for s, log := range logs {
				floats.AddScaled(gradient, math.Exp(log), posteriors[s])
			}
			for _, key := range names {
				those, logP := known(key)
				for _, s := range those {
					floats.AddScaled(gradient, -counts[key]/n*math.Exp(logs[s]-logP), posteriors[s])
				}
			}
		},
	}, slices.Clone(from.Parameters), &optimize.Settings{GradientThreshold: 1e-5, MajorIterations: 200}, &optimize.LBFGS{})
	if result == nil {
		t.Fatal(err)
	}
	at.Parameters = result.X
	return &at
}

func divergence(from, to *oracle.Machine) (kl float64) {
	for _, v := range from.Visible {
		kl += math.Exp(from.LogP(v)) * (from.LogP(v) - to.LogP(v))
	}
	return kl
}

// Trained to the end on a table with 10, 30 and 50 % of its values missing, machines are as far from the distribution that
// generated it as machines of the largest likelihood, by enumeration: the mean of the KL divergence over seeds lies within two
// standard errors.
func TestTrainingWithGapsReachesTheLikeliestMachine(t *testing.T) {
	seeds, epochs, shares := 3, 300, []float64{0.3}
	if *study {
		seeds, epochs, shares = 8, 1000, []float64{0.1, 0.3, 0.5}
	}
	table := randomModel(t, 4, 1)
	copy(table.parameters.Flat, []float32{3, -3, 2.5, 2.5, -1.5, 1.5, -1.2, -1, 0})
	generating := exactly(table)
	for _, share := range shares {
		var own, best []float64
		for seed := range uint64(seeds) {
			set := openTable(t, generating, 1000, share, seed)
			machine := New(set.Shape()).Hidden(1)
			e := PCD().Epochs(epochs).BatchSize(300).Chains(500).LearningRate(4).Seed(seed+1).Experiment(machine, set)
			if err := e.Check(set); err != nil {
				t.Fatal(err)
			}
			begin, err := e.Begin(set)
			if err != nil {
				t.Fatal(err)
			}
			of, err := e.Learner(set, begin)
			if err != nil {
				t.Fatal(err)
			}
			learner := of.(*learner)
			perEpoch := e.Header().StepsPerEpoch(set.Train().Rows)
			for step := range e.Epochs * perEpoch {
				if _, err := learner.Steps(t.Context(), 1, func(int) float64 { return e.LearningRate(step, perEpoch) }); err != nil {
					t.Fatal(err)
				}
			}
			measured, err := learner.Validate(t.Context(), set.Test())
			if err != nil || math.IsNaN(measured["log_p"]) {
				t.Fatal(measured, err)
			}
			trained := *generating
			trained.Parameters = wide(learner.trainer.parameters)
			own, best = append(own, divergence(generating, &trained)), append(best, divergence(generating, likeliest(t, generating, set.Train())))
		}
		mean, of := stat.Mean(own, nil), stat.Mean(best, nil)
		se := stat.StdErr(stat.StdDev(best, nil), float64(seeds))
		t.Logf("%v missing: KL %.5f, of the likeliest machines %.5f ± %.5f", share, mean, of, se)
		if math.Abs(mean-of) > 2*se {
			t.Errorf("%v missing: KL %.5f, of the likeliest machines %.5f ± %.5f", share, mean, of, se)
		}
	}
}

// RAISE, and AIS of machines that are too large for an exact log Z, need base rates of complete rows. They are refused before
// anything is computed.
func TestAnnealingOfGapsIsRefusedFirst(t *testing.T) {
	set := openTable(t, exactly(randomModel(t, 4, 2)), 200, 0.3, 1)
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // so that whatever is computed ends with its error
	_, err := randomModel(t, 4, 2).Evaluations().Evaluate(ctx, runs.EvaluationOptions{Set: set, Rows: set.Test(), Raise: 5})
	if refused, is := errors.AsType[*runs.OptionError](err); !is || refused.Option != "raise" {
		t.Errorf("RAISE: %v", err)
	}
	large, o := randomModel(t, 26, 26), runs.EvaluationOptions{Set: set}
	_, err = large.Evaluations().Evaluate(ctx, o)
	_, _, failure := large.LogPOfRows(ctx, o)
	for _, err := range []error{err, failure} {
		if err == nil || !strings.Contains(err.Error(), "the train rows have missing values") {
			t.Errorf("AIS: %v", err)
		}
	}
}

// Machines and methods that need complete rows are refused by name, with a remedy that works.
func TestGapsAreRefusedByName(t *testing.T) {
	set := openTable(t, exactly(randomModel(t, 4, 2)), 200, 0.3, 1)
	for _, c := range []struct {
		machine Machine
		method  Method
		says    string
	}{
		{New(set.Shape()).Hidden(3, 2), PCD(), "a deep machine learns only from complete rows: use one hidden layer"},
		{New(set.Shape()).Hidden(3), PL(), "algorithm = pl learns only from complete rows: use pcd"},
		{New(set.Shape()).Hidden(3), PCD(), ""}, {New(set.Shape()).Hidden(3), CD(), ""}, {New(set.Shape()).Hidden(3), PT(), ""}, {New(set.Shape()).Hidden(3), PTT(), ""},
	} {
		e := c.method.BatchSize(20).Epochs(1).Experiment(c.machine, set)
		err := e.Check(set)
		if c.says == "" && err == nil {
			_, err = runs.Train(t.Context(), e, set, t.TempDir(), runs.Quiet)
		}
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v: %v", e, err)
		}
	}
}
