// Package cell provides what the cells of a notebook need besides the library: a short way to
// end the cell on an error, and a context that an interrupt cancels.
//
//	run := cell.Must(nrws.Train(cell.Context(), machine, digits, "runs/first"))
//
// In GoNB each cell is a separate program. Ending the cell ends that program, but training runs
// in the background, in the session of the kernel Go (Helmholtz), continue.
package cell

import (
	"context"
	"log"
	"os"
	"os/signal"
)

// Context returns a context that an interrupt of the notebook cancels. Training then stops
// with a checkpoint, and running the same cell again resumes it.
func Context() context.Context {
	ctx, _ := signal.NotifyContext(context.Background(), os.Interrupt)
	return ctx
}

// Check ends the cell with the error, if there is one.
func Check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// Must returns the value, or ends the cell with the error.
func Must[T any](value T, err error) T {
	Check(err)
	return value
}

// Must2 returns two values, or ends the cell with the error.
func Must2[S, T any](first S, second T, err error) (S, T) {
	Check(err)
	return first, second
}
