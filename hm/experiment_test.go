package hm

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/helmholtz-go/helmholtz/runs/runstest"
)

func TestJSONRoundTrip(t *testing.T) {
	full, err := ParseExperiment(NRWS().Experiment(machineFor(patterns(t)), patterns(t)).TOML())
	if err != nil {
		t.Fatal(err)
	}
	runstest.Fill(&full)
	runstest.Vary(full, func(setting string, e Experiment) {
		e.Start = nil // JSON has its parameters alone
		text, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		var back Experiment
		if err := json.Unmarshal(text, &back); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(e, back, cmp.AllowUnexported(dataset.Spec{})); diff != "" {
			t.Fatalf("with another %s JSON changes the experiment (-written +read):\n%s", setting, diff)
		}
	})
}

// TestLegendsTellMethodsApart changes one setting of a method at a time.
func TestLegendsTellMethodsApart(t *testing.T) {
	for _, field := range reflect.VisibleFields(reflect.TypeFor[MethodSpec]()) {
		if field.Anonymous {
			continue // its fields follow
		}
		told := false
		for _, base := range []Method{
			NRWS().FisherPrecision(SinglePrecision).Schedule(StepDecay).Optimizer(Adam).SamplesAfter(1, 20),
			NRWS().Optimizer(Momentum).L1(0.1).Arithmetic(FixedPoint),
			REINFORCE(),
		} {
			s := base.Spec()
			switch setting := reflect.ValueOf(&s).Elem().FieldByIndex(field.Index); setting.Kind() {
			case reflect.Int:
				setting.SetInt(setting.Int() + 1)
			case reflect.Float64:
				setting.SetFloat(setting.Float() + 0.25)
			case reflect.Bool:
				setting.SetBool(!setting.Bool())
			case reflect.String:
				setting.SetString("rws")
			case reflect.Slice:
				setting.Set(reflect.ValueOf([]float64{0.25}))
			default:
				t.Fatalf("%s is a %v: say here how it changes", field.Name, setting.Kind())
			}
			told = told || s.String() != base.Spec().String()
		}
		if !told {
			t.Errorf("a legend does not tell a change of %s", field.Name)
		}
	}
	method := NRWS().LearningRate(0.1).Damping(0.5).RefreshEvery(20).FisherPrecision(SinglePrecision).StepDecay(5, 0.1)
	if got, want := method.Spec().String(), "NRWS, η = 0.1, α = 0.5, K = 20, float32, step, × 0.1 every 5 epochs"; got != want {
		t.Errorf("the legend is %q, want %q", got, want)
	}
}

// TestHashesLast pins hashes, because runs store them: adding a setting must not change the hash of
// experiments without it.
func TestHashesLast(t *testing.T) {
	for name, want := range map[string]string{"nrws": "ff29379033ec425d", "bihm": "c18fd35801f469a9"} {
		e, err := ParseExperiment([]byte("[dataset]\nname = \"3by3\"\n[machine]\nlayers = [6, 3]\n[method]\npreset = \"" + name + "\"\nfisher_precision = \"float32\"\narithmetic = \"float32\"\n"))
		if err != nil {
			t.Fatal(err)
		}
		if got := e.Hash(); got[:16] != want {
			t.Errorf("the hash of %s is %.16s, in older runs %s", name, got, want)
		}
	}
}

