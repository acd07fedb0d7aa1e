package cpu

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/floats"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/hm/engine/oracle"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/numbers"
)

// observing returns the machine whose p has only the visible units that mask does not hide.
func observing(n *oracle.Networks, mask []bool) *oracle.Networks {
	known := *n
	known.Generative = slices.DeleteFunc(slices.Clone(n.Generative), func(u oracle.Unit) bool { return u.Layer == 0 && mask != nil && mask[u.Index] })
	return &known
}

// openMachines have every kind of visible units, connected densely and by a convolution.
var openMachines = []engine.Architecture{
	{Units: []int{4, 3, 2}}, {Units: []int{4, 3, 2}, Coding: engine.PlusMinusOne},
	{Units: []int{5, 3, 2}, Kinds: []engine.Kind{engine.Gaussian}, Coding: engine.PlusMinusOne},
	{Units: []int{4, 3, 2}, Kinds: []engine.Kind{engine.Gaussian}, Coding: engine.PlusMinusOne, Convolutions: []engine.Convolution{{
		Fine: engine.Grid{Height: 4, Width: 1, Channels: 1}, Channels: 1, Height: 2, Width: 1, Stride: 1, Recognition: true, Generative: true,
	}}},
	{Units: []int{4, 3, 2}, Tanh: []int{3}, Coding: engine.PlusMinusOne},
	{Units: []int{6, 3, 2}, Kinds: []engine.Kind{engine.Categorical}, Groups: [][]engine.Group{{{Units: 1, Rest: true}, {Units: 3}, {Units: 2, Rest: true}}}, Coding: engine.PlusMinusOne},
	{Units: []int{8, 3, 2}, Kinds: []engine.Kind{engine.Categorical}, Groups: [][]engine.Group{{{Units: 3, Real: true}, {Units: 3}, {Units: 1, Rest: true}, {Units: 1, Real: true}}}, Coding: engine.PlusMinusOne},
}

// openRows returns rows of a machine, half of whose variables are missing, and the rows as q sees them. The first is complete.
func openRows(a engine.Architecture, rows int) (data engine.Data, seen [][]float64) {
	random := rand.New(rand.NewPCG(3, 4))
	groups := a.Variables(0)
	if groups == nil {
		groups = slices.Repeat([]engine.Group{{Units: 1, Rest: true, Real: a.Kind(0) == engine.Gaussian}}, a.Visible())
	}
	for j := range a.Visible() {
		data.Means = append(data.Means, float32(j+1)/10)
	}
	var values []float32
	for r := range rows {
		row := []float64{}
		for _, g := range groups {
			chosen, hidden := random.IntN(g.Categories()), make([]bool, g.Units)
			for k := range hidden {
				if hidden[k] = r > 0 && random.IntN(2) == 0; !g.Real && k > 0 {
					hidden[k] = hidden[0]
				}
				v := float64(a.Off(0))
				if g.Real {
					v = random.NormFloat64()
				} else if k == chosen {
					v = 1
				}
				of := v
				if hidden[k] {
					of = float64(data.Means[len(row)])
				}
				values, row = append(values, float32(max(v, 0))), append(row, of)
				if g.Real {
					values[len(values)-1] = float32(v)
				}
			}
			data.Missing = append(data.Missing, hidden...)
		}
		seen = append(seen, row)
	}
	data.Values = numbers.Reals(a.Visible(), values)
	if a.Binary(0) {
		bytes := make([]uint8, len(values))
		for k, v := range values {
			bytes[k] = uint8(255 * v)
		}
		data.Values = numbers.Bytes(a.Visible(), bytes)
	}
	return data, seen
}

// machine returns random parameters, which are small for Gaussian units.
func machine(a engine.Architecture) *engine.Parameters {
	p := oracle.Random(a, 7)
	if !a.Binary(0) {
		for k := range p.Flat {
			p.Flat[k] *= 0.2
		}
	}
	return p
}

