package session

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/runs"
)

// A run that starts from another's parameters is paused and resumed, and is another
// experiment than one that starts elsewhere.
func TestFineTuningIsStoppedAndResumed(t *testing.T) {
	folder := t.TempDir()
	s, step := begun(folder)
	defer s.Close()
	for name, seed := range map[string]uint64{"a": 1, "b": 2} {
		e := tiny(t, 1, seed)
		set, err := e.Dataset.Open()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.Train(t.Context(), set, filepath.Join(folder, name)); err != nil {
			t.Fatal(err)
		}
	}
	from := func(name string) hm.Experiment {
		e := tiny(t, long, 3)
		e.Start = &runs.Source{Run: filepath.Join(folder, name)}
		return e
	}
	if err := s.Start("tuned", from("a")); err != nil {
		t.Fatal(err)
	}
	<-step
	if err := s.Start("tuned", from("b")); err == nil || !strings.Contains(err.Error(), "another experiment") {
		t.Errorf("another start under the same name ends with %v", err)
	}
	if err := s.Stop("tuned"); err != nil {
		t.Fatal(err)
	}
	if err := s.Resume("tuned"); err != nil {
		t.Fatal(err)
	}
	<-step
	if err := s.Stop("tuned"); err != nil {
		t.Fatal(err)
	}
}
