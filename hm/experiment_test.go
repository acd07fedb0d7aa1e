package hm

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/fuzz"
	"github.com/helmholtz-go/helmholtz/runs"
	"pgregory.net/rapid"
)

// anyConvolutions draws some convolutions, none as nil.
func anyConvolutions() *rapid.Generator[[]Convolution] {
	number := rapid.IntRange(0, 999_999)
	return rapid.Custom(func(t *rapid.T) (list []Convolution) {
		for range rapid.IntRange(0, 3).Draw(t, "number") {
			list = append(list, Convolution{
				number.Draw(t, "channels"), number.Draw(t, "height"), number.Draw(t, "width"), number.Draw(t, "stride"),
				rapid.SampledFrom([]Networks{BothNetworks, RecognitionOnly, GenerativeOnly}).Draw(t, "networks"),
			})
		}
		return list
	})
}

// anyExperiment draws experiments from all that their types allow, sensible or
// not.
func anyExperiment(t *rapid.T) Experiment {
	number := rapid.Float64Range(-math.MaxFloat64, math.MaxFloat64)
	seed := rapid.Uint64Range(0, math.MaxInt64)
	return Experiment{
		Dataset: dataset.Spec{
			Name:         rapid.String().Draw(t, "name"),
			Test:         rapid.String().Draw(t, "test"),
			Binarization: rapid.SampledFrom([]dataset.Binarization{dataset.Fixed, dataset.Stochastic, dataset.Grey}).Draw(t, "binarization"),
			Validation:   rapid.Ptr(rapid.Int(), true).Draw(t, "validation"),
			Subset:       rapid.Int().Draw(t, "subset"),
			Labels:       rapid.Int().Draw(t, "labels"),
			Seed:         seed.Draw(t, "data seed"),
		},
		Fingerprint: rapid.StringMatching(`([0-9a-f]{64})?`).Draw(t, "fingerprint"),
		Machine: MachineSpec{
			Layers:       append([]int(nil), rapid.SliceOf(rapid.Int()).Draw(t, "layers")...),
			Convolutions: anyConvolutions().Draw(t, "convolutions"),
			Units:        rapid.SampledFrom([][]Kind{nil, {Gaussian}, {Gaussian, Bernoulli}}).Draw(t, "units"),
			Coding:       rapid.SampledFrom([]Coding{ZeroOne, PlusMinusOne}).Draw(t, "coding"),
			Weights:      rapid.SampledFrom([]Initialisation{GlorotNormal, BidirectionalUniform, SmallNormal}).Draw(t, "weights"),
			Bias:         number.Draw(t, "bias"),
			LabelLayer:   rapid.SampledFrom([]LabelLayer{NoLabels, TopLabels, LowerLabels, HiddenLabels}).Draw(t, "label layer"),
			Classes:      rapid.Int().Draw(t, "classes"),
		},
		Method: MethodSpec{
			Preset:       rapid.SampledFrom(Presets()).Draw(t, "preset"),
			Phases:       rapid.SampledFrom([]Phases{WakeSleep, ReweightedWakeSleep, Bidirectional, Reinforce}).Draw(t, "phases"),
			Metric:       rapid.SampledFrom([]Metric{Euclidean, Block, Diagonal, Kronecker}).Draw(t, "metric"),
			FisherSource: rapid.SampledFrom([]FisherSource{FromWake, FromSleep, FromLegacy}).Draw(t, "Fisher source"),
			Damping:      number.Draw(t, "damping"),
			RefreshEvery: rapid.Int().Draw(t, "K"),
			Optimizer:    rapid.SampledFrom([]Optimizer{GradientDescent, Adam, Momentum, Nesterov}).Draw(t, "optimiser"),
			Momentum:     number.Draw(t, "momentum"),
			AdamBeta1:    number.Draw(t, "β₁"),
			AdamBeta2:    number.Draw(t, "β₂"),
			LearningRate: number.Draw(t, "learning rate"),
			Schedule:     rapid.SampledFrom([]Schedule{Constant, Step, Cosine}).Draw(t, "schedule"),
			StepEpochs:   rapid.Int().Draw(t, "step epochs"),
			StepFactor:   number.Draw(t, "step factor"),
			BatchSize:    rapid.Int().Draw(t, "batch"),
			Samples:      rapid.Int().Draw(t, "samples"),
			LaterSamples: rapid.Int().Draw(t, "later samples"), LaterSamplesAfter: rapid.Int().Draw(t, "epochs before"),
			L1: number.Draw(t, "L1"), L2: number.Draw(t, "L2"), WarmUp: rapid.Int().Draw(t, "warm-up"),
			Entropy: number.Draw(t, "entropy"), EntropyEstimator: number.Draw(t, "entropy estimator"),
			Baseline:   rapid.Bool().Draw(t, "baseline"),
			SleepSteps: rapid.Int().Draw(t, "sleep steps"),
			SleepScale: number.Draw(t, "sleep scale"),

			ReinforceBaseline: rapid.SampledFrom([]ReinforceBaseline{ConstantBaseline, NoBaseline, OptimalBaseline}).Draw(t, "REINFORCE's baseline"),
		},
		Epochs:   rapid.Int().Draw(t, "epochs"),
		Patience: rapid.Int().Draw(t, "patience"),
		Seed:     seed.Draw(t, "seed"),
	}
}

func TestTOMLRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := anyExperiment(t)
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
		e := anyExperiment(t)
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