// TestPresetDefaults compares the presets with the settings with which the thesis trained MNIST:
// tables 5.1 and 5.3 of Várady 2025, and App. A.2 for the rest.
func TestPresetDefaults(t *testing.T) {
	for _, want := range []MethodSpec{
		{Preset: "ws", Phases: WakeSleep, Metric: Euclidean, LearningRate: 0.002, Damping: 0.2, RefreshEvery: 1000},
		{Preset: "rws", Phases: ReweightedWakeSleep, Metric: Euclidean, LearningRate: 0.002, Damping: 0.2, RefreshEvery: 1000},
		{Preset: "bihm", Phases: Bidirectional, Metric: Euclidean, LearningRate: 0.001, Damping: 0.2, RefreshEvery: 1000},
		{Preset: "nws", Phases: WakeSleep, Metric: Block, LearningRate: 0.002, Damping: 0.2, RefreshEvery: 1000},
		{Preset: "nrws", Phases: ReweightedWakeSleep, Metric: Block, LearningRate: 0.002, Damping: 0.2, RefreshEvery: 1000},
		{Preset: "dnrws", Phases: ReweightedWakeSleep, Metric: Diagonal, LearningRate: 0.002, Damping: 0.2, RefreshEvery: 1},
		{Preset: "nbihm", Phases: Bidirectional, Metric: Block, LearningRate: 0.001, Damping: 0.1, RefreshEvery: 1000},
		{Preset: "jsa", Phases: JointStochastic, Metric: Euclidean, LearningRate: 0.002, Damping: 0.2, RefreshEvery: 1000},
		{Preset: "reinforce", Phases: Reinforce, Metric: Euclidean, LearningRate: 0.002, Damping: 0.2, RefreshEvery: 1000},
	} {
		want.FisherSource, want.Optimizer, want.Schedule = FromWake, GradientDescent, ConstantRate
		want.FisherPrecision, want.Arithmetic = SixteenBits, AutoArithmetic
		want.BatchSize, want.Samples, want.Baseline = 32, 10, true
		want.StepEpochs, want.StepFactor = 100, 0.5
		want.SleepSteps, want.SleepScale = 1, 1
		e, err := ParseExperiment([]byte("[method]\npreset = \"" + want.Preset + "\"\n"))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, e.Method); diff != "" {
			t.Errorf("%s (-thesis +preset):\n%s", want.Preset, diff)
		}
		if e.Machine.Coding != PlusMinusOne || e.Machine.Weights != GlorotNormal || e.Machine.Bias != -1 {
			t.Errorf("%s: the machine is %+v, want units coded ±1, Glorot-normal weights and biases −1", want.Preset, e.Machine)
		}
	}
	want := []string{"ws", "rws", "bihm", "nws", "nrws", "dnrws", "nbihm", "reinforce", "jsa", string(best), "ovis", string(ownVIMCO), "tempered", "tvo", "vimco", "vimco-arithmetic"}
	if diff := cmp.Diff(want, Presets()); diff != "" {
		t.Errorf("presets (-want +got):\n%s", diff)
	}
}

// TestParseExperimentKeepsWhatIsGiven reads a file with few settings, and changes them.
func TestParseExperimentKeepsWhatIsGiven(t *testing.T) {
	e, err := ParseExperiment([]byte(`
epochs = 3
[dataset]
name = "3by3"
validation = 0
[machine]
layers = [9, 6, 3]
coding = "01"
[method]
preset = "nbihm"
damping = 0.01
optimizer = "adam"
`))
	if err != nil {
		t.Fatal(err)
	}
	want := NBiHM().Damping(0.01).Optimizer(Adam).Epochs(3).
		Experiment(New(shape(3, 3)).Dense(9, 6, 3).Coding(ZeroOne), patterns(t))
	want.Dataset, want.Fingerprint = dataset.Spec{Name: "3by3", Validation: new(0)}, ""
	if diff := cmp.Diff(want, e, cmp.AllowUnexported(dataset.Spec{})); diff != "" {
		t.Errorf("(-want +read):\n%s", diff)
	}
}

func TestParseExperimentRefuses(t *testing.T) {
	for _, test := range []struct {
		name, text string
		says       []string
	}{
		{"algorithm of another family", "[method]\npreset = \"pcd\"", []string{`preset = "pcd"`, `algorithm = "pcd"`, `family = "boltzmann"`}},
		{"no method", `epochs = 3`, []string{"no method", "nrws", "preset"}},
		{"unknown preset", "[method]\npreset = \"vae\"", []string{`"vae"`, "ws, rws, bihm"}},
		{"unknown table", "[optimizer]\nname = \"adam\"\n[method]\npreset = \"ws\"", []string{`"optimizer`}},
		{"a number that is none", "[method]\npreset = \"ws\"\nlearning_rate = \"fast\"", []string{"learning_rate"}},
		{"no TOML", "{\"epochs\": 3}", []string{"line 1"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := ParseExperiment([]byte(test.text))
			wantError(t, err, test.says...)
		})
	}
}

func TestReadExperimentNamesTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mine.toml")
	_, err := runs.ReadExperiment(path)
	wantError(t, err, path)
	if err := os.WriteFile(path, []byte("seeds = [1, 2]\n[method]\npreset = \"ws\""), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err = runs.ReadExperiment(path)
	wantError(t, err, path, `"seeds"`)
}

func readExperiment(path string) (Experiment, error) {
	e, err := runs.ReadExperiment(path)
	machine, _ := e.(Experiment)
	return machine, err
}

// TestExperimentTrainsAsItsMethod trains the same experiment from Go and from its TOML.
func TestExperimentTrainsAsItsMethod(t *testing.T) {
	t.Parallel()
	set := patterns(t)
	built, read := t.TempDir(), t.TempDir()
	run := mustTrain(t, short(NRWS()), set, built)
	e, err := readExperiment(filepath.Join(built, experimentFile))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(run.Experiment(), e, cmp.AllowUnexported(dataset.Spec{})); diff != "" {
		t.Errorf("the experiment in the directory differs (-run +file):\n%s", diff)
	}
	if _, err := e.Train(t.Context(), set, read); err != nil {
		t.Fatal(err)
	}
	runstest.SameRun(t, built, read)
}

func FuzzParseExperiment(f *testing.F) {
	runstest.FuzzParse(f, ParseExperiment,
		"[method]\npreset = \"nrws\"\n",
		"epochs = 3\nseed = 7\n[dataset]\nname = \"3by3\"\nvalidation = 10\n[machine]\nlayers = [9, 6]\n[method]\npreset = \"bihm\"\ndamping = 1e-3\n",
		"[method]\npreset = \"ws\"\nlearning_rate = nan\nstep_factor = -inf\n",
		"[dataset]\nname = \"\\u0000\\n]\"\nsubset = -0x10\n[method]\npreset = \"rws\"\n",
		"[machine]\nconvolutions = [\"q:1@2x2/0\"]\n[method]\npreset = \"rws\"\n[[measure]]\nevery = 2\n[start]\nrun = \"a\"\n")
}

// A sweep over a setting without effect would compare identical runs, and must be refused. It is
// accepted if each varied setting has an effect in some combination and no two combinations are
// alike.
func TestSweepsOverIdleSettingsAreRefused(t *testing.T) {
	base := `base = {epochs = 2, dataset = {name = "3by3"}, machine = {layers = [3]}, method = {preset = "rws"}}` + "\n"
	for _, c := range []struct{ axes, says string }{
		{"[grid]\nmethod.momentum = [0.5, 0.9]", "method.momentum has no effect without --optimizer momentum"},
		{"[grid]\nmethod.preset = [\"rws\", \"nrws\"]\nmethod.damping = [0.1, 0.2]", "method.damping has no effect without a Fisher matrix"},
		{"[[together]]\nmethod.preset = [\"rws\", \"nrws\", \"nrws\"]\nmethod.damping = [0.1, 0.1, 0.2]", ""},
	} {
		path := filepath.Join(t.TempDir(), "sweep.toml")
		if err := os.WriteFile(path, []byte(base+c.axes), 0o600); err != nil {
			t.Fatal(err)
		}
		sweep, err := runs.ReadSweep(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := sweep.Distinct(); c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s: %v, want %q", c.axes, err, c.says)
		}
		few, dir := *sweep, t.TempDir()
		few.Axes = slices.Clone(sweep.Axes)
		for i := range few.Axes {
			few.Axes[i].Values = few.Axes[i].Values[:1]
		}
		if err := few.Claim(dir); err != nil {
			t.Errorf("%s: the first values: %v", c.axes, err)
		}
		if err := sweep.Claim(dir); c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s: grown from its first values: %v, want %q", c.axes, err, c.says)
		}
	}
}

