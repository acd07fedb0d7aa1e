package command

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/runs"
)

// The file that new writes for your own rows has a comment on each setting, sets a tenth of the
// rows aside for validation, and describes the experiment that train trains.
func TestNewWritesAnExperimentOfOnesOwnRows(t *testing.T) {
	dir := t.TempDir()
	rows, path := filepath.Join(dir, "rows.txt"), filepath.Join(dir, "mine.toml")
	if err := os.WriteFile(rows, []byte(strings.Repeat("0 1 1 0\n1 1 0 0\n", 50)), 0o644); err != nil {
		t.Fatal(err)
	}
	args := []string{"--dataset", rows, "--algorithm", "rws", "--layers", "3", "--lr", "0.1", "--epochs", "2", "--l2", "0.01", "--measure", "every=1,rows=5,samples=3", "--keep", "1"}
	out := succeed(t, append([]string{"new", path}, args...)...)
	if !strings.Contains(out, "81 for training, 9 for validation, 10 for tests") || !strings.Contains(out, "helmholtz train --config "+path) {
		t.Errorf("new says %q", out)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if setting, _, ok := strings.Cut(strings.TrimSpace(line), " = "); ok && !strings.Contains(line, "  # ") {
			t.Errorf("nothing says what %s means", setting)
		}
	}
	e, err := readMachine(path)
	if err != nil {
		t.Fatal(err)
	}
	if e.Method.Preset != "rws" || e.Method.LearningRate != 0.1 || e.Dataset.Name != rows || !slices.Equal(e.Keep, []int{1}) {
		t.Errorf("the experiment is %+v", e)
	}
	succeed(t, "train", "--config", path, "--out", filepath.Join(dir, "run"))

	for says, args := range map[string][]string{
		"already exists": {path}, "name the file": {}, "batch_size = 0": {filepath.Join(dir, "x.toml"), "--dataset", rows, "--batch", "0"},
	} {
		if code, _, err := helmholtz(t, t.Context(), append([]string{"new"}, args...)...); code != exitUsage || !strings.Contains(err, says) {
			t.Errorf("new %v ends with %d: %s", args, code, err)
		}
	}
}

// The file that new writes from the experiment of a run leaves out the checksums, which training sets.
func TestNewChangesTheExperimentOfARun(t *testing.T) {
	dir := t.TempDir()
	first, tuned := filepath.Join(dir, "first"), filepath.Join(dir, "tuned")
	machine := []string{"train", "--dataset", "3by3", "--subset", "320", "--validation", "40", "--algorithm", "rws", "--layers", "6,3", "--epochs", "1"}
	succeed(t, append(machine, "--out", first)...)
	succeed(t, append(machine, "--from", first, "--out", tuned)...)
	path := filepath.Join(dir, "folder", "again.toml")
	code, _, errOut := helmholtz(t, t.Context(), "new", "")
	if code != exitUsage || !strings.Contains(errOut, "the name of the file is empty") {
		t.Errorf("without a name, new ends with %d: %s", code, errOut)
	}
	succeed(t, "new", path, "--config", filepath.Join(tuned, "experiment.toml"), "--lr", "0.1")
	e, err := readMachine(path)
	if err != nil {
		t.Fatal(err)
	}
	if e.Fingerprint != "" || e.Start == nil || e.Start.Run != first || e.Start.Parameters != "" || e.Method.LearningRate != 0.1 {
		t.Errorf("the experiment is %+v, from %+v", e, e.Start)
	}
	for says, flags := range map[string]string{
		"start from nope: ": "--dataset 3by3 --layers 6,3 --from nope",
		"epoch 7":           "--layers 6,3 --from " + first + " --from-checkpoint 7",
		"describe the same machine, as --config " + filepath.Join(first, "experiment.toml"): "--layers 5 --from " + first,
	} {
		args := append([]string{"new", filepath.Join(dir, "refused.toml")}, strings.Fields(flags)...)
		if code, _, err := helmholtz(t, t.Context(), args...); code != exitUsage || !strings.Contains(err, says) {
			t.Errorf("%v ends with %d: %s", args, code, err)
		}
	}
}

