//go:build unix

package kernel

import (
	"crypto/rand"
	"sync"
	"time"
)

const (
	// betweenUpdates is how long a display stays at least: 5 updates a second.
	betweenUpdates = 200 * time.Millisecond
	// mostDisplays is how many displays of a run are kept up to date, the
	// latest ones.
	mostDisplays = 8
)

// display shows HTML in the notebook; with update it replaces what is shown
// under the same id.
type display func(id, html string, update bool)

// board keeps the displays of runs up to date.
type board struct {
	display display
	after   func(time.Duration, func()) // time.AfterFunc

	mu     sync.Mutex
	panels map[string]*panel
}

// panel is what is shown of one run.
type panel struct {
	html  string
	ids   []string
	quiet bool // an update was sent less than betweenUpdates ago
	stale bool // html is newer than that update
}

func newBoard(d display) *board {
	return &board{display: d, panels: map[string]*panel{}, after: func(d time.Duration, f func()) { time.AfterFunc(d, f) }}
}

// panel returns the panel of a run. The caller holds the lock.
func (b *board) panel(run string) *panel {
	p := b.panels[run]
	if p == nil {
		p = &panel{}
		b.panels[run] = p
	}
	return p
}

// shows says whether a run has a display.
func (b *board) shows(run string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.panel(run).ids) > 0
}

// has says whether there is something to show of a run.
func (b *board) has(run string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.panel(run).html != ""
}

// show adds a display of a run.
func (b *board) show(run string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	p := b.panel(run)
	id := "helmholtz-" + rand.Text()
	p.ids = append(p.ids, id)
	if len(p.ids) > mostDisplays {
		p.ids = p.ids[1:]
	}
	b.display(id, p.html, false)
}

// update replaces what is shown of a run, at once or as soon as the rate
// allows.
func (b *board) update(run, html string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	p := b.panel(run)
	p.html, p.stale = html, true
	if !p.quiet {
		b.send(p)
	}
}

// flush shows the last update of a run now, whatever the rate allows.
func (b *board) flush(run string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if p := b.panel(run); p.stale {
		b.send(p)
	}
}

// send updates the displays of a panel, and again later if it has changed by
// then. The caller holds the lock.
func (b *board) send(p *panel) {
	for _, id := range p.ids {
		b.display(id, p.html, true)
	}
	p.quiet, p.stale = true, false
	b.after(betweenUpdates, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		p.quiet = false
		if p.stale {
			b.send(p)
		}
	})
}
