package boltzmann

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/memory"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/runs"
)

// Experiment is a training run as a plain value: data, machine, method, budget and
// seed. The fluent API builds it, TOML stores it, the command line trains it.
type Experiment struct {
	runs.Data
	Machine MachineSpec `toml:"machine" json:"machine"`
	Method  MethodSpec  `toml:"method" json:"method"`
	// Below names the run whose machine is directly below this machine, or is nil. With a machine below, this
	// machine trains on the hidden units of the machine below, drawn given the rows.
	Below *runs.Source `toml:"below,omitempty" json:"below,omitempty"`
	// Pretrained names the machines from which a deep machine begins, or is nil if it begins from random
	// weights.
	Pretrained *Pretrained `toml:"pretrained,omitempty" json:"pretrained,omitempty"`
	// Start names the run whose parameters training starts from. It is nil if training starts from random
	// parameters or from pretrained layers.
	Start *runs.Source `toml:"start,omitempty" json:"start,omitempty"`
	// Imported describes the file, written by another program, that the parameters come from. It is nil for
	// machines that were not imported. Start replaces it.
	Imported *Imported `toml:"imported,omitempty" json:"imported,omitempty"`
	runs.Budget
	// Misfit describes why the machine does not fit the data set given to Method.Experiment, or is empty. Check
	// refuses a misfit.
	Misfit string `toml:"-" json:"misfit,omitempty"`
}

// Experiment returns the experiment that trains machine by the method on set.
func (m Method) Experiment(machine Machine, set *dataset.Set) Experiment {
	e := Experiment{Machine: machine.Spec(), Method: m.spec, Budget: m.budget}
	e.Data, e.Misfit = runs.DataOf(set, machine.shape)
	e.Keep = slices.Clone(e.Keep)
	if m.below != nil {
		e.Below = new(*m.below)
	}
	if m.start != nil {
		e.Start = new(*m.start)
	}
	return e
}

// NewExperiment returns an experiment with the usual settings of an algorithm and of a machine, as CD, PCD, PT, PTT,
// PL and New set them. It names no data set.
func NewExperiment(a Algorithm) Experiment {
	m := usual(a)
	return Experiment{Machine: New(dataset.Shape{}).spec, Method: m.spec, Budget: m.budget}
}

// Header returns the data, the budget and the size of minibatches.
func (e Experiment) Header() runs.Header {
	return runs.Header{Base: runs.Base{Data: e.Data, Budget: e.Budget}, BatchSize: e.Method.BatchSize}
}

// WithHeader returns the experiment with the data, the budget and the size of minibatches of h.
func (e Experiment) WithHeader(h runs.Header) runs.Experiment {
	e.Data, e.Budget, e.Method.BatchSize = h.Data, h.Budget, h.BatchSize
	return e
}

// LearningRate returns the rate at a step, counted from 0, given the number of steps per epoch.
func (e Experiment) LearningRate(step, stepsPerEpoch int) float64 {
	return e.Method.LearningRate * e.Method.Factor(step, stepsPerEpoch, e.Epochs)
}

// String names the kind of machine, its numbers of hidden units, the method and the method's settings.
func (e Experiment) String() string {
	kind := ""
	switch {
	case e.Machine.HiddenUnits != Bernoulli:
		kind = fmt.Sprintf("%v–%v ", e.Machine.Visible, e.Machine.HiddenUnits)
	case e.Machine.Visible != Bernoulli:
		kind = fmt.Sprintf("%v ", e.Machine.Visible)
	}
	name := "RBM"
	if len(e.Machine.Above) > 0 {
		name = "DBM"
	}
	if e.Below != nil {
		name = "DBN, top"
	}
	switch {
	case e.Machine.Doubled != DoubledNeither:
		name = fmt.Sprintf("layer of a DBM, %v units doubled,", e.Machine.Doubled)
	case e.Pretrained != nil:
		kind = "pretrained "
	case e.IsImported():
		kind = "imported "
	case e.Machine.labelled():
		name = "labelled " + name
	}
	return fmt.Sprintf("%s%s %s, %v", kind, name, names.Layers(e.Machine.layers(0)[1:]), e.Method)
}

