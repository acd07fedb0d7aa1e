package runs

import (
	"encoding/json"
	"os"

	"github.com/helmholtz-go/helmholtz/internal/file"
)

// clock is the time that the steps of training have taken. It lies beside the
// checkpoint, not in it: equal runs have equal checkpoints.
type clock struct {
	Step    int     `json:"step"`
	Seconds float64 `json:"seconds"`
}

func writeClock(path string, step int, seconds float64) error {
	text, err := json.Marshal(clock{step, seconds})
	if err != nil {
		return err
	}
	return file.WriteAside(path, text)
}

// readClock returns the time until a step: that of the clock, or of the last
// epoch of the history where the clock is of another step.
func readClock(path string, step int, history []Epoch) float64 {
	text, err := os.ReadFile(path)
	if err == nil {
		if seconds, ok := parseClock(text, step); ok {
			return seconds
		}
	}
	if n := len(history); n > 0 {
		return history[n-1].Seconds
	}
	return 0
}

// parseClock returns the time that a clock of a step has.
func parseClock(text []byte, step int) (seconds float64, ok bool) {
	var c clock
	err := json.Unmarshal(text, &c)
	return c.Seconds, err == nil && c.Step == step && c.Seconds >= 0
}
