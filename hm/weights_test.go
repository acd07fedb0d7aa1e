package hm

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm/engine/oracle"
)

// weightsScript asks notebooks/weights.py for the numbers that TestWeights compares.
const weightsScript = `
import json, sys
import numpy as np
import weights

given = json.load(sys.stdin)
machine = weights.Machine(given["checkpoint"])
units = machine.header["units"]
states = [np.array(layer, dtype=float) for layer in given["states"]]

def every(n):
    return (np.arange(2**n)[:, None] >> np.arange(n) & 1).astype(float)

hidden = np.split(every(sum(units[1:])), np.cumsum(units[1:])[:-1], axis=1)
exact = [np.logaddexp.reduce(machine.log_p([np.tile(x, (len(hidden[0]), 1))] + hidden)) for x in every(units[0])]
dreams = machine.dream(given["dreams"], np.random.default_rng(1))[0]
json.dump({
    "log_p": machine.log_p(states).tolist(),
    "log_q": machine.log_q(states).tolist(),
    "exact": exact,
    "counts": np.bincount((dreams @ 2 ** np.arange(units[0])).astype(int), minlength=2 ** units[0]).tolist(),
}, sys.stdout)
`

// weightsNumbers holds the script's answers. Exact and Counts have one value for each x by number,
// whose unit j is on if bit j is set.
type weightsNumbers struct {
	LogP   []float64 `json:"log_p"`
	LogQ   []float64 `json:"log_q"`
	Exact  []float64 `json:"exact"` // log p(x), summed over all h
	Counts []float64 `json:"counts"`
}

// TestWeights reads the checkpoint of a run in Python, and compares log p(x,h) and log q(h|x) of
// the engine's samples, the exact log p(x) of every x, the frequencies of dreams, and an estimate
// of log p(x).
func TestWeights(t *testing.T) {
	t.Parallel()
	python := pythonWith(t, "numpy", "safetensors")
	bothCodings(t, func(t *testing.T, coding Coding) {
		t.Parallel()
		const dreams = 50_000
		set := patterns(t)
		run, err := short(NRWS()).Train(t.Context(), machineFor(set).Coding(coding), set, t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		exact, err := oracle.New(run.parameters)
		if err != nil {
			t.Fatal(err)
		}
		model, err := run.engine.model()
		if err != nil {
			t.Fatal(err)
		}
		draws, err := model.Infer(t.Context(), run.experiment.data(set.Test()), 10, 5)
		if err != nil {
			t.Fatal(err)
		}
		checkpoint := filepath.Join(run.Dir(), "checkpoint.safetensors")
		got := askPython(t, python, map[string]any{"checkpoint": checkpoint, "dreams": dreams, "states": statesOf(draws.States, run.Architecture().Units)})

		if len(got.LogP) != draws.Rows || len(got.LogQ) != draws.Rows {
			t.Fatalf("log p and log q of %d and %d samples, want %d", len(got.LogP), len(got.LogQ), draws.Rows)
		}
		for r := range draws.Rows {
			wantNear(t, fmt.Sprintf("log p(x,h) of sample %d", r), got.LogP[r], draws.LogP[r], 1e-5*(1+math.Abs(draws.LogP[r])))
			wantNear(t, fmt.Sprintf("log q(h|x) of sample %d", r), got.LogQ[r], draws.LogQ[r], 1e-5*(1+math.Abs(draws.LogQ[r])))
		}
		number, chi2 := 0, 0.0 // Pearson's, of the dreams
		for x := range exact.Visible() {
			want := exact.LogP(x)
			wantNear(t, fmt.Sprintf("log p of x number %d", number), got.Exact[number], want, 1e-9)
			expected := dreams * math.Exp(want)
			chi2 += math.Pow(got.Counts[number]-expected, 2) / expected
			number++
		}
		freedom := float64(number - 1)
		wantNear(t, "χ² of the dreams", chi2, freedom, 5*math.Sqrt(2*freedom))
		testWeightsCommand(t, python, checkpoint, set.Test(), exact)
	})
}

// testWeightsCommand compares what weights.py prints for rows with the exact log p(x).
func testWeightsCommand(t *testing.T, python, checkpoint string, rows dataset.Split, exact *oracle.Machine) {
	t.Helper()
	var text strings.Builder
	sum, squares, n := 0.0, 0.0, float64(rows.Rows)
	for i, x := range states(rows) {
		for _, v := range rows.Row(i) {
			fmt.Fprint(&text, v/128, " ")
		}
		fmt.Fprintln(&text)
		sum += exact.LogP(x)
		squares += exact.LogP(x) * exact.LogP(x)
	}
	file := filepath.Join(t.TempDir(), "rows.txt")
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	printed := runPython(t, python, nil, filepath.Join(notebooks, "weights.py"), checkpoint, file, "--samples", "3000")
	t.Logf("%s", printed)
	var mean, se float64
	if _, err := fmt.Sscanf(printed, "log p(x) = %f ± %f nats, of 18 rows with 3000 samples each\n", &mean, &se); err != nil {
		t.Fatalf("weights.py printed %q: %v", printed, err)
	}
	wantNear(t, "the estimate of log p", mean, sum/n, 0.02)
	wantNear(t, "its standard error", se, math.Sqrt((squares/n-sum*sum/n/n)/(n-1)), 0.02)
}

// notebooks is the folder of weights.py.
var notebooks = filepath.Join("..", "notebooks")

// pythonWith finds a Python that has some modules: the one in build/venv, else python3.
func pythonWith(t *testing.T, modules ...string) string {
	t.Helper()
	var complaints []string
	for _, python := range []string{filepath.Join("..", "build", "venv", "bin", "python"), "python3"} {
		out, err := exec.Command(python, "-c", "import "+strings.Join(modules, ", ")).CombinedOutput()
		if err == nil {
			return python
		}
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		complaints = append(complaints, strings.TrimSpace(fmt.Sprintf("%s: %v %s", python, err, lines[len(lines)-1])))
	}
	t.Skipf("there is no Python with the modules %s: type notebooks/jupyter.sh install (%s)", strings.Join(modules, " and "), strings.Join(complaints, "; "))
	return ""
}

func runPython(t *testing.T, python string, stdin []byte, args ...string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), python, args...)
	command.Env = append(os.Environ(), "PYTHONPATH="+notebooks, "PYTHONDONTWRITEBYTECODE=1", "PYTHONIOENCODING=utf-8")
	command.Stdin = bytes.NewReader(stdin)
	var stderr bytes.Buffer
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, stderr.String())
	}
	return string(out)
}

func askPython(t *testing.T, python string, question any) (answer weightsNumbers) {
	t.Helper()
	text, err := json.Marshal(question)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(runPython(t, python, text, "-c", weightsScript)), &answer); err != nil {
		t.Fatal(err)
	}
	return answer
}

// statesOf returns the states of layers as rows of numbers.
func statesOf(layers [][]uint8, units []int) [][][]int {
	of := make([][][]int, len(layers))
	for i, states := range layers {
		for r := range len(states) / units[i] {
			row := make([]int, units[i])
			for j := range row {
				row[j] = int(states[r*units[i]+j])
			}
			of[i] = append(of[i], row)
		}
	}
	return of
}
