package command

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Errors suggest what was meant for a misspelt word, what to give for an invalid value, and what is
// needed for a flag without effect.
func TestMisuseIsAnsweredByWhatWasMeant(t *testing.T) {
	for args, says := range map[string]string{
		"train --dataset mnsit":  `did you mean "mnist"?`,
		"train --algorithm nwrs": `did you mean "nrws"?`,
		"train --algoritm rws":   `did you mean "--algorithm"?`,
		"train --optimizer adm":  `did you mean "adam"?`,
		"sample x --num 4":       `did you mean "--n"?`,
		"sample x --number 4":    `did you mean "--n"?`,
		"inpaint x --num 4":      `did you mean "--n"?`,
		"sample x --check 4":     `did you mean "--checkpoint"?`,
		"sample x --gib 4":       `did you mean "--gibbs"?`,
		"eval x --num 4":         "unknown flag: --num\n",
		"trian":                  `did you mean "train"?`,
		"data lst":               `did you mean "list"?`,
		"sample testdata/runs/v3/nrws/half --kind mean": `did you mean "means"?`,
		"train --lr fast":                                        "--lr=fast: give a number",
		"train --layers 3,x":                                     "--layers=3,x: give whole numbers, separated by commas",
		"train --seed -1":                                        "--seed=-1: give a whole number of at least 0",
		"train --baseline=maybe":                                 "--baseline=maybe: give true or false",
		"train --dataset 3by3 --gamma 0.5":                       "helmholtz: gamma = 0.5 for a machine without labels: add them",
		"train --algorithm rws --damping 0.1":                    "--damping has no effect without a Fisher matrix",
		"train --adam-beta1 0.9":                                 "--adam-beta1 has no effect without --optimizer adam",
		"train --warmup 3":                                       "--warmup has no effect without a regulariser",
		"train --schedule cosine --step-factor 0.1":              "--step-factor has no effect without --schedule step",
		"train --layers 4 --seed 1 --layers 300":                 "--layers is given twice, as 4 and as 300: give one list, such as --layers 4,300",
		"train --lr 0.1 --lr=0.2":                                "--lr is given twice, as 0.1 and as 0.2: give it once",
		"eval x --json --json":                                   "--json is given twice",
		"train --dataset misuse_test.go --test ./misuse_test.go": "--test ./misuse_test.go is also the file of the training rows",
		"train --algorithm pcd --dataset misuse_test.go --test misuse_test.go": "--test misuse_test.go is also the file of the training rows",
		"train a.toml":                                                  `helmholtz train takes no arguments: omit "a.toml", or write it as --resume DIR or --config file or --dataset name`,
		"train --baseline false":                                        `omit "false", or write it as --baseline=false`,
		"reproduce report varady/fig7.1":                                `helmholtz reproduce report takes no arguments: omit "varady/fig7.1"` + "\n",
		"data get":                                                      "name the data sets to fetch",
		"data show 3by3 --out x.jpg":                                    "--out=x.jpg: use a name that ends in .png, .svg, .pdf",
		"bench growth a.jsonl --out x.gif":                              "--out=x.gif: use a name that ends in .png, .svg, .pdf",
		"reproduce report --dir nowhere":                                "nowhere/results is not a folder: name the folder of the findings with --results",
		"reproduce":                                                     "name the results to make",
		"train --dataset 3by3 --out misuse_test.go":                     "--out misuse_test.go: misuse_test.go is a file: name a directory",
		"train --dataset 3by3 --seeds 2 --out misuse_test.go":           "--out misuse_test.go: misuse_test.go is a file: name a directory",
		"train --algorithm pcd --out misuse_test.go/run":                "--out misuse_test.go/run: misuse_test.go is a file: name a directory",
		"train --dataset 3by3 --subset 1 --validation 0":                "larger than the 1 training row of 3by3",
		"eval misuse_test.go":                                           "misuse_test.go is a file: name the directory of a run, such as .",
		"train --resume misuse_test.go":                                 "misuse_test.go is a file: name the directory of a run, such as .",
		"train --resume nowhere":                                        "nowhere is not the directory of a run",
		"train --resume nowhere --epochs 2":                             "nowhere is not the directory of a run",
		"new x.toml --algorithm pcd":                                    "--algorithm pcd trains a Boltzmann machine, and helmholtz new describes a Helmholtz machine: use helmholtz train, or one of ws",
		"bench train --algorithm pcd --belief":                          "unknown flag: --belief",
		"bench train ppca --batch 60":                                   "unknown flag: --batch",
		"compare a --figure a.png --out b.png":                          "--figure is given twice, as a.png and as b.png: give it once", // its older name
		"plot a --format jpg":                                           "--figure-format=jpg: use png, svg, pdf",
		"tune a.toml --format jpg":                                      "--format=jpg: use text, csv",
		"train --algorithm ppca":                                        "ppca is a command, not a method: use helmholtz train ppca\n",
		"train --algorithm PPCA":                                        "ppca is a command, not a method: use helmholtz train ppca\n",
		"bench train --algorithm ica":                                   "ica is a command, not a method: use helmholtz bench train ica\n",
		"new x.toml --algorithm ppca":                                   "ppca is a command, not a method: use helmholtz train ppca\n",
		"train --algorithm rnnrbm":                                      `unknown method "rnnrbm" (did you mean the command helmholtz train rnn-rbm?): use one of ws, `,
		"train --algorithm nope":                                        "use one of ws, ",
		"bench train --keep 1":                                          "unknown flag: --keep",
		"bench train --patience 1":                                      "unknown flag: --patience",
		"bench train --measure 1":                                       "unknown flag: --measure",
		"bench train --record-steps 1":                                  "unknown flag: --record-steps",
		"pretrained add testdata/runs/v3/nrws/whole x --to y --about z": "give also --strengths (what it is good for, a text), --weaknesses (what it cannot do, a text), --licence (the licence of the data)",
		"docs trian":                                                    `there is no guide "trian" (did you mean "train"?)`,
		"reproduce varady/tabl5.1":                                      `(did you mean "varady/table5.1"?)`,
		"reproduce lst":                                                 `(did you mean "list"?)`,
		"inpaint testdata/runs/v3/labels/whole --mask lft":              `mask "lft" (did you mean "left"?)`,
		"inpaint testdata/runs/v3/labels/whole --mask LEFT":             `mask "LEFT" (did you mean "left"?)`,
		"eval testdata/runs/v3/nrws/whole --dataset nosuch.csv":         "nosuch.csv: the data of the run are the set 3by3, which the program finds by its name: omit the path",
		"sample testdata/runs/v3/nrws/whole --kind reconstructions --dataset mnist": "mnist: the data of the run are the set 3by3",
		"data show":           "name one data set or file, got 0 arguments",
		"pretrained add x":    "name the directory of a run, and the new machine, got 1 argument\n",
		"train --help nws":    "--help nws: write --help all for all flags",
		"resume x --epochs 3": `unknown flag: --epochs`,
		"help trian":          `unknown command "trian" for "helmholtz" (did you mean "train"?)`,
		"completion bas":      `unknown command "bas" for "helmholtz completion" (did you mean "bash"?)`,
		"version foo":         `helmholtz version takes no arguments: omit "foo"` + "\n",
	} {
		code, _, err := helmholtz(t, t.Context(), strings.Fields(args)...)
		if code == 0 || !strings.Contains(err, says) || strings.Contains(err, "strconv") {
			t.Errorf("%s ends with %d: %s", args, code, err)
		}
	}
}

