package hm

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm/engine"
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

def possible(layer):
    rows = every(units[layer])
    return rows[[all(v.possible(row[None, of]) for v, _, of in machine.parts(layer, np.zeros((1, 99)))) for row in rows]]

answer = {"log_p": machine.log_p(states).tolist(), "log_q": machine.log_q(states).tolist()}
if given["dreams"]:
    visible, *hidden = map(possible, range(len(units)))
    numbers = np.indices([len(h) for h in hidden]).reshape(len(hidden), -1)
    hidden = [h[i] for h, i in zip(hidden, numbers)]
    dreams = machine.dream(given["dreams"], np.random.default_rng(1))[0]
    counts = np.bincount((dreams @ 2 ** np.arange(units[0])).astype(int), minlength=2 ** units[0])
    answer["exact"] = [np.logaddexp.reduce(machine.log_p([np.tile(x, (len(hidden[0]), 1))] + hidden)) for x in visible]
    answer["counts"] = counts[(visible @ 2 ** np.arange(units[0])).astype(int)].tolist()
json.dump(answer, sys.stdout)
`

// weightsNumbers holds the script's answers. Exact and Counts have one value for each possible x by number,
// whose unit j is on if bit j is set. They are empty without dreams.
type weightsNumbers struct {
	LogP   []float64 `json:"log_p"`
	LogQ   []float64 `json:"log_q"`
	Exact  []float64 `json:"exact"` // log p(x), summed over all h
	Counts []float64 `json:"counts"`
}

// TestWeights reads the checkpoints of runs in Python, and compares log p(x,h) and log q(h|x) of
// the engine's samples. Of machines of binary units, it also compares the exact log p(x) of every x, the
// frequencies of dreams, and an estimate of log p(x).
func TestWeights(t *testing.T) {
	t.Parallel()
	python := pythonWith(t, "numpy", "safetensors")
	set, table, mixed := patterns(t), garments(t), measured(t, dataset.Real)
	plain := New(set.Shape()).Dense(4, 3)
	groups := []Groups{{Layer: 1, Count: 2, Units: 2}, {Layer: 2, Count: 1, Units: 2, Rest: true}, {Layer: 2, Count: 1, Units: 1, Rest: true}}
	for name, c := range map[string]struct {
		machine Machine
		set     *dataset.Set
		dreams  int
	}{
		"bernoulli 01":  {plain.Coding(ZeroOne), set, 50_000},
		"bernoulli pm1": {plain.Coding(PlusMinusOne), set, 50_000},
		"tanh 01":       {plain.Coding(ZeroOne).Tanh(4, 3), set, 50_000},
		"tanh pm1":      {plain.Coding(PlusMinusOne).Tanh(4, 3), set, 50_000},
		"groups 01":     {plain.Coding(ZeroOne).Groups(groups...), set, 50_000},
		"groups pm1":    {plain.Coding(PlusMinusOne).Groups(groups...), set, 50_000},
		"table pm1":     {New(table.Shape()).Dense(3, 2).Groups(Groups{}).Tanh(3), table, 50_000},
		"mixed pm1":     {New(mixed.Shape()).Dense(3, 2).Groups(Groups{}), mixed, 0},
		"gaussian pm1":  {plain.Units(Bernoulli, Gaussian, Bernoulli), set, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run, err := short(NRWS()).LearningRate(0.005).Train(t.Context(), c.machine, c.set, t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			model, err := run.engine.model()
			if err != nil {
				t.Fatal(err)
			}
			rows := c.set.Train()
			draws, err := model.Infer(t.Context(), run.experiment.data(rows), 10, 5)
			if err != nil {
				t.Fatal(err)
			}
			checkpoint := filepath.Join(run.Dir(), "checkpoint.safetensors")
			got := askPython(t, python, map[string]any{"checkpoint": checkpoint, "dreams": c.dreams, "states": statesOf(draws, run.Architecture().Units)})
			if len(got.LogP) != draws.Rows || len(got.LogQ) != draws.Rows {
				t.Fatalf("log p and log q of %d and %d samples, want %d", len(got.LogP), len(got.LogQ), draws.Rows)
			}
			for r := range draws.Rows {
				wantNear(t, fmt.Sprintf("log p(x,h) of sample %d", r), got.LogP[r], draws.LogP[r], 1e-5*(1+math.Abs(draws.LogP[r])))
				wantNear(t, fmt.Sprintf("log q(h|x) of sample %d", r), got.LogQ[r], draws.LogQ[r], 1e-5*(1+math.Abs(draws.LogQ[r])))
			}
			if c.dreams == 0 {
				return
			}
			exact := oracle.NewNetworks(run.parameters)
			number, chi2, total := 0, 0.0, 0.0 // Pearson's, of the dreams
			for v := range exact.Model() {     // in which x changes first
				if number == len(got.Exact) {
					break
				}
				want := exact.Explain(v[0]).LogP()
				wantNear(t, fmt.Sprintf("log p of x number %d", number), got.Exact[number], want, 1e-9)
				expected := float64(c.dreams) * math.Exp(want)
				chi2 += math.Pow(got.Counts[number]-expected, 2) / expected
				total += math.Exp(want)
				number++
			}
			wantNear(t, "the sum of p(x)", total, 1, 1e-9)
			freedom := float64(number - 1)
			wantNear(t, "χ² of the dreams", chi2, freedom, 5*math.Sqrt(2*freedom))
			testWeightsCommand(t, python, checkpoint, rows, exact)
		})
	}
}

// Machines that weights.py cannot score are refused, not scored wrongly.
func TestWeightsRefuses(t *testing.T) {
	t.Parallel()
	python := pythonWith(t, "numpy", "safetensors")
	for want, set := range map[string]*dataset.Set{"has a label:": labeled(t, 0), "has a label": labeled(t, 1), "has convolutions:": shadesAs(t, dataset.Gray, 0)} {
		method := RWS()
		if set.Spec().Labels > 0 {
			method = BiHM()
		}
		run, err := short(method).LearningRate(0.0001).Epochs(1).Train(t.Context(), machineFor(set), set, t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command(python, filepath.Join(notebooks, "weights.py"), filepath.Join(run.Dir(), "checkpoint.safetensors")).CombinedOutput()
		if err == nil || !strings.Contains(string(out), want) {
			t.Errorf("a machine that %s weights.py prints %s", want, out)
		}
	}
}

// testWeightsCommand compares what weights.py prints for rows with the exact log p(x).
func testWeightsCommand(t *testing.T, python, checkpoint string, rows dataset.Split, exact *oracle.Networks) {
	t.Helper()
	var text strings.Builder
	sum, squares, n := 0.0, 0.0, float64(rows.Rows)
	for i, x := range explain(exact, rows) {
		for _, v := range rows.Row(i) {
			fmt.Fprint(&text, v/128, " ")
		}
		fmt.Fprintln(&text)
		sum += x.LogP()
		squares += x.LogP() * x.LogP()
	}
	file := filepath.Join(t.TempDir(), "rows.txt")
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	printed := runPython(t, python, nil, filepath.Join(notebooks, "weights.py"), checkpoint, file, "--samples", "3000")
	t.Logf("%s", printed)
	var mean, se float64
	if _, err := fmt.Sscanf(printed, fmt.Sprintf("log p(x) = %%f ± %%f nats, of %d rows with 3000 samples each\n", rows.Rows), &mean, &se); err != nil {
		t.Fatalf("weights.py printed %q: %v", printed, err)
	}
	wantNear(t, "the estimate of log p", mean, sum/n, 0.02)
	if own := runPython(t, python, nil, filepath.Join(notebooks, "weights.py"), checkpoint, "--samples", "2"); !strings.HasPrefix(own, "minus the machine's entropy") {
		t.Errorf("the mean log p of a machine's own draws is called %q", own)
	}
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
func statesOf(d engine.Draws, units []int) [][][]float32 {
	of := make([][][]float32, len(units))
	for i, n := range units {
		values := d.Values[i]
		for _, on := range d.States[i] {
			values = append(values, float32(on))
		}
		of[i] = slices.Collect(slices.Chunk(values, n))
	}
	return of
}
