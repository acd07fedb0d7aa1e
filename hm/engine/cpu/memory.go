package cpu

import (
	"math"
	"runtime"

	"github.com/helmholtz-go/helmholtz/fisher"
	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/memory"
)

// Available returns the memory of the machine, or of the container.
func (cpu) Available() (int64, string) { return memory.Available() }

// Memory computes in float64, because the numbers may overflow an int.
func (e cpu) Memory(a engine.Architecture, algorithm engine.Algorithm) int64 {
	batch, rows := float64(algorithm.BatchSize), samplesOf(algorithm)
	generative, recognition := outputs(a)
	both := generative + recognition
	bytes := fixedBytes(a, algorithm) + lessonBytes(a, batch, rows)
	// Importance weights, the likelihood of each datum with its row, and the sums over the samples
	// of a datum.
	bytes += double*rows + 6*double*batch + float*batch*float64(outputsOf(engine.Recognition.Connection(a, 1)))
	if algorithm.HasDreams() {
		bytes += lessonBytes(a, rows, rows)
	}
	if algorithm.SleepSteps > 1 {
		bytes += lessonBytes(a, rows, rows) // dreams after the first update
	}
	// If outputs are kept, the residuals need separate memory.
	if keepsOutputs(a, algorithm) {
		bytes += float * rows * both
	}
	if algorithm.HasEntropy() || algorithm.HasDreamtBlocks() {
		bytes += float * rows * generative
	}
	switch { // weighted residuals
	case algorithm.Reinforce:
		bytes += float * rows * recognition
	case algorithm.Entropy != 0 || a.Labels() > 0:
		bytes += float * rows * both
	}
	if algorithm.Estimator != nil {
		bytes += 2 * double * rows
	}
	bytes += labelBytes(a, algorithm) + compactBytes(a, algorithm)
	if algorithm.Metric == engine.Diagonal {
		bytes += diagonalBytes(a, algorithm)
	}
	p, q := e.MetricBlocks(a, algorithm)
	for i := range a.Units {
		bytes += float64(p[i].Bytes) + float64(q[i].Bytes)
	}
	return memory.Bytes(bytes + tanhBytes(a, algorithm) + max(inversionBytes(a, algorithm), sharedBytes(a, algorithm)+reinforceBytes(a, algorithm)))
}

const float, double = 4, 8 // sizes, in bytes

// samplesOf returns the largest number of samples of a minibatch.
func samplesOf(algorithm engine.Algorithm) float64 {
	return float64(algorithm.BatchSize) * float64(algorithm.MostSamples())
}

// outputs returns the number of outputs of all layers of both networks.
func outputs(a engine.Architecture) (ofGenerative, ofRecognition float64) {
	var sums [2]float64
	eachLayer(a, engine.Algorithm{}, func(n network, _ int, c engine.Connection, _ float64) { sums[n] += float64(outputsOf(c)) })
	return sums[0], sums[1]
}

// fixedBytes returns the memory that does not depend on the minibatch: all copies of the
// parameters, and some structure per layer.
func fixedBytes(a engine.Architecture, algorithm engine.Algorithm) float64 {
	copies := 2 + algorithm.Slots() // parameters, gradient and moments
	if algorithm.Metric != engine.Euclidean {
		copies++ // parameters of the last refresh
	}
	if algorithm.Metric == engine.Diagonal {
		copies++ // the blocks, before they are inverted
	}
	if algorithm.Optimizer == engine.Nesterov {
		copies++ // parameters ahead
	}
	if algorithm.SleepSteps > 1 {
		copies++ // gradient after the first update
	}
	bytes := float * float64(copies) * float64(a.Size())
	for n := range network(2 + 2*len(a.Tanh)) {
		for i := range a.Units {
			if parents := n.Parents(i); parents >= 0 && parents <= a.Depth() {
				bytes += packedBytes(a, algorithm, n, i)
			}
		}
	}
	if algorithm.HasLearnedBaseline() {
		inputs, outputs := engine.BaselineShape(a)
		bytes += float * float64(outputs) * float64(inputs)
	}
	return bytes + 1700*float64(len(a.Units))
}

