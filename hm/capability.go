package hm

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/runs"
)

// ofCandidates lists the options that only chains with candidates have.
var ofCandidates = []string{"candidates", "inner", "retain"}

// Drawings lists the kinds of images that the model draws: means, draws, reconstructions and layers (see Means, Gibbs,
// Draw, Reconstruct and Descend).
func (m *Model) Drawings() []runs.Drawing {
	return runs.Drawings(runs.Drawing{
		Kind: "means", Uses: append([]string{"gibbs", "seed"}, ofCandidates...),
		Draw: func(ctx context.Context, s runs.Sampling) ([]dataset.Sheet, error) {
			if s.Chain.Sweeps == 0 {
				return runs.Sheet(m.WithSeed(s.Seed).Means(ctx, s.N))
			}
			return runs.Sheet(m.WithSeed(s.Seed).Gibbs(ctx, s.N, s.Chain, s.Progress))
		},
	}, runs.Drawing{
		Kind: "draws", Uses: []string{"seed"},
		Draw: func(ctx context.Context, s runs.Sampling) ([]dataset.Sheet, error) {
			return runs.Sheet(m.WithSeed(s.Seed).Draw(ctx, s.N))
		},
	}, runs.Drawing{
		Kind: "reconstructions", Uses: []string{"split", "seed"},
		Draw: func(ctx context.Context, s runs.Sampling) ([]dataset.Sheet, error) {
			rows, images, err := m.WithSeed(s.Seed).Reconstruct(ctx, s.Rows, s.N)
			both := dataset.Sheet{Shape: rows.Shape}
			for i := range rows.Values {
				both.Values = append(both.Values, rows.Values[i], images.Values[i])
			}
			return runs.Sheet(both, err)
		},
	}, runs.Drawing{
		Kind: "layers", Uses: []string{"seed"}, Columns: true,
		Draw: func(ctx context.Context, s runs.Sampling) ([]dataset.Sheet, error) {
			return m.WithSeed(s.Seed).Descend(ctx, s.N)
		},
	})
}

// Inpainting returns the function Inpaint, and the options that it uses.
func (m *Model) Inpainting() runs.Inpainting {
	uses, sweeps := append([]string{"draws"}, ofCandidates...), 20
	if m.experiment.Fill != nil { // importance resampling
		uses, sweeps = []string{"draws", "candidates"}, 0
	}
	return runs.Inpainting{Uses: uses, Sweeps: sweeps, Fill: func(ctx context.Context, rows dataset.Split, mask dataset.Mask, chains int, c Chain, seed uint64, progress func(float64)) (dataset.Inpainting, error) {
		return m.WithSeed(seed).Inpaint(ctx, rows, mask, chains, c, progress)
	}}
}

// Evaluations returns the evaluation function, by default with 1,000 importance samples per row, and the options that
// it uses.
func (m *Model) Evaluations() runs.Evaluations {
	return runs.Evaluations{
		Uses: []string{"samples", "log-z2", "log-z2-inner", "parts", "shard"},
		Evaluate: func(ctx context.Context, o runs.EvaluationOptions) (runs.Evaluation, error) {
			return m.WithSeed(o.Seed).evaluate(ctx, o)
		},
	}
}

// evaluate estimates log p of rows, and everything else that the options request.
func (m *Model) evaluate(ctx context.Context, o runs.EvaluationOptions) (e Evaluation, err error) {
	samples, progress := cmp.Or(o.Samples, 1000), o.ProgressOf("evaluating")
	if o.Parts == "" {
		e, err = m.Evaluate(ctx, o.Rows, samples, progress)
	} else {
		e, err = m.evaluateParts(ctx, o.Rows, samples, rowsAPart(samples), o.Parts, o.Share, progress)
	}
	if err != nil || o.Share.Count > 0 {
		return e, err
	}
	if o.LogZ2 > 0 {
		z, err := m.LogZ2(ctx, o.LogZ2, max(1, o.LogZ2Inner))
		if err != nil {
			return e, err
		}
		e = e.WithLogZ2(z)
	}
	return m.Complete(ctx, e, o.Set, o.Rows, o.ProgressOf("classifying"))
}

// LogPOfRows estimates log p(x) of each row of o.Rows, in nats, from o.Samples importance samples, by default
// 1,000. It also returns a description of the estimate in words. It returns the same errors as Evaluate.
func (m *Model) LogPOfRows(ctx context.Context, o runs.EvaluationOptions) ([]float64, string, error) {
	logP, _, what, err := m.LogPAndErrors(ctx, o)
	return logP, what, err
}

// LogPAndErrors is like LogPOfRows, and also returns the standard error of each log p, √((1/ESS − 1)/K) with the effective
// sample size ESS as a fraction of the K samples. It is the relative error of the mean weight, and NaN if few samples are effective.
func (m *Model) LogPAndErrors(ctx context.Context, o runs.EvaluationOptions) (logP, se []float64, what string, err error) {
	samples := cmp.Or(o.Samples, 1000)
	e, err := m.WithSeed(o.Seed).Evaluate(ctx, o.Rows, samples, o.ProgressOf("evaluating"))
	for _, ess := range e.EachESS {
		size := runs.SampleSize{Count: samples, Effective: runs.Float(ess * float64(samples))}
		if se = append(se, math.Sqrt(max(0, 1/ess-1)/float64(samples))); size.Few() {
			se[len(se)-1] = math.NaN()
		}
	}
	return e.Each, se, fmt.Sprintf("by %s a row, and too low in expectation", names.Count(samples, "importance sample")) + names.Clause(e.SampleSizes[runs.LogP.Key].Detail()), err
}

// LogLabels returns LogLabelProbabilities of o.Rows, by default with 1,000 samples, or nil if the model has no labels.
func (m *Model) LogLabels(ctx context.Context, o runs.EvaluationOptions) ([][]float64, error) {
	if m.Architecture().Labels() == 0 {
		return nil, nil
	}
	return m.WithSeed(o.Seed).LogLabelProbabilities(ctx, o.Rows, cmp.Or(o.Samples, 1000), o.ProgressOf("classifying"))
}

// Bidirectional reports whether training fitted p* to the data, as BiHM does, instead of p.
func (m *Model) Bidirectional() bool { return m.experiment.Method.Phases == Bidirectional }

// Notice warns of real numbers far from standardised ones, and of Gaussian units for categories.
func (e Experiment) Notice(set *dataset.Set) (notice string) {
	if len(e.Machine.Groups) == 0 {
		notice = set.DensityNotice()
	}
	if scale := set.ScaleNotice(); scale != "" {
		notice = names.Lines(notice, scale+". An RBM (cd, pcd) does this itself")
	}
	return notice
}

// Describe returns the memory that training needs, the device, and a table of the layers.
func (e Experiment) Describe(set *dataset.Set) (string, error) {
	memory, err := e.Memory(set)
	if err != nil {
		return "", err
	}
	_, device, err := Device()
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("about %d MB of memory; %s\n%s", memory>>20+1, device, e.MachineTable(set)), nil
}
