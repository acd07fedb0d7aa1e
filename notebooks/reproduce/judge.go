package reproduce

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Verdict is a verdict on a number or a claim.
type Verdict string

const (
	Holds Verdict = "holds" // for claims
	Fails Verdict = "fails"
	Open  Verdict = "open" // less than twice the standard error apart

	Reproduced Verdict = "reproduced" // for numbers: within the tolerance
	Met        Verdict = "met"        // for bounds
	Exceeded   Verdict = "exceeded"   // better than the tolerance
	Missed     Verdict = "missed"     // worse than the tolerance
	Shown      Verdict = "shown"      // without a verdict
)

const noVerdict = "no verdict"

// Quantity is a measured quantity on which the verdict on a claim rests, with its limits.
type Quantity struct {
	Of    string   `json:"of"`
	Value *float64 `json:"value,omitempty"` // nil if it is unknown, which leaves the verdict open
	SE    float64  `json:"se,omitempty"`    // standard error
	Unit  string   `json:"unit,omitempty"`
	N     int      `json:"n,omitempty"`    // seeds or rows behind it; for a count, the number of comparisons
	Open  int      `json:"open,omitempty"` // comparisons by which a count may still grow
	Above *float64 `json:"above,omitempty"`
	Below *float64 `json:"below,omitempty"`
	// By is the number of standard errors by which Value must stay within the limits. If By is negative,
	// Value may exceed the limits by −By standard errors.
	By float64 `json:"by,omitempty"`
	// Undecided leaves the verdict open for the reason Of, whatever other quantities show.
	Undecided bool `json:"undecided,omitempty"`
}

// Measured returns a quantity with its standard error, which is 0 if it has none. The quantity is unknown if either
// is not finite.
func Measured(x, se float64, unit, of string, values ...any) Quantity {
	q := Quantity{Of: fmt.Sprintf(of, values...), Unit: unit, By: 2}
	if !math.IsNaN(x-x) && !math.IsNaN(se-se) { // neither NaN nor infinite
		q.Value, q.SE = &x, se
	}
	return q
}

// Over and Under return the quantity with a limit that it must be above or below.
func (q Quantity) Over(limit float64) Quantity {
	q.Above = &limit
	return q
}

func (q Quantity) Under(limit float64) Quantity {
	q.Below = &limit
	return q
}

// Within returns the quantity with the limits −limit and limit.
func (q Quantity) Within(limit float64) Quantity { return q.Over(-limit).Under(limit) }

// Errors returns the quantity with the number of standard errors by which it must stay within its limits.
func (q Quantity) Errors(by float64) Quantity {
	q.By = by
	return q
}

// Verdict returns Holds if the quantity stays within its limits, Fails if it does not, and Open if its error or open
// comparisons leave this undecided.
func (q Quantity) Verdict() Verdict {
	if q.Value == nil || q.Undecided {
		return Open
	}
	low, high := *q.Value-q.By*q.SE, *q.Value+q.By*q.SE+float64(q.Open)
	switch {
	case (q.Above == nil || low > *q.Above) && (q.Below == nil || high < *q.Below):
		return Holds
	case q.Above != nil && high < *q.Above, q.Below != nil && low > *q.Below, q.SE == 0 && q.Open == 0:
		return Fails
	}
	return Open
}

func (q Quantity) String() string {
	var text string
	switch {
	case q.Value == nil:
		return q.Of
	case q.SE > 0:
		text = fmt.Sprintf("%s %+.3f ± %.3f %s", q.Of, *q.Value, q.SE, q.Unit)
	case q.N > 0:
		text = fmt.Sprintf("%s %g of %d", q.Of, *q.Value, q.N)
		if q.Open > 0 {
			text += fmt.Sprintf(" (%d open)", q.Open)
		}
	default:
		text = fmt.Sprintf("%s %.4g %s", q.Of, *q.Value, q.Unit)
	}
	return strings.TrimSuffix(text, " ")
}

// VerdictOn returns the verdict on a claim that rests on quantities: the worst of their verdicts, or Open if one of
// them is Undecided.
func VerdictOn(on []Quantity) Verdict {
	verdict := Holds
	for _, q := range on {
		switch v := q.Verdict(); {
		case q.Undecided:
			return Open
		case v == Fails || verdict == Holds:
			verdict = v
		}
	}
	return verdict
}

// Judged is the finding on a claim.
type Judged struct {
	Says    string  `json:"says"`
	Verdict Verdict `json:"verdict"`
	// Here is how the criterion stands with the available training and data, if there is no verdict.
	Here     Verdict `json:"here,omitempty"`
	Evidence string  `json:"evidence"`
	// On are the quantities from which the verdict follows; findings made before 26 November 2026 record none.
	On []Quantity `json:"on,omitempty"`

	shortened bool // whether training was shorter than at the scale full
}

