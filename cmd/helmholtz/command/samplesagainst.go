package command

import (
	"context"
	"fmt"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/helmholtz-go/helmholtz/runs/samples"
)

// judge returns findings about samples of a model beside rows of x.against, and a sentence about them.
func (x *estimate) judge(ctx context.Context, run *runs.Run, model any, o runs.EvaluationOptions) (found runs.Findings, about string, err error) {
	heldOut, own := o.Set.Split(x.against)
	if !own {
		if heldOut, err = o.Set.ReadRows(x.against); err != nil {
			return nil, "", err
		}
	}
	all, notice := heldOut.Rows, heldOut.Notice()
	heldOut = heldOut.Complete()
	n, err := samples.Count(o.Set, heldOut, x.rows)
	if err != nil {
		return nil, "", err
	}
	drawn, among, err := run.Given(ctx, model, o.Set, nil, runs.Sampling{N: n, Seed: x.seed, Progress: o.ProgressOf("sampling")}, dataset.Writing{})
	if err != nil {
		return nil, "", err
	}
	if found, about, err = samples.Judge(o.Set, heldOut, drawn, x.seed); among > n {
		about += fmt.Sprintf("; %s left out, in which a column had no value or several", names.Count(among-n, "draw"))
	}
	if gaps := all - heldOut.Rows; gaps > 0 {
		about += fmt.Sprintf("; %s with missing values left out", names.Count(gaps, "row"))
	}
	if notice != "" {
		about += "; " + notice
	}
	return found, about, err
}
