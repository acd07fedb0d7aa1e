package deterministic

import (
	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/factorized"
	"github.com/helmholtz-go/helmholtz/runs"
)

// Baseline implements runs.Baseliner. A machine whose hidden units say nothing of the
// data is a factorised model, and its free energy is −log p(x).
func (e Experiment) Baseline(set *dataset.Set, rows dataset.Split) runs.Baseline {
	line := factorized.Bernoulli(set.Train(), rows)
	return runs.Baseline{Rows: rows.Name, Factorized: runs.Estimate{Value: -line.LogP, SE: line.SE}, Limit: -line.Limit}
}
