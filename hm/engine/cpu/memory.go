package cpu

import (
	"runtime"

	"github.com/helmholtz-go/helmholtz/fisher"
	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/memory"
)

// Available is the memory of the machine, or of the container.
func (cpu) Available() (int64, string) { return memory.Available() }

func (e cpu) Memory(a engine.Architecture, algorithm engine.Algorithm) int64 {
	const float = 4
	samples := algorithm.BatchSize * algorithm.MostSamples()
	units, outputs := 0, 0
	for i, n := range a.Units {
		units += n
		outputs += outputsOf(a.GenerativeConnection(i))
		if i > 0 {
			outputs += outputsOf(a.RecognitionConnection(i))
		}
	}
	passes := 1
	if algorithm.HasDreams() {
		passes = 2
	}
	if algorithm.SleepSteps > 1 {
		passes++ // dreams after the first update
	}
	// States and the residuals of both networks, a row a sample.
	bytes := int64(passes * samples * (units + a.Units[0] + outputs) * float)
	if algorithm.Entropy != 0 {
		bytes += int64(samples * (2*units - a.Units[0]) * float) // slopes of the entropies
	}
	if a.Labels() > 0 {
		bytes += int64((2*samples + algorithm.BatchSize) * a.Labels() * float) // weights and residuals of labels
	}
	copies := 3 + algorithm.Slots() // parameters, plain and packed, and gradient
	if algorithm.Metric != engine.Euclidean {
		copies++ // those of the last refresh
	}
	if algorithm.Optimizer == engine.Nesterov {
		copies++ // those ahead
	}
	if algorithm.SleepSteps > 1 {
		copies++ // gradient after the first update
	}
	bytes += int64(copies * a.Size() * float)
	switch algorithm.Metric {
	case engine.Euclidean:
	case engine.Diagonal:
		bytes += diagonalBytes(a, algorithm.BatchSize, samples)
	default:
		bytes += inversionBytes(a, algorithm, samples)
	}
	generative, recognition := e.MetricMemory(a, algorithm)
	for i := range a.Units {
		bytes += generative[i] + recognition[i]
	}
	return bytes
}

// inversionBytes is the most that the inversion of the blocks of a layer takes:
// its scratch and, where weights are shared, the inputs of all positions. The
// blocks of a dense first recognition layer have rank B at most, and take less.
func inversionBytes(a engine.Architecture, algorithm engine.Algorithm, samples int) int64 {
	most := int64(0)
	note := func(c engine.Connection) {
		rows := samples * c.Positions
		bytes := settings(algorithm).Scratch(rows, c.Inputs, c.Outputs, runtime.GOMAXPROCS(0))
		if c.Shared() {
			bytes += 4 * int64(rows) * int64(c.Inputs)
		}
		most = max(most, bytes)
	}
	for i := range a.Units {
		note(a.GenerativeConnection(i))
		if i > 1 || i == 1 && a.RecognitionConnection(1).Shared() {
			note(a.RecognitionConnection(i))
		}
	}
	return most
}

// diagonalBytes is the memory that the diagonals of the Fisher blocks are computed
// in, from data and all their samples: the information of the outputs of each layer
// and the squares of its parents. Of the first layer of q, a datum has one row.
func diagonalBytes(a engine.Architecture, data, samples int) int64 {
	const float = 4
	bytes := int64(0)
	for i := range a.Units {
		parents := 1 // of the prior
		if i < a.Depth() {
			parents += a.Units[i+1]
		}
		bytes += float * int64(samples) * int64(outputsOf(a.GenerativeConnection(i))+parents)
		if i == 0 {
			continue
		}
		rows := samples
		if i == 1 {
			rows = data
		}
		bytes += float * int64(rows) * int64(outputsOf(a.RecognitionConnection(i))+1+a.Units[i-1])
	}
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

func (cpu) MetricMemory(a engine.Architecture, algorithm engine.Algorithm) (generative, recognition []int64) {
	generative, recognition = make([]int64, len(a.Units)), make([]int64, len(a.Units))
	if algorithm.Metric == engine.Euclidean {
		return generative, recognition
	}
	samples := algorithm.BatchSize * algorithm.MostSamples()
	for i := range a.Units {
		generative[i] = layerBytes(a.GenerativeConnection(i), algorithm, samples)
		switch {
		case i == 1:
			recognition[1] = layerBytes(a.RecognitionConnection(1), algorithm, algorithm.BatchSize)
		case i > 1:
			recognition[i] = layerBytes(a.RecognitionConnection(i), algorithm, samples)
		}
	}
	return generative, recognition
}

// layerBytes is the most that the inverses of a layer take.
func layerBytes(c engine.Connection, algorithm engine.Algorithm, samples int) int64 {
	return settings(algorithm).Bytes(samples*c.Positions, c.Inputs, c.Outputs)
}

// settings say how the blocks are inverted.
func settings(a engine.Algorithm) fisher.Settings {
	s := fisher.Settings{Form: fisher.Cheapest, Precision: fisher.Float32, Damping: a.Damping, Steps: a.RefreshEvery}
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
