package engine

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/helmholtz-go/helmholtz/internal/numbers"
)

// Engine computes whole training steps and whole evaluations, so that it can keep its data where it
// computes.
type Engine interface {
	// Describe returns one line about the hardware that the engine runs on.
	Describe() string
	// Lacks returns the features that the engine refuses with an Unsupported error, or nil if it
	// has all features.
	Lacks() []Feature
	// Available returns how many bytes trainers and models may take in total, or 0 if unknown, and
	// names the owner of that memory, such as "this machine".
	Available() (bytes int64, owner string)
	// Memory estimates how many bytes a trainer takes at most, without its data.
	Memory(a Architecture, algorithm Algorithm) int64
	// MetricBlocks describes the inverse Fisher blocks of each layer of p and of q.
	MetricBlocks(a Architecture, algorithm Algorithm) (generative, recognition []Blocks)
	// NewTrainer takes ownership of state. The caller must not use it again until Trainer.State
	// returns it. If state records a refresh of the Fisher blocks, NewTrainer recomputes those
	// blocks. The caller must have checked the algorithm: if its Fisher blocks come from dreams or it
	// has several sleep phases, then q learns from dreams (HasSleep), and Reinforce has no entropy term.
	NewTrainer(job Job, state *State) (Trainer, error)
	// NewModel returns a model that evaluates and samples with parameters p.
	NewModel(p *Parameters, arithmetic Arithmetic) (Model, error)
}

// Checker is an Engine that limits the sizes of machines and minibatches.
type Checker interface {
	// Check returns an error if a trainer would exceed a limit of the engine other than its memory.
	Check(a Architecture, algorithm Algorithm) error
}

// Blocks describes the inverse Fisher blocks of a layer if no sample of a minibatch is negligible.
type Blocks struct {
	Bytes int64  // memory of the blocks
	Form  string // direct, Woodbury, diagonal or Kronecker; empty if the layer has no blocks
}

// Job describes a trainer's task: the algorithm, the data, the seed and the minibatches.
type Job struct {
	Algorithm Algorithm
	Data      Data
	Seed      uint64
	// Rows returns the indices of the data rows in the minibatch of a step. They depend only on the
	// step.
	Rows func(step int) []int
	// Repeats says that a minibatch may contain a row several times. Trainers then number the random draws of
	// the wake samples by positions in the minibatch, not by rows, so that each repetition has draws of its own.
	Repeats bool
}

// Singular reports that the Fisher blocks of a layer cannot be inverted at the job's damping.
type Singular struct {
	Step, Layer int
	Network     Network
	Err         error
}

func (s *Singular) Error() string {
	return fmt.Sprintf("step %d, layer %d of the %v network: %v", s.Step, s.Layer, s.Network, s.Err)
}

// Unwrap returns the error of the inversion.
func (s *Singular) Unwrap() error { return s.Err }

// DeviceError reports that a device has failed or cannot be used at the moment, for reasons that do
// not depend on the request. The same request may succeed later or on another device.
type DeviceError struct{ Err error }

func (d *DeviceError) Error() string { return d.Err.Error() }

// Unwrap returns the error of the device.
func (d *DeviceError) Unwrap() error { return d.Err }

// OfDevice tells package runs that the error does not come from a run's settings or files.
func (d *DeviceError) OfDevice() {}

// Trainer performs the steps of one job. It is not safe for concurrent use.
type Trainer interface {
	// Steps takes at least one step, and at most one per learning rate, and returns the reports of
	// these steps. It stops early with the context's error or with the error of a failed step. The
	// report of a failed step is included, as the last one, only if it is not finite.
	Steps(ctx context.Context, learningRates []float64) ([]Report, error)
	// Gradients computes the gradients that the next step would use, without taking the step. With
	// several sleep phases, it computes the gradients of the first. Only Nesterov's gradients depend
	// on the learning rate.
	Gradients(learningRate float64) (Gradients, error)
	// MetricBytes returns the size in bytes of the inverse Fisher blocks. Each step reads all of
	// them.
	MetricBytes() int64
	// Norms returns norms of the layers' weights and gradients for the last step. It must be called
	// directly after Steps, and only once. The gradients are those used in the step's first update.
	Norms() (Norms, error)
	// State returns the state after the last step. The next step may change the returned state. An
	// engine that computes on a device has to copy the state from the device first.
	State() (*State, error)
	Close() error
}

