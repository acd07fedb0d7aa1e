// Package sequences has models of sequences of vectors v₁ … v_T, such as the notes that sound at each step of
// a piece of music:
//
//	p(v₁ … v_T) = ∏ₜ p(vₜ|v₁ … vₜ₋₁)
//
// The vectors are binary, or real in a temporal sigmoid belief network with Gaussian units. In the RNN-RBM,
// each step has a restricted Boltzmann machine whose biases depend on the past (Boulanger-Lewandowski, Bengio
// and Vincent 2012); the RTRBM ties its weights (Sutskever, Hinton and Taylor 2009). In a temporal sigmoid
// belief network, hidden units depend on the hidden units one step earlier (Gan, Li, Henao, Carlson and Carin
// 2015); reweighted wake-sleep trains it with the plain or the natural gradient. A binary network without
// hidden units is a logistic regression on the previous steps.
//
// Log-likelihoods are in nats per step: the sum over all sequences, divided by their total number of steps.
// The first step of each sequence counts.
package sequences

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/lists"
	"github.com/helmholtz-go/helmholtz/internal/memory"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/internal/philox"
	"github.com/helmholtz-go/helmholtz/internal/statistics"
	"github.com/helmholtz-go/helmholtz/internal/work"
	"github.com/helmholtz-go/helmholtz/runs"
)

// Measures of sequences.
var (
	// LogP is log p per step.
	LogP = runs.Measure{Key: "log_p", Name: "log p per step", Label: "log p per step", Unit: "nats", Rises: true}
	// MonteCarlo is the part of the standard error of LogP that simulation causes, or NaN if few samples are effective.
	MonteCarlo = runs.Measure{Key: "simulation", Name: "error of simulation", Label: "standard error of log p per step by simulation", Unit: "nats"}
	// ESS is the effective sample size of particles or chains, as a share of their number, averaged over steps.
	ESS = runs.Measure{Key: "ess", Name: "effective sample size", Label: "effective sample size", Rises: true, Fraction: true}
)

// A Model estimates log p of sequences.
type Model interface {
	// LogP estimates log p of each sequence of rows, with the given number of samples per sequence or step, drawn
	// from the seed. progress, which may be nil, is called with the fraction of the work done. LogP refuses rows that
	// are not sequences of the model's units; the sequences may be longer than the training sequences.
	LogP(ctx context.Context, rows dataset.Split, samples int, seed uint64, progress func(float64)) (Evaluation, error)
}

// Evaluation holds estimates of the log p of sequences.
type Evaluation struct {
	LogP     []float64 `json:"log_p"`    // of each sequence, in nats
	Variance []float64 `json:"variance"` // of each estimate, by simulation; it tells nothing if it is near 1
	ESS      float64   `json:"ess"`      // mean over steps of the effective sample size, as a share of the samples
	// SampleSize describes the chains or the particles behind the mean of log p per step.
	SampleSize runs.SampleSize `json:"sample_size,omitzero"`
}

func newEvaluation(rows dataset.Split) Evaluation {
	return Evaluation{LogP: make([]float64, rows.Rows), Variance: make([]float64, rows.Rows)}
}

// Estimates returns the estimates of LogP, MonteCarlo and ESS, given the evaluated rows.
func (e Evaluation) Estimates(rows dataset.Split) runs.Estimates {
	variances := rows.Shares()
	floats.Mul(variances, variances)
	floats.Mul(variances, e.Variance)
	none, perStep, simulation := math.NaN(), perStepOver(rows, e.LogP), math.Sqrt(floats.Sum(variances))/stepsOf(rows)
	if perStep.SampleSize = e.SampleSize; e.SampleSize.Few() {
		simulation = none
	}
	return runs.Estimates{
		LogP.Key:       perStep,
		MonteCarlo.Key: {Value: simulation, SE: none},
		ESS.Key:        {Value: e.ESS, SE: none},
	}
}

