package boltzmann

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/helmholtz-go/helmholtz/runs/runstest"
)

// patterns returns 40 training and 12 validation rows of 3by3: five minibatches
// an epoch of nine rows, the last of four.
func patterns(t *testing.T) *dataset.Set {
	t.Helper()
	set, err := dataset.Spec{Name: "3by3", Subset: 40, Validation: new(12)}.Open()
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// short is a method that takes little time on patterns.
func short(m Method) Method { return m.BatchSize(9).Chains(10).Epochs(3).Seed(3) }

// methods are one of each kind.
func methods() []Method {
	return []Method{
		short(CD()), short(PCD()), short(PT()).Temperatures(3), short(CD().Steps(3).Momentum(0.5).Centered(false)),
		short(PCD().Optimizer(Adam).LearningRate(0.01).Schedule(runs.ConstantRate).L2(1e-3)),
		short(PL().Steps(4)), short(PCD().Natural(Marginal, 0.3).Sparsity(0.1, 0.2).MaxNorm(2)), short(PT().Natural(Joint, 0.3)).Temperatures(3),
		short(PCD().CosineRate(0.1)), short(PTT()).Ladder(0.99, 4), short(PTT().Natural(Joint, 0.3)).Ladder(0.99, 3),
	}
}

func machineFor(set *dataset.Set) Machine {
	if set.Spec().Binarization == dataset.Gray {
		return New(set.Shape()).Hidden(5).Visible(Gaussian)
	}
	return New(set.Shape()).Hidden(5)
}

func mustTrain(t *testing.T, m Method, set *dataset.Set, dir string, recorders ...runs.Recorder) *Run {
	t.Helper()
	run, err := m.Train(t.Context(), machineFor(set), set, dir, recorders...)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// stopper is a recorder that acts on steps.
type stopper func(step int)

func (stopper) Begin(runs.Plan)        {}
func (s stopper) Step(p runs.Progress) { s(p.Step) }
func (stopper) Epoch(runs.Epoch)       {}
func (stopper) End(error)              {}

// stopped trains, and stops after steps of which when says so, until training is at its end or has been stopped often
// enough. Each session but the first trains the experiment that the run has recorded.
func stopped(t *testing.T, e runs.Experiment, set *dataset.Set, dir string, most int, when func(step int) bool) {
	t.Helper()
	for range most {
		ctx, cancel := context.WithCancel(t.Context())
		_, err := runs.Train(ctx, e, set, dir, stopper(func(step int) {
			if when(step) {
				cancel()
			}
		}))
		cancel()
		if err == nil {
			return
		}
		if !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		if e, err = runs.ExperimentIn(dir); err != nil {
			t.Fatal(err)
		}
		if set, err = runs.OpenDataset(e, dir); err != nil {
			t.Fatal(err)
		}
	}
}

// A run that is interrupted and resumed leaves the same bytes as one that is not.
func TestResumeIsExact(t *testing.T) {
	type training struct {
		Method
		Machine
		set *dataset.Set
	}
	lines, gray, labeled, variables := patterns(t), grays(t), digits(t, 60, 20), agreeing(t)
	trainings := []training{
		{short(PCD()).BatchSize(13), machineFor(gray), gray},
		{short(PCD()).BatchSize(13).Discriminative(0.5), machineFor(gray).Labels(10), gray},
		{short(PCD()).BatchSize(13).Discriminative(0.5), machineFor(labeled).Labels(10), labeled},
		{short(PCD()), machineFor(lines).Hidden(6).HiddenCategorical(3), lines},
		{short(PCD()).MeanField(3).Momentum(0.5), machineFor(lines).Hidden(5, 4, 3), lines},
		{short(MP()), machineFor(lines).Hidden(5, 4, 3), lines},
		{short(PCD()), machineFor(lines).Hidden(5, 4, 3).Beside(2, 2, 1), lines},
		{short(PCD()).LearningRate(0.05), machineFor(lines).HiddenUnits(Gaussian), lines},
		{short(PTT()).Ladder(0.99, 4).Momentum(0.5), machineFor(lines).Hidden(5, 4, 3), lines},
		{short(PTT()).BatchSize(20), machineFor(variables).Categorical(3), variables},
		{short(PTT()).BatchSize(20), machineFor(variables).Categorical(3).Labels(3), variables},
	}
	for _, m := range methods() {
		trainings = append(trainings, training{m, machineFor(lines), lines})
	}
	for i, tr := range trainings {
		m, machine, set := tr.Method, tr.Machine, tr.set
		e := m.Experiment(machine, set)
		t.Run(e.String(), func(t *testing.T) {
			t.Parallel()
			if i%6 == 0 { // some are interrupted wherever runs can be, the others within epochs
				runstest.Resume(t, e, set)
				return
			}
			whole, parts := t.TempDir(), t.TempDir()
			stopped(t, e, set, whole, 1, func(int) bool { return false })
			stopped(t, e, set, parts, 1000, func(step int) bool { return step%4 == 0 })
			runstest.SameRun(t, whole, parts)
		})
	}
}

// Training ends near the largest log p that there is, log p of the data's own
// distribution, which 12 patterns have, and its exact log p is that of its model.
func TestTrainingLearns(t *testing.T) {
	set, err := dataset.Spec{Name: "3by3", Validation: new(500)}.Open()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		method Method
		least  float64
	}{
		{PCD().Chains(200).Steps(2).LearningRate(0.3).Epochs(12).Schedule(runs.CosineDecay), -2.8},
		{CD().Steps(5).LearningRate(0.3).Epochs(12), -2.9},
	} {
		run, err := c.method.Train(t.Context(), New(set.Shape()).Hidden(12), set, t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		history := run.History()
		last := history.Epochs[len(history.Epochs)-1].Validation
		logP, err := run.ExactLogP(t.Context(), set.Validation())
		if err != nil {
			t.Fatal(err)
		}
		mean := 0.0
		for _, l := range logP {
			mean += l / float64(len(logP))
		}
		if math.Abs(mean-last["log_p"]) > 1e-4 {
			t.Errorf("%v: log p of the model is %v, training measured %v", c.method.spec, mean, last["log_p"])
		}
		if !(mean > c.least) {
			t.Errorf("%v: log p is %v after training, want more than %v", c.method.spec, mean, c.least)
		}
		if base := history.Baseline.Factorized.Value; !(last["pseudo_likelihood"] > base) {
			t.Errorf("%v: log PL is %v after training, that of the baseline %v", c.method.spec, last["pseudo_likelihood"], base)
		}
	}
}

// Validation measures what the oracle has: with no more than 16 visible units the
// pseudo-likelihood is of all of them.
func TestValidationIsExactWhereItCanBe(t *testing.T) {
	set := patterns(t)
	run := mustTrain(t, short(PCD()), set, t.TempDir())
	exact := exactly(run.Model)
	var pseudo, energy, logP, reconstruction float64
	rows, logZ := set.Validation(), exact.LogZ()
	for r := range rows.Rows {
		v, n := binary(rows.Row(r)), float64(rows.Rows)
		energy += exact.FreeEnergy(v) / n
		logP -= (exact.FreeEnergy(v) + logZ) / n
		means := exact.Posterior(v)[9*5+9:]
		for i := range v {
			other := append([]float64{}, v...)
			other[i] = 1 - v[i]
			pseudo -= math.Log1p(math.Exp(exact.FreeEnergy(v)-exact.FreeEnergy(other))) / n
			input := float64(run.parameters.VisibleBiases[i])
			for j, mean := range means {
				input += mean * exact.Parameters[i*5+j]
			}
			d := v[i] - 1/(1+math.Exp(-input))
			reconstruction += d * d / n
		}
	}
	epochs := run.History().Epochs
	want := runs.Measures{"pseudo_likelihood": pseudo, "free_energy": energy, "log_p": logP, "reconstruction_error": reconstruction}
	if diff := cmp.Diff(want, epochs[len(epochs)-1].Validation, cmpopts.EquateApprox(0, 1e-5)); diff != "" {
		t.Errorf("(-exact +measured):\n%s", diff)
	}
}

// Training that goes out of bounds is said to have diverged, and keeps what was before.
func TestDivergence(t *testing.T) {
	set := patterns(t)
	run, err := short(CD().LearningRate(3e38)).Train(t.Context(), machineFor(set), set, t.TempDir())
	if !errors.Is(err, runs.ErrDiverged) {
		t.Fatalf("error %v, want that training has diverged", err)
	}
	if run != nil && !finite(run.parameters.Flat) {
		t.Error("the checkpoint is not finite")
	}
}

func finite(x []float32) bool {
	for _, value := range x {
		if math.IsNaN(float64(value)) || math.IsInf(float64(value), 0) {
			return false
		}
	}
	return true
}

// What a file leaves out is as CD has it.
func TestSettingsLeftOut(t *testing.T) {
	e, err := ParseExperiment([]byte("family = \"boltzmann\"\n[method]\nalgorithm = \"cd\"\n"))
	if err != nil || e.Method != CD().spec || !reflect.DeepEqual(e.Machine, New(dataset.Shape{}).spec) {
		t.Errorf("an empty experiment is %+v (%v)", e, err)
	}
}

// An experiment that is changed leaves the machine, the method and other experiments of them.
func TestExperimentsAreValues(t *testing.T) {
	set := patterns(t)
	machine, method := machineFor(set).Hidden(4, 3), short(PCD()).Keep(1).On("below", "last").From("run", "last")
	want := method.Experiment(machine, set)
	hash := want.Hash()
	for range 2 {
		changed := method.Experiment(machine, set)
		if changed.Hash() != hash {
			t.Errorf("another experiment is %+v", changed)
		}
		changed.Machine.Above[0], machine.Spec().Above[0], changed.Keep[0] = 7, 7, 7
		changed.Below.Run, changed.Start.Run = "another", "another"
	}
	if want.Hash() != hash || machine.Spec().Above[0] != 3 || want.Keep[0] != 1 {
		t.Errorf("the machine has become %+v, another experiment %+v", machine.Spec(), want)
	}
	if e := PCD().Experiment(New(set.Shape()), set); e.Machine.Above != nil || e.Keep != nil || e.Below != nil || e.Start != nil {
		t.Errorf("what was not given is there: %+v", e)
	}
}

func TestFilesOfNoExperimentAreRefused(t *testing.T) {
	const good = "family = \"boltzmann\"\n[method]\nalgorithm = \"pcd\"\n"
	for text, says := range map[string]string{
		"family = \"hm\"\n":                       `write family = "boltzmann"`,
		"family = \"boltzmann\"\n":                "no algorithm: give cd, pcd, pt, pl, ptt, rm or mp",
		good + "[machine]\nhidden = [500, 500]\n": "hidden",
	} {
		if _, err := ParseExperiment([]byte(text)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: error %v, want one that says %q", text, err, says)
		}
	}
}

func TestExperimentsThatCannotBeTrainedAreRefused(t *testing.T) {
	set := patterns(t)
	gray, err := dataset.Spec{Name: "miniglyphs", Binarization: dataset.Gray, Subset: 20, Validation: new(5)}.Open()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		method  Method
		machine Machine
		set     *dataset.Set
		says    string
	}{
		{short(PCD()), machineFor(gray), set, "the machine is for images of 14×14"},
		{short(PCD()), machineFor(gray).Visible(Bernoulli), gray, "use stochastic"},
		{short(PT()), machineFor(gray), gray, "parallel tempering needs Bernoulli or categorical units"},
		{short(PCD()).Natural(Joint, 1), machineFor(gray), gray, "natural gradients need Bernoulli"},
		{short(PL()), machineFor(gray), gray, "use pcd"},
	} {
		dir := filepath.Join(t.TempDir(), "run")
		_, err := c.method.Train(t.Context(), c.machine, c.set, dir)
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("error %v, want one that says %q", err, c.says)
		}
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("%s: a refused experiment has left a directory", c.says)
		}
	}
}

