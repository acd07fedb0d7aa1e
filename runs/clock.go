package runs

import (
	"encoding/json"

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
	var c clock
	text, err := file.Read(path, file.Small)
	if err == nil && json.Unmarshal(text, &c) == nil && c.Step == step {
		return c.Seconds
	}
	if n := len(history); n > 0 {
		return history[n-1].Seconds
	}
	return 0
}
