package deterministic

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/helmholtz-go/helmholtz/runs/factorized"
)

// Experiment is a training run as a plain value: data, machine, training, budget and seed.
// NewExperiment returns the default settings, and TOML stores them.
type Experiment = runs.Fit[Settings, *Machine]

// Run is a training run as stored in its directory. Model returns the machine of the last
// checkpoint.
type Run = runs.Typed[Experiment, *Machine]

// Settings are the settings of this family's experiments.
type Settings struct {
	Machine  MachineSpec  `toml:"machine" json:"machine"`
	Training TrainingSpec `toml:"training" json:"training"`
	// LogPEvery, if not 0, is the number of epochs between measurements of log p(x) of the training
	// and validation rows. They are exact (see Machine.LogP), and LogPHistory returns them.
	// LogPEvery does not affect training, so it is not part of Hash.
	LogPEvery int `toml:"log_p_every,omitzero" json:"log_p_every,omitempty"`
}

// MachineSpec describes a machine. Its data layer follows from the data.
type MachineSpec struct {
	Activation Activation `toml:"activation" json:"activation"`
	Layers     []int      `toml:"layers" json:"layers"` // number of units of each hidden layer, bottom up
}

// TrainingSpec describes training with Adam on the mean gradient of the free energy of each
// minibatch, at a constant learning rate.
type TrainingSpec struct {
	LearningRate float64 `toml:"learning_rate" json:"learning_rate"`
	BatchSize    int     `toml:"batch_size" json:"batch_size"`
}

// Family trains deterministic machines; its methods read experiments, runs and models.
var Family = runs.NewFamily(runs.Family[Settings, *Machine]{
	Name:  "deterministic",
	Noun:  "a deterministic machine",
	Usual: Settings{Training: TrainingSpec{LearningRate: 0.01, BatchSize: 32}},
	Rows:  rows,
	Batch: func(s *Settings) *int { return &s.Training.BatchSize },
	Rate:  func(s Settings) (float64, runs.Decay) { return s.Training.LearningRate, runs.Decay{} },
	Check: check, Baseline: baseline,

	Measures: []runs.Measure{runs.FreeEnergy, runs.LogP},
	New:      machineFor,
	Write:    write, Read: read,
	Model: func(m *Machine) *Machine {
		bare := *m
		bare.adam = nil
		return &bare
	},
	Step: step, Validate: validate, Observe: observe,
})

func rows(s *Settings) []runs.Hyperparameter {
	return []runs.Hyperparameter{{
		Value: &s.Machine.Activation, Flag: "activation", Group: "machine", Legend: fmt.Sprintf("deterministic %v", s.Machine.Activation), Always: true,
		Usage: "`form` of the generative units: logistic, noisy-or or printed-product",
	}, {
		Value: &s.Machine.Layers, Flag: "layers", Group: "machine",
		Usage:  "`numbers` of units of the hidden layers, bottom up",
		Valid:  len(s.Machine.Layers) > 0 && slices.Min(s.Machine.Layers) >= 1 && slices.Max(s.Machine.Layers) <= mostUnits,
		Remedy: fmt.Sprintf("use between 1 and %d units for each hidden layer, such as [6]", mostUnits),
	}, runs.RateRow(&s.Training.LearningRate, "learning `rate` η of Adam"), runs.BatchRow(&s.Training.BatchSize), {
		Value: &s.LogPEvery, Flag: "log-p-every", Group: "training", Beside: true,
		Usage: "measure log p(x) exactly every `N` epochs, 0 for never",
		Valid: s.LogPEvery >= 0, Remedy: "use the number of epochs between measurements of log p(x), or 0 for never",
	}}
}

// NewExperiment returns an experiment that trains a machine on set. layers lists the numbers of
// units of the hidden layers, bottom up. Training takes 20 epochs in minibatches of 32 rows, with
// learning rate 0.01 and seed 1.
func NewExperiment(set *dataset.Set, activation Activation, layers ...int) Experiment {
	e := Family.Experiment(set)
	e.Settings.Machine = MachineSpec{Activation: activation, Layers: slices.Clone(layers)}
	return e
}

// OpenRun opens the run in a directory, whether or not it is finished.
func OpenRun(dir string) (*Run, error) { return Family.Open(dir) }