// Snapshots of other machines, and descriptions of none, are refused.
func TestForeignSnapshotsAreRefused(t *testing.T) {
	set := patterns(t)
	e := short(PCD()).Experiment(machineFor(set), set)
	for _, c := range []struct {
		says   string
		change func(s *runs.Snapshot)
	}{
		{"the description of the machine", func(s *runs.Snapshot) { s.Header = json.RawMessage("[]") }},
		{"no machine is for images", func(s *runs.Snapshot) { s.Header = json.RawMessage("{}") }},
		{"no machine is for images", func(s *runs.Snapshot) {
			s.Header = json.RawMessage(`{"hidden":9000000000000000000,"shape":{"Height":3,"Width":3}}`)
		}},
		{"have more numbers than", func(s *runs.Snapshot) {
			s.Header = json.RawMessage(`{"hidden":50,"shape":{"Height":50,"Width":50}}`)
		}},
		{"the tensor weights has shape [9 5]", func(s *runs.Snapshot) {
			s.Header = json.RawMessage(`{"hidden":4,"shape":{"Height":3,"Width":3}}`)
		}},
		{"lacks the tensor moment.0.weights", func(s *runs.Snapshot) {
			s.Header = json.RawMessage(`{"hidden":5,"shape":{"Height":3,"Width":3},"slots":1}`)
		}},
		{"the file has a tensor chains.hidden", func(s *runs.Snapshot) {
			s.Header = json.RawMessage(`{"hidden":5,"shape":{"Height":3,"Width":3}}`)
		}},
		{"hidden layers of 5–0", func(s *runs.Snapshot) {
			s.Header = json.RawMessage(`{"hidden":5,"above":[0],"shape":{"Height":3,"Width":3}}`)
		}},
		{"the tensor weights has shape [9 5]", func(s *runs.Snapshot) {
			s.Header = json.RawMessage(`{"hidden":5,"above":[2],"shape":{"Height":3,"Width":3}}`)
		}},
		{"no belief network has machines of [5 100]", func(s *runs.Snapshot) {
			s.Header = json.RawMessage(`{"hidden":5,"below":[5,100],"shape":{"Height":3,"Width":3}}`)
		}},
		{"lacks the tensor below.0.weights", func(s *runs.Snapshot) {
			s.Header = json.RawMessage(`{"hidden":5,"below":[9],"shape":{"Height":3,"Width":3},"chains":10}`)
		}},
		{"for images of 1×9", func(s *runs.Snapshot) {
			s.Header = json.RawMessage(`{"hidden":5,"shape":{"Height":1,"Width":9},"chains":10}`)
		}},
	} {
		s, err := e.Begin(set)
		if err != nil {
			t.Fatal(err)
		}
		c.change(&s)
		if _, err := e.Learner(set, s); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("error %v, want one that says %q", err, c.says)
		}
	}
}

