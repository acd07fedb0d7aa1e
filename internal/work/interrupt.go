package work

import (
	"context"
	"sync/atomic"
)

var (
	program  atomic.Pointer[context.Context]
	progress atomic.Pointer[func(what string, fraction float64)]
)

// EndWith sets the context whose end interrupts this program.
func EndWith(ctx context.Context) { program.Store(&ctx) }

// Show sets the function that shows the progress of long work, such as reading a file: the fraction that is done of the
// work named what. It is called often, and with the fraction 1 when the work ends.
func Show(f func(what string, fraction float64)) { progress.Store(&f) }

// Progress passes its arguments to the function that Show has set.
func Progress(what string, fraction float64) {
	if f := progress.Load(); f != nil {
		(*f)(what, fraction)
	}
}

// Interruptible calls f and returns its results. If the program is interrupted, Interruptible returns the error of the
// context at once, and f continues until the program exits. f must not write anything.
func Interruptible[T any](f func() (T, error)) (value T, err error) {
	at := program.Load()
	if at == nil {
		return f()
	}
	ctx, done := *at, make(chan func() (T, error), 1)
	if ctx.Err() == nil {
		go func() {
			value, err := f()
			done <- func() (T, error) { return value, err }
		}()
	}
	select {
	case <-ctx.Done():
		Progress("", 1)
		return value, ctx.Err()
	case results := <-done:
		return results()
	}
}
