package hm

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/dataset"
)

// labeled returns digits of which ten keep their label.
func labeled(t testing.TB, seed uint64) *dataset.Set {
	t.Helper()
	set, err := dataset.Spec{Name: "glyphs", Subset: trainingRows, Validation: new(validationRows), Labels: 10, Seed: seed}.Open()
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// TestCheckRefusesLabels checks the errors for settings that do not suit labels.
func TestCheckRefusesLabels(t *testing.T) {
	set := labeled(t, 0)
	all, err := dataset.Open("glyphs")
	if err != nil {
		t.Fatal(err)
	}
	machine := New(set.Shape()).Dense(5, 4)
	top, lower, hidden := machine.Labels(TopLabels, 10), machine.Labels(LowerLabels, 10), machine.Labels(HiddenLabels, 10)
	for _, test := range []struct {
		name    string
		method  Method
		machine Machine
		set     *dataset.Set
		says    []string
	}{
		{"labels without a layer", short(BiHM()), machine, set, []string{"labels = 10", "label_layer"}},
		{"classes without a layer", short(BiHM()), machine.Labels(NoLabels, 10), all, []string{"classes = 10", "label_layer"}},
		{"γ without a layer", short(BiHM()).Gamma(1), machine, all, []string{"gamma = 1", "label_layer"}},
		{"groups of the label", short(BiHM()), machine.Labels(TopLabels, 10).Groups(Groups{Count: 2, Units: 5, Layer: len(machine.Spec().Layers) + 1}), set, []string{"groups", "except for a label"}},
		{"no classes", short(BiHM()), machine.Labels(TopLabels, 0), set, []string{"classes = 0", "10 for digits"}},
		{"too few classes", short(BiHM()), machine.Labels(TopLabels, 9), set, []string{"labels go up to 9", "give classes = 10"}},
		{"no labels", short(BiHM()), machineFor(patterns(t)).Labels(TopLabels, 10), patterns(t), []string{"3by3", "no labels", "mnist"}},
		{"no labelled rows", short(BiHM()), top, all, []string{"--labels N"}},
		{"RWS", short(RWS()), top, set, []string{"rws", "use the method bihm"}},
		{"NBiHM", short(NBiHM()), lower, set, []string{"metric block", "use the method bihm"}},
		{"γ too large", short(BiHM()).Gamma(1.5), top, set, []string{"gamma = 1.5", "−1", "1"}},
		{"γ NaN", short(BiHM()).Gamma(math.NaN()), top, set, []string{"gamma = NaN"}},
		{"weight", short(BiHM()).LabelWeight(-1), top, set, []string{"label_weight = -1", "positive"}},
		{"proposal of a classifier", short(BiHM()).LabelProposal(MixedLabels), lower, set, []string{"mixed", "use exact"}},
		{"proposal of a classifier of h¹", short(BiHM()).LabelProposal(PlainLabels), hidden, set, []string{"plain", "use exact"}},
		{"entropy", short(BiHM()).Entropy(1), top, set, []string{"entropy", "omit it"}},
		{"categorical units", short(BiHM()), machine.Units(Bernoulli, Bernoulli, 2), set, []string{"label_layer = top"}},
	} {
		err := test.method.Experiment(test.machine, test.set).Check(test.set)
		for _, s := range test.says {
			if err == nil || !strings.Contains(err.Error(), s) {
				t.Errorf("%s: %v, want %q", test.name, err, s)
			}
		}
	}
	for _, m := range []Machine{top, lower, hidden} {
		if err := short(BiHM()).Gamma(-1).Experiment(m, set).Check(set); err != nil {
			t.Error(err)
		}
	}
}

// The table of a machine lists its label.
func TestMachineTableHasTheLabel(t *testing.T) {
	set := labeled(t, 0)
	for layer, want := range map[LabelLayer]string{TopLabels: "h3", LowerLabels: "dense, to x and h1", HiddenLabels: "dense, to h1"} {
		text := New(set.Shape()).Dense(5, 4).Labels(layer, 10).String()
		if !strings.Contains(text, want) || !strings.Contains(text, "categorical") {
			t.Errorf("%v: the table has no %q:\n%s", layer, want, text)
		}
	}
}

// A stored model must classify like the trained one, a machine without labels must refuse to, and
// probabilities must sum to 1.
func TestClassify(t *testing.T) {
	for seed, layer := range []LabelLayer{TopLabels, LowerLabels, HiddenLabels} {
		set := labeled(t, uint64(seed))
		dir := filepath.Join(t.TempDir(), "run")
		run, err := short(BiHM()).Optimizer(Adam).Train(t.Context(), machineFor(set), set, dir)
		if err != nil {
			t.Fatal(err)
		}
		few := run.Subset(set.Test(), 20)
		c, err := run.Classify(t.Context(), few, 3, nil)
		if err != nil {
			t.Fatal(err)
		}
		if se := math.Sqrt(max(0, c.Error*(1-c.Error)) / 19); !(math.Abs(float64(c.ErrorSE)-se) <= 1e-9) || !(c.LogP <= 0) || c.Data != 20 {
			t.Errorf("%v: classification %+v, want a standard error of %v", layer, c, se)
		}
		again, err := OpenRun(dir)
		if err != nil {
			t.Fatal(err)
		}
		if other, err := again.Classify(t.Context(), few, 3, nil); err != nil || other != c {
			t.Errorf("%v: the stored model has %+v, %v, the trained one %+v", layer, other, err, c)
		}
		few.Labels = slices.Clone(few.Labels)
		few.Labels[7] = 10
		_, err = run.Classify(t.Context(), few, 3, nil)
		wantError(t, err, "row 8", "class 10", "the model has 10", "from 0 to 9")
		logs, err := run.LogLabelProbabilities(t.Context(), few, 3, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range logs {
			sum := 0.0
			for _, log := range row {
				sum += math.Exp(log)
			}
			if !(math.Abs(sum-1) <= 1e-9) || len(row) != 10 {
				t.Errorf("%v: the probabilities %v sum to %v", layer, row, sum)
			}
		}
	}
	set := labeled(t, 0)
	run := mustTrain(t, short(BiHM()), set, t.TempDir())
	rows := set.Test()
	classification, err := run.Classify(t.Context(), rows, 3, nil)
	if err != nil {
		t.Fatal(err)
	}
	divergence, small := run.ExactKL(t.Context(), set.Train())
	for _, labels := range [][]uint8{rows.Labels, nil} {
		rows.Labels = labels
		e, err := run.Complete(t.Context(), Evaluation{Samples: 3, LogP: -1}, set, rows, nil)
		if err != nil || e.BaselineLogP == nil || *e.Diverged || (e.KLExact != nil) != (small == nil) || e.KLExact != nil && *e.KLExact != divergence {
			t.Errorf("all else of an evaluation is %+v, %v", e, err)
		}
		if labels == nil != (e.Classification == nil) || labels != nil && *e.Classification != classification {
			t.Errorf("the classification is %+v, want %+v", e.Classification, classification)
		}
	}
	set = patterns(t)
	if _, err := mustTrain(t, short(BiHM()), set, t.TempDir()).Classify(t.Context(), set.Test(), 3, nil); err == nil || !strings.Contains(err.Error(), "no labels") {
		t.Errorf("a machine without labels: %v", err)
	}
}

// A set that the model reads with another binarisation would have a baseline of other rows, and
// must be refused.
func TestCompleteRefusesAnotherBinarization(t *testing.T) {
	set := shadesAs(t, dataset.Fixed, 0)
	run := mustTrain(t, short(RWS()), set, t.TempDir())
	for b, says := range map[dataset.Binarization]string{dataset.Fixed: "", dataset.Drawn: "", dataset.Stochastic: "shades have the binarization stochastic, the model has fixed", dataset.Gray: "grey"} {
		other := shadesAs(t, b, 0)
		_, err := run.Complete(t.Context(), Evaluation{Samples: 3}, other, other.Train(), nil)
		if says == "" && err != nil {
			t.Error(err)
		} else if says != "" {
			wantError(t, err, says, "open the set with the binarization of the model")
		}
	}
}

// Rows that do not fit the model must be refused.
func TestOtherRowsAreRefused(t *testing.T) {
	set := patterns(t)
	run := mustTrain(t, short(RWS()), set, t.TempDir())
	learner, err := run.Experiment().Learner(set, run.Snapshot())
	if err != nil {
		t.Fatal(err)
	}
	defer learner.Close()
	units := set.Shape().Units()
	for says, rows := range map[string]dataset.Split{
		"the model has":        {Name: "test", Shape: shape(1, units+1), Values: dataset.Bytes(units+1, make([]uint8, units+1))},
		"no rows":              {Name: "test", Shape: set.Shape()},
		"values for 1 rows of": {Name: "test", Shape: set.Shape(), Values: dataset.Bytes(units, make([]uint8, units+1))},
		"a height and a width": {Name: "test", Shape: shape(-1, -units), Values: dataset.Bytes(units, make([]uint8, units))},
	} {
		_, err := learner.Validate(t.Context(), rows)
		wantError(t, err, says)
		_, err = run.Complete(t.Context(), Evaluation{Samples: 3}, set, rows, nil)
		wantError(t, err, says)
	}
	_, err = run.Complete(t.Context(), Evaluation{Samples: 3}, labeled(t, 0), set.Test(), nil)
	wantError(t, err, "the model has")
}
