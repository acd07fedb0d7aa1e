package command

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/notebooks/reproduce"
	"github.com/helmholtz-go/helmholtz/runs"
)

// An unusable run is reported before anything is trained, and is listed beside the results that can
// be made; one of two shards makes a result.
func TestReproduce(t *testing.T) {
	dir := t.TempDir()
	foreign := filepath.Join(dir, "smoke", "minimnist-b-nrws", "seed-1")
	succeed(t, "train", "--dataset", "3by3", "--subset", "64", "--algorithm", "rws", "--layers", "2", "--epochs", "1", "--out", foreign)
	at := []string{"--scale", "smoke", "--dir", dir}

	code, _, errOut := helmholtz(t, t.Context(), append([]string{"reproduce", "varady/figD.1"}, at...)...)
	if code == 0 || !strings.Contains(errOut, foreign) || !strings.Contains(errOut, "move it elsewhere") || strings.Contains(errOut, "training 1") {
		t.Errorf("with a foreign run the command ends with %d: %s", code, errOut)
	}
	list := succeed(t, append([]string{"reproduce", "list", "varady/fig*.1", "--format", "csv"}, at...)...)
	for _, want := range []string{`"cannot use minimnist-b-nrws, seed 1"`, "varady/fig7.1"} {
		if !strings.Contains(list, want) {
			t.Errorf("%s is missing in\n%s", want, list)
		}
	}

	if err := os.RemoveAll(foreign); err != nil {
		t.Fatal(err)
	}
	for _, shard := range []string{"0/2", "1/2"} {
		succeed(t, append([]string{"reproduce", "varady/figD.1", "varady/fig7.1", "--shard", shard}, at...)...)
	}
	if out := succeed(t, append([]string{"reproduce", "varady/figD.1", "varady/fig7.1", "--shard", "0/2"}, at...)...); strings.Count(out, "has been made") != 2 {
		t.Errorf("results that have been made are made again:\n%s", out)
	}
	if page := succeed(t, "reproduce", "report", "--dir", dir); !strings.Contains(page, "beyond them. 0 are made:") {
		t.Errorf("the page has what was made at the scale smoke:\n%s", page)
	}
}

// A finding is judged anew from its values, and records why.
func TestRejudge(t *testing.T) {
	const name = "varady-tableC.1.laptop.json"
	dir := t.TempDir()
	stored, err := os.ReadFile(filepath.Join("../../../notebooks/results", name))
	if err != nil {
		t.Fatal(err)
	}
	edited := bytes.Replace(stored, []byte(`"measure": "ratio",`), []byte(`"measure": "ratio", "elsewhere": "shorter than published",`), 1)
	if err := os.WriteFile(filepath.Join(dir, name), edited, 0o644); err != nil {
		t.Fatal(err)
	}
	rejudge := []string{"reproduce", "rejudge", "varady/tableC.1", "--results", dir}
	if code, _, errOut := helmholtz(t, t.Context(), rejudge...); code == 0 || !strings.Contains(errOut, "--reason") {
		t.Errorf("without a reason the command ends with %d: %s", code, errOut)
	}
	if out := succeed(t, append(rejudge, "--reason", "it was edited")...); !strings.Contains(out, name+": 1 change") {
		t.Errorf("what is said of an edited finding: %s", out)
	}
	if again, err := os.ReadFile(filepath.Join(dir, name)); err != nil || !bytes.Contains(again, []byte("it was edited")) || bytes.Contains(again, []byte(`"elsewhere"`)) {
		t.Errorf("the finding, %v: %s", err, again)
	}
}

// Links of a page lead to the findings, wherever both are.
func TestLinksOfAPage(t *testing.T) {
	here, there := t.TempDir(), t.TempDir()
	t.Chdir(here)
	for _, c := range []struct{ page, dir string }{
		{"", "results"}, {"notebooks/RESULTS.md", "notebooks/results"},
		{filepath.Join(here, "pages", "a.md"), "results"}, {"a.md", filepath.Join(there, "results")},
	} {
		want, err := filepath.Abs(c.dir)
		if err != nil {
			t.Fatal(err)
		}
		link, err := fromPage(c.page, c.dir)
		if err != nil || filepath.IsAbs(link) {
			t.Fatalf("from %q to %s: %q, %v", c.page, c.dir, link, err)
		}
		if got, err := filepath.Abs(filepath.Join(filepath.Dir(c.page), link)); err != nil || got != want {
			t.Errorf("the link %q of %q leads to %s, not to %s", link, c.page, got, want)
		}
	}
}

// A run that another result wants longer is reported with the number of epochs wanted now, and while others are
// left, the epochs of all.
func TestReproduceReportsTheEpochsThatAreWanted(t *testing.T) {
	var out bytes.Buffer
	job := reproduce.Job{Training: reproduce.Training{Experiment: hm.Experiment{Budget: runs.Budget{Epochs: 2}}}}
	all := &trainings{todo: []reproduce.Job{job, job, job}, w: &out, start: time.Now(), left: []int{2, 2, 2}}
	p := &jobProgress{runs.Printer(&out), all, 0}
	for epochs, want := range map[int]string{5: "2 epochs of 3 steps", 1: "1 epoch of 3 steps"} {
		out.Reset()
		p.Begin(runs.Plan{Name: "a run", Epochs: epochs, StepsPerEpoch: 3})
		if !strings.Contains(out.String(), want) {
			t.Errorf("of %d epochs: %q, want %q", epochs, &out, want)
		}
	}
	counted := func(i int, goesOn bool) string {
		out.Reset()
		all.count(i, goesOn)
		left, _, _ := strings.Cut(out.String(), ", about")
		return left
	}
	said := []string{counted(0, true), counted(1, true), counted(1, true), counted(0, false), counted(2, true)}
	if want := []string{"3 trainings with 5 epochs left", "3 trainings with 4 epochs left", "2 trainings with 3 epochs left", "", ""}; !slices.Equal(said, want) {
		t.Errorf("said %q, want %q", said, want)
	}
}
