package runs

import (
	"errors"
	"fmt"
	"time"

	"github.com/helmholtz-go/helmholtz/internal/file"
)

// TakenError is the error of a directory in which another program trains.
type TakenError struct {
	Dir  string
	Host string // that trained there last, empty if it is not known
	// Left is the time in which a program on another machine gives a sign of life, or
	// is taken for ended; 0 where it is known to train.
	Left time.Duration
}

func (e *TakenError) Error() string {
	on := ""
	if e.Host != "" {
		on = " on " + e.Host
	}
	if e.Left > 0 {
		return fmt.Sprintf("another program trains in %s%s, or that machine stopped without ending it: wait for it, choose another directory, or, if it has stopped, try again in %s", e.Dir, on, e.Left.Round(time.Second))
	}
	return fmt.Sprintf("another program trains in %s%s: wait for it, stop it, or choose another directory", e.Dir, on)
}

// Taken returns a *TakenError if a program, which may be this one, trains in a directory,
// and nil where none does.
func Taken(dir string) error {
	if file.Locked(dir, lockFile) {
		return takenBy(dir, file.ErrLocked)
	}
	if leased := file.Leased(dir); leased != nil {
		return takenBy(dir, leased)
	}
	return nil
}

// takenBy says who trains in a directory that could not be held.
func takenBy(dir string, err error) *TakenError {
	e := &TakenError{Dir: dir}
	var leased *file.LeasedError
	if errors.As(err, &leased) {
		e.Host = leased.Host
		if !leased.Alive {
			e.Left = leased.Left
		}
		return e
	}
	run := Run{dir: dir}
	if sessions, err := run.Provenance(); err == nil && len(sessions) > 0 {
		e.Host = sessions[len(sessions)-1].Host
	}
	return e
}
