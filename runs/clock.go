package runs

import (
	"errors"
	"fmt"
	"os"

	"github.com/helmholtz-go/helmholtz/internal/file"
)

// clock is the time that the steps of training have taken. It lies beside the
// checkpoint, not in it: equal runs have equal checkpoints.
type clock struct {
	Step    int     `json:"step"`
	Seconds float64 `json:"seconds"`
}

func writeClock(dir *file.Held, step int, seconds float64) error {
	line, err := marshalSealed(clock{step, seconds})
	if err != nil {
		return err
	}
	return dir.WriteAside(clockFile, line)
}

// readClock returns the time until a step: that of the clock, or of the last
// epoch of the history where the clock is of another step.
func readClock(path string, step int, history []Epoch) (float64, error) {
	var c clock
	text, err := os.ReadFile(path)
	if err == nil {
		if _, err = unmarshalSealed(text, &c); err != nil {
			return 0, fmt.Errorf("%s: %w: restore the file from a copy, or remove it, and the time counts from the last epoch", path, err)
		}
		if c.Step == step {
			return c.Seconds, nil
		}
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return 0, err
	}
	if n := len(history); n > 0 {
		return history[n-1].Seconds, nil
	}
	return 0, nil
}
