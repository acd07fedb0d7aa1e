package command

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/statistics"
	"github.com/helmholtz-go/helmholtz/runs"
)

// mixtureSettings are the settings of a mixture of products of Bernoulli units, which no other file
// of this package knows.
type mixtureSettings struct {
	Components int     `toml:"components" json:"components"`
	Rate       float64 `toml:"learning_rate" json:"learning_rate"`
	Momentum   bool    `toml:"momentum" json:"momentum"`
	Decay      float64 `toml:"decay" json:"decay"` // of the momentum
	Batch      int     `toml:"batch_size" json:"batch_size"`
}

// mixture has the logits of the units of each component; all components have the same weight.
type mixture struct {
	shape              dataset.Shape
	logits, velocities []float64
	components         int
}

type mixtureFit = runs.Fit[mixtureSettings, *mixture]

var _ = runs.NewFamily(runs.Family[mixtureSettings, *mixture]{
	Name: "mixture", Noun: "a mixture of Bernoulli units", Epochs: 2,
	Usual: mixtureSettings{Components: 3, Rate: 0.5, Decay: 0.9, Batch: 10},
	Rows: func(s *mixtureSettings) []runs.Hyperparameter {
		idle := "--momentum"
		if s.Momentum {
			idle = ""
		}
		return []runs.Hyperparameter{
			{Value: &s.Components, Flag: "components", Group: "mixture", Usage: "`number` of components", Legend: fmt.Sprintf("mixture of %d", s.Components), Always: true,
				Valid: s.Components >= 1, Remedy: "give at least 1"},
			{Value: &s.Rate, Flag: "lr", Group: "mixture", Usage: "learning `rate`", Legend: fmt.Sprintf("η = %g", s.Rate), Always: true,
				Valid: s.Rate > 0, Remedy: "give a positive number, such as 0.5"},
			{Value: &s.Momentum, Flag: "momentum", Group: "mixture", Usage: "ascend with momentum", Legend: "momentum"},
			{Value: &s.Decay, Flag: "decay", Group: "mixture", Usage: "`β` of momentum", Legend: fmt.Sprintf("β = %g", s.Decay), Idle: idle, Epochs: 5},
			{Value: &s.Batch, Flag: "batch", Group: "mixture", Usage: "`B` rows per minibatch", Legend: fmt.Sprintf("B = %d", s.Batch), Valid: s.Batch >= 1, Remedy: "give at least 1"},
		}
	},
	Batch:    func(s *mixtureSettings) *int { return &s.Batch },
	Rate:     func(s mixtureSettings) (float64, runs.Decay) { return s.Rate, runs.Decay{} },
	Measures: []runs.Measure{runs.LogP},
	New: func(e mixtureFit, shape dataset.Shape) (*mixture, error) {
		n := e.Settings.Components * shape.Units()
		return &mixture{shape, make([]float64, n), make([]float64, n), e.Settings.Components}, nil
	},
	Begin: func(e mixtureFit, m *mixture, _ *dataset.Set) error {
		random := rand.New(rand.NewPCG(e.Seed, 1))
		for i := range m.logits {
			m.logits[i] = random.NormFloat64()
		}
		return nil
	},
	Tensors: func(m *mixture) []runs.Tensor {
		shape := []int{m.components, m.shape.Units()}
		return []runs.Tensor{{Name: "logits", Shape: shape, Wide: m.logits}, {Name: "velocities", Shape: shape, Wide: m.velocities}}
	},
	Step: func(_ context.Context, e mixtureFit, m *mixture, b runs.Minibatch, rate float64) (runs.Measures, error) {
		rows := b.Floats()
		gradient := make([]float64, len(m.logits))
		sum := 0.0
		for _, x := range rows {
			sum += m.logP(x, gradient)
		}
		for i, g := range gradient {
			if e.Settings.Momentum {
				m.velocities[i] *= e.Settings.Decay
			} else {
				m.velocities[i] = 0
			}
			m.velocities[i] += g / float64(len(rows))
			m.logits[i] += rate * m.velocities[i]
		}
		return runs.Measures{runs.LogP.Key: sum / float64(len(rows))}, nil
	},
	Validate: func(_ context.Context, _ mixtureFit, m *mixture, rows dataset.Split) (runs.Measures, error) {
		mean, _ := m.mean(rows)
		return runs.Measures{runs.LogP.Key: mean}, nil
	},
})

// logP returns log p(x), and adds its gradient to gradient unless that is nil.
func (m *mixture) logP(x, gradient []float64) float64 {
	logs, sum, units := make([]float64, m.components), 0.0, m.shape.Units()
	for k := range logs {
		for i, a := range m.logits[k*units:][:units] {
			logs[k] += x[i]*a - math.Log1p(math.Exp(a))
		}
		sum += math.Exp(logs[k]) / float64(m.components)
	}
	if gradient != nil {
		for k := range logs {
			for i, a := range m.logits[k*units:][:units] {
				gradient[k*units+i] += math.Exp(logs[k]) / float64(m.components) / sum * (x[i] - 1/(1+math.Exp(-a)))
			}
		}
	}
	return math.Log(sum)
}

