//go:build unix

// Package torture finds out what becomes of a program whose world fails: that is
// killed at any of its system calls, whose disk is full, or whose files are damaged.
// Only tests use it.
package torture

import (
	"flag"
	"hash/fnv"
	"math/rand/v2"
	"strings"
	"testing"
)

// All asks for all trials, where tests by themselves make a few.
var All = flag.Bool("torture", false, "try every system call and many inputs, which takes long")

// drawing draws what belongs to a name, the same at any time.
func drawing(name string) *rand.Rand {
	hash := fnv.New64a()
	hash.Write([]byte(name)) // never fails
	return rand.New(rand.NewPCG(1, hash.Sum64()))
}

// repeatable lets a trial that fails say how to repeat it.
func repeatable(t *testing.T) {
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("to repeat this trial: go test -torture -run '^%s$'", strings.ReplaceAll(t.Name(), "/", "$/^"))
		}
	})
}