// logPOfRows implements LogPOfRows by the model's LogP, with 1,000 samples if o.Samples is 0. how describes an estimate
// by samples, which %s stands for.
func logPOfRows(ctx context.Context, m interface {
	Model
	runs.SampleCounter
}, o runs.EvaluationOptions, exact bool, how string) ([]float64, string, error) {
	samples := cmp.Or(o.Samples, 1000)
	e, err := m.LogP(ctx, o.Rows, samples, o.Seed, o.ProgressOf("evaluating"))
	if exact {
		return e.LogP, "exact", err
	}
	return e.LogP, fmt.Sprintf(how, m.CountSamples(samples)) + names.Clause(e.SampleSize.Detail()), err
}

// checkRows returns an error if a model with the given number of units per step, Gaussian or binary, cannot evaluate
// rows.
func checkRows(width int, gaussian bool, rows dataset.Split) error {
	switch err := runs.CheckRows(rows.Shape.Units(), !gaussian, rows); {
	case err != nil:
		return err
	case rows.Lengths == nil:
		return fmt.Errorf("the %s rows are not sequences: use rows of a set of sequences, such as voices", rows.Name)
	case rows.Shape.Width != width:
		return fmt.Errorf("the model has %d units per step, but the %s rows have %d: use rows of the data that it was trained on", width, rows.Name, rows.Shape.Width)
	}
	return nil
}

// mustFit panics if checkRows refuses rows for a model of the training rows, or if they have grey values. It accepts
// splits without rows.
func mustFit(gaussian bool, train, rows dataset.Split) {
	for _, split := range []dataset.Split{train, rows} {
		err := checkRows(train.Shape.Width, gaussian, split)
		if err == nil {
			err = checkValues(split)
		}
		if split.Rows > 0 && err != nil {
			panic("sequences: " + err.Error())
		}
	}
}

// frames holds the steps of several sequences, in the order of time: the first steps of all sequences, then
// their second steps. Longer sequences come first, so the sequences that have not ended at a step are a prefix.
type frames struct {
	v     kernels.Matrix // N×D
	start []int          // index of the first frame of each step, and N
	rows  []int          // the row of each sequence in its split
}

func gather(split dataset.Split, index []int) frames {
	f := frames{rows: slices.Clone(index)}
	slices.SortStableFunc(f.rows, func(a, b int) int { return cmp.Compare(split.Lengths[b], split.Lengths[a]) })
	width, steps := split.Shape.Width, split.Lengths[f.rows[0]]
	f.start = make([]int, steps+1)
	for t := range steps {
		n := 0
		for n < len(f.rows) && split.Lengths[f.rows[n]] > t {
			n++
		}
		f.start[t+1] = f.start[t] + n
	}
	f.v = kernels.NewMatrix(f.start[steps], width)
	x := make([]float32, split.Shape.Units())
	for i, row := range f.rows {
		split.Read(x, row)
		for t := range split.Lengths[row] {
			copy(kernels.Row(f.v, f.start[t]+i), x[t*width:(t+1)*width])
		}
	}
	return f
}

// sequencesAtOnce is the number of sequences that are evaluated together.
const sequencesAtOnce = 10

// blocks calls each with the frames of some sequences at a time, and the index of the first of them. progress, which
// may be nil, is called with the fraction of the sequences done.
func blocks(rows dataset.Split, progress func(float64), each func(f frames, first int) error) error {
	done := work.Meter(progress, rows.Rows)
	for first := 0; first < rows.Rows; first += sequencesAtOnce {
		var index []int
		for i := first; i < min(first+sequencesAtOnce, rows.Rows); i++ {
			index = append(index, i)
		}
		if err := each(gather(rows, index), first); err != nil {
			return err
		}
		done(len(index))
	}
	return nil
}

// steps returns the number of steps of the longest sequence.
func (f frames) steps() int { return len(f.start) - 1 }