// check returns an error if the binarization is not fixed, or if the hidden layers are too large
// for exact measurements of log p(x).
func check(e Experiment, _ *dataset.Set) error {
	if binarization := e.Dataset.Binarization; binarization != dataset.Fixed {
		return fmt.Errorf("binarization = %v: a deterministic machine learns from fixed zeros and ones; use fixed", binarization)
	}
	if e.Settings.LogPEvery == 0 {
		return nil
	}
	if err := checkStates(e.Settings.Machine.Layers); err != nil {
		return fmt.Errorf("log_p_every = %d: %w, or omit log_p_every", e.Settings.LogPEvery, err)
	}
	return nil
}

// baseline returns −log p(x) of a factorised model, which equals the free energy of a machine whose
// hidden units carry no information about the data.
func baseline(_ Experiment, set *dataset.Set, rows dataset.Split) runs.Baseline {
	return negated(factorized.Bernoulli(set.Train(), rows))
}

func negated(b runs.Baseline) runs.Baseline {
	b.Factorized.Value, b.Limit = -b.Factorized.Value, -b.Limit
	return b
}

// header describes the machine of a snapshot, whose tensors runs/TENSORS.md lists.
type header struct {
	Activation Activation `json:"activation"`
	Units      []int      `json:"units"` // per layer, the data first
	// Shape is the shape of images. Files of earlier versions do not have it.
	Shape dataset.Shape `json:"shape,omitzero"`
}

func machineFor(e Experiment, shape dataset.Shape) (*Machine, error) {
	s := e.Settings.Machine
	m, err := New(s.Activation, e.Seed, slices.Concat([]int{max(1, shape.Height) * shape.Width}, s.Layers)...)
	if err == nil {
		m.shape, m.adam = shape, &adam{mean: m.NewGradient(), square: m.NewGradient(), gradient: m.NewGradient()}
	}
	return m, err
}

func write(m *Machine, step int) (runs.Snapshot, error) {
	h := header{Activation: m.Activation, Units: m.Units}
	if m.shape.Height > 0 {
		h.Shape = m.shape
	}
	text, err := json.Marshal(h)
	return runs.Snapshot{Step: step, Header: text, Tensors: tensors(m)}, err
}

// read returns the machine of a snapshot, or an error if the experiment has a different machine.
func read(e Experiment, snapshot runs.Snapshot) (m *Machine, shape dataset.Shape, err error) {
	var h header
	if err := json.Unmarshal(snapshot.Header, &h); err != nil {
		return nil, shape, fmt.Errorf("cannot read the description of the machine: %w", err)
	}
	if err := checkUnits(h.Units); err != nil {
		return nil, shape, err
	}
	if want := e.Settings.Machine; h.Activation != want.Activation || !slices.Equal(h.Units[1:], want.Layers) {
		return nil, shape, fmt.Errorf("the parameters belong to another machine (%v, hidden layers of %v units) than the experiment (%v, %v)",
			h.Activation, h.Units[1:], want.Activation, want.Layers)
	}
	values := 0
	for _, t := range snapshot.Tensors {
		values += t.Size()
	}
	if n := size(h.Units); n > values {
		return nil, shape, fmt.Errorf("layers of %v units have %d parameters, but the file has %d values", h.Units, n, values)
	}
	if shape = h.Shape; shape.Units() != h.Units[0] || min(shape.Height, shape.Width) < 1 {
		shape = dataset.Shape{Width: h.Units[0]}
	}
	if m, err = machineFor(e, shape); err != nil {
		return nil, shape, err
	}
	stored := tensors(m)
	if err := runs.ReadTensors(stored, snapshot.Tensors); err != nil {
		return nil, shape, err
	}
	for _, p := range m.states() {
		for _, l := range p.layers() {
			for j := range l.Units {
				row := stored[0].Wide[j*(1+l.Parents):][:1+l.Parents]
				l.Biases[j] = row[0]
				copy(l.Row(j), row[1:])
			}
			stored = stored[1:]
		}
	}
	return m, shape, nil
}

// states yields the parameters and the moments of Adam, each with the prefix of its tensors' names.
func (m *Machine) states() iter.Seq2[string, *Parameters] {
	return func(yield func(string, *Parameters) bool) {
		_ = yield("", m.Parameters) && yield("moment.0.", m.adam.mean) && yield("moment.1.", m.adam.square)
	}
}

