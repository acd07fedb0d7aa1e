package deterministic

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/runs"
	"pgregory.net/rapid"
)

// drawExperiment draws an experiment that can be written.
func drawExperiment(t *rapid.T) Experiment {
	e := Experiment{
		Dataset:     dataset.Spec{Name: rapid.SampledFrom([]string{"3by3", "rows.txt"}).Draw(t, "name"), Seed: rapid.Uint64Max(math.MaxInt64).Draw(t, "data seed")},
		Fingerprint: rapid.SampledFrom([]string{"", "0123abcd"}).Draw(t, "fingerprint"),
		Machine: MachineSpec{
			Activation: rapid.SampledFrom([]Activation{Logistic, NoisyOr, PrintedProduct}).Draw(t, "activation"),
			Layers:     rapid.SliceOfN(rapid.IntRange(1, 100), 1, 3).Draw(t, "layers"),
		},
		Training: TrainingSpec{
			LearningRate: rapid.Float64Range(1e-300, 1e300).Draw(t, "learning rate"), BatchSize: rapid.IntRange(1, 1000).Draw(t, "batch size"),
		},
		Epochs:      rapid.IntRange(1, 1000).Draw(t, "epochs"),
		Patience:    rapid.IntRange(0, 10).Draw(t, "patience"),
		Seed:        rapid.Uint64Max(math.MaxInt64).Draw(t, "seed"),
		RecordSteps: rapid.IntRange(0, 10).Draw(t, "steps"),
		LogPEvery:   rapid.IntRange(0, 10).Draw(t, "log p"),
	}
	if rapid.Bool().Draw(t, "keeps") {
		e.Keep = []int{1, 5}
	}
	if rapid.Bool().Draw(t, "holds out") {
		e.Dataset.Validation = new(rapid.IntRange(0, 9).Draw(t, "validation"))
	}
	return e
}

func TestTOMLRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := drawExperiment(t)
		back, err := runs.ParseExperiment(e.TOML())
		if err != nil {
			t.Fatalf("%v:\n%s", err, e.TOML())
		}
		if diff := cmp.Diff(runs.Experiment(e), back); diff != "" {
			t.Fatalf("(-written +read):\n%s", diff)
		}
		if back.Hash() != e.Hash() {
			t.Fatal("the experiment that was read has another hash")
		}
	})
}

func TestHeaderRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e, other := drawExperiment(t), drawExperiment(t)
		if diff := cmp.Diff(other.Header(), e.WithHeader(other.Header()).Header()); diff != "" {
			t.Fatalf("(-given +has):\n%s", diff)
		}
	})
}