// TestHashTellsExperimentsApart changes one setting at a time.
func TestHashTellsExperimentsApart(t *testing.T) {
	set := patterns(t)
	base := NRWS().Experiment(machineFor(set), set)
	hashes := map[string]string{base.Hash(): "the source"}
	for name, change := range map[string]func(*Experiment){
		"data set":      func(e *Experiment) { e.Dataset.Name = "glyphs" },
		"validation":    func(e *Experiment) { e.Dataset.Validation = new(0) },
		"subset":        func(e *Experiment) { e.Dataset.Subset++ },
		"fingerprint":   func(e *Experiment) { e.Fingerprint = "" },
		"layers":        func(e *Experiment) { e.Machine.Layers = []int{4, 4} },
		"convolution":   func(e *Experiment) { e.Machine.Convolutions = []Convolution{{8, 2, 2, 1, BothNetworks}} },
		"q alone":       func(e *Experiment) { e.Machine.Convolutions = []Convolution{{8, 2, 2, 1, RecognitionOnly}} },
		"label layer":   func(e *Experiment) { e.Machine.LabelLayer = TopLabels },
		"lower labels":  func(e *Experiment) { e.Machine.LabelLayer = LowerLabels },
		"hidden labels": func(e *Experiment) { e.Machine.LabelLayer = HiddenLabels },
		"classes":       func(e *Experiment) { e.Machine.Classes = 10 },
		"labels":        func(e *Experiment) { e.Dataset.Labels = 10 },
		"γ":             func(e *Experiment) { e.Method.Gamma = 0.1 },
		"label weight":  func(e *Experiment) { e.Method.LabelWeight = 2 },
		"plain labels":  func(e *Experiment) { e.Method.LabelProposal = PlainLabels },
		"mixed labels":  func(e *Experiment) { e.Method.LabelProposal = MixedLabels },
		"units":         func(e *Experiment) { e.Machine.Units = []Kind{Gaussian} },
		"coding":        func(e *Experiment) { e.Machine.Coding = ZeroOne },
		"weights":       func(e *Experiment) { e.Machine.Weights = SmallNormal },
		"bias":          func(e *Experiment) { e.Machine.Bias = 0 },
		"phases":        func(e *Experiment) { e.Method.Phases = WakeSleep },
		"metric":        func(e *Experiment) { e.Method.Metric = Diagonal },
		"kronecker":     func(e *Experiment) { e.Method.Metric = Kronecker },
		"source":        func(e *Experiment) { e.Method.FisherSource = FromSleep },
		"legacy":        func(e *Experiment) { e.Method.FisherSource = FromLegacy },
		"damping":       func(e *Experiment) { e.Method.Damping = math.Nextafter(0.2, 1) },
		"K":             func(e *Experiment) { e.Method.RefreshEvery++ },
		"optimiser":     func(e *Experiment) { e.Method.Optimizer = Adam },
		"momentum":      func(e *Experiment) { e.Method.Momentum = 0.5 },
		"β₁":            func(e *Experiment) { e.Method.AdamBeta1 = 0.5 },
		"β₂":            func(e *Experiment) { e.Method.AdamBeta2 = 0.5 },
		"rate":          func(e *Experiment) { e.Method.LearningRate *= 2 },
		"schedule":      func(e *Experiment) { e.Method.Schedule = Cosine },
		"batch":         func(e *Experiment) { e.Method.BatchSize++ },
		"samples":       func(e *Experiment) { e.Method.Samples++ },
		"later":         func(e *Experiment) { e.Method.LaterSamples = 20 },
		"later after":   func(e *Experiment) { e.Method.LaterSamplesAfter = 20 },
		"L1":            func(e *Experiment) { e.Method.L1 = 0.1 },
		"L2":            func(e *Experiment) { e.Method.L2 = 0.1 },
		"entropy":       func(e *Experiment) { e.Method.Entropy = 0.1 },
		"estimator":     func(e *Experiment) { e.Method.EntropyEstimator = 0.1 },
		"warm-up":       func(e *Experiment) { e.Method.WarmUp = 9 },
		"baseline":      func(e *Experiment) { e.Method.Baseline = false },
		"reinforce":     func(e *Experiment) { e.Method.ReinforceBaseline = OptimalBaseline },
		"sleep steps":   func(e *Experiment) { e.Method.SleepSteps++ },
		"sleep scale":   func(e *Experiment) { e.Method.SleepScale = 3 },
		"epochs":        func(e *Experiment) { e.Epochs++ },
		"patience":      func(e *Experiment) { e.Patience++ },
		"seed":          func(e *Experiment) { e.Seed++ },
		"data seed":     func(e *Experiment) { e.Dataset.Seed++ },
		"binarization":  func(e *Experiment) { e.Dataset.Binarization = dataset.Stochastic },
	} {
		e := base
		change(&e)
		if other, taken := hashes[e.Hash()]; taken {
			t.Errorf("a change of the %s has the hash of %s", name, other)
		}
		hashes[e.Hash()] = name
	}
}

// TestLegendsTellMethodsApart changes each setting of a method, one at a time.
func TestLegendsTellMethodsApart(t *testing.T) {
	settings := reflect.TypeFor[MethodSpec]()
	for i := range settings.NumField() {
		told := false
		for _, base := range []Method{
			NRWS().FisherPrecision(SinglePrecision).Schedule(Step).Optimizer(Adam).SamplesAfter(1, 20),
			NRWS().Optimizer(Momentum),
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
// with: tables 5.1 and 5.3 of 004, App. A.2 for the rest.
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
		want.FisherSource, want.Optimizer, want.Schedule = FromWake, GradientDescent, Constant
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
	if _, err := e.Train(t.Context(), read); err != nil {
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
