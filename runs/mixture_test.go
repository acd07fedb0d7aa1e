package runs_test

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/BurntSushi/toml"
	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/runs"
)

// This file is a family written with the public interface alone: mixtures of Gaussians
//
//	p(x) = Σₖ πₖ N(x; μₖ, σ²I)
//
// of the grey values of a row, with one variance. Stepwise EM fits them (Cappé and Moulines 2009):
// a minibatch's E-step gives means ŝ of the sufficient statistics, s ← (1−η)s + ηŝ with the
// learning rate η, and the M-step maximises the likelihood given s. With η = 1 and one minibatch
// per epoch this is EM itself.

// The two families improve log p and its negative, which they call loss.
const (
	byLikelihood = "mixture"
	byLoss       = "mixture-loss"
)

func init() {
	for _, family := range []string{byLikelihood, byLoss} {
		runs.Kind[mixture, parameters]{Name: family, Noun: "a mixture", Parse: parseMixture, Model: mixture.model}.Registered()
	}
}

var (
	loss    = runs.Measure{Key: "loss", Name: "loss", Label: "−log p(x)", Unit: "nats"}
	entropy = runs.Measure{Key: "entropy", Name: "entropy", Label: "H(k|x)", Unit: "nats"} // of the posterior over components
)

// mixture is the experiment in the form of its file.
type mixture struct {
	Family      string        `toml:"family"`
	Dataset     dataset.Spec  `toml:"dataset"`
	Fingerprint string        `toml:"fingerprint,omitempty"`
	Components  int           `toml:"components"`
	Rate        float64       `toml:"learning_rate"` // η, in (0, 1]
	Schedule    runs.Schedule `toml:"schedule"`
	Epochs      int           `toml:"epochs"`
	Patience    int           `toml:"patience"`
	Seed        uint64        `toml:"seed"`
	BatchSize   int           `toml:"batch_size"`
	Keep        []int         `toml:"keep,omitempty"`
	RecordSteps int           `toml:"record_steps,omitzero"`
}

func parseMixture(text []byte) (mixture, error) {
	family, err := runs.FamilyOf(text)
	if err != nil {
		return mixture{}, err
	}
	m, err := runs.DecodeExperiment(text, family, func(struct{}) (mixture, error) { return mixture{}, nil })
	return m, cmp.Or(err, m.checkFamily())
}

func (m mixture) checkFamily() error {
	if m.Family != byLikelihood && m.Family != byLoss && m.Family != onDevice {
		return fmt.Errorf("family %q: use %s or %s", m.Family, byLikelihood, byLoss)
	}
	return nil
}

// model returns the mixture of a snapshot.
func (m mixture) model(s runs.Snapshot) (parameters, error) {
	var h struct{ Units int }
	if err := json.Unmarshal(s.Header, &h); err != nil {
		return parameters{}, err
	}
	return parametersOf(s, m.Components, h.Units)
}

func (m mixture) Header() runs.Header {
	return runs.Header{
		Base: runs.Base{
			Data:   runs.Data{Dataset: m.Dataset, Fingerprint: m.Fingerprint},
			Budget: runs.Budget{Epochs: m.Epochs, Patience: m.Patience, Seed: m.Seed, Keep: m.Keep, RecordSteps: m.RecordSteps},
		},
		BatchSize: m.BatchSize,
	}
}

func (m mixture) WithHeader(h runs.Header) runs.Experiment {
	m.Dataset, m.Fingerprint, m.Epochs, m.Patience, m.Seed = h.Dataset, h.Fingerprint, h.Epochs, h.Patience, h.Seed
	m.BatchSize, m.Keep, m.RecordSteps = h.BatchSize, h.Keep, h.RecordSteps
	return m
}

func (m mixture) Err() error {
	switch {
	case m.checkFamily() != nil:
		return m.checkFamily()
	case m.Components < 1:
		return fmt.Errorf("%d components: give at least 1", m.Components)
	case !(0 < m.Rate && m.Rate <= 1):
		return fmt.Errorf("learning rate %v: give a number from 0 to 1, other than 0", m.Rate)
	}
	_, schedule := m.Schedule.MarshalText()
	_, binarization := m.Dataset.Binarization.MarshalText()
	return cmp.Or(schedule, binarization)
}

func (m mixture) TOML() []byte {
	text, err := toml.Marshal(m)
	if err != nil {
		panic(err)
	}
	return text
}

func (m mixture) Hash() string {
	m.Keep, m.RecordSteps = nil, 0
	sum := sha256.Sum256(m.TOML())
	return hex.EncodeToString(sum[:])
}

