package updown

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/helmholtz-go/helmholtz/boltzmann"
	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm/engine"
	hmoracle "github.com/helmholtz-go/helmholtz/hm/engine/oracle"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
)

// split has rows of zeros and ones as its values.
func split(states [][]float64) dataset.Split {
	var values []uint8
	for _, x := range slices.Concat(states...) {
		values = append(values, uint8(255*x))
	}
	return dataset.Split{Name: "test", Shape: dataset.Shape{Height: 1, Width: len(states[0])}, Values: dataset.Bytes(len(states[0]), values)}
}

var data = [][]float64{{0, 1, 1}, {1, 1, 1}, {0, 1, 0}, {0, 0, 0}}

// In expectation a step is that of its definition, each part of it, with any number of sweeps.
func TestStepsInExpectation(t *testing.T) {
	const steps = 1500
	rows := split(slices.Repeat(data, 16))
	order := make([]int, rows.Rows)
	for r := range order {
		order[r] = r
	}
	for _, k := range []int{1, 3} {
		x := randomTiny(t, 1)
		method := boltzmann.CD().Steps(k).Centered(false).Spec()
		origin := x.model(t, method, 0).parameters()
		mean, squares := make([]float64, len(origin)), make([]float64, len(origin))
		for step := range steps {
			tr := x.model(t, method, step)
			if _, err := tr.take(t.Context(), rows, order, 1); err != nil {
				t.Fatal(err)
			}
			for p, d := range floats.SubTo(make([]float64, len(origin)), tr.parameters(), origin) {
				mean[p] += d / steps
				squares[p] += d * d / steps
			}
		}
		for p, want := range x.exactly().step(data, k) {
			if se := math.Sqrt(max(0, squares[p]-mean[p]*mean[p]) / steps); math.Abs(mean[p]-want) > 4.5*se+1e-6 {
				t.Errorf("k = %d: the mean of step %d is %v ± %v, want %v", k, p, mean[p], se, want)
			}
		}
	}
}

// helmholtz is the network as a Helmholtz machine whose prior has the biases of the restricted
// machine, without its weights.
func (x tiny) helmholtz() *hmoracle.Networks {
	p := engine.NewParameters(engine.Architecture{Units: tinyUnits, Coding: engine.ZeroOne})
	write := func(to engine.Layer, from layer) {
		for j, b := range from.biases {
			to.Row(j)[0] = b
			for i := range from.weights.Rows {
				to.Row(j)[1+i] = kernels.Row(from.weights, i)[j]
			}
		}
	}
	for l := range x.generative {
		write(p.Generative[l], x.generative[l])
		write(p.Recognition[l+1], x.recognition[l])
	}
	write(p.Generative[2], layer{biases: x.prior.Tensors[1].Data})
	return hmoracle.NewNetworks(p)
}

// With a prior without weights the network is an ordinary Helmholtz machine, and its expected step
// that of wake-sleep, whatever the number of sweeps.
func TestWithoutWeightsItIsAHelmholtzMachine(t *testing.T) {
	x := randomTiny(t, 0)
	machine, exact := x.helmholtz(), x.exactly()
	want := machine.Limit(data, hmoracle.WakeSleep)
	of := engine.NewParameters(machine.Architecture)
	// place is where the gradient of a layer has its bias j, or its weight from parent i.
	start, place := 0, map[string]int{}
	for network, layers := range [][]engine.Layer{of.Generative, of.Recognition} {
		for l, layer := range layers {
			place[fmt.Sprintf("%s.%d", []string{"generative", "recognition"}[network], l)] = start
			start += layer.Units * layer.Width
		}
	}
	for _, k := range []int{1, 4} {
		step := exact.step(data, k)
		for name, l := range x.layers() {
			n, parents := len(l.biases), l.weights.Rows
			for j := range n {
				at := place[name] + j*(1+parents)
				if d := math.Abs(step[parents*n+j] - want[at]); d > 1e-6 {
					t.Errorf("%s: bias %d is %v from that of wake-sleep", name, j, d)
				}
				for i := range parents {
					if d := math.Abs(step[i*n+j] - want[at+1+i]); d > 1e-6 {
						t.Errorf("%s: the weight of %d to %d is %v from that of wake-sleep", name, i, j, d)
					}
				}
			}
			step = step[parents*n+n:]
		}
		for j := range tinyUnits[2] {
			if d := math.Abs(step[tinyUnits[2]*tinyHidden+j] - want[place["generative.2"]+j]); d > 1e-6 {
				t.Errorf("bias %d of the prior is %v from that of wake-sleep", j, d)
			}
		}
	}
	for state := range 1 << tinyUnits[0] {
		v := make([]float64, tinyUnits[0])
		for i := range v {
			v[i] = float64(state >> i & 1)
		}
		if d := math.Abs(machine.Explain(v).LogP() - exact.logP(v)); d > 1e-6 {
			t.Errorf("log p(%v) is %v from that of the Helmholtz machine", v, d)
		}
	}
}

// With a prior without weights, whose pseudo-likelihood is its likelihood, the mean of the
// pseudo-bound is the lower bound of log p(v).
func TestThePseudoBoundIsTheBoundWithoutWeights(t *testing.T) {
	x := randomTiny(t, 0)
	machine, want := x.helmholtz(), 0.0
	for _, v := range data {
		want += machine.Explain(v).Bound() / float64(len(data))
	}
	m := x.model(t, boltzmann.CD().Spec(), 0)
	rows := split(slices.Repeat(data, 200))
	var means []float64
	for seed := range uint64(40) {
		measured, err := validate(t.Context(), Experiment{}, m.WithSeed(seed), rows)
		if err != nil {
			t.Fatal(err)
		}
		means = append(means, measured[pseudoBound.Key])
	}
	if mean, sd := stat.MeanStdDev(means, nil); math.Abs(mean-want) > 4*sd/math.Sqrt(40) {
		t.Errorf("the pseudo-bound is %v ± %v, the bound %v", mean, sd/math.Sqrt(40), want)
	}
}

// A step that is cancelled leaves the state as it was.
func TestCanceledStepsLeaveTheState(t *testing.T) {
	x := randomTiny(t, 1)
	tr := x.model(t, boltzmann.CD().Spec(), 3)
	checksum := func() string {
		s, err := tr.snapshot()
		if err != nil {
			t.Fatal(err)
		}
		return s.Checksum()
	}
	before := checksum()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := tr.take(ctx, split(data), []int{0, 1}, 0.1); !errors.Is(err, context.Canceled) || checksum() != before || tr.step != 3 {
		t.Errorf("a cancelled step returns %v, and changes the state", err)
	}
}
