package factors

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/helmholtz-go/helmholtz/runs/runstest"
)

// dictionary returns drawn atoms of length 1, and rows of two or three of them each.
func dictionary(d, q, rows int, α float64) (m *Dictionary, x [][]float64) {
	random := rand.New(rand.NewPCG(1, uint64(q)))
	m = newDictionary(q, cost{alpha: α}, dataset.Shape{Height: 1, Width: d})
	w := m.w()
	for j := range q {
		for i := range d {
			w.Set(j, i, random.NormFloat64())
		}
		floats.Scale(1/floats.Norm(w.RawRowView(j), 2), w.RawRowView(j))
	}
	for range rows {
		row := make([]float64, d)
		for range 2 + random.IntN(2) {
			floats.AddScaled(row, 2*random.NormFloat64(), w.RawRowView(random.IntN(q)))
		}
		x = append(x, row)
	}
	return m, x
}

// Codes fulfil the conditions of Karush, Kuhn and Tucker, and their duality gap is at most 10⁻⁸ of
// ½|x|². The objective is what it says.
func TestCodesAreOptimal(t *testing.T) {
	const α = 0.3
	m, rows := dictionary(8, 20, 50, α)
	c, w := m.Encode(rows), m.w()
	for r, x := range m.Reconstruct(rows) {
		h, rest := c.H.RawRowView(r), make([]float64, 8)
		floats.SubTo(rest, rows[r], x)
		square := floats.Dot(rest, rest)
		wantNear(t, "the square", c.Square[r], square, 1e-12)
		wantNear(t, "the objective", c.Objective[r], square/2+α*floats.Norm(h, 1), 1e-12)
		if whole := floats.Dot(rows[r], rows[r]) / 2; c.Gap[r] > 1e-8*whole || c.Gap[r] < -1e-14*whole {
			t.Errorf("row %d has the duality gap %v of %v", r, c.Gap[r], whole)
		}
		for j, v := range h {
			along := floats.Dot(w.RawRowView(j), rest)
			if v == 0 && math.Abs(along) > α+1e-3 {
				t.Errorf("an atom that is not used has the product %v with the rest, want at most α", along)
			}
			if v != 0 {
				wantNear(t, "the product of an atom that is used", along, math.Copysign(α, v), 1e-3)
			}
		}
	}
}

// With orthonormal atoms codes are thresholded products.
func TestOrthonormalCodesAreThresholded(t *testing.T) {
	m, rows := dictionary(6, 6, 20, 0.5)
	m.w().Copy(basis(m.w()))
	c := m.Encode(rows)
	for r, x := range rows {
		for j := range 6 {
			product := floats.Dot(x, m.w().RawRowView(j))
			wantNear(t, "a code", c.H.At(r, j), math.Copysign(max(0, math.Abs(product)-0.5), product), 1e-12)
		}
	}
}

// Atoms of which rows are made are found, and their lengths stay at most 1.
func TestLearningFindsTheAtoms(t *testing.T) {
	truth, rows := dictionary(10, 12, 1_000, 0.5)
	m := newDictionary(12, cost{alpha: 0.5}, truth.shape)
	m.begin(rows, 4)
	before := stat.Mean(m.Encode(rows).Objective, nil)
	for step := range 150 {
		batch := step % 10 * 100
		if _, err := m.learn(t.Context(), rows[batch:batch+100], 1/float64(min(step+1, 10)), 10); err != nil {
			t.Fatal(err)
		}
	}
	if after := stat.Mean(m.Encode(rows).Objective, nil); after >= before || after > 1.01*stat.Mean(truth.Encode(rows).Objective, nil) {
		t.Errorf("the objective falls from %v to %v, where the true atoms have %v", before, after, stat.Mean(truth.Encode(rows).Objective, nil))
	}
	var products mat.Dense
	products.Mul(truth.w(), m.w().T())
	found := 0
	for j := range 12 {
		if length := floats.Norm(m.w().RawRowView(j), 2); length > 1+1e-12 {
			t.Errorf("atom %d has the length %v", j, length)
		}
		if row := products.RawRowView(j); max(floats.Max(row), -floats.Min(row)) > 0.98 {
			found++
		}
	}
	if found < 12 {
		t.Errorf("%d of 12 atoms are found", found)
	}
}

// An atom that no row uses takes the direction of the row that is reconstructed the worst, at any scale of the rows.
func TestIdleAtomsAreReplaced(t *testing.T) {
	for _, scale := range []float64{1, 1e-3} {
		replace(t, scale)
	}
}

func replace(t *testing.T, scale float64) {
	m, rows := dictionary(6, 3, 20, 0.2*scale)
	for _, x := range rows {
		floats.Scale(scale, x)
	}
	clear(m.w().RawRowView(1))
	m.idle[1] = 4
	c := m.Encode(rows)
	worst := rows[floats.MaxIdx(c.Square)]
	if _, err := m.learn(t.Context(), rows, 0.5, 5); err != nil {
		t.Fatal(err)
	}
	atom := m.w().RawRowView(1)
	wantNear(t, "the cosine with the worst row", floats.Dot(atom, worst)/floats.Norm(atom, 2)/floats.Norm(worst, 2), 1, 1e-12)
	wantNear(t, "the length", floats.Norm(atom, 2), 1, 1e-12)
	if m.idle[1] != 0 {
		t.Error("the atom counts as idle")
	}
}

