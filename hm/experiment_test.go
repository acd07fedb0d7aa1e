package hm

import (
	"encoding"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/fuzz"
	"github.com/helmholtz-go/helmholtz/runs"
	"pgregory.net/rapid"
)

// anyExperiment draws experiments from all that their types allow, sensible or not.
func anyExperiment() *rapid.Generator[Experiment] {
	const most = math.MaxFloat64
	size := rapid.IntRange(0, 999_999)
	types := map[reflect.Type]*rapid.Generator[any]{
		reflect.TypeFor[Convolution](): rapid.Custom(func(t *rapid.T) Convolution {
			return Convolution{
				size.Draw(t, "channels"), size.Draw(t, "height"), size.Draw(t, "width"), size.Draw(t, "stride"),
				rapid.SampledFrom([]Networks{BothNetworks, RecognitionOnly, GenerativeOnly}).Draw(t, "networks"),
			}
		}).AsAny(),
	}
	walk(reflect.ValueOf(&Experiment{Measurements: make([]Measurement, 1), Start: &runs.Source{}, Machine: MachineSpec{Units: make([]Kind, 1)}}), "", func(v reflect.Value, _ string) {
		if values := enumerated(v.Type()); values != nil {
			types[v.Type()] = rapid.SampledFrom(values).AsAny()
		}
	})
	drawn := rapid.MakeCustom[Experiment](rapid.MakeConfig{
		Types: types,
		Kinds: map[reflect.Kind]*rapid.Generator[any]{
			reflect.Float64: rapid.Float64Range(-most, most).AsAny(),
			reflect.Uint64:  rapid.Uint64Range(0, math.MaxInt64).AsAny(),
		},
		Fields: map[reflect.Type]map[string]*rapid.Generator[any]{
			reflect.TypeFor[Experiment](): {
				"Fingerprint": rapid.StringMatching(`([0-9a-f]{64})?`).AsAny(),
				"Misfit":      rapid.Just("").AsAny(),
			},
			reflect.TypeFor[MethodSpec](): {"Preset": rapid.SampledFrom(Presets()).AsAny()},
		},
	})
	return rapid.Custom(func(t *rapid.T) Experiment {
		e := drawn.Draw(t, "experiment")
		walk(reflect.ValueOf(&e), "", func(v reflect.Value, _ string) {
			if v.Kind() == reflect.Slice && v.Len() == 0 { // which is read as nil
				v.SetZero()
			}
		})
		return e
	})
}

// walk hands on v and what it holds, with their names.
func walk(v reflect.Value, name string, each func(v reflect.Value, name string)) {
	if v.CanSet() {
		each(v, name)
	}
	switch {
	case v.Kind() == reflect.Pointer && !v.IsNil():
		walk(v.Elem(), name, each)
	case v.Kind() == reflect.Slice:
		for i := range v.Len() {
			walk(v.Index(i), name, each)
		}
	case v.Kind() == reflect.Struct:
		for f := range v.Type().Fields() {
			walk(v.FieldByIndex(f.Index), name+"."+f.Name, each)
		}
	}
}

// enumerated are the values of an enumeration, and none of another type.
func enumerated(of reflect.Type) (values []any) {
	for i := 0; of.Implements(reflect.TypeFor[encoding.TextMarshaler]()) && reflect.TypeFor[int]().ConvertibleTo(of); i++ {
		v := reflect.ValueOf(i).Convert(of).Interface()
		if _, err := v.(encoding.TextMarshaler).MarshalText(); err != nil {
			break
		}
		values = append(values, v)
	}
	return values
}

func TestTOMLRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := anyExperiment().Draw(t, "experiment")
		back, err := ParseExperiment(e.TOML())
		if err != nil {
			t.Fatalf("%v\n%s", err, e.TOML())
		}
		if diff := cmp.Diff(e, back); diff != "" {
			t.Fatalf("TOML changes the experiment (-written +read):\n%s", diff)
		}
		if e.Hash() != back.Hash() {
			t.Fatal("equal experiments have different hashes")
		}
	})
}

func TestJSONRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := anyExperiment().Draw(t, "experiment")
		e.Start = nil // of which JSON has the parameters alone
		text, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		var back Experiment
		if err := json.Unmarshal(text, &back); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(e, back); diff != "" {
			t.Fatalf("JSON changes the experiment (-written +read):\n%s", diff)
		}
	})
}

// TestHashTellsExperimentsApart changes one setting at a time, to each value of an
// enumeration. Those that leave training as it is leave the hash.
func TestHashTellsExperimentsApart(t *testing.T) {
	set := patterns(t)
	e := NRWS().Experiment(machineFor(set), set)
	e.Start = &runs.Source{Parameters: "0f"}
	base := e.Hash()
	hashes := map[string]string{base: "the source"}
	aside := map[string]bool{".Keep": true, ".RecordSteps": true, ".Measurements": true, ".Start.Run": true, ".Start.Checkpoint": true}
	walk(reflect.ValueOf(&e), "", func(v reflect.Value, name string) {
		var changed []any
		switch was := v.Interface(); v.Kind() {
		case reflect.Int, reflect.Uint8:
			if changed = enumerated(v.Type()); changed == nil {
				changed = []any{was.(int) + 1}
			}
		case reflect.Float64:
			changed = []any{math.Nextafter(was.(float64), math.Inf(1))}
		case reflect.Uint64:
			changed = []any{was.(uint64) + 1}
		case reflect.Bool:
			changed = []any{!was.(bool)}
		case reflect.String:
			changed = []any{was.(string) + "0"}
		case reflect.Pointer:
			changed = []any{reflect.New(v.Type().Elem()).Interface(), reflect.Zero(v.Type()).Interface()}
		case reflect.Slice:
			changed = []any{reflect.Append(v, reflect.Zero(v.Type().Elem())).Interface()}
		case reflect.Struct:
			return
		default:
			t.Fatalf("%s is a %v: say here how it changes", name, v.Kind())
		}
		for _, value := range changed {
			was := v.Interface()
			if reflect.DeepEqual(was, value) {
				continue
			}
			v.Set(reflect.ValueOf(value))
			hash := e.Hash()
			v.Set(reflect.ValueOf(was))
			other, taken := hashes[hash]
			switch {
			case aside[name] && hash != base:
				t.Errorf("%s changes the hash, and not training", name)
			case !aside[name] && taken:
				t.Errorf("%s = %v has the hash of %s", name, value, other)
			}
			hashes[hash] = name
		}
	})
}

// TestLegendsTellMethodsApart changes each setting of a method, one at a time.
func TestLegendsTellMethodsApart(t *testing.T) {
	settings := reflect.TypeFor[MethodSpec]()
	for i := range settings.NumField() {
		told := false
		for _, base := range []Method{
			NRWS().FisherPrecision(SinglePrecision).Schedule(StepDecay).Optimizer(Adam).SamplesAfter(1, 20),
			NRWS().Optimizer(Momentum).L1(0.1),
			REINFORCE(),
		} {
			s := base.Spec()
			switch setting := reflect.ValueOf(&s).Elem().Field(i); setting.Kind() {
			case reflect.Int:
				setting.SetInt(setting.Int() + 1)
			case reflect.Float64:
				setting.SetFloat(setting.Float() + 0.25)
			case reflect.Bool:
				setting.SetBool(!setting.Bool())
			case reflect.String:
				setting.SetString("rws")
			default:
				t.Fatalf("%s is a %v: say here how it changes", settings.Field(i).Name, setting.Kind())
			}
			told = told || s.String() != base.Spec().String()
		}
		if !told {
			t.Errorf("a legend does not tell a change of %s", settings.Field(i).Name)
		}
	}
	method := NRWS().LearningRate(0.1).Damping(0.5).RefreshEvery(20).FisherPrecision(SinglePrecision).StepDecay(5, 0.1)
	if got, want := method.Spec().String(), "NRWS, η = 0.1, α = 0.5, K = 20, float32, step, × 0.1 every 5 epochs"; got != want {
		t.Errorf("the legend is %q, want %q", got, want)
	}
}