// Without --algorithm, new chooses settings by the rows: real numbers get Gaussian visible units below the
// layers that are given.
func TestNewSuggestsSettings(t *testing.T) {
	dir := t.TempDir()
	rows, path := filepath.Join(dir, "rows.csv"), filepath.Join(dir, "mine.toml")
	if err := os.WriteFile(rows, []byte(strings.Repeat("0.5,-2.5,3\n1.5,2.25,-1\n1,2,0\n", 34)), 0o644); err != nil {
		t.Fatal(err)
	}
	succeed(t, "new", path, "--dataset", rows, "--layers", "3", "--epochs", "4")
	e, err := readMachine(path)
	if err != nil {
		t.Fatal(err)
	}
	if e.Epochs != 4 || e.Method.Preset != "rws" || e.Method.Optimizer != hm.Adam || !slices.Equal(e.Machine.Units, []hm.Kind{hm.Gaussian, hm.Bernoulli}) {
		t.Errorf("the experiment is %+v", e)
	}
	succeed(t, "train", "--config", path, "--out", filepath.Join(dir, "run"))
	weather := filepath.Join(dir, "weather.csv")
	if err := os.WriteFile(weather, []byte("wind,pressure\n"+strings.Repeat("0.5,1013\n-1.5,1009.25\n0.25,1011\n", 34)), 0o644); err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(dir, "weather.toml")
	run := filepath.Join(dir, "weather")
	for _, of := range []struct {
		args  []string
		warns bool
	}{
		{[]string{"data", "show", weather}, true},
		{[]string{"new", path, "--dataset", weather}, false}, // standardises
		{[]string{"new", filepath.Join(dir, "again.toml"), "--dataset", weather, "--standardize"}, false},
		{[]string{"train", "--config", path, "--epochs", "1", "--out", run}, false},
		{[]string{"train", "--dataset", weather, "--binarization", "real", "--units", "gaussian,bernoulli", "--layers", "2", "--epochs", "1", "--algorithm", "rws", "--lr", "1e-9", "--out", run + "2"}, true},
	} {
		if code, out, err := helmholtz(t, t.Context(), of.args...); code != 0 || strings.Contains(out+err, `column "pressure"`) != of.warns {
			t.Errorf("%v ends with %d, and whether it warns of the pressure is not %v: %s%s", of.args, code, of.warns, out, err)
		}
	}
	if e, err = readMachine(path); err != nil || !e.Dataset.Standardize {
		t.Errorf("the experiment is %+v (%v)", e, err)
	}
	samples := filepath.Join(dir, "samples.csv")
	succeed(t, "sample", run, "--out", samples)
	table, err := os.ReadFile(samples)
	if err != nil {
		t.Fatal(err)
	}
	mean, lines := 0.0, strings.Split(strings.TrimSpace(string(table)), "\n")
	for _, line := range lines[1:] {
		_, pressure, _ := strings.Cut(line, ",")
		hPa, err := strconv.ParseFloat(pressure, 64)
		if err != nil {
			t.Fatal(err)
		}
		mean += hPa / float64(len(lines)-1)
	}
	if math.Abs(mean-1011) > 4 { // a standard deviation is 1.9
		t.Errorf("the samples have a mean pressure of %v", mean)
	}

	// A given method also gets the real numbers; standardising can be declined; and a table has no filters.
	other := filepath.Join(dir, "other.toml")
	succeed(t, "new", other, "--dataset", weather, "--algorithm", "rws", "--lr", "0.001", "--layers", "2", "--epochs", "1")
	succeed(t, "train", "--config", other, "--out", filepath.Join(dir, "other"))
	raw := filepath.Join(dir, "raw.toml")
	succeed(t, "new", raw, "--dataset", weather, "--standardize=false")
	if e, err = readMachine(raw); err != nil || e.Dataset.Standardize {
		t.Errorf("the experiment is %+v (%v)", e, err)
	}
	if code, _, err := helmholtz(t, t.Context(), "sample", run, "--kind", "layers", "--out", samples); code == 0 || !strings.Contains(err, "name a picture") {
		t.Errorf("layers in a table: %d, %s", code, err)
	}

	path = filepath.Join(dir, "bits.toml")
	succeed(t, "new", path, "--dataset", "miniglyphs", "--subset", "300")
	if e, err = readMachine(path); err != nil || e.Method.Preset != "nrws" || e.Method.RefreshEvery != 10 || e.Epochs != 40 {
		t.Errorf("the experiment is %+v (%v)", e, err)
	}
}

