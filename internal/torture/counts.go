//go:build unix

package torture

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// counts holds the numbers of trials, by fault and subject, and the largest memory that a program
// took, in bytes.
var counts = struct {
	sync.Mutex
	memory int64
	of     map[string]map[string]int
}{of: map[string]map[string]int{}}

// Count counts a trial by its fault and its subject.
func Count(what, whom string) {
	counts.Lock()
	defer counts.Unlock()
	if counts.of[what] == nil {
		counts.of[what] = map[string]int{}
	}
	counts.of[what][whom]++
}

func recordMemory(n int64) {
	counts.Lock()
	defer counts.Unlock()
	counts.memory = max(counts.memory, n)
}

// Report writes the number of trials, one line per fault, their duration since the start, and the
// largest memory that a program took. Without -torture it writes nothing.
func Report(w io.Writer, start time.Time) {
	if !*All {
		return
	}
	counts.Lock()
	defer counts.Unlock()
	defer clear(counts.of)
	for _, what := range slices.Sorted(maps.Keys(counts.of)) {
		total := 0
		var each []string
		for _, whom := range slices.Sorted(maps.Keys(counts.of[what])) {
			n := counts.of[what][whom]
			total += n
			each = append(each, fmt.Sprintf("%s %d", whom, n))
		}
		fmt.Fprintf(w, "%5d  %s: %s\n", total, what, strings.Join(each, ", "))
	}
	fmt.Fprintf(w, "%5.0f  seconds\n%5d  MB of memory at most\n", time.Since(start).Seconds(), counts.memory>>20)
}
