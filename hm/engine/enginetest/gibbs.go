package enginetest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/hm/engine/oracle"
	"github.com/helmholtz-go/helmholtz/internal/numbers"
)

// gibbs compares Gibbs chains with the exact transition probabilities: for each number of sweeps and of candidates,
// states must occur with the oracle's frequencies. Inpainting chains start at h ~ q(h|x) and never change known units.
func gibbs(t *testing.T, e engine.Engine) {
	const chains = 10_000
	every(t, func(t *testing.T, p *engine.Parameters) {
		n, model, data := oracle.NewNetworks(p), newChains(t, e, p), rowsOf(p.Architecture, 2)
		for _, c := range []struct {
			engine.Gibbs
			known []bool
		}{
			{engine.Gibbs{Sweeps: 0, Candidates: 2, Inner: 1}, nil},
			{engine.Gibbs{Sweeps: 1, Candidates: 1, Inner: 1}, nil},
			{engine.Gibbs{Sweeps: 1, Candidates: 2, Inner: 1}, nil},
			{engine.Gibbs{Sweeps: 3, Candidates: 5, Inner: 1}, nil},
			{engine.Gibbs{Sweeps: 1, Candidates: 3, Inner: 2}, nil},
			{engine.Gibbs{Sweeps: 2, Candidates: 3, Inner: 1}, []bool{true, false, false}},
			{engine.Gibbs{Sweeps: 2, Candidates: 3, Inner: 1}, []bool{false, true, true}},
		} {
			t.Run(fmt.Sprintf("%+v", c), func(t *testing.T) {
				twin := oracle.Gibbs{Networks: n, Candidates: c.Candidates, Inner: c.Inner, Known: c.known}
				if c.known == nil {
					draws := must(model.Gibbs(t.Context(), chains, c.Gibbs, seed, nil))(t)
					wantFrequencies(t, "last states", values(p.Architecture, draws), twin.After(n.Model(), c.Sweeps))
					return
				}
				states := values(p.Architecture, must(model.Inpaint(t.Context(), data, c.known, chains, c.Gibbs, seed, nil))(t))
				for r, x := range n.Rows(data) {
					wantFrequencies(t, fmt.Sprintf("last states of row %d", r), states[r*chains:(r+1)*chains],
						twin.After(n.Wake([][]float64{x}, oracle.Uniform), c.Sweeps))
				}
			})
		}
	}, coded(3, 2), tiny, coded(3, 1, 1, 2), categorical)
}

// stationary tests that chains that retain their states converge to p* for any number of
// candidates. Other chains come close to p* with many candidates, as the oracle's chains do, with
// which gibbs compares them.
func stationary(t *testing.T, e engine.Engine) {
	const chains = 6000
	data, known := engine.Data{Values: numbers.Bytes(3, []uint8{255, 0, 255})}, []bool{true, false, false}
	every(t, func(t *testing.T, p *engine.Parameters) {
		n, model := oracle.NewNetworks(p), newChains(t, e, p)
		for _, g := range []engine.Gibbs{
			{Sweeps: 30, Candidates: 2, Inner: 1, Retain: true},
			{Sweeps: 15, Candidates: 3, Inner: 2, Retain: true},
		} {
			t.Run(fmt.Sprintf("%+v", g), func(t *testing.T) {
				draws := must(model.Gibbs(t.Context(), chains, g, seed, nil))(t)
				wantFrequencies(t, "states of p*", values(p.Architecture, draws), n.Bidirectional())
				draws = must(model.Inpaint(t.Context(), data, known, chains, g, seed, nil))(t)
				wantFrequencies(t, "states of p* given the first unit", values(p.Architecture, draws), n.BidirectionalGiven(n.Rows(data)[0], known))
			})
		}
	}, tiny)
}

// chainsBegin tests that chains start at the draws of Generate and Infer, and that their visible
// means and log-probabilities match their states.
func chainsBegin(t *testing.T, e engine.Engine) {
	begin := func(t *testing.T, p *engine.Parameters) {
		networks, model, chains := oracle.NewNetworks(p), newModel(t, e, p), newChains(t, e, p)
		data := rowsOf(p.Architecture, 4)
		known := make([]bool, data.Units)
		known[0] = true
		for _, g := range []engine.Gibbs{
			{Candidates: 3, Inner: 2},
			{Sweeps: 2, Candidates: 3, Inner: 2},
			{Sweeps: 2, Candidates: 3, Inner: 2, Retain: true},
		} {
			draws := must(chains.Gibbs(t.Context(), 20, g, seed, nil))(t)
			inpainted := must(chains.Inpaint(t.Context(), data, known, 5, g, seed, nil))(t)
			wantScores(t, "chains", networks, draws)
			wantMeans(t, networks, draws, networks.Generative[:p.Architecture.Visible()])
			wantScores(t, "inpainted", networks, inpainted)
			wantMeans(t, networks, inpainted, networks.Generative[:p.Architecture.Visible()])
			if g.Sweeps > 0 {
				continue
			}
			generated := must(model.Generate(t.Context(), 20, seed))(t)
			inferred := must(model.Infer(t.Context(), data, 5, seed))(t)
			for i := range draws.States {
				if !slices.Equal(draws.States[i], generated.States[i]) || !slices.Equal(inpainted.States[i], inferred.States[i]) {
					t.Errorf("layer %d of the chains does not start at the draws of Generate and Infer", i)
				}
			}
		}
	}
	every(t, begin, binary)
	everyLabeled(t, func(t *testing.T, p *engine.Parameters, a engine.Algorithm, _ engine.Data) {
		if a.LabelProposal == engine.ExactLabels && !a.Baseline {
			begin(t, p)
		}
	})
}

