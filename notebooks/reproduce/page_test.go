package reproduce_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/notebooks/reproduce"
)

// TestReport looks for what each page of a small catalogue says. Each result has its largest scale, and
// the scale smoke has no page.
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
				Claims: []reproduce.Claim{{Says: "It is " + id + ".", Holds: "It is above −11."}, {Says: "It is wide.", Holds: "It is above −11.", Amount: true}},
			},
			Trainings: func(reproduce.Scale) []reproduce.Training { return nil },
			Make: func(_ context.Context, w *reproduce.Work) error {
				w.Found("the first", "log p", reproduce.Value{Ours: ours[w.Scale], SD: &sd, Seeds: 4, Data: "made up"})
				w.Beside("a third", "log p", reproduce.Value{Ours: -13, SD: &sd, Seeds: 4})
				on := []reproduce.Quantity{reproduce.Measured(ours[w.Scale], 0, "nats", "log p").Over(-11)}
				w.Judge("It is "+id+".", on, fmt.Sprintf("%.1f", ours[w.Scale]))
				w.Judge("It is wide.", on, fmt.Sprintf("%.1f", ours[w.Scale]))
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
	pages, err := all.Report(conclusions, made, "results")
	if err != nil {
		t.Fatal(err)
	}
	pages.Beside["first"] = pages.First
	for page, parts := range map[string][]string{
		"first": {
			"The catalogue has 5 published results and 0 questions beyond them. 3 are made: 2 at full length (0 as printed, 0 until convergence by our rule, 0 of our own choice, 2 without training), 1 with shorter training or fewer seeds.",
			"| log p\\* of the long is good. | confirmed in part | ✓ [x/good](results/x-good.md), – x/smoke |",
			"| All are. | confirmed in part; contradicted in part | ✓ [x/good](results/x-good.md), ✗ [x/bad](results/x-bad.md) |",
			"| Bad is bad. | contradicted | ✗ [x/bad](results/x-bad.md) |",
			"| Short is good. | confirmed in part, so far | ✓ [x/short](results/x-short.md)², (✓) [x/short](results/x-short.md)² |",
			"| Nobody knows. | not made yet | – x/smoke, ○ [x/good](results/x-good.md) |",
			"**Does x beat y?** Here.\n\n",
			"| in the long | – | +2.90 ± 0.28 | – | ✓ [x/good](results/x-good.md) | – |\n| in the bad | – | -12.00 | -10.00 | – | ✗ [x/bad](results/x-bad.md) |\n\n",
			"λ is a rate.",
			"from the findings in the folder results",
		},
		"evidence.md": {
			"  - not found: [x/good](x-good.md) (full, no run kept): log p of the second: no data\n  - not made yet: x/smoke\n",
			"## Found beyond the claims\n\n- It is -10.1 ([x/good](x-good.md), full).\n- It is -12 ([x/bad](x-bad.md), full).\n- It is -10.5 ([x/short](x-short.md), laptop).\n",
			"- **log p\\* of the long is good.** (ch. 1): confirmed in part. Long is 100.\n  - for: [x/good](x-good.md) (full, no run kept): It is x/good: -10.1\n  - not made yet: x/smoke\n",
			"- **All are.** (ch. 2): confirmed in part; contradicted in part.\n  - for: [x/good](x-good.md) (full, no run kept): log p of the first: -10.100, published -10.000\n  - against: [x/bad](x-bad.md) (full, no run kept): It is x/bad: -12.0\n-",
			"  - no verdict, here it holds: [x/short](x-short.md) (laptop, no run kept): It is wide: -10.5\n",
			"- First was −1 once.\n  - here, [x/bad](x-bad.md) (full, no run kept): log p of the first -12.000, published -10.000\n",
		},
		"all.md": {
			"| [x/good](x-good.md) | A number | full | no run kept | 1 reproduced | 2 holds |\n| [x/bad](x-bad.md) | A number | full | no run kept | 1 missed | 2 fails |\n| [x/short](x-short.md) | A number | laptop | no run kept | 1 no verdict | 1 holds at a shortened length, 1 no verdict |\n\n",
			"| x/smoke | A number | its command, which needs no training |",
			"| x/none | Nothing | no faces |",
		},
		"numbers.csv": {
			"id,of,measure,published,ours,sd,se,seeds,tolerance,verdict,scale,data,by\nx/good,the first,log p,-10.0,-10.1,0.4,,4,0.3,reproduced,full,made up,\nx/good,a third,log p,,-13.0,0.4,,4,,,full,,\n",
		},
		"x-good.md": {
			"published (p. 1)",
			"| the first | log p | -10.000 | -10.100 | sd 0.400, 4 seeds | -0.100 | 0.30 | reproduced | made up |",
			"| the second | log p | -20.000 | – | – | – | – | blocked: no data | – |",
			"helmholtz reproduce x/good --scale full",
		},
		"x-short.md": {
			"| It is wide. | It is above −11. | no verdict, here it holds | -10.5 |",
			"helmholtz reproduce x/short --scale laptop",
		},
	} {
		for _, want := range parts {
			if !bytes.Contains(pages.Beside[page], []byte(want)) {
				t.Errorf("%q is missing in %s\n%s", want, page, pages.Beside[page])
			}
		}
	}
	if pages.Beside["x-smoke.md"] != nil {
		t.Error("what was made at the scale smoke has a page")
	}
}

