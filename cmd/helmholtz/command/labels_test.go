package command

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLabels trains with few labels, and inspects the run with the usual commands.
func TestLabels(t *testing.T) {
	sheet := filepath.Join(t.TempDir(), "sheet.png")
	for _, layer := range []string{"top", "lower", "hidden"} {
		dir := filepath.Join(t.TempDir(), "run")
		succeed(t, "train", "--dataset", "miniglyphs", "--subset", "200", "--labels", "50", "--label-layer", layer, "--classes", "10",
			"--algorithm", "bihm", "--gamma", "0.5", "--label-weight", "2", "--layers", "8", "--epochs", "1", "--out", dir)
		var e struct {
			Classification struct {
				Error   float64 `json:"error"`
				ErrorSE float64 `json:"error_se"`
				Data    int     `json:"data"`
			} `json:"classification"`
		}
		args := []string{"eval", dir, "--samples", "100", "--rows", "40", "--log-z2", "0"}
		if err := json.Unmarshal([]byte(succeed(t, append(args, "--json")...)), &e); err != nil {
			t.Fatal(err)
		}
		if c := e.Classification; c.Data != 40 || c.Error < 0 || c.Error > 1 || c.ErrorSE <= 0 && c.Error > 0 && c.Error < 1 {
			t.Errorf("%s: classification %+v", layer, c)
		}
		if text := succeed(t, args...); !strings.Contains(text, "error of labels") || !strings.Contains(text, "log p*(y|x)") {
			t.Errorf("%s: eval prints no error of labels:\n%s", layer, text)
		}
		succeed(t, "sample", dir, "--n", "4", "--out", sheet)
		succeed(t, "sample", dir, "--gibbs", "2", "--candidates", "5", "--inner", "2", "--n", "4", "--out", sheet)
		succeed(t, "inpaint", dir, "--mask", "left", "--n", "2", "--chains", "2", "--sweeps", "2", "--out", sheet)
		succeed(t, "plot", dir, "--out", t.TempDir(), "--samples", "5", "--log-z2", "20")
	}
	code, _, errOut := helmholtz(t, t.Context(), "train", "--dataset", "3by3", "--label-layer", "top", "--classes", "10", "--algorithm", "bihm", "--out", t.TempDir())
	if code != exitUsage || !strings.Contains(errOut, "no labels") {
		t.Errorf("labels of a set without ended with %d: %s", code, errOut)
	}
}

// TestLabelsOfBoltzmannMachines trains a restricted machine with labels, and inspects the run with
// the usual commands.
func TestLabelsOfBoltzmannMachines(t *testing.T) {
	here := t.TempDir()
	joint, hybrid, sheet := filepath.Join(here, "joint"), filepath.Join(here, "hybrid"), filepath.Join(here, "sheet.png")
	labeled := []string{"train", "--dataset", "miniglyphs", "--subset", "200", "--validation", "40", "--classes", "10", "--algorithm", "pcd", "--layers", "8", "--batch", "20", "--epochs", "2"}
	if out := succeed(t, append(labeled, "--out", joint)...); !strings.Contains(out, "labelled RBM 8, PCD-1") {
		t.Errorf("train says %q", out)
	}
	if out := succeed(t, append(labeled, "--discriminative", "0.5", "--schedule", "constant", "--out", hybrid)...); !strings.Contains(out, "discriminative w = 0.5") {
		t.Errorf("train says %q", out)
	}
	var e struct {
		Classification struct {
			Error float64 `json:"error"`
			LogP  float64 `json:"log_p"`
			Data  int     `json:"data"`
		} `json:"classification"`
	}
	if err := json.Unmarshal([]byte(succeed(t, "eval", joint, "--rows", "40", "--json")), &e); err != nil {
		t.Fatal(err)
	}
	if c := e.Classification; c.Data != 40 || c.Error < 0 || c.Error > 1 || c.LogP >= 0 {
		t.Errorf("classification %+v", c)
	}
	if out := succeed(t, "eval", joint); !strings.Contains(out, "error of labels") || !strings.Contains(out, "log p(y|v)") {
		t.Errorf("eval prints no error of labels:\n%s", out)
	}
	if out := succeed(t, "history", hybrid); !strings.Contains(out, "log p(y|v), validation (nats)") || !strings.Contains(out, "error of labels, validation") {
		t.Errorf("history says %q", out)
	}
	if out := succeed(t, "compare", joint, hybrid, "--samples", "3"); !strings.Contains(out, "method.discriminative") || !strings.Contains(out, "log p(y|v), test, K = 3") {
		t.Errorf("compare says %q", out)
	}
	seeds := filepath.Join(here, "seeds")
	succeed(t, append(labeled, "--discriminative", "1", "--seeds", "2", "--out", seeds)...)
	if out := succeed(t, "eval", seeds); strings.Count(out, "error of labels") != 3 {
		t.Errorf("of two seeds and their mean eval says %q", out)
	}
	if out := succeed(t, "train", "--resume", hybrid, "--epochs", "3"); !strings.Contains(out, "discriminative w = 0.5, B = 20: 3 epochs") {
		t.Errorf("resumed training says %q", out)
	}
	succeed(t, "sample", joint, "--gibbs", "3", "--n", "4", "--out", sheet)
	succeed(t, "sample", joint, "--kind", "filters", "--n", "4", "--out", sheet)
	succeed(t, "inpaint", joint, "--mask", "left", "--n", "2", "--chains", "2", "--sweeps", "2", "--out", sheet)
	for says, args := range map[string][]string{
		"whose rows have no labels":   onPatterns("--algorithm", "pcd", "--classes", "2"),
		"of a machine without labels": onPatterns("--algorithm", "pcd", "--discriminative", "1"),
		"unknown flag: --label-layer (a flag of helmholtz train hm): omit it, or choose such a family": append(labeled, "--label-layer", "top"),
	} {
		if code, _, errOut := helmholtz(t, t.Context(), append(args, "--out", filepath.Join(here, "none"))...); code != exitUsage || !strings.Contains(errOut, says) {
			t.Errorf("helmholtz %s ended with %d and said %q, not %q", strings.Join(args, " "), code, errOut, says)
		}
	}
}