// active returns the number of sequences that have a step t.
func (f frames) active(t int) int { return f.start[t+1] - f.start[t] }

// at returns the rows of step t of a matrix that has perFrame rows per frame.
func (f frames) at(m kernels.Matrix, t, perFrame int) kernels.Matrix {
	return f.of(m, t, perFrame, 0, f.active(t))
}

// of returns the rows of step t that belong to the sequences from first to last−1.
func (f frames) of(m kernels.Matrix, t, perFrame, first, last int) kernels.Matrix {
	start, end := min(first, f.active(t)), min(last, f.active(t))
	return kernels.Rows(m, (f.start[t]+start)*perFrame, (f.start[t]+end)*perFrame)
}

// parameter is a matrix of parameters, or a vector as a matrix of one row.
type parameter struct {
	name string
	*kernels.Matrix
}

// parameters are the matrices of a model in one slice.
type parameters struct {
	flat []float32
	all  []parameter
}

// add gives a matrix its size. It gets its memory from over.
func (p *parameters) add(name string, m *kernels.Matrix, rows, cols int) {
	*m = kernels.Matrix{Rows: rows, Cols: cols, Stride: max(cols, 1)}
	p.all = append(p.all, parameter{name, m})
}

// over points the matrices into a slice, or into new memory if it is nil.
func (p *parameters) over(flat []float32) {
	if flat == nil {
		n := 0
		for _, m := range p.all {
			n += m.Rows * m.Cols
		}
		flat = make([]float32, n)
	}
	p.flat = flat
	for _, m := range p.all {
		n := m.Rows * m.Cols
		m.Data, flat = flat[:n:n], flat[n:]
	}
}

func (p *parameters) tensors() (all []runs.Tensor) {
	for _, m := range p.all {
		if len(m.Data) > 0 {
			all = append(all, runs.Tensor{Name: m.name, Shape: []int{m.Rows, m.Cols}, Data: m.Data})
		}
	}
	return all
}

func normal(parameters []float32, deviation float64, seed uint64, index uint32) {
	random := rand.New(philox.NewStream(seed, philox.Initialize, index))
	for i := range parameters {
		parameters[i] = float32(deviation * random.NormFloat64())
	}
}

// add adds b to a.
func add(a, b kernels.Matrix) {
	for i := range a.Rows {
		kernels.AddMultiple(kernels.Row(a, i), 1, kernels.Row(b, i))
	}
}

func subtract(a, b kernels.Matrix) {
	for i := range a.Rows {
		kernels.AddMultiple(kernels.Row(a, i), -1, kernels.Row(b, i))
	}
}

// fill copies the rows of b into a.
func fill(a, b kernels.Matrix) {
	for i := range a.Rows {
		copy(kernels.Row(a, i), kernels.Row(b, i))
	}
}

func sumRows(sum []float32, m kernels.Matrix) {
	for i := range m.Rows {
		kernels.AddMultiple(sum, 1, kernels.Row(m, i))
	}
}

func sigmoid(m kernels.Matrix) {
	for i := range m.Rows {
		kernels.Sigmoids(kernels.Row(m, i))
	}
}

// The numbers of rows, and of sequences, that one goroutine computes at a time.
const (
	rowsAPart      = 64
	sequencesAPart = 3
)

// mulNT, mulTN and addMulNN call the functions of package kernels in parallel, for parts of the rows of c.
func mulNT(c, a, b kernels.Matrix) {
	work.Parts(c.Rows, rowsAPart, func(first, last int) {
		kernels.MulNT(kernels.Rows(c, first, last), kernels.Rows(a, first, last), b)
	})
}

func mulTN(c kernels.Matrix, scale float32, a, b kernels.Matrix) {
	work.Parts(c.Rows, rowsAPart, func(first, last int) {
		kernels.MulTN(kernels.Rows(c, first, last), scale, kernels.Cols(a, first, last), b)
	})
}