// TestHashesLast pins hashes, which runs keep: a setting that is added must
// leave that of the experiments without it.
func TestHashesLast(t *testing.T) {
	for name, want := range map[string]string{"nrws": "ff29379033ec425d", "bihm": "c18fd35801f469a9"} {
		e, err := ParseExperiment([]byte("[dataset]\nname = \"3by3\"\n[machine]\nlayers = [6, 3]\n[method]\npreset = \"" + name + "\"\nfisher_precision = \"float32\"\n"))
		if err != nil {
			t.Fatal(err)
		}
		if got := e.Hash(); got[:16] != want {
			t.Errorf("the hash of %s is %.16s, in older runs %s", name, got, want)
		}
	}
}

// TestPresetDefaults compares the presets with what the thesis trained MNIST
// with: tables 5.1 and 5.3 of Várady 2025, App. A.2 for the rest.
func TestPresetDefaults(t *testing.T) {
	for _, want := range []MethodSpec{
		{Preset: "ws", Phases: WakeSleep, Metric: Euclidean, LearningRate: 0.002, Damping: 0.2, RefreshEvery: 1000},
		{Preset: "rws", Phases: ReweightedWakeSleep, Metric: Euclidean, LearningRate: 0.002, Damping: 0.2, RefreshEvery: 1000},
		{Preset: "bihm", Phases: Bidirectional, Metric: Euclidean, LearningRate: 0.001, Damping: 0.2, RefreshEvery: 1000},
		{Preset: "nws", Phases: WakeSleep, Metric: Block, LearningRate: 0.002, Damping: 0.2, RefreshEvery: 1000},
		{Preset: "nrws", Phases: ReweightedWakeSleep, Metric: Block, LearningRate: 0.002, Damping: 0.2, RefreshEvery: 1000},
		{Preset: "dnrws", Phases: ReweightedWakeSleep, Metric: Diagonal, LearningRate: 0.002, Damping: 0.2, RefreshEvery: 1},
		{Preset: "nbihm", Phases: Bidirectional, Metric: Block, LearningRate: 0.001, Damping: 0.1, RefreshEvery: 1000},
		{Preset: "reinforce", Phases: Reinforce, Metric: Euclidean, LearningRate: 0.002, Damping: 0.2, RefreshEvery: 1000},
	} {
		want.FisherSource, want.Optimizer, want.Schedule = FromWake, GradientDescent, ConstantRate
		want.FisherPrecision = SixteenBits
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
	if len(Presets()) != 8 {
		t.Errorf("there are presets %v, want 8", Presets())
	}
}

// TestParseExperimentKeepsWhatIsGiven reads a file that says little, and
// changes what it says.
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
	if diff := cmp.Diff(want, e); diff != "" {
		t.Errorf("(-want +read):\n%s", diff)
	}
}

