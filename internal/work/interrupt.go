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
func Interruptible[T any](f func() (T, error)) (T, error) {
	at := program.Load()
	if at == nil {
		return f()
	}
	type results struct {
		value T
		err   error
	}
	done, ctx := make(chan results, 1), *at
	if ctx.Err() == nil {
		go func() {
			value, err := f()
			done <- results{value, err}
		}()
	}
	select {
	case <-ctx.Done():
		return *new(T), ctx.Err()
	case r := <-done:
		return r.value, r.err
	}
}
