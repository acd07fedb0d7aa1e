//go:build unix

// Package torture tests programs under failures: it kills them at any of their system calls, fills
// their disk, or damages their files. Only tests use it.
package torture

import (
	"flag"
	"hash/fnv"
	"math/rand/v2"
	"strings"
	"testing"
)

// All asks for all trials; by default tests make only a few.
var All = flag.Bool("torture", false, "try every system call and many inputs, which takes long")

// drawing returns a generator that depends only on a name.
func drawing(name string) *rand.Rand {
	hash := fnv.New64a()
	hash.Write([]byte(name)) // never fails
	return rand.New(rand.NewPCG(1, hash.Sum64()))
}

// repeatable makes a failing trial print how to repeat it.
func repeatable(t *testing.T) {
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("to repeat this trial: go test -torture -run '^%s$'", strings.ReplaceAll(t.Name(), "/", "$/^"))
		}
	})
}
