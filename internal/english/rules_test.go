package english

import (
	"strings"
	"testing"
)

// TestRules counts the offences of sentences that the rules must find and of sentences that they must leave alone.
func TestRules(t *testing.T) {
	for text, want := range map[string]int{
		"Snapshot is that of the last checkpoint.":                    1,
		"The rates are\nthose of the experiment.":                     1,
		"The run goes on from its checkpoint.":                        1,
		"leave -k away; give fewer samples":                           2,
		"Of these it keeps two.":                                      1,
		"It stops. Where a run diverged, it says so.":                 1,
		"What is a seed? The key of the generator.":                   0,
		"It keeps two of these. The learning rate is where it was.":   0,
		"It returns what the file says, 0 the first, nil of one more": 3,
		"The run resumes at the checkpoint that it wrote last.":       0,
	} {
		if got := offences(text); len(got) != want {
			t.Errorf("%q has the offences %q, want %d", text, got, want)
		}
	}
}

func TestDocComments(t *testing.T) {
	const source = `package p

// Snapshot is the state of a run.
type Snapshot struct {
	Of string ` + "`toml:\"What is that of\"`" + `
}

// State of a run.
type State struct{}

// Rate returns the rate of a step.
func Rate() {}

// Rates are the rates of all steps.
func Rates() {}

// step is one step.
func step() {}

// helper of Rate.
func other() {}

// Draws samples.
func Draw() {}
`
	got := goOffences(t, "p.go", []byte(source))
	var lines []string
	for _, offence := range got {
		lines = append(lines, strings.Split(offence, ":")[1])
	}
	if got := strings.Join(lines, " "); got != "9 15 18 24" {
		t.Errorf("offences in the lines %s", got)
	}
}

func TestMarkdown(t *testing.T) {
	const source = "# What it is\n\nIts rates\nare those of Adam.\n\n```\nthat of\n```\n\n- Of these, two.\n- None.\n"
	if got := markdownOffences("p.md", source); len(got) != 2 || !strings.HasPrefix(got[0], "p.md:3:") || !strings.HasPrefix(got[1], "p.md:10:") {
		t.Errorf("offences %q", got)
	}
}
