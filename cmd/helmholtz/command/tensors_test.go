package command

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/internal/safetensors"
)

// FORMAT.md describes every tensor that a family saves.
func TestFormatDescribesEveryTensor(t *testing.T) {
	page, err := os.ReadFile("../../../runs/FORMAT.md")
	if err != nil {
		t.Fatal(err)
	}
	_, tensors, _ := strings.Cut(string(page), "## Tensors")
	tensors, _, _ = strings.Cut(tensors, "\n## ")
	of := map[string]string{} // by family
	for i, section := range regexp.MustCompile("the family\\s`").Split(tensors, -1) {
		if family, text, found := strings.Cut(section, "`"); i > 0 && found {
			of[family] = text
		}
	}
	at := t.TempDir()
	dir := func(name string) string { return filepath.Join(at, name) }
	pcd := "train --dataset 3by3 --subset 64 --validation 18 --algorithm pcd --batch 9 --epochs 1 "
	var checkpoints []string
	for _, c := range []struct{ family, run, command string }{
		{"hm", "hm", "train --dataset 3by3 --subset 64 --validation 18 --layers 4 --algorithm nrws --optimizer adam --epochs 1"},
		{"hm", "jsa", "train --dataset 3by3 --subset 64 --validation 18 --layers 4 --algorithm jsa --epochs 1"},
		{"hm", "labels", "train --dataset miniglyphs --subset 64 --validation 18 --labels 30 --algorithm bihm --layers 8,4 --label-layer lower --classes 10 --epochs 1"},
		{"boltzmann", "restricted", pcd + "--layers 4"},
		{"boltzmann", "deep", pcd + "--layers 4,3"},
		{"boltzmann", "gaussian", pcd + "--layers 4 --binarization grey --units gaussian"},
		{"boltzmann", "belief/layer-2", pcd + "--layers 4,3 --belief"},
		{"updown", "updown", "train --up-down " + dir("belief/layer-2") + " --batch 9 --epochs 1"},
		{"general-boltzmann", "general", "train general-boltzmann --dataset 3by3 --subset 64 --validation 18 --hidden 12 --batch 9 --lr 0.1 --epochs 1"},
		{"autoencoder", "autoencoder", "train autoencoder --dataset 3by3 --subset 64 --validation 18 --binarization grey --decoder normal --latent straight-through --batch 9 --epochs 1"},
		{"deterministic", "deterministic", "train deterministic --dataset 3by3 --subset 64 --validation 18 --layers 4 --batch 9 --epochs 1"},
	} {
		out := dir(strings.TrimSuffix(c.run, "/layer-2"))
		succeed(t, append(strings.Fields(c.command), "--out", out)...)
		for _, tensor := range tensorsOf(t, checkpointBytes(t, dir(c.run))) {
			name := regexp.MustCompile(`\.\d+`).ReplaceAllString(tensor.Name, ".N")
			described := strings.Contains(of[c.family], "`"+name+"`")
			for _, prefix := range []string{"moment.N.", "refresh.", "below.N.", "prior."} {
				described = described || strings.HasPrefix(name, prefix) && strings.Contains(of[c.family], "`"+prefix+"TENSOR`")
			}
			if !described {
				t.Errorf("the page does not describe the tensor %s of the family %s", name, c.family)
			}
		}
		checkpoints = append(checkpoints, filepath.Join(dir(c.run), "checkpoint.safetensors"))
	}
	t.Run("in Python", func(t *testing.T) { readInPython(t, checkpoints) })
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
