package runs_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/runs"
)

// An estimate has a standard error from 10 samples and 10 effective ones on. Below, it is a bound in words.
func TestFewSamplesHaveNoStandardError(t *testing.T) {
	nan := runs.Float(math.NaN())
	for _, c := range []struct {
		size runs.SampleSize
		few  bool
		line string
	}{
		{runs.SampleSize{}, false, "-3.000 ± 0.500 nats"},
		{runs.SampleSize{Errs: runs.ErrsLow, Of: "samples a row", Count: 1000, Effective: 100}, false, "-3.000 ± 0.500 nats"},
		{runs.SampleSize{Errs: runs.ErrsLow, Of: "samples a row", Count: 1000, Effective: 99, Moved: 0.25}, false, "-3.000 ± 0.500 nats; 99.0 of 1000 samples a row effective; half of them give 0.250 less"},
		{runs.SampleSize{Errs: runs.ErrsLow, Of: "samples a row", Count: 1000, Effective: 9.9, Moved: 0.25}, true, "-3.000 nats; at least this in expectation: 9.9 of 1000 samples a row effective; half of them give 0.250 less"},
		{runs.SampleSize{Errs: runs.ErrsHigh, Of: "chains", Count: 9, Effective: 9, Moved: -0.5}, true, "-3.000 nats; at most this in expectation: only 9 chains; half of them give 0.500 more"},
		{runs.SampleSize{Errs: runs.ErrsEither, Of: "chains", Count: 1, Effective: 1, Moved: nan}, true, "-3.000 nats; neither a lower nor an upper bound: only 1 chain"},
		{runs.SampleSize{Errs: runs.ErrsLow, Of: "chains", Count: 20, Effective: nan, Moved: nan}, true, "-3.000 nats; at least this in expectation: NaN of 20 chains effective"},
	} {
		f := runs.Findings{{Measure: runs.LogP, Value: -3.0, SE: 0.5, Text: "log p", SampleSize: c.size}}
		if text := f.String(); c.size.Few() != c.few || strings.TrimSpace(strings.TrimPrefix(text, "log p")) != c.line {
			t.Errorf("%+v gives %q, want %q", c.size, text, c.line)
		}
		if se := f.Table().Rows()[0][1]; se == nil != c.few {
			t.Errorf("%+v: the table has the standard error %v", c.size, se)
		}
		text, err := json.Marshal(c.size)
		var read runs.SampleSize
		if err != nil || strings.Contains(string(text), `"few":true`) != c.few || json.Unmarshal(text, &read) != nil || read.String() != c.size.String() {
			t.Errorf("%+v: the JSON is %s (%v)", c.size, text, err)
		}
	}
}

// A sum errs like both terms, and has the effective samples of the weaker.
func TestSampleSizesOfSums(t *testing.T) {
	z := runs.SampleSize{Errs: runs.ErrsLow, Of: "chains", Count: 100, Effective: 50, Moved: 0.5}
	f := runs.SampleSize{Errs: runs.ErrsHigh, Of: "samples a row", Count: 100, Effective: 5, Moved: -0.25}
	for _, c := range []struct{ got, want runs.SampleSize }{
		{f.Plus(z).Negative(), runs.SampleSize{Errs: runs.ErrsEither, Of: "samples a row", Count: 100, Effective: 5, Moved: -0.25}},
		{z.Negative(), runs.SampleSize{Errs: runs.ErrsHigh, Of: "chains", Count: 100, Effective: 50, Moved: -0.5}},
		{runs.SampleSize{}.Plus(z), z},
		{runs.SampleSize{Errs: runs.ErrsHigh}.Plus(z), runs.SampleSize{Errs: runs.ErrsEither, Of: "chains", Count: 100, Effective: 50, Moved: 0.5}},
		{runs.MeanSampleSize([]float64{3, 1}, runs.ErrsLow, "samples a row", 100, []float64{1, 0.01}, []float64{0, 1}), runs.SampleSize{Errs: runs.ErrsLow, Of: "samples a row", Count: 100, Effective: 4 / 1.03, Moved: 0.25}},
		{runs.MeanSampleSize(nil, runs.ErrsLow, "samples a row", 100, []float64{1, 0.01}, []float64{0, 1}), runs.SampleSize{Errs: runs.ErrsLow, Of: "samples a row", Count: 100, Effective: 2 / 1.01, Moved: 0.5}},
	} {
		if math.Abs(float64(c.got.Effective-c.want.Effective)) < 1e-12 {
			c.got.Effective = c.want.Effective
		}
		if c.got != c.want {
			t.Errorf("the sum has %+v, want %+v", c.got, c.want)
		}
	}
}
