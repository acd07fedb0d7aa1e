package thesis

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/notebooks/reproduce"
	"github.com/helmholtz-go/helmholtz/runs"
)

const (
	holds = reproduce.Holds
	open  = reproduce.Open
	fails = reproduce.Fails
)

// An order holds, is open or fails by twice the standard error.
func TestGainsAreJudgedByTwiceTheirStandardError(t *testing.T) {
	for g, want := range map[gain]reproduce.Verdict{
		{2.1, 1, 3}: holds, {1.9, 1, 3}: open, {-1.9, 1, 3}: open, {-2.1, 1, 3}: fails, {5, math.NaN(), 3}: open, {math.NaN(), 1, 3}: open,
	} {
		if got := g.of("").Over(0).Verdict(); got != want {
			t.Errorf("%v is %s, want %s", g, got, want)
		}
	}
}

// What rows have in common is no part of the error of a difference of one seed, and rows
// are none of that of several.
func TestDifferencesAreTakenOverRowsOrSeeds(t *testing.T) {
	of := func(logP float64, each ...float64) evaluation {
		e := evaluation{Each: each}
		e.LogP = logP
		return e
	}
	g := difference([]evaluation{of(3, 101, -99, 7)}, []evaluation{of(0, 98, -102, 4)})
	if g.nats != 3 || g.se != 0 {
		t.Errorf("rows that all differ by 3 differ by %v", g)
	}
	g = difference([]evaluation{of(1), of(3)}, []evaluation{of(0), of(0)})
	if want := (gain{2, 1, 2}); g != want {
		t.Errorf("seeds of 1 and 3 less those of 0 are %v, want %v", g, want)
	}
}

// At the seconds at which an epoch ends it counts, however these have been added up.
func TestEpochsEndAtTheirSeconds(t *testing.T) {
	const perEpoch, epochs = 0.1, 30
	var of trained
	for epoch := 1; epoch <= epochs; epoch++ {
		measures := runs.Measures{runs.LogP.Key: float64(epoch)}
		of.history.Epochs = append(of.history.Epochs, runs.Epoch{Epoch: epoch, Seconds: perEpoch * float64(epoch), Validation: measures})
	}
	seeds := curve{of, of, of}
	for tenth := 1; tenth <= 10; tenth++ {
		if got, want := seeds.mean(at(seeds.seconds()*float64(tenth)/10)), float64(epochs*tenth/10); math.Abs(got-want) > 1e-6 {
			t.Errorf("after %d tenths of the seconds of %d epochs the curve is at epoch %v, want %v", tenth, epochs, got, want)
		}
	}
}

// Norms over the layers of all networks are the same each time, to the last bit.
func TestNormsAreAddedInOneOrder(t *testing.T) {
	e := runs.Epoch{Norms: runs.Norms{"large": {{Weights: 1}}}}
	for i := range 20 { // their squares vanish beside 1, but not all together
		e.Norms[fmt.Sprint(i)] = []runs.LayerNorms{{Weights: 1e-8}}
	}
	h := norms{Epochs: []runs.Epoch{e}}
	want := h.at(1, ofWeights)
	for range 100 {
		if got := h.at(1, ofWeights); got != want {
			t.Fatalf("%v, and again %v", want, got)
		}
	}
}

// The rows of two machines share the error of each log Z, which their differences keep.
func TestErrorsOfLogZAreKept(t *testing.T) {
	a := annealed{Each: []float64{1, 2, 3}, annealedLogZ: annealedLogZ{SE: 0.3}}
	b := annealed{Each: []float64{0, 1, 2}, annealedLogZ: annealedLogZ{SE: 0.4}}
	if g := a.over(b); g.nats != 1 || math.Abs(g.se-0.5) > 1e-12 {
		t.Errorf("rows that all differ by 1, with log Z known to 0.3 and to 0.4, differ by %v", g)
	}
	if mean, se := a.mean(); mean != 2 || math.Abs(se-math.Hypot(1/math.Sqrt(3), 0.3)) > 1e-12 {
		t.Errorf("mean %v ± %v", mean, se)
	}
}

