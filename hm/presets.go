package hm

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/runs"
)

// presets lists the published methods. Várady 2025 describes REINFORCE without training it, and does not
// mention JSA; both have the learning rate of RWS.
var presets = []point{
	{"ws", WakeSleep, Euclidean, 0.002, 0.2, 1000},
	{"rws", ReweightedWakeSleep, Euclidean, 0.002, 0.2, 1000},
	{"bihm", Bidirectional, Euclidean, 0.001, 0.2, 1000},
	{"nws", WakeSleep, Block, 0.002, 0.2, 1000},
	{"nrws", ReweightedWakeSleep, Block, 0.002, 0.2, 1000},
	{"dnrws", ReweightedWakeSleep, Diagonal, 0.002, 0.2, 1},
	{"nbihm", Bidirectional, Block, 0.001, 0.1, 1000},
	{"reinforce", Reinforce, Euclidean, 0.002, 0.2, 1000},
	{"jsa", JointStochastic, Euclidean, 0.002, 0.2, 1000},
}

// point holds the settings in which the presets differ.
type point struct {
	name         string
	phases       Phases
	metric       Metric
	learningRate float64
	damping      float64
	refreshEvery int
}

// Presets returns the names of the published methods, followed by the registered estimators.
func Presets() (names []string) {
	for _, p := range allPresets() {
		names = append(names, p.name)
	}
	return names
}

// allPresets returns the published methods, and each registered estimator with the settings of RWS.
func allPresets() []point {
	all := slices.Clone(presets)
	for _, p := range registered() {
		all = append(all, point{string(p), p, Euclidean, 0.002, 0.2, 1000})
	}
	return all
}

// Preset returns the method with the given name, with the settings of the thesis for MNIST (Várady
// 2025, tables 5.1 and 5.3; App. A.2).
func Preset(name string) (Method, error) {
	for _, p := range allPresets() {
		if p.name == name {
			return Method{
				spec: MethodSpec{
					Preset: p.name, Phases: p.phases, Metric: p.metric,
					LearningRate: p.learningRate, Damping: p.damping, RefreshEvery: p.refreshEvery,
					FisherPrecision: SixteenBits, Arithmetic: AutoArithmetic, Decay: runs.Decay{StepEpochs: 100, StepFactor: 0.5},
					BatchSize: 32, Samples: 10, Baseline: true,
					SleepSteps: 1, SleepScale: 1,
				},
				budget: runs.Budget{Epochs: 20, Seed: 1},
			}, nil
		}
	}
	return Method{}, fmt.Errorf("unknown method %q%s: use one of %s", name, names.Meant(name, Presets()...), strings.Join(Presets(), ", "))
}

// published returns the name of the preset with the phases and the metric of s. If no preset has both, it
// returns a preset with these phases, preferably one that has a Fisher metric if s has one, and none if s
// has none. REINFORCE, for example, has no natural variant and keeps its name in any metric.
func (s MethodSpec) published() string {
	name := s.Preset
	nearness := 0
	for _, p := range allPresets() {
		near := 1
		switch {
		case p.phases != s.Phases:
			continue
		case p.metric == s.Metric:
			near = 3
		case (p.metric == Euclidean) == (s.Metric == Euclidean):
			near = 2
		}
		if near > nearness {
			name, nearness = p.name, near
		}
	}
	return name
}

// misnomer returns the error for phases or a metric of another published method than the preset names, or "".
func (s MethodSpec) misnomer() string {
	published := s.published()
	if published == s.Preset {
		return ""
	}
	return fmt.Sprintf("preset = %q with phases = %v and metric = %v: these belong to the method %s; use preset = %[4]q (--algorithm %[4]s), or omit phases and metric (--phases, --fisher) to train %[1]s",
		s.Preset, s.Phases, s.Metric, published)
}

func preset(name string) Method {
	m, err := Preset(name)
	if err != nil {
		panic(err)
	}
	return m
}

// WS returns wake-sleep (Várady 2025, 2.2).
func WS() Method { return preset("ws") }

// RWS returns reweighted wake-sleep (Várady 2025, 2.3.1).
func RWS() Method { return preset("rws") }

// BiHM trains a bidirectional Helmholtz machine (BiHM thesis 2016, ch. 3; Várady 2025, 2.3.2). Várady
// 2025, App. A.2, starts BiHM and NBiHM from SmallNormal weights, which Machine.Weights sets.
func BiHM() Method { return preset("bihm") }

// NWS returns natural wake-sleep: WS in the Fisher metric.
func NWS() Method { return preset("nws") }