// String returns the verdict, or how the criterion stands if there is none.
func (j Judged) String() string {
	switch {
	case j.Verdict == "":
		return "not judged"
	case j.shortened && (j.Verdict == Holds || j.Verdict == Fails):
		return string(j.Verdict) + " at a shortened length"
	case j.Verdict != Shown:
		return string(j.Verdict)
	case j.Here == "":
		return noVerdict
	case j.Here == Open:
		return noVerdict + ", here it is open"
	}
	return fmt.Sprintf("%s, here it %s", noVerdict, j.Here)
}

// judge returns the verdict on the measured value of a number, or Shown if there can be none. A value outside
// the tolerance by less than twice its standard error is Open.
func (n Number) judge(v Value) Verdict {
	if n.Tolerance == nil || v.Elsewhere != "" {
		return Shown
	}
	difference := v.Ours - n.Published
	if n.lessIsBetter() {
		difference = -difference
	}
	unsure := 2 * v.error()
	switch {
	case difference < -*n.Tolerance-unsure:
		return Missed
	case difference < -*n.Tolerance:
		return Open
	case n.isBound():
		return Met
	case difference <= *n.Tolerance:
		return Reproduced
	case difference <= *n.Tolerance+unsure:
		return Open
	case strings.HasPrefix(n.Measure, "difference"), n.Measure == "parameters": // neither a smaller nor a larger value is better
		return Missed
	}
	return Exceeded
}

func (n Number) isBound() bool { return n.Measure == "at most" || n.Measure == "at least" }

func (n Number) lessIsBetter() bool {
	return strings.HasPrefix(n.Measure, "−") || slices.Contains([]string{"ratio", "error", "at most", "sd of log p"}, n.Measure)
}

// atAnyLength reports whether the number gets a verdict whatever the length of training. Ratios of times do.
func (n Number) atAnyLength() bool {
	return n.AnyLength || n.Measure == "ratio" || n.Measure == "factor saved"
}

// error returns the standard error of the value: over seeds if there are several, otherwise over
// rows. It is 0 if neither is known.
func (v Value) error() float64 {
	switch {
	case v.SE != nil:
		return *v.SE
	case v.SD != nil && v.Seeds > 1:
		return *v.SD / math.Sqrt(float64(v.Seeds))
	}
	return 0
}

// shorter is the reason why a number gets no verdict after a shorter training.
const shorter = "shorter than published"

// elsewhere returns why a number gets no verdict, or "" if it gets one. reason is the reason that the measurement
// itself gave, or "".
func (e Entry) elsewhere(m Made, n Number, reason string) string {
	switch {
	case m.Scale == Smoke:
		return "made-up data"
	case reason == shorter && n.atAnyLength():
		return ""
	case reason == "" && !n.atAnyLength() && (m.Scale != Full || e.shorter(m)):
		return shorter
	}
	return reason
}

// Rejudging is a new judgement of stored values by criteria that have changed.
type Rejudging struct {
	Date   string `json:"date"`
	By     string `json:"by"` // version of the program, with its commit
	Reason string `json:"reason"`
	// Changed lists the changes: "fig5.6 ratio: no verdict → open".
	Changed []string `json:"changed,omitempty"`
}

// Rejudge judges the stored values of a finding anew, and returns the finding with a list of the changes. Numbers
// are judged by today's criteria, claims by the limits that are stored with their quantities. Verdicts whose
// quantities were not recorded are kept. The list names numbers and claims that the criteria no longer have.
func (e Entry) Rejudge(m Made) (Made, []string) {
	var changed []string
	change := func(what string, from *string, to string) {
		if *from != to {
			changed = append(changed, fmt.Sprintf("%s: %q → %q", what, *from, to))
			*from = to
		}
	}
	m.Values, m.Judged = slices.Clone(m.Values), slices.Clone(m.Judged)
	for i := range m.Values {
		v := &m.Values[i]
		n, has := e.Number(v.Of, v.Measure)
		if !has {
			changed = append(changed, fmt.Sprintf("%s of %s: no longer in the criteria", v.Measure, v.Of))
			continue
		}
		change(n.String()+", elsewhere", &v.Elsewhere, e.elsewhere(m, n, v.Elsewhere))
	}
	for i := range m.Judged {
		j := &m.Judged[i]
		claim, has := first(e.Claims, func(c Claim) bool { return c.names(*j) })
		if !has {
			changed = append(changed, j.Says+": no longer in the criteria")
			continue
		}
		if claim.Amount && j.Verdict != Shown && e.shorter(m) {
			change(j.Says+", here", (*string)(&j.Here), string(j.Verdict))
			change(j.Says, (*string)(&j.Verdict), string(Shown))
		}
		to := &j.Verdict
		if j.Verdict == Shown {
			to = &j.Here
		}
		if len(j.On) > 0 && *to != "" {
			change(j.Says, (*string)(to), string(VerdictOn(j.On)))
		}
	}
	return m, changed
}
