package boltzmann

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/helmholtz-go/helmholtz/boltzmann/oracle"
	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/runs"
)

// A swap of samples of two machines leaves both as they are: p(x)p′(y) times the probability of a swap is
// what it is the other way round, for all pairs of states of two machines of 6 and 5 units, and the
// accepted fraction is its expectation.
func TestSwapsAreInDetailedBalance(t *testing.T) {
	lower, upper := randomModel(t, 6, 5), randomModel(t, 6, 5).parameters.clone()
	random := rand.New(rand.NewPCG(1, 2))
	for k := range upper.Flat {
		upper.Flat[k] += float32(random.NormFloat64()) / 2
	}
	states := oracle.Binary(6)
	p, q := exactly(lower), exactly(&Model{parameters: upper})
	u := over(newProducts(lower.parameters), newProducts(upper), matrix(states))
	var ps, qs []float64
	for _, v := range states {
		ps, qs = append(ps, p.LogP(v)), append(qs, q.LogP(v))
	}
	expected := 0.0
	for s, x := range states {
		for r, y := range states {
			forth := math.Exp(ps[s]+qs[r]) * acceptance(u[s], u[r])
			back := math.Exp(ps[r]+qs[s]) * acceptance(u[r], u[s])
			if math.Abs(forth-back) > 1e-5*forth {
				t.Fatalf("%v and %v swap with %v, and back with %v", x, y, forth, back)
			}
			expected += forth
		}
	}
	const n = 20_000
	draw := func(logs []float64) (rows kernels.Matrix, us []float64) {
		rows = kernels.NewMatrix(n, 6)
		for r := range n {
			s := pick(logs, random.Float64())
			copy(kernels.Row(rows, r), narrow(states[s]))
			us = append(us, u[s])
		}
		return rows, us
	}
	xs, us := draw(ps)
	ys, vs := draw(qs)
	if mean := exchange(xs, ys, us, vs, place{key: 3}); math.Abs(mean-expected) > 4.5*0.5/math.Sqrt(n) {
		t.Errorf("swaps are accepted with the probability %v, want %v", mean, expected)
	}
	for k, of := range []struct {
		rows kernels.Matrix
		logs []float64
	}{{xs, ps}, {ys, qs}} {
		for i := range 6 { // means of units by themselves, and of pairs
			for j := range i + 1 {
				want, got := 0.0, 0.0
				for s, v := range states {
					want += math.Exp(of.logs[s]) * v[i] * v[j]
				}
				for r := range n {
					got += float64(kernels.Row(of.rows, r)[i]*kernels.Row(of.rows, r)[j]) / n
				}
				if math.Abs(got-want) > 4.5*math.Sqrt(want*(1-want)/n) {
					t.Errorf("machine %d: units %d and %d are on with the frequency %v, want %v", k, i, j, got, want)
				}
			}
		}
	}
}

// laddered is a model with a ladder of machines at some scales of its weights, whose reservoirs and
// chains are exact samples.
func laddered(t *testing.T, m *Model, chains int, scales ...float32) *Model {
	t.Helper()
	samples := func(p *Parameters) kernels.Matrix {
		states, err := (&Model{parameters: p, seed: m.seed}).exactStates(t.Context(), chains)
		if err != nil {
			t.Fatal(err)
		}
		return states
	}
	m.rungs = []rung{lowest(m.parameters, chains)}
	for _, scale := range scales {
		p := m.parameters.clone()
		for k := range p.Weights.Data {
			p.Weights.Data[k] *= scale
		}
		m.rungs = append(m.rungs, rung{newProducts(p), samples(p)})
	}
	w, inputs := newProducts(m.parameters), kernels.NewMatrix(chains, m.parameters.Hidden())
	m.chains = kernels.NewMatrix(chains, m.parameters.Hidden())
	w.up(inputs, samples(m.parameters))
	place{key: 8}.draw(w.latent, m.chains, inputs)
	return m
}

