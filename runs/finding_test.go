package runs_test

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/helmholtz-go/helmholtz/runs"
)

// JSON, which has no infinity, writes the likelihood of impossible rows as null.
func TestFindingsThatAreInfinite(t *testing.T) {
	text, err := json.Marshal(runs.Findings{{Measure: runs.LogP, Value: math.Inf(-1), SE: math.NaN()}, {Measure: runs.ESS, Value: 0.5}})
	if want := `{"ess":0.5,"ess_se":null,"log_p":null,"log_p_se":null}`; err != nil || string(text) != want {
		t.Errorf("the findings are %s, want %s; error %v", text, want, err)
	}
}
