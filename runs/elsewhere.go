package runs

import (
	"fmt"

	"github.com/helmholtz-go/helmholtz/internal/file"
)

// TakenError is the error of a directory in which another program trains.
type TakenError struct {
	Dir  string
	Host string // that trained there last, empty if it is not known
}

func (e *TakenError) Error() string {
	on := ""
	if e.Host != "" {
		on = " on " + e.Host
	}
	return fmt.Sprintf("another program trains in %s%s: wait for it, stop it, or choose another directory", e.Dir, on)
}

// Taken returns an error if a program, which may be this one, trains in a directory.
func Taken(dir string) *TakenError {
	if !file.Locked(dir, lockFile) {
		return nil
	}
	return takenBy(dir)
}

func takenBy(dir string) *TakenError {
	e := &TakenError{Dir: dir}
	run := Run{dir: dir}
	if sessions, err := run.Provenance(); err == nil && len(sessions) > 0 {
		e.Host = sessions[len(sessions)-1].Host
	}
	return e
}
