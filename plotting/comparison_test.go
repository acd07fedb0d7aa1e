package plotting

import (
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/runs"
)

// A comparison whose runs are not open, such as one read from JSON, is an error of the figure.
func TestComparisonsThatAreNotOpen(t *testing.T) {
	c := runs.Comparison{Experiments: []runs.Compared{{Dir: "runs/one"}}}
	for name, f := range map[string]*Figure{"by epoch": Comparison(c), "by time": ComparisonByTime(c)} {
		if _, err := f.PNG(); err == nil || !strings.Contains(err.Error(), "runs/one are not open") {
			t.Errorf("%s: error %v", name, err)
		}
	}
}
