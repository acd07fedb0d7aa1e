package runs_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/helmholtz-go/helmholtz/runs"
)

func ExampleHistory_Table() {
	h := runs.History{
		Name:     "NRWS, η = 0.05",
		Measures: []runs.Measure{runs.LogP, {Key: "ess", Name: "ESS"}},
		Epochs: []runs.Epoch{
			{Epoch: 1, Step: 10, Seconds: 0.52, LearningRate: 0.05, Train: runs.Measures{"ess": 0.416, "log_p": -7.0262},
				Measured: map[string]runs.Measures{"test": {"log_p": -6.9, "log_p_se": 0.31}}},
			{Epoch: 2, Step: 20, Seconds: 1.04, LearningRate: 0.05, Train: runs.Measures{"ess": 0.581, "log_p": -6.2409}},
		},
	}
	fmt.Print(h.Table())
	// Output:
	// NRWS, η = 0.05
	//
	// epoch  step  seconds (s)  learning rate  ESS, training  log p, training (nats)  log p, test (nats)  ± se (nats)
	//     1    10          0.5           0.05           0.42                  -7.026              -6.900        0.310
	//     2    20          1.0           0.05           0.58                  -6.241                   –            –
}

// Fields that only one epoch or one run has are in the order of a line of metrics, and missing
// elsewhere.
func TestTablesOfSeveralHistories(t *testing.T) {
	one := runs.History{Name: "one", Epochs: []runs.Epoch{
		{Epoch: 1, Step: 3, Seconds: 2, LearningRate: 0.1, Train: runs.Measures{"log_p": -4}, Norms: runs.Norms{"generative": {{Weights: 1, Gradient: 2, Direction: 3}}}},
		{Epoch: 2, Step: 6, Seconds: 4, LearningRate: 0.1, Train: runs.Measures{"log_p": -3}, Measured: map[string]runs.Measures{"Prüf-1": {"log_p": -5}}},
	}}
	other := runs.History{Name: "other", Measures: []runs.Measure{{Key: "energy", Name: "free energy", Unit: "nats"}}, Epochs: []runs.Epoch{
		{Epoch: 1, Step: 9, Seconds: 1, LearningRate: 0.5, Train: runs.Measures{"energy": 7}, Validation: runs.Measures{"energy": 8}},
	}}
	got := one.Table(other)
	var keys []string
	for _, c := range got.Columns() {
		keys = append(keys, c.Key)
	}
	wantKeys := []string{"run", "epoch", "step", "seconds", "learning_rate", "train.log_p", "train.energy", "validation.energy",
		"Prüf-1.log_p", "norms.generative.0.weights", "norms.generative.0.gradient", "norms.generative.0.direction"}
	if diff := cmp.Diff(wantKeys, keys); diff != "" {
		t.Errorf("keys (-want +got):\n%s", diff)
	}
	wantRows := [][]any{
		{"one", int64(1), int64(3), 2.0, 0.1, -4.0, nil, nil, nil, 1.0, 2.0, 3.0},
		{"one", int64(2), int64(6), 4.0, 0.1, -3.0, nil, nil, -5.0, nil, nil, nil},
		{"other", int64(1), int64(9), 1.0, 0.5, nil, 7.0, 8.0, nil, nil, nil, nil},
	}
	if diff := cmp.Diff(wantRows, got.Rows()); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
}
