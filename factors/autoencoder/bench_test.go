package autoencoder

import (
	"fmt"
	"testing"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/runs"
)

// BenchmarkStep takes steps of 100 rows of 784–200–50.
func BenchmarkStep(b *testing.B) {
	rows := dataset.Split{Name: "train", Shape: dataset.Shape{Height: 28, Width: 28}, Values: dataset.Bytes(28*28, make([]uint8, 100*784))}
	batch := runs.Minibatch{Rows: rows}
	for r := range rows.Rows {
		batch.Index = append(batch.Index, r)
	}
	for i := range rows.Bytes() {
		if i%5 == 0 {
			rows.Bytes()[i] = 255
		}
	}
	for _, samples := range []int{1, 5} {
		b.Run(fmt.Sprintf("K=%d", samples), func(b *testing.B) {
			s := Family.Usual
			s.Samples = samples
			m := newModel(s, dataset.Stochastic, rows.Shape)
			m.begin(rows, 1)
			for b.Loop() {
				m.step(batch, 1, 1e-3)
			}
		})
	}
}