func addMulNN(c, a, b kernels.Matrix) {
	work.Parts(c.Rows, rowsAPart, func(first, last int) {
		kernels.AddMulNN(kernels.Rows(c, first, last), kernels.Rows(a, first, last), b)
	})
}

// onsets returns, for each unit, the sum of its values over all steps, and the number of steps, by Split.Counts.
func onsets(rows dataset.Split) (on []float64, steps float64) {
	on = make([]float64, rows.Shape.Width)
	for i, count := range rows.Counts() {
		for _, step := range rows.Sequence(i) {
			floats.AddScaled(on, count, step)
			steps += count
		}
	}
	return on, steps
}

// logOdds returns, for each unit, the logit of the share of steps at which it is on. It adds half a step to
// both counts.
func logOdds(rows dataset.Split) []float32 {
	on, steps := onsets(rows)
	return lists.Map(on, func(n float64) float32 { return float32(math.Log((n + 0.5) / (steps - n + 0.5))) })
}

// moments returns the means of real units over the training steps, and the logarithms of their standard deviations
// less smallest, which score adds again. Differences below smallest count as smallest.
func moments(rows dataset.Split) (means, logs []float32) {
	exact, deviations := spread(rows)
	for j, deviation := range deviations {
		means = append(means, float32(exact[j]))
		logs = append(logs, float32(math.Log(max(deviation-smallest, smallest))))
	}
	return means, logs
}

// spread returns the means and the standard deviations of real units over all steps.
func spread(rows dataset.Split) (means, deviations []float64) {
	sums, steps := onsets(rows)
	squares := make([]float64, len(sums))
	for i, count := range rows.Counts() {
		for _, step := range rows.Sequence(i) {
			for j, x := range step {
				squares[j] += count * (x - sums[j]/steps) * (x - sums[j]/steps)
			}
		}
	}
	for j, s := range sums {
		means = append(means, s/steps)
		deviations = append(deviations, math.Sqrt(squares[j]/steps))
	}
	return means, deviations
}

// Independent returns log p per step of rows under independent units: Bernoulli units whose probabilities are the
// shares of training steps at which they are on (with half a step added to both counts), or Gaussian units with the
// means and standard deviations of the training steps; deviations below 0.002 count as 0.002. It panics if the rows
// are not sequences of the same units, or have grey values.
func Independent(train, rows dataset.Split) runs.Estimate {
	mustFit(train.AreReal(), train, rows)
	if train.AreReal() {
		m := newBelief(train.Shape, architecture{gaussian: true}, nil)
		m.begin(train, 0)
		return perStep(rows, func(_, x []float64) float64 {
			mean, deviation, v := make([]float32, len(x)), slices.Clone(m.nets[ofDeviations].Data), make([]float32, len(x))
			for j := range x {
				v[j], mean[j] = float32(x[j]), kernels.Row(m.nets[ofVisible].Matrix, j)[0]
			}
			return m.score(mean, deviation, v)
		})
	}
	on, steps := onsets(train)
	return perStep(rows, func(_, x []float64) (logP float64) {
		for j, v := range x {
			p := (on[j] + 0.5) / (steps + 1)
			logP += math.Log(1 - p + v*(2*p-1))
		}
		return logP
	})
}

// Chain returns log p per step of rows of binary units under one Markov chain per unit. The transition
// probabilities are shares of the training steps, with half a step added to both counts. Units are off before
// the first step. Chain panics if the rows are not sequences of the same binary units.
func Chain(train, rows dataset.Split) runs.Estimate {
	mustFit(false, train, rows)
	width := train.Shape.Width
	var on, steps [2][]float64 // after the unit was off, and on
	for before := range on {
		on[before], steps[before] = make([]float64, width), make([]float64, width)
	}
	perStep(train, func(past, x []float64) float64 {
		for j, v := range x {
			on[int(past[j])][j] += v
			steps[int(past[j])][j]++
		}
		return 0
	})
	return perStep(rows, func(past, x []float64) (logP float64) {
		for j, v := range x {
			before := int(past[j])
			p := (on[before][j] + 0.5) / (steps[before][j] + 1)
			logP += math.Log(1 - p + v*(2*p-1))
		}
		return logP
	})
}

