package cpu

import (
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
	if algorithm.Metric == engine.Euclidean {
		return bytes
	}
	for i := range a.Units {
		size := 1
		if i < a.Depth() {
			size += a.Units[i+1]
		}
		bytes += fisher.Bytes(form(algorithm, samples, size, a.Units[i]), samples, size, a.Units[i])
		if i > 0 {
			n := samples
			if i == 1 {
				n = algorithm.BatchSize
			}
			size = 1 + a.Units[i-1]
			bytes += fisher.Bytes(form(algorithm, n, size, a.Units[i]), n, size, a.Units[i])
		}
	}
	return bytes
}

// form is how the inverses of the blocks of a layer are stored.
func form(a engine.Algorithm, samples, size, units int) fisher.Form {
	if a.Metric == engine.Diagonal {
		return fisher.Diagonal
	}
	return fisher.Choose(samples, size, units, a.RefreshEvery)
}
