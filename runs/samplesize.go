package runs

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"github.com/helmholtz-go/helmholtz/internal/names"
)

// Errs tells in which direction a number is biased.
type Errs int

const (
	Exact      Errs = iota // no bias
	ErrsLow                // too low in expectation
	ErrsHigh               // too high in expectation
	ErrsEither             // a sum of terms that are too low and terms that are too high, or a bias of unknown direction
)

// Opposite returns the bias of −x, given the bias of x.
func (e Errs) Opposite() Errs { return [...]Errs{Exact, ErrsHigh, ErrsLow, ErrsEither}[e] }

// And returns the bias of a sum, given the biases of its two terms.
func (e Errs) And(other Errs) Errs {
	switch {
	case e == Exact || e == other:
		return other
	case other == Exact:
		return e
	}
	return ErrsEither
}

var errsNames = names.New("side of an error", "exact", "low", "high", "either")

func (e Errs) String() string                { return errsNames.Name(int(e)) }
func (e Errs) MarshalText() ([]byte, error)  { return errsNames.Marshal(int(e)) }
func (e *Errs) UnmarshalText(t []byte) error { return errsNames.Parse((*int)(e), t) }

// bound returns the words that precede a value without a standard error.
func (e Errs) bound() string { return [...]string{"roughly", "at least", "at most", "roughly"}[e] }

// SampleSize describes the weighted samples or the chains behind an estimate. The zero value describes a number that
// needs none.
type SampleSize struct {
	Errs      Errs   `json:"errs"`      // the bias of the estimate
	Of        string `json:"of"`        // "chains", "samples a row" or the like; texts do not describe them if it is empty
	Count     int    `json:"count"`     // their number
	Effective Float  `json:"effective"` // their effective number, at most Count
	// Moved is the estimate from all less the estimate from half of the samples or chains, or NaN if it is unknown.
	Moved Float `json:"moved"`
}

// leastEffective is the number of samples or chains, and of effective ones, below which estimates have no standard error.
const leastEffective = 10

// Few reports whether there are fewer than 10 samples or chains, or fewer than 10 effective ones. A few weights then
// decide the estimate, and their spread does not show its error. Texts, tables and the JSON of the command line give no
// standard error then, but say in words which kind of bound the estimate is.
func (s SampleSize) Few() bool {
	return s.Count > 0 && (s.Count < leastEffective || !(s.Effective >= leastEffective))
}

// Lean reports whether Few holds, or fewer than 100 or a tenth of the samples or chains are effective.
func (s SampleSize) Lean() bool {
	return s.Few() || s.Count > 0 && float64(s.Effective) < max(10*leastEffective, float64(s.Count)/10)
}

// String returns the bound in words if Few holds, followed by Detail.
func (s SampleSize) String() string {
	switch {
	case s.Of == "":
		return ""
	case s.Few() && (s.Errs == ErrsLow || s.Errs == ErrsHigh):
		return s.Errs.bound() + " this in expectation: " + s.Detail()
	case s.Few():
		return "neither a lower nor an upper bound: " + s.Detail()
	}
	return s.Detail()
}

// Detail returns how many samples or chains are effective and how far the estimate by half of them is from the estimate,
// or "" if Lean does not hold.
func (s SampleSize) Detail() string {
	if !s.Lean() {
		return ""
	}
	kind, of, _ := strings.Cut(s.Of, " ")
	text := strings.TrimSpace(names.Count(s.Count, strings.TrimSuffix(kind, "s")) + " " + of)
	if s.Count < leastEffective {
		text = "only " + text
	} else {
		text = fmt.Sprintf("%.1f of %s effective", math.Floor(10*float64(s.Effective))/10, text)
	}
	if moved := float64(s.Moved); !math.IsNaN(moved) {
		direction := "less"
		if moved < 0 {
			direction = "more"
		}
		text += fmt.Sprintf("; half of them give %.3f %s", math.Abs(moved), direction)
	}
	return text
}

// MarshalJSON adds the result of Few.
func (s SampleSize) MarshalJSON() ([]byte, error) {
	type plain SampleSize
	return json.Marshal(struct {
		plain
		Few bool `json:"few"`
	}{plain(s), s.Few()})
}

// Negative returns the sample size of −x, given the sample size of x.
func (s SampleSize) Negative() SampleSize {
	s.Errs, s.Moved = s.Errs.Opposite(), -s.Moved
	return s
}

// Plus returns the sample size of a sum of two estimates. It has the numbers of the term with fewer effective samples.
func (s SampleSize) Plus(other SampleSize) SampleSize {
	sum := s
	if s.Count == 0 || other.Count > 0 && !(other.Effective >= s.Effective) {
		sum = other
	}
	sum.Errs, sum.Moved = s.Errs.And(other.Errs), s.Moved+other.Moved
	return sum
}

// MeanSampleSize returns the sample size of a mean over rows of logarithms of mean weights of count samples. weights are
// the rows' MeanWeights. ess holds the effective sample size of each row as a fraction of count, and moved the value Moved
// of each row, or of none. Since the bias of a row is about proportional to 1/ess, the result is the harmonic mean.
func MeanSampleSize(weights []float64, errs Errs, of string, count int, ess, moved []float64) SampleSize {
	size := SampleSize{errs, of, count, Float(float64(count) * min(1, stat.HarmonicMean(ess, weights))), Float(math.NaN())}
	if len(moved) > 0 {
		size.Moved = Float(stat.Mean(moved, weights))
	}
	return size
}

// SampleSizes holds the sample sizes of estimates, by key of the measure.
type SampleSizes map[string]SampleSize

// Describe returns findings with their sample sizes.
func (by SampleSizes) Describe(all Findings) Findings {
	for i, f := range all {
		if of, is := by[f.Measure.Key]; is {
			all[i].SampleSize = of
		}
	}
	return all
}

// With returns a copy with others added.
func (by SampleSizes) With(others SampleSizes) SampleSizes {
	all := SampleSizes{}
	maps.Copy(all, by)
	maps.Copy(all, others)
	return all
}

// Finding returns a column with String of each sample size.
func (by SampleSizes) Finding() Finding {
	var texts []string
	for _, key := range slices.Sorted(maps.Keys(by)) {
		if text := by[key].String(); text != "" {
			texts = append(texts, key+" "+text)
		}
	}
	return Finding{Column: Column{Key: "sample_size", Label: "sample size"}, Value: strings.Join(texts, "; ")}
}
