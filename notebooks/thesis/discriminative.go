package thesis

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/helmholtz-go/helmholtz/boltzmann"
	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/statistics"
	"github.com/helmholtz-go/helmholtz/notebooks/reproduce"
	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/helmholtz-go/helmholtz/runs/rivals"
)

// classified is a set of rows with classes that a discriminative RBM and others learn.
type classified struct {
	data      dataset.Spec
	few, many int       // training rows
	prefix    string    // of the names of runs
	classes   int       // of the rows
	hidden    int       // units of each classifier
	rates     []float64 // tried
}

var (
	objectives   = []float64{0, 0.5, 0.9, 0.99, 1} // weights w of log p(y|v)
	penalties    = []float64{0, 1e-4, 1e-3, 1e-2, 0.1}
	digitClasses = classified{
		dataset.Spec{Name: "minimnist", Seed: 1, Validation: new(2000)}, 500, 5000, "", 10, 100,
		[]float64{0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20},
	}
	tableRates    = []float64{0.01, 0.05, 0.2, 1, 5, 20}
	habitats      = classified{dataset.Spec{Name: "uci/mushrooms", Columns: "habitat=label", Seed: 1}, 200, 2000, "mushrooms-", 7, 50, append(slices.Clone(tableRates), 100)}
	maritalStatus = classified{dataset.Spec{Name: "uci/adult", Columns: "marital-status=label", Seed: 1}, 200, 2000, "adult-", 7, 50, tableRates}
)

func (c classified) entry() reproduce.Entry { return made(c.trainings, c.make) }

func (c classified) trainings(s reproduce.Scale) (all []reproduce.Training) {
	for _, rows := range []int{c.few, c.many} {
		all = append(all, eachPair(objectives, tried(s, c.rates), func(w, η float64) reproduce.Training { return c.training(rows, w, η).at(s) })...)
	}
	return all
}

// training returns a training run of an RBM with labels. It takes as many steps with few rows as with many.
func (c classified) training(rows int, w, η float64) training {
	data := c.data
	data.Subset = rows
	p := machine(fmt.Sprintf("%srbm-%d-%d-rows-w-%g-lr-%g", c.prefix, c.hidden, rows, w, η), data, boltzmann.PCD().LearningRate(η).Discriminative(w).BatchSize(rows/50), 100, 100, 3, c.hidden)
	model := p.model
	p.model = func(small bool) runs.Experiment {
		e := model(small).(boltzmann.Experiment)
		if e.Machine.Classes = c.classes; small {
			e.Machine.Classes = 10 // of the digits that stand for the rows
		}
		return e
	}
	return p
}

// classifier holds the errors of a way to classify, in per cent, by seed.
type classifier struct {
	name      string
	validated float64   // of the validation rows, mean over the seeds
	tested    []float64 // of the test rows, by seed
	rows      []float64 // of each test row, mean over the seeds
}

// add adds a seed that makes these mistakes, of which there are several.
func (c *classifier) add(validation, test []float64, seeds int) {
	c.validated += 100 * mean(validation) / float64(seeds)
	c.tested = append(c.tested, 100*mean(test))
	if c.rows == nil {
		c.rows = make([]float64, len(test))
	}
	floats.AddScaled(c.rows, 100/float64(seeds), test)
}

// below returns by how much a errs less than b. Its standard error is over the rows and over the seeds of both.
func (a classifier) below(b classifier) reproduce.Quantity {
	g := paired(b.rows, a.rows)
	for _, c := range []classifier{a, b} {
		if len(c.tested) > 1 {
			_, se := statistics.MeanAndErrorOf(c.tested)
			g.se = math.Hypot(g.se, se)
		}
	}
	return reproduce.Measured(g.nats, g.se, "% of the rows", "%s below %s by", a.name, b.name).Over(0)
}

func leastMistaken(of []classifier) classifier {
	best, _ := bestOf(&passedOver{}, of, func(c classifier) (classifier, float64) { return c, -c.validated })
	return best
}

func (c classified) make(w *work) {
	better := w.claim("Training on p(y|v) alone errs less than training on p(v,y).")
	mixed := w.claim("With few rows, a mixture of both objectives errs less than p(y|v) alone.")
	linear := w.claim("A discriminative RBM errs less than logistic regression.")
	network := w.claim("A discriminative RBM is not as powerful as a network with as many hidden units.")
	rates := tried(w.Scale, c.rates)
	for _, rows := range []int{c.few, c.many} {
		var passed passedOver
		edge := map[string]bool{}
		all := each(objectives, func(weight float64) classifier {
			best, at := bestOf(&passed, rates, func(η float64) (classifier, float64) {
				rbm, runs := classifier{name: fmt.Sprintf("RBM, w = %g, η = %g", weight, η)}, w.machines(c.training(rows, weight, η))
				for _, run := range runs {
					rbm.add(w.mistakes(run, "validation"), w.mistakes(run, "test"), len(runs))
				}
				return rbm, -rbm.validated
			})
			edge[best.name] = atEnd(at, rates)
			return best
		})
		joint, alone := all[0], all[len(all)-1]
		mixture, best := leastMistaken(all[1:len(all)-1]), leastMistaken(all[1:])
		others := w.classifiers(w.machines(c.training(rows, 1, rates[0]))[0])
		for _, of := range append(all, others...) {
			v := reproduce.Over(spread(of.tested), len(of.tested))
			v.By = fmt.Sprintf("%s test rows, the rate or penalty by the validation rows", thousands(len(of.rows)))
			w.Beside(fmt.Sprintf("%s rows, %s", thousands(rows), of.name), "error (%)", v)
		}
		judge := func(j *judgement, a, b classifier) {
			j.add(a.below(b))
			passed.note(j)
			for _, of := range []classifier{a, b} {
				if edge[of.name] {
					j.bestAtEnd(of.name)
				}
			}
		}
		if rows == c.few {
			judge(mixed, mixture, alone)
			continue
		}
		judge(better, alone, joint)
		judge(linear, best, others[0])
		judge(network, others[1], best)
	}
}

