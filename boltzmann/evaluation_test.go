package boltzmann

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/helmholtz-go/helmholtz/boltzmann/oracle"
	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/statistics"
	"github.com/helmholtz-go/helmholtz/runs"
)

// evaluated opens glyphs of few pixels, and a model of them.
func evaluated(t *testing.T, hidden int) (*dataset.Set, *Model) {
	t.Helper()
	set, err := dataset.Spec{Name: "miniglyphs", Subset: 100, Seed: 1}.Open()
	if err != nil {
		t.Fatal(err)
	}
	m, err := New(set.Shape()).Hidden(hidden).Deviation(0.3).Model(1)
	if err != nil {
		t.Fatal(err)
	}
	return set, m
}

// Of a machine of few hidden units an evaluation has the exact mean of log p, by log Z
// and the free energies.
func TestExactEvaluation(t *testing.T) {
	set, m := evaluated(t, 6)
	e, err := m.Evaluate(t.Context(), set, set.Test(), Annealing{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	logs, err := m.ExactLogP(t.Context(), set.Test())
	if err != nil {
		t.Fatal(err)
	}
	mean, se := statistics.MeanAndErrorOf(logs)
	if math.Abs(float64(e.LogP)-mean) > 1e-9 || math.Abs(float64(e.LogPSE)-se) > 1e-9 {
		t.Errorf("log p is %v ± %v, want %v ± %v", e.LogP, e.LogPSE, mean, se)
	}
	if e.LogPErrs != runs.Exact || e.Errs != runs.Exact || e.LogZ.SE != 0 || e.Low != e.LogZ.Value || e.Chains != 0 || e.Schedule != nil {
		t.Errorf("an exact log Z is %+v", e.LogZ)
	}
	text, err := json.Marshal(e)
	if err != nil || !strings.Contains(string(text), `"ess":null`) || !strings.Contains(string(text), `"log_p_errs":"exact"`) {
		t.Errorf("JSON is %s (%v)", text, err)
	}
	line := NewExperiment(Persistent).Baseline(set, set.Test())
	if float64(e.BaselineLogP) != line.Factorized.Value || e.Diverged != line.Far(runs.LogP, float64(e.LogP)) {
		t.Errorf("the baseline is %v, %v", e.BaselineLogP, e.Diverged)
	}
}

// What JSON has of an evaluation is read as it was written.
func TestEvaluationsRoundTrip(t *testing.T) {
	set, m := evaluated(t, 6)
	exact, err := m.Evaluate(t.Context(), set, set.Test().Subset(20, 1), Annealing{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	z := NewLogZ([]float64{5, 6, 7}, 1, Adaptive(200), 200)
	same := cmp.Comparer(func(a, b runs.Float) bool { // what is not finite is null
		return a == b || !statistics.Finite(float64(a)) && !statistics.Finite(float64(b))
	})
	for _, e := range []Evaluation{exact, {LogZ: z, LogPErrs: runs.ErrsEither, RAISE: &Raised{LogP: 3}, Classification: &Classification{Data: 2}}} {
		text, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		var back Evaluation
		if err := json.Unmarshal(text, &back); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(e, back, same, cmpopts.IgnoreFields(LogZ{}, "Each"), cmpopts.IgnoreFields(Drift{}, "Path"), cmp.AllowUnexported(AnnealingSchedule{}), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("(-written +read):\n%s", diff)
		}
	}
	if text := runs.Errs(7).String(); text != "invalid(7)" {
		t.Errorf("a side without a name is %q", text)
	}
	if _, err := runs.Errs(7).MarshalText(); err == nil || !strings.Contains(err.Error(), "use exact, low, high or either") {
		t.Errorf("a side without a name is written: %v", err)
	}
}

// A set whose rows the model reads otherwise than they are has a baseline of other rows.
func TestSetsOfAnotherBinarizationAreRefused(t *testing.T) {
	set, m := evaluated(t, 6)
	for _, b := range []dataset.Binarization{dataset.Stochastic, dataset.Gray} {
		spec := set.Spec()
		spec.Binarization = b
		other, err := spec.Open()
		if err != nil {
			t.Fatal(err)
		}
		_, evaluation := m.Evaluate(t.Context(), other, other.Test(), Annealing{}, nil)
		_, raised := Evaluation{}.WithRAISE(t.Context(), m, other, other.Test(), Annealing{}, nil)
		for _, err := range []error{evaluation, raised} {
			if says := fmt.Sprintf("the rows of miniglyphs have the binarization %v, the model has fixed: open the set with", b); err == nil || !strings.Contains(err.Error(), says) {
				t.Errorf("error %v, want one that says %q", err, says)
			}
		}
	}
}

// Where log Z is estimated, log p is by that estimate, and RAISE is compared on its own
// rows.
func TestAnnealedEvaluation(t *testing.T) {
	set, m := evaluated(t, 12)
	a := Annealing{Schedule: Adaptive(500), Chains: 200}
	z, err := m.AIS(t.Context(), set.Train(), a, nil)
	if err != nil {
		t.Fatal(err)
	}
	exact, err := m.Evaluate(t.Context(), set, set.Test(), a, nil)
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(float64(z.Value-exact.LogZ.Value)) > 4*float64(z.SE) || !(z.Low <= exact.LogZ.Value && exact.LogZ.Value <= z.High) {
		t.Errorf("log Z = %v ± %v, from %v to %v, where it is %v", z.Value, z.SE, z.Low, z.High, exact.LogZ.Value)
	}
	few, by := set.Test().Subset(20, 1), Annealing{Schedule: Even(100), Chains: 2}
	e, err := exact.WithRAISE(t.Context(), m, set, few, by, nil)
	if err != nil {
		t.Fatal(err)
	}
	raised, err := m.RAISE(t.Context(), set.Train(), few, by, nil)
	if err != nil {
		t.Fatal(err)
	}
	logs, err := m.ExactLogP(t.Context(), few)
	if err != nil {
		t.Fatal(err)
	}
	mean, _ := statistics.MeanAndErrorOf(logs)
	low, _ := statistics.MeanAndErrorOf(raised)
	if math.Abs(float64(e.RAISE.LogP)-low) > 1e-9 || math.Abs(float64(e.RAISE.Excess)-(mean-low)) > 1e-9 || e.RAISE.Data != 20 || e.RAISE.Chains != 2 {
		t.Errorf("an evaluation has %+v, where log p is %v, and %v by RAISE", *e.RAISE, mean, low)
	}
}

// Runs are evaluated on rows alone as their models are with these for base rates.
func TestModelsAreEstimated(t *testing.T) {
	set, _ := evaluated(t, 1)
	for hidden, annealing := range map[int]bool{5: false, 30: true} {
		e := PCD().BatchSize(20).Chains(10).Epochs(1).Experiment(New(set.Shape()).Hidden(hidden), set)
		s, err := e.Begin(set)
		if err != nil {
			t.Fatal(err)
		}
		m, err := e.modelOf(s)
		if err != nil {
			t.Fatal(err)
		}
		of, err := m.Estimate(t.Context(), set.Test(), 10, 3, nil)
		if err != nil {
			t.Fatal(err)
		}
		z, err := m.WithSeed(3).LogZ(t.Context(), set.Test(), Annealing{Chains: 10}, nil)
		if err != nil || (z.Errs == runs.ErrsLow) != annealing {
			t.Fatalf("log Z is %+v (%v)", z, err)
		}
		for _, chains := range []int{9, 20} { // the standard error of log Z, unless chains are few
			o := runs.EvaluationOptions{Set: set, Rows: set.Test(), Seed: 3, Chains: chains, Schedule: "even:50"}
			if refused := new(runs.OptionError); !annealing {
				if _, _, _, err := m.LogPAndErrors(t.Context(), o); !errors.As(err, &refused) {
					t.Errorf("chains for an exact log Z: %v, want an OptionError", err)
				}
				o.Chains, o.Schedule = 0, ""
			}
			_, se, _, err := m.LogPAndErrors(t.Context(), o)
			annealed, failure := m.WithSeed(3).LogZ(t.Context(), set.Train(), Annealing{Chains: chains, Schedule: Even(50)}, nil)
			switch {
			case err != nil || failure != nil:
				t.Fatal(err, failure)
			case !annealing && se != nil, annealing && len(se) != set.Test().Rows:
				t.Errorf("%d hidden units have the standard errors %v", hidden, se)
			case annealing && (math.IsNaN(se[1]) != annealed.SampleSize().Few() || !math.IsNaN(se[1]) && se[1] != float64(annealed.SE)):
				t.Errorf("log p has the standard error %v, and log Z %v", se[1], annealed.SE)
			}
		}
		if of[runs.LogZ.Key].Value != float64(z.Value) || math.Abs(of[runs.LogP.Key].Value+of[runs.FreeEnergy.Key].Value+float64(z.Value)) > 1e-9 {
			t.Errorf("%d hidden units: %v, where log Z is %v", hidden, of, z.Value)
		}
	}
}

// The interval of log Z is not finite on the side where three standard errors are more than
// Ẑ, and that is null in JSON.
func TestIntervalsOfLogZ(t *testing.T) {
	for sign, errs := range map[float64]runs.Errs{1: runs.ErrsLow, -1: runs.ErrsHigh} {
		z := NewLogZ([]float64{5, 5 + sign*3}, errs, Even(3), 3)
		want := 5 + sign*math.Log((1+math.Exp(3))/2)
		infinite := map[runs.Errs]runs.Float{runs.ErrsLow: z.Low, runs.ErrsHigh: z.High}[errs]
		if math.Abs(float64(z.Value)-want) > 1e-12 || z.Errs != errs || !math.IsInf(float64(infinite), int(-sign)) || !(z.Low < z.Value && z.Value < z.High) {
			t.Errorf("sign %v: %+v, want %v", sign, z, want)
		}
		if text, err := json.Marshal(z); err != nil || !strings.Contains(string(text), "null") {
			t.Errorf("JSON is %s (%v)", text, err)
		}
		if want := 0.5 * math.Pow(1+math.Exp(3), 2) / (1 + math.Exp(6)); math.Abs(float64(z.ESS)-want) > 1e-12 {
			t.Errorf("ESS = %v, want %v", z.ESS, want)
		}
	}
}

func TestEvaluationsSayWhatTheyCannotDo(t *testing.T) {
	set, m := evaluated(t, 30)
	_, exact := evaluated(t, 5)
	rows := set.Test()
	for _, c := range []struct {
		says string
		err  error
	}{
		{"give at least 1", second(m.AIS(t.Context(), rows, Annealing{Chains: -1}, nil))},
		{"give at least 1", second(exact.Evaluate(t.Context(), set, rows, Annealing{Chains: -1}, nil))},
		{"fewer than 2³²", second(m.RAISE(t.Context(), rows, rows, Annealing{Chains: 1 << 31}, nil))},
		{"give between 1 and", second(m.AIS(t.Context(), rows, Annealing{Schedule: Even(0)}, nil))},
		{"use at most 25 of one", second(m.ReverseAIS(t.Context(), rows, Annealing{Schedule: Even(3)}, nil))},
		{"visible units", second(m.AIS(t.Context(), split([][]float64{{1}}), Annealing{}, nil))},
		{"at least 1 of each", second(m.Inpaint(t.Context(), rows, append(make(dataset.Mask, rows.Shape.Units()-1), true), 0, 1, nil))},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.says) {
			t.Errorf("error %v, want one that says %q", c.err, c.says)
		}
	}
}

// A filter has the weights of a hidden unit around grey, the largest black or white.
func TestFilters(t *testing.T) {
	m := randomModel(t, 4, 2)
	copy(m.parameters.Weights.Data, []float32{2, 0, -1, 0, 0, 0, 1, 0})
	sheet, err := m.Filters(2)
	if err != nil {
		t.Fatal(err)
	}
	for j, want := range [][]float64{{1, 0.25, 0.5, 0.75}, {0.5, 0.5, 0.5, 0.5}} {
		if !slices.Equal(sheet.Values[j], want) {
			t.Errorf("filter %d is %v, want %v", j, sheet.Values[j], want)
		}
	}
	if _, err := m.Filters(3); err == nil || !strings.Contains(err.Error(), "between 1 and 2") {
		t.Errorf("error %v", err)
	}
}

// An estimate of log Z is printed in a line, and not with the estimate by each of its chains.
func TestLogZIsPrintedInALine(t *testing.T) {
	each := slices.Repeat([]float64{3, 4}, 50)
	text := fmt.Sprint(NewLogZ(each, 1, Published(), 14500))
	if !strings.HasPrefix(text, "log Z 3.") || !strings.Contains(text, " of 100 chains, schedule published of 14500 steps") || strings.Contains(text, "[") {
		t.Errorf("it is printed as %s", text)
	}
}

// The probabilities of all states sum to 1, and with a log Z that is a nat too low to more, which refutes
// it. Few steps of annealing have a log Z that distinct rows refute, and an effective sample size
// that is called optimistic.
func TestDistinctRowsRefuteLogZ(t *testing.T) {
	m := randomModel(t, 5, 3)
	states := oracle.Binary(5)
	energies, err := m.FreeEnergy(t.Context(), split(states))
	if err != nil {
		t.Fatal(err)
	}
	logZ, err := m.ExactLogZ(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]float64{}
	for s, v := range states {
		all[fmt.Sprint(v)] = energies[s]
	}
	if mass := massOf(all, logZ); math.Abs(float64(mass.LogSum)) > 1e-6 || mass.Refutes || mass.Rows != 32 {
		t.Errorf("all states have %+v, want the sum 1", mass)
	}
	if mass := massOf(all, logZ-1); math.Abs(float64(mass.LogSum)-1) > 1e-6 || !mass.Refutes {
		t.Errorf("with log Z a nat too low all states have %+v", mass)
	}

	_, large := evaluated(t, 40)
	for k := range large.parameters.Weights.Data {
		large.parameters.Weights.Data[k] *= 12
	}
	samples, err := large.Means(t.Context(), 20, 100)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range samples.Values {
		for i := range row {
			row[i] = math.Round(row[i])
		}
	}
	set, err := dataset.FromRows("samples", samples.Shape, samples.Values, samples.Values)
	if err != nil {
		t.Fatal(err)
	}
	e, err := large.Evaluate(t.Context(), set, set.Train(), Annealing{Schedule: Even(1), Chains: 20}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if text := e.String(); !e.Mass.Refutes || !e.Optimistic || !strings.Contains(text, "log Z is refuted: the estimated p(v) of") || !strings.Contains(text, "at most this in expectation: 1.0 of 20 chains effective; half of them give") {
		t.Errorf("the evaluation says %s", text)
	}
}