// Numbers that a given scale does not hold are refused, and not kept as real numbers.
func TestNewRefusesNumbersOutsideTheGivenScale(t *testing.T) {
	dir := t.TempDir()
	rows := filepath.Join(dir, "rows.csv")
	if err := os.WriteFile(rows, []byte(strings.Repeat("0,16,3\n8,2,17\n", 20)), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"new", filepath.Join(dir, "mine.toml"), "--dataset", rows, "--largest", "16"}, {"data", "show", rows, "--largest", "16"}} {
		if code, _, err := helmholtz(t, t.Context(), args...); code == 0 || !strings.Contains(err, "17 is not from 0 to largest = 16") {
			t.Errorf("%v ends with %d: %s", args, code, err)
		}
	}
}

// The numbers of a table stay numbers, each of its other columns is one variable, and the samples of the machine have
// one category each.
// Images on another scale need --largest: they cannot be standardised, as other numbers are.
func TestNewRefusesImagesOnAnotherScale(t *testing.T) {
	here := t.TempDir()
	images, file := filepath.Join(here, "images.csv"), filepath.Join(here, "e.toml")
	if err := os.WriteFile(images, []byte(strings.Repeat("0,16,8,4\n16,0,4,8\n", 20)), 0o600); err != nil {
		t.Fatal(err)
	}
	code, _, errOut := helmholtz(t, t.Context(), "new", file, "--dataset", images, "--shape", "2x2")
	if code != exitUsage || !strings.Contains(errOut, "largest = 16 (--largest)") || strings.Contains(errOut, "standardize") {
		t.Errorf("ended with %d and said %q", code, errOut)
	}
	succeed(t, "new", file, "--dataset", images, "--shape", "2x2", "--largest", "16")
	succeed(t, "new", file+".real.toml", "--dataset", images, "--shape", "2x2", "--binarization", "real")
}