// IsImported reports whether training begins with the parameters of another program.
func (e Experiment) IsImported() bool { return e.Imported != nil && e.Start == nil }

// Err checks the experiment without its data: it returns the Misfit, or an error for a setting whose value has
// no name.
func (e Experiment) Err() error {
	if e.Misfit != "" {
		return errors.New(e.Misfit)
	}
	return runs.Nameless(e)
}

// Check refuses an experiment that cannot be trained on set. The error names the setting, its value and the
// remedy. It does not read the runs that the experiment refers to; Resolve does.
func (e Experiment) Check(set *dataset.Set) error {
	return runs.First(
		e.Err,
		func() error { return e.checkUnits(set.Shape()) },
		e.Method.check,
		e.checkBinarization,
		e.checkLayers,
		e.checkBelow,
		e.checkPretrained,
		e.checkStart,
		e.checkImported,
		func() error { return e.Machine.Visible.checkMethod(e.Method, "visible") },
		e.checkHidden,
		e.checkLadder,
		func() error { return e.checkLabels(set) },
		func() error { return e.Header().CheckObserved(set) },
		func() error { return e.checkGaps(set) },
		func() error { return e.checkRows(set) },
		func() error { return e.checkMemory(set.Shape()) },
	)
}

// checkUnits refuses a machine, and a number of units to flip, that do not fit rows of a shape. If the machine stands
// on a run, Begin checks them, because the machine's rows are the units of this run.
func (e Experiment) checkUnits(shape dataset.Shape) error {
	if e.Below != nil {
		return nil
	}
	return runs.First(func() error { return e.Machine.check(shape) }, func() error { return e.checkFlips(shape.Units()) })
}

// checkFlips refuses to flip more units than a row has. The usual number is always allowed.
func (e Experiment) checkFlips(units int) error {
	most := max(units, usual(PseudoLikelihood).spec.Steps)
	if e.Method.flips() && e.Method.Steps > most {
		return fmt.Errorf("steps = %d of %v, for rows of %d units: flipping a unit twice adds no information; use at most %d", e.Method.Steps, e.Method.Algorithm, units, most)
	}
	return nil
}

// checkLayers refuses settings that do not fit the number of hidden layers.
func (e Experiment) checkLayers() error {
	deep, s := len(e.Machine.Above) > 0, e.Method
	switch {
	case s.MeanField != 0 && !deep:
		return fmt.Errorf("mean_field = %d of a machine with one hidden layer, whose means are exact: leave it out, or use more layers", s.MeanField)
	case s.Algorithm == MultiPrediction && !deep:
		return errors.New("algorithm = mp of one hidden layer: mp trains machines with several; use pl")
	case deep && s.flips():
		return fmt.Errorf("algorithm = %v of several hidden layers: pl and rm train machines with one; use pcd or mp", s.Algorithm)
	case deep && s.Metric != Euclidean:
		return fmt.Errorf("metric = %v of several hidden layers: natural gradients need machines with one; leave it out", s.Metric)
	case len(e.Machine.Beside) > 0 && s.Metric != Euclidean:
		return fmt.Errorf("metric = %v of a machine with a second pathway (beside): natural gradients need all weights of a layer; leave one out", s.Metric)
	case deep && (s.Sparsity != 0 || s.MaxNorm != 0):
		return fmt.Errorf("sparsity = %v and max_norm = %v of several hidden layers: they need machines with one; leave them out", s.Sparsity, s.MaxNorm)
	}
	return nil
}

// checkHidden refuses settings that do not fit the kind of hidden units.
func (e Experiment) checkHidden() error {
	s, hidden := e.Method, e.Machine.HiddenUnits
	switch {
	case hidden == Bernoulli:
		return nil
	case e.Below != nil:
		return fmt.Errorf("%v hidden units of a machine that stands on a run: use Bernoulli units", hidden)
	case s.Sparsity != 0:
		return fmt.Errorf("sparsity = %v with %v hidden units: a target is the probability that Bernoulli units are on; leave it out", s.Sparsity, hidden)
	}
	return hidden.checkMethod(s, "hidden")
}

