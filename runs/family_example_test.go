package runs_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"math"
	"os"
	"slices"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/runs"
)

// pixels is an experiment with the smallest of models, which knows each pixel alone: p(x) is
// the product over pixels of σ(a) where one is on, and of 1 − σ(a) where it is off.
type pixels struct {
	Family string      `toml:"family"`
	Rate   float64     `toml:"learning_rate"`
	Run    runs.Header `toml:"run"`
}

func init() {
	runs.Register("pixels", func(text []byte) (runs.Experiment, error) {
		var p pixels
		_, err := runs.DecodeTOML(text, &p)
		return p, err
	})
}

func (p pixels) Header() runs.Header                          { return p.Run }
func (p pixels) WithHeader(h runs.Header) runs.Experiment     { p.Run = h; return p }
func (p pixels) Err() error                                   { return nil }
func (p pixels) TOML() []byte                                 { return runs.EncodeTOML(p) }
func (p pixels) String() string                               { return fmt.Sprintf("pixels, η = %g", p.Rate) }
func (p pixels) Check(set *dataset.Set) error                 { return p.Run.Check(set) }
func (p pixels) LearningRate(step, stepsPerEpoch int) float64 { return p.Rate }
func (p pixels) Measures() []runs.Measure                     { return []runs.Measure{runs.LogP} }

func (p pixels) Hash() string {
	p.Run.Keep, p.Run.RecordSteps = nil, 0 // which leave training as it is
	return runs.HashOf("pixels", p)
}

func (p pixels) Begin(set *dataset.Set) (runs.Snapshot, error) {
	return (&ascent{a: make([]float64, set.Shape().Units())}).Snapshot()
}

func (p pixels) Learner(set *dataset.Set, at runs.Snapshot) (runs.Learner, error) {
	train := set.Train()
	return &ascent{train, runs.NewOrder(p.Run.Seed, train.Rows, p.Run.BatchSize), at.Tensors[0].Wide, at.Step}, nil
}

// ascent learns the logits a by gradient ascent of log p(x).
type ascent struct {
	train dataset.Split
	order *runs.Order
	a     []float64
	step  int
}

// logP is the mean of log p(x) of rows, in nats, with its gradient.
func (l *ascent) logP(split dataset.Split, rows []int) (mean float64, gradient []float64) {
	gradient = make([]float64, len(l.a))
	for _, row := range rows {
		for i, value := range split.Row(row) {
			x, on := float64(value)/255, 1/(1+math.Exp(-l.a[i]))
			mean += (x*math.Log(on) + (1-x)*math.Log(1-on)) / float64(len(rows))
			gradient[i] += (x - on) / float64(len(rows))
		}
	}
	return mean, gradient
}

// Steps takes one. What it measures is of the logits before it.
func (l *ascent) Steps(ctx context.Context, most int, rate func(int) float64) ([]runs.Measures, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	mean, gradient := l.logP(l.train, l.order.Minibatch(l.step))
	for i, g := range gradient {
		l.a[i] += rate(0) * g
	}
	l.step++
	return []runs.Measures{{runs.LogP.Key: mean}}, nil
}

func (l *ascent) Validate(ctx context.Context, split dataset.Split) (runs.Measures, error) {
	rows := make([]int, split.Rows)
	for i := range rows {
		rows[i] = i
	}
	mean, _ := l.logP(split, rows)
	return runs.Measures{runs.LogP.Key: mean}, ctx.Err()
}

func (l *ascent) Snapshot() (runs.Snapshot, error) {
	a := runs.Tensor{Name: "a", Shape: []int{len(l.a)}, Wide: slices.Clone(l.a)}
	return runs.Snapshot{Step: l.step, Header: json.RawMessage("{}"), Tensors: []runs.Tensor{a}}, nil
}

func (l *ascent) Observe(context.Context, int) (map[string]runs.Measures, error) { return nil, nil }
func (l *ascent) Norms() (runs.Norms, error)                                     { return nil, nil }
func (l *ascent) Close() error                                                   { return nil }

// A family of one's own in miniature: an experiment, a learner and a parser. Directories,
// resumption, seeds, comparisons and sweeps are then those of all families.
func Example_family() {
	set, err := dataset.Open("3by3")
	if err != nil {
		log.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "pixels")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)

	experiment := pixels{"pixels", 0.5, runs.Header{Dataset: set.Spec(), Epochs: 1, Seed: 1, BatchSize: 100}}
	if _, err := runs.Train(context.Background(), experiment, set, dir, runs.Quiet); err != nil {
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
	// Output: pixels, η = 0.5, after 3 epochs: -6.2 nats
}