// State holds all that the next training step needs.
type State struct {
	Step       int // steps done
	Parameters *Parameters
	// Moments holds the optimiser's slots: none for gradient descent, the first and second moments
	// for Adam, the velocity for Momentum and Nesterov.
	Moments []*Parameters
	// RefreshStep is the step at which the Fisher blocks were last computed. RefreshParameters
	// holds the parameters that they were computed with (for Nesterov, a point ahead of
	// Parameters), or is nil if there are no blocks yet.
	RefreshStep       int
	RefreshParameters *Parameters
	// Chains holds the states of the Metropolis chains, one row of ChainWidth numbers per chain. It
	// is nil in a new state, and if the rule has no Chains.
	Chains []float32
	// Baseline holds the network of LearnedBaseline, as BaselineShape describes it. It is nil in a new
	// state, and with other baselines.
	Baseline []float32
}

// NewState returns the state before the first step, with a copy of the parameters.
func NewState(a Algorithm, p *Parameters) *State {
	s := &State{Parameters: p.Clone()}
	for range a.Slots() {
		s.Moments = append(s.Moments, NewParameters(p.Architecture))
	}
	return s
}

// RefreshDue reports whether a step has to recompute the Fisher blocks.
func (s *State) RefreshDue(a Algorithm, step int) bool {
	return a.Metric != Euclidean && (s.RefreshParameters == nil || step-s.RefreshStep >= a.RefreshEvery)
}

// Refresh records that the next step has computed its Fisher blocks. It allocates RefreshParameters if
// necessary; the engine then writes the parameters.
func (s *State) Refresh() {
	s.RefreshStep = s.Step
	if s.RefreshParameters == nil {
		s.RefreshParameters = NewParameters(s.Parameters.Architecture)
	}
}

// Clone returns a deep copy of s.
func (s *State) Clone() *State {
	c := &State{Step: s.Step, Parameters: s.Parameters.Clone(), RefreshStep: s.RefreshStep}
	for _, m := range s.Moments {
		c.Moments = append(c.Moments, m.Clone())
	}
	if s.RefreshParameters != nil {
		c.RefreshParameters = s.RefreshParameters.Clone()
	}
	c.Chains, c.Baseline = slices.Clone(s.Chains), slices.Clone(s.Baseline)
	return c
}

// Report summarises the minibatch of one step. The estimates are means over the minibatch, at the
// parameters where the step evaluates its gradient.
type Report struct {
	LogP  float64 // estimate of log p(x) from the step's S samples, nats
	Bound float64 // mean of log p(x,h) − log q(h|x), nats
	ESS   float64 // effective sample size as a fraction of S
	// Refresh is the time that the step took to compute Fisher blocks. It is 0 if it computed none, or if the
	// engine computed them together with the gradients.
	Refresh time.Duration
}

// Gradients holds the gradients and the samples of one step.
type Gradients struct {
	// Plain is the ascent direction in the Euclidean metric. Natural is the ascent direction in the
	// algorithm's metric.
	Plain, Natural *Parameters
	// Direction is the input of the optimiser: Natural minus the gradients of the L1 and L2
	// penalties.
	Direction *Parameters
	Wake      Draws // B·S rows; the S samples of a datum are consecutive
	Dreams    Draws // no rows if the algorithm draws no dreams
}

// Data holds rows of visible units. v is the probability that a Bernoulli unit is on, or the value of a Gaussian unit.
type Data struct {
	numbers.Values
	// Labels holds the class of each row, or NoLabel for an unlabelled row. It is nil if the
	// machine is trained without labels.
	Labels []uint8
	// First is the number of the first row in the random draws of an evaluation. Because rows keep
	// their numbers, rows evaluated in parts have the same draws as rows evaluated together.
	First int
	// Stochastic makes every step draw each Bernoulli unit from its probability again. Otherwise a
	// unit is on if its value is at least 128/255.
	Stochastic bool
	// Missing reports which values are missing, parallel to the values of all rows. It is nil if all
	// rows are complete. p sums a missing unit out: log p(x,h) is of the observed units and h. q sees
	// the number of Means in its place. Dreams hide the same units from q as the rows of the minibatch. The Fisher blocks of p
	// must come from wake samples.
	Missing []bool
	Means   []float32 // per visible unit, as the layer codes it
}

