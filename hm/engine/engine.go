package engine

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// Engine computes whole training steps and whole evaluations, so that it can
// keep its data where it computes.
type Engine interface {
	// Describe says in a line what the engine runs on.
	Describe() string
	// Lacks are the features that the engine refuses with an Unsupported error;
	// nil where it has them all.
	Lacks() []Feature
	// Available is how many bytes trainers and models may take in all, 0 where
	// that is not known, and of what: "this machine".
	Available() (bytes int64, of string)
	// Memory is about how many bytes a trainer takes at most, its data aside.
	Memory(a Architecture, algorithm Algorithm) int64
	// MetricMemory is the most that the inverse Fisher blocks of each layer of p
	// and of q take, in bytes.
	MetricMemory(a Architecture, algorithm Algorithm) (generative, recognition []int64)
	// NewTrainer takes over state, which must not be used until the trainer
	// gives it back. It computes the Fisher blocks of the last refresh anew if
	// state says that there was one.
	NewTrainer(job Job, state *State) (Trainer, error)
	// NewModel returns a model that evaluates and samples with parameters p.
	NewModel(p *Parameters, arithmetic Arithmetic) (Model, error)
}

// Job is what a trainer trains on, and how.
type Job struct {
	Algorithm Algorithm
	Data      Data
	Seed      uint64
	// Rows returns the rows of the minibatch of a step: a function of the
	// step alone.
	Rows func(step int) []int
}

// Singular is the error of a step whose Fisher blocks cannot be inverted at the damping of the job.
type Singular struct {
	Step, Layer int
	Network     Network
	Err         error
}

func (s *Singular) Error() string {
	return fmt.Sprintf("step %d, layer %d of the %v network: %v", s.Step, s.Layer, s.Network, s.Err)
}

// Unwrap returns what the inversion failed with.
func (s *Singular) Unwrap() error { return s.Err }

// DeviceError is the error of a device that cannot be used now or has failed, whatever was asked
// of it: the same may succeed later, or on another one.
type DeviceError struct{ Err error }

func (d *DeviceError) Error() string { return d.Err.Error() }

// Unwrap returns what the device failed with.
func (d *DeviceError) Unwrap() error { return d.Err }

// OfDevice tells package runs that the error is not of a run's settings or files.
func (d *DeviceError) OfDevice() {}

// Trainer performs the steps of one job. It is not safe for concurrent use.
type Trainer interface {
	// Steps performs some of the next steps, at least one and at most one for each learning rate,
	// and returns their reports. It stops early with the context's error, or with the error of a
	// step that fails, whose report comes last if it is not finite.
	Steps(ctx context.Context, learningRates []float64) ([]Report, error)
	// Gradients computes what the next step with a learning rate would use,
	// without taking it: the first of its sleep phases, where there are several.
	// Only Nesterov's gradient depends on the rate.
	Gradients(learningRate float64) (Gradients, error)
	// MetricBytes is how many bytes hold what the metric now multiplies
	// gradients by: what it reads in a step.
	MetricBytes() int64
	// Norms returns norms of the layers after a step that was the last call: those
	// of the gradients are of its first update, where it has several.
	Norms() (Norms, error)
	// State returns the state after the last step, which the next step may
	// change. An engine that computes elsewhere has to fetch it.
	State() (*State, error)
	Close() error
}

// State is all that the next step of training needs.
type State struct {
	Step       int // steps done
	Parameters *Parameters
	// Moments holds the optimiser's slots: none for gradient descent, the
	// first and second moments for Adam, the velocity for Momentum and
	// Nesterov.
	Moments []*Parameters
	// RefreshStep is the step at which the Fisher blocks were last computed
	// and RefreshParameters those with which they were, for Nesterov the ones
	// ahead of Parameters; nil where there are no blocks yet.
	RefreshStep       int
	RefreshParameters *Parameters
	// Chains holds the states of the chains of a rule with Chains, a row each of ChainWidth
	// numbers; nil before the first step and without such a rule.
	Chains []float32
}

// NewState is the state before the first step, with a copy of the parameters.
func NewState(a Algorithm, p *Parameters) *State {
	s := &State{Parameters: p.Clone()}
	for range a.Slots() {
		s.Moments = append(s.Moments, NewParameters(p.Architecture))
	}
	return s
}

// RefreshDue says whether the Fisher blocks are to be computed anew in a step.
func (s *State) RefreshDue(a Algorithm, step int) bool {
	return a.Metric != Euclidean && (s.RefreshParameters == nil || step-s.RefreshStep >= a.RefreshEvery)
}

// Refresh notes that they are in the next step, whose parameters it leaves to the engine
// to write.
func (s *State) Refresh() {
	s.RefreshStep = s.Step
	if s.RefreshParameters == nil {
		s.RefreshParameters = NewParameters(s.Parameters.Architecture)
	}
}

// Clone returns a copy that shares nothing with s.
func (s *State) Clone() *State {
	c := &State{Step: s.Step, Parameters: s.Parameters.Clone(), RefreshStep: s.RefreshStep}
	for _, m := range s.Moments {
		c.Moments = append(c.Moments, m.Clone())
	}
	if s.RefreshParameters != nil {
		c.RefreshParameters = s.RefreshParameters.Clone()
	}
	c.Chains = slices.Clone(s.Chains)
	return c
}

