package session

import (
	"testing"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm/deterministic"
	"github.com/helmholtz-go/helmholtz/runs"
)

// A session trains, stops and resumes runs of any family, and tells of their own
// objective.
func TestRunsOfAnotherFamily(t *testing.T) {
	grid, err := dataset.Spec{Name: "3by3", Subset: 64}.Open()
	if err != nil {
		t.Fatal(err)
	}
	e := deterministic.NewExperiment(grid, deterministic.Logistic, 4)
	e.Epochs = long
	stepped := make(chan struct{}, 1)
	s := New(t.TempDir(), func(string) runs.Recorder {
		return recorder{step: func() {
			select {
			case stepped <- struct{}{}:
			default:
			}
		}, end: func(error) {}}
	})
	defer s.Close()
	if err := s.Start("means", e); err != nil {
		t.Fatal(err)
	}
	<-stepped
	if err := s.Stop("means"); err != nil {
		t.Fatal(err)
	}
	i, err := s.Info("means")
	if err != nil || i.State != Stopped || i.Objective.Key != "free_energy" || i.Value == nil || !(*i.Value > 0) {
		t.Errorf("the stopped run is %+v (%v)", i, err)
	}
	if err := s.Resume("means"); err != nil {
		t.Fatal(err)
	}
	<-stepped
	if err := s.Stop("means"); err != nil {
		t.Fatal(err)
	}
	if run, err := deterministic.OpenRun(s.Dir("means")); err != nil || run.Finished() {
		t.Errorf("the run cannot be opened by its family: %v", err)
	}
}