func TestNewKeepsTheColumnsOfTables(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	var text strings.Builder
	text.WriteString("height,city,smoker\n")
	for i := range 200 {
		fmt.Fprintf(&text, "%d.5,%s,%s\n", 150+i%50, []string{"Aa", "Bb", "Cc"}[i%3], []string{"yes", "no"}[i%7/4])
	}
	if err := os.WriteFile(at("people.csv"), []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, flags := range map[string][]string{"plain": nil, "real": {"--binarization", "real"}, "groups": {"--binarization", "real", "--groups", "data"}} {
		succeed(t, append([]string{"new", at(name + ".toml"), "--dataset", at("people.csv"), "--epochs", "1"}, flags...)...)
		e, err := readMachine(at(name + ".toml"))
		if err != nil {
			t.Fatal(err)
		}
		if !e.Dataset.Standardize || e.Dataset.Binarization != dataset.Real || !slices.Equal(e.Machine.Groups, []hm.Groups{{}}) || e.Machine.Units != nil {
			t.Errorf("%s: new writes the data %+v and the machine %+v", name, e.Dataset, e.Machine)
		}
	}
	succeed(t, "train", "--config", at("plain.toml"), "--out", at("run"))
	succeed(t, "sample", at("run"), "--n", "50", "--out", at("samples.csv"))
	samples, err := os.ReadFile(at("samples.csv"))
	if err != nil {
		t.Fatal(err)
	}
	if lines := regexp.MustCompile(`(?m)^\d+\.\d+,(Aa|Bb|Cc),(yes|no)$`).FindAll(samples, -1); len(lines) != 50 {
		t.Errorf("%d of 50 samples have a number and one value of each other column:\n%s", len(lines), samples)
	}
	for columns, real := range map[string]bool{"height=real:3": false, "height=real": true} {
		path := at(columns + ".toml")
		succeed(t, "new", path, "--dataset", at("people.csv"), "--columns", columns)
		if e, err := readMachine(path); err != nil || (e.Dataset.Binarization == dataset.Real) != real {
			t.Errorf("%s: new writes %+v, %v", columns, e.Dataset, err)
		}
	}
	for name, flags := range map[string][]string{"method": {"--dataset", at("people.csv"), "--algorithm", "rws"}, "config": {"--config", at("plain.toml")}} {
		succeed(t, append([]string{"new", at(name + ".toml")}, flags...)...)
		e, err := readMachine(at(name + ".toml"))
		if err != nil || !e.Dataset.Standardize || !slices.Equal(e.Machine.Groups, []hm.Groups{{}}) || e.Machine.Units != nil {
			t.Errorf("with %v, new writes %+v and %+v, %v", flags, e.Dataset, e.Machine, err)
		}
	}
	succeed(t, "new", at("largest.toml"), "--dataset", at("people.csv"), "--columns", "city=skip,smoker=skip", "--binarization", "real", "--largest", "10")
	if e, err := readMachine(at("largest.toml")); err != nil || e.Dataset.Standardize || e.Dataset.Largest != 10 {
		t.Errorf("with a scale, new writes %+v, %v", e.Dataset, err)
	}
}

// The command new chooses the machine and the method of hm.Suggested and the data of OpenSuggested, and a binary column
// is no Gaussian unit, whatever the other columns are.
func TestNewAndSuggestedAgree(t *testing.T) {
	dir := t.TempDir()
	for name, of := range map[string]struct {
		header, row string
		groups      bool
		data        dataset.Binarization
	}{
		"heart":     {"age,sex,chol,target", "%[2]d,%[1]d,3%[2]d,%[1]d", true, dataset.Real},
		"one two":   {"age,sex", "%[2]d.5,1%[1]d", true, dataset.Real},
		"no header": {"7.25,1", "%[2]d.5,%[1]d", true, dataset.Real},
		"bits":      {"a,b,same", "%[1]d,1%[1]d,5", false, dataset.Fixed},
		"numbers":   {"a,b,same", "%[2]d.5,-%[2]d,5", false, dataset.Real},
		"text":      {"age,city,id", "%[2]d,c%[1]d,p%[2]d", true, dataset.Real},
	} {
		path, text := filepath.Join(dir, name+".csv"), of.header+"\n"
		for i := range 60 {
			text += fmt.Sprintf(of.row+"\n", i*i%5%2, 20+i*7%61)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		succeed(t, "new", filepath.Join(dir, name+".toml"), "--dataset", path)
		e, err := readMachine(filepath.Join(dir, name+".toml"))
		if err != nil {
			t.Fatal(err)
		}
		set, err := dataset.Spec{Name: path}.OpenSuggested()
		if err != nil {
			t.Fatal(err)
		}
		machine, method := hm.Suggested(set)
		like := method.Experiment(machine, set)
		if !reflect.DeepEqual(e.Machine, like.Machine) || !reflect.DeepEqual(e.Method, like.Method) || e.Dataset.Binarization != of.data || e.Dataset.Standardize != set.Spec().Standardize || (len(e.Machine.Groups) > 0) != of.groups {
			t.Errorf("%s: new writes\n%v\n%v, suggested are\n%v\n%v", name, e.Dataset, e.Machine, set.Spec(), like.Machine)
		}
	}
	run := filepath.Join(dir, "run")
	succeed(t, "train", "--config", filepath.Join(dir, "heart.toml"), "--epochs", "1", "--out", run)
	succeed(t, "sample", run, "--n", "9", "--out", filepath.Join(dir, "samples.csv"))
	succeed(t, "eval", run, "--rows", filepath.Join(dir, "samples.csv"), "--samples", "5")
	for _, args := range [][]string{{"train", "ppca", "--components", "1"}, {"train", "--units", "gaussian,bernoulli", "--layers", "2", "--algorithm", "rws"}} {
		args = append(args, "--dataset", filepath.Join(dir, "heart.csv"), "--binarization", "real", "--standardize", "--epochs", "1", "--out", run+args[1])
		if code, out, err := helmholtz(t, t.Context(), args...); code != 0 || !strings.Contains(out+err, `with categories ("sex", "target") have densities`) {
			t.Errorf("%v ends with %d: %s%s", args, code, out, err)
		}
	}
}

func readMachine(path string) (hm.Experiment, error) {
	e, err := runs.ReadExperiment(path)
	machine, _ := e.(hm.Experiment)
	return machine, err
}