// What a file leaves out has the values of NewExperiment.
func TestSettingsLeftOut(t *testing.T) {
	set := patterns(t)
	want := NewExperiment(set, Logistic, 6)
	want.Dataset, want.Fingerprint = dataset.Spec{Name: "3by3"}, ""
	got, err := ParseExperiment([]byte("family = \"deterministic\"\n[dataset]\nname = \"3by3\"\n[machine]\nlayers = [6]\n"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got.Epochs != 20 || got.Training != (TrainingSpec{0.01, 32}) || got.Seed != 1 {
		t.Errorf("the usual settings are %+v", got)
	}
}

func TestParseExperimentRefuses(t *testing.T) {
	const good = "family = \"deterministic\"\n"
	for _, test := range []struct {
		text string
		says []string
	}{
		{good + "[machine]\nunits = [6]\n", []string{`unknown setting "machine.units"`, "remove it"}},
		{good + "momentum = 0.9\n", []string{`unknown setting "momentum"`}},
		{good + "Epochs = 3\n", []string{`unknown setting "Epochs"`, `did you mean "epochs"?`}},
		{good + "epochs = 3\nEPOCHS = 4\n", []string{`unknown setting "EPOCHS"`}},
		{good + "[Training]\nlearning_rate = 0.1\n", []string{`unknown setting "Training"`, `did you mean "training"?`}},
		{good + "learning_rate = 0.1\n", []string{`unknown setting "learning_rate"`, `did you mean "training.learning_rate"?`}},
		{good + "[machine]\nactivation = \"noisy-and\"\n", []string{`unknown activation "noisy-and"`, "use logistic, noisy-or or printed-product"}},
		{good + "seed = -1\n", []string{"seed"}},
		{good + "epochs = \n", []string{"line 2"}},
		{"epochs = 3\n", []string{`family = ""`, `give family = "deterministic"`}},
		{"family = \"hm\"\n", []string{`family = "hm"`, "runs.ParseExperiment"}},
	} {
		_, err := ParseExperiment([]byte(test.text))
		wantError(t, err, test.says...)
	}
}

// The settings that leave training as it is are no part of the hash, and each of
// the others is.
func TestHashIsOfWhatTrains(t *testing.T) {
	set := patterns(t)
	e := short(set, NoisyOr)
	same := e
	same.Keep, same.RecordSteps, same.LogPEvery = []int{2}, 3, 4
	if same.Hash() != e.Hash() {
		t.Error("what is recorded on the way changes the hash")
	}
	seen := map[string]string{e.Hash(): "nothing"}
	for name, change := range map[string]func(e *Experiment){
		"data":          func(e *Experiment) { e.Dataset.Subset++ },
		"fingerprint":   func(e *Experiment) { e.Fingerprint = "" },
		"activation":    func(e *Experiment) { e.Machine.Activation = PrintedProduct },
		"layers":        func(e *Experiment) { e.Machine.Layers = []int{4, 3} },
		"learning rate": func(e *Experiment) { e.Training.LearningRate = 0.06 },
		"batch size":    func(e *Experiment) { e.Training.BatchSize = 10 },
		"epochs":        func(e *Experiment) { e.Epochs++ },
		"patience":      func(e *Experiment) { e.Patience++ },
		"seed":          func(e *Experiment) { e.Seed++ },
	} {
		other := e
		change(&other)
		if was, taken := seen[other.Hash()]; taken {
			t.Errorf("changing the %s gives the hash of changing %s", name, was)
		}
		seen[other.Hash()] = name
	}
}

// TestCheckRefuses says of each wrong setting its value and what to do.
func TestCheckRefuses(t *testing.T) {
	set := patterns(t)
	if err := short(set, NoisyOr).Check(set); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name   string
		change func(e *Experiment)
		says   []string
	}{
		{"activation", func(e *Experiment) { e.Machine.Activation = 7 }, []string{"unknown activation 7", "use logistic"}},
		{"no layers", func(e *Experiment) { e.Machine.Layers = nil }, []string{"without hidden layers", "layers = [6]"}},
		{"empty layer", func(e *Experiment) { e.Machine.Layers = []int{3, 0} }, []string{"hidden layer 2 has 0 units", "between 1 and 262144"}},
		{"gigantic layer", func(e *Experiment) { e.Machine.Layers = []int{1 << 40} }, []string{"hidden layer 1 has 1099511627776 units"}},
		{"binarization", func(e *Experiment) { e.Dataset.Binarization = dataset.Stochastic }, []string{"binarization = stochastic", "use fixed"}},
		{"no binarization", func(e *Experiment) { e.Dataset.Binarization = 9 }, []string{"Binarization(9)", "Fixed"}},
		{"learning rate 0", func(e *Experiment) { e.Training.LearningRate = 0 }, []string{"learning rate 0", "positive"}},
		{"learning rate negative", func(e *Experiment) { e.Training.LearningRate = -0.1 }, []string{"learning rate -0.1", "positive"}},
		{"learning rate NaN", func(e *Experiment) { e.Training.LearningRate = math.NaN() }, []string{"learning rate NaN", "finite"}},
		{"learning rate infinite", func(e *Experiment) { e.Training.LearningRate = math.Inf(1) }, []string{"learning rate +Inf", "finite"}},
		{"batch size 0", func(e *Experiment) { e.Training.BatchSize = 0 }, []string{"batch size 0", "at least 1"}},
		{"batch size", func(e *Experiment) { e.Training.BatchSize = 41 }, []string{"batch size 41", "40 training rows"}},
		{"epochs", func(e *Experiment) { e.Epochs = 0 }, []string{"0 epochs", "at least 1"}},
		{"seed", func(e *Experiment) { e.Seed = math.MaxUint64 }, []string{"seed 18446744073709551615"}},
		{"other data", func(e *Experiment) { e.Fingerprint = strings.Repeat("0", 64) }, []string{"not those of the experiment"}},
		{"log p never", func(e *Experiment) { e.LogPEvery = -1 }, []string{"log_p_every = -1", "0 for never"}},
		{"log p of too many states", func(e *Experiment) { e.LogPEvery, e.Machine.Layers = 1, []int{4, 11, 10} },
			[]string{"log_p_every = 1", "layer 2 and the one above it have 21 units", "leave log_p_every out"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := short(set, NoisyOr)
			test.change(&e)
			dir := t.TempDir()
			_, err := e.Train(t.Context(), set, dir)
			wantError(t, err, test.says...)
			if files := contents(t, dir); len(files) > 0 {
				t.Errorf("a refused experiment has left %v", files)
			}
		})
	}
}
