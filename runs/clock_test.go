package runs

import (
	"encoding/json"
	"testing"

	"github.com/helmholtz-go/helmholtz/internal/fuzz"
	"github.com/helmholtz-go/helmholtz/internal/statistics"
)

// Whatever clock.json holds, the time it gives for a step is none or more, and what
// is written of it is read again.
func FuzzClock(f *testing.F) {
	f.Add([]byte(`{"step":7,"seconds":1.5}`), 7)
	f.Add([]byte(`{"step":7,"seconds":-1}`), 7)
	f.Add([]byte(`null`), 0)
	f.Fuzz(func(t *testing.T, b []byte, step int) {
		var seconds float64
		var ok bool
		fuzz.Bounded(t, len(b), func() { seconds, ok = parseClock(b, step) })
		if !ok {
			return
		}
		if !statistics.Finite(seconds) || seconds < 0 {
			t.Fatalf("%v seconds", seconds)
		}
		text, err := json.Marshal(clock{step, seconds})
		if err != nil {
			t.Fatal(err)
		}
		if again, ok := parseClock(text, step); !ok || again != seconds {
			t.Errorf("%v seconds are read again as %v", seconds, again)
		}
	})
}
