package hm

import (
	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/factorized"
	"github.com/helmholtz-go/helmholtz/runs"
)

// Baseline returns log p(x), in nats, of factorised models of the rows. For a machine with a label
// it ignores the label, as the machine's log p(x) does. Method.Baseline and
// Method.ReinforceBaseline are something else: control variates of gradients.
func (e Experiment) Baseline(set *dataset.Set, rows dataset.Split) runs.Baseline {
	line := factorized.Bernoulli(set.Train(), rows)
	if e.Machine.architecture(set.Shape()).Kind(0) == Gaussian {
		line = factorized.Gaussian(set.Train(), rows, engine.SigmaFloor)
	}
	return runs.Baseline{Rows: rows.Name, Factorized: runs.Estimate{Value: line.LogP, SE: line.SE}, Limit: line.Limit}
}
