package plotting

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/helmholtz-go/helmholtz/runs"
)

// The display of a sweep follows its runs: the number of finished runs grows with each run, and the
// last display has one row per setting, the failures, and a figure against the setting that varies.
func TestLiveSweepShowsWhatIsThere(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "rates.toml")
	if err := os.WriteFile(file, []byte(`
base = {epochs = 2, dataset = {name = "3by3", subset = 64}, machine = {layers = [3]}, method = {preset = "rws"}}

[grid]
method.learning_rate = [0.01, 0.02, 1e300]
`), 0o644); err != nil {
		t.Fatal(err)
	}
	s, err := runs.ReadSweep(file)
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "rates")
	if err := s.Claim(out); err != nil {
		t.Fatal(err)
	}
	var shown []string
	clock, syncs := time.Unix(0, 0), 0
	live := &liveSweep{sweep: s, dir: out, display: display{now: func() time.Time { return clock }, show: func(html string) { shown = append(shown, html) }, sync: func() { syncs++ }}}
	if _, err := s.Train(t.Context(), out, runs.Shard{}, func(runs.Job) []runs.Recorder { return []runs.Recorder{live} }); err == nil {
		t.Error("a learning rate of 1e300 trains")
	}
	// The clock does not advance: the first begins, and the three end.
	if len(shown) != 4 || syncs != 3 {
		t.Fatalf("%d displays and %d syncs of three runs within no time", len(shown), syncs)
	}
	if !strings.Contains(shown[0], "0 of 3 runs are finished") || strings.Contains(shown[0], "<img") {
		t.Errorf("before the first run has ended: %s", shown[0])
	}
	last := shown[len(shown)-1]
	for _, part := range []string{"2 of 3 runs are finished", "failed: ", "<th", "data:image/png;base64,", "method.learning_rate"} {
		if !strings.Contains(last, part) {
			t.Errorf("the last display lacks %q", part)
		}
	}
	if rows := strings.Count(last, "<tr>"); rows != 1+3 {
		t.Errorf("the table has %d rows", rows)
	}
}
