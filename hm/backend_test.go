package hm

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/runs/runstest"
)

// cpuEngine returns the CPU engine, on which test engines are built.
func cpuEngine() engine.Engine {
	e, err := engine.Open("cpu")
	if err != nil {
		panic(err)
	}
	return e
}

// poor is an engine without Gaussian units, convolutions and Gibbs chains, for few layers, and with little memory.
type poor struct{ engine.Engine }

func (poor) Lacks() []engine.Feature {
	return []engine.Feature{engine.GaussianUnits, engine.ConvolvedLayers, engine.GibbsChains}
}
func (poor) Available() (int64, string) { return 1 << 20, "the device" }

func (poor) Check(a engine.Architecture, _ engine.Algorithm) error {
	if a.Depth() > 3 {
		return errors.New("too many layers")
	}
	return nil
}

func (p poor) NewModel(of *engine.Parameters, arithmetic engine.Arithmetic) (engine.Model, error) {
	m, err := p.Engine.NewModel(of, arithmetic)
	return struct{ engine.Model }{m}, err
}

func init() {
	engine.Register("poor", func() (engine.Engine, error) { return poor{cpuEngine()}, nil })
}

// useBackend chooses a backend for the rest of a test.
func useBackend(t *testing.T, name string) {
	t.Helper()
	forgetBackend(t)
	if err := UseBackend(name); err != nil {
		t.Fatal(err)
	}
}

// forgetBackend lets a test start and end like a process that has not chosen a backend.
func forgetBackend(t *testing.T) {
	t.Helper()
	forget := func() {
		computing.chosen = backend{}
		computing.fallen = sync.Once{}
	}
	forget()
	t.Cleanup(forget)
}

func TestBackendIsTheVariablesOrTheCPU(t *testing.T) {
	wantDevice := func(want string) {
		t.Helper()
		if name, description, err := Device(); err != nil || name != want || !strings.HasPrefix(description, "CPU, ") {
			t.Errorf("%s (%s) computes, error %v; want %s", name, description, err, want)
		}
	}
	forgetBackend(t)
	t.Setenv(BackendVariable, "")
	wantDevice("cpu")
	forgetBackend(t)
	t.Setenv(BackendVariable, "poor")
	wantDevice("poor")
	useBackend(t, "cpu")
	wantDevice("cpu")
	wantError(t, UseBackend("abacus"), `no backend "abacus"`, "use cpu, poor")
	wantDevice("cpu")
	forgetBackend(t)
	t.Setenv(BackendVariable, "abacus")
	_, _, err := Device()
	wantError(t, err, "HELMHOLTZ_BACKEND=abacus", "use cpu, poor")
}

// The backend auto must compute on the CPU if there is no other engine, and report this once.
func TestAutoFallsBackAndSaysSoOnce(t *testing.T) {
	wantError(t, UseBackend("cuda"), `import _ "github.com/helmholtz-go/helmholtz/gpu"`, "-tags cuda", "cpu")
	forgetBackend(t)
	said := standardError(t, func() {
		for range 2 {
			if err := UseBackend("auto"); err != nil {
				t.Error(err)
			}
		}
	})
	if name, _, err := Device(); err != nil || name != "cpu" {
		t.Errorf("%s computes, error %v", name, err)
	}
	if strings.Count(said, "\n") != 1 || !strings.Contains(said, "computes on the CPU") || !strings.Contains(said, "-tags cuda") {
		t.Errorf("auto said %q", said)
	}
}

