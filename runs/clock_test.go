package runs

import (
	"testing"

	"github.com/helmholtz-go/helmholtz/internal/fuzz"
	"github.com/helmholtz-go/helmholtz/internal/statistics"
)

// FuzzClock checks that every accepted clock is valid, and written and read again unchanged.
func FuzzClock(f *testing.F) {
	f.Add([]byte(`{"step":7,"seconds":1.5}`))
	f.Add([]byte(`{"step":7,"seconds":-1}`))
	f.Add([]byte(`null`))
	if line, err := marshalSealed(clock{7, 1.5, 3, 1}, ""); err == nil {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var c clock
		var err error
		fuzz.Bounded(t, len(b), func() { c, err = parseClock(b, []string{""}) })
		if err != nil {
			return
		}
		if !statistics.Finite(c.Seconds) || c.Seconds < 0 {
			t.Fatalf("%v seconds", c.Seconds)
		}
		line, err := marshalSealed(c, "")
		if err != nil {
			t.Fatal(err)
		}
		if again, err := parseClock(line, []string{""}); err != nil || again != c {
			t.Errorf("%v is read again as %v (%v)", c, again, err)
		}
	})
}