func (m mixture) String() string { return fmt.Sprintf("%d components, η = %v", m.Components, m.Rate) }

func (m mixture) Check(set *dataset.Set) error {
	if err := m.Err(); err != nil {
		return err
	}
	if err := m.Header().Check(set); err != nil {
		return err
	}
	if m.Dataset.Binarization != dataset.Gray {
		return fmt.Errorf("binarization %v: a mixture of Gaussians has a density of grey values; use grey", m.Dataset.Binarization)
	}
	if rows := set.Train().Rows; m.Components > rows {
		return fmt.Errorf("%d components of %d rows: give as many at most", m.Components, rows)
	}
	return nil
}

func (m mixture) LearningRate(step, stepsPerEpoch int) float64 {
	return m.Rate * runs.Decay{Schedule: m.Schedule}.Factor(step, stepsPerEpoch, m.Epochs)
}

func (m mixture) Measures() []runs.Measure {
	if m.Family == byLoss {
		return []runs.Measure{loss, entropy}
	}
	return []runs.Measure{runs.LogP, entropy}
}

func (mixture) Rows() []runs.Hyperparameter                        { return nil }
func (mixture) Notice(*dataset.Set) string                         { return "" }
func (mixture) Baseline(*dataset.Set, dataset.Split) runs.Baseline { return runs.Baseline{} }

// Begin sets the means to rows drawn by seed, and the variance to the variance of all rows.
func (m mixture) Begin(set *dataset.Set) (runs.Snapshot, error) {
	rows := rowsOf(set.Train())
	units := len(rows[0])
	begin := parameters{weights: make([]float64, m.Components)}
	for k, row := range rand.New(rand.NewPCG(m.Seed, 0)).Perm(len(rows))[:m.Components] {
		begin.weights[k] = 1 / float64(m.Components)
		begin.means = append(begin.means, rows[row]...)
	}
	one := parameters{weights: []float64{1}, means: make([]float64, units), variance: 1}
	s, _, _ := one.expect(rows) // statistics of a single Gaussian
	begin.variance = s.maximum().variance
	return begin.snapshot(0)
}

func (m mixture) Learner(set *dataset.Set, at runs.Snapshot) (runs.Learner, error) {
	p, err := parametersOf(at, m.Components, set.Shape().Units())
	if err != nil {
		return nil, &runs.SnapshotError{Err: err}
	}
	return &fit{
		mixture: m, rows: rowsOf(set.Train()), parameters: p, step: at.Step,
		minibatch: runs.Minibatches(m.Seed, set.Train(), m.BatchSize),
	}, nil
}

// fit is a mixture in training.
type fit struct {
	mixture    mixture
	rows       [][]float64
	minibatch  func(step int) []int
	parameters parameters
	step       int
}

// Steps takes one step, and measures with the parameters before it.
func (f *fit) Steps(ctx context.Context, most int, rate func(int) float64) ([]runs.Measures, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var rows [][]float64
	for _, row := range f.minibatch(f.step) {
		rows = append(rows, f.rows[row])
	}
	of, logP, h := f.parameters.expect(rows)
	f.parameters = f.parameters.statistics().towards(of, rate(0)).maximum()
	f.step++
	return []runs.Measures{f.measures(logP, h)}, nil
}

func (f *fit) Validate(ctx context.Context, rows dataset.Split) (runs.Measures, error) {
	all, counted := rowsOf(rows), [][]float64(nil)
	for r, share := range rows.Shares() { // the weights of tests are alike or 0
		if share > 0 {
			counted = append(counted, all[r])
		}
	}
	_, logP, h := f.parameters.expect(counted)
	return f.measures(logP, h), ctx.Err()
}

func (f *fit) measures(logP, h float64) runs.Measures {
	if f.mixture.Family == byLoss {
		return runs.Measures{loss.Key: -logP, entropy.Key: h}
	}
	return runs.Measures{runs.LogP.Key: logP, entropy.Key: h}
}

func (f *fit) Norms() (runs.Norms, error)                                     { return nil, nil }
func (f *fit) Observe(context.Context, int) (map[string]runs.Measures, error) { return nil, nil }
func (f *fit) Snapshot() (runs.Snapshot, error)                               { return f.parameters.snapshot(f.step) }
func (f *fit) Close() error                                                   { return nil }

// rowsOf returns grey values in [0, 1].
func rowsOf(split dataset.Split) [][]float64 {
	rows := make([][]float64, split.Rows)
	for i := range rows {
		for _, v := range split.Row(i) {
			rows[i] = append(rows[i], float64(v)/255)
		}
	}
	return rows
}

