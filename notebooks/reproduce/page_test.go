package reproduce_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/notebooks/reproduce"
)

// A page begins with how each conclusion stands, uses the largest scale of each result, and lists
// what has not been made; the scale smoke never appears.
func TestReport(t *testing.T) {
	tolerance, sd := 0.3, 0.4
	entry := func(id string, ours map[reproduce.Scale]float64) reproduce.Entry {
		return reproduce.Entry{
			Result: reproduce.Result{
				ID: id, Place: "p. 1", Title: "A number", Setting: "as " + id,
				Numbers: []reproduce.Number{
					{Of: "the first", Measure: "log p", Published: -10, Tolerance: &tolerance},
					{Of: "the second", Measure: "log p", Published: -20, Blocked: "no data"},
				},
				Claims: []reproduce.Claim{{Says: "It is " + id + ".", Holds: "It is above −11."}, {Says: "It is wide.", Holds: "It is above −11."}},
			},
			Trainings: func(reproduce.Scale) []reproduce.Training { return nil },
			Make: func(_ context.Context, w *reproduce.Work) error {
				w.Found("the first", "log p", reproduce.Value{Ours: ours[w.Scale], SD: &sd, Seeds: 4, Data: "made up"})
				w.Beside("a third", "log p", reproduce.Value{Ours: -13, SD: &sd, Seeds: 4})
				verdict := reproduce.Fails
				if ours[w.Scale] > -11 {
					verdict = reproduce.Holds
				}
				w.Judge("It is "+id+".", verdict, "%.1f", ours[w.Scale])
				w.JudgeFull("It is wide.", verdict, "%.1f", ours[w.Scale])
				w.Beyond("It is %g", ours[w.Scale])
				return nil
			},
		}
	}
	all := reproduce.Catalog{
		entry("x/good", map[reproduce.Scale]float64{reproduce.Laptop: -12, reproduce.Full: -10.1}),
		entry("x/bad", map[reproduce.Scale]float64{reproduce.Full: -12}),
		entry("x/short", map[reproduce.Scale]float64{reproduce.Laptop: -10.5}),
		entry("x/smoke", map[reproduce.Scale]float64{reproduce.Smoke: -10}),
		{Result: reproduce.Result{ID: "x/none", Title: "Nothing", Blocked: "no faces"}},
	}
	results := t.TempDir()
	for i, scales := range [][]reproduce.Scale{{reproduce.Laptop, reproduce.Full}, {reproduce.Full}, {reproduce.Laptop}, {reproduce.Smoke}} {
		for _, s := range scales {
			if _, err := all[i].Produce(t.Context(), &reproduce.Work{Scale: s}, t.TempDir(), results); err != nil {
				t.Fatal(err)
			}
		}
	}
	made, err := all.ReadMade(results, reproduce.Full, reproduce.Laptop)
	if err != nil {
		t.Fatal(err)
	}
	conclusions, err := all.ParseConclusions("conclusions", []byte(`
		symbols = "λ is a rate."
		[[conclusion]]
		says = "log p* of the long is good."
		place = "ch. 1"
		note = "Long is 100."
		told = [{ id = "x/good", claim = "It is x/good." }, { id = "x/smoke", claim = "It is x/smoke." }]
		[[conclusion]]
		says = "All are."
		place = "ch. 2"
		told = [{ id = "x/good", of = "the first", measure = "log p" }, { id = "x/bad", claim = "It is x/bad." }]
		[[conclusion]]
		says = "Bad is bad."
		place = "ch. 3"
		told = [{ id = "x/bad", of = "the first", measure = "log p" }]
		[[conclusion]]
		says = "Nobody knows."
		place = "ch. 4"
		told = [{ id = "x/smoke", claim = "It is x/smoke." }, { id = "x/smoke", of = "the first", measure = "log p" }, { id = "x/good", of = "the second", measure = "log p" }]
		[[conclusion]]
		says = "Short is good."
		place = "ch. 5"
		told = [{ id = "x/short", claim = "It is x/short." }, { id = "x/short", claim = "It is wide." }]
		[[question]]
		asks = "Does x beat y?"
		less = "x − y"
		note = "Here."
		setting = [
			{ is = "in the long", id = "x/good", of = "the first", over = "a third", measure = "log p", epochs = { id = "x/good", claim = "It is x/good." } },
			{ is = "in the bad", id = "x/bad", of = "the first", measure = "log p", time = { id = "x/bad", claim = "It is x/bad." } },
			{ is = "in the smoke", id = "x/smoke", of = "the first", measure = "log p" },
		]
		[[differing]]
		says = "First was −1 once."
		told = [{ id = "x/bad", of = "the first", measure = "log p" }]
	`))
	if err != nil {
		t.Fatal(err)
	}
	var page bytes.Buffer
	if err := all.Report(&page, conclusions, made, "results"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"Of 5 published results and 0 questions beyond them this page has 3,",
		"2 at full length ([x/good](#xgood-a-number), [x/bad](#xbad-a-number)), and 1 trained for less than that.",
		"| log p\\* of the long is good. | confirmed in part | ✓ x/good, – x/smoke |",
		"| All are. | confirmed in part; contradicted in part | ✓ x/good, ✗ x/bad |",
		"| Bad is bad. | contradicted | ✗ x/bad |",
		"| Short is good. | confirmed in part, so far | ✓ x/short, (✓) x/short |",
		"| Nobody knows. | not made yet | – x/smoke, – x/good |",
		"  - not found: [x/good](#xgood-a-number) (full, no training): log p of the second: no data\n  - not made yet: x/smoke\n",
		"**Numbers:** [x/good](#xgood-a-number) 1 reproduced; [x/bad](#xbad-a-number) 1 missed; 1 more have no verdict",
		"beyond the claims:** It is -10.1 ([x/good](#xgood-a-number), full); It is -12 ([x/bad](#xbad-a-number), full); It is -10.5 ([x/short](#xshort-a-number), laptop).",
		"**Does x beat y?** Here.\n\n",
		"| in the long | – | +2.90 ± 0.28 | – | ✓ x/good | – |\n| in the bad | – | -12.00 | -10.00 | – | ✗ x/bad |\n\n",
		"λ is a rate.",
		"published (p. 1)",
		"| the first | log p | -10.000 | -10.100 | sd 0.400, 4 seeds | -0.100 | 0.30 | reproduced | made up |",
		"| the second | log p | -20.000 | – | – | – | – | blocked: no data | – |",
		"| It is wide. | It is above −11. | no verdict, here it holds | -10.5 |",
		"helmholtz reproduce x/good --scale full",
		"helmholtz reproduce x/short --scale laptop",
		"of the findings in [results](results)",
		"| x/smoke | A number | its trainings |",
		"| x/none | Nothing | no faces |",
		"- **log p\\* of the long is good.** (ch. 1): confirmed in part. Long is 100.\n  - for: [x/good](#xgood-a-number) (full, no training): It is x/good: -10.1\n  - not made yet: x/smoke\n",
		"- **All are.** (ch. 2): confirmed in part; contradicted in part.\n  - for: [x/good](#xgood-a-number) (full, no training): log p of the first: -10.100, published -10.000\n  - against: [x/bad](#xbad-a-number) (full, no training): It is x/bad: -12.0\n-",
		"  - no verdict, here it holds: [x/short](#xshort-a-number) (laptop, no training): It is wide: -10.5\n",
		"- First was −1 once.\n  - here, [x/bad](#xbad-a-number) (full, no training): log p of the first -12.000, published -10.000\n",
	} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("%q is missing in\n%s", want, &page)
		}
	}
	if strings.Contains(page.String(), "smoke:") {
		t.Error("what was made at the scale smoke is on the page")
	}
}

