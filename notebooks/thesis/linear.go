package thesis

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat"

	"github.com/helmholtz-go/helmholtz/boltzmann/energies"
	"github.com/helmholtz-go/helmholtz/boltzmann/general"
	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/factors"
	"github.com/helmholtz-go/helmholtz/notebooks/reproduce"
	"github.com/helmholtz-go/helmholtz/plotting"
	"github.com/helmholtz-go/helmholtz/runs"
)

var linearEntries = map[string]reproduce.Entry{
	"factors/principal": by(func(w *work) {
		ppca, fa := w.likePeers(principal, "log p"), w.likePeers(analysis, "log p")
		w.claim("Factor analysis is above probabilistic PCA with as many factors.").
			above("factor analysis over probabilistic PCA", paired(fa, ppca))
		w.drawn("filters", "Loadings of probabilistic PCA of tiles of faces", principal, "filters", runs.Sampling{N: w.few(10, 10, 2)})
	}, principal, analysis),
	"factors/independent": by(func(w *work) {
		ica := w.likePeers(independent, "at least")
		_, set, ppca := w.opened(principal)
		w.claim("Independent components are above probabilistic PCA with as many components.").
			above("independent component analysis over probabilistic PCA", paired(ica, ppca.(*factors.Model).LogP(set.Test().Floats())))
		w.drawn("filters", "Columns of the mixing matrix of tiles of faces", independent, "filters", runs.Sampling{N: w.few(10, 10, 2)})
	}, independent, principal),
	"factors/sparse": by(func(w *work) {
		_, set, model := w.opened(sparse)
		of := must(model.(*factors.Dictionary).Estimate(w.ctx, set.Test(), 0, 0, nil))
		w.Found(sparse.label, "at most", reproduce.Value{Ours: of["objective"].Value, Seeds: 1, By: fmt.Sprintf("%s test rows", thousands(set.Test().Rows))})
		w.drawn("filters", "Atoms of sparse coding of tiles of faces", sparse, "filters", runs.Sampling{N: w.few(64, 64, 2)})
	}, sparse),
	"factors/slow": by[plan](func(w *work) {
		var x [][]float64
		var t, sine []float64
		for i := range 1000 {
			at := 2 * math.Pi * float64(i) / 1000
			fast := math.Cos(11 * at)
			t, sine, x = append(t, at), append(sine, math.Sin(at)), append(x, []float64{math.Sin(at) + fast*fast, fast})
		}
		first := each(must(factors.FitSlow([][][]float64{x}, 1, factors.SlowOptions{Quadratic: true})).Features(x),
			func(y []float64) float64 { return y[0] / math.Sqrt2 })
		r := stat.Correlation(first, sine, nil)
		first = each(first, func(y float64) float64 { return math.Copysign(y, r*y) })
		w.Found("first quadratic feature and sin t, size of the correlation", "share",
			reproduce.Value{Ours: math.Abs(r), Seeds: 1, By: "1,000 rows of one period"})
		w.Draw("sine", "The first quadratic slow feature of sin t + cos² 11t and cos 11t, times √½ and with the sign of sin t, which it covers",
			plotting.Measurements(plotting.Axis{Label: "t"}, plotting.Axis{Label: "value"},
				plotting.Measured{Name: "sin t", X: t, Y: sine}, plotting.Measured{Name: "first slow feature", X: t, Y: first}))
		set := w.open(dataset.Spec{Name: "jsb"})
		songs := func(of dataset.Split) (all [][][]float64) {
			for i := range of.Rows {
				all = append(all, of.Sequence(i))
			}
			return all
		}
		train, test := songs(set.Train()), songs(set.Test())
		for i, δ := range must(factors.FitSlow(train, 5, factors.SlowOptions{})).DeltasOf(test) {
			w.Found(fmt.Sprintf("linear feature %d of chorales", i+1), "mean squared change", reproduce.Value{Ours: δ, Seeds: 1,
				By: fmt.Sprintf("fitted to %d sequences; %d test sequences", len(train), len(test))})
		}
	}),
	"boltzmann/pairs": by(func(w *work) {
		w.likePeers(pairs, "log p")
		w.drawn("means", "Means of chains of a Boltzmann machine without hidden units", pairs, "means", runs.Sampling{N: w.few(64, 64, 4), Chain: runs.Chain{Sweeps: 1000}})
	}, pairs),
	"boltzmann/tile-halves": by(func(w *work) {
		w.likePeers(tileHalves[0], "log p")
		all := each(tileHalves, func(p training) annealed { return w.measured(p, w.few(200, 200, 5), w.few(10, 10, 2)) })
		g := all[1].over(all[0])
		w.claim("Hidden units predict the left halves of tiles better than linear regression does.").
			add(g.of("conditional Gaussian RBM over linear regression").Over(0).Errors(3))
	}, tileHalves...),
}

// likePeers finds mean log p of the test rows, and returns log p of each. The value has no standard error, since the
// published one is of the same rows.
func (w *work) likePeers(p training, measure string) []float64 {
	_, set, model := w.opened(p)
	logP, how, err := model.(runs.RowEvaluator).LogPOfRows(w.ctx, runs.EvaluationOptions{Rows: set.Test()})
	check(err)
	w.Found(p.label, measure, reproduce.Value{Ours: mean(logP), Seeds: 1, By: fmt.Sprintf("%s, %s test rows", how, thousands(len(logP)))})
	return logP
}

var (
	principal = tiles("ppca", "probabilistic PCA, 10 components, log p", 1, fits(factors.PPCA,
		func(s *factors.PPCASettings) { s.Components = 2 }))
	analysis = tiles("factor-analysis", "factor analysis, 10 factors, log p", 10, fits(factors.FactorAnalysis,
		func(s *factors.FactorAnalysisSettings) { s.Factors = 2 }))
	independent = tiles("ica", "independent component analysis, 10 sources, log p", 5, fits(factors.ICA,
		func(s *factors.ICASettings) { s.Sources = 2 }, func(s *factors.ICASettings) { s.Density = factors.Sech }))
	sparse = tiles("sparse-coding", "sparse coding, 64 atoms, mean objective", 10, fits(factors.SparseCoding,
		func(s *factors.SparseSettings) { s.Atoms = 2 }))
	pairs = training{
		name: "3by3-pairs", label: "Boltzmann machine without hidden units, log p", laptop: 200, full: 200, seeds: 1, arithmetic: "float64",
		model: fits(general.Family, nil, func(s *general.Settings) { s.Training.LearningRate = 1 }),
		data:  dataset.Spec{Name: "3by3"}, smoke: dataset.Spec{Name: "3by3", Subset: 200},
	}
	tileHalves = []training{tileHalf("linear-regression", "linear regression, log p", 0), tileHalf("conditional-rbm", "conditional Gaussian RBM, 100 hidden units", 100)}
)

func tileHalf(name, label string, hidden int) training {
	return tiles("halves-"+name, label, 50, fits(energies.ConditionalGaussianRBM, nil, func(s *energies.Settings[energies.Conditional]) {
		s.Machine.Hidden, s.Training.LearningRate = hidden, 0.01
	}))
}

// tiles returns a training run on all training tiles of faces, which another program cuts alike.
func tiles(name, label string, epochs int, model func(small bool) runs.Experiment) training {
	p := patch(name, label, epochs, model)
	p.name, p.data.Validation = "tiles-"+name, new(0)
	return p
}