// standardError returns what work writes to standard error.
func standardError(t *testing.T, work func()) string {
	t.Helper()
	file, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	was := os.Stderr
	os.Stderr = file
	work()
	os.Stderr = was
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// One backend must be able to finish a run that another has begun, and write the same files: they
// do not contain the backend.
func TestBackendIsNoPartOfARun(t *testing.T) {
	set := patterns(t)
	whole, parts := t.TempDir(), t.TempDir()
	useBackend(t, "cpu")
	mustTrain(t, short(NRWS()), set, whole)
	trainUntil(t, 9, short(NRWS()), machineFor(set), set, parts)
	hash := short(NRWS()).Experiment(machineFor(set), set).Hash()
	useBackend(t, "poor")
	if other := short(NRWS()).Experiment(machineFor(set), set).Hash(); other != hash {
		t.Errorf("the hash is %s on one backend, %s on another", hash, other)
	}
	mustTrain(t, short(NRWS()), set, parts)
	runstest.SameRun(t, whole, parts)
}

// A run must be refused before it begins if the backend lacks a feature or memory, or if it exceeds a limit.
func TestBackendRefusesWhatItLacks(t *testing.T) {
	useBackend(t, "poor")
	set, dir := grays(t), filepath.Join(t.TempDir(), "run")
	_, err := short(NRWS()).LearningRate(0.001).Train(t.Context(), machineFor(set), set, dir)
	wantError(t, err, "engine poor lacks Gaussian units", "--backend cpu")
	if !errors.Is(err, engine.ErrUnsupported) {
		t.Errorf("the error is %v", err)
	}
	set = patterns(t)
	run := mustTrain(t, short(RWS()), set, t.TempDir())
	_, err = run.Gibbs(t.Context(), 2, Chain{Sweeps: 1, Candidates: 2}, nil)
	wantError(t, err, "engine poor lacks Gibbs chains and inpainting")
	_, err = short(NRWS()).Train(t.Context(), New(set.Shape()).Dense(300, 300), set, dir)
	wantError(t, err, "inverse Fisher blocks, but the device has 1.0 MiB: use smaller layers, the metric diagonal or none, --backend cpu, or fewer samples")
	_, err = short(RWS()).Train(t.Context(), New(set.Shape()).Dense(300, 300), set, dir)
	wantError(t, err, "of memory, but the device has 1.0 MiB: use smaller layers, --backend cpu, or fewer samples")
	_, err = short(RWS()).Train(t.Context(), New(set.Shape()).Dense(2, 2, 2, 2), set, dir)
	wantError(t, err, "too many layers")
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a refused experiment has made its directory (%v)", err)
	}
}

// Inspecting a run needs no backend. Computing with its model does, at the first call.
func TestRunsAreOpenedWithoutABackend(t *testing.T) {
	useBackend(t, "cpu")
	set, dir := patterns(t), t.TempDir()
	mustTrain(t, short(RWS()), set, dir)
	forgetBackend(t)
	t.Setenv(BackendVariable, "abacus")
	run, err := OpenRun(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(run.History().Epochs) != 6 {
		t.Errorf("the run has %d epochs", len(run.History().Epochs))
	}
	_, err = run.Evaluate(t.Context(), set.Test(), 3, nil)
	wantError(t, err, "HELMHOLTZ_BACKEND=abacus")
	if err := UseBackend("cpu"); err != nil {
		t.Fatal(err)
	}
	if _, err := run.Evaluate(t.Context(), set.Test(), 3, nil); err != nil {
		t.Error(err)
	}
}

// refusing is a backend that refuses every model.
type refusing struct{ poor }

func (refusing) NewModel(*engine.Parameters, engine.Arithmetic) (engine.Model, error) {
	return nil, errors.New("no such model")
}

// A model that one backend has refused can be evaluated by the next.
func TestBackendAfterARefusal(t *testing.T) {
	engine.Register("refusing", func() (engine.Engine, error) { return refusing{poor{cpuEngine()}}, nil })
	useBackend(t, "cpu")
	set, dir := patterns(t), t.TempDir()
	run := mustTrain(t, short(RWS()), set, dir)
	if err := UseBackend("refusing"); err != nil {
		t.Fatal(err)
	}
	_, err := run.Evaluate(t.Context(), set.Test(), 3, nil)
	wantError(t, err, "no such model")
	if err := UseBackend("cpu"); err != nil {
		t.Fatal(err)
	}
	if _, err := run.Evaluate(t.Context(), set.Test(), 3, nil); err != nil {
		t.Error(err)
	}
}