// An empty text flag does not count as omitted.
func TestEmptyFlagsAreRefused(t *testing.T) {
	eachCommand(newRoot(), func(c *cobra.Command) {
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.Value.Type() != "string" {
				return
			}
			args := append(strings.Fields(c.CommandPath())[1:], "--"+f.Name, "")
			if code, _, err := helmholtz(t, t.Context(), args...); code != exitUsage || !strings.Contains(err, "--"+f.Name) {
				t.Errorf("%q ends with %d: %s", args, code, err)
			}
		})
	})
}

// Every word that the shell completes for a flag is accepted by the flag, and all flags with words
// have completions.
func TestCompletedWordsAreTaken(t *testing.T) {
	flags := 0
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		c.Flags().VisitAll(func(f *pflag.Flag) {
			words := f.Annotations[wordsOf]
			if words == nil {
				return
			}
			flags++
			for _, word := range words {
				if err := f.Value.Set(word); err != nil {
					t.Errorf("%s --%s %s: %v", c.Name(), f.Name, word, err)
				}
			}
			complete, ok := c.GetFlagCompletionFunc(f.Name)
			if !ok {
				t.Fatalf("%s --%s is not completed", c.Name(), f.Name)
			}
			if got, _ := complete(c, nil, ""); len(got) != len(words) || len(words) < 2 {
				t.Errorf("%s --%s is completed by %v", c.Name(), f.Name, got)
			}
		})
		for _, child := range c.Commands() {
			visit(child)
		}
	}
	root := newRoot()
	completeWords(root)
	visit(root)
	if flags < 12 {
		t.Errorf("only %d flags are completed", flags)
	}
}

// TestArgumentsAreCompleted calls the program as the shell does.
func TestArgumentsAreCompleted(t *testing.T) {
	for _, c := range []struct{ typed, offers, directive string }{
		{"reproduce varady/tableD", "varady/tableD.1", ":4"},
		{"reproduce list bihm/fig3.7", "bihm/fig3.7", ":4"},
		{"sweep run r", "toml", ":8"},
		{"train --config r", "toml", ":8"},
		{"data get mn", "mnist", ":0"},
		{"pretrained get mn", "mnist-rbm", ":4"},
		{"sweep status testdata/", "", ":16"},
		{"eval testdata/runs/v2/seeds/seed-1", "testdata/runs/v2/seeds/seed-1", ":4"},
	} {
		code, out, _ := helmholtz(t, t.Context(), append([]string{"__completeNoDesc"}, strings.Fields(c.typed)...)...)
		if code != 0 || !strings.Contains(out, c.offers) || !strings.Contains(out, c.directive+"\n") {
			t.Errorf("%s is completed by %q, want %s and the directive %s", c.typed, out, c.offers, c.directive)
		}
	}
}

func TestRunsAreCompleted(t *testing.T) {
	got, _ := completeRuns(nil, nil, "testdata/runs/v2/se")
	if strings.Join(got, " ") != "testdata/runs/v2/seeds/seed-1 testdata/runs/v2/seeds/seed-2" {
		t.Errorf("%v", got)
	}
}
