package hm

import (
	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/factorized"
	"github.com/helmholtz-go/helmholtz/runs"
)

// Baseline implements runs.Baseliner by the log p(x) of factorised models. That of a
// machine with a label is of x alone, and so are these. Method.Baseline and
// Method.ReinforceBaseline are something else: control variates of gradients.
func (e Experiment) Baseline(set *dataset.Set, rows dataset.Split) runs.Baseline {
	line := factorized.Bernoulli(set.Train(), rows)
	if e.Machine.architecture(set.Shape()).Kind(0) == Gaussian {
		line = factorized.Gaussian(set.Train(), rows, engine.SigmaFloor)
	}
	return runs.Baseline{Rows: rows.Name, Factorized: runs.Estimate{Value: line.LogP, SE: line.SE}, Limit: line.Limit}
}