func (m *mixture) mean(rows dataset.Split) (mean, se float64) {
	return statistics.MeanAndError(rows.Rows, func(i int) float64 { return m.logP(rows.Floats(i)[0], nil) })
}

func (m *mixture) Estimate(_ context.Context, rows dataset.Split, _ int, _ uint64, _ func(float64)) (runs.Estimates, error) {
	mean, se := m.mean(rows)
	return runs.Estimates{runs.LogP.Key: {Value: mean, SE: se}}, nil
}

func (m *mixture) Drawings() []runs.Drawing {
	return runs.Drawings(runs.Drawing{Kind: "means", Uses: []string{"seed"}, Draw: func(_ context.Context, s runs.Sampling) ([]dataset.Sheet, error) {
		sheet, random := dataset.Sheet{Shape: m.shape}, rand.New(rand.NewPCG(s.Seed, 2))
		for range s.N {
			var image []float64
			for _, a := range m.logits[random.IntN(m.components)*m.shape.Units():][:m.shape.Units()] {
				image = append(image, 1/(1+math.Exp(-a)))
			}
			sheet.Values = append(sheet.Values, image)
		}
		return runs.Sheet(sheet, nil)
	}}, runs.Drawing{Kind: "rows", Uses: []string{"split"}, Draw: func(_ context.Context, s runs.Sampling) ([]dataset.Sheet, error) {
		return runs.Sheet(dataset.Sheet{Shape: m.shape, Values: s.Rows.Floats()[:s.N]}, nil)
	}})
}

