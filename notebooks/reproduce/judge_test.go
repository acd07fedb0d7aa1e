package reproduce

import (
	"math"
	"slices"
	"testing"
)

// A quantity has to keep its limits by some standard errors, or may exceed them by as many.
func TestQuantitiesKeepTheirLimits(t *testing.T) {
	for _, c := range []struct {
		q    Quantity
		want Verdict
	}{
		{Measured(2.1, 1, "", "").Over(0), Holds},
		{Measured(1.9, 1, "", "").Over(0), Open},
		{Measured(-2.1, 1, "", "").Over(0), Fails},
		{Measured(2.1, 1, "", "").Over(0).Errors(3), Open},
		{Measured(0.1, 1, "", "").Over(0).Errors(0), Holds},
		{Measured(1.9, 1, "", "").Under(0).Errors(-2), Holds},
		{Measured(2.1, 1, "", "").Under(0).Errors(-2), Fails},
		{Measured(1.9, 1, "", "").Within(0).Errors(-2), Holds},
		{Measured(-2.1, 1, "", "").Within(0).Errors(-2), Fails},
		{Measured(0.2, 0.05, "", "").Within(0.3), Open},
		{Measured(0.2, 0.04, "", "").Within(0.3), Holds},
		{Measured(0.3, 0, "", "").Under(0.3), Fails},
		{Measured(math.NaN(), 0, "", "").Under(0.3), Open},
	} {
		if got := c.q.Verdict(); got != c.want {
			t.Errorf("%v by %g errors: %s, want %s", c.q, c.q.By, got, c.want)
		}
	}
	good, bad := Measured(1, 0, "", "").Over(0), Measured(-1, 0, "", "").Over(0)
	unknown, undecided := Quantity{Of: "lost"}, Quantity{Of: "at an end", Undecided: true}
	for _, c := range []struct {
		on   []Quantity
		want Verdict
	}{{[]Quantity{good}, Holds}, {[]Quantity{good, unknown}, Open}, {[]Quantity{unknown, bad, good}, Fails}, {[]Quantity{bad, undecided, good}, Open}} {
		if got := VerdictOn(c.on); got != c.want {
			t.Errorf("%v: %s, want %s", c.on, got, c.want)
		}
	}
}

// A verdict that was edited does not follow from its values.
func TestRejudge(t *testing.T) {
	on := []Quantity{Measured(-0.18, 0.11, "nats", "a over b").Over(0)}
	e := Entry{Result: Result{Numbers: []Number{{Of: "a", Measure: "log p"}, {Of: "a", Measure: "ratio"}}}}
	for _, says := range []string{"edited", "right", "shown", "looked at", "not recorded", "much"} {
		e.Claims = append(e.Claims, Claim{Says: says})
	}
	e.Claims[5].Amount = true
	m := Made{
		Scale:  Laptop,
		Values: []Value{{Of: "a", Measure: "log p", Ours: -1.5}, {Of: "a", Measure: "ratio", Elsewhere: shorter}},
		Judged: []Judged{
			{Says: "edited", Verdict: Fails, On: on}, {Says: "right", Verdict: Open, On: on},
			{Says: "shown", Verdict: Shown, Here: Holds, On: on}, {Says: "looked at", Verdict: Shown, On: on}, {Says: "not recorded", Verdict: Holds}, {Says: "much", Verdict: Holds},
		},
	}
	got, changed := e.Rejudge(m)
	if len(changed) != 6 || got.Values[0].Elsewhere != shorter || got.Values[1].Elsewhere != "" ||
		got.Judged[0].Verdict != Open || got.Judged[2].Here != Open || got.Judged[3].Here != "" || got.Judged[4].Verdict != Holds || got.Judged[5].Verdict != Shown || got.Judged[5].Here != Holds {
		t.Errorf("%q: %+v", changed, got)
	}
	if m.Judged[0].Verdict != Fails {
		t.Errorf("the finding that is judged anew is itself changed: %+v", m)
	}
	if _, again := e.Rejudge(got); again != nil {
		t.Errorf("what was judged anew changes again: %q", again)
	}
	e.Numbers, e.Claims = e.Numbers[:1], e.Claims[:4]
	if _, gone := e.Rejudge(got); !slices.Equal(gone, []string{"ratio of a: no longer in the criteria", "not recorded: no longer in the criteria", "much: no longer in the criteria"}) {
		t.Errorf("what the criteria no longer have: %q", gone)
	}
}