// A search passes over trainings that have diverged, names them, and fails where all have.
func TestSearchesPassOverDivergedTrainings(t *testing.T) {
	lost, missing := &reproduce.Diverged{Name: "rws", Seed: 1}, errors.New("no such run")
	search := func(scores map[float64]float64, err error) (best string, at int, passed passedOver, failed error) {
		failed = untilAnError(func() {
			best, at = bestOf(&passed, []float64{0.1, 0.2, 0.4}, func(η float64) (string, float64) {
				score, is := scores[η]
				if !is {
					check(err)
				}
				return fmt.Sprint(η), score
			})
		})
		return best, at, passed, failed
	}
	best, at, passed, err := search(map[float64]float64{0.1: -3, 0.2: -2}, lost)
	var j judgement
	passed.note(&j)
	evidence := strings.Join(j.evidence, "; ")
	if best != "0.2" || at != 1 || err != nil || !strings.Contains(evidence, "rws, seed 1") {
		t.Errorf("best at %s, number %d, %v; evidence %q", best, at, err, evidence)
	}
	if best, _, _, err := search(map[float64]float64{0.1: math.NaN(), 0.2: -2, 0.4: math.NaN()}, nil); best != "0.2" || err != nil {
		t.Errorf("where some have no score, %s is best, %v", best, err)
	}
	if _, _, _, err := search(nil, lost); err != lost {
		t.Errorf("where all have diverged: %v", err)
	}
	if _, _, _, err := search(map[float64]float64{0.1: -3}, missing); err != missing {
		t.Errorf("where one is missing: %v", err)
	}
}

// What has to be looked at is not said to hold by what is measured of it, and fails with that.
func TestLookedAtClaims(t *testing.T) {
	for x, want := range map[float64]reproduce.Verdict{1: reproduce.Shown, math.NaN(): reproduce.Shown, -1: fails} {
		e := reproduce.Entry{
			Result:    reproduce.Result{ID: "x/fig1", Claims: []reproduce.Claim{{Says: "(shown) Digits."}}},
			Trainings: func(reproduce.Scale) []reproduce.Training { return nil },
		}
		e.Make = func(ctx context.Context, of *reproduce.Work) error {
			w := &work{Work: of, ctx: ctx}
			w.look("(shown) Digits.").add(exact(x, "", "measured").Over(0))
			w.record()
			return nil
		}
		made, err := e.Produce(t.Context(), &reproduce.Work{Scale: reproduce.Full}, t.TempDir(), t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		if found, _ := made.Verdict(e.Claims[0]); found.Verdict != want {
			t.Errorf("where the measure is %g, the claim %s, want %s", x, found.Verdict, want)
		}
	}
}

// A claim holds if so many of several comparisons hold, and is open if the open ones could still make it hold.
func TestCounts(t *testing.T) {
	three := ofGains([]gain{{9, 1, 1}, {0, 1, 1}, {-9, 1, 1}})
	for n, want := range []reproduce.Verdict{holds, holds, open, fails} {
		if got := atLeast(n, "", three).Verdict(); got != want {
			t.Errorf("%d of three that hold, are open and fail is %s, want %s", n, got, want)
		}
	}
}

// A curve that has no epoch yet where another is looked up leaves the order open; the place where the lead is least
// sure decides.
func TestWhatCannotBeComparedIsOpen(t *testing.T) {
	for _, c := range []struct {
		gains []gain
		want  reproduce.Verdict
	}{
		{[]gain{{math.NaN(), 1, 1}, {9, 1, 1}}, open}, {[]gain{{math.NaN(), 1, 1}, {-9, 1, 1}}, fails},
		{[]gain{{3, 1, 1}, {9, 9, 1}}, open}, {[]gain{{3, 1, 1}, {9, 1, 1}}, holds},
	} {
		var j judgement
		j.ahead("a over b", "places", c.gains)
		if got := reproduce.VerdictOn(j.on); got != c.want {
			t.Errorf("%v is %s, want %s", c.gains, got, c.want)
		}
	}
	slow := trained{history: runs.History{Epochs: []runs.Epoch{
		{Epoch: 1, Seconds: 10, Validation: runs.Measures{runs.LogP.Key: -3}},
		{Epoch: 2, Seconds: 20, Validation: runs.Measures{runs.LogP.Key: -2}},
	}}}
	if got := at(9)(slow); !math.IsNaN(got) {
		t.Errorf("before the first epoch log p is %g", got)
	}
	for seconds, want := range map[float64]float64{10: -3, 15: -2.5, 20: -2, 30: -2} {
		if got := at(seconds)(slow); got != want {
			t.Errorf("after %g seconds log p is %g, want %g, on the line between the epochs", seconds, got, want)
		}
	}
	if got := end(slow); got != -2 {
		t.Errorf("at the end log p is %g", got)
	}
}