// A family that registers itself can be trained by flags and by file, resumed, evaluated, sampled,
// drawn, swept, compared and listed, without any code for it in this package.
func TestAFamilyThatRegistersItself(t *testing.T) {
	here := t.TempDir()
	one, two, seeds, page, image := filepath.Join(here, "one"), filepath.Join(here, "two"), filepath.Join(here, "seeds"), filepath.Join(here, "one.html"), filepath.Join(here, "image.png")
	data := []string{"--dataset", "3by3", "--subset", "60", "--validation", "20"}
	flags := append([]string{"train", "mixture", "--components", "4", "--lr", "0.25", "--seed", "7", "--keep", "1", "--out", one}, data...)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if code, _, errOut := helmholtz(t, ctx, flags...); code != exitInterrupted || !strings.Contains(errOut, "--resume "+one) {
		t.Fatalf("ended with %d and said %q", code, errOut)
	}
	succeed(t, "train", "--resume", one)
	if out := succeed(t, "train", "--resume", one, "--epochs", "3"); !strings.Contains(out, "mixture of 4, η = 0.25: 3 epochs") {
		t.Errorf("train says %q", out)
	}
	config := filepath.Join(one, "experiment.toml")
	if out := succeed(t, "train", "mixture", "--config", config, "--momentum", "--decay", "0.5", "--subset", "40", "--out", two); !strings.Contains(out, "mixture of 4, η = 0.25, momentum, β = 0.5: 3 epochs") {
		t.Errorf("the file with other flags trains %q", out)
	}
	succeed(t, "train", "--config", config, "--seeds", "2", "--out", seeds)
	opened, err := runs.Open(two)
	if err != nil {
		t.Fatal(err)
	}
	if e := opened.Experiment().(mixtureFit); e.Settings != (mixtureSettings{4, 0.25, true, 0.5, 10}) || e.Seed != 7 || e.Dataset.Subset != 40 || *e.Dataset.Validation != 20 {
		t.Errorf("the experiment is %+v", e)
	}

	if out := succeed(t, "eval", one); !strings.HasPrefix(out, one+", checkpoint last\nlog p ") || !strings.Contains(out, "1000 samples a row, 18 test rows, draws of seed 1") {
		t.Errorf("eval says %q", out)
	}
	succeed(t, "eval", one, "--checkpoint", "1", "--split", "validation", "--rows", "5", "--samples", "3")
	if out := succeed(t, "eval", seeds); !strings.Contains(out, "mean ± sd over 2 seeds\nlog p ") {
		t.Errorf("of seeds eval says %q", out)
	}
	var of struct {
		Seeds []struct {
			Run  string
			LogP float64 `json:"log_p"`
		}
		Over map[string]struct{ Mean float64 } `json:"over_seeds"`
	}
	if err := json.Unmarshal([]byte(succeed(t, "eval", seeds, "--json")), &of); err != nil {
		t.Fatal(err)
	}
	if mean := (of.Seeds[0].LogP + of.Seeds[1].LogP) / 2; of.Seeds[0].Run != runs.SeedDir(seeds, 7) || math.Abs(mean-of.Over["log_p"].Mean) > 1e-9 {
		t.Errorf("the JSON of the seeds is %+v", of)
	}
	if out := succeed(t, "eval", seeds, "--format", "csv"); !strings.HasPrefix(out, "run,checkpoint,seed,epochs,finished,log_p,log_p_se,split,samples,data,draw_seed,seconds\n") || strings.Count(out, "\n") != 3 {
		t.Errorf("the table is %q", out)
	}
	if out := succeed(t, "compare", one, seeds, "--samples", "5"); !strings.Contains(out, "log p, test, K = 5") || !strings.Contains(out, "log p, best validation") {
		t.Errorf("compare says %q", out)
	}
	succeed(t, "sample", one, "--n", "4", "--seed", "3", "--out", image)
	succeed(t, "sample", one, "--kind", "rows", "--split", "train", "--n", "4", "--out", image)
	if out := succeed(t, "plot", one, two, "--out", here); !strings.Contains(out, "one-samples.png") || !strings.Contains(out, "curves.png") {
		t.Errorf("plot draws %q", out)
	}
	succeed(t, "report", one, "--rows", "10", "--out", page)
	if text, err := os.ReadFile(page); err != nil || !strings.Contains(string(text), "<h2>Samples</h2>") || !strings.Contains(string(text), "<h2>Evaluation</h2>") || !strings.Contains(string(text), "10 test rows") {
		t.Errorf("the report of the run is %.300s, %v", text, err)
	}
	if out := succeed(t, "runs", here); strings.Count(out, "mixture") < 4 {
		t.Errorf("runs lists %q", out)
	}
	if out := succeed(t, "train", "mixture", "--help"); !strings.Contains(out, "Mixture:\n      --components number") || !strings.Contains(out, "(default 3)") {
		t.Errorf("the help is %q", out)
	}

	file, swept := filepath.Join(here, "sweep.toml"), filepath.Join(here, "swept")
	if err := os.WriteFile(file, []byte("seeds = 2\nbase = \""+config+"\"\n[grid]\ncomponents = [2, 3]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	succeed(t, "sweep", "plan", file)
	succeed(t, "sweep", "run", file, "--workers", "1", "--out", swept)
	if out := succeed(t, "sweep", "report", swept); !strings.Contains(out, "log p") {
		t.Errorf("sweep report says %q", out)
	}

	for says, args := range map[string][]string{
		"components = 0: give at least 1":                                   append([]string{"train", "mixture", "--components", "0", "--out", filepath.Join(here, "none")}, data...),
		"--decay has no effect without --momentum":                          append([]string{"train", "mixture", "--decay", "0.5"}, data...),
		"unknown flag: --layers (a flag of helmholtz train boltzmann, ":     {"train", "--config", config, "--lr", "0.1", "--layers", "3"},
		"family deterministic, and helmholtz train mixture describes a mix": {"train", "mixture", "--config", meanField(t, "noisy-or")},
		" is a run of another family, mixture of 4, η = 0.25":               append([]string{"train", "--from", one, "--layers", "3"}, data...),
		"--log-z2: a mixture of Bernoulli units does not use it":            {"eval", one, "--log-z2", "10"},
		"--kind layers: a mixture of Bernoulli units draws means, rows;":    {"sample", one, "--kind", "layers"},
		"did you mean \"rows\"?":                                            {"sample", one, "--kind", "row"},
		"--split has no effect without --kind rows":                         {"sample", one, "--split", "train"},
		"--gibbs: a mixture of Bernoulli units does not use it":             {"sample", one, "--gibbs", "3"},
		"a mixture of Bernoulli units, which fills in no images":            {"inpaint", one, "--mask", "left"},
		"--log-z2: a report of a mixture of Bernoulli units does not":       {"report", one, "--log-z2", "10"},
	} {
		if code, _, errOut := helmholtz(t, t.Context(), args...); code == 0 || !strings.Contains(errOut, says) {
			t.Errorf("helmholtz %s ended with %d and said %q, not %q", strings.Join(args, " "), code, errOut, says)
		}
	}
	if out := succeed(t, "bench", "eval", one, "--json"); !strings.Contains(out, `"rows_per_s"`) || strings.Contains(out, "samples_per_s") {
		t.Errorf("bench eval --json printed %s", out)
	}
	if _, _, errOut := helmholtz(t, t.Context(), append([]string{"train", "mixture", "--momentum", "--decay", "0.5", "--epochs", "1", "--out", filepath.Join(here, "short")}, data...)...); !strings.Contains(errOut, "without full effect within 1 epoch: --decay 0.5") {
		t.Errorf("train says %q", errOut)
	}
}