// parameters describe a mixture of K components in D dimensions.
type parameters struct {
	weights  []float64 // π, of length K
	means    []float64 // μ, K×D
	variance float64   // σ²
}

func (p parameters) mean(k int) []float64 {
	units := len(p.means) / len(p.weights)
	return p.means[k*units : (k+1)*units]
}

// statistics are the means over rows of the terms in which log p(x, k) is linear: [k], [k]x and
// |x|².
type statistics struct {
	weights []float64 // of length K
	sums    []float64 // K×D
	square  float64
}

// expect is the E-step: it returns the statistics of rows under the posterior p(k|x), and the means
// of log p(x) and of the posterior's entropy.
func (p parameters) expect(rows [][]float64) (s statistics, logP, h float64) {
	components, units := len(p.weights), len(rows[0])
	s = statistics{weights: make([]float64, components), sums: make([]float64, components*units)}
	posterior := make([]float64, components)
	n := float64(len(rows))
	for _, x := range rows {
		for k, weight := range p.weights {
			posterior[k] = math.Log(weight) - float64(units)/2*math.Log(2*math.Pi*p.variance) - distance(x, p.mean(k))/(2*p.variance)
		}
		evidence := logSumExp(posterior)
		logP += evidence / n
		for k, joint := range posterior {
			r := math.Exp(joint - evidence)
			if r > 0 {
				h -= r * (joint - evidence) / n
			}
			s.weights[k] += r / n
			for i, v := range x {
				s.sums[k*units+i] += r * v / n
			}
		}
		s.square += distance(x, make([]float64, units)) / n
	}
	return s, logP, h
}

// statistics returns the statistics that the mixture itself expects; maximum inverts it.
func (p parameters) statistics() statistics {
	units := len(p.means) / len(p.weights)
	s := statistics{weights: p.weights, sums: make([]float64, len(p.means)), square: float64(units) * p.variance}
	for k, weight := range p.weights {
		for i, v := range p.mean(k) {
			s.sums[k*units+i] = weight * v
			s.square += weight * v * v
		}
	}
	return s
}

// towards returns (1−η)s + ηŝ.
func (s statistics) towards(other statistics, rate float64) statistics {
	mix := func(a, b []float64) []float64 {
		mixed := make([]float64, len(a))
		for i := range a {
			mixed[i] = (1-rate)*a[i] + rate*b[i]
		}
		return mixed
	}
	return statistics{
		weights: mix(s.weights, other.weights), sums: mix(s.sums, other.sums),
		square: (1-rate)*s.square + rate*other.square,
	}
}

// maximum is the M-step: it returns the parameters of maximum likelihood.
func (s statistics) maximum() parameters {
	units := len(s.sums) / len(s.weights)
	p := parameters{weights: s.weights, means: make([]float64, len(s.sums)), variance: s.square / float64(units)}
	for k, weight := range s.weights {
		for i, sum := range s.sums[k*units : (k+1)*units] {
			p.means[k*units+i] = sum / weight
			p.variance -= sum * sum / weight / float64(units)
		}
	}
	return p
}

func distance(x, y []float64) float64 {
	d := 0.0
	for i := range x {
		d += (x[i] - y[i]) * (x[i] - y[i])
	}
	return d
}

func logSumExp(values []float64) float64 {
	largest, sum := slices.Max(values), 0.0
	for _, v := range values {
		sum += math.Exp(v - largest)
	}
	return largest + math.Log(sum)
}

// snapshot returns copies of the parameters, which is all that the next step needs.
func (p parameters) snapshot(step int) (runs.Snapshot, error) {
	components := len(p.weights)
	units := len(p.means) / components
	header, err := json.Marshal(map[string]int{"components": components, "units": units})
	return runs.Snapshot{Step: step, Header: header, Tensors: []runs.Tensor{
		{Name: "weights", Shape: []int{components}, Wide: slices.Clone(p.weights)},
		{Name: "means", Shape: []int{components, units}, Wide: slices.Clone(p.means)},
		{Name: "variance", Shape: []int{}, Wide: []float64{p.variance}},
	}}, err
}

// parametersOf reads the parameters from a snapshot.
func parametersOf(s runs.Snapshot, components, units int) (parameters, error) {
	p := parameters{make([]float64, components), make([]float64, components*units), 0}
	empty, err := p.snapshot(s.Step)
	if err == nil {
		err = runs.ReadTensors(empty.Tensors, s.Tensors)
	}
	return parameters{empty.Tensors[0].Wide, empty.Tensors[1].Wide, empty.Tensors[2].Wide[0]}, err
}
