package runs_test

import (
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/runs"
)

// A family that only files describe has the flags that all families share.
func TestFlagsChangeTheFileOfAFamily(t *testing.T) {
	d := runs.NewDraft(byLoss)
	if _, err := d.Experiment(); err == nil || !strings.Contains(err.Error(), "give its file with --config") {
		t.Errorf("without a file: %v", err)
	}
	if err := d.Read([]byte("family = \"" + byLoss + "\"\ncomponents = 3\nepochs = 2\n")); err != nil {
		t.Fatal(err)
	}
	d.Epochs++
	if e, err := d.Experiment(); err != nil || e.Header().Epochs != 3 || e.(mixture).Components != 3 {
		t.Errorf("the experiment is %+v (%v)", e, err)
	}
}
