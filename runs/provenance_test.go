package runs

import (
	"bytes"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/helmholtz-go/helmholtz/internal/fuzz"
)

// FuzzProvenance checks that accepted sessions stay when another is added.
func FuzzProvenance(f *testing.F) {
	added := Provenance{Date: time.Unix(1e9, 0).UTC(), Step: 3, Host: "here"}
	if text, err := sessionsText(nil, added, ""); err == nil {
		f.Add(text)
	}
	f.Add([]byte(`{"date":"2026-11-22T01:02:03Z","step":7,"host":"a","threads":2}` + "\n"))
	f.Add([]byte(`{"date":"2026-11-22T01:02:03Z","step":7}` + "\n{\"date\":"))
	f.Add([]byte("\n\nnull\n[]"))
	f.Fuzz(func(t *testing.T, b []byte) {
		var before [][]byte
		var err error
		fuzz.Bounded(t, len(b), func() { before, _, err = parseSessions(linesOf(b), []string{""}) })
		if err != nil {
			return
		}
		text, err := sessionsText(before, added, "")
		if err != nil {
			t.Fatal(err)
		}
		after, _, err := parseSessions(linesOf(text), []string{""})
		if err != nil || len(after) != len(before)+1 {
			t.Fatalf("%d sessions and one more are read as %d (%v)", len(before), len(after), err)
		}
		for i := range before {
			if !bytes.Equal(before[i], after[i]) {
				t.Error(cmp.Diff(string(before[i]), string(after[i])))
			}
		}
	})
}

// A session is named after the device that computed, on a GPU too.
func TestHardwareIsWhatComputed(t *testing.T) {
	p := Provenance{Processor: "A processor ", InstructionSet: "avx512", Device: "CPU, avx512, 2 threads"}
	for backend, want := range map[string]string{"": "A processor, avx512", "cpu": "A processor, avx512", "cuda": p.Device} {
		if p.Backend = backend; p.Hardware() != want {
			t.Errorf("with the backend %q, the hardware is %q", backend, p.Hardware())
		}
	}
}
