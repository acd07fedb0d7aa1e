package command

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestTableFiles writes the table of each command in each format, and compares the file with the
// printed table.
func TestTableFiles(t *testing.T) {
	dir, home := filepath.Join(fixtures, newest, "bihm-adam-later", "whole"), t.TempDir()
	for i, format := range tableFormats {
		for _, command := range []string{"history", "compare"} {
			printed := succeed(t, command, dir, "--format", format)
			path := filepath.Join(home, "new", command+tableEndings[i])
			succeed(t, command, dir, "--table", path)
			written, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if string(written) != printed {
				t.Errorf("%s prints\n%s\nand writes\n%s", command, printed, written)
			}
			if format == "parquet" && !strings.HasPrefix(printed, "PAR1") {
				t.Errorf("%s writes no Parquet: %.20q", command, printed)
			}
		}
	}
	path := filepath.Join(home, "table")
	if out := succeed(t, "history", dir, "--table", path, "--format", "json"); out != path+"\n" {
		t.Errorf("history prints %q, want the name of the file", out)
	}
	if text, err := os.ReadFile(path); err != nil || !json.Valid(text) {
		t.Errorf("%s holds %q (%v), which is no JSON", path, text, err)
	}
	if entries, err := os.ReadDir(home); err != nil || len(entries) != 2 {
		t.Errorf("%v lie beside the files (%v)", entries, err)
	}
}

// The table of an evaluation has the contents of --json, and printing it omits the other output.
func TestTableOfAnEvaluation(t *testing.T) {
	seeds, path := filepath.Join(fixtures, newest, "seeds"), filepath.Join(t.TempDir(), "evaluation.csv")
	var all struct {
		Seeds []map[string]any `json:"seeds"`
	}
	args := []string{"eval", seeds, "--samples", "20", "--log-z2", "100", "--json", "--table", path}
	if err := json.Unmarshal([]byte(succeed(t, args...)), &all); err != nil {
		t.Fatal(err)
	}
	written, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, cells := records(t, string(written), 2)
	for i, seed := range all.Seeds {
		for _, key := range []string{"run", "checkpoint", "split", "draw_seed", "seed", "epochs", "finished", "log_p", "log_p_se", "log_z2", "log_p_star_se", "kl_exact", "samples"} {
			var cell any = cells[i][key]
			if _, isText := seed[key].(string); !isText {
				_ = json.Unmarshal([]byte(cells[i][key]), &cell)
			}
			if cell == "" {
				cell = nil // few samples are effective
			}
			if cell != seed[key] {
				t.Errorf("%s of seed %d is %v, in the table %q", key, i+1, seed[key], cells[i][key])
			}
		}
	}
	alone := []string{"eval", filepath.Join(seeds, "seed-1"), "--samples", "20", "--log-z2", "0"}
	_, one := records(t, succeed(t, append(alone, "--format", "csv")...), 1)
	if one[0]["log_p"] != cells[0]["log_p"] || one[0]["log_z2"] != "" || one[0]["seed"] != "1" {
		t.Errorf("alone seed 1 is %v, among others %v", one[0], cells[0])
	}
	var of map[string]any
	if err := json.Unmarshal([]byte(succeed(t, append(alone, "--json", "--seed", "7")...)), &of); err != nil || of["seed"] != 1.0 || of["draw_seed"] != 7.0 {
		t.Errorf("the seeds of training and of the draws are %v and %v (%v)", of["seed"], of["draw_seed"], err)
	}
}

func TestTableOfAComparison(t *testing.T) {
	one, other := filepath.Join(fixtures, newest, "seeds"), filepath.Join(fixtures, newest, "nrws", "whole")
	_, cells := records(t, succeed(t, "compare", one, other, "--samples", "100", "--format", "csv"), 2)
	if cells[0]["directory"] != one || cells[0]["seeds"] != "2" || cells[0]["finished"] != "false" || cells[0]["evaluation.log_p_sd"] == "" ||
		cells[0]["evaluation.log_p_se"] != "" || cells[1]["evaluation.log_p_se"] == "" || cells[1]["best_epoch"] == "" {
		t.Errorf("the table has %v", cells)
	}
}

// TestTableFlagsAreChecked gives contradictory flags for a run that does not exist.
func TestTableFlagsAreChecked(t *testing.T) {
	link := filepath.Join(t.TempDir(), "link.csv")
	if err := os.Symlink("elsewhere", link); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ flags, says string }{
		{"--format xml", "use text, csv, json, markdown, latex, parquet"},
		{"--table table", "ends in .txt, .csv, .json, .md, .tex, .parquet, or give --format"},
		{"--table table.xlsx", "or give --format"},
		{"--table table.csv --format json", "use a name that ends in .json"},
		{"--table " + link, "there is a link, which a file cannot replace"},
		{"--json --format csv", "give one of them"},
	} {
		for path, c := range commands() {
			if c.Flags().Lookup("table") == nil || c.Flags().Lookup("json") == nil && strings.Contains(test.flags, "--json") {
				continue
			}
			args := slices.Concat(strings.Fields(path), []string{t.TempDir()}, strings.Fields(test.flags))
			code, _, errOut := helmholtz(t, t.Context(), args...)
			if code != exitUsage || !strings.Contains(errOut, test.says) {
				t.Errorf("helmholtz %s ended with %d and said %q; want %d and %q", strings.Join(args, " "), code, errOut, exitUsage, test.says)
			}
		}
	}
}