// Mask reports which units of row r are missing, or returns nil if the row is complete.
func (d Data) Mask(r int) []bool {
	if d.Missing == nil {
		return nil
	}
	mask := d.Missing[r*d.Units : (r+1)*d.Units]
	if !slices.Contains(mask, true) {
		return nil
	}
	return mask
}

// Part returns rows first to first+rows−1 of d. They keep the random draws that they have in the
// whole data. Part does not divide Labels.
func (d Data) Part(first, rows int) Data {
	if d.Missing != nil {
		d.Missing = d.Missing[first*d.Units : (first+rows)*d.Units]
	}
	d.Values, d.First = d.Values.Part(first, first+rows), d.First+first
	return d
}

// NoLabel is the label of an unlabelled row.
const NoLabel = 255

// Likelihood holds the importance-sampled estimates for one datum from K samples h ~ q(h|x), in
// nats.
type Likelihood struct {
	LogP          float64 // log (1/K) Σ p(x,h)/q(h|x)
	Bound         float64 // (1/K) Σ [log p(x,h) − log q(h|x)]
	LogPTildeStar float64 // 2 log (1/K) Σ √(p(x,h)/q(h|x))
	ESS           float64 // (Σω)²/(K Σω²), ω = p/q
	ESSStar       float64 // ESS for ω = √(p/q), the weights of p*(h|x)
	// LogPOfHalf and LogPTildeStarOfHalf are the estimates from the first K/2 samples, or NaN if K is 1.
	LogPOfHalf, LogPTildeStarOfHalf float64
}

// Model evaluates and samples a machine. Each method stops early with the context's error.
// progress, which may be nil, is called from time to time with the finished fraction of the work.
type Model interface {
	// Evaluate estimates the likelihood of each row of data from this many samples of the
	// recognition network.
	Evaluate(ctx context.Context, data Data, samples int, seed uint64, progress func(float64)) ([]Likelihood, error)
	// LogWeights returns log p(x,h) − log q(h|x) for this many samples of each row: data.Rows ×
	// samples values.
	LogWeights(ctx context.Context, data Data, samples int, seed uint64) ([]float64, error)
	// LogZ2 returns the logarithms of several estimates of Z²; outer is their number. Each estimate
	// uses one separate draw x,h ~ p and a mean over inner samples h' ~ q(h|x) (BiHM thesis 2016,
	// 3.11). The random draws of the seed number the estimates first, first+1, …
	LogZ2(ctx context.Context, first, outer, inner int, seed uint64) ([]float64, error)
	// Generate draws n ancestral samples of the generative network.
	Generate(ctx context.Context, n int, seed uint64) (Draws, error)
	// Infer draws samples of the hidden layers for each row of data. The samples of a row are
	// consecutive. Missing visible units are drawn from p(x|h¹), and LogP is of the observed ones.
	Infer(ctx context.Context, data Data, samples int, seed uint64) (Draws, error)
	// Descend first draws the same layers hˡ … hᴹ as Generate, where l is the given layer, from 1
	// to M. It then redraws the layers below: x, h¹ … hˡ⁻¹ ~ p(x,h¹ … hˡ⁻¹|hˡ).
	Descend(ctx context.Context, n, layer int, seed uint64) (Draws, error)
}

// Chains is a Model of an engine that supports Gibbs chains.
type Chains interface {
	// Gibbs returns the last states of n chains on p*(x,h). The chains start at the draws of
	// Generate. In the result, Means holds the means of the visible units only.
	Gibbs(ctx context.Context, n int, g Gibbs, seed uint64, progress func(float64)) (Draws, error)
	// Inpaint is like Gibbs, but runs this many chains for each row of data, and the known visible
	// units keep the values of the row. known has one element per visible unit. The chains of a row
	// are consecutive in the result. They start at the draws of Infer for the whole row, including
	// its unknown units.
	Inpaint(ctx context.Context, data Data, known []bool, chains int, g Gibbs, seed uint64, progress func(float64)) (Draws, error)
}

// Classifier is a Model of a machine with labels.
type Classifier interface {
	// Classify estimates log p*(y|x) = log B(x,y) − log A(x) (BiHM thesis 2016, 4.3) for each row
	// of data and each class, from samples h ~ q(h|x) that the estimates of B and A share. The
	// result has data.Rows × classes values in nats, none above 0.
	Classify(ctx context.Context, data Data, samples int, seed uint64, progress func(float64)) ([]float64, error)
}