// mistakes returns, for each row of a split, 1 if a machine classifies it wrongly, and 0 otherwise.
func (w *work) mistakes(run *boltzmann.Run, split string) []float64 {
	return keptOf(w, "mistakes-"+split, run.Snapshot(), func() []float64 {
		of, _ := w.setOf(run.Run).Split(split)
		logs := must(run.Model.LogLabelProbabilities(w.ctx, of))
		return mistakes(of, func(r int) []float64 { return logs[r] })
	})
}

func mistakes(of dataset.Split, scores func(r int) []float64) []float64 {
	all := make([]float64, of.Rows)
	for r, label := range of.Labels {
		all[r] = statistics.Mistaken(scores(r), int(label))
	}
	return all
}

// classifiers fits logistic regression, and networks with a hidden layer, to the rows of a run, each at the best penalty.
func (w *work) classifiers(run *boltzmann.Run) (of []classifier) {
	set, hidden := w.setOf(run.Run), run.Experiment().Machine.Hidden
	rows, labels := set.Train().Floats(), set.Train().Labels
	for _, kind := range []struct {
		name  string
		seeds int
		fit   func(penalty float64, seed uint64) (scores func([][]float64) *mat.Dense)
	}{
		{"logistic regression", 1, func(penalty float64, _ uint64) func([][]float64) *mat.Dense {
			return must(rivals.FitLogistic(rows, labels, set.Classes(), penalty)).Scores
		}},
		{"network", w.few(3, 3, 2), func(penalty float64, seed uint64) func([][]float64) *mat.Dense {
			return fitPerceptron(rows, labels, hidden, set.Classes(), penalty, seed).scores
		}},
	} {
		of = append(of, leastMistaken(each(tried(w.Scale, penalties), func(penalty float64) classifier {
			c := classifier{name: fmt.Sprintf("%s, penalty %g", kind.name, penalty)}
			for seed := range kind.seeds {
				both := keptOf(w, fmt.Sprintf("mistakes-of-%s-seed-%d", slug(c.name), seed+1), run.Snapshot(), func() [][]float64 {
					w.Say("fitting a %s to %s rows, seed %d", c.name, thousands(len(rows)), seed+1)
					scores := kind.fit(penalty, uint64(seed+1))
					return each([]dataset.Split{set.Validation(), set.Test()}, func(of dataset.Split) []float64 {
						all := scores(of.Floats())
						return mistakes(of, func(r int) []float64 { return all.RawRowView(r) })
					})
				})
				c.add(both[0], both[1], kind.seeds)
			}
			return c
		})))
	}
	return of
}

// perceptron is a network for classification with a hidden layer of logistic units.
type perceptron struct{ hidden, top *mat.Dense } // inputs and a constant × hidden units, hidden units and a constant × classes

// fitPerceptron minimises the mean cross-entropy and a penalty on the squared weights by back-propagation and L-BFGS.
func fitPerceptron(rows [][]float64, labels []uint8, hidden, classes int, penalty float64, seed uint64) perceptron {
	n, first := len(rows), (len(rows[0])+1)*hidden
	x := withConstant(len(rows[0]), n, func(r int) []float64 { return rows[r] })
	at := make([]float64, first+(hidden+1)*classes)
	random := rand.New(rand.NewPCG(seed, 0))
	for i := range at {
		at[i] = 0.1 * random.NormFloat64()
	}
	of := func(at []float64) perceptron {
		return perceptron{mat.NewDense(len(rows[0])+1, hidden, at[:first]), mat.NewDense(hidden+1, classes, at[first:])}
	}
	evaluate := func(slope, at []float64) float64 {
		f := of(at)
		h := f.means(x)
		var scores, below mat.Dense
		scores.Mul(h, f.top)
		loss := rivals.CrossEntropy(&scores, labels, penalty/2*floats.Dot(at, at))
		if slope != nil {
			to := of(slope)
			to.top.Mul(h.T(), &scores)
			below.Mul(&scores, f.top.Slice(0, hidden, 0, classes).T())
			below.Apply(func(r, j int, v float64) float64 { return v * h.At(r, j) * (1 - h.At(r, j)) }, &below)
			to.hidden.Mul(x.T(), &below)
			floats.AddScaled(slope, penalty, at)
		}
		return loss
	}
	return of(must(rivals.Minimize(evaluate, at, 200)))
}

func withConstant(cols, rows int, row func(r int) []float64) *mat.Dense {
	x := mat.NewDense(rows, cols+1, nil)
	for r := range rows {
		copy(x.RawRowView(r), row(r))
		x.Set(r, cols, 1)
	}
	return x
}

// means returns the means of the hidden units, and a constant, for inputs with a constant.
func (f perceptron) means(x *mat.Dense) *mat.Dense {
	var h mat.Dense
	h.Mul(x, f.hidden)
	h.Apply(func(_, _ int, v float64) float64 { return statistics.Sigmoid(v) }, &h)
	return withConstant(h.RawMatrix().Cols, h.RawMatrix().Rows, h.RawRowView)
}

// scores returns log p(y|x) of each row and class, without its normalisation.
func (f perceptron) scores(rows [][]float64) *mat.Dense {
	var of mat.Dense
	of.Mul(f.means(withConstant(len(rows[0]), len(rows), func(r int) []float64 { return rows[r] })), f.top)
	return &of
}
