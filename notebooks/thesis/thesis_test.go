package thesis

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/notebooks/reproduce"
	"github.com/helmholtz-go/helmholtz/runs"
)

// TestPagesFollowFromTheFindings writes the pages of results again, and looks for their figures.
func TestPagesFollowFromTheFindings(t *testing.T) {
	all, err := Catalog()
	if err != nil {
		t.Fatal(err)
	}
	const results = "../results"
	made, err := all.ReadMade(results, reproduce.Full, reproduce.Laptop)
	if err != nil {
		t.Fatal(err)
	}
	for id, m := range made {
		for _, f := range m.Figures {
			if _, err := os.Stat(results + "/figures/" + f.File); err != nil {
				t.Errorf("%s: %v", id, err)
			}
		}
	}
	conclusions, err := Conclusions()
	if err != nil {
		t.Fatal(err)
	}
	pages, err := all.Report(conclusions, made, "results")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]byte{"../RESULTS.md": pages.First}
	for name, text := range pages.Beside {
		want["../results/"+name] = text
	}
	for path, text := range want {
		if committed, err := os.ReadFile(path); err != nil || !bytes.Equal(text, committed) {
			t.Errorf("%s is another page (%v): helmholtz reproduce report --results notebooks/results --out notebooks/RESULTS.md", path, err)
		}
	}
	committed, err := filepath.Glob("../results/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range committed {
		if want[path] == nil {
			t.Errorf("%s is a page of no result: delete it", path)
		}
	}
}

// Every verdict follows from the values that its finding stores, by the criteria of today.
func TestVerdictsFollowFromTheFindings(t *testing.T) {
	all, err := Catalog()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []reproduce.Scale{reproduce.Laptop, reproduce.Full} {
		made, err := all.ReadMade("../results", s)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range all {
			m, there := made[e.ID]
			if _, changed := e.Rejudge(m); there && len(changed) > 0 {
				t.Errorf("%s, %s: judge it anew by helmholtz reproduce rejudge, and say why: %q", e.ID, s, changed)
			}
		}
	}
}

// Every training can be begun on the data that it names, where they are at hand.
func TestTrainingsFitTheirData(t *testing.T) {
	if os.Getenv(dataset.Environment) == "" {
		t.Skip(dataset.Environment + " is not set: no training is held against its data")
	}
	all, err := Catalog()
	if err != nil {
		t.Fatal(err)
	}
	sets := map[string]*dataset.Set{}
	for _, s := range []reproduce.Scale{reproduce.Laptop, reproduce.Full} {
		for _, training := range all.Trainings(s) {
			spec := training.Experiment.Header().Dataset
			name := fmt.Sprintf("%+v", spec)
			if sets[name] == nil {
				if sets[name], err = spec.Open(); err != nil {
					t.Fatal(err)
				}
			}
			if err := training.Experiment.Check(sets[name]); err != nil {
				t.Errorf("%s, %s: %v", training.Name, s, err)
			}
		}
	}
}

// A full training keeps the checkpoints that the scale laptop needs of the same run.
func TestFullTrainingsKeepWhatLaptopsNeed(t *testing.T) {
	all, err := Catalog()
	if err != nil {
		t.Fatal(err)
	}
	full := map[string]runs.Header{}
	for _, training := range all.Trainings(reproduce.Full) {
		full[training.Name] = training.Experiment.Header()
	}
	for _, training := range all.Trainings(reproduce.Laptop) {
		longer, shared := full[training.Name]
		for _, epoch := range append(training.Needs, training.Experiment.Header().Epochs) {
			if shared && epoch < longer.Epochs && !slices.Contains(longer.Keep, epoch) {
				t.Errorf("%s: the scale laptop needs epoch %d, but the scale full keeps only %v of %d", training.Name, epoch, longer.Keep, longer.Epochs)
			}
		}
	}
}

// Every result can be judged: it says where it is, has something to judge, and
// each number that is not blocked has a tolerance.
func TestResultsCanBeJudged(t *testing.T) {
	results, err := Catalog()
	if err != nil {
		t.Fatal(err)
	}
	id := regexp.MustCompile(`^(varady|bihm)/(fig|table|text)[0-9A-D]\.[0-9]+(\.[0-9]+)?(-[a-z]+)?$|^(boltzmann|minimnist|estimators|factors|transfer)/[a-z-]+$|^uci-columns/[a-z0-9]+$|^two-hours$|^chorales$|^music/[a-z-]+$|^first-try$|^tuner$|^natural-rbm$|^deterministic$|^fixed-point$|^estimates-of-log-p$`)
	seen := map[string]bool{}
	for _, r := range results {
		if !id.MatchString(r.ID) || seen[r.ID] {
			t.Errorf("the id %q is malformed or taken", r.ID)
		}
		seen[r.ID] = true
		if !slices.Contains([]reproduce.Length{reproduce.Printed, reproduce.Convergence, reproduce.Own}, r.Length) {
			t.Errorf("%s: unknown length %q", r.ID, r.Length)
		}
		if r.Place == "" || r.Title == "" || r.Setting == "" {
			t.Errorf("%s: place, title or setting is missing", r.ID)
		}
		if len(r.Numbers)+len(r.Claims) == 0 {
			t.Errorf("%s: nothing to judge", r.ID)
		}
		named := map[string]bool{}
		for _, n := range r.Numbers {
			if key := n.Of + "\n" + n.Measure; named[key] {
				t.Errorf("%s: %s of %q stands twice", r.ID, n.Measure, n.Of)
			} else {
				named[key] = true
			}
			if n.Of == "" || n.Measure == "" {
				t.Errorf("%s: a number without a name or a measure", r.ID)
			}
			if blocked := n.Blocked != ""; blocked == (n.Tolerance != nil) {
				t.Errorf("%s, %s: has to have either a tolerance or what blocks it", r.ID, n.Of)
			}
			if n.Tolerance != nil && *n.Tolerance < 0 {
				t.Errorf("%s, %s: tolerance %g", r.ID, n.Of, *n.Tolerance)
			}
		}
		for _, c := range r.Claims {
			if c.Says == "" || c.Holds == "" {
				t.Errorf("%s: a claim without a criterion", r.ID)
			}
		}
	}
}

// Every claim, and every bound, bears on a conclusion, so that the page's beginning passes over
// nothing that has been found; figures that are only to be looked at may stand alone.
func TestEverythingBearsOnAConclusion(t *testing.T) {
	all, err := Catalog()
	if err != nil {
		t.Fatal(err)
	}
	conclusions, err := Conclusions()
	if err != nil {
		t.Fatal(err)
	}
	told := map[reproduce.Told]bool{}
	for _, c := range conclusions.All {
		for _, of := range c.Told {
			told[of] = true
		}
	}
	for _, e := range all {
		for _, c := range e.Claims {
			if !told[reproduce.Told{ID: e.ID, Claim: c.Says}] && !strings.HasPrefix(c.Says, "(shown)") {
				t.Errorf("%s: %q bears on no conclusion", e.ID, c.Says)
			}
		}
		for _, n := range e.Numbers {
			bound := strings.HasPrefix(n.Measure, "at ")
			if bound && !told[reproduce.Told{ID: e.ID, Of: n.Of, Measure: n.Measure}] {
				t.Errorf("%s: %s bears on no conclusion", e.ID, n.Of)
			}
		}
	}
}
