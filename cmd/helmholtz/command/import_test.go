package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/boltzmann"
	"github.com/helmholtz-go/helmholtz/internal/safetensors"
)

// A machine of another program becomes a run, which eval takes as any, of either coding.
func TestImport(t *testing.T) {
	here := t.TempDir()
	file := filepath.Join("..", "..", "..", "boltzmann", "testdata", "sklearn.npz")
	const names = "components_,intercept_visible_,intercept_hidden_"
	with := func(out, names, data, coding string) []string {
		return []string{"import", file, "--names", names, "--transposed", "--dataset", data, "--subset", "40", "--coding", coding, "--sign", "minus", "--out", filepath.Join(here, out)}
	}
	if help := succeed(t, "import", "--help"); !strings.Contains(help, "--sign ") || strings.Contains(help, "(default minus)") {
		t.Errorf("help shows a default of --sign, which is required: %s", help)
	}
	if out := succeed(t, with("zeroone", names, "3by3", "01")...); !strings.Contains(out, "a restricted Boltzmann machine of 9–5 units") || strings.Contains(out, "plus") {
		t.Errorf("import says %q", out)
	}
	if out := succeed(t, with("spins", names, "3by3", "pm1")...); !strings.Contains(out, "log Z of the other program is log Z here plus ") {
		t.Errorf("import says %q", out)
	}
	if out := succeed(t, "eval", filepath.Join(here, "zeroone")); !strings.Contains(out, "nats, exact") {
		t.Errorf("eval says %q", out)
	}
	if out := succeed(t, "compare", filepath.Join(here, "zeroone")); !strings.Contains(out, "imported\n") || strings.Contains(out, "unfinished") {
		t.Errorf("compare says %q", out)
	}
	square := filepath.Join(here, "square.safetensors")
	b, err := safetensors.Marshal(&safetensors.File{Tensors: []safetensors.Tensor{
		{Name: "W", Shape: []int{9, 9}, Data: append([]float32{1}, make([]float32, 80)...)},
		{Name: "b", Shape: []int{9}, Data: make([]float32, 9)}, {Name: "c", Shape: []int{9}, Data: make([]float32, 9)}, {Name: "momentum", Data: []float32{1}},
	}})
	if err == nil {
		err = os.WriteFile(square, b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	if out := succeed(t, "import", square, "--dataset", "3by3", "--coding", "01", "--sign", "minus", "--out", filepath.Join(here, "square")); !strings.Contains(out, "W is square: training rows have a log pseudo-likelihood of -") || !strings.Contains(out, "ignored: momentum\n") {
		t.Errorf("import says %q", out)
	}
	config := filepath.Join(here, "zeroone", "experiment.toml")
	succeed(t, "train", "--config", config, "--belief", "--layers", "4,3", "--epochs", "1", "--out", filepath.Join(here, "layers")) // from random weights
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"import", file, "--dataset", "3by3", "--sign", "minus", "--out", here}, "give also --coding (values of units: "},
		{[]string{"import", file, "--dataset", "3by3", "--coding", "01", "--out", here}, "give also --sign (sign of the parameters"},
		{[]string{"import", file}, ", --out (DIR of the run)"},
		{with("two", "W,b", "3by3", "01"), "give three names"},
		{with("kinds", names, "3by3", "01,pm1,01"), "give one coding"},
		{with("array", "W,b,c", "3by3", "01"), "it has no array W"},
		{with("data", names, "miniglyphs", "01"), "9 visible units, the rows of miniglyphs have"},
	} {
		if code, _, errOut := helmholtz(t, t.Context(), c.args...); code == 0 || !strings.Contains(errOut, c.says) {
			t.Errorf("helmholtz %s ended with %d and said %q, not %q", strings.Join(c.args, " "), code, errOut, c.says)
		}
	}
	if _, err := boltzmann.OpenRun(filepath.Join(here, "data")); err == nil {
		t.Error("a refused import left a run")
	}
}
