package command

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/runs"
)

// What begins from a run, and names no data, is trained on those of that run, with the division
// that flags do not change.
func TestTrainingBeginsOnTheDataOfTheRun(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	dataOf := func(name string) dataset.Spec {
		e, err := runs.ExperimentIn(at(name))
		if err != nil {
			t.Fatal(err)
		}
		return e.Header().Dataset
	}
	succeed(t, onPatterns("--algorithm", "cd", "--layers", "5", "--out", at("rbm"))...)
	succeed(t, "train", "--on", at("rbm"), "--algorithm", "cd", "--layers", "4", "--epochs", "1", "--batch", "9", "--out", at("upper"))
	succeed(t, "train", "--from", at("rbm"), "--algorithm", "pcd", "--layers", "5", "--epochs", "1", "--batch", "9", "--subset", "30", "--out", at("further"))
	succeed(t, onPatterns("--algorithm", "rws", "--layers", "5,3", "--out", at("rws"))...)
	succeed(t, "train", "--from", at("rws"), "--algorithm", "nrws", "--layers", "5,3", "--epochs", "1", "--batch", "9", "--out", at("nrws"))
	fewer := dataOf("rbm")
	fewer.Subset = 30
	for name, want := range map[string]dataset.Spec{"upper": dataOf("rbm"), "further": fewer, "nrws": dataOf("rws")} {
		if got := dataOf(name); !reflect.DeepEqual(got, want) {
			t.Errorf("%s is trained on %+v, and begins from a run on %+v", name, got, want)
		}
	}
}

// A file of a run is of its data, until flags describe others.
func TestOtherDataThanThoseOfAFileAreRefused(t *testing.T) {
	dir := t.TempDir()
	rows, out := filepath.Join(dir, "rows.txt"), filepath.Join(dir, "run")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(rows, []byte(strings.Repeat(text, 20)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, algorithm := range []string{"rws", "cd"} {
		write("0 1 1\n1 0 0\n")
		succeed(t, "train", "--dataset", rows, "--algorithm", algorithm, "--layers", "2", "--epochs", "1", "--batch", "9", "--out", out+algorithm)
		again := []string{"train", "--config", filepath.Join(out+algorithm, "experiment.toml"), "--out", out + algorithm + "-2"}
		succeed(t, again...)
		write("0 1 1\n1 0 1\n")
		again[len(again)-1] += "-3"
		if code, _, says := helmholtz(t, t.Context(), again...); code == 0 || !strings.Contains(says, "fingerprint") {
			t.Errorf("%s: other rows end with %d: %s", algorithm, code, says)
		}
		succeed(t, append(again, "--subset", "9", "--batch", "3")...)
	}
}