// NRWS returns natural reweighted wake-sleep (Várady 2025, Algorithm 4).
func NRWS() Method { return preset("nrws") }

// DNRWS returns NRWS with the diagonal of the Fisher matrix (Várady 2025, 5.3.6).
func DNRWS() Method { return preset("dnrws") }

// NBiHM trains a bidirectional Helmholtz machine in the Fisher metric (Várady 2025, 5.3.8).
func NBiHM() Method { return preset("nbihm") }

// JSA trains both networks on samples of p(h|x), from one Metropolis chain per training row (Ou and
// Song 2020).
func JSA() Method { return preset("jsa") }

// VIMCO ascends the importance-weighted bound of S samples. The control variate of a sample contains the
// geometric mean of the other samples' weights (Mnih and Rezende 2016).
func VIMCO() Method { return preset("vimco") }

// OVIS ascends the importance-weighted bound of S samples, with control variates that are optimal for many samples
// (Liévin, Dittadi, Christensen and Winther 2020). In the mean, q's gradient is the bound's gradient plus γ times
// the q-wake gradient of RWS, which exceeds it for many samples. The default γ is 1; with γ = 0 OVIS is unbiased.
func OVIS() Method { return preset("ovis") }

// TVO ascends the thermodynamic variational objective (Masrani, Le and Wood 2019).
func TVO() Method { return preset("tvo") }

// REINFORCE ascends the bound of log p(x) with both networks (Várady 2025, 2.3.3).
func REINFORCE() Method { return preset("reinforce") }

// Suggested returns a machine and a method with which training on a data set is likely to succeed at the
// first try. The page notebooks/results/first-try.md compares the suggestions with tuned settings on ten
// sets. The method is NRWS with a learning rate that falls along a cosine. The number of training rows
// decides its batch size, epochs, learning rate, damping, strength of L1, and steps between refreshes of the
// Fisher blocks. If the rows keep grey values or real numbers, the visible units are Gaussian and the method
// is RWS with Adam. If the set has categorical columns, or binary ones beside real numbers, the units of each column
// are one variable (Groups), and the method is RWS with Adam, too, if the largest Fisher block would have more than
// 1,000 rows. Dataset.Spec.OpenSuggested opens the set as "helmholtz new" does.
func Suggested(set *dataset.Set) (Machine, Method) {
	machine, method := SuggestedFor(set.Shape(), set.Train().Rows, set.Spec().Binarization)
	largest := 1
	for _, c := range set.Columns() {
		largest = max(largest, c.Units)
	}
	groups, err := groupsOf(set)
	mixed := slices.ContainsFunc(groups, func(g Groups) bool { return g.Real }) && slices.ContainsFunc(groups, func(g Groups) bool { return !g.Real })
	if err != nil || largest == 1 && !mixed {
		return machine, method
	}
	// On uci/adult, with up to 41 units a column, NRWS ends 0.05 nats higher, but takes ten times as long.
	if largest*(machine.spec.Layers[0]+1) > 1000 && method.spec.Metric != Euclidean {
		method = RWS().Optimizer(Adam).LearningRate(0.01).Schedule(CosineDecay).BatchSize(method.spec.BatchSize).Epochs(method.budget.Epochs)
	}
	return machine.Units().Groups(Groups{}), method
}

// SuggestedFor is like Suggested, for the given number, shape and binarisation of training rows.
func SuggestedFor(shape dataset.Shape, rows int, binarization dataset.Binarization) (Machine, Method) {
	const few = 1000 // rows; with fewer, the usual steps overfit within an epoch or two
	rows = max(1, rows)
	batch := min(32, rows)
	first := max(8, min(100, shape.Units()))
	machine := New(shape).Dense(first, first/2, first/4)
	epochs := max(20, min(200, 400_000/rows))
	switch {
	case binarization == dataset.Gray || binarization == dataset.Real:
		return machine.Units(Gaussian, Bernoulli, Bernoulli, Bernoulli),
			RWS().Optimizer(Adam).LearningRate(0.001).Schedule(CosineDecay).BatchSize(batch).Epochs(max(20, min(1000, 100_000/rows)))
	case rows < few:
		return machine, NRWS().LearningRate(0.03).Schedule(CosineDecay).Damping(0.2).RefreshEvery(10).L1(0.003).BatchSize(batch).Epochs(40)
	}
	return machine, NRWS().LearningRate(0.1).Schedule(CosineDecay).Damping(0.05).RefreshEvery(min(500, rows/batch)).
		L1(math.Round(1e6/float64(rows)) / 1e5).BatchSize(batch).Epochs(epochs)
}
