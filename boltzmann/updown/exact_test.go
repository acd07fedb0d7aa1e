package updown

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/helmholtz-go/helmholtz/boltzmann"
	"github.com/helmholtz-go/helmholtz/boltzmann/oracle"
	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/runs"
)

// tiny is a network that is small enough to enumerate.
type tiny struct {
	network
	prior runs.Snapshot
}

var tinyUnits = []int{3, 2, 2}

const tinyHidden = 3 // units of the prior

// randomTiny has normal parameters; those of the prior's weights are multiplied by a factor.
func randomTiny(t testing.TB, factor float32) tiny {
	t.Helper()
	random := rand.New(rand.NewPCG(5, 6))
	normal := func(values []float32) []float32 {
		for k := range values {
			values[k] = float32(random.NormFloat64())
		}
		return values
	}
	x := tiny{network: newNetwork(tinyUnits)}
	for _, l := range x.layers() {
		normal(l.weights.Data)
		normal(l.biases)
	}
	visible := tinyUnits[len(tinyUnits)-1]
	text, err := json.Marshal(map[string]any{"hidden": tinyHidden, "visible": "bernoulli", "shape": dataset.Shape{Height: 1, Width: visible}, "slots": 0, "chains": 0})
	if err != nil {
		t.Fatal(err)
	}
	weights := normal(make([]float32, visible*tinyHidden))
	for k := range weights {
		weights[k] *= factor
	}
	x.prior = runs.Snapshot{Header: text, Tensors: []runs.Tensor{
		{Name: "weights", Shape: []int{visible, tinyHidden}, Data: weights},
		{Name: "biases.visible", Shape: []int{visible}, Data: normal(make([]float32, visible))},
		{Name: "biases.hidden", Shape: []int{tinyHidden}, Data: normal(make([]float32, tinyHidden))},
		{Name: "offsets.visible", Shape: []int{visible}, Data: make([]float32, visible)},
		{Name: "offsets.hidden", Shape: []int{tinyHidden}, Data: make([]float32, tinyHidden)},
	}}
	return x
}

// model begins at a step at the network, of which it has a copy.
func (x tiny) model(t testing.TB, method boltzmann.MethodSpec, step int) *Model {
	t.Helper()
	x.prior.Step = step
	prior, err := boltzmann.ReadPrior(x.prior, method, 7)
	if err != nil {
		t.Fatal(err)
	}
	own := newNetwork(tinyUnits)
	from := x.tensors()
	for k, into := range own.tensors() {
		copy(into.Data, from[k].Data)
	}
	return &Model{network: own, shape: dataset.Shape{Height: 1, Width: tinyUnits[0]}, prior: prior.Model(), learner: prior, seed: 7, step: step}
}

// parameters holds the parameters of the layers, then of the prior.
func (m *Model) parameters() (all []float64) {
	for _, of := range m.tensors() {
		all = append(all, kernels.Doubles(of.Data)...)
	}
	return append(all, kernels.Doubles(m.prior.Parameters().Flat)...)
}

// exact is the network in double precision.
type exact struct {
	tiny
	top *oracle.Machine
}

func (x tiny) exactly() exact {
	var parameters []float64
	for _, of := range x.prior.Tensors[:3] {
		parameters = append(parameters, kernels.Doubles(of.Data)...)
	}
	return exact{x, oracle.Bipartite(oracle.Binary(tinyUnits[2]), oracle.Binary(tinyHidden), parameters)}
}

// means are those of y given x.
func (l layer) means(x []float64) []float64 {
	p := kernels.Doubles(l.biases)
	for i, on := range x {
		floats.AddScaled(p, on, kernels.Doubles(kernels.Row(l.weights, i)))
	}
	for k, a := range p {
		p[k] = 1 / (1 + math.Exp(-a))
	}
	return p
}

// logP is log p(y|x).
func (l layer) logP(y, x []float64) (sum float64) {
	for k, p := range l.means(x) {
		sum += math.Log(1 - p + y[k]*(2*p-1))
	}
	return sum
}

// joint are all states of v, h¹ and h².
func joint(each func(h [][]float64)) {
	for _, v := range oracle.Binary(tinyUnits[0]) {
		for _, h1 := range oracle.Binary(tinyUnits[1]) {
			for _, h2 := range oracle.Binary(tinyUnits[2]) {
				each([][]float64{v, h1, h2})
			}
		}
	}
}

// logQ is log q(h|v), logGiven log p(v,h¹|h²).
func (x exact) logQ(h [][]float64) (sum float64) {
	for l, q := range x.recognition {
		sum += q.logP(h[l+1], h[l])
	}
	return sum
}

func (x exact) logGiven(h [][]float64) (sum float64) {
	for l, p := range x.generative {
		sum += p.logP(h[l], h[l+1])
	}
	return sum
}

// logP is log p(v).
func (x exact) logP(v []float64) float64 {
	var terms []float64
	joint(func(h [][]float64) {
		if floats.Equal(h[0], v) {
			terms = append(terms, x.logGiven(h)+x.top.LogP(h[2]))
		}
	})
	return floats.LogSumExp(terms)
}

// settled is the distribution of states of h² after k sweeps of the prior from another.
func (x exact) settled(p []float64, k int) []float64 {
	for range k {
		next := make([]float64, len(p))
		for from, v := range x.top.Visible {
			for _, h := range x.top.Hidden {
				for to, w := range x.top.Visible {
					next[to] += p[from] * math.Exp(x.top.LogPHidden(h, v)+x.top.LogPVisible(w, h))
				}
			}
		}
		p = next
	}
	return p
}

// step is the expected one on data by its definition: the gradients of wake and of sleep, whose
// dreams begin k sweeps from what q makes of the data, and of the prior the difference of its
// statistics between both. It is laid out as parameters.
func (x exact) step(data [][]float64, k int) []float64 {
	index := func(states [][]float64, s []float64) int {
		return slices.IndexFunc(states, func(t []float64) bool { return floats.Equal(s, t) })
	}
	of := newNetwork(tinyUnits)
	gradient := map[string][]float64{}
	for name, l := range of.layers() {
		gradient[name] = make([]float64, len(l.weights.Data)+len(l.biases))
	}
	add := func(name string, weight float64, l layer, y, x []float64) {
		for j, mean := range l.means(x) {
			d := weight * (y[j] - mean)
			for i, on := range x {
				gradient[name][i*len(y)+j] += d * on
			}
			gradient[name][len(x)*len(y)+j] += d
		}
	}
	starts := make([]float64, len(x.top.Visible))
	for _, v := range data {
		joint(func(h [][]float64) {
			if !floats.Equal(h[0], v) {
				return
			}
			weight := math.Exp(x.logQ(h)) / float64(len(data))
			starts[index(x.top.Visible, h[2])] += weight
			for l, p := range x.generative {
				add(fmt.Sprintf("generative.%d", l), weight, p, h[l], h[l+1])
			}
		})
	}
	ends := x.settled(starts, k)
	joint(func(h [][]float64) {
		weight := ends[index(x.top.Visible, h[2])] * math.Exp(x.logGiven(h))
		for l, q := range x.recognition {
			add(fmt.Sprintf("recognition.%d", l+1), weight, q, h[l+1], h[l])
		}
	})
	var all []float64
	for name := range of.layers() {
		all = append(all, gradient[name]...)
	}
	prior := make([]float64, len(x.top.Parameters))
	for s, v := range x.top.Visible {
		floats.AddScaled(prior, starts[s]-ends[s], x.top.Posterior(v))
	}
	return append(all, prior...)
}