// packedBytes returns the memory of the packed weights of a layer and its packed parents.
func packedBytes(a engine.Architecture, algorithm engine.Algorithm, n network, i int) float64 {
	c := n.Connection(a, i)
	if !inFixedPoint(a, algorithm.Arithmetic, n, i) {
		return kernels.PackedBytes(c.Outputs, c.Inputs)
	}
	bytes, passes := kernels.FixedBytes(c.Outputs, c.Inputs), 1.0
	if algorithm.HasDreams() {
		passes++
	}
	if algorithm.SleepSteps > 1 {
		passes++
	}
	return bytes + passes*kernels.BitsBytes(samplesOf(algorithm), float64(c.Inputs))
}

// lessonBytes returns the memory of a lesson, where data is the number of data rows and rows the
// number of samples: states, outputs of both networks (which the residuals overwrite),
// log-probabilities, and, for both gradients, the samples' weights and indices.
func lessonBytes(a engine.Architecture, data, rows float64) float64 {
	generative, recognition := outputs(a)
	numbers := data*float64(1+a.Units[0]) + rows*(generative+recognition+4)
	for _, units := range a.Units[1:] {
		numbers += rows * float64(1+units)
	}
	return float*numbers + 2*double*rows
}

// compactBytes returns the memory for lesson.compact: copies of the parents' states in gradients
// that may omit samples.
func compactBytes(a engine.Architecture, algorithm engine.Algorithm) float64 {
	numbers := 0.0
	eachLayer(a, algorithm, func(n network, i int, _ engine.Connection, _ float64) {
		if parents := n.Parents(i); parents > 0 && parents <= a.Depth() && leavesOut(algorithm, n) {
			numbers += float64(1 + a.Units[parents])
		}
	})
	return float * samplesOf(algorithm) * numbers
}

// labelBytes returns the memory of the weights and residuals of labels, and of the tables of a
// datum on each thread.
func labelBytes(a engine.Architecture, algorithm engine.Algorithm) float64 {
	numbers := 4*samplesOf(algorithm) + float64(algorithm.BatchSize)
	tables := 4 * double * float64(algorithm.MostSamples()) * threads(float64(algorithm.BatchSize)/dataAPiece)
	return (float*numbers + tables) * float64(a.Labels())
}

// threads returns how many of these tasks run at a time.
func threads(tasks float64) float64 {
	return min(math.Ceil(tasks), float64(runtime.GOMAXPROCS(0)))
}

// inversionBytes returns the maximum memory for inverting the blocks of a layer: the Fisher
// information of the samples, the scratch memory of the inversion and, if weights are shared, the
// inputs of all positions.
func inversionBytes(a engine.Architecture, algorithm engine.Algorithm) float64 {
	if algorithm.Metric == engine.Euclidean || algorithm.Metric == engine.Diagonal {
		return 0
	}
	most := 0.0
	eachLayer(a, algorithm, func(_ network, i int, c engine.Connection, rows float64) {
		all := rows * float64(c.Positions)
		bytes := settings(algorithm, a.Blocks(i)).Scratch(number(all), c.Inputs, c.Outputs, runtime.GOMAXPROCS(0))
		bytes += float * all * float64(1+c.Outputs)
		if c.Shared() {
			bytes += float * all * float64(c.Inputs)
		}
		most = max(most, bytes)
	})
	return most
}

// eachLayer calls f for each layer of both networks, with the number of rows from which its Fisher
// blocks are estimated. The first layer of q has only one row per datum.
func eachLayer(a engine.Architecture, algorithm engine.Algorithm, f func(n network, i int, c engine.Connection, rows float64)) {
	for i := range a.Units {
		rows := samplesOf(algorithm)
		f(generative, i, generative.Connection(a, i), rows)
		if i == 1 {
			rows = float64(algorithm.BatchSize)
		}
		if i > 0 {
			f(recognition, i, recognition.Connection(a, i), rows)
		}
	}
}

// tanhBytes returns the maximum memory that a step takes temporarily for tanh layers: their values
// and residuals, and the weighted residuals of the outputs.
func tanhBytes(a engine.Architecture, algorithm engine.Algorithm) float64 {
	if len(a.Tanh) == 0 {
		return 0
	}
	numbers, lessons := 0.0, 1.0
	for n := generative; n <= recognition; n++ {
		for i := range a.Units {
			numbers += float64(outputsOf(n.Connection(a, i)))
			for k := range a.Tanh {
				numbers += 2 * float64(outputsOf(n.Tanh(k+1).Connection(a, i)))
			}
		}
	}
	if algorithm.HasDreams() {
		lessons = 2
	}
	return float * lessons * samplesOf(algorithm) * numbers
}

