package command

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
)

// TestDivergenceIsSaid trains with a normal learning rate and with one that is far too large, whose
// numbers stay finite: that is not an error, but every command reports it.
func TestDivergenceIsSaid(t *testing.T) {
	home := t.TempDir()
	good, bad, seeds := filepath.Join(home, "good"), filepath.Join(home, "bad"), filepath.Join(home, "seeds")
	flags := []string{"train", "--dataset", "miniglyphs", "--subset", "200", "--validation", "50", "--algorithm", "rws", "--layers", "20,10", "--batch", "20", "--epochs", "2"}
	const line, warning = "baseline: log p -", "is far worse than a factorised model reaches (-"

	code, out, errOut := helmholtz(t, t.Context(), append(flags, "--lr", "0.05", "--out", good)...)
	if code != 0 || strings.Count(errOut, line) != 1 || strings.Contains(out+errOut, warning) {
		t.Errorf("training ended with %d and said %q and %q", code, out, errOut)
	}
	code, out, errOut = helmholtz(t, t.Context(), append(flags, "--lr", "50", "--out", bad)...)
	if code != 0 || strings.Count(errOut, line) != 1 || strings.Count(errOut, warning) != 1 || strings.Count(out, warning) != 1 {
		t.Errorf("training that diverges ended with %d and said %q and %q", code, out, errOut)
	}
	if out := succeed(t, append(flags, "--lr", "50", "--seeds", "2", "--out", seeds)...); !strings.Contains(out, "\nseed 1: log p -") || strings.Count(out, warning) != 2 {
		t.Errorf("training seeds that diverge says %q", out)
	}

	for _, command := range []struct {
		args       []string
		base, says string // a good run does not print says
	}{
		{[]string{"history"}, "log p, baseline (factorised)", "diverged"},
		{[]string{"compare"}, "log p, baseline (factorised)", "diverged"},
		{[]string{"eval", "--samples", "5", "--log-z2", "0"}, "baseline (factorised)", "training has diverged"},
	} {
		if out := succeed(t, append(command.args, good)...); !strings.Contains(out, command.base) || strings.Contains(out, command.says) {
			t.Errorf("%s of a good run says\n%s", command.args[0], out)
		}
		if out := succeed(t, append(command.args, bad)...); !strings.Contains(out, command.base) || !strings.Contains(out, command.says) {
			t.Errorf("%s of a bad run says\n%s", command.args[0], out)
		}
	}
	if out := succeed(t, "compare", good, seeds); !strings.Contains(out, "2 of 2 seeds diverged") {
		t.Errorf("compare says\n%s", out)
	}
	for dir, diverged := range map[string]bool{good: false, bad: true} {
		var e struct {
			Line     *float64 `json:"baseline_log_p"`
			SE       *float64 `json:"baseline_log_p_se"`
			Diverged *bool    `json:"diverged"`
		}
		if err := json.Unmarshal([]byte(succeed(t, "eval", dir, "--samples", "5", "--log-z2", "0", "--json")), &e); err != nil {
			t.Fatal(err)
		}
		if e.Line == nil || e.SE == nil || e.Diverged == nil || *e.Diverged != diverged {
			t.Errorf("eval --json of %s has %+v", filepath.Base(dir), e)
		}
	}
}
