package runs_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/runs"
)

// groups returns rows of four grey values about centres, in turn, with a standard deviation; the
// first row is about the first centre.
func groups(rows int, deviation float64, centers ...[]float64) [][]float64 {
	random := rand.New(rand.NewPCG(uint64(rows), uint64(len(centers))))
	all := make([][]float64, rows)
	for i := range all {
		for _, at := range centers[i%len(centers)] {
			all[i] = append(all[i], min(max(at+deviation*random.NormFloat64(), 0), 1))
		}
	}
	return all
}

// grays makes a set of rows, some of them for validation.
func grays(t *testing.T, rows [][]float64, validation int) *dataset.Set {
	t.Helper()
	spec := dataset.Spec{Name: "groups", Binarization: dataset.Gray, Validation: &validation}
	set, err := spec.FromRows(dataset.Shape{Height: 2, Width: 2}, rows, rows[:2])
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// overlapping returns 52 rows of two overlapping groups: 40 for training and 12 for validation.
func overlapping(t *testing.T) *dataset.Set {
	t.Helper()
	return grays(t, groups(52, 0.15, []float64{0.3, 0.4, 0.6, 0.5}, []float64{0.6, 0.5, 0.4, 0.5}), 12)
}

// exactEM is EM on a set: every epoch is one step on all rows with η = 1.
func exactEM(set *dataset.Set, components, epochs int) mixture {
	return mixture{
		Family: byLikelihood, Dataset: set.Spec(), Components: components, Rate: 1,
		Epochs: epochs, Seed: 1, BatchSize: set.Train().Rows,
	}
}

func mustTrain(t *testing.T, e runs.Experiment, set *dataset.Set, dir string, recorders ...runs.Recorder) *runs.Run {
	t.Helper()
	run, err := runs.Train(t.Context(), e, set, dir, recorders...)
	if err != nil {
		t.Fatal(err)
	}
	if !run.Finished() {
		t.Fatal("training has ended without an error, and is not finished")
	}
	return run
}

// fitted returns the parameters of a run's last checkpoint.
func fitted(t *testing.T, run *runs.Run) parameters {
	t.Helper()
	p, err := parametersOf(run.Snapshot(), run.Experiment().(mixture).Components, 4)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

var nearly = cmp.Options{cmp.AllowUnexported(parameters{}), cmpopts.EquateApprox(1e-10, 1e-12)}

// likelihoods returns the mean of log p over the minibatch before each step of a mixture.
func likelihoods(t *testing.T, e mixture, set *dataset.Set) []float64 {
	t.Helper()
	begin, err := e.Begin(set)
	if err != nil {
		t.Fatal(err)
	}
	learner, err := e.Learner(set, begin)
	if err != nil {
		t.Fatal(err)
	}
	defer learner.Close()
	perEpoch := e.Header().StepsPerEpoch(set.Train().Rows)
	var all []float64
	for step := range e.Epochs * perEpoch {
		of, err := learner.Steps(t.Context(), 1, func(int) float64 { return e.LearningRate(step, perEpoch) })
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, of[0]["log_p"])
	}
	return all
}

// EM never lowers the likelihood of its training rows (Dempster, Laird and Rubin 1977).
func TestEMNeverLowersTheLikelihood(t *testing.T) {
	t.Parallel()
	set := overlapping(t)
	for components := 1; components <= 4; components++ {
		for seed := uint64(1); seed <= 5; seed++ {
			e := exactEM(set, components, 50)
			e.Seed = seed
			logP := likelihoods(t, e, set)
			for i := 1; i < len(logP); i++ {
				if !(logP[i] >= logP[i-1]-1e-12*math.Abs(logP[i-1])) {
					t.Errorf("%d components, seed %d: step %d takes log p from %v to %v", components, seed, i, logP[i-1], logP[i])
				}
			}
			if rise := logP[len(logP)-1] - logP[0]; components > 1 && !(rise > 0.01) {
				t.Errorf("%d components, seed %d: log p rises by %v over all epochs", components, seed, rise)
			}
		}
	}
}

// If groups of rows are many standard deviations apart, every row belongs to one component, and the
// most likely mixture has the groups' proportions, centroids and variance about the centroids.
func TestEMRecoversSeparatedComponents(t *testing.T) {
	t.Parallel()
	low, high := []float64{0.2, 0.3, 0.2, 0.25}, []float64{0.8, 0.7, 0.75, 0.8}
	set := grays(t, groups(60, 0.02, low, high, high), 0)
	p := fitted(t, mustTrain(t, exactEM(set, 2, 25), set, t.TempDir()))

	parts := map[bool][][]float64{}
	for _, x := range rowsOf(set.Train()) {
		parts[x[0] > 0.5] = append(parts[x[0] > 0.5], x)
	}
	var want parameters
	for _, rows := range [][][]float64{parts[false], parts[true]} {
		s, _, _ := parameters{weights: []float64{1}, means: make([]float64, 4), variance: 1}.expect(rows)
		one := s.maximum()
		share := float64(len(rows)) / 60
		want.weights = append(want.weights, share)
		want.means = append(want.means, one.means...)
		want.variance += share * one.variance
	}
	if p.means[0] > p.means[4] { // the order of the components is random
		slices.Reverse(p.weights)
		p.means = slices.Concat(p.mean(1), p.mean(0))
	}
	if diff := cmp.Diff(want, p, nearly); diff != "" {
		t.Errorf("(-proportions, centroids and variance of the groups +fitted):\n%s", diff)
	}
}

// A single component is fitted by one step, to the mean and the variance of the rows, whose
// log-likelihood is then −(d/2)(log 2πσ² + 1).
func TestOneComponentIsFittedByOneStep(t *testing.T) {
	t.Parallel()
	set := overlapping(t)
	run := mustTrain(t, exactEM(set, 1, 2), set, t.TempDir())
	want := -2 * (math.Log(2*math.Pi*fitted(t, run).variance) + 1)
	if got := run.History().Epochs[1].Train["log_p"]; !(math.Abs(got-want) <= 1e-12*math.Abs(want)) {
		t.Errorf("log p is %v after a step, want %v", got, want)
	}
}

// The M-step inverts the expectation of the statistics: a step with η = 0 would change nothing.
func TestMaximumUndoesExpectedStatistics(t *testing.T) {
	p := parameters{weights: []float64{0.25, 0.75}, means: []float64{0.1, 0.9, 0.4, 0.3, 0.5, 0.2}, variance: 0.01}
	if diff := cmp.Diff(p, p.statistics().maximum(), nearly); diff != "" {
		t.Errorf("(-before +after):\n%s", diff)
	}
}

// With a decaying learning rate, stepwise EM on minibatches reaches the result of EM on all rows.
func TestStepwiseEMApproachesEM(t *testing.T) {
	t.Parallel()
	set := overlapping(t)
	exact := exactEM(set, 2, 200)
	stepwise := exact
	stepwise.Rate, stepwise.BatchSize, stepwise.Schedule = 0.3, 16, runs.CosineDecay
	em, on := likelihoods(t, exact, set), likelihoods(t, stepwise, set)
	n := len(on)
	last := (16*on[n-3] + 16*on[n-2] + 8*on[n-1]) / 40
	if want := em[len(em)-1]; !(math.Abs(last-want) <= 1e-3) {
		t.Errorf("stepwise EM comes to log p = %v, EM to %v", last, want)
	}
}
