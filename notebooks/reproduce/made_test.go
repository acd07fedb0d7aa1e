package reproduce

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestNumbersAreJudged(t *testing.T) {
	tolerance := 0.5
	for _, c := range []struct {
		measure         string
		published, ours float64
		want            Verdict
	}{
		{"log p", -85, -85.5, Reproduced},
		{"log p", -85, -84, Exceeded},
		{"log p", -85, -86, Missed},
		{"ratio", 1.25, 0.5, Exceeded},
		{"ratio", 1.25, 2, Missed},
		{"at least", -86, -80, Met},
		{"at least", -86, -87, Missed},
		{"at most", 1, 0.2, Met},
		{"at most", 1, 1.6, Missed},
		// For a difference between methods, neither a smaller nor a larger value is better.
		{"difference of log p", 0.3, 0.7, Reproduced},
		{"difference of log p", 0.3, 0.9, Missed},
		{"difference of log p", 0.3, -0.3, Missed},
	} {
		n := Number{Measure: c.measure, Published: c.published, Tolerance: &tolerance}
		if got := n.judge(Value{Ours: c.ours}); got != c.want {
			t.Errorf("%s of %g where %g is published: %s, want %s", c.measure, c.ours, c.published, got, c.want)
		}
		if got := n.judge(Value{Ours: c.ours, Elsewhere: "shorter training"}); got != Shown {
			t.Errorf("%s of a shorter training: %s, want %s", c.measure, got, Shown)
		}
	}
}

// A number outside its tolerance by less than twice its standard error is open; a bound that is met
// is met whatever the error.
func TestVerdictsCountTheErrorOfTheNumber(t *testing.T) {
	tolerance := 0.06
	for _, c := range []struct {
		measure      string
		ours, se, sd float64
		seeds        int
		want         Verdict
	}{
		{"at most", 0.064, 0.009, 0, 1, Open},
		{"at most", 0.064, 0.001, 0, 1, Missed},
		{"at most", 0.064, 0, 0.009, 3, Open},
		{"at most", 0.064, 0, 0.003, 9, Missed},
		{"at most", 0.064, 0, 0.1, 1, Missed}, // for one seed a deviation over seeds means nothing
		{"at most", 0.059, 0.009, 0, 1, Met},
		{"log p", -0.064, 0.009, 0, 1, Open},
		{"log p", 0.064, 0.009, 0, 1, Open},
		{"log p", 0.064, 0.001, 0, 1, Exceeded},
		{"difference of log p", 0.064, 0.009, 0, 1, Open},
	} {
		v := Value{Ours: c.ours, Seeds: c.seeds}
		if c.se > 0 {
			v.SE = &c.se
		}
		if c.sd > 0 {
			v.SD = &c.sd
		}
		if got := (Number{Measure: c.measure, Tolerance: &tolerance}).judge(v); got != c.want {
			t.Errorf("%s of %+v: %s, want %s", c.measure, c, got, c.want)
		}
	}
}

// A result in which a key stands twice is refused, since it has two values.
func TestResultsWithTwoValuesAreRefused(t *testing.T) {
	e, dir := Entry{Result: Result{ID: "one"}}, t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, e.madeFile(Laptop)), []byte(`{"id": "one", "beyond": ["a"], "beyond": ["b"]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := e.read(dir, Laptop); err == nil || !strings.Contains(err.Error(), `the key "beyond" stands twice`) {
		t.Errorf("error %v", err)
	}
}
