package shell

import (
	"os/exec"
	"testing"
)

// A shell reads a word as the text that it stands for.
func TestWord(t *testing.T) {
	for _, text := range []string{"", "plain", "runs/λ=0.1,a-b", "two words", "it's", `''"\$HOME`, "$(exit 1)`exit 1`", "*\n~ # ; & |"} {
		for _, word := range []string{Word(text), Argument(text)} {
			out, err := exec.Command("sh", "-c", "printf %s "+word).Output()
			if err != nil || string(out) != text {
				t.Errorf("%q, written as %s, is read as %q (%v)", text, word, out, err)
			}
		}
	}
}

// What needs no quotation marks has none.
func TestArgument(t *testing.T) {
	if is := Argument("runs/a_b-1.0,η=2"); is != "runs/a_b-1.0,η=2" {
		t.Errorf("%s has quotation marks", is)
	}
}
