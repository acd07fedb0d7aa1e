package runs

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/helmholtz-go/helmholtz/internal/file"
	"github.com/helmholtz-go/helmholtz/internal/names"
)

// The bar of a session that resumed after ten steps fills the line in proportion to its own steps, and is drawn again
// at the last step.
func TestBarFillsTheLine(t *testing.T) {
	var out bytes.Buffer
	start := time.Now().Add(-5 * time.Second)
	p := &printer{w: &out, moves: true, plan: Plan{Epochs: 3, StepsPerEpoch: 10, Start: 10}, start: start, bar: &file.Bar{W: &out, Start: start}}
	for _, step := range []int{20, 21, 30} { // the second is too early
		p.Step(Progress{Step: step, Epoch: step / 10})
	}
	lines := strings.Split(out.String(), "\r")
	if len(lines) != 3 {
		t.Fatalf("drew %q", lines)
	}
	for i, want := range []string{"epoch 2/3   50% |", "epoch 3/3  100% |"} {
		line := lines[i+1]
		full, empty := strings.Count(line, "█"), strings.Count(strings.Split(line, "|")[1], " ")
		if !strings.HasPrefix(strings.Join(strings.Fields(line), " "), strings.Join(strings.Fields(want), " ")) || names.Width(line) != 79 || (i+1)*(full+empty)/2 != full {
			t.Errorf("drew %q of %d characters, %d of %d full", line, names.Width(line), full, full+empty)
		}
	}
	if !strings.HasSuffix(lines[1], "(10/20, 2 step/s) [5s:5s]") {
		t.Errorf("drew %q", lines[1])
	}
}
