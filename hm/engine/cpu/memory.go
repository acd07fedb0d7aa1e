package cpu

import (
	"runtime"

	"github.com/helmholtz-go/helmholtz/fisher"
	"github.com/helmholtz-go/helmholtz/hm/engine"
)

func (cpu) Memory(a engine.Architecture, algorithm engine.Algorithm) int64 {
	const float = 4
	samples := algorithm.BatchSize * algorithm.Samples
	units := 0
	for _, n := range a.Units {
		units += n
	}
	passes := 1
	if algorithm.HasSleep() {
		passes = 2
	}
	// States and the residuals of both networks, a row a sample.
	bytes := int64(passes * 3 * samples * units * float)
	copies := 2 + algorithm.Slots() // parameters and gradient
	if algorithm.Metric != engine.Euclidean {
		copies++ // those of the last refresh
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
	return bytes + cpu{}.MetricBytes(a, algorithm)
}

func (cpu) MetricBytes(a engine.Architecture, algorithm engine.Algorithm) int64 {
	if algorithm.Metric == engine.Euclidean {
		return 0
	}
	samples := algorithm.BatchSize * algorithm.Samples
	layer := func(n, parents, units int) int64 {
		return fisher.Bytes(form(algorithm, n, 1+parents, units), precision(algorithm), n, 1+parents, units)
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

// form is how the inverses of the blocks of a layer are stored.
func form(a engine.Algorithm, samples, size, units int) fisher.Form {
	switch a.Metric {
	case engine.Diagonal:
		return fisher.Diagonal
	case engine.Kronecker:
		return fisher.Kronecker
	}
	return fisher.Choose(samples, size, units, a.RefreshEvery)
}

// precision is how exactly they are stored.
func precision(a engine.Algorithm) fisher.Precision {
	if a.FisherPrecision == engine.SixteenBits {
		return fisher.Int16
	}
	return fisher.Float32
}
