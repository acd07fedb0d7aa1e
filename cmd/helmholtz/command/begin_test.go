package command

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/runs"
)

// Training that starts from a run without naming data uses the data of that run, with its split
// unless flags change it.
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

// The file of a run belongs to its data, until flags describe other data.
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

// Your own file is split the same way however it is named. The first line of training shows its
// rows, their shape, the range of their values and the share of ones. Oddities of the rows are
// reported in training, evaluations and reports.
func TestTheFirstLineOfTrainingShowsTheData(t *testing.T) {
	dir := t.TempDir()
	rows, same := filepath.Join(dir, "rows.txt"), filepath.Join(dir, "same.txt")
	for path, text := range map[string]string{rows: "0 1 1\r1 0 0\r", same: "0 1 1\n0 1 1\n"} {
		if err := os.WriteFile(path, []byte(strings.Repeat(text, 20)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	opened, err := dataset.Open(rows)
	if err != nil {
		t.Fatal(err)
	}
	want := "rows of 1×3, 33 for training, 3 for validation, 4 for tests; values 0 to 1, "
	if !strings.Contains(opened.String(), want) {
		t.Errorf("dataset.Open opens %v", opened)
	}
	for _, algorithm := range []string{"rws", "pcd"} {
		flags := []string{"--algorithm", algorithm, "--layers", "2", "--epochs", "1", "--batch", "9"}
		if algorithm == "rws" {
			if out := succeed(t, append([]string{"new", filepath.Join(dir, "new.toml"), "--dataset", rows}, flags...)...); !strings.Contains(out, want) {
				t.Errorf("new says %s", out)
			}
		}
		out := filepath.Join(dir, algorithm)
		code, _, says := helmholtz(t, t.Context(), append([]string{"train", "--dataset", rows, "--out", out}, flags...)...)
		if first, _, _ := strings.Cut(says, "\n"); code != 0 || first != opened.String() {
			t.Errorf("%s ends with %d and begins with %q, not %v", algorithm, code, first, opened)
		}
		_, _, says = helmholtz(t, t.Context(), append([]string{"train", "--dataset", rows, "--validation", "0", "--out", out + "-all"}, flags...)...)
		if first, _, _ := strings.Cut(says, "\n"); !strings.Contains(first, "0 for validation") || !strings.Contains(first, "--validation N") {
			t.Errorf("%s on all rows begins with %q", algorithm, first)
		}
	}

	out, notice := filepath.Join(dir, "same"), "all 33 training rows of "+same+" are the same"
	page := filepath.Join(dir, "same.html")
	for _, args := range [][]string{
		{"train", "--dataset", same, "--algorithm", "rws", "--layers", "2", "--epochs", "1", "--batch", "9", "--out", out},
		{"eval", out, "--samples", "10", "--log-z2", "0"},
		{"report", out, "--samples", "10", "--log-z2", "20", "--out", page},
	} {
		if code, _, says := helmholtz(t, t.Context(), args...); code != 0 || args[0] != "report" && !strings.Contains(says, notice) {
			t.Errorf("%s ends with %d and says %s", args[0], code, says)
		}
	}
	if text, err := os.ReadFile(page); err != nil || !strings.Contains(string(text), notice) {
		t.Errorf("the report does not say that %s (%v)", notice, err)
	}
}

// A path in a file starts at the folder of the file, wherever the program runs; in a file of an
// earlier version it starts at the current folder. The error for missing data names the file that names them, and
// both places. A sweep whose data cannot be opened leaves no directory.
func TestPathsInFilesBeginAtTheFile(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	write := func(path, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	rows := strings.Repeat("0 1 1\n1 0 0\n", 20)
	write("project/data/rows.txt", rows)
	flags := []string{"--algorithm", "rws", "--layers", "2", "--epochs", "1", "--batch", "9"}
	succeed(t, append([]string{"new", "project/mine.toml", "--dataset", "project/data/rows.txt"}, flags...)...)
	text, err := os.ReadFile("project/mine.toml")
	if err != nil || !strings.Contains(string(text), "name = \"data/rows.txt\"") {
		t.Errorf("new writes (%v)\n%s", err, text)
	}
	write("project/sweeps/rates.toml", "base = \"../mine.toml\"\n[grid]\nmethod.learning_rate = [0.1, 0.2]\n")
	write("project/sweeps/data.toml", "base = {epochs = 1, dataset = {name = \"../data/rows.txt\"}, machine = {layers = [2]}, method = {preset = \"rws\", batch_size = 9}}\n[grid]\ndataset.seed = [1, 2]\n")
	succeed(t, "train", "--config", "project/mine.toml", "--out", "run")
	succeed(t, "train", "--resume", "run", "--epochs", "2")
	succeed(t, "sweep", "run", "project/sweeps/rates.toml", "--workers", "1", "--out", "rates")
	succeed(t, "sweep", "run", "project/sweeps/data.toml", "--workers", "1", "--out", "data")
	succeed(t, "sweep", "status", "data")

	write("elsewhere/lost.toml", strings.ReplaceAll(string(text), "data/rows.txt", "other.txt"))
	write("elsewhere/lost-sweep.toml", "base = \"lost.toml\"\n")
	for _, args := range [][]string{{"train", "--config", "elsewhere/lost.toml", "--out", "lost"}, {"sweep", "run", "elsewhere/lost-sweep.toml", "--out", "lost"}, {"sweep", "plan", "elsewhere/lost-sweep.toml"}, {"tune", "elsewhere/lost.toml", "--epochs", "9", "--out", "lost"}} {
		code, _, says := helmholtz(t, t.Context(), args...)
		says = strings.ReplaceAll(says, "\n", " ")
		want := fmt.Sprintf("lost.toml names \"other.txt\": no such file or directory at %s or %s: correct the path in %s", filepath.Join(dir, "elsewhere", "other.txt"), filepath.Join(dir, "other.txt"), filepath.Join("elsewhere", "lost.toml"))
		if _, err := os.Stat("lost"); code == 0 || !strings.Contains(says, want) || !os.IsNotExist(err) {
			t.Errorf("helmholtz %s ends with %d (%v): %s", strings.Join(args, " "), code, err, says)
		}
	}
	for setting, file := range map[string]string{"name = \"gone.npz#x\"": "gone.npz", "name = \"../project/data/rows.txt\"\nlabel_file = \"gone.txt\"": "gone.txt", "name = \"../project/data/rows.txt\"\nschema = \"gone.toml\"": "gone.toml"} {
		write("elsewhere/part.toml", strings.ReplaceAll(string(text), "name = \"data/rows.txt\"", setting))
		code, _, says := helmholtz(t, t.Context(), "train", "--config", "elsewhere/part.toml", "--out", "lost")
		if code == 0 || !strings.Contains(says, fmt.Sprintf("part.toml names %q", file)) || strings.Contains(says, "--dataset") != (file == "gone.npz") {
			t.Errorf("%s: %d, %s", setting, code, says)
		}
	}
	sweep, err := runs.ReadSweep("elsewhere/lost-sweep.toml")
	if err != nil {
		t.Fatal(err)
	}
	if err := sweep.Claim("lost"); err == nil {
		t.Error("a sweep without data has a directory")
	}
	if _, err := os.Stat("lost"); !os.IsNotExist(err) {
		t.Errorf("a sweep without data leaves its directory (%v)", err)
	}
	write("other.txt", rows)
	succeed(t, "train", "--config", "elsewhere/lost.toml", "--out", "earlier")

	t.Chdir("project")
	succeed(t, "train", "--config", "mine.toml", "--out", "again")
}
