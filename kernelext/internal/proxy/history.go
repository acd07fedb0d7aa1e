//go:build unix

package proxy

import (
	"errors"
	"sync"
)

// mostSeen is how many messages a history remembers at least, as many as Jupyter's
// own kernels do.
const mostSeen = 1 << 16

// history remembers the signatures of the last messages, so that no one who has
// overheard a message can send it again.
type history struct {
	mu           sync.Mutex
	older, newer map[signature]struct{}
}

// add remembers a signature, and refuses one that it knows.
func (h *history) add(s signature) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	_, before := h.older[s]
	_, lately := h.newer[s]
	if before || lately {
		return errors.New("it has come before")
	}
	if len(h.newer) >= mostSeen || h.newer == nil {
		h.older, h.newer = h.newer, map[signature]struct{}{}
	}
	h.newer[s] = struct{}{}
	return nil
}