// checkRows refuses rows that are not states of categorical units.
func (e Experiment) checkRows(set *dataset.Set) error {
	if e.Machine.Categories == 0 {
		return nil
	}
	units, states := e.Machine.Visible.aspects().units(e.Machine.Categories), make([]float32, set.Shape().Units())
	for _, rows := range []dataset.Split{set.Train(), set.Validation(), set.Test()} {
		for r := range rows.Rows {
			encoding{binarization: dataset.Fixed}.load(states, rows, r, place{}, r)
			if err := units.check(states); err != nil {
				return fmt.Errorf("row %d of %s has %w; use another number of categories than %d, or make the visible units bernoulli", r+1, rows.Name, err, e.Machine.Categories)
			}
		}
	}
	return nil
}

func (e Experiment) checkMemory(shape dataset.Shape) error {
	layers := e.Machine.layers(shape.Units())
	even, odd := sides(layers)
	visible, hidden := float64(even+e.Machine.Classes), float64(odd)
	rows := float64(e.Method.BatchSize) + 2*float64(e.Method.replicas(e.Method.BatchSize))
	bytes := 4 * ((4+float64(e.Method.Optimizer.slots()))*visible*hidden + rows*(visible+hidden))
	if e.Method.Metric != Euclidean {
		m := float64(e.Method.Chains)
		bytes += 4*m*(visible+hidden+2*(float64(e.Method.BatchSize)+m)) + 2*8*m*m
	}
	bytes += 4 * float64(e.Method.BatchSize*e.Machine.Classes) * hidden
	bytes += 4 * float64(e.Method.Rungs) * (2*visible*hidden + float64(e.Method.Chains)*visible)
	things := fmt.Sprintf("%v hidden units with %d chains and minibatches of %d rows", names.Layers(layers[1:]), e.Method.replicas(e.Method.BatchSize), e.Method.BatchSize)
	return memory.Check(things, bytes, "use fewer")
}

// Baseline returns the objective of a factorised model on rows, in nats. The model is fitted to the training rows. The
// objective is the pseudo-likelihood, which for a factorised model equals log p(x), or the score for Gaussian units.
// For machines with labels the baseline is instead the mean of log p(y) over labelled rows, where p(y) is the
// frequency of the class. Four kinds of machines have no baseline: machines on top of another machine, since their
// rows are drawn; machines with a doubled side; machines with labels, if the rows have no labels; and machines of
// Gaussian units that start from another run, since that run has set the scale of the score.
func (e Experiment) Baseline(set *dataset.Set, rows dataset.Split) runs.Baseline {
	if e.Below != nil || e.Machine.Doubled != DoubledNeither || e.Start != nil && e.Machine.Visible == Gaussian {
		return runs.Baseline{}
	}
	if e.Machine.labelled() {
		return labelBaseline(set.Train(), rows, e.Machine.Classes)
	}
	return e.Machine.baseline(set.Train(), rows)
}

// family names this family of models in experiment files.
const family = "boltzmann"

// Hash identifies an experiment: two experiments with the same hash train identically. It panics if a number
// is not finite or a setting has no name; Check refuses both, and a file cannot have them.
func (e Experiment) Hash() string {
	e.Keep, e.RecordSteps = nil, 0
	return runs.HashOf(family, e)
}

// ParseExperiment reads an experiment from TOML. Missing settings get the values of NewExperiment; unknown
// settings are refused.
func ParseExperiment(text []byte) (Experiment, error) {
	var algorithm *Algorithm
	e, err := runs.DecodeExperiment(text, family, func(named struct {
		Method struct{ Algorithm *Algorithm }
	}) (Experiment, error) {
		algorithm = named.Method.Algorithm
		return NewExperiment(*cmp.Or(algorithm, new(Algorithm))), nil
	})
	if err == nil && algorithm == nil {
		err = fmt.Errorf("no algorithm: give %v in [method]", algorithmNames)
	}
	return e, err
}

// TOML returns the experiment as ParseExperiment reads it. It panics if a setting has no name, which Check
// refuses.
func (e Experiment) TOML() []byte { return runs.EncodeExperiment(family, e) }
