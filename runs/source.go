package runs

import (
	"encoding/json"
	"fmt"
	"path/filepath"
)

// Source is a run whose parameters or model an experiment starts from.
type Source struct {
	Run string `toml:"run" json:"run,omitempty"` // directory of the run
	// Checkpoint is last, best, or the number of an epoch whose checkpoint the run keeps; empty
	// means last.
	Checkpoint string `toml:"checkpoint,omitempty" json:"checkpoint,omitempty"`
	// Parameters is the SHA-256 of the parameters that the experiment starts from. Training sets it.
	// If it is already set, training refuses other parameters.
	Parameters string `toml:"parameters,omitempty" json:"parameters,omitempty"`
}

// MarshalJSON writes the part of the source that an experiment's hash includes: only the checksum of the
// parameters or, until the checksum is known, the run and the checkpoint.
func (s Source) MarshalJSON() ([]byte, error) {
	if s.Parameters != "" {
		s.Run, s.Checkpoint = "", ""
	}
	type plain Source
	return json.Marshal(plain(s))
}

// Resolved returns the source with its absolute path and the checksum of its parameters, which read returns. A source
// that is nil or has a checksum stays as it is.
func (s *Source) Resolved(read func() (parameters string, err error)) (*Source, error) {
	if s == nil || s.Parameters != "" {
		return s, nil
	}
	parameters, err := read()
	if err != nil {
		return nil, err
	}
	dir, err := filepath.Abs(s.Run)
	return &Source{dir, s.Checkpoint, parameters}, err
}

// CheckParameters returns an error if Parameters is set and differs from is, the checksum of the
// parameters that were read.
func (s Source) CheckParameters(is string) error {
	if s.Parameters == "" || s.Parameters == is {
		return nil
	}
	return fmt.Errorf("its parameters no longer match the experiment (SHA-256 %.12s, not %.12s): restore its directory, or start a new run in another directory", is, s.Parameters)
}