// Report is what one step says of its minibatch: means over its data, with the
// parameters at which the step evaluates its gradient.
type Report struct {
	LogP  float64 // estimate of log p(x) from the step's S samples, nats
	Bound float64 // mean of log p(x,h) − log q(h|x), nats
	ESS   float64 // effective sample size as a fraction of S
	// Refresh is the time that the step took to compute Fisher blocks anew, 0
	// where it had no need to.
	Refresh time.Duration
}

// Gradients are the parts of one step.
type Gradients struct {
	// Plain is the ascent direction in the Euclidean metric; Natural is the
	// same after the algorithm's metric.
	Plain, Natural *Parameters
	// Direction is what the optimiser is given: Natural less the gradients of
	// the norms that are held down.
	Direction *Parameters
	Wake      Draws // B·S rows, the S samples of a datum together
	Dreams    Draws // no rows where the algorithm draws no dreams
}

// Data are rows of visible units.
type Data struct {
	Rows, Units int
	// Values holds Rows × Units bytes v. v/255 is the probability that a Bernoulli
	// unit is on, and the value of a Gaussian one.
	Values []uint8
	// Reals holds Rows × Units values of Gaussian units, if they are real numbers; Values is then nil.
	Reals []float32
	// Labels holds the class of each row, NoLabel for a row without; nil where
	// the machine is trained without labels.
	Labels []uint8
	// First is the number of the first row in the random draws of an
	// evaluation, so that rows evaluated in parts have the draws that they
	// have together.
	First int
	// Stochastic says that each Bernoulli unit is drawn anew in each step from
	// its probability. If not, it is on from 128.
	Stochastic bool
}

// Part returns a number of rows, from one on, with the draws that they have among all.
func (d Data) Part(first, rows int) Data {
	from, to := first*d.Units, (first+rows)*d.Units
	if d.Reals != nil {
		d.Reals = d.Reals[from:to]
	} else {
		d.Values = d.Values[from:to]
	}
	d.First, d.Rows = first, rows
	return d
}

// At returns the value of an index into Values or Reals: v/255 of a byte v.
func (d Data) At(i int) float64 {
	if d.Reals != nil {
		return float64(d.Reals[i])
	}
	return float64(d.Values[i]) / 255
}

// NoLabel is the label of a row that has none.
const NoLabel = 255

// Likelihood holds the importance-sampled estimates for one datum from K
// samples h ~ q(h|x), in nats.
type Likelihood struct {
	LogP          float64 // log (1/K) Σ p(x,h)/q(h|x)
	Bound         float64 // (1/K) Σ [log p(x,h) − log q(h|x)]
	LogPTildeStar float64 // 2 log (1/K) Σ √(p(x,h)/q(h|x))
	ESS           float64 // (Σω)²/(K Σω²), ω = p/q
	ESSStar       float64 // the same for ω = √(p/q), the proposal of p*(h|x)
}

// Model evaluates and samples a machine. Each method stops early with the
// context's error. progress, which may be nil, is called now and then with the
// fraction of the work that is done.
type Model interface {
	// Evaluate estimates the likelihood of each row of data with samples
	// draws from the recognition network.
	Evaluate(ctx context.Context, data Data, samples int, seed uint64, progress func(float64)) ([]Likelihood, error)
	// LogWeights returns log p(x,h) − log q(h|x) for samples draws of each
	// row: data.Rows × samples values.
	LogWeights(ctx context.Context, data Data, samples int, seed uint64) ([]float64, error)
	// LogZ2 returns the logarithms of outer estimates of Z², each from its own
	// x,h ~ p and the mean over inner samples h' ~ q(h|x) (BiHM thesis 2016, 3.11). The
	// outer samples are numbers first, first+1, … of the seed.
	LogZ2(ctx context.Context, first, outer, inner int, seed uint64) ([]float64, error)
	// Generate draws n ancestral samples of the generative network.
	Generate(ctx context.Context, n int, seed uint64) (Draws, error)
	// Infer draws samples of the hidden layers for each row of data, the
	// samples of a row together.
	Infer(ctx context.Context, data Data, samples int, seed uint64) (Draws, error)
	// Descend is Generate with the layers below the given one, from 1 to M,
	// drawn anew: x, h¹ … hˡ⁻¹ ~ p(x,h¹ … hˡ⁻¹|hˡ) with the hˡ … hᴹ that Generate
	// draws.
	Descend(ctx context.Context, n, layer int, seed uint64) (Draws, error)
}

// Chains is a Model of an engine that has Gibbs chains.
type Chains interface {
	// Gibbs returns the last states of n chains on p*(x,h), which start at the
	// draws of Generate. Means are those of the visible units alone.
	Gibbs(ctx context.Context, n int, g Gibbs, seed uint64, progress func(float64)) (Draws, error)
	// Inpaint is Gibbs with chains for each row of data, the chains of a row
	// together, in which the visible units that are known, one value each,
	// keep the values of the row. The chains of a row start at the draws of
	// Infer for the row as it is.
	Inpaint(ctx context.Context, data Data, known []bool, chains int, g Gibbs, seed uint64, progress func(float64)) (Draws, error)
}

// Classifier is a Model of a machine with labels.
type Classifier interface {
	// Classify estimates log p*(y|x) = log B(x,y) − log A(x) (BiHM thesis 2016, 4.3) of each
	// row of data and class, from samples h ~ q(h|x) that B and A share:
	// data.Rows × classes values in nats, none above 0.
	Classify(ctx context.Context, data Data, samples int, seed uint64, progress func(float64)) ([]float64, error)
}