// At first visible units without weights have the means of the training rows.
func TestFirstBiasesAreThoseOfTheData(t *testing.T) {
	rows := dataset.Split{Shape: dataset.Shape{Height: 1, Width: 3}, Values: dataset.Bytes(3, []uint8{0, 51, 153, 0, 102, 255})}
	for binarization, want := range map[dataset.Binarization][]float64{
		dataset.Fixed: {0, 0, 1}, dataset.Stochastic: {0, 0.3, 0.8},
	} {
		if got := means(rows, binarization); !cmp.Equal(got, want, cmpopts.EquateApprox(0, 1e-9)) {
			t.Errorf("%v: the means are %v, want %v", binarization, got, want)
		}
	}
}

func TestBernoulliUnitsReadBinaryRows(t *testing.T) {
	for _, b := range []dataset.Binarization{dataset.Fixed, dataset.Drawn, dataset.Stochastic} {
		set, err := dataset.Spec{Name: "miniglyphs", Subset: 40, Binarization: b}.Open()
		if err != nil {
			t.Fatal(err)
		}
		mustTrain(t, short(PCD()).Epochs(1), set, t.TempDir())
	}
}

// A run opens with the models of its checkpoints, which one of another family does not.
func TestRunsOpen(t *testing.T) {
	set, dir := patterns(t), t.TempDir()
	trained := mustTrain(t, short(PCD()).Keep(2), set, dir)
	run, err := OpenRun(dir)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(trained.Parameters(), run.Parameters(), cmpopts.IgnoreUnexported(Parameters{})); diff != "" || run.Experiment().Hash() != trained.Experiment().Hash() {
		t.Errorf("the run that is opened differs:\n%s", diff)
	}
	kept, err := run.At(2)
	if err != nil || cmp.Equal(kept.Parameters(), run.Parameters(), cmpopts.IgnoreUnexported(Parameters{})) {
		t.Errorf("the model of epoch 2 is that of the last (%v)", err)
	}
	if _, err := run.Best(); err != nil {
		t.Error(err)
	}
	if _, err := run.At(1); err == nil {
		t.Error("there is a model of an epoch that was not kept")
	}
	if _, err := OpenRun(t.TempDir()); err == nil {
		t.Error("an empty directory opens as a run")
	}
	again := mustTrain(t, short(PCD()).Keep(2), set, dir)
	if !cmp.Equal(again.Parameters(), run.Parameters(), cmpopts.IgnoreUnexported(Parameters{})) {
		t.Error("a finished run has been trained again")
	}
}

