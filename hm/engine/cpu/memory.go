package cpu

import (
	"runtime"

	"github.com/helmholtz-go/helmholtz/fisher"
	"github.com/helmholtz-go/helmholtz/hm/engine"
)

func (cpu) Memory(a engine.Architecture, algorithm engine.Algorithm) int64 {
	const float = 4
	samples := algorithm.BatchSize * algorithm.MostSamples()
	units := 0
	for _, n := range a.Units {
		units += n
	}
	passes := 1
	if algorithm.HasDreams() {
		passes = 2
	}
	// States and the residuals of both networks, a row a sample.
	bytes := int64(passes * 3 * samples * units * float)
	if algorithm.Entropy != 0 {
		bytes += int64(samples * (2*units - a.Units[0]) * float) // slopes of the entropies
	}
	copies := 3 + algorithm.Slots() // parameters, plain and packed, and gradient
	if algorithm.Metric != engine.Euclidean {
		copies++ // those of the last refresh
	}
	if algorithm.Optimizer == engine.Nesterov {
		copies++ // those ahead
	}
	bytes += int64(copies * a.Size() * float)
	if algorithm.Metric == engine.Block {
		// What each thread needs to invert a block: samples, the block, its
		// factor.
		largest := 1
		for _, n := range a.Units[1:] {
			largest = max(largest, 1+n)
		}
		bytes += int64(runtime.GOMAXPROCS(0) * (samples + 2*largest) * largest * float)
	}
	return bytes + metricBytes(a, algorithm)
}

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

// metricBytes is the most that the inverses of the Fisher blocks take.
func metricBytes(a engine.Architecture, algorithm engine.Algorithm) int64 {
	if algorithm.Metric == engine.Euclidean {
		return 0
	}
	samples := algorithm.BatchSize * algorithm.MostSamples()
	layer := func(n, parents, units int) int64 {
		return settings(algorithm).Bytes(n, 1+parents, units)
	}
	bytes := layer(samples, 0, a.Units[a.Depth()])
	for i := range a.Depth() {
		bytes += layer(samples, a.Units[i+1], a.Units[i])
		n := samples
		if i == 0 {
			n = algorithm.BatchSize
		}
		bytes += layer(n, a.Units[i], a.Units[i+1])
	}
	return bytes
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
