//go:build unix

package kernel

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestDisplaysAreUpdatedFiveTimesASecond(t *testing.T) {
	var shown []string
	var later []func()
	b := newLive("", func(id, html string, update bool) { shown = append(shown, fmt.Sprint(html, update)) })
	b.after = func(d time.Duration, f func()) {
		if d != time.Second/5 {
			t.Errorf("an update after %v", d)
		}
		later = append(later, f)
	}
	tick := func() {
		due := later
		later = nil
		for _, f := range due {
			f()
		}
	}
	b.update("run", "0", false)
	b.add("run")
	for i := 1; i <= 100; i++ {
		b.update("run", fmt.Sprint(i), false)
	}
	tick()
	tick() // nothing is new
	b.update("run", "101", false)
	if got := strings.Join(shown, " "); got != "0false 100true 101true" {
		t.Errorf("shown %s", got)
	}
}

func TestTheLatestDisplaysAreKeptUpToDate(t *testing.T) {
	updated := map[string]int{}
	b := newLive("", func(id, html string, update bool) {
		if update {
			updated[id]++
		}
	})
	b.after = func(time.Duration, func()) {}
	for range 100 {
		b.add("run")
	}
	b.update("run", "x", false)
	b.update("other", "y", false)
	if len(updated) != mostDisplays {
		t.Errorf("%d displays were updated, not %d", len(updated), mostDisplays)
	}
}

// A display that nobody has asked for again for an hour is updated every 3.6 s.
func TestOldDisplaysAreUpdatedLessOften(t *testing.T) {
	var interval time.Duration
	b := newLive("", func(string, string, bool) {})
	b.after = func(d time.Duration, _ func()) { interval = d }
	b.add("run")
	b.panels["run"].added = time.Now().Add(-time.Hour)
	b.update("run", "x", false)
	if interval < time.Hour/1000 {
		t.Errorf("the next update may follow after %v", interval)
	}
}
