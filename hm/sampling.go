package hm

import (
	"context"
	"fmt"
	"math"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/memory"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/runs"
)

// Means draws h¹ … hᴹ from p, n times, and returns the means of p(x|h¹). The mean of a binary unit is its
// probability of being on.
func (m *Model) Means(ctx context.Context, n int) (dataset.Sheet, error) {
	draws, err := m.generate(ctx, n)
	if err != nil {
		return dataset.Sheet{}, err
	}
	return m.sheet(n, func(k int) float64 { return float64(draws.Means[0][k]) }), nil
}

// Draw draws n ancestral samples x ~ p.
func (m *Model) Draw(ctx context.Context, n int) (dataset.Sheet, error) {
	draws, err := m.generate(ctx, n)
	if err != nil {
		return dataset.Sheet{}, err
	}
	return m.sheet(n, func(k int) float64 { return visible(draws, k) }), nil
}

func visible(d engine.Draws, k int) float64 {
	if d.Values[0] != nil {
		return float64(d.Values[0][k])
	}
	return float64(d.States[0][k])
}

func (m *Model) generate(ctx context.Context, n int) (engine.Draws, error) {
	model, err := m.room(float64(n), "samples", drawBytes(m.Architecture()))
	if err != nil {
		return engine.Draws{}, err
	}
	return model.Generate(ctx, n, m.seed)
}

// Reconstruct draws h ~ q(h|x) for the rows that Subset returns for n. It returns these rows and, for
// each, the means of p(x|h¹).
func (m *Model) Reconstruct(ctx context.Context, split dataset.Split, n int) (rows, reconstructions dataset.Sheet, err error) {
	if _, err := m.completeData(split, 1); err != nil {
		return rows, reconstructions, err
	}
	part, data, err := m.part(split, n, 1)
	if err != nil {
		return rows, reconstructions, err
	}
	model, err := m.engine.model()
	if err != nil {
		return rows, reconstructions, err
	}
	draws, err := model.Infer(ctx, data, 1, m.seed)
	if err != nil {
		return rows, reconstructions, err
	}
	rows = m.sheet(part.Rows, part.At)
	reconstructions = m.sheet(part.Rows, func(k int) float64 { return float64(draws.Means[0][k]) })
	return rows, reconstructions, nil
}

// sheet returns n images. value(k) is the k-th value, counted from the first unit of the first image, image by
// image.
func (m *Model) sheet(n int, value func(k int) float64) dataset.Sheet {
	units := m.parameters.Architecture.Visible()
	s := dataset.Sheet{Shape: m.shape, Values: make([][]float64, n)}
	for i := range s.Values {
		s.Values[i] = make([]float64, units)
		for j := range units {
			s.Values[i][j] = value(i*units + j)
		}
	}
	return s
}

// Encoding holds the hidden states that the recognition network infers from data.
type Encoding struct {
	Samples int // samples per row of data
	// States[i] holds the states of hidden layer i+1, 1 for on and 0 for off: one line per sample,
	// with the samples of a row of data next to each other. It is nil for a layer of Gaussian units.
	States [][][]uint8
	// Values[i] holds the states of hidden layer i+1 in the same way if its units are Gaussian.
	Values [][][]float32
	// Means[i] holds the mean of each unit of hidden layer i+1, averaged over the samples of a
	// row of data: one line per row. The mean of a binary unit is its probability of being on.
	Means [][][]float64
}

// Encode draws samples h ~ q(h|x) for each row of a split.
func (m *Model) Encode(ctx context.Context, split dataset.Split, samples int) (Encoding, error) {
	data, err := m.data(split, samples)
	if err != nil {
		return Encoding{}, err
	}
	model, err := m.room(float64(data.Rows)*float64(samples), "samples", drawBytes(m.Architecture()))
	if err != nil {
		return Encoding{}, err
	}
	draws, err := model.Infer(ctx, data, samples, m.seed)
	if err != nil {
		return Encoding{}, err
	}
	hidden := m.parameters.Architecture.Units[1:]
	e := Encoding{Samples: samples, States: make([][][]uint8, len(hidden)), Values: make([][][]float32, len(hidden)), Means: make([][][]float64, len(hidden))}
	for i, units := range hidden {
		for r := range draws.Rows {
			if values := draws.Values[i+1]; values != nil {
				e.Values[i] = append(e.Values[i], values[r*units:(r+1)*units])
			} else {
				e.States[i] = append(e.States[i], draws.States[i+1][r*units:(r+1)*units])
			}
			if r%samples == 0 {
				e.Means[i] = append(e.Means[i], make([]float64, units))
			}
			mean := e.Means[i][r/samples]
			for j := range mean {
				mean[j] += float64(draws.Means[i+1][r*units+j]) / float64(samples)
			}
		}
	}
	return e, nil
}

// Encodings lists the means of the hidden units given a row. In the first hidden layer they are the exact means of q(h|x). Above it
// they are averages of the conditional means over samples of the layer below.
func (m *Model) Encodings() []runs.Encoding {
	units := m.Architecture().Units
	var columns []string
	for layer, n := range units[1:] {
		columns = append(columns, names.Numbered(fmt.Sprintf("h%d_", layer+1), n)...)
	}
	return []runs.Encoding{{Kind: "means", Columns: columns, Samples: 100, Encode: func(ctx context.Context, rows dataset.Split, samples int, seed uint64) ([][]float64, error) {
		data, err := m.data(rows, samples)
		if err != nil {
			return nil, err
		}
		model, err := m.engine.model()
		if err != nil {
			return nil, err
		}
		var features [][]float64
		atOnce := max(1, 1<<24/(samples*len(columns))) // rows, so that their draws fit into memory
		for first := 0; first < rows.Rows; first += atOnce {
			n := min(atOnce, rows.Rows-first)
			draws, err := model.Infer(ctx, data.Part(first, n), samples, seed)
			if err != nil {
				return nil, err
			}
			for r := range n {
				var row []float64
				for layer, units := range units[1:] {
					means := make([]float64, units)
					for k, v := range draws.Means[layer+1][r*samples*units : (r+1)*samples*units] {
						means[k%units] += float64(v) / float64(samples)
					}
					row = append(row, means...)
				}
				features = append(features, row)
			}
		}
		return features, nil
	}}}
}

// checkRoom returns an error if n things of the given number of bytes each do not fit into memory, or
// if n is below 1 or too large for each to have its own random numbers. The error calls them by the name things.
func checkRoom(n float64, things string, bytes float64) error {
	switch {
	case n < 1:
		return fmt.Errorf("%.0f %s: use at least 1", n, things)
	case n > math.MaxUint32:
		return fmt.Errorf("%.0f %s: use fewer than 2³²", n, things)
	}
	return memory.Check(fmt.Sprintf("%.0f %s", n, things), n*bytes, "use fewer")
}

func (m *Model) room(n float64, things string, bytes float64) (engine.Model, error) {
	if err := checkRoom(n, things, bytes); err != nil {
		return nil, err
	}
	return m.engine.model()
}

// drawBytes returns the memory of one draw in bytes: the states of all layers, the means of their units,
// and one image.
func drawBytes(a engine.Architecture) float64 {
	bytes := 2*8 + 24 + 8*float64(a.Visible())
	for i, units := range a.Units {
		width := 1.0
		if !a.Binary(i) {
			width = 4
		}
		bytes += (width + 4) * float64(units)
	}
	return bytes
}
