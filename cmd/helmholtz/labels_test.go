package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
)

// TestLabels trains with few labels, and looks at the run as at any other.
func TestLabels(t *testing.T) {
	sheet := filepath.Join(t.TempDir(), "sheet.png")
	for _, layer := range []string{"top", "lower", "hidden"} {
		dir := filepath.Join(t.TempDir(), "run")
		succeed(t, "train", "--dataset", "glyphs", "--subset", "200", "--labels", "50", "--label-layer", layer, "--classes", "10",
			"--algorithm", "bihm", "--gamma", "0.5", "--label-weight", "2", "--layers", "8", "--epochs", "1", "--out", dir)
		var e struct {
			Classification struct {
				Error   float64 `json:"error"`
				ErrorSE float64 `json:"error_se"`
				Data    int     `json:"data"`
			} `json:"classification"`
		}
		args := []string{"eval", dir, "--samples", "3", "--rows", "40", "--log-z2", "0"}
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