// A result at a smaller scale whose trainings have full length is not shorter, and one whose runs were trained before
// the catalogue asked for more epochs is.
func TestLengthsAreThoseOfTheRuns(t *testing.T) {
	all := reproduce.Catalog{{
		Result:    reproduce.Result{ID: "x", Place: reproduce.Beyond + ", after others"},
		Trainings: func(reproduce.Scale) []reproduce.Training { return []reproduce.Training{training(4)} },
	}}
	for _, c := range []struct {
		made                  reproduce.Made
		summary, length, kind string
	}{
		{reproduce.Made{Scale: reproduce.Laptop}, "1 at full length (0 as printed, 0 until convergence by our rule, 1 of our own choice, 0 without training), 0 with", "| 4 epochs with 2 seeds |", "| of our own choice | 1 |"},
		{reproduce.Made{Scale: reproduce.Full, Runs: []reproduce.Trained{{Training: "small", Epochs: 4}}}, "1 at full length (0 as printed, 0 until convergence by our rule, 1 of our own choice, 0 without training), 0 with", "| 4 epochs with 2 seeds |", "| of our own choice | 1 |"},
		{reproduce.Made{Scale: reproduce.Full, Runs: []reproduce.Trained{{Training: "small", Epochs: 2, Diverged: true}}}, "1 at full length (0 as printed, 0 until convergence by our rule, 1 of our own choice, 0 without training), 0 with", "| 4 epochs with 2 seeds |", "| of our own choice | 1 |"},
		{reproduce.Made{Scale: reproduce.Full, Runs: []reproduce.Trained{{Training: "small", Epochs: 2}}}, "0 at full length (0 as printed, 0 until convergence by our rule, 0 of our own choice, 0 without training), 1 with", "| 2 of 4 epochs with 2 seeds |", "| shorter, or fewer seeds | 1 |"},
	} {
		c.made.ID, c.made.Seconds = "x", 1
		pages, err := all.Report(reproduce.Conclusions{}, map[string]reproduce.Made{"x": c.made}, "results")
		if err != nil {
			t.Fatal(err)
		}
		if want := "0 published results and 1 questions beyond them. 1 are made: " + c.summary; !bytes.Contains(pages.First, []byte(want)) {
			t.Errorf("%+v: %q is missing in\n%s", c.made, want, pages.First)
		}
		for _, want := range []string{c.length, c.kind} {
			if !bytes.Contains(pages.Beside["all.md"], []byte(want)) {
				t.Errorf("%+v: %q is missing in\n%s", c.made, want, pages.Beside["all.md"])
			}
		}
	}
}

