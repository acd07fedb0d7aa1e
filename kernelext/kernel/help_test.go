//go:build unix

package kernel

import (
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/helmholtz-go/helmholtz/factors"
)

// TestMisspeltNamesAreSuggested has Go complain about names that the library has in another spelling, and about others.
func TestMisspeltNamesAreSuggested(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	for said, meant := range map[string]string{
		"x.SetEpoch undefined (type hm.Method has no field or method SetEpoch)":                  `"Epochs"`,
		"x.Epoch undefined (type hm.Method has no field or method Epoch)":                        `"Epochs"`,
		"x.learning_rate undefined (type hm.Method has no field or method learning_rate)":        `"LearningRate"`,
		"x.WithDampng undefined (type boltzmann.Method has no field or method WithDampng)":       "",
		"x.Chain undefined (type boltzmann.Method has no field or method Chain)":                 `"Chains"`,
		"x.Densee undefined (type hm.Machine has no field or method Densee)":                     `"Dense"`,
		"x.Shwo undefined (type *plotting.Figure has no field or method Shwo)":                   `"Show"`,
		"t.LearningRat undefined (type general.TrainingSpec has no field or method LearningRat)": `"LearningRate"`,
		"undefined: hm.NRSW": `"NRWS"`, "undefined: dataset.Opne": `"Open"`, "undefined: kernelext.Opened": `"Open"`,
		"undefined: fmt.Printn": "", "undefined: x": "", "x.Foo undefined (type T has no field or method Foo)": "",
		"x.epochs undefined (type hm.Method has no field or method epochs, but does have method Epochs)": "",
	} {
		want := said
		if meant != "" {
			want += " (did you mean " + meant + "?)"
		}
		if got := (magics{module: root}).Suggest("Line 2: " + said + "\nrest"); got != "Line 2: "+want+"\nrest" {
			t.Errorf("%s became %s", said, got)
		}
	}
}

// TestHoverTellsSettings compares what a hover adds with the settings that the help of the command line has.
func TestHoverTellsSettings(t *testing.T) {
	const link = "[`x` on pkg.go.dev](https://pkg.go.dev/" + module + "/"
	for of, want := range map[string]string{
		"hm#Method.Damping":                "`method.damping` of hm, `--damping`: `α` of the damped Fisher inverse; default `0.2`; use a positive number; between 0.01 and 0.2 is usual",
		"hm#Method.LearningRate":           "`--lr`: learning `rate` η; default `0.002`",
		"hm#Method.L1":                     "0 or more; 1e-5 to 0.01 is typical",
		"hm#Method.Momentum":               "; needs --optimizer momentum",
		"factors#ICASettings.LearningRate": "of ica, `--lr`: ", "boltzmann#Method.Chains": "`method.chains` of boltzmann", "factors#PPCASettings.BatchSize": "", "factors#PPCASettings.Components": "of ppca",
		"hm#Method.Train": "", "hm#RWS": "", "dataset#Set.Shape": "",
	} {
		said := "```go\nfunc\n```\n\n" + link + of + ")"
		got := magics{}.Hover(said)
		if !strings.HasPrefix(got, said) || !strings.Contains(got, want) || (want == "") != (got == said) || of == "factors#ICASettings.LearningRate" && strings.Count(got, "---") != 1 {
			t.Errorf("%s: %s", of, strings.TrimPrefix(got, said))
		}
	}
}
