package command

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A report has the evaluation that eval prints, the settings and the sessions of the run, and
// refers to no other file. For another family it has what training recorded.
func TestReportsStandAlone(t *testing.T) {
	dir, page := filepath.Join(fixtures, newest, "nrws", "whole"), filepath.Join(t.TempDir(), "pages", "nrws.html")
	if out := succeed(t, "report", dir, "--samples", "20", "--log-z2", "1000", "--out", page); out != page+"\n" {
		t.Errorf("report prints %q", out)
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	logP, _, _ := strings.Cut(succeed(t, "eval", dir, "--samples", "20", "--log-z2", "0"), "\n")
	for _, part := range []string{"<h1>whole</h1>", logP, "log Z²", "ESS of q for p", "method.learning_rate", ">0.05<", "avx512", "Norms of the layers", "−log p(x) (nats) against epoch", "4 of 4 epochs, finished"} {
		if !strings.Contains(string(text), part) {
			t.Errorf("the report lacks %q", part)
		}
	}
	if images := strings.Count(string(text), "<img "); images != 5 {
		t.Errorf("the report has %d figures, not curves, samples, weights, log Z² and norms", images)
	}
	if elsewhere := regexp.MustCompile(`(src|href)="[^d][^"]*"`).FindString(string(text)); elsewhere != "" || strings.Contains(string(text), "<script") {
		t.Errorf("the report needs %s", elsewhere)
	}
}

// A run is named after its directory, even if that is the working directory.
func TestReportOfTheDirectoryItIsIn(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "mine")
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(fixtures, newest, "nrws", "whole"))); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	if out, want := succeed(t, "report", ".", "--samples", "20", "--rows", "20", "--log-z2", "1000"), filepath.Join("..", "mine.html")+"\n"; out != want {
		t.Errorf("report prints %q, want %q", out, want)
	}
	if text, err := os.ReadFile(dir + ".html"); err != nil || !strings.Contains(string(text), "<title>mine</title>") {
		t.Errorf("the report begins with %.100q (%v)", text, err)
	}
	if out := succeed(t, "plot", ".", "--samples", "20", "--log-z2", "100", "--out", "figures"); !strings.Contains(out, filepath.Join("figures", "mine-norms.png")) {
		t.Errorf("the figures are %s", out)
	}
}
