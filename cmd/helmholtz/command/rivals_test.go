package command

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
)

// A machine that has hardly learned loses to all rivals, and the text, the table and JSON tell by how much.
func TestEvalRivals(t *testing.T) {
	t.Chdir(t.TempDir())
	text := "a,b,c,size\n"
	for i := range 90 {
		text += fmt.Sprintf("A%d,B%d,%s,%d.5\n", i%3, (i%3+i%7/6)%3, []string{"x", "y"}[i%3/2], 10*(i%3)+i%5)
	}
	if err := os.WriteFile("rows.csv", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	succeed(t, strings.Fields("train --layers 3 --groups data --standardize --binarization real --dataset rows.csv --epochs 1 --out hm")...)
	succeed(t, strings.Fields("train ppca --components 1 --standardize --binarization real --dataset rows.csv --out ppca")...)
	succeed(t, strings.Fields("train --algorithm cd --batch 10 --layers 2 --classes 2 --columns c=label,size=skip --dataset rows.csv --epochs 1 --out rbm")...)
	for _, run := range []string{"hm", "rbm"} {
		lines := succeed(t, "eval", run, "--rivals")
		if strings.Count(lines, "nats: the model loses by ") != 2 {
			t.Errorf("eval %s --rivals prints\n%s", run, lines)
		}
		var of map[string]any
		if err := json.Unmarshal([]byte(succeed(t, "eval", run, "--rivals", "--json")), &of); err != nil || of["log_p"] == nil || of["version"] == nil {
			t.Errorf("%s: %v, %v", run, of, err)
		}
		for _, key := range []string{"rival_mixture", "rival_mixture_lead", "rival_mixture_lead_se"} {
			if _, is := of[key].(float64); !is {
				t.Errorf("%s: %s is %v", run, key, of[key])
			}
		}
		if lead := of["rival_mixture"].(float64) - of["log_p"].(float64) - of["rival_mixture_lead"].(float64); lead > 1e-9 || lead < -1e-9 {
			t.Errorf("%s: the lead is wrong by %v", run, lead)
		}
	}
	if table := succeed(t, "eval", "rbm", "--rivals", "--format", "csv"); !strings.Contains(table, "rival_logistic_lead_se") || !strings.Contains(table, "rival_neighbour") {
		t.Errorf("the table is %s", table)
	}
	succeed(t, strings.Fields("report hm --rivals --samples 10 --log-z2 10 --out hm.html")...)
	page, err := os.ReadFile("hm.html")
	if err != nil || strings.Count(string(page), "nats: the model loses by ") != 2 {
		t.Errorf("the report names no rivals: %v", err)
	}
	succeed(t, strings.Fields("pretrained add hm sizes --rivals --to cards --samples 10 --about A --strengths S --weaknesses W --licence L")...)
	t.Setenv("HELMHOLTZ_PRETRAINED", "cards")
	if card := succeed(t, "pretrained", "show", "sizes"); strings.Count(card, "nats: the model loses by ") != 2 {
		t.Errorf("the card is %s", card)
	}
	few := "a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q,r,s,t\n"
	for r := range 16 {
		for c := range 20 {
			few += fmt.Sprintf("%d.5%s", (r*(c+3)+c*c)%17, []string{",", "\n"}[c/19])
		}
	}
	if err := os.WriteFile("few.csv", []byte(few), 0o600); err != nil {
		t.Fatal(err)
	}
	succeed(t, strings.Fields("train ppca --components 1 --standardize --binarization real --dataset few.csv --out few")...)
	if lines := succeed(t, "eval", "few", "--rivals"); strings.Count(lines, "not fitted, 1") != 2 || !strings.Contains(lines, "too few for the covariance of") {
		t.Errorf("eval few --rivals prints\n%s", lines)
	}
	// Neither is it compared with a density without a word.
	if _, _, says := helmholtz(t, t.Context(), "compare", "hm", "ppca"); says != "log p of ppca has densities of categories, and log p of hm has probabilities of them: do not compare these\n" {
		t.Errorf("compare says %q", says)
	}
	if _, _, says := helmholtz(t, t.Context(), strings.Fields("train boltzmann --units gaussian --algorithm cd --batch 10 --layers 2 --binarization real --dataset rows.csv --epochs 1 --out grbm")...); !strings.Contains(says, `with categories ("a", "b", "c") have densities here`) {
		t.Errorf("train says %q", says)
	}
	for says, args := range map[string][]string{
		"is a density of all units, also of categories": {"ppca", "--rivals"},
		"--rivals does nothing with --rows":             {"hm", "--rivals", "--rows", "rows.csv"},
		"a share prints no result":                      {"hm", "--rivals", "--parts", "parts", "--shard", "0/2"},
	} {
		if code, _, out := helmholtz(t, t.Context(), append([]string{"eval"}, args...)...); code == 0 || !strings.Contains(out, says) {
			t.Errorf("eval %v says %s, not %s", args, out, says)
		}
	}
}
