package deterministic

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/philox"
)

// Training is how a machine is trained: by Adam, on the mean gradient of the free
// energy of each mini-batch. The zero value is ready to use.
type Training struct {
	Epochs       int     // passes over the rows; 0 means 20
	BatchSize    int     // 0 means 32
	LearningRate float64 // 0 means 0.01
	Seed         uint64  // of the order of the rows
	// Progress, where it is not nil, is called after each epoch, 1 is the first,
	// with the mean free energy (nats) of the rows as they were met.
	Progress func(epoch int, freeEnergy float64)
}

func (t Training) withDefaults() Training {
	if t.Epochs == 0 {
		t.Epochs = 20
	}
	if t.BatchSize == 0 {
		t.BatchSize = 32
	}
	if t.LearningRate == 0 {
		t.LearningRate = 0.01
	}
	return t
}

func (t Training) check() error {
	switch {
	case t.Epochs < 0:
		return fmt.Errorf("%d epochs: give a positive number", t.Epochs)
	case t.BatchSize < 0:
		return fmt.Errorf("mini-batches of %d rows: give a positive number", t.BatchSize)
	case !(t.LearningRate > 0) || math.IsInf(t.LearningRate, 1):
		return fmt.Errorf("learning rate %v: give a positive, finite number", t.LearningRate)
	}
	return nil
}

// Train lowers the mean free energy of the rows, grey values of which are
// rounded. It changes the machine's parameters in place; the same machine, rows
// and Training give the same parameters. When the context is cancelled it
// returns the context's error after the mini-batch under way. A free energy that is
// not finite is an error too.
func (m *Machine) Train(ctx context.Context, rows dataset.Split, t Training) error {
	t = t.withDefaults()
	if err := t.check(); err != nil {
		return err
	}
	if rows.Rows == 0 {
		return errors.New("no rows to train on")
	}
	if rows.Shape.Units() != m.Units[0] {
		return fmt.Errorf("rows of %d values for a machine with %d visible units: make the machine with as many as the data have",
			rows.Shape.Units(), m.Units[0])
	}
	adam := newAdam(len(m.Flat), t.LearningRate)
	gradient := m.NewGradient()
	for epoch := 1; epoch <= t.Epochs; epoch++ {
		order := philox.NewStream(t.Seed, philox.Order, uint32(epoch-1)).Perm(rows.Rows)
		sum := 0.0
		for start := 0; start < len(order); start += t.BatchSize {
			if err := ctx.Err(); err != nil {
				return err
			}
			batch := order[start:min(start+t.BatchSize, len(order))]
			clear(gradient.Flat)
			for _, i := range batch {
				sum += m.AddGradient(gradient, Binary(rows.Row(i)))
			}
			floats.Scale(1/float64(len(batch)), gradient.Flat)
			adam.descend(m.Flat, gradient.Flat)
		}
		mean := sum / float64(rows.Rows)
		if math.IsNaN(mean) || math.IsInf(mean, 0) {
			return fmt.Errorf("the free energy of epoch %d is %v: lower the learning rate, which is %v", epoch, mean, t.LearningRate)
		}
		if t.Progress != nil {
			t.Progress(epoch, mean)
		}
	}
	return nil
}

// Binary returns the values of a row, rounded to 0 and 1.
func Binary(row []uint8) []float64 {
	x := make([]float64, len(row))
	for i, v := range row {
		if v >= 128 {
			x[i] = 1
		}
	}
	return x
}
