package hm

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm/engine/oracle"
)

// garments opens a table of 100 rows with a column of three categories, a binary one, and one of four
// categories that the other two determine: 8 units.
func garments(t *testing.T) *dataset.Set {
	t.Helper()
	text := "colour,striped,price\n"
	for r := range 100 {
		colour, striped := r*7%3, r%2
		text += fmt.Sprintf("%s,%s,%s\n", []string{"blue", "green", "red"}[colour], []string{"no", "yes"}[striped], []string{"a", "b", "c", "d"}[colour+striped])
	}
	path := filepath.Join(t.TempDir(), "garments.csv")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	set, err := dataset.Spec{Name: path}.OpenNew()
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// measured opens a table of 60 rows with a column of three categories, two of real numbers that they
// determine but for noise, and a binary one.
func measured(t *testing.T, binarization dataset.Binarization) *dataset.Set {
	t.Helper()
	text := "colour,width,height,striped\n"
	for r := range 60 {
		text += fmt.Sprintf("%s,%.3f,%.3f,%s\n", []string{"blue", "green", "red"}[r%3], float64(r%3)-1+0.1*math.Sin(float64(7*r)), 0.3*math.Cos(float64(5*r))-float64(r%3), []string{"no", "yes"}[r/3%2])
	}
	path := filepath.Join(t.TempDir(), "measured.csv")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	set, err := dataset.Spec{Name: path, Binarization: binarization, Columns: "width=real,height=real"}.OpenNew()
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// A visible layer of mixed kinds learns what its columns say about each other, and inpainting draws
// a real number and a category given the others.
func TestMixedKinds(t *testing.T) {
	set := measured(t, dataset.Real)
	run, err := short(NRWS()).LearningRate(0.02).Epochs(60).Train(t.Context(), New(set.Shape()).Dense(6).Groups(Groups{}), set, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if text := string(run.Experiment().TOML()); !strings.Contains(text, `groups = ["3", "2r", "1+"]`) {
		t.Errorf("the groups of the columns are\n%s", text)
	}
	rows := set.Train()
	estimate, err := run.Evaluate(t.Context(), rows, 200, nil)
	if baseline := run.Experiment().Baseline(set, rows).Factorized.Value; err != nil || !(estimate.LogP >= baseline+0.5) {
		t.Errorf("log p is %v, of independent columns %v; %v", estimate.LogP, baseline, err)
	}
	mask := dataset.Mask{true, true, true, true, false, false}
	inpainting, err := run.Inpaint(t.Context(), rows, mask, 1, Chain{Sweeps: 5, Candidates: 20, Inner: 2, Retain: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for r, row := range inpainting.Images[0].Values {
		if sum := row[0] + row[1] + row[2]; !(math.Abs(sum-1) <= 1e-6) || row[4] != rows.At(6*r+4) {
			t.Fatalf("row %d is inpainted as %v", r, row)
		}
	}
	wantError(t, short(RWS()).Experiment(New(set.Shape()).Dense(4).Groups(Groups{Count: 1, Units: 3}, Groups{Count: 1, Units: 3, Real: true}).Units(Gaussian, Bernoulli), set).Check(set), "units = [gaussian bernoulli]")
	wantError(t, short(RWS()).Experiment(New(set.Shape()).Dense(4).Groups(Groups{Count: 1, Units: 5}, Groups{Count: 1, Units: 1, Real: true}), set).Check(set), "row 1 of the train rows", "unit 4", "1r")
	wantError(t, short(RWS()).Experiment(New(set.Shape()).Dense(4).Groups(Groups{Count: 6, Units: 1, Rest: true}), set).Check(set), "binarization real", "3r")
	fixed := measured(t, dataset.Fixed)
	wantError(t, short(RWS()).Experiment(New(fixed.Shape()).Dense(4).Groups(Groups{Count: 1, Units: fixed.Shape().Units(), Real: true}), fixed).Check(fixed), "binarization fixed", "use real")
}

// The columns of a table become groups, which the stored experiment writes out.
func TestGroupsOfATable(t *testing.T) {
	set := garments(t)
	e, err := short(NRWS()).Experiment(New(set.Shape()).Dense(4).Groups(Groups{}), set).Resolve(set)
	if err != nil {
		t.Fatal(err)
	}
	if text := string(e.TOML()); !strings.Contains(text, `groups = ["3", "1+", "4"]`) {
		t.Errorf("the experiment is\n%s", text)
	}
	read, err := ParseExperiment(e.TOML())
	if err != nil || read.Hash() != e.Hash() {
		t.Errorf("read back it is %+v, %v", read, err)
	}
}

// Two columns of numbers and a column of two categories are groups of their own.
func TestGroupsOfNumbersBeforeCategories(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mixed.csv")
	if err := os.WriteFile(path, []byte("age,pay,town\n"+strings.Repeat("1.5,3.5,a\n2.5,1.5,b\n4.5,2.5,a\n", 10)), 0o600); err != nil {
		t.Fatal(err)
	}
	set, err := dataset.Spec{Name: path, Columns: "age=real,pay=real,town=categorical", Binarization: dataset.Real}.Open()
	if err != nil {
		t.Fatal(err)
	}
	if groups, err := groupsOf(set); err != nil || !slices.Equal(groups, []Groups{{1, 2, false, 0, true}, {1, 2, false, 0, false}}) {
		t.Errorf("groups %v (%v)", groups, err)
	}
}

func TestTextOfGroups(t *testing.T) {
	for text, want := range map[string]Groups{
		"data": {}, "42*3": {42, 3, false, 0, false}, "60*3+": {60, 3, true, 0, false}, "7": {1, 7, false, 0, false}, "1+": {1, 1, true, 0, false}, "h2:25*4": {25, 4, false, 2, false}, "3r": {1, 3, false, 0, true},
	} {
		var got Groups
		if err := got.UnmarshalText([]byte(text)); err != nil || got != want || got.String() != text {
			t.Errorf("%s is %+v, written %v, %v", text, got, got, err)
		}
	}
	for _, text := range []string{"", "3*", "*3", "-3", "3**4", "3++", "1234567", "h0:3", "data:3"} {
		if err := new(Groups).UnmarshalText([]byte(text)); err == nil {
			t.Errorf("groups %q are accepted", text)
		}
	}
}

func TestWrongGroupsAreRefused(t *testing.T) {
	set := garments(t)
	machine := New(set.Shape()).Dense(4)
	for _, c := range []struct {
		method  Method
		machine Machine
		says    []string
	}{
		{short(RWS()), machine.Groups(Groups{2, 4, false, 0, false}), []string{"row 2 of the train rows", "2 of the 4 units of group 1 on", "exactly one"}},
		{short(RWS()), machine.Groups(Groups{1, 3, false, 0, false}, Groups{1, 4, false, 0, false}, Groups{1, 1, true, 0, false}), []string{"row", "group 2"}},
		{short(RWS()), machine.Groups(Groups{1, 3, false, 0, false}), []string{"groups of layer 0 have 3 units, but the layer has 8"}},
		{short(RWS()), machine.Groups(Groups{3, 3, false, 0, false}), []string{"groups of layer 0 have 9 units, but the layer has 8"}},
		{short(RWS()), machine.Groups(Groups{1, 7, false, 0, false}, Groups{1, 1, false, 0, false}), []string{"group 2", "1 unit and 1 categories", "at least 2"}},
		{short(RWS()), machine.Groups(Groups{1, 0, true, 0, false}, Groups{1, 8, true, 0, false}), []string{"group 1", "0 units"}},
		{short(RWS()), machine.Groups(Groups{1, 8, true, 0, false}, Groups{}), []string{"data describes all visible units"}},
		{short(RWS()), machine.Groups(Groups{}).Units(Gaussian, Bernoulli), []string{"units = [gaussian bernoulli]", "categorical"}},
		{short(RWS()), machine.Groups(Groups{Units: 8}), []string{"groups of layer 0 have 0 units, but the layer has 8"}},
		{short(RWS()), machine.Groups(Groups{1, 4, false, -1, false}), []string{"hidden layer -1"}},
		{short(RWS()), machine.Groups(Groups{1, 4, false, 2, false}), []string{"h2:4", "1 hidden layers"}},
		{short(RWS()), machine.Groups(Groups{1, 3, false, 1, false}), []string{"groups of layer 1 have 3 units, but the layer has 4"}},
		{short(RWS()), machine.Groups(Groups{1, 4, false, 1, false}).Units(Bernoulli, Gaussian), []string{"h1:4", "units = [bernoulli gaussian]"}},
		{short(preset("jsa")), machine.Groups(Groups{1, 4, false, 1, false}), []string{"h1:4", "jsa"}},
		{short(RWS()).Entropy(1), machine.Groups(Groups{}), []string{"entropy", "groups"}},
		{short(NRWS()).Metric(Kronecker), machine.Groups(Groups{}), []string{"metric = kronecker", "use block"}},
	} {
		wantError(t, c.method.Experiment(c.machine, set).Check(set), c.says...)
	}
	if text := machine.Groups(Groups{}).String(); !strings.Contains(text, "groups = data") {
		t.Errorf("a machine without its data set is %s", text)
	}
	pixels := patterns(t)
	wantError(t, short(RWS()).Experiment(machineFor(pixels).Groups(Groups{}), pixels).Check(pixels), "groups = data", "no columns")
	convolved := New(pixels.Shape()).Convolve(Convolution{Channels: 1, Height: 2, Width: 2, Stride: 1})
	wantError(t, short(RWS()).Experiment(convolved.Groups(Groups{9, 1, true, 0, false}), pixels).Check(pixels), "groups of layer 0", "convolution")
	tanh := func(m Method, of Machine) error { return m.Experiment(of, pixels).Check(pixels) }
	wantError(t, tanh(short(RWS()), convolved.Tanh(3)), "tanh layers [3]", "convolutions")
	wantError(t, tanh(short(RWS()), machineFor(pixels).Tanh(3, 0)), "tanh layer of 0 units")
	wantError(t, tanh(short(REINFORCE()).ReinforceBaseline(OptimalBaseline), machineFor(pixels).Tanh(3)), "reinforce_baseline = optimal", "tanh = [3]")
	wantError(t, New(set.Shape()).Dense(4).Labels(TopLabels, 3).Tanh(3).Architecture().Check(), "tanh layers [3]", "labels")
	e := short(RWS()).Experiment(machine.Groups(Groups{}), set)
	e.Dataset.Binarization = dataset.Stochastic
	wantError(t, e.Check(set), "binarization stochastic", "use fixed")
}

// Groups of a table of mixed kinds do not need validation rows, which a table of few rows lacks.
func TestGroupsOfFewRows(t *testing.T) {
	path := filepath.Join(t.TempDir(), "few.csv")
	if err := os.WriteFile(path, []byte("a,b,c\n1,0,1.5\n0,1,2.5\n1,1,3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	set, err := dataset.Spec{Name: path}.OpenSuggested()
	if err != nil {
		t.Fatal(err)
	}
	machine, method := Suggested(set)
	if err := method.Experiment(machine, set).Check(set); err != nil || set.Validation().Rows > 0 {
		t.Error(set, err)
	}
}

// The error for a constant column of a table that the Spec keeps says to leave it out, which the groups then accept.
func TestGroupsOfAConstantColumn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mixed.csv")
	if err := os.WriteFile(path, []byte("const,town\n"+strings.Repeat("1,a\n1,b\n1,c\n", 10)), 0o600); err != nil {
		t.Fatal(err)
	}
	for columns, says := range map[string]string{
		"": "", "const=real:4": `columns = "const=skip"`, "const=categorical": `columns = "const=skip"`, "const=skip": "",
	} {
		set, err := dataset.Spec{Name: path, Columns: columns}.OpenNew()
		if err != nil {
			t.Fatal(err)
		}
		err = short(RWS()).Experiment(New(set.Shape()).Dense(4).Groups(Groups{}), set).Check(set)
		if says != "" {
			wantError(t, err, "column const", says)
		} else if err != nil {
			t.Errorf("columns %q: %v", columns, err)
		}
	}
}

// A trained machine never leaves its categories: draws, inpainted rows and means have one value for each
// variable, and log p of its rows, by enumeration, is far above that of independent columns.
func TestMachineOfGroups(t *testing.T) {
	set := garments(t)
	run, err := short(NRWS()).Epochs(30).Train(t.Context(), New(set.Shape()).Dense(6, 4).Groups(Groups{}, Groups{2, 2, true, 2, false}), set, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	wantCategories := func(what string, sheet dataset.Sheet) {
		t.Helper()
		for _, row := range sheet.Values {
			for _, group := range [][]float64{row[:3], row[4:]} {
				sum := 0.0
				for _, p := range group {
					sum += p
				}
				if !(math.Abs(sum-1) <= 1e-6) {
					t.Fatalf("%s: the probabilities of a variable sum to %v", what, sum)
				}
			}
		}
	}
	draws, err := run.Draw(t.Context(), 50)
	if err != nil {
		t.Fatal(err)
	}
	wantCategories("draws", draws)
	means, err := run.Means(t.Context(), 50)
	if err != nil {
		t.Fatal(err)
	}
	wantCategories("means", means)
	mask := dataset.Mask{true, true, true, false, false, false, false, false}
	inpainting, err := run.Inpaint(t.Context(), set.Test(), mask, 3, Chain{Sweeps: 2, Candidates: 5, Inner: 2, Retain: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, images := range inpainting.Images {
		wantCategories("inpainted rows", images)
	}
	mask[0] = false
	_, err = run.Inpaint(t.Context(), set.Test(), mask, 1, Chain{Sweeps: 1}, nil)
	wantError(t, err, "some of the 3 units of group 1")

	exact := oracle.NewNetworks(run.Parameters())
	mean, rows := 0.0, set.Train()
	for _, x := range explain(exact, rows) {
		mean += x.LogP() / float64(rows.Rows)
	}
	baseline := run.Experiment().Baseline(set, rows).Factorized.Value
	t.Logf("log p %.3f, independent columns %.3f, exactly −log 6 = %.3f at best", mean, baseline, -math.Log(6))
	if !(mean >= baseline+0.5) || !(baseline >= -math.Log(24)) {
		t.Errorf("log p is %v, of independent columns %v", mean, baseline)
	}
	estimate, err := run.Evaluate(t.Context(), rows, 500, nil)
	if err != nil || !(math.Abs(estimate.LogP-mean) <= 0.02) {
		t.Errorf("log p is estimated as %v, exactly %v; %v", estimate.LogP, mean, err)
	}
	text := New(set.Shape()).Dense(6).Groups(Groups{1, 3, false, 0, false}, Groups{1, 1, true, 0, false}, Groups{1, 4, false, 0, false}).Tanh(3, 5).String()
	for _, part := range []string{"8 in 3 groups", "3 of at most 24×24", "categorical", "dense, tanh 3 5", "178 parameters", "tanh layers in the Euclidean metric"} {
		if !strings.Contains(text, part) {
			t.Errorf("the table lacks %q:\n%s", part, text)
		}
	}
}
