package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestBenchTrainWritesAProfile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "cpu.pprof")
	out := succeed(t, "bench", "train", "--dataset", "glyphs", "--subset", "100", "--layers", "5", "--steps", "3", "--json", "--profile", file)
	if !strings.Contains(out, `"step_ms"`) {
		t.Errorf("bench train --json printed %s", out)
	}
	// A profile is a gzipped message.
	if text, err := os.ReadFile(file); err != nil || !strings.HasPrefix(string(text), "\x1f\x8b") {
		t.Errorf("the profile holds %.20q (%v)", text, err)
	}
}