// The table of eval --rows has the labels that the file has: names, numbers, or no label.
func TestLabelsOfRowsOfAFile(t *testing.T) {
	for name, c := range map[string]struct {
		labels []string
		flags  []string
	}{
		"names":           {[]string{"cat", "dog", "emu"}, nil},
		"names of images": {[]string{"cat", "dog", "emu"}, []string{"--shape", "1x2"}},
		"from 1":          {[]string{"1", "2", "3"}, []string{"--first-label", "1"}},
		"some":            {[]string{"0", "1", "-1"}, nil},
	} {
		path, dir := filepath.Join(t.TempDir(), "rows.csv"), filepath.Join(t.TempDir(), "run")
		text, want := "a,b,label\n", ""
		for r := range 60 {
			text += fmt.Sprintf("%d,%d,%s\n", r%2, r/2%2, c.labels[r%3])
			want += strings.TrimPrefix(c.labels[r%3], "-1") + "\n"
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		succeed(t, append([]string{"train", "--dataset", path, "--layers", "2", "--epochs", "1", "--out", dir}, c.flags...)...)
		_, cells := records(t, succeed(t, "eval", dir, "--rows", path, "--samples", "2"), 60)
		got := ""
		for _, row := range cells {
			got += row["label"] + "\n"
		}
		if got != want {
			t.Errorf("%s: the labels are\n%s, want\n%s", name, got, want)
		}
	}
}

// eval --rows predicts the labels of rows, with the names of the file, whether the file has labels or not.
func TestPredictedLabels(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	labeled, bare := "a,b,c,d,label\n", "a,b,c,d\n"
	for range 50 {
		labeled += "1,1,0,0,left\n0,0,1,1,right\n"
		bare += "1,1,0,0\n0,0,1,1\n"
	}
	for name, text := range map[string]string{"labelled.csv": labeled, "bare.csv": bare} {
		if err := os.WriteFile(at(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, flags := range map[string][]string{
		"rbm":  {"--algorithm", "pcd", "--classes", "2", "--layers", "4", "--epochs", "20"},
		"bihm": {"--algorithm", "bihm", "--label-layer", "lower", "--classes", "2", "--labels", "60", "--layers", "4", "--lr", "0.05", "--epochs", "20"},
	} {
		succeed(t, append([]string{"train", "--dataset", at("labelled.csv"), "--batch", "10", "--out", at(name)}, flags...)...)
		for file, header := range map[string]string{"labelled.csv": "row,log_p,label,predicted,predicted_log_p", "bare.csv": "row,log_p,predicted,predicted_log_p"} {
			after := 0
			if name == "bihm" { // whose log p is estimated
				header, after = header+",log_p_se", 1
			}
			lines := strings.Split(strings.TrimSpace(succeed(t, "eval", at(name), "--rows", at(file))), "\n")
			if lines[0] != header || len(lines) != 101 {
				t.Fatalf("%s, %s: %d lines, the first is %q", name, file, len(lines), lines[0])
			}
			for r, line := range lines[1:] {
				cells := strings.Split(line, ",")
				predicted, logP := cells[len(cells)-2-after], cells[len(cells)-1-after]
				if want := []string{"left", "right"}[r%2]; predicted != want || !strings.HasPrefix(logP, "-") {
					t.Errorf("%s, %s: %q, want the label %s", name, file, line, want)
				}
			}
		}
	}
}

// Predicted labels count from the first label of the file.
func TestPredictedLabelsCountFromTheFirst(t *testing.T) {
	dir := t.TempDir()
	rows, labels := filepath.Join(dir, "rows.csv"), filepath.Join(dir, "labels.csv")
	for path, text := range map[string]string{rows: "1,1,0,0\n0,0,1,1\n", labels: "1\n2\n"} {
		if err := os.WriteFile(path, []byte(strings.Repeat(text, 50)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := filepath.Join(dir, "run")
	succeed(t, "train", "--dataset", rows, "--label-file", labels, "--first-label", "1", "--algorithm", "pcd", "--classes", "2", "--layers", "4", "--batch", "10", "--epochs", "20", "--out", run)
	lines := strings.Split(strings.TrimSpace(succeed(t, "eval", run, "--rows", rows)), "\n")
	for r, line := range lines[1:] {
		if cells := strings.Split(line, ","); cells[2] != fmt.Sprint(1+r%2) {
			t.Errorf("row %d: %q, want the label %d", r+1, line, 1+r%2)
		}
	}
}
