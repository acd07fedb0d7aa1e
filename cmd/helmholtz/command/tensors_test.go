package command

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/internal/safetensors"
	"github.com/helmholtz-go/helmholtz/runs"
)

// TENSORS.md describes every tensor that a family saves.
func TestFormatDescribesEveryTensor(t *testing.T) {
	page, err := os.ReadFile("../../../runs/TENSORS.md")
	if err != nil {
		t.Fatal(err)
	}
	text := map[string]string{} // about each family, from its name to the names of the next families
	names := regexp.MustCompile("[Tt]he famil(y|ies)\\s+`(,|\\s|and|`|[a-z-]+`)+")
	places := append(names.FindAllIndex(page, -1), []int{len(page)})
	for i, place := range places[:len(places)-1] {
		for _, family := range regexp.MustCompile("`([a-z-]+)`").FindAllSubmatch(page[place[0]:place[1]], -1) {
			text[string(family[1])] += string(page[place[1]:places[i+1][0]])
		}
	}

	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	random, reals := rand.New(rand.NewPCG(1, 1)), ""
	for range 30 {
		reals += fmt.Sprintln(random.NormFloat64(), random.NormFloat64(), random.NormFloat64(), random.NormFloat64())
	}
	steps := `{"train": [[[0.5, 1], [0, 2]], [[0, 1], [3, 1]], [[2, 1]]], "test": [[[0, 1]]]}`
	for name, content := range map[string]string{"rows.txt": reals, "steps.json": steps} {
		if err := os.WriteFile(in(name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	bits := " --dataset 3by3 --subset 64 --validation 18 --epochs 1 "
	real := " --dataset " + in("rows.txt") + " --shape 2x2 --binarization real --validation 8 --epochs 1 "
	batched := real + "--batch 8 "
	pcd := "train" + bits + "--algorithm pcd --batch 9 "
	voices := " --dataset voices --subset 4 --validation 2 --hidden 3 --batch 2 --epochs 1 "
	seen := map[string]bool{"mixture": true} // package mixture tests its own tensors
	var checkpoints []string
	for _, c := range []struct{ family, run, command string }{
		{"hm", "hm", "train" + bits + "--layers 4 --algorithm nrws --optimizer adam --tanh 3"},
		{"hm", "learned", "train" + bits + "--layers 4 --algorithm reinforce --reinforce-baseline learned"},
		{"hm", "jsa", "train" + bits + "--layers 4 --algorithm jsa"},
		{"hm", "labels", "train --dataset miniglyphs --subset 64 --validation 18 --labels 30 --algorithm bihm --layers 8,4 --label-layer lower --classes 10 --epochs 1"},
		{"boltzmann", "restricted", pcd + "--layers 4"},
		{"boltzmann", "deep", pcd + "--layers 4,3"},
		{"boltzmann", "gaussian", pcd + "--layers 4 --binarization grey --units gaussian"},
		{"boltzmann", "belief/layer-2", pcd + "--layers 4,3 --belief"},
		{"boltzmann", "ladder", "train" + bits + "--layers 4 --algorithm ptt --batch 9"},
		{"updown", "updown", "train --up-down " + in("belief/layer-2") + " --batch 9 --epochs 1"},
		{"general-boltzmann", "general", "train general-boltzmann" + bits + "--hidden 12 --batch 9 --lr 0.1"},
		{"autoencoder", "autoencoder", "train autoencoder" + bits + "--binarization grey --decoder normal --latent straight-through --batch 9"},
		{"adversarial", "adversarial", "train adversarial" + bits + "--hidden 4 --code 2 --batch 9"},
		{"deterministic", "deterministic", "train deterministic" + bits + "--layers 4 --batch 9"},
		{"ppca", "ppca", "train ppca" + real + "--components 2"},
		{"factor-analysis", "factors", "train factor-analysis" + real + "--factors 1"},
		{"ica", "ica", "train ica" + real + "--sources 2"},
		{"sparse-coding", "sparse", "train sparse-coding" + batched + "--atoms 3"},
		{"rnn-rbm", "rnn", "train rnn-rbm" + voices + "--recurrent 2 --cd 1"},
		{"rnn-rbm", "rt", "train rnn-rbm" + voices + "--tied --cd 1"},
		{"temporal-belief", "natural", "train temporal-belief" + voices + "--deep 2 --particles 2"},
		{"temporal-belief", "adam", "train temporal-belief --dataset " + in("steps.json") + " --binarization real --validation 1 --epochs 1 --gaussian --natural=false --hidden 3 --particles 2 --batch 2"},
		{"conditional-rbm", "conditional", "train conditional-rbm" + bits + "--hidden 3 --batch 9"},
		{"conditional-gaussian-rbm", "conditional-gaussian", "train conditional-gaussian-rbm" + batched + "--hidden 3"},
		{"convolutional-rbm", "convolutional", "train convolutional-rbm" + bits + "--filters 2 --window 2 --pool 1 --above 2 --above-window 2 --batch 9"},
		{"gated-rbm", "gated", "train gated-rbm" + batched + "--hidden 3 --factors 2"},
		{"mean-covariance-rbm", "covariance", "train mean-covariance-rbm" + batched + "--hidden 3 --factors 2"},
		{"student-t", "student", "train student-t" + batched + "--hidden 3 --factors 2"},
		{"spike-and-slab-rbm", "spikes", "train spike-and-slab-rbm" + batched + "--hidden 3"},
	} {
		out := in(strings.TrimSuffix(c.run, "/layer-2"))
		succeed(t, append(strings.Fields(c.command), "--out", out)...)
		seen[c.family] = true
		if _, model, err := openModel(in(c.run), "last"); err != nil {
			t.Error(err)
		} else if sampler, is := model.(runs.Sampler); is {
			for _, d := range sampler.Drawings() {
				if kinds := newSample().Flags().Lookup("kind").Annotations[wordsOf]; !slices.Contains(kinds, d.Kind) {
					t.Errorf("sample --kind takes %v, and not %s, which the family %s draws", kinds, d.Kind, c.family)
				}
			}
		}
		checkpoints = append(checkpoints, filepath.Join(in(c.run), "checkpoint.safetensors"))
		for _, tensor := range tensorsOf(t, checkpointBytes(t, in(c.run))) {
			name := regexp.MustCompile(`\btanh\.\d+`).ReplaceAllString(tensor.Name, "tanh.K")
			name = regexp.MustCompile(`\.\d+`).ReplaceAllString(name, ".N")
			described := strings.Contains(text[c.family], "`"+name+"`")
			for _, prefix := range []string{"moment.N.", "refresh.", "rung.N.", "below.N.", "prior.", "above."} {
				described = described || strings.HasPrefix(name, prefix) && strings.Contains(text[c.family], "`"+prefix+"TENSOR`")
			}
			if !described {
				t.Errorf("the page does not describe the tensor %s of the family %s", name, c.family)
			}
		}
	}
	for _, family := range runs.Families() {
		if !seen[family] {
			t.Errorf("no run of this test is of the family %s", family)
		}
	}
	t.Run("in Python", func(t *testing.T) { readInPython(t, checkpoints) })
}

// TestFormulasOfTensors computes log p of rows in Python, by the formulas of TENSORS.md.
func TestFormulasOfTensors(t *testing.T) {
	const python, notebooks = "../../../build/venv/bin/python", "../../../notebooks"
	if out, err := exec.Command(python, "-c", "import numpy, safetensors").CombinedOutput(); err != nil {
		t.Skipf("there is no Python with the modules numpy and safetensors: type notebooks/jupyter.sh install (%v %s)", err, out)
	}
	dir := t.TempDir()
	reals, bits := filepath.Join(dir, "reals.txt"), filepath.Join(dir, "bits.txt")
	random, rows := rand.New(rand.NewPCG(1, 1)), map[string]*strings.Builder{reals: {}, bits: {}}
	for range 40 {
		a, b := random.NormFloat64(), random.ExpFloat64()
		fmt.Fprintln(rows[reals], a, b, a*b+random.NormFloat64(), 2-b+random.NormFloat64())
		for range 9 {
			fmt.Fprint(rows[bits], random.IntN(2), " ")
		}
		fmt.Fprintln(rows[bits])
	}
	for path, text := range rows {
		if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const left = `{"predicted": [0, 1], "given": [2, 3]}`
	for i, c := range []struct{ family, flags, rows, settings string }{
		{"ppca", "--components 2", reals, "{}"},
		{"factor-analysis", "--factors 1", reals, "{}"},
		{"ica", "--sources 4", reals, "{}"},
		{"ica", "--sources 3 --density sech", reals, "{}"},
		{"ica", "--sources 3 --density laplace", reals, "{}"},
		{"ica", "--sources 3 --density student-t", reals, "{}"},
		{"ica", "--sources 3 --density two-gaussians", reals, "{}"},
		{"ica", "--sources 3 --density quartic", reals, "{}"},
		{"boltzmann", "--algorithm pcd --layers 3 --units gaussian --lr 0.02", reals, "{}"},
		{"boltzmann", "--algorithm pcd --layers 3", bits, "{}"},
		{"conditional-gaussian-rbm", "--hidden 3 --lr 0.05", reals, left},
		{"gated-rbm", "--hidden 3 --factors 2 --lr 0.05 --predict left", reals, left},
		{"convolutional-rbm", "--filters 2 --window 2 --pool 2 --lr 0.1", bits, `{"height": 3, "width": 3, "pool": 2}`},
	} {
		run := filepath.Join(dir, fmt.Sprint(i))
		args := []string{"train", "--dataset", c.rows, "--validation", "0", "--epochs", "5", "--out", run}
		if !slices.Contains([]string{"ppca", "factor-analysis", "ica"}, c.family) { // they take all rows at once
			args = append(args, "--batch", "10")
		}
		if c.family != "boltzmann" {
			args = slices.Insert(args, 1, c.family)
		}
		if c.rows == bits {
			args = append(args, "--shape", "3x3")
		} else {
			args = append(args, "--binarization", "real")
		}
		succeed(t, append(args, strings.Fields(c.flags)...)...)
		command := exec.Command(python, "testdata/logp.py", c.family, filepath.Join(run, "checkpoint.safetensors"), c.rows, c.settings)
		command.Env = append(os.Environ(), "PYTHONPATH="+notebooks, "PYTHONDONTWRITEBYTECODE=1")
		out, err := command.CombinedOutput()
		var got []float64
		if err != nil || json.Unmarshal(out, &got) != nil {
			t.Fatalf("%s %s: %v: %s", c.family, c.flags, err, out)
		}
		var want []struct {
			LogP float64 `json:"log_p"`
		}
		if err := json.Unmarshal([]byte(succeed(t, "eval", run, "--rows", c.rows, "--format", "json")), &want); err != nil {
			t.Fatal(err)
		}
		for r := range want {
			if len(got) != len(want) || !(math.Abs(got[r]-want[r].LogP) <= 1e-5*(1+math.Abs(got[r]))) {
				t.Errorf("%s %s: log p of row %d is %v by the page, and %v by eval", c.family, c.flags, r, got[r], want[r].LogP)
				break
			}
		}
	}
}

// readInPython compares the tensors that notebooks/weights.py reads with those in the files.
func readInPython(t *testing.T, checkpoints []string) {
	python, notebooks := "../../../build/venv/bin/python", "../../../notebooks"
	if out, err := exec.Command(python, "-c", "import numpy, safetensors").CombinedOutput(); err != nil {
		t.Skipf("there is no Python with the modules numpy and safetensors: type notebooks/jupyter.sh install (%v %s)", err, out)
	}
	const script = "import sys, weights\nfor path in sys.argv[1:]:\n    for name, t in sorted(weights.read(path)[1].items()):\n        print(name, list(t.shape))\n"
	command := exec.Command(python, append([]string{"-c", script}, checkpoints...)...)
	command.Env = append(os.Environ(), "PYTHONPATH="+notebooks, "PYTHONDONTWRITEBYTECODE=1")
	read, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, read)
	}
	var want strings.Builder
	for _, path := range checkpoints {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		tensors := tensorsOf(t, b)
		slices.SortFunc(tensors, func(a, b safetensors.Tensor) int { return strings.Compare(a.Name, b.Name) })
		for _, tensor := range tensors {
			fmt.Fprintf(&want, "%s [%s]\n", tensor.Name, strings.Join(strings.Fields(strings.Trim(fmt.Sprint(tensor.Shape), "[]")), ", "))
		}
	}
	if string(read) != want.String() {
		t.Errorf("Python reads\n%s\nwant\n%s", read, want.String())
	}
}