// perStep returns the mean over steps of a function of the previous step (0 before the first) and the step, with
// the standard error over sequences.
func perStep(rows dataset.Split, value func(past, x []float64) float64) runs.Estimate {
	sums := make([]float64, rows.Rows)
	for i := range sums {
		past := make([]float64, rows.Shape.Width)
		for _, x := range rows.Sequence(i) {
			sums[i] += value(past, x)
			past = x
		}
	}
	return perStepOver(rows, sums)
}

// perStepOver is like PerStep, for sequences that count by their shares.
func perStepOver(rows dataset.Split, sums []float64) (e runs.Estimate) {
	e.Value, e.SE = statistics.PerStep(rows.Lengths, sums, rows.Shares())
	return e
}

// stepsOf returns the number of steps of sequences that count by their shares.
func stepsOf(rows dataset.Split) (steps float64) {
	for i, share := range rows.Shares() {
		steps += share * float64(rows.Lengths[i])
	}
	return steps
}

// PerStep returns the sum of values of sequences over the sum of their lengths, with the standard error of the
// ratio over sequences. It panics if the numbers of lengths and of values differ.
func PerStep(lengths []int, sums []float64) runs.Estimate {
	if len(lengths) != len(sums) {
		panic(fmt.Sprintf("sequences: %d lengths and %d sums; their numbers must agree", len(lengths), len(sums)))
	}
	mean, se := statistics.PerStep(lengths, sums, slices.Repeat([]float64{1}, len(sums)))
	return runs.Estimate{Value: mean, SE: se}
}

// baseline returns log p per step under Independent, which training has to exceed, and the limit below which
// it has diverged.
func baseline(set *dataset.Set, rows dataset.Split) runs.Baseline {
	b := runs.Baseline{Rows: rows.Name, Factorized: Independent(set.Train(), rows), Limit: -2 * math.Ln2 * float64(rows.Shape.Width)}
	if rows.AreReal() {
		b.Limit = b.Factorized.Value - 5*float64(rows.Shape.Width)
	}
	return b
}

// checkSpread refuses real units whose standard deviation over the training steps is near smallest. It accepts constant
// units.
func checkSpread(rows dataset.Split) error {
	means, deviations := spread(rows)
	for j, deviation := range deviations {
		if deviation < 10*smallest && deviation > 1e-10*math.Abs(means[j]) {
			return fmt.Errorf("unit %d has the standard deviation %.2g over the training steps, but Gaussian units need at least %g: scale the values", j+1, deviation, 10*smallest)
		}
	}
	return nil
}

// checkNumbers refuses models whose tensors do not fit into memory.
func checkNumbers(n float64) error {
	return memory.Check(fmt.Sprintf("the %.3g numbers of the model", n), 4*n, "use fewer")
}

// checkBits refuses values other than 0 and 1.
func checkBits(set *dataset.Set) error {
	for _, rows := range []dataset.Split{set.Train(), set.Validation(), set.Test()} {
		if rows.AreReal() {
			return errors.New("the steps are real numbers, and an RNN-RBM has binary units: use a temporal belief network with Gaussian units, or a set of bits")
		}
		if err := checkValues(rows); err != nil {
			return err
		}
	}
	return nil
}

// checkValues refuses grey values between 0 and 1.
func checkValues(rows dataset.Split) error {
	if i := slices.IndexFunc(rows.Bytes(), func(v uint8) bool { return v != 0 && v != 255 }); i >= 0 {
		return fmt.Errorf("a value of the %s sequences is %.3g, and models of sequences have binary units: round or draw the values (binarization fixed or drawn)", rows.Name, rows.At(i))
	}
	return nil
}