// No page gives a shortened training the verdict of a full one: an order holds or fails at a
// shortened length, and amounts and log p have no verdict. Claims are told by their present names.
func TestVerdictsOfShortenedTrainings(t *testing.T) {
	tolerance := 0.1
	all := reproduce.Catalog{{
		Result: reproduce.Result{
			ID:      "x",
			Numbers: []reproduce.Number{{Of: "a", Measure: "log p", Tolerance: &tolerance}, {Of: "b", Measure: "ratio", Tolerance: &tolerance}},
			Claims: []reproduce.Claim{{Says: "It is ahead on one set.", Broader: "It is ahead on both sets."}, {Says: "It is behind."}, {Says: "It is undecided."},
				{Says: "It is far ahead.", Amount: true}},
		},
		Trainings: func(reproduce.Scale) []reproduce.Training { return []reproduce.Training{training(4)} },
	}}
	conclusions, err := all.ParseConclusions("conclusions", []byte(`
		[[conclusion]]
		says = "Far ahead."
		told = [{ id = "x", claim = "It is far ahead." }, { id = "x", of = "a", measure = "log p" }, { id = "x", claim = "It is ahead on one set." }]`))
	if err != nil {
		t.Fatal(err)
	}
	for epochs, want := range map[int]map[string]string{
		4: {
			"all.md":      "| 4 epochs with 2 seeds | 2 reproduced | 2 holds, 1 open, 1 fails |",
			"numbers.csv": "x,a,log p,0.0,0.0,,,1,0.1,reproduced,full", "evidence.md": "  - for: [x](x.md) (full, 2 seeds): It is far ahead",
			"x.md": "| It is ahead on one set. (Of “It is ahead on both sets.”) | – | holds | +1 |\n| It is behind. | – | fails | – |\n| It is undecided. | – | open | – |\n| It is far ahead. | – | holds | – |",
		},
		2: {
			"all.md":      "| 2 of 4 epochs with 2 seeds | 1 reproduced, 1 no verdict | 1 holds at a shortened length, 1 open, 1 fails at a shortened length, 1 no verdict |",
			"numbers.csv": "x,a,log p,0.0,0.0,,,1,0.1,no verdict,full", "evidence.md": "  - no verdict, here it holds: [x](x.md) (full, 2 seeds): It is far ahead",
			"x.md": "| +1 |\n| It is behind. | – | fails at a shortened length | – |\n| It is undecided. | – | open | – |\n| It is far ahead. | – | no verdict, here it holds | – |",
		},
	} {
		made := reproduce.Made{
			ID: "x", Scale: reproduce.Full, Runs: []reproduce.Trained{{Training: "small", Epochs: epochs}},
			Values: []reproduce.Value{{Of: "a", Measure: "log p", Seeds: 1}, {Of: "b", Measure: "ratio", Seeds: 1}},
			Judged: []reproduce.Judged{{Says: "It is ahead on both sets.", Verdict: reproduce.Holds, Evidence: "+1"}, {Says: "It is behind.", Verdict: reproduce.Fails},
				{Says: "It is undecided.", Verdict: reproduce.Open}, {Says: "It is far ahead.", Verdict: reproduce.Holds}},
		}
		pages, err := all.Report(conclusions, map[string]reproduce.Made{"x": made}, "results")
		if err != nil {
			t.Fatal(err)
		}
		for page, part := range want {
			if !bytes.Contains(pages.Beside[page], []byte(part)) {
				t.Errorf("%d epochs: %q is missing in %s\n%s", epochs, part, page, pages.Beside[page])
			}
		}
	}
}

func TestPagesNameTheArithmetic(t *testing.T) {
	all := reproduce.Catalog{{Result: reproduce.Result{ID: "x"}, Trainings: func(reproduce.Scale) []reproduce.Training { return nil }}}
	pages, err := all.Report(reproduce.Conclusions{}, map[string]reproduce.Made{"x": {ID: "x", Hardware: "two cores", Arithmetic: "fixed; float32"}}, "results")
	if err != nil {
		t.Fatal(err)
	}
	if want := "on two cores, in fixed point; float32."; !bytes.Contains(pages.Beside["x.md"], []byte(want)) {
		t.Errorf("%q is missing in\n%s", want, pages.Beside["x.md"])
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
		`{ id = "x", claim = "Yes.", weight = 2 }`:         "unknown setting",
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
		`{ id = "y" }`: "not a result",
		`{ id = "x", epochs = { id = "x", claim = "No." } }`: "no result has",
	} {
		_, err := all.ParseConclusions("conclusions", []byte("[[question]]\nasks = \"Is it?\"\nsetting = ["+setting+"]"))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", setting, err, want)
		}
	}
}