func tensors(m *Machine) (all []runs.Tensor) {
	for prefix, p := range m.states() {
		for name, l := range p.layers() {
			values := make([]float64, 0, l.Units*(1+l.Parents))
			for j, bias := range l.Biases {
				values = append(append(values, bias), l.Row(j)...)
			}
			all = append(all, runs.Tensor{Name: prefix + name, Shape: []int{l.Units, 1 + l.Parents}, Wide: values})
		}
	}
	return all
}

// step takes one step of Adam down the mean gradient of the free energy of a minibatch.
func step(_ context.Context, _ Experiment, m *Machine, b runs.Minibatch, rate float64) (runs.Measures, error) {
	g, sum := m.adam.gradient, 0.0
	clear(g.Flat)
	for _, i := range b.Index {
		sum += m.AddGradient(g, Binary(b.Rows.Row(i)))
	}
	n := float64(len(b.Index))
	floats.Scale(1/n, g.Flat)
	m.adam.descend(m.Parameters, b.Step+1, rate)
	return runs.Measures{runs.FreeEnergy.Key: sum / n}, nil
}

func validate(ctx context.Context, _ Experiment, m *Machine, rows dataset.Split) (runs.Measures, error) {
	sum := 0.0
	for i, share := range rows.Shares() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		sum += share * m.FreeEnergy(Binary(rows.Row(i)))
	}
	return runs.Measures{runs.FreeEnergy.Key: sum / float64(rows.Rows)}, nil
}

// Binary returns the values of a row rounded to 0 and 1.
func Binary(row []uint8) []float64 {
	x := make([]float64, len(row))
	for i, v := range row {
		if v >= 128 {
			x[i] = 1
		}
	}
	return x
}

// These are the names under which runs record the exact log p(x) of their rows.
const (
	exactTrain      = "exact_train"
	exactValidation = "exact_validation"
)

// observe measures the mean log p(x), in nats, of the training and of the validation rows after the
// epochs that LogPEvery selects.
func observe(ctx context.Context, e Experiment, m *Machine, set *dataset.Set, epoch int) (map[string]runs.Measures, error) {
	if every := e.Settings.LogPEvery; every == 0 || epoch%every != 0 {
		return nil, nil
	}
	measured := map[string]runs.Measures{}
	for name, rows := range map[string]dataset.Split{exactTrain: set.Train(), exactValidation: set.Validation()} {
		if rows.Rows == 0 {
			continue
		}
		data := make([][]float64, rows.Rows)
		for i := range data {
			data[i] = Binary(rows.Row(i))
		}
		logP, err := m.LogP(ctx, data)
		if err != nil {
			return nil, err
		}
		floats.Mul(logP, rows.Shares())
		measured[name] = runs.Measures{runs.LogP.Key: floats.Sum(logP) / float64(rows.Rows)}
	}
	return measured, nil
}

// LogPHistory returns the exact log p(x), in nats, recorded in the history of a run whose
// experiment measures it. The result has only the epochs with a measurement, and log p(x) in place
// of the free energy.
func LogPHistory(h runs.History) runs.History {
	exact := runs.History{Name: h.Name, Measures: []runs.Measure{runs.LogP}}
	if b := h.Baseline; b != nil {
		exact.Baseline = new(negated(*b))
	}
	for _, e := range h.Epochs {
		if train, ok := e.Measured[exactTrain]; ok {
			e.Train, e.Validation, e.Measured = train, e.Measured[exactValidation], nil
			exact.Epochs = append(exact.Epochs, e)
		}
	}
	return exact
}

// adam implements Adam with its published settings: running means of the gradient and of its
// square, corrected for their start at zero.
type adam struct {
	mean, square, gradient *Parameters
}

// descend takes a step along the negative gradient. Steps count from 1.
func (a *adam) descend(parameters *Parameters, step int, rate float64) {
	const meanDecay, squareDecay, floor = 0.9, 0.999, 1e-8
	meanScale := 1 / (1 - math.Pow(meanDecay, float64(step)))
	squareScale := 1 / (1 - math.Pow(squareDecay, float64(step)))
	mean, square := a.mean.Flat, a.square.Flat
	for i, g := range a.gradient.Flat {
		mean[i] += (1 - meanDecay) * (g - mean[i])
		square[i] += (1 - squareDecay) * (g*g - square[i])
		parameters.Flat[i] -= rate * mean[i] * meanScale / (math.Sqrt(square[i]*squareScale) + floor)
	}
}
