package thesis

import (
	"slices"
	"strings"
	"testing"
)

// A table has each published number as the catalogue has it, and one source for all rows of a result.
func TestBeside(t *testing.T) {
	got, err := Beside(
		Row{Says: "log p by RWS, nats", ID: "varady/table5.1", Number: "RWS, log p", Here: "-88.70"},
		Row{Says: "log p by NRWS, nats", ID: "varady/table5.1", Number: "NRWS, log p"},
		Row{Says: "the blocks", ID: "varady/fig7.1"},
		Row{Says: "seconds", Here: "1.5"})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"   -87.36      -88.70   log p by RWS, nats [1]\n   -84.91               log p by NRWS, nats [1]\n                  1.5   seconds\n\n",
		"(Várady 2025, p. 76)\n[2] Fisher matrix of a network with Gaussian units, by node (Várady 2025, p. 131)\n    claims: The matrix is block-diagonal by unit.\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the table is\n%s\nwithout %q", got, want)
		}
	}
	if n := strings.Count(got, "p. 76"); n != 1 {
		t.Errorf("the source of two rows is named %d times", n)
	}
	for want, rows := range map[string][]Row{
		"0 rows: ":                     nil,
		"9 rows: ":                     slices.Repeat([]Row{{Says: "seconds"}}, 9),
		`"varady/table0.0"`:            {{ID: "varady/table0.0"}},
		`has no number "RWS, seconds"`: {{ID: "varady/table5.1", Number: "RWS, seconds"}},
	} {
		if _, err := Beside(rows...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: error %v, want %s", rows, err, want)
		}
	}
}
