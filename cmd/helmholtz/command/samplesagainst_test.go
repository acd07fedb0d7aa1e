package command

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// Samples of all families that draw rows are judged beside rows of the run or of a file, with what needs labels or not.
func TestEvalSamplesAgainst(t *testing.T) {
	t.Chdir(t.TempDir())
	rows := func(n int) string {
		text := "a,b,size\n"
		for i := range n {
			text += fmt.Sprintf("A%d,%s,%d.5\n", i%3, []string{"x", "y"}[i%2], 10*(i%3)+i%5)
		}
		return text
	}
	for name, content := range map[string]string{"rows.csv": rows(300), "new.csv": rows(40), "few.csv": rows(9), "gaps.csv": strings.Replace(rows(40), "A1,", ",", 1)} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	succeed(t, strings.Fields("train --layers 3 --groups data --standardize --binarization real --dataset rows.csv --epochs 1 --out hm")...)
	succeed(t, strings.Fields("train ppca --components 1 --standardize --binarization real --dataset rows.csv --columns a=label --out ppca")...)
	succeed(t, strings.Fields("train boltzmann --algorithm cd --batch 10 --layers 2 --columns size=real:4 --dataset rows.csv --epochs 1 --out rbm")...)
	succeed(t, strings.Fields("train --layers 3 --groups data --standardize --binarization real --gaps --dataset gaps.csv --validation 0 --test new.csv --epochs 1 --out gaps")...)
	measures := []string{"score", "classes", "precision", "recall", "coverage", "mmd", "mmd_p", "nearer", "copies"}
	for run, labeled := range map[string]bool{"hm": false, "ppca": true, "rbm": false, "gaps": false} {
		args := []string{"eval", run, "--samples-against", "test"}
		lines := succeed(t, args...)
		if !strings.Contains(lines, "30 samples beside as many of 30 test rows") && run != "gaps" {
			t.Errorf("eval %s prints\n%s", run, lines)
		}
		if strings.Contains(lines, "no score and no classes, which need labels") == labeled {
			t.Errorf("labels are %v, and eval %s prints\n%s", labeled, run, lines)
		}
		var of map[string]any
		if err := json.Unmarshal([]byte(succeed(t, append(args, "--json")...)), &of); err != nil || of["log_p"] == nil {
			t.Fatalf("%s: %v, %v", run, of, err)
		}
		for i, key := range measures {
			for _, key := range []string{"samples_" + key, "samples_" + key + "_se"} {
				if _, is := of[key].(float64); is != (labeled || i > 1) {
					t.Errorf("%s: %s is %v", run, key, of[key])
				}
			}
		}
		if again := succeed(t, args...); strings.Join(linesWith(again, "MMD²"), "") != strings.Join(linesWith(lines, "MMD²"), "") {
			t.Errorf("eval %s prints\n%s\nand then\n%s", run, lines, again)
		}
	}
	if lines := succeed(t, strings.Fields("eval hm --samples-against new.csv --rows 25 --rivals")...); !strings.Contains(lines, "25 samples beside as many of 40 ") || !strings.Contains(lines, "the model loses by") {
		t.Errorf("eval prints\n%s", lines)
	}
	succeed(t, strings.Fields("train --layers 3 --columns size=real:4 --dataset rows.csv --epochs 1 --out bits")...)
	if lines := succeed(t, "eval", "bits", "--samples-against", "validation"); !strings.Contains(lines, "draws left out, in which a column had no value or several") {
		t.Errorf("eval prints\n%s", lines)
	}
	if lines := succeed(t, "eval", "gaps", "--samples-against", "gaps.csv"); !strings.Contains(lines, "1 row with missing values left out") {
		t.Errorf("eval prints\n%s", lines)
	}
	for says, args := range map[string][]string{
		"9 held-out rows and ":                {"hm", "--samples-against", "few.csv"},
		"--samples-against does nothing with": {"hm", "--samples-against", "test", "--rows", "rows.csv"},
		"training rows are not held out":      {"hm", "--samples-against", "train"},
		"--samples-against with --shard":      {"hm", "--samples-against", "test", "--parts", "parts", "--shard", "0/2"},
		"tests: no such file":                 {"hm", "--samples-against", "tests"},
	} {
		if code, _, out := helmholtz(t, t.Context(), append([]string{"eval"}, args...)...); code == 0 || !strings.Contains(out, says) {
			t.Errorf("eval %v says %s, not %s", args, out, says)
		}
	}
}

// A model without log p says what judges it.
func TestEvalWithoutLogP(t *testing.T) {
	t.Chdir(t.TempDir())
	succeed(t, strings.Fields("train adversarial --dataset miniglyphs --subset 60 --validation 20 --hidden 4 --code 2 --batch 10 --epochs 1 --out gan")...)
	const says = "no log p: judge samples by --samples-against test"
	if _, lines, notice := helmholtz(t, t.Context(), "eval", "gan"); !strings.Contains(notice, says) || !strings.Contains(lines, "divergence, lower bound") {
		t.Errorf("eval prints\n%s%s", notice, lines)
	}
	if _, lines, notice := helmholtz(t, t.Context(), strings.Fields("eval gan --samples-against test")...); !strings.Contains(lines, "60 samples beside as many of 2000 test rows") || strings.Contains(notice, says) {
		t.Errorf("eval prints\n%s%s", notice, lines)
	}
	succeed(t, strings.Fields("train sparse-coding --dataset miniglyphs --subset 60 --validation 20 --binarization grey --atoms 2 --batch 10 --epochs 1 --out atoms")...)
	if code, _, notice := helmholtz(t, t.Context(), "eval", "atoms"); code != 0 || strings.Contains(notice, says) {
		t.Errorf("eval of a model that draws no rows prints\n%s", notice)
	}
}

func linesWith(text, part string) []string {
	return slices.DeleteFunc(strings.Split(text, "\n"), func(line string) bool { return !strings.Contains(line, part) })
}
