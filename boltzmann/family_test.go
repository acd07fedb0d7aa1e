package boltzmann

import (
	"math"
	"testing"

	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/helmholtz-go/helmholtz/runs/runstest"
)

func TestFamily(t *testing.T) {
	set := patterns(t)
	var refused []runstest.Refusal[Experiment]
	for _, c := range []struct {
		method  Method
		machine Machine
		says    string
	}{
		{short(PCD()), machineFor(set).Hidden(0), "0 hidden units"},
		{short(PCD()), machineFor(set).Hidden(5, 4).Beside(2, 5), "give between 1 and 4 units of layer 1"},
		{short(PCD()), machineFor(set).Hidden(5, 4).Beside(2), "of v and of at least one hidden layer"},
		{short(PCD()), machineFor(set).Visible(Gaussian), "keep the grey values"},
		{short(PCD()).VarianceRate(-1), machineFor(set), "variance_rate = -1"},
		{short(PCD()), machineFor(set).Visible(7), "unknown kind of units 7"},
		{short(PCD()).Chains(0), machineFor(set), "chains = 0"},
		{short(PCD()).Chains(1 << 31), machineFor(set).Hidden(1 << 17), "use fewer"},
		{short(PCD()).Natural(9, 1), machineFor(set), "unknown metric 9"},
		{short(PL()).Sparsity(1, 0.5), machineFor(set), "goes with cd, pcd and pt"},
		{short(PT()).Temperatures(1), machineFor(set), "temperatures = 1"},
		{short(PCD()).Temperatures(5), machineFor(set), "use pt"},
		{short(PCD()).Steps(0), machineFor(set), "steps = 0"},
		{short(PL()).Steps(5000), machineFor(set), "steps = 5000 of pl"},
		{short(CD()).OffsetRate(0), machineFor(set), "offset_rate = 0"},
		{short(CD()).Momentum(1), machineFor(set), "momentum = 1"},
		{short(CD()).AdamDecays(-1, 0.9), machineFor(set), "adam_beta1 = -1"},
		{short(CD()).AdamDecays(0.9, 1), machineFor(set), "adam_beta2 = 1"},
		{short(CD()).LearningRate(0), machineFor(set), "learning_rate = 0"},
		{short(CD()).LearningRate(math.Inf(1)), machineFor(set), "learning_rate = +Inf"},
		{short(CD()).StepDecay(0, 0.5), machineFor(set), "step_epochs = 0"},
		{short(CD()).StepDecay(1, 2), machineFor(set), "step_factor = 2"},
		{short(CD()).L1(-1), machineFor(set), "l1 = -1"},
		{short(CD()).L2(math.NaN()), machineFor(set), "l2 = NaN"},
		{short(CD()).BatchSize(0), machineFor(set), "batch_size = 0"},
		{short(CD()).Optimizer(7), machineFor(set), "unknown optimizer 7"},
	} {
		refused = append(refused, runstest.Refuse(func(e *Experiment) { *e = c.method.Experiment(c.machine, set) }, c.says))
	}
	runstest.Family(t, runstest.Case[Experiment, *Model]{
		Experiment: short(PCD().Optimizer(Momentum)).Schedule(runs.ConstantRate).Experiment(machineFor(set), set), Set: set,
		Kind:       kind,
		Aside:      []string{"imported.file", "imported.visible", "imported.hidden", "imported.sign", "below.run", "below.checkpoint", "start.run", "start.checkpoint", "pretrained.runs"},
		Refused:    refused,
		Impossible: map[string]float64{"chains.hidden": 0.5},
	})
}
