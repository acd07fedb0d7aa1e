package hm

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/philox"
	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/helmholtz-go/helmholtz/runs/factorized"
)

// A machine learns from the observed values of rows with gaps: the weights are p(x_o,h)/q(h|x̃), where p(x_o,h) is p(x,h)
// summed over the missing units, and x̃ has the means of the training rows in their place. q is then a proposal for p(h|x_o),
// for which it learns in the sleep phase from dreams with the gaps of training rows.

// checkGaps refuses machines and methods that need complete rows, if values are missing.
func (e Experiment) checkGaps(set *dataset.Set) error {
	what, remedy := "", ""
	switch s := e.Method; {
	case e.Machine.LabelLayer != NoLabels:
		what, remedy = "a machine with labels", "use label_layer = none"
	case s.Phases == Bidirectional:
		what, remedy = "phases = bihm, whose p* is of complete rows,", "use the preset rws or nrws"
	case s.Metric != Euclidean && s.FisherSource != FromWake:
		what, remedy = "fisher_source = "+s.FisherSource.String(), "use wake"
	case s.Arithmetic == FixedPoint:
		what, remedy = "arithmetic = fixed", "use float32 or auto"
	default:
		return nil
	}
	return runs.RefuseGaps(what, set, remedy)
}

// completed returns the experiment with the groups of the set's columns and, if the set keeps rows with gaps, with Fill. q then
// gets real numbers, for which products in fixed point are not made.
func (e Experiment) completed(set *dataset.Set) (_ Experiment, err error) {
	if e.Fill = nil; set.Spec().Gaps {
		if e.Method.Arithmetic == AutoArithmetic {
			e.Method.Arithmetic = FloatingPoint
		}
		for _, mean := range factorized.Means(set.Train()) {
			e.Fill = append(e.Fill, float32(mean))
		}
	}
	e.Machine, err = e.Machine.withGroupsOf(set)
	return e, err
}

// data returns rows for the engine.
func (e Experiment) data(s dataset.Split) engine.Data {
	d := engine.Data{Values: s.Values, Stochastic: e.Dataset.Binarization == dataset.Stochastic}
	if e.Fill == nil || s.Missing == nil {
		return d
	}
	a := e.Machine.architecture(s.Shape)
	d.Missing = s.Missing
	for _, mean := range e.Fill {
		if a.Binary(0) {
			mean = a.Off(0) + (1-a.Off(0))*mean
		}
		d.Means = append(d.Means, mean)
	}
	return d
}

// resample draws units from p(x|known), for Inpaint. For each draw it picks one of the samples h ~ q(h|known) of a row, with a
// probability in proportion to its weight p(known,h)/q(h|known).
func (m *Model) resample(ctx context.Context, split dataset.Split, mask dataset.Mask, draws int, c Chain, progress func(float64)) (dataset.Inpainting, error) {
	open, samples := split, cmp.Or(c.Candidates, 1000)
	open.Missing = slices.Repeat(mask, split.Rows)
	data, err := m.data(open, samples)
	if err != nil {
		return dataset.Inpainting{}, err
	}
	model, err := m.engine.model()
	if err != nil {
		return dataset.Inpainting{}, err
	}
	values, units, effective := make([][][]float64, draws), len(mask), []float64{}
	atOnce := max(1, 1<<22/(samples*units)) // rows, so that their samples fit into memory
	for first := 0; first < split.Rows; first += atOnce {
		rows := min(atOnce, split.Rows-first)
		of, err := model.Infer(ctx, data.Part(first, rows), samples, m.seed)
		if err != nil {
			return dataset.Inpainting{}, err
		}
		for r := range rows {
			sums := of.LogP[r*samples : (r+1)*samples] // of the weights, from here on
			floats.Sub(sums, of.LogQ[r*samples:(r+1)*samples])
			floats.AddConst(-floats.Max(sums), sums)
			for k, log := range sums {
				sums[k] = math.Exp(log)
			}
			effective = append(effective, floats.Sum(sums)*floats.Sum(sums)/floats.Dot(sums, sums))
			floats.CumSum(sums, sums)
			random := rand.New(philox.NewStream(m.seed, philox.Pick, uint32(first+r)))
			for draw := range draws {
				picked, _ := slices.BinarySearch(sums, random.Float64()*sums[samples-1])
				values[draw] = append(values[draw], m.sheet(1, func(j int) float64 {
					if j += (r*samples + picked) * units; c.Draws {
						return visible(of, j)
					}
					return float64(of.Means[0][j])
				}).Values[0])
			}
		}
		if progress != nil {
			progress(float64(first+rows) / float64(split.Rows))
		}
	}
	p, err := split.Inpaint(ctx, m.shape, mask, split.Floats(), draws, func(draw int) [][]float64 { return values[draw] }, nil)
	p.Effective = effective
	return p, err
}