// number returns the int nearest to n, or the largest int.
func number(n float64) int { return int(min(memory.Bytes(n), math.MaxInt)) }

// sharedBytes returns the maximum memory of the gradients of a layer's shared weights, one for each
// part of the samples.
func sharedBytes(a engine.Architecture, algorithm engine.Algorithm) float64 {
	most, terms := 0.0, 1.0
	if algorithm.HasDreams() {
		terms = 2
	}
	eachLayer(a, algorithm, func(_ network, _ int, c engine.Connection, _ float64) {
		if c.Shared() {
			most = max(most, float*terms*math.Ceil(samplesOf(algorithm)/samplesAPart)*float64(c.Outputs)*float64(c.Inputs))
		}
	})
	return most
}

// reinforceBytes returns the memory that REINFORCE takes on each thread to weigh the samples of a
// datum: six numbers per sample, the samples' scores if each parameter has a separate baseline, and the moves of
// learned baselines.
func reinforceBytes(a engine.Architecture, algorithm engine.Algorithm) float64 {
	if !algorithm.Reinforce {
		return 0
	}
	samples, most := float64(algorithm.MostSamples()), 0.0
	for i := 1; i < len(a.Units) && algorithm.ReinforceBaseline == engine.OptimalBaseline; i++ {
		if c := recognition.Connection(a, i); i > 1 || c.Shared() {
			tasks := threads(float64(c.Outputs) / unitsAPiece)
			scores := float64(min(c.Outputs, unitsAPiece)) * float64(c.Inputs)
			if c.Shared() {
				tasks, scores = 1, float64(c.Outputs)*float64(c.Inputs)
			}
			most = max(most, tasks*float*samples*scores)
		}
	}
	if algorithm.HasLearnedBaseline() {
		_, outputs := engine.BaselineShape(a)
		most = float * float64(algorithm.BatchSize) * float64(outputs)
	}
	return most + 6*double*samples*threads(float64(algorithm.BatchSize)/dataAPiece)
}

// diagonalBytes returns the memory for computing the diagonals of the Fisher blocks: for each
// layer, the information of its outputs and the squares of its parents.
func diagonalBytes(a engine.Architecture, algorithm engine.Algorithm) (bytes float64) {
	eachLayer(a, algorithm, func(n network, i int, c engine.Connection, rows float64) {
		parents := 1 // the 1 for the bias
		if below := n.Parents(i); below <= a.Depth() {
			parents += a.Units[below]
		}
		bytes += float * rows * float64(outputsOf(c)+parents)
	})
	return bytes
}

func outputsOf(c engine.Connection) int { return c.Positions * c.Outputs }

func (t *trainer) MetricBytes() int64 {
	bytes := int64(0)
	for _, layers := range t.metric.inverses {
		for _, inverse := range layers {
			if inverse != nil {
				bytes += inverse.Bytes()
			}
		}
	}
	return bytes
}

func (cpu) MetricBlocks(a engine.Architecture, algorithm engine.Algorithm) (generative, recognition []engine.Blocks) {
	generative, recognition = make([]engine.Blocks, len(a.Units)), make([]engine.Blocks, len(a.Units))
	if algorithm.Metric == engine.Euclidean {
		return generative, recognition
	}
	eachLayer(a, algorithm, func(n network, i int, c engine.Connection, samples float64) {
		s, rows := settings(algorithm, a.Blocks(i)), number(samples*float64(c.Positions))
		[][]engine.Blocks{generative, recognition}[n][i] = engine.Blocks{
			Bytes: memory.Bytes(s.Bytes(rows, c.Inputs, c.Outputs)), Form: s.Choose(rows, c.Inputs, c.Outputs).String(),
		}
	})
	return generative, recognition
}

// settings returns the settings for inverting the blocks of a layer with these groups.
func settings(a engine.Algorithm, groups []int) fisher.Settings {
	s := fisher.Settings{Form: fisher.Cheapest, Precision: fisher.Float32, Damping: a.Damping, Steps: a.RefreshEvery, Groups: groups}
	switch a.Metric {
	case engine.Diagonal:
		s.Form = fisher.Diagonal
	case engine.Kronecker:
		s.Form = fisher.Kronecker
	}
	if a.FisherPrecision == engine.SixteenBits {
		s.Precision = fisher.Int16
	}
	return s
}