func TestParseExperimentRefuses(t *testing.T) {
	for _, test := range []struct {
		name, text string
		says       []string
	}{
		{"no method", `epochs = 3`, []string{"no method", "nrws", "preset"}},
		{"unknown preset", "[method]\npreset = \"vae\"", []string{`"vae"`, "ws, rws, bihm"}},
		{"unknown key", "epoch = 3\n[method]\npreset = \"ws\"", []string{`"epoch"`, "remove it"}},
		{"unknown key in a table", "[method]\npreset = \"ws\"\nmomenta = 0.9", []string{`"method.momenta"`}},
		{"unknown table", "[optimizer]\nname = \"adam\"\n[method]\npreset = \"ws\"", []string{`"optimizer`}},
		{"unknown schedule", "[method]\npreset = \"ws\"\nschedule = \"linear\"", []string{`"linear"`, "constant, step or cosine"}},
		{"unknown weights", "[machine]\nweights = \"zero\"\n[method]\npreset = \"ws\"", []string{`"zero"`, "glorot-normal"}},
		{"unknown coding", "[machine]\ncoding = \"tanh\"\n[method]\npreset = \"ws\"", []string{`"tanh"`, "pm1"}},
		{"unknown metric", "[method]\npreset = \"ws\"\nmetric = \"kfac\"", []string{`"kfac"`, "diagonal"}},
		{"a number that is none", "[method]\npreset = \"ws\"\nlearning_rate = \"fast\"", []string{"learning_rate"}},
		{"negative seed", "seed = -1\n[method]\npreset = \"ws\"", []string{"seed"}},
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
	_, err := ReadExperiment(path)
	wantError(t, err, path)
	if err := os.WriteFile(path, []byte("seeds = [1, 2]\n[method]\npreset = \"ws\""), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err = ReadExperiment(path)
	wantError(t, err, path, `"seeds"`)
}

// TestExperimentTrainsAsItsMethod trains the same experiment from Go and from
// its TOML.
func TestExperimentTrainsAsItsMethod(t *testing.T) {
	t.Parallel()
	set := patterns(t)
	built, read := t.TempDir(), t.TempDir()
	run := mustTrain(t, short(NRWS()), set, built)
	e, err := ReadExperiment(filepath.Join(built, experimentFile))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(run.Experiment(), e); diff != "" {
		t.Errorf("the experiment in the directory differs (-run +file):\n%s", diff)
	}
	if _, err := e.Train(t.Context(), set, read); err != nil {
		t.Fatal(err)
	}
	wantSameRun(t, built, read)
}

// FuzzParseExperiment checks that what is read can be written, read again and told
// from others.
func FuzzParseExperiment(f *testing.F) {
	f.Add("[method]\npreset = \"nrws\"\n")
	f.Add("epochs = 3\nseed = 7\n[dataset]\nname = \"3by3\"\nvalidation = 10\n[machine]\nlayers = [9, 6]\n[method]\npreset = \"bihm\"\ndamping = 1e-3\n")
	f.Add("[method]\npreset = \"ws\"\nlearning_rate = nan\nstep_factor = -inf\n")
	f.Add("[dataset]\nname = \"\\u0000\\n]\"\nsubset = -0x10\n[method]\npreset = \"rws\"\n")
	f.Add("[machine]\nconvolutions = [\"q:1@2x2/0\"]\n[method]\npreset = \"rws\"\n[[measure]]\nevery = 2\n[start]\nrun = \"a\"\n")
	f.Fuzz(func(t *testing.T, text string) {
		var e Experiment
		var err error
		fuzz.Bounded(t, len(text), func() { e, err = ParseExperiment([]byte(text)) })
		if err != nil {
			return
		}
		written := e.TOML()
		back, err := ParseExperiment(written)
		if err != nil {
			t.Fatalf("%v\n%s", err, written)
		}
		if string(back.TOML()) != string(written) {
			t.Fatalf("written once:\n%s\nread and written again:\n%s", written, back.TOML())
		}
		// The directory of the experiment takes it for what it is.
		if differences := runs.Differences(e, back); len(differences) > 0 || back.Hash() != e.Hash() {
			t.Fatalf("what is read again differs: %v", differences)
		}
	})
}

// A sweep over what does nothing would compare runs that are alike; where each of what varies acts
// in some setting that is its own, there is none like another.
func TestSweepsOverIdleSettingsAreRefused(t *testing.T) {
	base := `base = {epochs = 2, dataset = {name = "3by3"}, machine = {layers = [3]}, method = {preset = "rws"}}` + "\n"
	for _, c := range []struct{ axes, says string }{
		{"[grid]\nmethod.momentum = [0.5, 0.9]", "method.momentum does nothing without --optimizer momentum"},
		{"[grid]\nmethod.preset = [\"rws\", \"nrws\"]\nmethod.damping = [0.1, 0.2]", "method.damping does nothing without a Fisher matrix"},
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
	}
}

// A sweep over presets trains each with the settings that it stands for, and with those that
// the base names, here and where the plan is read again.
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
	sweep.Base = RWS().Samples(3).Experiment(machineFor(patterns(t)), patterns(t)).TOML()
	if settings, err := sweep.Settings(); err != nil || settings[0].Experiment.(Experiment).Method.Samples != 3 {
		t.Errorf("with another base the first setting is %v (%v)", settings, err)
	}
}
