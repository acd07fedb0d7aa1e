//go:build !unix

package command

import (
	"strings"
	"testing"
)

func TestKernelSaysThatItIsNotHere(t *testing.T) {
	code, _, errOut := helmholtz(t, t.Context(), "kernel", "install", "--prefix", t.TempDir())
	if code != exitFailed || !strings.Contains(errOut, "kernel: "+noKernel) {
		t.Errorf("ended with %d and said %q", code, errOut)
	}
}
