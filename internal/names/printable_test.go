package names

import "testing"

func TestPrintable(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "runs/λ=0.1\tnew\n": "runs/λ=0.1\tnew\n",
		"a\x1b[31mb\a": `a\x1b[31mb\a`, "a\rb": `a\rb`, "\u009b2J": `\u009b2J`, "\x9b2J": `\x9b2J`, "\ufffd": "\ufffd", "\x7f": `\x7f`,
	} {
		if got := Printable(text); got != want {
			t.Errorf("%q is written as %q, want %q", text, got, want)
		}
	}
}
