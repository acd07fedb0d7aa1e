package cpu

import (
	"slices"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
)

// ascend computes the gradient of the objectives from the residuals of the two
// passes. If natural, it makes it the direction of the step: it applies the
// metric, and then takes the gradients of the penalised norms away.
//
//	θ: (1/B) Σ ω̃ δ [1; parents]ᵀ                     wake (Várady 2025, 2.27)
//	φ: (1/B) Σ (ω̃ − c) δ [1; parents]ᵀ               q-wake (Várady 2025, 2.30)
//	φ: mean over dreams of δ [1; parents]ᵀ           sleep (Várady 2025, 2.31)
//	θ: β mean over dreams of ∂H/∂a [1; parents]ᵀ     entropy (Várady 2025, 6.18)
//	φ: β (1/BS) Σ ∂H/∂a [1; parents]ᵀ                entropy (Várady 2025, 6.18)
//
// Reweighted wake-sleep halves both terms of φ (Várady 2025, 2.32), rescaled sleep
// multiplies the last one. REINFORCE has log p(x,h) − log q(h|x) − b over S for
// ω̃ − c.
func (t *trainer) ascend(natural bool) {
	t.weightResiduals()
	t.sum(natural)
}

// sum is ascend once the residuals are weighted.
func (t *trainer) sum(natural bool) {
	var terms []term
	for i := range t.wake.states {
		terms = append(terms, t.terms(generative, i)...)
		if i > 0 {
			terms = append(terms, t.terms(recognition, i)...)
		}
	}
	t.packParents(terms)
	t.eachTile(t.gradient, t.accumulate, func(tile tile, rows kernels.Matrix) {
		if natural {
			t.metric.apply(tile.network, tile.layer, rows, tile.first)
			t.penaliseRows(tile.network, tile.layer, rows, tile.first)
		}
	})
	if t.labels != nil && !t.weights.classes.top {
		t.accumulateClassifier()
		if natural {
			t.penaliseClassifier()
		}
	}
}

// eachTile calls accumulate and then follow for each tile of sums over samples, on
// all processors. Where a tile is shared, accumulate does so itself.
func (t *trainer) eachTile(sums *engine.Parameters, accumulate, follow func(tile tile, rows kernels.Matrix)) {
	for _, tile := range t.tiles {
		if tile.shared {
			accumulate(tile, tile.of(sums))
		}
	}
	parallel(len(t.tiles), func(k int) {
		tile := t.tiles[k]
		rows := tile.of(sums)
		if !tile.shared {
			accumulate(tile, rows)
		}
		follow(tile, rows)
	})
}

// precondition applies the metric to the whole gradient.
func (t *trainer) precondition() {
	for i := range t.state.Parameters.Architecture.Units {
		for _, network := range []network{generative, recognition} {
			if layer := network.layer(t.gradient, i); layer.Units > 0 {
				t.metric.apply(network, i, matrix(layer), 0)
			}
		}
	}
}

// weightResiduals weighs the samples, and multiplies residuals where no single number
// weighs a sample's.
func (t *trainer) weightResiduals() {
	algorithm, batch, samples := t.job.Algorithm, t.wake.data, t.wake.samples
	warmth := algorithm.WarmedUp(t.state.Step) / float64(batch*samples)
	slope, score := warmth*algorithm.Entropy, -warmth*algorithm.EntropyEstimator
	t.weighSamples(score)
	pieces := (batch + dataAPiece - 1) / dataAPiece
	parallel(pieces, func(piece int) {
		first := piece * dataAPiece
		for d := first; d < min(first+dataAPiece, batch); d++ {
			if t.labels != nil {
				t.weightLabels(d)
				continue
			}
			if t.recognitionWake() {
				t.weightRecognition(d, score, slope)
			}
			if algorithm.HasEntropy() {
				for r := d * samples; r < (d+1)*samples; r++ {
					for i := range t.dreams.states {
						t.dreams.weightRow(t.dreams.generative, i, r, score, slope)
					}
				}
			}
		}
	})
}

// weightRecognition multiplies the recognition residuals of the samples of datum d
// by their weights where REINFORCE has others a parameter, or where slope times the
// slopes of the entropies are added, and sums those of the first layer.
func (t *trainer) weightRecognition(d int, score, slope float64) {
	if t.job.Algorithm.Reinforce {
		t.reinforce(d)
	} else if t.wake.slopes != nil {
		for r := d * t.wake.samples; r < (d+1)*t.wake.samples; r++ {
			for i := 1; i < len(t.wake.states); i++ {
				t.wake.weightRow(t.wake.recognition, i, r, t.recognitionWeight(r, score), slope)
			}
		}
	}
	t.sumOverSamples(t.datum, t.wake.recognition[1], d, t.ofRecognition)
}

// sumOverSamples writes the sum of the rows of the samples of datum d, weighted.
func (t *trainer) sumOverSamples(sums, rows kernels.Matrix, d int, of weighting) {
	sum, first, last := kernels.Row(sums, d), d*t.wake.samples, (d+1)*t.wake.samples
	clear(sum)
	if of.empty() {
		for r := first; r < last; r++ {
			kernels.AddMultiple(sum, 1, kernels.Row(rows, r))
		}
		return
	}
	from, _ := slices.BinarySearch(of.rows, int32(first))
	for k := from; k < len(of.rows) && int(of.rows[k]) < last; k++ {
		kernels.AddMultiple(sum, of.weights[k], kernels.Row(rows, int(of.rows[k])))
	}
}

