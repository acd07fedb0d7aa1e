package command

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/boltzmann"
	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/spf13/cobra"
)

// TestBackends trains on each backend, and resumes on another.
func TestBackends(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	small := func(more ...string) []string {
		return append([]string{"train", "--dataset", "3by3", "--subset", "64", "--layers", "3", "--epochs", "1", "--out", dir}, more...)
	}
	_, missing := engine.Open("cuda")
	if missing != nil {
		code, _, errOut := helmholtz(t, t.Context(), small("--backend", "cuda")...)
		if code != exitFailed || !strings.Contains(errOut, missing.Error()) {
			t.Errorf("cuda, which cannot be had (%v), ended with %d and said %q", missing, code, errOut)
		}
	}
	succeed(t, small("--backend", "auto")...)
	succeed(t, "train", "--resume", dir, "--backend", "cpu")
	code, _, errOut := helmholtz(t, t.Context(), small("--backend", "abacus")...)
	if code != exitUsage || !strings.Contains(errOut, "use cpu, cuda, auto") {
		t.Errorf("an unknown backend ended with %d and said %q", code, errOut)
	}
	for _, args := range [][]string{
		{"bench", "train", "--dataset", "3by3", "--subset", "64", "--layers", "3", "--steps", "2", "--backend", "cpu", "--json"},
		{"bench", "eval", dir, "--samples", "2", "--backend", "cpu", "--json"},
	} {
		var record struct{ Backend, Device string }
		if err := json.Unmarshal([]byte(succeed(t, args...)), &record); err != nil {
			t.Fatal(err)
		}
		if record.Backend != "cpu" || !strings.HasPrefix(record.Device, "CPU, ") {
			t.Errorf("%v ran on %+v", args, record)
		}
	}
}

// Training must refuse a GPU for families that compute on the CPU. The backend itself may be missing here.
func TestOtherFamiliesRefuseGPUs(t *testing.T) {
	for _, backend := range []string{"cpu", "auto"} {
		succeed(t, onPatterns("--algorithm", "pcd", "--layers", "5", "--backend", backend, "--out", filepath.Join(t.TempDir(), "run"))...)
	}
	c, refusal := commands()["train"], "only Helmholtz machines compute on a GPU: omit --backend"
	if err := c.Flags().Set("backend", "cuda"); err != nil {
		t.Fatal(err)
	}
	for e, refused := range map[runs.Experiment]bool{&boltzmann.Experiment{}: true, &hm.Experiment{}: false} {
		dir := filepath.Join(t.TempDir(), "run")
		if err := train(c, e, 0, dir); err == nil || strings.Contains(err.Error(), refusal) != refused {
			t.Errorf("%T: error %v", e, err)
		}
		if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%T: a refused experiment has made its directory (%v)", e, err)
		}
	}
}

// commands returns all runnable commands, by their paths below the program.
func commands() map[string]*cobra.Command {
	all := map[string]*cobra.Command{}
	var add func(*cobra.Command)
	add = func(c *cobra.Command) {
		if _, below, _ := strings.Cut(c.CommandPath(), " "); c.Runnable() {
			all[below] = c
		}
		for _, child := range c.Commands() {
			add(child)
		}
	}
	add(newRoot())
	return all
}

// All commands compute and have a backend, except those that only read, list or install.
func TestCommandsThatComputeHaveABackend(t *testing.T) {
	computesNothing := regexp.MustCompile(`^(|bench( growth| here)?|sweep|((data|kernel)( .*)?)|docs|doctor|history|import|new|runs|version|sweep (status|report)|reproduce (list|report|rejudge)|pretrained( (list|show|get))?)$`)
	for path, c := range commands() {
		if has := c.Flags().Lookup("backend") != nil; has == computesNothing.MatchString(path) {
			t.Errorf("that %q has the flag --backend is %v", path, has)
		}
	}
}

// poor is an engine that lacks a feature.
type poor struct{ engine.Engine }

func (poor) Describe() string        { return "an abacus" }
func (poor) Lacks() []engine.Feature { return []engine.Feature{engine.GaussianUnits} }

func init() { engine.Register("poor", func() (engine.Engine, error) { return poor{}, nil }) }

// TestDoctorKnowsTheEngines checks that doctor lists the CPU engine, and the others or what they
// lack.
func TestDoctorKnowsTheEngines(t *testing.T) {
	cuda := "ok  engine     cuda: "
	if _, err := engine.Open("cuda"); err != nil {
		cuda = "--  engine     " + err.Error()
	}
	wantLines(t, bare(), "ok  engine     cpu: CPU, ", "ok  engine     poor: an abacus; lacks Gaussian units\n", cuda, "ok  backend    ", "--  GPU        no nvidia-smi")
}
