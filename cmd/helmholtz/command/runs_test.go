package command

import (
	"strings"
	"testing"
)

// Runs of the fixtures, of both versions, are listed by conditions; a table for programs has their
// settings.
func TestRunsAreListed(t *testing.T) {
	for _, c := range []struct {
		args      string
		code      int
		says      []string
		saysNever string
	}{
		{"--where learning_rate=0.05 --where state=finished --sort -best", 0, []string{"NRWS, η = 0.05", "v2/nrws/whole"}, "half"},
		{"--where epoch>100", 0, []string{"no match among the 42 runs"}, "NRWS"},
		{"--where lerning_rate=1", 2, []string{`did you mean "learning_rate"?`}, ""},
		{"--format csv", 0, []string{"run,state,epoch,epochs,", ",method.learning_rate,"}, ""},
		{"--columns samples", 0, []string{"method.samples"}, ""},
	} {
		code, out, err := helmholtz(t, t.Context(), append([]string{"runs", "testdata/runs"}, strings.Fields(c.args)...)...)
		for _, part := range c.says {
			if !strings.Contains(out+err, part) {
				t.Errorf("%s does not say %q: %s%s", c.args, part, out, err)
			}
		}
		if code != c.code || c.saysNever != "" && strings.Contains(out, c.saysNever) {
			t.Errorf("%s ends with %d: %s%s", c.args, code, out, err)
		}
	}
	for _, column := range []string{"a b", "learning_rate"} { // without runs no setting is known
		if code, out, err := helmholtz(t, t.Context(), "runs", t.TempDir(), "--columns", column); code != 0 || !strings.Contains(err, "no match among the 0 runs") {
			t.Errorf("where no run is, the column %s ends with %d: %s%s", column, code, out, err)
		}
	}
}
