package factors_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/factors"
)

// A model of real numbers says that the numbers of a table were cut into ranges, unless they were not.
func TestRangesAreNoticed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "people.csv")
	rows := "age,town\n" + strings.Repeat("31,Aa\n44,Bb\n52,Aa\n67,Cc\n70,Bb\n29,Cc\n", 5)
	if err := os.WriteFile(path, []byte(rows), 0o600); err != nil {
		t.Fatal(err)
	}
	for binarization, says := range map[dataset.Binarization]bool{dataset.Fixed: true, dataset.Real: false} {
		set, err := dataset.Spec{Name: path, Binarization: binarization}.Open()
		if err != nil {
			t.Fatal(err)
		}
		notice := factors.PPCA.Experiment(set).Notice(set)
		if said := strings.Contains(notice, `("age") are cut into ranges`) && strings.Contains(notice, "--binarization real"); said != says {
			t.Errorf("%v rows: %q", binarization, notice)
		}
	}
}
