package runs

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/helmholtz-go/helmholtz/internal/fuzz"
)

// Whatever sessions.jsonl holds, the session that is added to it is read back, after
// those that were there.
func FuzzProvenance(f *testing.F) {
	f.Add([]byte(`{"date":"2026-11-22T01:02:03Z","step":7,"host":"a","threads":2}` + "\n"))
	f.Add([]byte(`{"date":"2026-11-22T01:02:03Z","step":7}` + "\n{\"date\":"))
	f.Add([]byte("\n\nnull\n[]"))
	f.Fuzz(func(t *testing.T, b []byte) {
		var before []Provenance
		fuzz.Bounded(t, len(b), func() { before = parseProvenance(b) })
		added := Provenance{Date: time.Unix(1e9, 0).UTC(), Step: 3, Host: "here"}
		line, err := sessionLine(b, added)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(append(before, added), parseProvenance(slices.Concat(b, line))); diff != "" {
			t.Errorf("(-want +read):\n%s", diff)
		}
	})
}
