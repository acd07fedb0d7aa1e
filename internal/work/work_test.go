package work

import (
	"slices"
	"sync"
	"testing"
)

// Parts covers everything once, in parts that are small enough and differ by one
// thing at most.
func TestPartsCoverAll(t *testing.T) {
	for _, c := range []struct{ n, most int }{{0, 5}, {1, 5}, {5, 5}, {6, 5}, {100, 32}, {101, 7}} {
		var mutex sync.Mutex
		var things, sizes []int
		Parts(c.n, c.most, func(first, last int) {
			mutex.Lock()
			defer mutex.Unlock()
			sizes = append(sizes, last-first)
			for i := first; i < last; i++ {
				things = append(things, i)
			}
		})
		slices.Sort(things)
		for i, thing := range things {
			if i != thing {
				t.Fatalf("%v: thing %d comes as %d", c, i, thing)
			}
		}
		if len(things) != c.n {
			t.Errorf("%v: %d things", c, len(things))
		}
		if c.n > 0 && (slices.Max(sizes) > c.most || slices.Max(sizes)-slices.Min(sizes) > 1) {
			t.Errorf("%v: parts of %v things", c, sizes)
		}
	}
}
