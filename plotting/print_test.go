package plotting

import (
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/runs"
)

// Values with a table print as a table, an experiment as its settings, everything else as text.
func TestValuesPrintAsHTML(t *testing.T) {
	machine := hm.New(dataset.Shape{Height: 2, Width: 2}).Dense(3)
	history := runs.History{Epochs: []runs.Epoch{{Epoch: 1, Norms: runs.Norms{"generative": {{Weights: 1}}}}}}
	for _, c := range []struct {
		value any
		says  string
	}{
		{machine, ">4 of 4×4, direct<"},
		{hm.Evaluation{LogP: -7.5}, ">-7.500<"},
		{history, ">epoch<"},
		{hm.Experiment{Method: hm.NRWS().Spec()}, ">method.learning_rate<"},
		{hm.NRWS(), "<pre>NRWS, η = 0.002, α = 0.2; 20 epochs, seed 1</pre>"},
		{"a < b", "<pre>a &lt; b</pre>"},
	} {
		got := printed(c.value)
		if !strings.Contains(got, c.says) || strings.Contains(got, "norms") || strings.Contains(got, "log Z²") {
			t.Errorf("%T is printed as %s, without %q", c.value, got, c.says)
		}
	}
}
