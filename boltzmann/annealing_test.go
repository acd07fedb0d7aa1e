package boltzmann

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/helmholtz-go/helmholtz/boltzmann/oracle"
	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/philox"
)

// smallModels calls test with models of few units, whose parameters are normal with
// standard deviations from 0.5 to 1.5, with the exact ones and rows for base rates. Each fifth
// has two categorical variables for its visible units.
func smallModels(t *testing.T, n int, test func(t *testing.T, m *Model, exact *oracle.Machine, base dataset.Split)) {
	random := rand.New(rand.NewPCG(3, 5))
	for k := range n {
		visible, hidden := 2+random.IntN(5), 1+random.IntN(5)
		categories := 0
		if k%5 == 4 {
			visible, categories = 6, 3
		}
		t.Run(fmt.Sprintf("%d_%dx%d", k, visible, hidden), func(t *testing.T) {
			m := randomModel(t, visible, hidden)
			if categories > 0 {
				m.parameters.Spec.Visible, m.parameters.Spec.Categories = Categorical, categories
			}
			for i := range m.parameters.Flat {
				m.parameters.Flat[i] *= 0.5 + float32(k)/float32(n)
			}
			states := exactly(m).Visible
			var rows [][]float64
			for range 7 {
				rows = append(rows, states[random.IntN(len(states))])
			}
			test(t, m.WithSeed(uint64(k)), exactly(m), split(rows))
		})
	}
}

// logTilde is log p*_β(v) by its definition, of the path of a model from the base rates
// of rows.
func logTilde(m *Model, base dataset.Split, beta float64, v []float64) float64 {
	sum, n := 0.0, float64(base.Rows)
	for i, x := range v {
		on := 0.0
		for r := range base.Rows {
			on += float64(base.Row(r)[i]) / 255
		}
		base := math.Log((on + 1) / (n - on + 1))
		if categories := m.parameters.Spec.Categories; categories > 0 {
			base = math.Log((on + 1) / (n + float64(categories)))
		}
		sum += x * ((1-beta)*base + beta*float64(m.parameters.VisibleBiases[i]))
	}
	for j, c := range m.parameters.HiddenBiases {
		a := float64(c)
		for i, x := range v {
			a += x * float64(kernels.Row(m.parameters.Weights, i)[j])
		}
		sum += math.Log1p(math.Exp(beta * a))
	}
	return sum
}

// transition is the matrix of probabilities with which annealing at β goes from a state
// of the visible units to another: h given v, and then v given h.
func transition(m *Model, base dataset.Split, beta float64, exact *oracle.Machine) [][]float64 {
	// p*_β(v,h) is of a machine with the parameters β θ, but for the visible biases.
	scaled := *exact
	scaled.Parameters = slices.Clone(exact.Parameters)
	floats.Scale(beta, scaled.Parameters)
	zero := make([]float64, m.parameters.Visible())
	for i := range zero {
		unit := slices.Clone(zero)
		unit[i] = 1
		bias := logTilde(m, base, beta, unit) - logTilde(m, base, beta, zero)
		for j, c := range m.parameters.HiddenBiases { // what the hidden units add
			w := float64(kernels.Row(m.parameters.Weights, i)[j])
			bias -= math.Log1p(math.Exp(beta*(float64(c)+w))) - math.Log1p(math.Exp(beta*float64(c)))
		}
		scaled.Parameters[len(m.parameters.Weights.Data)+i] = bias
	}
	visible, hidden := make([][]float64, len(exact.Visible)), make([][]float64, len(exact.Visible)) // p(v|h), p(h|v)
	for s, v := range exact.Visible {
		for _, h := range exact.Hidden {
			visible[s] = append(visible[s], math.Exp(scaled.LogPVisible(v, h)))
			hidden[s] = append(hidden[s], math.Exp(scaled.LogPHidden(h, v)))
		}
	}
	matrix := make([][]float64, len(visible))
	for s := range matrix {
		for _, to := range visible {
			matrix[s] = append(matrix[s], floats.Dot(hidden[s], to))
		}
	}
	return matrix
}