// accumulate computes a tile of the gradient.
func (t *trainer) accumulate(tile tile, gradient kernels.Matrix) {
	switch n, i := tile.network, tile.layer; {
	case n == generative && i == len(t.wake.states)-2 && t.labels != nil && t.weights.classes.top:
		t.accumulateLabels(gradient, tile.first, tile.last)
	case n == recognition && t.reinforcesParameters(i):
		t.reinforceParameters(tile, gradient)
	default:
		t.addTerms(tile, gradient, t.terms(n, i))
	}
}

// term is a part of the gradient of a layer that is made of residuals times
// inputs, a row a sample.
type term struct {
	residuals kernels.Matrix
	of        weighting      // whose residuals these are
	states    kernels.Matrix // of the parents
	parents   kernels.Matrix // the states, of the samples that count
	bits      *kernels.Bits  // the parents; nil for floating point
}

// terms are those of layer i of a network.
func (t *trainer) terms(n network, i int) (terms []term) {
	if n == generative {
		terms = append(terms, t.wake.generation(i, t.ofGeneration))
		if t.job.Algorithm.HasEntropy() {
			terms = append(terms, t.dreams.generation(i, weighting{}))
		}
		return terms
	}
	if t.recognitionWake() {
		residuals, of := t.wake.recognition[i], t.ofRecognition
		if i == 1 {
			// All samples of a datum have the same parents: rank B, not B·S.
			residuals, of = kernels.Rows(t.datum, 0, t.wake.data), weighting{}
		}
		terms = append(terms, t.wake.term(recognition, i, residuals, of))
	}
	if t.job.Algorithm.HasSleep() {
		terms = append(terms, t.sleep(i))
	}
	return terms
}

// generation is the term of p(hⁱ|hⁱ⁺¹), or of the prior, from a pass.
func (v *pass) generation(i int, of weighting) term {
	if i == len(v.states)-1 {
		return term{residuals: v.generative[i], of: of}
	}
	return v.term(generative, i, v.generative[i], of)
}

// sleep is the term of q(hⁱ|hⁱ⁻¹) from the dreams.
func (t *trainer) sleep(i int) term {
	return t.dreams.term(recognition, i, t.dreams.recognition[i], t.ofDreams)
}

// term is that of layer i of a network from residuals of a pass.
func (v *pass) term(n network, i int, residuals kernels.Matrix, of weighting) term {
	all := v.states[n.parents(i)]
	parents := all
	if !of.empty() && len(of.rows) < all.Rows {
		parents = kernels.Rows(v.compact[n][i], 0, len(of.rows))
	}
	return term{residuals, of, all, parents, v.parents[n][i]}
}

// addTerms computes a tile of the gradient from terms.
func (t *trainer) addTerms(tile tile, gradient kernels.Matrix, terms []term) {
	if tile.shared {
		t.addSharedTerms(tile, gradient, terms)
		return
	}
	connection, earlier := t.weights.connections[tile.network][tile.layer], float32(0)
	strip := strips.Get().(*[]float32)
	defer strips.Put(strip)
	for _, term := range terms {
		residuals := term.of.weigh(tile.residuals(term.residuals), strip)
		switch {
		case connection == nil: // the prior
			columnSums(gradient, earlier, residuals)
		case term.bits != nil:
			kernels.AddTN(gradient, earlier != 0, residuals, term.bits)
		default:
			connection.accumulate(gradient, earlier, residuals, term.parents)
		}
		earlier = 1
	}
}

// addSharedTerms is addTerms for weights that positions share. These are few, and
// what gives to them is much: the samples are divided among the processors.
func (t *trainer) addSharedTerms(tile tile, gradient kernels.Matrix, terms []term) {
	var parts []term
	for _, whole := range terms {
		for first := 0; first < whole.parents.Rows; first += samplesAPart {
			parts = append(parts, whole.part(first, min(first+samplesAPart, whole.parents.Rows)))
		}
	}
	connection := t.weights.connections[tile.network][tile.layer]
	gradients := make([]kernels.Matrix, len(parts))
	parallel(len(parts), func(k int) {
		strip := strips.Get().(*[]float32)
		defer strips.Put(strip)
		gradients[k] = kernels.NewMatrix(gradient.Rows, gradient.Cols)
		connection.accumulate(gradients[k], 0, parts[k].of.weigh(parts[k].residuals, strip), parts[k].parents)
	})
	sum := gradient.Data[:gradient.Rows*gradient.Cols]
	clear(sum)
	for _, g := range gradients {
		for k, x := range g.Data {
			sum[k] += x
		}
	}
}

// part is the term of weighting first to last−1 of those that count.
func (t term) part(first, last int) term {
	t.parents = kernels.Rows(t.parents, first, last)
	if t.of.empty() {
		t.residuals = kernels.Rows(t.residuals, first, last)
	} else {
		t.of = weighting{t.of.rows[first:last], t.of.weights[first:last]}
	}
	return t
}

// recognitionWake says whether the gradient of q has a term from the wake
// samples.
func (t *trainer) recognitionWake() bool {
	a := t.job.Algorithm
	return a.HasRecognitionWake() || a.HasEntropy()
}

func columnSums(gradient kernels.Matrix, earlier float32, residuals kernels.Matrix) {
	for j := range gradient.Rows {
		sum := float64(earlier * gradient.Data[j*gradient.Stride])
		for r := range residuals.Rows {
			sum += float64(residuals.Data[r*residuals.Stride+j])
		}
		gradient.Data[j*gradient.Stride] = float32(sum)
	}
}
