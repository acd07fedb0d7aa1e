package runs_test

import (
	"context"
	"fmt"
	"log"
	"math"
	"os"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/runs"
)

// pixels are the settings of the smallest possible model, with independent pixels: p(x) is the
// product over pixels of σ(a) for a pixel that is on, and of 1 − σ(a) for one that is off.
type pixels struct {
	Rate  float64 `toml:"learning_rate" json:"learning_rate"`
	Batch int     `toml:"batch_size" json:"batch_size"`
}

// logits are the parameters a.
type logits struct{ a []float64 }

// ascend moves the logits along the gradient of the mean of log p(x) over rows, and returns the
// mean before the step, in nats.
func (l *logits) ascend(rows [][]float64, rate float64) (mean float64) {
	gradient := make([]float64, len(l.a))
	for _, x := range rows {
		for i, a := range l.a {
			on := 1 / (1 + math.Exp(-a))
			mean += (x[i]*math.Log(on) + (1-x[i])*math.Log(1-on)) / float64(len(rows))
			gradient[i] += (x[i] - on) / float64(len(rows))
		}
	}
	for i, g := range gradient {
		l.a[i] += rate * g
	}
	return mean
}

var family = pixelFamily("pixels", func(int) float64 { return 1 })

// pixelFamily declares a family. schedule returns the factor of the learning rate at a step, counted from 0.
func pixelFamily(name string, schedule func(step int) float64) *runs.Family[pixels, *logits] {
	return runs.NewFamily(runs.Family[pixels, *logits]{
		Name: name, Noun: "a model of single pixels",
		Usual: pixels{Rate: 0.5, Batch: 100},
		Rows: func(p *pixels) []runs.Hyperparameter {
			return []runs.Hyperparameter{runs.RateRow(&p.Rate, "learning `rate` η"), runs.BatchRow(&p.Batch)}
		},
		Batch:    func(p *pixels) *int { return &p.Batch },
		Rate:     func(p pixels) (float64, runs.Decay) { return p.Rate, runs.Decay{} },
		Measures: []runs.Measure{runs.LogP},
		New: func(_ runs.Fit[pixels, *logits], shape dataset.Shape) (*logits, error) {
			return &logits{make([]float64, shape.Units())}, nil
		},
		Tensors: func(l *logits) []runs.Tensor { return []runs.Tensor{runs.Wide("a", l.a)} },
		Step: func(_ context.Context, _ runs.Fit[pixels, *logits], l *logits, b runs.Minibatch, rate float64) (runs.Measures, error) {
			return runs.Measures{runs.LogP.Key: l.ascend(b.Floats(), rate*schedule(b.Step))}, nil
		},
		Validate: func(_ context.Context, _ runs.Fit[pixels, *logits], l *logits, rows dataset.Split) (runs.Measures, error) {
			return runs.Measures{runs.LogP.Key: l.ascend(rows.Floats(), 0)}, nil
		},
	})
}

// This is a complete family in miniature. FAMILY.md beside this package explains a larger one.
func ExampleNewFamily() {
	set, err := dataset.Open("3by3")
	if err != nil {
		log.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "pixels")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)

	e := family.Experiment(set)
	e.Epochs = 1
	if _, err := e.Train(context.Background(), set, dir, runs.Quiet); err != nil {
		log.Fatal(err)
	}
	longer, err := runs.Extend(dir, 3)
	if err != nil {
		log.Fatal(err)
	}
	run, err := runs.Train(context.Background(), longer, set, dir, runs.Quiet)
	if err != nil {
		log.Fatal(err)
	}
	last := run.History().Epochs[run.Epochs()-1]
	fmt.Printf("%v, after %d epochs: %.1f nats\n", run.Experiment(), last.Epoch, last.Train["log_p"])
	// Output: η = 0.5, after 3 epochs: -6.2 nats
}

// The rate of this family rises from nearly 0 to its value over 20 steps.
func ExampleNewFamily_schedule() {
	warmUp := pixelFamily("pixels-warm-up", func(step int) float64 { return min(1, float64(step+1)/20) })
	set, err := dataset.Spec{Name: "miniglyphs", Subset: 500}.Open()
	if err != nil {
		log.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "schedule")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)

	plain, warm := family.Experiment(set), warmUp.Experiment(set)
	plain.Epochs, warm.Epochs = 2, 2
	one, err := plain.Train(context.Background(), set, dir+"/plain", runs.Quiet)
	if err != nil {
		log.Fatal(err)
	}
	other, err := warm.Train(context.Background(), set, dir+"/warm-up", runs.Quiet)
	if err != nil {
		log.Fatal(err)
	}
	for i, e := range one.History().Epochs {
		fmt.Printf("epoch %d: %.1f nats, with a warm-up %.1f\n", e.Epoch, e.Train["log_p"], other.History().Epochs[i].Train["log_p"])
	}
	// Output:
	// epoch 1: -110.3 nats, with a warm-up -132.6
	// epoch 2: -76.5 nats, with a warm-up -115.1
}
