package command

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/internal/kernels"
)

func TestBenchTrainWritesAProfile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "cpu.pprof")
	out := succeed(t, "bench", "train", "--dataset", "glyphs", "--subset", "100", "--layers", "5", "--steps", "3", "--json", "--profile", file)
	if !strings.Contains(out, `"step_ms"`) {
		t.Errorf("bench train --json printed %s", out)
	}
	// A profile is a gzipped message.
	if text, err := os.ReadFile(file); err != nil || !strings.HasPrefix(string(text), "\x1f\x8b") {
		t.Errorf("the profile holds %.20q (%v)", text, err)
	}
}

// Every instruction set is measured, beside the name of the one in use.
func TestBenchHere(t *testing.T) {
	used := kernels.InstructionSet()
	out := succeed(t, "bench", "here", "--steps", "2")
	for _, want := range append(kernels.InstructionSets(), processor(), " "+used+" kernels", "1.000 of portable\n") {
		if !strings.Contains(out, want) {
			t.Errorf("bench here printed no %q:\n%s", want, out)
		}
	}
	if kernels.InstructionSet() != used {
		t.Errorf("bench here leaves the instruction set %s", kernels.InstructionSet())
	}
}

// Doctor names faster kernels.
func TestDoctorNamesTheKernels(t *testing.T) {
	sets := kernels.InstructionSets()
	defer kernels.SetInstructionSet(kernels.InstructionSet())
	if err := kernels.SetInstructionSet("portable"); err != nil {
		t.Fatal(err)
	}
	if got := processor(); !strings.Contains(got, " portable kernels") || len(sets) > 1 && !strings.Contains(got, "the "+sets[len(sets)-1]+" kernels are faster: unset HELMHOLTZ_CPU") {
		t.Errorf("the processor is described as %q", got)
	}
}

// Steps of every family are measured, described by flags or by a file.
func TestBenchTrainServesAllFamilies(t *testing.T) {
	t.Chdir(t.TempDir())
	file := "family = \"general-boltzmann\"\n[machine]\nhidden = 2\n[dataset]\nname = \"3by3\"\n"
	if err := os.WriteFile("general.toml", []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	gray := []string{"--dataset", "miniglyphs", "--binarization", "grey", "--subset", "60", "--validation", "9"}
	for _, args := range [][]string{
		append(gray, "ppca", "--components", "2"), append(gray, "factor-analysis", "--factors", "2", "--drop-constant"), append(gray, "ica", "--sources", "2"),
		{"--config", "general.toml"}, {"--algorithm", "pcd", "--dataset", "3by3", "--layers", "4"}, {"rnn-rbm", "--subset", "100", "--dataset", "voices"},
	} {
		var timing struct {
			Steps  int     `json:"steps"`
			StepMS float64 `json:"step_ms"`
		}
		out := succeed(t, append([]string{"bench", "train", "--steps", "2", "--json"}, args...)...)
		if err := json.Unmarshal([]byte(out), &timing); err != nil || timing.Steps != 2 || !(timing.StepMS > 0) {
			t.Errorf("bench train %q printed %s (%v)", args, out, err)
		}
	}
}

// A profile that cannot be written is an error beside the result, and the previous profile stays.
func TestBenchTrainSaysThatItsProfileIsNotWritten(t *testing.T) {
	file := filepath.Join(t.TempDir(), strings.Repeat("a", 255)) // the name is too long
	if err := os.WriteFile(file, []byte("before"), 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, errOut := helmholtz(t, t.Context(), "bench", "train", "--dataset", "glyphs", "--subset", "100", "--layers", "5", "--steps", "3", "--profile", file)
	if code != exitFailed || !strings.Contains(out, "epoch") || !strings.Contains(errOut, "name too long") {
		t.Errorf("bench train ended with %d, printed %q and said %q", code, out, errOut)
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != "before" {
		t.Errorf("the file holds %.20q (%v)", text, err)
	}
}

// Each file is a panel with a curve for each program; a line that is no measurement is refused with its file.
func TestBenchGrowthDrawsMeasurements(t *testing.T) {
	dir := t.TempDir()
	file, out := filepath.Join(dir, "width.jsonl"), filepath.Join(dir, "growth.svg")
	lines := `{"label": "units of a layer", "x": 100, "program": "helmholtz", "us": 50.5, "operations": 7}
{"label": "units of a layer", "x": 100, "program": "JAX", "us": 70}
{"label": "units of a layer", "x": 1000, "program": "helmholtz", "us": 900}
`
	if err := os.WriteFile(file, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	succeed(t, "bench", "growth", file, file, "--out", out)
	text, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"units of a layer", "helmholtz", "JAX", "(b)"} {
		if !strings.Contains(string(text), part) {
			t.Errorf("the figure does not say %q", part)
		}
	}
	if err := os.WriteFile(file, []byte(lines+"nothing"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, errOut := helmholtz(t, t.Context(), "bench", "growth", file, "--out", out); code != exitFailed || !strings.Contains(errOut, "width.jsonl: invalid character") {
		t.Errorf("bench growth of text ended with %d and said %q", code, errOut)
	}
	if err := os.WriteFile(file, []byte(strings.Replace(lines, "70", "null", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, errOut := helmholtz(t, t.Context(), "bench", "growth", file, "--out", out); code != exitFailed || !strings.Contains(errOut, "width.jsonl: us is null") {
		t.Errorf("bench growth without a measurement ended with %d and said %q", code, errOut)
	}
}
