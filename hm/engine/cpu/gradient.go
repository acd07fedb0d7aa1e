package cpu

import (
	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
)

// ascend computes the gradient of the objectives from the residuals of the two passes. If natural
// is set, it makes the gradient the direction of the step: it applies the metric and then subtracts
// the gradients of the penalised norms.
//
//	θ: (1/B) Σ ω̃ δ [1; parents]ᵀ                     wake (Várady 2025, 2.27)
//	φ: (1/B) Σ (ω̃ − c) δ [1; parents]ᵀ               q-wake (Várady 2025, 2.30)
//	φ: mean over dreams of δ [1; parents]ᵀ           sleep (Várady 2025, 2.31)
//	θ: β mean over dreams of ∂H/∂a [1; parents]ᵀ     entropy (Várady 2025, 6.18)
//	φ: β (1/BS) Σ ∂H/∂a [1; parents]ᵀ                entropy (Várady 2025, 6.18)
//
// Reweighted wake-sleep halves the q-wake and sleep terms of φ (Várady 2025, 2.32); rescaled sleep
// multiplies the sleep term. REINFORCE replaces ω̃ − c by (log p(x,h) − log q(h|x) − b)/S.
func (t *trainer) ascend(natural bool) {
	t.weigh()
	t.sum(natural)
}

// weigh weighs the samples of the step.
func (t *trainer) weigh() {
	t.count(t.wake)
	if t.dreams != nil {
		t.count(t.dreams)
	}
	parallel((t.wake.data+dataAPiece-1)/dataAPiece, func(piece int) {
		first := piece * dataAPiece
		for d := first; d < min(first+dataAPiece, t.wake.data); d++ {
			t.objective.weighResiduals(d)
			if t.wake.teaches[recognition] {
				residuals, of := t.wake.signal(recognition, 1)
				t.wake.sumOverSamples(t.wake.datum, residuals, d, of)
			}
		}
	})
}

// count lists the samples of a lesson that count in each gradient, with their weights. It skips the
// gradient of a network whose weighted residuals are computed separately.
func (t *trainer) count(l *lesson) {
	for _, n := range []network{generative, recognition} {
		counted, leavesOut := &l.counted[n], l == t.wake && leavesOut(t.job.Algorithm, n)
		counted.clear()
		if !l.teaches[n] || l.weighted[n] != nil {
			continue
		}
		for r := range l.rows() {
			if !leavesOut || !(t.importance[r] < weightless) {
				counted.add(r, t.objective.weight(l, n, r))
			}
		}
	}
}

// sum does the rest of ascend: it sums the gradients over the weighed samples and, if natural is
// set, turns the result into the direction of the step.
func (t *trainer) sum(natural bool) {
	clear(t.gradient.Classifier.Data) // which finish leaves alone if the machine learns without labels
	terms := t.newTerms(t.wake, t.dreams)
	t.eachTile(t.gradient, func(tile tile, gradient kernels.Matrix) {
		if !t.objective.accumulate(tile, gradient) {
			t.addTerms(tile, gradient, terms[tile.network][tile.layer])
		}
	}, func(tile tile, rows kernels.Matrix) {
		if natural {
			t.metric.apply(tile, rows)
			t.penalise(tile.network.Layer(t.point, tile.layer), rows, tile.first)
		}
	})
	t.objective.finish(matrix(t.gradient.Classifier))
	if natural {
		t.penalise(t.point.Classifier, matrix(t.gradient.Classifier), 0)
	}
}

// eachTile calls accumulate and then follow for each tile of sums. It handles the tiles in
// parallel, but calls accumulate for shared tiles one after another, because this call itself uses
// all processors.
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

// terms lists the terms of the gradient of each layer of each network.
type terms [][][]term

// newTerms returns the terms of the lessons that are not nil, prepared for multiplication.
func (t *trainer) newTerms(lessons ...*lesson) terms {
	all := make(terms, len(t.weights.connections))
	for n := range all {
		all[n] = make([][]term, len(t.wake.states))
	}
	var each []term
	for n := generative; n <= recognition; n++ {
		for i := int(n); i < len(all[n]); i++ {
			for _, l := range lessons {
				if l != nil && l.teaches[n] {
					all[n][i] = append(all[n][i], l.term(n, i))
				}
			}
			each = append(each, all[n][i]...)
		}
	}
	parallel(len(each), func(k int) { each[k].pack() })
	if len(t.weights.architecture.Tanh) > 0 {
		t.backPropagate(all)
	}
	return all
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

// addSharedTerms does the same as addTerms for weights that positions share. Such weights are few,
// and each gets products from many positions, so addSharedTerms divides the samples among the
// processors.
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

func columnSums(gradient kernels.Matrix, earlier float32, residuals kernels.Matrix) {
	for j := range gradient.Rows {
		sum := float64(earlier * gradient.Data[j*gradient.Stride])
		for r := range residuals.Rows {
			sum += float64(residuals.Data[r*residuals.Stride+j])
		}
		gradient.Data[j*gradient.Stride] = float32(sum)
	}
}
