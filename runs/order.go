package runs

import "github.com/helmholtz-go/helmholtz/internal/philox"

// Order says which rows form the minibatch of a step: each epoch visits the
// training rows once, in an order that the seed and the epoch determine.
type Order struct {
	seed          uint64
	rows, batch   int
	stepsPerEpoch int

	epoch       int // whose permutation is at hand
	permutation []int
}

// NewOrder is the order of a number of rows in minibatches of batch rows, both at least 1.
func NewOrder(seed uint64, rows, batch int) *Order {
	return &Order{seed: seed, rows: rows, batch: batch, stepsPerEpoch: (rows + batch - 1) / batch}
}

// Minibatch returns the rows of a step, 0 being the first. They stay valid
// until the next call for another epoch.
func (o *Order) Minibatch(step int) []int {
	epoch, first := step/o.stepsPerEpoch, step%o.stepsPerEpoch*o.batch
	if o.permutation == nil || epoch != o.epoch {
		o.epoch = epoch
		o.permutation = philox.NewStream(o.seed, philox.Order, uint32(epoch)).Perm(o.rows)
	}
	return o.permutation[first:min(first+o.batch, o.rows)]
}