// logAnnealed is log p_ann(v) of all states, of the model that draws by annealing: the
// base-rate model, and then transitions at all temperatures between the ends.
func logAnnealed(m *Model, base dataset.Split, betas []float64, exact *oracle.Machine) []float64 {
	p := make([]float64, len(exact.Visible))
	for s, v := range exact.Visible {
		p[s] = logTilde(m, base, 0, v)
	}
	floats.AddConst(-floats.LogSumExp(p), p)
	for s := range p {
		p[s] = math.Exp(p[s])
	}
	for _, beta := range betas[1 : len(betas)-1] {
		next := make([]float64, len(p))
		for s, row := range transition(m, base, beta, exact) {
			floats.AddScaled(next, p[s], row)
		}
		p = next
	}
	for s := range p {
		p[s] = math.Log(p[s])
	}
	return p
}

// The ratios that annealing sums are those of p*_β by its definition, up or down.
func TestRatiosAlongThePath(t *testing.T) {
	smallModels(t, 10, func(t *testing.T, m *Model, exact *oracle.Machine, base dataset.Split) {
		p, err := m.newPath(t.Context(), base)
		if err != nil {
			t.Fatal(err)
		}
		var terms []float64
		for _, v := range exact.Visible {
			terms = append(terms, logTilde(m, base, 0, v))
		}
		if want := floats.LogSumExp(terms); math.Abs(p.logZ0-want) > 1e-5 {
			t.Errorf("log Z₀ = %v, want %v", p.logZ0, want)
		}
		for _, betas := range [][]float64{{0, 0.3}, {0.3, 0.7}, {1, 0.2}} {
			states := matrix(exact.Visible)
			err := p.anneal(t.Context(), &walk{
				chains: states.Rows, samples: 1, betas: betas,
				start: func(chain int, v []float32, _ philox.Counter) { copy(v, kernels.Row(states, chain)) },
				add: func(chain, _ int, ratio float64) {
					v := exact.Visible[chain]
					want := logTilde(m, base, betas[1], v) - logTilde(m, base, betas[0], v)
					if math.Abs(ratio-want) > 1e-5 {
						t.Errorf("log p*_%v(%v) − log p*_%v = %v, want %v", betas[1], v, betas[0], ratio, want)
					}
				},
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	})
}

// Z is the mean of the weights of chains, and of 1/Z those of chains from exact samples,
// whatever the schedule: within four standard errors, and with few steps and chains,
// log Z by the one is too low in the mean, and by the other too high.
func TestAnnealedImportanceSampling(t *testing.T) {
	const repeats = 40
	type method func(context.Context, dataset.Split, Annealing, func(float64)) (LogZ, error)
	far := map[string]int{}
	smallModels(t, 50, func(t *testing.T, m *Model, exact *oracle.Machine, base dataset.Split) {
		want := exact.LogZ()
		for name, of := range map[string]func(*Model) method{
			"forward": func(m *Model) method { return m.AIS }, "reverse": func(m *Model) method { return m.ReverseAIS },
		} {
			z, err := of(m)(t.Context(), base, Annealing{Schedule: Even(20), Chains: 1_000}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if math.Abs(float64(z.Value)-want) > 5*float64(z.SE)+1e-6 {
				t.Errorf("%s: log Z = %v ± %v, want %v", name, z.Value, z.SE, want)
			}
			if math.Abs(float64(z.Value)-want) > 2*float64(z.SE) {
				far[name]++
			}
			// Of two chains along two steps the means of many estimates err.
			var estimates []float64
			for repeat := range uint64(repeats) {
				z, err := of(m.WithSeed(repeat))(t.Context(), base, Annealing{Schedule: Even(2), Chains: 2}, nil)
				if err != nil {
					t.Fatal(err)
				}
				estimates = append(estimates, float64(z.Value))
			}
			mean, sd := stat.MeanStdDev(estimates, nil)
			side := map[string]float64{"forward": 1, "reverse": -1}[name]
			if side*(mean-want) > 4*sd/math.Sqrt(repeats)+1e-6 {
				t.Errorf("%s: log Z is %v in the mean, and %v", name, mean, want)
			}
		}
	})
	for name, n := range far {
		if n > 8 { // of 50, of which 2.3 are expected
			t.Errorf("%s: %d of 50 estimates are more than two standard errors off", name, n)
		}
	}
}

// RAISE has the mean p_ann(v), and log p_ann(v) is at least its logarithm in the mean;
// over the model log p_ann is at most log p in the mean.
func TestRAISE(t *testing.T) {
	smallModels(t, 50, func(t *testing.T, m *Model, exact *oracle.Machine, base dataset.Split) {
		const copies = 50
		a := Annealing{Schedule: Even(4), Chains: 2}
		annealed := logAnnealed(m, base, a.Schedule.temperatures(), exact)
		if total := floats.LogSumExp(annealed); math.Abs(total) > 1e-9 {
			t.Fatalf("p_ann sums to e^%v", total)
		}
		gap := 0.0
		for s, v := range exact.Visible {
			gap += math.Exp(exact.LogP(v)) * (exact.LogP(v) - annealed[s])
			rows := make([][]float64, copies)
			for r := range rows {
				rows[r] = v
			}
			logs, err := m.RAISE(t.Context(), base, split(rows), a, nil)
			if err != nil {
				t.Fatal(err)
			}
			mean, sd := stat.MeanStdDev(logs, nil)
			if mean-annealed[s] > 4*sd/math.Sqrt(copies) {
				t.Errorf("log p_ann(%v) = %v, estimated as %v in the mean", v, annealed[s], mean)
			}
			for r := range logs {
				logs[r] = math.Exp(logs[r] - annealed[s])
			}
			mean, sd = stat.MeanStdDev(logs, nil)
			if math.Abs(mean-1) > 5*sd/math.Sqrt(copies)+1e-5 {
				t.Errorf("p_ann(%v) estimated as %v ± %v of it", v, mean, sd/math.Sqrt(copies))
			}
		}
		if gap < 0 {
			t.Errorf("log p_ann exceeds log p over the model by %v in the mean", -gap)
		}
	})
}

// With many steps the estimates of rows agree with log p.
func TestRAISEWithManySteps(t *testing.T) {
	smallModels(t, 5, func(t *testing.T, m *Model, exact *oracle.Machine, base dataset.Split) {
		logs, err := m.RAISE(t.Context(), base, split(exact.Visible), Annealing{Schedule: Even(500), Chains: 20}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for s, v := range exact.Visible {
			if math.Abs(logs[s]-exact.LogP(v)) > 0.1 {
				t.Errorf("log p(%v) = %v, estimated as %v", v, exact.LogP(v), logs[s])
			}
		}
	})
}

// Where units are not connected, and base rates are the model's, weights do not vary:
// 14,500 steps in single precision lose nothing.
func TestAnnealingOfUnconnectedUnits(t *testing.T) {
	m := randomModel(t, 7, 200)
	clear(m.parameters.Weights.Data)
	base := split([][]float64{make([]float64, 7)})
	for i := range m.parameters.VisibleBiases {
		m.parameters.VisibleBiases[i] = float32(-math.Ln2) // 1 of 3
	}
	want, err := m.parameters.logZ(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []AnnealingSchedule{Published(), Adaptive(1_000)} {
		z, err := m.AIS(t.Context(), base, Annealing{Schedule: s, Chains: 4}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(float64(z.Value)-want) > 1e-3 || z.SE > 1e-4 {
			t.Errorf("%v: log Z = %v ± %v, want %v", s, z.Value, z.SE, want)
		}
	}
}

// Steps at equal distances spread weights less than equal steps do.
func TestAdaptiveSchedule(t *testing.T) {
	m := randomModel(t, 8, 6)
	for i := range m.parameters.Flat {
		m.parameters.Flat[i] *= 3
	}
	base := split(oracle.Binary(8)[:20])
	spread := map[spacing]float64{}
	for _, s := range []AnnealingSchedule{Even(200), Adaptive(200)} {
		z, err := m.AIS(t.Context(), base, Annealing{Schedule: s, Chains: 2_000}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if z.Steps != 200 {
			t.Errorf("%v has %d steps", s, z.Steps)
		}
		spread[s.spacing] = stat.StdDev(z.Each, nil)
	}
	if !(spread[adaptive] < spread[even]) {
		t.Errorf("weights spread by %v at adaptive steps, %v at even ones", spread[adaptive], spread[even])
	}
}

func TestSchedules(t *testing.T) {
	betas := Published().temperatures()
	if len(betas) != 14_501 {
		t.Errorf("the published schedule has %d temperatures", len(betas))
	}
	for k, want := range map[int]float64{0: 0, 1: 0.001, 500: 0.5, 501: 0.5001, 4_500: 0.9, 4_501: 0.90001, 14_500: 1} {
		if math.Abs(betas[k]-want) > 1e-12 {
			t.Errorf("β%d = %v, want %v", k, betas[k], want)
		}
	}
	for _, s := range []AnnealingSchedule{Published(), Even(7), Adaptive(1_000)} {
		text, err := s.MarshalText()
		if err != nil {
			t.Fatal(err)
		}
		var read AnnealingSchedule
		if err := read.UnmarshalText(text); err != nil || read != s {
			t.Errorf("%v is read as %v (%v)", s, read, err)
		}
	}
	for _, text := range []string{"", "even", "even:x", "even:0", "adaptive:99", "published:3", "even:10000000", "linear:3"} {
		if err := new(AnnealingSchedule).UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q is read as a schedule", text)
		}
	}
}

// A way is divided at equal distances, whatever the lengths of its steps, and has no step
// where there is none.
func TestEqualDistances(t *testing.T) {
	for _, lengths := range [][]float64{{1, 1, 1}, {0, 0, 0}, {5, 0, 0.1}, {0, 0, 7}} {
		betas := atEqualDistances([]float64{0, 0.2, 0.3, 1}, lengths, 50)
		if len(betas) != 51 || betas[0] != 0 || betas[50] != 1 || !slices.IsSorted(betas) || len(slices.Compact(slices.Clone(betas))) != 51 {
			t.Errorf("lengths %v: %v", lengths, betas)
		}
	}
	if got := atEqualDistances([]float64{0, 0.5, 1}, []float64{3, 1}, 4); !floats.EqualApprox(got, []float64{0, 0.5 * 1.1 / 3.2, 0.5 * 2.2 / 3.2, 0.5 + 0.5*0.1/1.2, 1}, 1e-12) {
		t.Errorf("steps of lengths 3 and 1 are divided at %v", got)
	}
}

// Exact samples have the distribution p(v), drawn on either side.
func TestExactSamples(t *testing.T) {
	const n = 20_000
	for _, units := range [][2]int{{3, 2}, {3, 4}} {
		m := randomModel(t, units[0], units[1])
		states, err := m.exactStates(t.Context(), n)
		if err != nil {
			t.Fatal(err)
		}
		counts := make([]float64, 8)
		for r := range n {
			v := kernels.Row(states, r)
			counts[int(v[0])+2*int(v[1])+4*int(v[2])]++
		}
		exact, chi2 := exactly(m), 0.0
		for s, v := range exact.Visible {
			expected := n * math.Exp(exact.LogP(v))
			chi2 += (counts[s] - expected) * (counts[s] - expected) / expected
		}
		if chi2 > 24.3 { // 99.9 % quantile at 7 degrees of freedom
			t.Errorf("%v: chi-squared %.1f of the states %v", units, chi2, counts)
		}
	}
}

// Estimates do not depend on the number of processors, and do on the seed.
func TestAnnealingDependsOnTheSeedAlone(t *testing.T) {
	m := randomModel(t, 20, 10)
	rows := split(oracle.Binary(20)[:20])
	estimates := func(m *Model) (all [3]any) {
		a := Annealing{Schedule: Adaptive(100), Chains: 70}
		for i, estimate := range []func() (any, error){
			func() (any, error) { return m.AIS(t.Context(), rows, a, nil) },
			func() (any, error) { return m.ReverseAIS(t.Context(), rows, a, nil) },
			func() (any, error) { return m.RAISE(t.Context(), rows, rows, a, nil) },
		} {
			var err error
			if all[i], err = estimate(); err != nil {
				t.Fatal(err)
			}
		}
		return all
	}
	want := estimates(m)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	if got := estimates(m); !reflect.DeepEqual(got, want) {
		t.Error("one processor estimates otherwise than several")
	}
	for i, got := range estimates(m.WithSeed(2)) {
		if reflect.DeepEqual(got, want[i]) {
			t.Errorf("another seed gives the same estimate %d", i)
		}
	}
}

// Estimates are cancelled, and say how far they are.
func TestAnnealingIsCanceled(t *testing.T) {
	m := randomModel(t, 20, 10)
	rows := split(oracle.Binary(20)[:3])
	ctx, cancel := context.WithCancel(t.Context())
	last := 0.0
	_, err := m.AIS(ctx, rows, Annealing{Schedule: Adaptive(1_000)}, func(fraction float64) {
		if fraction < last || fraction > 1 {
			t.Errorf("progress %v after %v", fraction, last)
		}
		if last = fraction; fraction > 0.5 {
			cancel()
		}
	})
	if err != context.Canceled {
		t.Errorf("error %v of a cancelled estimate", err)
	}
	if _, err := m.AIS(t.Context(), rows, Annealing{Schedule: Adaptive(100)}, func(fraction float64) { last = fraction }); err != nil || math.Abs(last-1) > 1e-12 {
		t.Errorf("progress ends at %v (%v)", last, err)
	}
}
