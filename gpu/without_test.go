//go:build !cuda

package gpu

import (
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/hm/engine"
)

// Without the tag, opening the engine must return an error that names the remedy.
func TestEngineIsNotThereWithoutTheTag(t *testing.T) {
	_, err := engine.Open("cuda")
	if err == nil {
		t.Fatal("there is an engine")
	}
	for _, part := range []string{"cuda: ", "tag cuda", "make cuda", "HELMHOLTZ_BACKEND=cpu"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("the error %q does not say %q", err, part)
		}
	}
}
