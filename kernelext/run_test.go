package kernelext_test

import (
	"runtime"
	"testing"

	"github.com/helmholtz-go/helmholtz/boltzmann"
	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/kernelext"
	"github.com/helmholtz-go/helmholtz/runs"
)

// A run of another family than that of Helmholtz machines is saved while it trains, opened by its
// package, and goes on.
func TestRunsOfOtherFamiliesAreSaved(t *testing.T) {
	t.Chdir(t.TempDir())
	set, err := dataset.Spec{Name: "3by3", Subset: 32}.Open()
	if err != nil {
		t.Fatal(err)
	}
	method := boltzmann.PCD().Chains(8).BatchSize(8).Epochs(1_000_000)
	run := kernelext.Open().Start("rbm", method.Experiment(boltzmann.New(set.Shape()).Hidden(4), set))
	for status, err := run.Status(); status.Step == 0; status, err = run.Status() {
		if err != nil || status.Error != "" {
			t.Fatal(status.Error, err)
		}
		runtime.Gosched()
	}
	saved, err := run.Save()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := boltzmann.OpenRun(saved.Dir()); err != nil {
		t.Error(err)
	}
	if status, err := run.Status(); err != nil || status.State != runs.Running {
		t.Errorf("the run is %s, %v", status.State, err)
	}
	if _, err := run.Model(); err == nil {
		t.Error("a Boltzmann machine is opened as a Helmholtz machine")
	}
	if err := run.Stop(); err != nil {
		t.Error(err)
	}
}