// Over 200 seeds the interval of two standard errors covers log Z as often as it says.
func TestBridgesCoverLogZ(t *testing.T) {
	m := randomModel(t, 4, 3)
	logZ, err := m.ExactLogZ(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	within := 0
	for seed := range uint64(200) {
		b, err := laddered(t, m.WithSeed(seed), 40, 0.3, 0.7).Bridge(t.Context(), 4, nil)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(float64(b.LogZ)-logZ) < 1.96*float64(b.SE) {
			within++
		}
	}
	if within < 180 || within > 198 { // 95 % of 200 and about 3 standard deviations
		t.Errorf("%d of 200 intervals have log Z, want about 190", within)
	}
}

// A ladder without overlap is refused, and so is a model without one.
func TestShortLaddersAreRefused(t *testing.T) {
	m := randomModel(t, 14, 6)
	for k := range m.parameters.Weights.Data {
		m.parameters.Weights.Data[k] *= 6
	}
	for says, of := range map[string]*Model{"the ladder is too short": laddered(t, m.WithSeed(1), 50), "has no ladder": randomModel(t, 3, 2)} {
		if _, err := of.Bridge(t.Context(), 3, nil); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("error %v, want one that says %q", err, says)
		}
	}
	set := patterns(t)
	cd, err := short(CD()).Train(t.Context(), machineFor(set), set, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	gray, labeled := grays(t), digits(t, 60, 20)
	for _, c := range []struct {
		says    string
		method  Method
		machine Machine
		set     *dataset.Set
	}{
		{"the ladder is too short, or too long", short(PTT()).Ladder(0.3, 1), machineFor(set), set},
		{"acceptance = 1.5", short(PTT()).Ladder(1.5, 5), machineFor(set), set},
		{"the algorithm pcd has no ladder", short(PCD()).Ladder(0.3, 5), machineFor(set), set},
		{"the ladder is too short, with no rung", short(PTT()).From(cd.Dir(), "last"), machineFor(set), set},
		{"algorithm = ptt with gaussian visible units", short(PTT()), machineFor(gray), gray},
		{"algorithm = ptt with discriminative = 0.5", short(PTT()).Discriminative(0.5), machineFor(labeled).Labels(10), labeled},
		{"use fewer", short(PTT()).Ladder(0.3, 60_000), machineFor(set).Hidden(1 << 17), set},
	} {
		if _, err := c.method.Train(t.Context(), c.machine, c.set, t.TempDir()); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("error %v, want one that says %q", err, c.says)
		}
	}
}

// Training builds a ladder, and at each checkpoint log Z along it is the exact one within its errors, of
// restricted and of deep machines.
func TestLaddersHaveLogZ(t *testing.T) {
	set := patterns(t)
	for name, machine := range map[string]Machine{"restricted": machineFor(set).Hidden(8), "deep": machineFor(set).Hidden(6, 4), "categorical": machineFor(set).Hidden(6).HiddenCategorical(3)} {
		m := PTT().Ladder(0.8, 10).Chains(60).BatchSize(9).Momentum(0.5).LearningRate(0.2).Epochs(60).Keep(10, 30).Schedule(runs.ConstantRate)
		run, err := m.Train(t.Context(), machine, set, t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		for _, epoch := range []string{"10", "30", "last"} {
			model, err := run.Checkpoint(epoch)
			if err != nil {
				t.Fatal(err)
			}
			logZ, err := model.ExactLogZ(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			b, err := model.Bridge(t.Context(), 20, nil)
			if err != nil {
				t.Fatal(err)
			}
			if math.Abs(float64(b.LogZ)-logZ) > 4*float64(b.SE) || b.SE > 0.2 {
				t.Errorf("%s, epoch %s: log Z is %v, exactly %v", name, epoch, b, logZ)
			}
			if epoch == "last" && b.Rungs < 3 {
				t.Errorf("%s: the ladder has %d rungs after training", name, b.Rungs)
			}
		}
	}
}

// A machine trained by PTT learns the weights 0.8 and 0.2 of two distant modes, within the error of 200
// chains. Chains of PCD stay in their modes, and odds of 4 become odds of more than 12.
func TestLaddersWeighModes(t *testing.T) {
	const units = 16
	rows := make([][]float64, 100)
	for r := range rows {
		rows[r] = make([]float64, units)
		for i := range rows[r] {
			rows[r][i] = float64(min(1, r%5))
		}
	}
	set, err := dataset.FromRows("two modes", dataset.Shape{Height: 4, Width: 4}, rows, rows[:20])
	if err != nil {
		t.Fatal(err)
	}
	weight := func(method Method) (on float64) {
		run, err := method.Chains(200).BatchSize(20).LearningRate(0.03).Epochs(250).Schedule(runs.ConstantRate).Train(t.Context(), New(set.Shape()).Hidden(4), set, t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		states, err := run.exactStates(t.Context(), 4000)
		if err != nil {
			t.Fatal(err)
		}
		for r := range states.Rows {
			if floats.Sum(row(states, r)) > units/2 {
				on += 1 / float64(states.Rows)
			}
		}
		return on
	}
	if ptt, pcd := weight(PTT()), weight(PCD()); math.Abs(ptt-0.8) > 3*math.Sqrt(0.8*0.2/200) || pcd < 12./13 {
		t.Errorf("PTT gives the larger mode the weight %v and PCD %v, want 0.8 and more than 0.92", ptt, pcd)
	}
}
