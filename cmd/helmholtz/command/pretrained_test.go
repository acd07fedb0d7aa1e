package command

import (
	"path/filepath"
	"strings"
	"testing"
)

// The card of a machine of the catalogue is shown, and its value listed, before the machine has been fetched.
func TestCardsOfMachinesThatWereNotFetched(t *testing.T) {
	names := []string{"glyphs-nrws", "mnist-rbm"}
	here := succeed(t, append([]string{"pretrained", "show"}, names...)...) // in the clone
	t.Chdir(t.TempDir())
	t.Setenv("HELMHOLTZ_PRETRAINED", "")
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	away := succeed(t, append([]string{"pretrained", "show"}, names...)...)
	var want []string
	for _, line := range strings.Split(here, "\n") {
		if text, found := strings.CutPrefix(line, "directory"); found {
			line = strings.Replace(line, strings.TrimSpace(text), "missing: helmholtz pretrained get "+filepath.Base(text), 1)
		}
		want = append(want, line)
	}
	if away != strings.Join(want, "\n") {
		t.Errorf("without files the cards are\n%s\nwant\n%s", away, strings.Join(want, "\n"))
	}
	list := strings.Join(strings.Fields(succeed(t, "pretrained", "list")), " ")
	if !strings.Contains(list, "log_p -88.20 ± 0.23 missing: helmholtz pretrained get mnist-rbm Binarised MNIST") {
		t.Errorf("the list is\n%s", list)
	}
	if code, _, errOut := helmholtz(t, t.Context(), "pretrained", "show", "mnist-rmb"); code == 0 || !strings.Contains(errOut, "mnist-rbm") {
		t.Errorf("an unknown machine is shown with %d: %s", code, errOut)
	}
}
