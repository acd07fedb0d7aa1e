package boltzmann

import (
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/helmholtz-go/helmholtz/boltzmann/oracle"
	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
)

// Rows of states have log p(v) + log Z of the oracle, and pseudo-likelihoods by all units that do not
// depend on the first.
func TestRowsOfStates(t *testing.T) {
	m := randomModel(t, 4, 3)
	exact, rows := exactly(m), oracle.Binary(4)
	logs, err := m.Unnormalized(matrix(rows))
	if err != nil {
		t.Fatal(err)
	}
	pseudo, err := m.LogPseudoLikelihoods(matrix(rows), 4)
	if err != nil {
		t.Fatal(err)
	}
	other, err := m.WithSeed(5).LogPseudoLikelihoods(matrix(rows), 9)
	if err != nil {
		t.Fatal(err)
	}
	for r, v := range rows {
		if want := exact.LogP(v) + exact.LogZ(); math.Abs(logs[r]-want) > 1e-5 {
			t.Errorf("log p(%v) + log Z is %v, want %v", v, logs[r], want)
		}
		if math.Abs(pseudo[r]-other[r]) > 1e-5 {
			t.Errorf("the pseudo-likelihood of %v is %v, and %v from another unit on", v, pseudo[r], other[r])
		}
	}
}

// What is no restricted machine of Bernoulli units, rows of another, and methods without chains are
// refused.
func TestRowsOfStatesThatAreRefused(t *testing.T) {
	deep, _ := composed(t, []int{5, 3, 2})
	labeled, _ := labeledModel(t, 3, 2, 2)
	gaussian, err := New(dataset.Shape{Height: 1, Width: 5}).Visible(Gaussian).Hidden(2).Model(1)
	if err != nil {
		t.Fatal(err)
	}
	plain, five := randomModel(t, 5, 3), kernels.NewMatrix(5, 5)
	short := five
	short.Data = short.Data[:24]
	const kind, shape = "use a restricted machine of Bernoulli units", "has 5 visible ones"
	for _, c := range []struct {
		model  *Model
		states blas32.General
		says   string
	}{
		{deep, kernels.NewMatrix(1, 7), kind}, {labeled, five, kind}, {gaussian, five, kind}, {randomBeliefNetwork(t, 5, 5, 2), five, kind},
		{plain, kernels.NewMatrix(5, 3), shape}, {plain, kernels.NewMatrix(0, 5), shape}, {plain, short, "24 values"},
	} {
		_, pseudo := c.model.LogPseudoLikelihoods(c.states, 1)
		_, unnormalized := c.model.Unnormalized(c.states)
		_, logZ := c.model.LogZOver(t.Context(), c.states, Annealing{}, nil)
		for _, err := range []error{pseudo, unnormalized, logZ} {
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("error %v, want one that says %q", err, c.says)
			}
		}
	}
	for _, units := range []int{0, -1} {
		if _, err := plain.LogPseudoLikelihoods(five, units); err == nil || !strings.Contains(err.Error(), "use at least 1") {
			t.Errorf("%d units: %v", units, err)
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
	for says, states := range map[string]blas32.General{"5 rows for minibatches of 2": kernels.NewMatrix(5, 5), "has 5 visible ones": kernels.NewMatrix(2, 3), "give at least 1 row": kernels.NewMatrix(0, 5)} {
		if _, _, err := prior.Step(t.Context(), states, 0.1); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("error %v, want one that says %q", err, says)
		}
	}
	ends, _, err := prior.Step(t.Context(), kernels.NewMatrix(2, 5), 0)
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
