package work

import (
	"context"
	"sync/atomic"
)

var program atomic.Pointer[context.Context]

// EndWith sets the context whose end interrupts this program.
func EndWith(ctx context.Context) { program.Store(&ctx) }

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
		return value, ctx.Err()
	case results := <-done:
		return results()
	}
}
