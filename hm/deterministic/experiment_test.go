package deterministic

import (
	"testing"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/runs"
)

// Settings that a file omits must have the values of NewExperiment.
func TestSettingsLeftOut(t *testing.T) {
	set := patterns(t)
	want := NewExperiment(set, Logistic, 6)
	want.Dataset, want.Fingerprint = dataset.Spec{Name: "3by3"}, ""
	got, err := Family.Parse([]byte("family = \"deterministic\"\n[dataset]\nname = \"3by3\"\n[machine]\nlayers = [6]\n"))
	if err != nil {
		t.Fatal(err)
	}
	if differences := runs.Differences(got, want); len(differences) > 0 {
		t.Errorf("a file that leaves settings out differs: %v", differences)
	}
	if got.Epochs != 20 || got.Settings.Training != (TrainingSpec{0.01, 32}) || got.Seed != 1 {
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
		{good + "[Training]\nlearning_rate = 0.1\n", []string{`unknown setting "Training"`, `did you mean "training"?`}},
		{good + "learning_rate = 0.1\n", []string{`unknown setting "learning_rate"`, `did you mean "training.learning_rate"?`}},
		{good + "epochs = \n", []string{"line 2"}},
		{"epochs = 3\n", []string{`family = "hm"`, `write family = "deterministic"`}},
		{"family = \"hm\"\n", []string{`family = "hm"`, "runs.ParseExperiment"}},
	} {
		_, err := Family.Parse([]byte(test.text))
		wantError(t, err, test.says...)
	}
}
