// Package cell is what the cells of a notebook need besides the library: a short way to
// say that an error ends the cell, and a context that an interrupt ends.
//
//	run := cell.Must(nrws.Train(cell.Context(), machine, digits, "runs/first"))
//
// In GoNB each cell is a program of its own: to end the cell is to end that program, and
// what runs in the background, in the session of the kernel Go (Helmholtz), goes on.
package cell

import (
	"context"
	"log"
	"os"
	"os/signal"
)

// Context returns a context that an interrupt of the notebook cancels. Training then stops
// with a checkpoint, and the same cell, run again, goes on from there.
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

// Must2 is Must for two values.
func Must2[S, T any](first S, second T, err error) (S, T) {
	Check(err)
	return first, second
}