// A conclusion that rests on something the catalogue does not have is refused, and so is an unknown
// key.
func TestConclusionsRestOnResults(t *testing.T) {
	all := reproduce.Catalog{{Result: reproduce.Result{
		ID:      "x",
		Claims:  []reproduce.Claim{{Says: "Yes."}},
		Numbers: []reproduce.Number{{Of: "a", Measure: "log p"}},
	}}}
	for told, want := range map[string]string{
		`{ id = "x", claim = "Yes." }`:                     "",
		`{ id = "x", of = "a", measure = "log p" }`:        "",
		`{ id = "y", claim = "Yes." }`:                     "no result has",
		`{ id = "x", claim = "No." }`:                      "no result has",
		`{ id = "x", of = "a", measure = "ratio" }`:        "no result has",
		`{ id = "x" }`:                                     "no result has",
		`{ id = "x", claim = "Yes.", weight = 2 }`:         "unknown keys",
		`{ id = "x", claim = "Yes.", of = "a" } { id = ""`: "conclusions",
	} {
		_, err := all.ParseConclusions("conclusions", []byte("[[conclusion]]\nsays = \"So.\"\ntold = ["+told+"]"))
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: %v", told, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: %v, want %q", told, err, want)
		}
	}
	for setting, want := range map[string]string{
		`{ id = "x" }`: "",
		`{ id = "x", time = { id = "x", claim = "Yes." } }`: "",
		`{ id = "y" }`: "no result",
		`{ id = "x", epochs = { id = "x", claim = "No." } }`: "no result has",
	} {
		_, err := all.ParseConclusions("conclusions", []byte("[[question]]\nasks = \"Is it?\"\nsetting = ["+setting+"]"))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", setting, err, want)
		}
	}
}
