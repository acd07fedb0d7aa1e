package command

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"regexp"
	"strings"
	"testing"
)

// Models that learn from rows with gaps train on a declared table, score observed values and say so, and fill in the others.
// Models that need complete rows are refused by name.
func TestTablesWithGaps(t *testing.T) {
	t.Chdir(t.TempDir())
	text, whole := "age,pay,sick,town\n", "age,pay,sick,town\n"
	for i := range 80 {
		fields := []string{fmt.Sprint(20 + i*i%31), fmt.Sprintf("%d.25", i*i%7), []string{"no", "yes"}[i%2], []string{"Aa", "Bb"}[i/3%2]}
		whole += strings.Join(fields, ",") + "\n"
		if i%3 == 0 {
			fields[i%4] = []string{"", "NA"}[i%2]
		}
		text += strings.Join(fields, ",") + "\n"
	}
	for path, text := range map[string]string{"open.csv": text, "whole.csv": whole, "tests.csv": "age,pay,sick,town\n,3.25,no,Aa\n31,3.25,no,Aa\n31,99.25,no,Aa\n,3.25,no,Aa\n", "odd.csv": "age,pay,sick,town\n,9.5,,\n,3.25,,\n", "rows.csv": "age,pay,sick,town\n,1.25,no,Aa\n31,,yes,\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	data := "--dataset open.csv --epochs 1 --out "
	for run, train := range map[string]string{
		"nrws": "--algorithm nrws --layers 2 --batch 10 --gaps",
		"fa":   "factor-analysis --factors 1 --standardize --binarization real --gaps", "rbm": "boltzmann --algorithm pcd --layers 2 --batch 10 --gaps",
	} {
		how := "exact"
		if run == "nrws" {
			how = "by 1000 importance samples a row"
		}
		succeed(t, append([]string{"train"}, strings.Fields(train+" "+data+run)...)...)
		_, out, says := helmholtz(t, t.Context(), "eval", run, "--json")
		if !strings.Contains(says, "log p of the observed values: ") || !strings.Contains(out, `"missing":`) {
			t.Errorf("%s: %s%s", run, out, says)
		}
		code, out, says := helmholtz(t, t.Context(), "eval", run, "--rows", "rows.csv")
		if code != 0 || strings.Count(out, "\n") != 3 || !strings.Contains(says, "units of the 2 rows are missing\nlog p of 2 rows: "+how) {
			t.Errorf("%s: %s%s", run, out, says)
		}
		succeed(t, "report", run, "--out", run+".html")
		if _, _, says := helmholtz(t, t.Context(), "plot", run, "--out", "figures"); !strings.Contains(says, "the figures show complete training rows alone: ") {
			t.Errorf("plot %s says %s", run, says)
		}
		succeed(t, "impute", run, "rows.csv", "--out", run+".csv")
		if filled, _ := os.ReadFile(run + ".csv"); strings.Contains(string(filled), ",,") || strings.Count(string(filled), "\n") != 3 {
			t.Errorf("%s: %s", run, filled)
		}
	}
	// Rivals are compared on complete rows, so the lead counts from log p of these.
	var of map[string]float64
	lines := succeed(t, strings.Fields("eval rbm --rivals")...)
	if want := "log p of complete rows "; !strings.Contains(lines, want) || !strings.Contains(lines, "rivals learn from 45 of 65 training rows, and are compared on 4 of 8 rows, which are complete\n") {
		t.Errorf("eval rbm --rivals prints\n%s", lines)
	}
	_ = json.Unmarshal([]byte(succeed(t, strings.Fields("eval rbm --rivals --json")...)), &of) // of numbers alone
	if lead := of["rival_mixture"] - of["log_p_complete"]; of["log_p_complete"] == 0 || !(math.Abs(lead-of["rival_mixture_lead"]) < 1e-9) {
		t.Errorf("the mixture leads by %v, not %v", of["rival_mixture_lead"], lead)
	}
	succeed(t, strings.Fields("train ppca --components 1 --standardize --binarization real --subset 40 --validation 0 --out complete --epochs 1 --dataset whole.csv")...)
	// The figure of odd rows has the numbers of the file, whose rows with gaps count.
	succeed(t, strings.Fields("train factor-analysis --factors 1 --standardize --binarization real --gaps --test tests.csv "+data+"tested")...)
	succeed(t, strings.Fields("plot tested --figure-format svg --out figures")...)
	if figure, err := os.ReadFile("figures/tested-odd.svg"); err != nil || !strings.Contains(string(figure), "row 3 of tests.csv: ") {
		t.Errorf("the figure of odd rows does not name row 3 (%v)", err)
	}
	// Log p of a single column is above log p of four columns, but the row is the oddest one of its column.
	var ranked []struct{ Rank *float64 }
	out := succeed(t, strings.Fields("eval fa --rows odd.csv --rank --json")...)
	if err := json.Unmarshal([]byte(out), &ranked); err != nil || *ranked[0].Rank > 0.02 || *ranked[1].Rank < 0.3 {
		t.Errorf("ranks: %s (%v)", out, err)
	}
	for args, says := range map[string]string{
		"eval fa --rows rows.csv --dataset nosuch.csv":       "nosuch.csv: no such file",
		"serve fa --dataset nosuch.csv":                      "nosuch.csv: no such file",
		"features fa --kind fit":                             "fill them in with helmholtz impute, and train on the completed copy\n",
		"eval complete --rows rows.csv":                      "or fill in all missing values with helmholtz impute; of 2 rows, values are missing: 1 in \"age\", 1 in \"pay\", 1 in \"town\"; or train the model with gaps = true (train --gaps), so that rows may have gaps\n",
		"train --gaps --algorithm bihm " + data + "hm":       "phases = bihm, whose p* is of complete rows, learns only from complete rows: use the preset rws or nrws",
		"train ica --binarization real --gaps " + data + "i": "an analysis of independent components learns only from complete rows",
		"eval nrws --why --rows rows.csv":                    "first in row 1, but complete rows are needed here: fill them in with helmholtz impute",
		"train --algorithm rws " + data + "hm":               "gaps = true (--gaps)",
		"eval fa --rows rows.csv --why":                      "complete rows are needed here: fill them in with helmholtz impute",
	} {
		if code, _, err := helmholtz(t, t.Context(), strings.Fields(args)...); code == 0 || !strings.Contains(err, says) {
			t.Errorf("%s says %s", args, err)
		}
	}
}

// Pictures of a run with gaps are complete rows. A Helmholtz machine then fills in hidden pixels by 1,000 samples, and a flag of chains
// is refused by name for models without chains.
func TestPicturesWithGaps(t *testing.T) {
	t.Chdir(t.TempDir())
	var text strings.Builder
	for i := range 60 {
		fields := strings.Split(fmt.Sprintf("%04b", i*7%16), "")
		if i%3 == 0 {
			fields[i%4] = "NA"
		}
		fmt.Fprintln(&text, strings.Join(fields, ","))
	}
	if err := os.WriteFile("pixels.csv", []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	data := "--dataset pixels.csv --shape 2x2 --gaps --epochs 1 --batch 10 --out "
	succeed(t, strings.Fields("train --algorithm nrws --layers 2 "+data+"nrws")...)
	succeed(t, strings.Fields("train boltzmann --algorithm pcd --layers 2 "+data+"rbm")...)
	succeed(t, strings.Fields("train factor-analysis --binarization real --factors 1 --dataset pixels.csv --shape 2x2 --gaps --epochs 1 --out fa")...)
	for args, want := range map[string]string{
		"inpaint nrws --mask left":                             `\Athe images are among the 2 of 6 test rows without missing values\n\d{3}\.\d samples a row effective, on average, and \d{3}\.\d in the row with fewest\n\z`,
		"inpaint nrws --mask left --candidates 2 --chains 3":   `\n[12]\.\d samples a row effective, on average, and [12]\.\d in the row with fewest, fewer than its draws, which repeat hidden units\n\z`,
		"inpaint rbm --mask left":                              `\Athe images are among the 2 of 6 test rows without missing values\n\z`,
		"inpaint nrws --mask left --sweeps 50":                 "--sweeps: a Helmholtz machine does not use it; omit it",
		"inpaint fa --mask left --sweeps 50":                   "--sweeps: a factor analysis does not use it; omit it",
		"sample nrws --kind reconstructions --n 3 --out s.png": `\Athe images are among the 2 of 6 test rows without missing values\n\z`,
	} {
		if _, _, says := helmholtz(t, t.Context(), strings.Fields(args)...); !regexp.MustCompile(want).MatchString(says) {
			t.Errorf("%s says %s", args, says)
		}
	}
}

// Codes for missing values are given one by one, and flags replace the codes of a file.
func TestFlagsOfSeveralCodes(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("rows.csv", []byte("age,smokes\n"+strings.Repeat("31,1\n-8,0\n45,-9\n27,0\n", 10)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ args, want string }{
		{"new both.toml --dataset rows.csv --gaps --missing -8 --missing -9", `missing = ["-8", "-9"]`}, {"new same.toml --config both.toml", `missing = ["-8", "-9"]`},
		{"new one.toml --config both.toml --missing -8", `missing = "-8"`},
	} {
		args := strings.Fields(c.args)
		succeed(t, args...)
		if text, err := os.ReadFile(args[1]); err != nil || !strings.Contains(string(text), c.want+"  #") {
			t.Errorf("%s writes (%v)\n%s", c.args, err, text)
		}
	}
}