func TestCodesThatAreAllZeroAreRefused(t *testing.T) {
	for _, prior := range []Prior{LaplacePrior, SpikeAndSlabPrior} {
		learn := func(α float64) error {
			m, rows := dictionary(6, 3, 20, α)
			m.cost.prior, m.cost.slab = prior, 2
			_, err := m.learn(t.Context(), rows, 1, 5)
			return err
		}
		err := learn(1_000)
		const says = "alpha = 1000 leaves the codes of all 20 rows of a minibatch 0: give less than "
		wantError(t, err, says)
		limit, err := strconv.ParseFloat(strings.TrimPrefix(err.Error(), says), 64)
		if err != nil || learn(0.99*limit) != nil || learn(1.01*limit) == nil {
			t.Errorf("%v: with alpha around %v, the errors are %v and %v (%v)", prior, limit, learn(0.99*limit), learn(1.01*limit), err)
		}
	}
	same, m := [][]float64{{0.1, 0.3}, {0.1, 0.3}, {0.1, 0.3}}, newDictionary(3, cost{alpha: 0.1}, dataset.Shape{Height: 1, Width: 2})
	m.begin(same, 1)
	_, err := m.learn(t.Context(), same, 1, 5)
	wantError(t, err, "use rows that are not all the same")
}

// Atoms begin at rows, also if the rows are small.
func TestAtomsBeginAtRows(t *testing.T) {
	for _, scale := range []float64{1, 1e-6} {
		_, rows := dictionary(6, 3, 20, 0.2)
		for _, x := range rows {
			floats.Scale(scale, x)
		}
		m := newDictionary(4, cost{alpha: 0.1}, dataset.Shape{Height: 1, Width: 6})
		m.begin(rows, 1)
		for j := range 4 {
			most := 0.0
			for _, x := range rows {
				floats.Sub(x, m.mean)
				most = max(most, floats.Dot(x, m.w().RawRowView(j))/floats.Norm(x, 2))
				floats.Add(x, m.mean)
			}
			if most < 0.99 {
				t.Errorf("at the scale %v, the largest cosine of atom %d with a row is %v", scale, j, most)
			}
		}
	}
}

// Cancelled training leaves the dictionary unchanged, and cancelled estimates are an error.
func TestSparseCodingIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	m, rows := dictionary(6, 3, 20, 0.2)
	before := slices.Clone(m.words)
	if _, err := m.learn(ctx, rows, 1, 5); !errors.Is(err, context.Canceled) || !slices.Equal(m.words, before) {
		t.Errorf("the error is %v, and the atoms are %v, want %v", err, m.words, before)
	}
	split := dataset.Split{Name: "test", Shape: m.shape, Values: dataset.Reals(m.shape.Units(), make([]float32, 12))}
	if _, err := m.Estimate(ctx, split, 1, 1, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("the error of estimates is %v", err)
	}
}

func TestSparseCodingFamily(t *testing.T) {
	set := small(t)
	e := SparseCoding.Experiment(set)
	e.Epochs, e.Settings = 3, SparseSettings{Atoms: 5, Prior: SpikeAndSlabPrior, Alpha: 0.01, BatchSize: 9}
	runstest.Family(t, runstest.Case[SparseExperiment, *Dictionary]{
		Experiment: e, Set: set, Kind: SparseCoding.Kind(),
		Refused: []runstest.Refusal[SparseExperiment]{
			runstest.Refuse(func(e *SparseExperiment) { e.Settings.Atoms = 0 }, "atoms = 0", "at least 1"),
			runstest.Refuse(func(e *SparseExperiment) { e.Settings.Alpha = 0 }, "alpha = 0", "such as 0.1"),
			runstest.Refuse(func(e *SparseExperiment) { e.Settings.Freedom = -1 }, "freedom = -1", "such as 3"),
			runstest.Refuse(func(e *SparseExperiment) { e.Settings.Slab = -1 }, "slab = -1", "such as 1"),
			runstest.Refuse(func(e *SparseExperiment) { e.Dataset.Binarization = dataset.Fixed }, "binarization = fixed", "use grey"),
		},
	})
}

// A model draws its atoms and reconstructions, and estimates its objective.
func TestADictionaryDrawsAndEstimates(t *testing.T) {
	set := small(t)
	e := SparseCoding.Experiment(set)
	e.Epochs, e.Settings = 2, SparseSettings{Atoms: 5, Alpha: 0.2, BatchSize: 20}
	run, err := e.Train(t.Context(), set, t.TempDir(), runs.Quiet)
	if err != nil {
		t.Fatal(err)
	}
	m, rows := run.Model(), set.Validation()
	estimates, err := m.Estimate(t.Context(), rows, 0, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := estimates[objective.Key], runs.EstimateOf(m.Encode(rows.Floats()).Objective); got != want || estimates[used.Key].Value > 5 {
		t.Errorf("the estimates are %v, want the objective %v", estimates, want)
	}
	for i, images := range []int{5, 6} {
		sheets, err := m.Drawings()[i].Draw(t.Context(), runs.Sampling{N: 3 + 2*(1-i), Rows: rows})
		if err != nil {
			t.Fatal(err)
		}
		if len(sheets[0].Values) != images {
			t.Errorf("%s are %d images, want %d", m.Drawings()[i].Kind, len(sheets[0].Values), images)
		}
	}
}