// Without the missing units, the joint distribution of the oracle has as log p the sum over these units to 1e-12. The wake gradient
// of p is the derivative of this sum.
func TestLogPOfObservedUnitsIsASum(t *testing.T) {
	for _, a := range openMachines {
		if !a.Binary(0) || len(a.Tanh) > 0 {
			continue
		}
		n := oracle.NewNetworks(machine(a))
		data, seen := openRows(a, 6)
		sum := func(r int) float64 {
			var terms, first []float64
			for v := range n.Model() { // in which x changes first
				x, fits := v[0], true
				if first == nil {
					first = slices.Clone(x)
				} else if slices.Equal(x, first) {
					break
				}
				for j := range x {
					fits = fits && (data.Missing[r*len(x)+j] || x[j] == seen[r][j])
				}
				if fits {
					terms = append(terms, n.Explain(x).LogP())
				}
			}
			return floats.LogSumExp(terms)
		}
		for r, x := range seen {
			known := observing(n, data.Mask(r))
			if got, want := known.Explain(x).LogP(), sum(r); math.Abs(got-want) > 1e-12 {
				t.Errorf("%v, row %d: log p %v, want %v", a, r, got, want)
			}
			got := known.Score(known.Wake([][]float64{x}, oracle.Ratio))[:a.GenerativeSize()]
			want := fd.Gradient(nil, func(flat []float64) float64 {
				copy(n.Flat, flat)
				return sum(r)
			}, slices.Clone(n.Flat), &fd.Settings{Formula: fd.Central})[:a.GenerativeSize()]
			if !floats.EqualApprox(got, want, 1e-8) {
				t.Errorf("%v, row %d: gradient %v, by finite differences %v", a, r, got, want)
			}
		}
	}
}

// On the samples that a step has drawn, scores, gradients and Fisher blocks equal the oracle's without the missing units.
// q sees rows and dreams with means in their place.
func TestStepsWithGaps(t *testing.T) {
	const samples, rows = 5, 4
	for name, rule := range map[string]engine.Rule{
		"ws": engine.WakeSleep, "rws": engine.ReweightedWakeSleep, "reinforce": engine.Reinforce,
		"vimco": {Exponent: 1, QWake: 1, Estimator: engine.VIMCO(false)},
	} {
		for _, a := range openMachines {
			for _, metric := range []engine.Metric{engine.Euclidean, engine.Block, engine.Diagonal} {
				if metric != engine.Euclidean && len(a.Tanh) > 0 {
					continue
				}
				t.Run(fmt.Sprint(name, a.Units, a.Kinds, a.Coding, a.Tanh, metric), func(t *testing.T) {
					data, seen := openRows(a, rows)
					algorithm := engine.Algorithm{Rule: rule, Metric: metric, Damping: 0.2, RefreshEvery: 1, BatchSize: rows, Samples: samples, SleepSteps: 1, ReinforceBaseline: engine.OptimalBaseline}
					if rule.Reinforce && (len(a.Tanh) > 0 || len(a.Convolutions) > 0) {
						algorithm.ReinforceBaseline = engine.ConstantBaseline
					}
					p := machine(a)
					trainer, err := cpu{}.NewTrainer(engine.Job{Algorithm: algorithm, Data: data, Seed: 5, Rows: func(int) []int { return []int{0, 1, 2, 3} }}, engine.NewState(algorithm, p))
					if err != nil {
						t.Fatal(err)
					}
					got, err := trainer.Gradients(0.1)
					if err != nil {
						t.Fatal(err)
					}
					n := oracle.NewNetworks(p)
					want, blocks := make([]float64, len(n.Flat)), n.Fisher(slices.Concat(n.Generative, n.Recognition), func(func(oracle.Values, float64) bool) {})
					for r := range rows {
						known := observing(n, data.Mask(r))
						draws := oracle.Draws{Wake: [][]oracle.Values{{}}}
						for k := r * samples; k < (r+1)*samples; k++ {
							v := valuesOf(a, got.Wake, k)
							v[0] = seen[r]
							draws.Wake[0] = append(draws.Wake[0], v)
							if p, q := known.LogJointOf(v), known.LogRecognitionOf(v); math.Abs(got.Wake.LogP[k]-p) > 1e-5*(1+math.Abs(p)) || math.Abs(got.Wake.LogQ[k]-q) > 1e-5*(1+math.Abs(q)) {
								t.Errorf("sample %d: log p %v, log q %v, want %v, %v", k, got.Wake.LogP[k], got.Wake.LogQ[k], p, q)
							}
							if rule.Sleep > 0 {
								dream := valuesOf(a, got.Dreams, k)
								for j, missing := range data.Mask(r) {
									if missing {
										dream[0][j] = float64(data.Means[j])
									}
								}
								draws.Dreams = append(draws.Dreams, dream)
							}
						}
						floats.AddScaled(want, 1.0/rows, known.GradientOn(draws, algorithm))
						for _, part := range [][]oracle.Block{
							known.Fisher(known.Generative, known.WakeMeasure(draws, oracle.Weighting(rule.Exponent))), known.Fisher(known.Recognition, known.WakeMeasure(draws, oracle.Uniform)),
						} {
							for _, b := range part {
								k := slices.IndexFunc(blocks, func(of oracle.Block) bool { return of.Unit.Start == b.Unit.Start })
								b.Matrix.ScaleSym(1.0/rows, b.Matrix)
								blocks[k].Matrix.AddSym(blocks[k].Matrix, b.Matrix)
							}
						}
					}
					near(t, "gradient", got.Plain.Flat, want)
					switch metric {
					case engine.Euclidean:
						return
					case engine.Diagonal:
						blocks = oracle.Diagonal(blocks)
					}
					if want, err = oracle.NaturalGradient(blocks, want, algorithm.Damping); err != nil {
						t.Fatal(err)
					}
					near(t, "natural gradient", got.Natural.Flat, want)
				})
			}
		}
	}
}

