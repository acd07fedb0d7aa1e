package runs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
)

// A number that is not finite is null in JSON and is read back as NaN; a nil pointer stays nil.
func TestFloatsInJSON(t *testing.T) {
	for _, test := range []struct {
		value Float
		json  string
		back  float64
	}{
		{-1.5, "-1.5", -1.5},
		{0, "0", 0},
		{Float(math.NaN()), "null", math.NaN()},
		{Float(math.Inf(1)), "null", math.NaN()},
	} {
		text, err := json.Marshal(test.value)
		if err != nil || string(text) != test.json {
			t.Errorf("%v is in JSON %s (%v), want %s", test.value, text, err, test.json)
		}
		var back struct{ Value Float }
		if err := json.Unmarshal([]byte(`{"value":`+test.json+`}`), &back); err != nil || math.Float64bits(float64(back.Value)) != math.Float64bits(test.back) {
			t.Errorf("%s is read as %v (%v), want %v", test.json, back.Value, err, test.back)
		}
	}
	var wrong Float
	if err := json.Unmarshal([]byte(`"1"`), &wrong); err == nil {
		t.Errorf("a text is read as %v", wrong)
	}
	var none struct{ Value *Float }
	if err := json.Unmarshal([]byte(`{"value":null}`), &none); err != nil || none.Value != nil {
		t.Errorf("a pointer to none is read as one to %v (%v)", none.Value, err)
	}
}

// People read numbers of a few digits, however large: in lines of evaluations, in ±, and in cells of every table. Files
// of numbers keep all digits.
func TestNumbersForPeopleAreShort(t *testing.T) {
	huge, rate := -1.2345678901234567e57, 0.0019999999999999996
	table := NewTable("numbers", "", Column{Key: "rate", Kind: Number}, Column{Key: "log_p", Kind: Number, Decimals: 3}, Column{Key: "whole", Kind: Number})
	table.Add(rate, huge, 1234567.0)
	var text, markdown, page, csv bytes.Buffer
	if err := errors.Join(table.WriteText(&text), table.WriteMarkdown(&markdown), table.WriteHTML(&page), table.WriteCSV(&csv)); err != nil {
		t.Fatal(err)
	}
	for got, want := range map[string]string{
		Spread{huge, -huge}.line("log p", "nats", 3):                         "-1.235e+57 ± 1.235e+57 nats",
		Spread{-84.91234, 0.25}.line("log p", "nats", 3):                     "   -84.912 ± 0.250 nats",
		Spread{huge, math.NaN()}.Text(3):                                     "-1.235e+57",
		Estimate{Value: huge, SE: -huge}.text():                              "-1.235e+57 (± 1.235e+57)",
		fmt.Sprintf("%+.3f, %8.1f, %v", Float(-huge), Float(2), Float(rate)): "+1.235e+57,      2.0, 0.0019999999999999996",
		text.String():     "0.002  -1.235e+57  1.234567e+06",
		markdown.String(): "| 0.002 | -1.235e+57 | 1.234567e+06 |",
		page.String():     ">0.002</td>",
		csv.String():      "0.0019999999999999996,-1.2345678901234566e+57,1.234567e+06",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in %q", want, got)
		}
	}
}

// Seeds that all have the same value have no spread, whatever the rounding of their mean.
func TestSeedsWithoutSpread(t *testing.T) {
	for value, text := range map[float64]string{0.1: "0.100", -12.7060001: "-12.706"} {
		s := SpreadOf([]int{1, 2, 3}, func(int) float64 { return value })
		if s != (Spread{value, 0}) || s.Text(3) != text {
			t.Errorf("the spread of three times %v is %v, with the text %s", value, s, s.Text(3))
		}
	}
}

// A run whose log p still rises by more than the tolerance has not converged. A model without a learning rate cannot be
// trained at another.
func TestShortfalls(t *testing.T) {
	h := History{Measures: []Measure{LogP, Rise}, Baseline: &Baseline{Factorized: Estimate{Value: -2}}}
	for _, c := range []struct {
		logP, rise, rate float64
		says             string
	}{
		{-1, 2e-6, 0, "not converged: in the second half of epoch 3, log p rose by 2e-06 nats"}, {-1, 1e-7, 0, ""},
		{-3, 0, 0, "use a larger model"}, {-3, 0, 0.1, "another learning rate"},
	} {
		got := h.Shortfall(Epoch{Epoch: 3, LearningRate: c.rate, Train: Measures{"log_p": c.logP, "rise": c.rise}})
		if !strings.Contains(got, c.says) || (got == "") != (c.says == "") {
			t.Errorf("log p %v with the rise %v and the rate %v: %q, want %q", c.logP, c.rise, c.rate, got, c.says)
		}
	}
}
