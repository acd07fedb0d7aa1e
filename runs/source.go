package runs

import (
	"encoding/json"
	"fmt"
	"path/filepath"
)

// Source is the run from whose parameters an experiment begins, or on whose model it stands.
type Source struct {
	Run string `toml:"run" json:"run,omitempty"` // its directory
	// Checkpoint is last, best, or the number of an epoch whose checkpoint the run keeps;
	// empty stands for last.
	Checkpoint string `toml:"checkpoint,omitempty" json:"checkpoint,omitempty"`
	// Parameters is the SHA-256 of the parameters that the experiment takes. Training writes it;
	// where it is given, others are refused.
	Parameters string `toml:"parameters,omitempty" json:"parameters,omitempty"`
}

// MarshalJSON is what hashes of experiments have of a source: the checksum of its parameters,
// which are the same wherever they come from, or until that is known where they are.
func (s Source) MarshalJSON() ([]byte, error) {
	if s.Parameters != "" {
		s.Run, s.Checkpoint = "", ""
	}
	type plain Source
	return json.Marshal(plain(s))
}

// Resolved is the same source by its whole path, with the checksum of its parameters.
func (s Source) Resolved(parameters string) (Source, error) {
	dir, err := filepath.Abs(s.Run)
	return Source{Run: dir, Checkpoint: s.Checkpoint, Parameters: parameters}, err
}

// CheckParameters refuses parameters with another checksum than that of the experiment, where it
// has one.
func (s Source) CheckParameters(is string) error {
	if s.Parameters == "" || s.Parameters == is {
		return nil
	}
	return fmt.Errorf("its parameters are no longer those of the experiment (SHA-256 %.12s, not %.12s): restore its directory, or start a new run in another directory", is, s.Parameters)
}
