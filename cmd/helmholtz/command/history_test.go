package command

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// records reads CSV with rows below its keys.
func records(t *testing.T, text string, rows int) (keys []string, cells []map[string]string) {
	t.Helper()
	all, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != rows+1 {
		t.Fatalf("%d rows below the keys, want %d:\n%s", len(all)-1, rows, text)
	}
	for _, record := range all[1:] {
		row := map[string]string{}
		for i, cell := range record {
			row[all[0][i]] = cell
		}
		cells = append(cells, row)
	}
	return all[0], cells
}

// The table of a run has the numbers of its metrics.jsonl with the same keys, for every version of
// the format.
func TestHistoryOfARun(t *testing.T) {
	for _, version := range []string{"v1", "v2"} {
		dir := filepath.Join(fixtures, version, "nrws", "whole")
		keys, cells := records(t, succeed(t, "history", dir, "--norms", "--format", "csv"), 4)
		for _, key := range []string{"epoch", "step", "seconds", "learning_rate", "train.log_p", "validation.ess", "norms.recognition.1.direction"} {
			if !slices.Contains(keys, key) {
				t.Errorf("%s: no column %s among %v", version, key, keys)
			}
		}
		if version != newest {
			continue
		}
		metrics, err := os.ReadFile(filepath.Join(dir, "metrics.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(strings.TrimSpace(string(metrics)), "\n") {
			var fields map[string]any
			if err := json.Unmarshal([]byte(line), &fields); err != nil {
				t.Fatal(err)
			}
			delete(fields, "checksum")
			if len(fields) != len(keys) {
				t.Errorf("%d fields in line %d, %d columns", len(fields), i+1, len(keys))
			}
			for key, value := range fields {
				var cell float64
				if err := json.Unmarshal([]byte(cells[i][key]), &cell); err != nil || cell != value {
					t.Errorf("%s in line %d is %v, in the table %v", key, i+1, value, cells[i][key])
				}
			}
		}
	}
	out := succeed(t, "history", filepath.Join(fixtures, newest, "nrws", "whole"))
	if !strings.Contains(out, "log p, validation (nats)") || strings.Contains(out, "norms") {
		t.Errorf("history prints\n%s", out)
	}
}

// TestHistoryOfSeveralRuns puts two seeds and another run into one table.
func TestHistoryOfSeveralRuns(t *testing.T) {
	seeds, one := filepath.Join(fixtures, newest, "seeds"), filepath.Join(fixtures, newest, "labels", "whole")
	_, cells := records(t, succeed(t, "history", seeds, one, "--format", "csv"), 4+1+3)
	var named []string
	for _, row := range cells {
		named = append(named, row["run"])
	}
	want := slices.Concat(slices.Repeat([]string{filepath.Join(seeds, "seed-1")}, 4), []string{filepath.Join(seeds, "seed-2")}, slices.Repeat([]string{one}, 3))
	if !slices.Equal(named, want) {
		t.Errorf("rows of %v, want %v", named, want)
	}
}

func TestHistoryRefuses(t *testing.T) {
	run := filepath.Join(fixtures, newest, "seeds", "seed-1")
	for _, test := range []struct {
		code int
		says string
		args []string
	}{
		{exitUsage, "name the directories", nil},
		{exitUsage, fmt.Sprintf("%s is named twice", run), []string{filepath.Dir(run), run}},
		{exitFailed, "not the directory of a run", []string{t.TempDir()}},
	} {
		code, out, errOut := helmholtz(t, t.Context(), append([]string{"history"}, test.args...)...)
		if code != test.code || !strings.Contains(errOut, test.says) || out != "" {
			t.Errorf("history %v ended with %d and said %q", test.args, code, errOut)
		}
	}
}
