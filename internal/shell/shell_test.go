package shell

import (
	"os/exec"
	"testing"
)

// A shell reads a word as the text that it stands for.
func TestWord(t *testing.T) {
	for _, text := range []string{"", "plain", "two words", "it's", `''"\$HOME`, "$(exit 1)`exit 1`", "*\n~ # ; & |"} {
		out, err := exec.Command("sh", "-c", "printf %s "+Word(text)).Output()
		if err != nil || string(out) != text {
			t.Errorf("%q is read as %q (%v)", text, out, err)
		}
	}
}