// The pseudo-likelihood of a machine whose units are not joined is its log p.
func TestBaselineIsAPseudoLikelihood(t *testing.T) {
	set := patterns(t)
	line := short(PCD()).Experiment(machineFor(set), set).Baseline(set, set.Validation())
	m := randomModel(t, 9, 1)
	clear(m.parameters.Weights.Data)
	rows, means := set.Validation(), means(set.Train(), dataset.Fixed)
	for i, mean := range means {
		mean = (40*mean + 0.5) / 41
		m.parameters.VisibleBiases[i] = float32(math.Log(mean / (1 - mean)))
	}
	logP, err := m.ExactLogP(t.Context(), rows)
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for _, l := range logP {
		sum += l / float64(rows.Rows)
	}
	if math.Abs(line.Factorized.Value-sum) > 1e-6 || line.Rows != "validation" {
		t.Errorf("the baseline is %v over %s, want %v over validation", line.Factorized.Value, line.Rows, sum)
	}
}

// Names of methods say what is not as usual.
func TestMethodsHaveNames(t *testing.T) {
	for want, m := range map[string]Method{
		"CD-1, η = 0.2":                         CD(),
		"PCD-5, η = 0.1, 50 chains, B = 20":     PCD().Steps(5).LearningRate(0.1).Chains(50).BatchSize(20),
		"CD-1, η = 0.2, not centered, momentum": CD().Centered(false).Optimizer(Momentum),
	} {
		if got := fmt.Sprint(m.Spec()); got != want {
			t.Errorf("the method is called %q, want %q", got, want)
		}
	}
}

// TestLegendsTellMethodsApart changes each setting of a method, one at a time.
func TestLegendsTellMethodsApart(t *testing.T) {
	for _, field := range reflect.VisibleFields(reflect.TypeFor[MethodSpec]()) {
		if field.Anonymous {
			continue // its fields follow
		}
		told := false
		for _, base := range []Method{
			PT().Schedule(runs.StepDecay).Natural(Joint, 0.5).Optimizer(Momentum),
			CD().Sparsity(0.1, 0.1).Optimizer(Adam), PTT(), PCD().CosineRate(0.1),
		} {
			s := base.Spec()
			switch setting := reflect.ValueOf(&s).Elem().FieldByIndex(field.Index); setting.Kind() {
			case reflect.Int:
				setting.SetInt(setting.Int() + 1)
			case reflect.Float64:
				setting.SetFloat(setting.Float() + 0.25)
			case reflect.Bool:
				setting.SetBool(!setting.Bool())
			default:
				t.Fatalf("%s is a %v: say here how it changes", field.Name, setting.Kind())
			}
			told = told || s.String() != base.Spec().String()
		}
		if !told {
			t.Errorf("a legend does not tell a change of %s", field.Name)
		}
	}
}
