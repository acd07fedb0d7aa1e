//go:build unix

package kernel

import (
	"os"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm/deterministic"
	"github.com/helmholtz-go/helmholtz/kernelext/internal/session"
)

// Models of any family are listed and saved, and their samples are shown.
func TestModelsOfAnotherFamily(t *testing.T) {
	t.Chdir(t.TempDir())
	grid, err := dataset.Spec{Name: "3by3", Subset: 64}.Open()
	if err != nil {
		t.Fatal(err)
	}
	s := session.New(session.Folder, nil)
	defer s.Close()
	e := deterministic.NewExperiment(grid, deterministic.Logistic, 4)
	e.Epochs = 1
	run, err := e.Train(t.Context(), grid, s.Dir("means"))
	if err != nil {
		t.Fatal(err)
	}
	m := magics{session: s}
	if _, err := m.Run(t.Context(), "save means means.safetensors"); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open("means.safetensors")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if model, err := deterministic.Family.LoadModel(file); err != nil || model.String() != run.Model().String() {
		t.Errorf("the saved model is %v (%v)", model, err)
	}
	if html := samples(s.Dir("means")); !strings.Contains(html, "<img") {
		t.Errorf("the samples are %.80q", html)
	}
	if html := samples("nowhere"); html != "" {
		t.Errorf("without a run the samples are %.80q", html)
	}
}
