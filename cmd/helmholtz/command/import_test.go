package command

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/boltzmann"
)

// A machine of another program becomes a run, which eval takes as any, of either coding.
func TestImport(t *testing.T) {
	here := t.TempDir()
	file := filepath.Join("..", "..", "..", "boltzmann", "testdata", "sklearn.npz")
	of := func(out, coding string) []string {
		return []string{"import", file, "--names", "components_,intercept_visible_,intercept_hidden_", "--transposed", "--dataset", "3by3", "--subset", "40", "--coding", coding, "--sign", "minus", "--out", filepath.Join(here, out)}
	}
	if out := succeed(t, of("zeroone", "01")...); !strings.Contains(out, "a restricted Boltzmann machine of 9–5 units") || strings.Contains(out, "plus") {
		t.Errorf("import says %q", out)
	}
	if out := succeed(t, of("spins", "pm1")...); !strings.Contains(out, "log Z of the other program is log Z here plus ") {
		t.Errorf("import says %q", out)
	}
	if out := succeed(t, "eval", filepath.Join(here, "zeroone")); !strings.Contains(out, "nats, exact") {
		t.Errorf("eval says %q", out)
	}
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"import", file, "--dataset", "3by3", "--sign", "minus", "--out", here}, "--coding is missing"},
		{[]string{"import", file, "--dataset", "3by3", "--coding", "01", "--out", here}, "--sign is missing"},
		{append(of("two", "01"), "--names", "W,b"), "give three names"},
		{append(of("kinds", "01"), "--coding", "01,pm1,01"), "give one coding"},
		{append(of("array", "01"), "--names", "W,b,c"), "it has no array W"},
		{append(of("data", "01"), "--dataset", "miniglyphs"), "9 visible units, the rows of miniglyphs have"},
	} {
		if code, _, errOut := helmholtz(t, t.Context(), c.args...); code == 0 || !strings.Contains(errOut, c.says) {
			t.Errorf("helmholtz %s ended with %d and said %q, not %q", strings.Join(c.args, " "), code, errOut, c.says)
		}
	}
	if _, err := boltzmann.OpenRun(filepath.Join(here, "data")); err == nil {
		t.Error("a refused import left a run")
	}
}