// chainsAreDeterministic tests that the last state of a chain does not depend on the number of
// processors, the number of chains, or how the candidates are cut into chunks.
func chainsAreDeterministic(t *testing.T, e engine.Engine) {
	model := newChains(t, e, machine(engine.PlusMinusOne, 60, 40, 9))
	data := randomRows(7, 60)
	known := slices.Repeat([]bool{true, false}, 30)
	for _, g := range []engine.Gibbs{
		{Sweeps: 3, Candidates: 20, Inner: 5},
		{Sweeps: 3, Candidates: 20, Inner: 5, Retain: true},
		{Sweeps: 2, Candidates: 700, Inner: 2},
	} {
		gibbs := func(chains int, seed uint64) engine.Draws {
			return must(model.Gibbs(t.Context(), chains, g, seed, nil))(t)
		}
		first := wantDeterminism(t, func(seed uint64) map[string]any {
			return map[string]any{
				"chains":    gibbs(30, seed),
				"inpainted": must(model.Inpaint(t.Context(), data, known, 4, g, seed, nil))(t),
			}
		})
		if few := gibbs(11, seed).States[1]; !slices.Equal(few, first["chains"].(engine.Draws).States[1][:len(few)]) {
			t.Errorf("%+v: 11 chains are not the first of 30", g)
		}
		part := data
		part.First, part.Values = 3, data.Values.Part(3, 5)
		rows := must(model.Inpaint(t.Context(), part, known, 4, g, seed, nil))(t)
		if !slices.Equal(rows.States[0], first["inpainted"].(engine.Draws).States[0][3*4*60:5*4*60]) {
			t.Errorf("%+v: rows inpainted in parts differ from those inpainted together", g)
		}
	}
}

// descents tests that Descend keeps the layers from the given one upward, and draws the others from
// p given them.
func descents(t *testing.T, e engine.Engine) {
	const draws = 50_000
	every(t, func(t *testing.T, p *engine.Parameters) {
		n, model := oracle.NewNetworks(p), newModel(t, e, p)
		generated := must(model.Generate(t.Context(), draws, seed))(t)
		for layer := 1; layer <= p.Architecture.Depth(); layer++ {
			anew := must(model.Descend(t.Context(), draws, layer, seed))(t)
			wantFrequencies(t, fmt.Sprintf("states from layer %d", layer), values(p.Architecture, anew), n.Model())
			for i := range anew.States {
				if kept := slices.Equal(anew.States[i], generated.States[i]); kept != (i >= layer) {
					t.Errorf("from layer %d: layer %d kept is %v", layer, i, kept)
				}
			}
			// Given the kept layers, the redrawn units are independent of the first draws. This is
			// tested for x₀ and the most frequent state of the layer.
			wantIndependent(t, p.Architecture, generated, anew, layer)
		}
	}, tiny, small)
}

// wantIndependent tests, over the dreams with the most frequent state of a layer, that the first
// visible unit is on in both draws as often as the product of its frequencies in each predicts.
func wantIndependent(t *testing.T, of engine.Architecture, a, b engine.Draws, layer int) {
	t.Helper()
	groups := map[string][][2]float64{}
	for r, s := range values(of, a) {
		kept := s[layer : layer+1].Key()
		units := len(a.States[0]) / a.Rows
		groups[kept] = append(groups[kept], [2]float64{float64(a.States[0][r*units]), float64(b.States[0][r*units])})
	}
	var largest [][2]float64
	for _, group := range groups {
		if len(group) > len(largest) {
			largest = group
		}
	}
	n := float64(len(largest))
	var first, second, both float64
	for _, on := range largest {
		first, second, both = first+on[0]/n, second+on[1]/n, both+on[0]*on[1]/n
	}
	variance := first * (1 - first) * second * (1 - second) / n
	wantMean(t, fmt.Sprintf("covariance of draws given layer %d", layer), []float64{both - first*second}, []float64{0}, []float64{variance})
}
