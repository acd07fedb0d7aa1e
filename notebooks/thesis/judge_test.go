package thesis

import (
	"math"
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
		{2.1, 1}: holds, {1.9, 1}: open, {-1.9, 1}: open, {-2.1, 1}: fails, {5, math.NaN()}: open, {math.NaN(), 1}: open,
	} {
		if got := g.verdict(); got != want {
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
	if want := (gain{2, 1}); g != want {
		t.Errorf("seeds of 1 and 3 less those of 0 are %v, want %v", g, want)
	}
}

func TestJudgementsAreAsGoodAsTheirWorstPart(t *testing.T) {
	for _, c := range []struct {
		parts []reproduce.Verdict
		want  reproduce.Verdict
	}{
		{[]reproduce.Verdict{holds, holds}, holds},
		{[]reproduce.Verdict{open, holds}, open},
		{[]reproduce.Verdict{open, fails, holds}, fails},
	} {
		var j judgement
		for _, v := range c.parts {
			j.add(v, "")
		}
		if j.verdict != c.want {
			t.Errorf("%v together are %s", c.parts, j.verdict)
		}
	}
	three := []reproduce.Verdict{holds, open, fails}
	for n, want := range []reproduce.Verdict{holds, holds, open, fails} {
		if got := atLeast(n, three); got != want {
			t.Errorf("%d of %v is %s, want %s", n, three, got, want)
		}
	}
}

// A curve that has no epoch yet where another is looked up leaves the order open.
func TestWhatCannotBeComparedIsOpen(t *testing.T) {
	var j judgement
	j.ahead("a over b", "places", []gain{{math.NaN(), 1}, {9, 1}})
	if j.verdict != open {
		t.Errorf("a place that cannot be compared is %s", j.verdict)
	}
	j = judgement{}
	j.behindLess(0.5, "places", []gain{{math.NaN(), 1}, {9, 1}})
	if j.verdict != open {
		t.Errorf("a distance that is not known is %s", j.verdict)
	}
	slow := trained{history: runs.History{Epochs: []runs.Epoch{
		{Epoch: 1, Seconds: 10, Validation: runs.Measures{runs.LogP.Key: -3}},
		{Epoch: 2, Seconds: 20, Validation: runs.Measures{runs.LogP.Key: -2}},
	}}}
	if got := at(9)(slow); !math.IsNaN(got) {
		t.Errorf("before the first epoch log p is %g", got)
	}
	if got := at(19)(slow); got != -3 {
		t.Errorf("before the second epoch log p is %g, want that of the first", got)
	}
	if got := end(slow); got != -2 {
		t.Errorf("at the end log p is %g", got)
	}
}
