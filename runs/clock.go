package runs

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/helmholtz-go/helmholtz/internal/file"
)

// clock holds the time that training has taken. It is not stored in the checkpoint, so that equal runs have equal
// checkpoints.
type clock struct {
	Step     int     `json:"step"`               // step of the checkpoint
	Seconds  float64 `json:"seconds"`            // time of all steps up to Step
	Recorded int     `json:"recorded,omitempty"` // number of lines in steps.jsonl
	Sessions int     `json:"sessions,omitempty"` // number of lines in sessions.jsonl
}

// readClock reads the clock for a checkpoint at the given step. It returns nil if there is no file or if the clock
// in it is from another step.
func readClock(path string, step int, bound binding) (*clock, error) {
	text, err := file.Read(path, file.Small)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	c, err := parseClock(text, bound.to(clockFile))
	if err != nil {
		return nil, fmt.Errorf("%s: %w: restore the file from a copy, or remove it; training time since the last epoch is then lost", path, err)
	}
	if c.Step != step {
		return nil, nil
	}
	return &c, nil
}

// parseClock reads the line of a clock file. Its checksum must be chained to one of the texts in from; a line
// without a checksum is accepted only if from contains "".
func parseClock(text []byte, from []string) (clock, error) {
	var c clock
	err := unmarshalSealed(text, &c, slices.Contains(from, ""), from...)
	if err == nil && (c.Seconds < 0 || c.Recorded < 0 || c.Sessions < 0) {
		err = fmt.Errorf("%v seconds, %d recorded steps and %d sessions: none may be negative", c.Seconds, c.Recorded, c.Sessions)
	}
	return c, err
}