func TestSweepsOverInfiniteNumbersAreRefused(t *testing.T) {
	base := RWS().Experiment(machineFor(patterns(t)), patterns(t)).TOML()
	for _, c := range []struct {
		key   string
		value any
		says  string
	}{
		{"method.phase_parameters", []float64{math.NaN()}, "method.phase_parameters = [nan]: give a finite number"},
		{"method.phase_parameters", []float64{0.5, math.Inf(-1), 2}, "method.phase_parameters = [0.5, -inf, 2.0]: give a finite number"},
		{"method.learning_rate", math.Inf(1), "method.learning_rate = inf: give a finite number"},
		{"dataset.name", "[nan]", ""},
	} {
		sweep := &runs.Sweep{Base: base, Axes: []runs.Axis{{Keys: []string{c.key}, Values: [][]any{{c.value}}}}, Seeds: 1}
		if _, err := sweep.Settings(); c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s = %v: %v, want %q", c.key, c.value, err, c.says)
		}
	}
}

// A sweep over presets must train each with the preset's settings and the settings that the base
// names, in this process and after reading the plan again.
func TestSweepsOverPresets(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "sweep.toml")
	text := `base = {epochs = 2, dataset = {name = "3by3"}, machine = {layers = [3]}, method = {preset = "rws", samples = 7}}
[grid]
method.preset = ["ws", "rws", "bihm", "nrws"]
`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	sweep, err := runs.ReadSweep(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := sweep.Claim(filepath.Join(dir, "runs")); err != nil {
		t.Fatal(err)
	}
	planned, err := runs.OpenSweep(filepath.Join(dir, "runs"))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []*runs.Sweep{sweep, planned} {
		settings, err := s.Settings()
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range []Method{WS(), RWS(), BiHM(), NRWS()} {
			got, want := settings[i].Experiment.(Experiment).Method, want.Samples(7).Spec()
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s is trained otherwise (-want +got):\n%s", settings[i].Name, diff)
			}
		}
	}
	// A base that sets every setting, like the file of a run, must leave each preset its own
	// training.
	sweep.Base = NRWS().Samples(3).Experiment(machineFor(patterns(t)), patterns(t)).TOML()
	settings, err := sweep.Settings()
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []Method{WS(), RWS(), BiHM(), NRWS()} {
		want := want.Samples(3).Spec()
		if got := settings[i].Experiment.(Experiment).Method; got.Phases != want.Phases || got.Metric != want.Metric || got.Samples != want.Samples {
			t.Errorf("%s trains phases %v in the metric %v with %d samples, want %v, %v and %d", settings[i].Name, got.Phases, got.Metric, got.Samples, want.Phases, want.Metric, want.Samples)
		}
	}
	sweep.Base = RWS().Samples(3).Experiment(machineFor(patterns(t)), patterns(t)).TOML()
	if settings, err := sweep.Settings(); err != nil || settings[0].Experiment.(Experiment).Method.Samples != 3 {
		t.Errorf("with another base the first setting is %v (%v)", settings, err)
	}
}

// A published method keeps its name if no other method has its phases and metric.
func TestPublishedNames(t *testing.T) {
	for _, c := range []struct {
		method Method
		want   string
	}{
		{NRWS(), "nrws"}, {DNRWS(), "dnrws"}, {NRWS().Metric(Kronecker), "nrws"}, {REINFORCE().Metric(Block), "reinforce"},
		{NRWS().Metric(Euclidean), "rws"}, {NRWS().Metric(Diagonal), "dnrws"}, {RWS().Metric(Kronecker), "nrws"},
		{NWS().Phases(Bidirectional), "nbihm"}, {DNRWS().Metric(Kronecker), "nrws"}, {NWS().Metric(Diagonal), "nws"},
	} {
		if got := c.method.spec.published(); got != c.want {
			t.Errorf("%v is named %s, want %s", c.method.spec, got, c.want)
		}
	}
}
