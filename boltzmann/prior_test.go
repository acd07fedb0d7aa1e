package boltzmann

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/boltzmann/oracle"
	"github.com/helmholtz-go/helmholtz/dataset"
)

// Pseudo-likelihoods by all units do not depend on the first, and machines of other kinds are refused.
func TestPseudoLikelihoodsOfRows(t *testing.T) {
	m, rows := randomModel(t, 4, 3), split(oracle.Binary(4))
	pseudo, err := m.LogPseudoLikelihoods(rows, 4)
	if err != nil {
		t.Fatal(err)
	}
	other, err := m.WithSeed(5).LogPseudoLikelihoods(rows, 9)
	if err != nil {
		t.Fatal(err)
	}
	for r, log := range pseudo {
		if math.Abs(log-other[r]) > 1e-5 {
			t.Errorf("the pseudo-likelihood of row %d is %v, and %v from another unit on", r, log, other[r])
		}
	}
	deep, _ := composed(t, []int{5, 3, 2})
	labeled, _ := labeledModel(t, 3, 2, 2)
	gaussian, err := New(dataset.Shape{Height: 1, Width: 5}).Visible(Gaussian).Hidden(2).Model(1)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		model *Model
		units int
		says  string
	}{
		{deep, 1, "use a restricted machine"}, {labeled, 1, "use a restricted machine"}, {gaussian, 1, "use a restricted machine"},
		{randomBeliefNetwork(t, 5, 5, 2), 1, "use a restricted machine"}, {randomModel(t, 5, 3), 1, "has 5 visible units"},
		{m, 0, "use at least 1"}, {m, -1, "use at least 1"},
	} {
		if _, err := c.model.LogPseudoLikelihoods(rows, c.units); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("error %v, want one that says %q", err, c.says)
		}
	}
}

// A prior learns from rows of its units, at most a minibatch.
func TestPriorsThatAreRefused(t *testing.T) {
	m := randomModel(t, 5, 3)
	s := state{parameters: m.parameters, visibleOffsets: make([]float32, 5), hiddenOffsets: make([]float32, 3)}
	at, err := s.snapshot(m.shape)
	if err != nil {
		t.Fatal(err)
	}
	prior, err := ReadPrior(at, CD().BatchSize(2).Spec(), 1)
	if err != nil {
		t.Fatal(err)
	}
	before := prior.Model().Parameters()
	zeros := func(rows, units int) dataset.Split {
		return split(slices.Repeat([][]float64{make([]float64, units)}, rows))
	}
	for says, rows := range map[string]dataset.Split{"5 rows for minibatches of 2": zeros(5, 5), "has 5 visible units": zeros(2, 3)} {
		if _, _, err := prior.Step(t.Context(), rows, 0.1); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("error %v, want one that says %q", err, says)
		}
	}
	ends, _, err := prior.Step(t.Context(), zeros(2, 5), 0)
	if err != nil || ends.Rows != 2 || ends.Cols != 5 || !slices.Equal(before.Flat, prior.Model().Parameters().Flat) {
		t.Errorf("a step at the rate 0 ends in %v, %v", ends, err)
	}
	for says, method := range map[string]Method{
		"batch_size = 0": CD().BatchSize(0), "steps = 0": CD().Steps(0), "use cd, pcd or pt": PL(), "discriminative = 1": CD().Discriminative(1), "chains = -1": PCD().Chains(-1),
	} {
		_, read := ReadPrior(at, method.Spec(), 1)
		_, _, opened := new(Run).Prior("last", method.Spec(), 1)
		for _, err := range []error{read, opened} {
			if err == nil || !strings.Contains(err.Error(), says) {
				t.Errorf("error %v, want one that says %q", err, says)
			}
		}
	}
}