func near(t *testing.T, what string, got []float32, want []float64) {
	t.Helper()
	d := kernels.Doubles(got)
	floats.Sub(d, want)
	if error := floats.Norm(d, 2); error > 2e-5*(1+floats.Norm(want, 2)) {
		t.Errorf("the %s differs by %v", what, error)
	}
}

// valuesOf returns the states of a draw.
func valuesOf(a engine.Architecture, d engine.Draws, r int) (v oracle.Values) {
	for i, units := range a.Units {
		layer := make([]float64, units)
		for j := range layer {
			switch {
			case d.Values[i] != nil:
				layer[j] = float64(d.Values[i][r*units+j])
			case d.States[i][r*units+j] == 1:
				layer[j] = 1
			default:
				layer[j] = float64(a.Off(i))
			}
		}
		v = append(v, layer)
	}
	return v
}

// Estimates of log p of the observed units tend to the exact value, whole or in parts.
func TestEvaluationWithGaps(t *testing.T) {
	const samples = 20_000
	for _, a := range openMachines[:2] {
		p := machine(a)
		n := oracle.NewNetworks(p)
		data, seen := openRows(a, 4)
		model, err := cpu{}.NewModel(p, engine.FloatingPoint)
		if err != nil {
			t.Fatal(err)
		}
		all, err := model.Evaluate(t.Context(), data, samples, 1, nil)
		if err != nil {
			t.Fatal(err)
		}
		part, err := model.Evaluate(t.Context(), data.Part(2, 2), samples, 1, nil)
		if err != nil || !slices.Equal(part, all[2:]) {
			t.Errorf("%v, %v, want %v", err, part, all[2:])
		}
		for r, got := range all {
			want := observing(n, data.Mask(r)).Explain(seen[r]).LogP()
			if se := math.Sqrt((1/got.ESS - 1) / samples); math.Abs(got.LogP-want) > 4*se+1e-5 {
				t.Errorf("row %d: log p %v ± %v, want %v", r, got.LogP, se, want)
			}
		}
	}
}
