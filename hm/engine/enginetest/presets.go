package enginetest

import (
	"fmt"
	"testing"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/hm/engine/oracle"
)

// preset is a method, as a point on the axes. presets lists the published methods and covers each
// value of an axis that they lack.
type preset struct {
	name   string
	rule   engine.Rule
	metric engine.Metric
}

var presets = []preset{
	{"WS", engine.WakeSleep, engine.Euclidean},
	{"RWS", engine.ReweightedWakeSleep, engine.Euclidean},
	{"BiHM", engine.Bidirectional, engine.Euclidean},
	{"NWS", engine.WakeSleep, engine.Block},
	{"NRWS", engine.ReweightedWakeSleep, engine.Block},
	{"DNRWS", engine.ReweightedWakeSleep, engine.Diagonal},
	{"NBiHM", engine.Bidirectional, engine.Block},
	{"REINFORCE", engine.Reinforce, engine.Euclidean},
	{"Kronecker-factored NRWS", engine.ReweightedWakeSleep, engine.Kronecker},
}

func (p preset) algorithm() engine.Algorithm {
	return engine.Algorithm{
		Rule: p.rule, Metric: p.metric,
		Damping: 0.2, RefreshEvery: 1,
		AdamBeta1: 0.9, AdamBeta2: 0.999, AdamEpsilon: 1e-8, Momentum: 0.95,
		BatchSize: 3, Samples: 4, Baseline: true,
		SleepSteps:        1,
		ReinforceBaseline: engine.OptimalBaseline,
	}
}

// estimators lists rules that weigh samples themselves, with the oracle's weights.
var estimators = []struct {
	name   string
	rule   engine.Rule
	oracle *engine.Estimator
}{
	{"VIMCO", weighedBy(engine.VIMCO(false)), oracle.VIMCO(false)},
	{"VIMCO with arithmetic means", weighedBy(engine.VIMCO(true)), oracle.VIMCO(true)},
	{"OVIS", weighedBy(engine.OVIS(0.7)), oracle.OVIS(0.7)},
	{"TVO", weighedBy(engine.TVO([]float64{0, 0.1, 0.5})), oracle.TVO([]float64{0, 0.1, 0.5})},
}

func weighedBy(e *engine.Estimator) engine.Rule {
	return engine.Rule{Exponent: 1, QWake: 0.9, Estimator: e}
}

func everyPreset(t *testing.T, test func(t *testing.T, a engine.Algorithm)) {
	for _, p := range presets {
		t.Run(p.name, func(t *testing.T) { test(t, p.algorithm()) })
	}
}

// everyVariant tests all presets with and without the baseline, if they have a q-wake gradient, and
// with each source of the generative Fisher blocks.
func everyVariant(t *testing.T, test func(t *testing.T, a engine.Algorithm)) {
	everyPreset(t, func(t *testing.T, a engine.Algorithm) {
		for _, a.FisherSource = range []engine.FisherSource{engine.FromWake, engine.FromSleep, engine.FromLegacy} {
			for _, a.ReinforceBaseline = range []engine.ReinforceBaseline{engine.OptimalBaseline, engine.NoBaseline, engine.ConstantBaseline} {
				for _, a.Baseline = range []bool{true, false} {
					switch {
					case a.FisherSource != engine.FromWake && (a.Metric == engine.Euclidean || !a.HasSleep()):
					case a.ReinforceBaseline != engine.OptimalBaseline && !a.Reinforce:
					case a.Baseline && (a.Reinforce || !a.HasRecognitionWake()):
					default:
						name := fmt.Sprintf("baseline=%v,%v,source=%v", a.Baseline, a.ReinforceBaseline, a.FisherSource)
						t.Run(name, func(t *testing.T) { test(t, a) })
					}
				}
			}
		}
	})
}
