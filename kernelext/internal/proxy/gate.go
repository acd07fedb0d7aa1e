//go:build unix

package proxy

import (
	"errors"
	"runtime/debug"
	"sync"
)

const (
	// mostUnverified is the largest total number of bytes in unverified messages, over all clients
	// of all endpoints.
	mostUnverified = largestMessage
	// mostKept is how many unverified bytes a departing client must leave for memory to be returned
	// to the system immediately.
	mostKept = 16 << 20
)

// errBusy is the error of a message for which other messages leave no room.
var errBusy = errors.New("too many bytes wait to be verified")

// gate decides which clients of a kernel's endpoints may stay. Anybody on the machine can connect,
// but only holders of the key can sign messages. So when there is no room, the gate drops only
// clients that have not signed a message.
type gate struct {
	mu    sync.Mutex
	known map[string]bool // identities of clients that have signed a message
	held  map[*peer]int   // bytes of messages not yet verified
}

func newGate() *gate { return &gate{known: map[string]bool{}, held: map[*peer]int{}} }

// Levels of trust that a client can earn.
const (
	silent = iota // nothing yet
	spoken        // a subscription or a heartbeat, which anybody can send
	proven        // a signed message
)

func (g *gate) call(p *peer, name string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	p.name = name
}

// show records the trust that a client has earned. A signed message counts for all connections of a
// front end, which share one identity, because a front end never sends anything on some of them.
func (g *gate) show(p *peer, standing int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	p.standing = max(p.standing, standing)
	if p.standing == proven && p.name != "" {
		g.known[p.name] = true
	}
}

// claim makes room for bytes of a client's message. To do so, it may drop clients that hold
// unverified bytes and have not signed a message.
func (g *gate) claim(p *peer, bytes int) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	for g.total()+bytes > mostUnverified {
		var others []*peer
		for other := range g.held {
			if other != p {
				others = append(others, other)
			}
		}
		if !g.drop(others) {
			return errBusy
		}
	}
	g.held[p] += bytes
	return nil
}

func (g *gate) total() (bytes int) {
	for p, held := range g.held {
		if !p.dropped {
			bytes += held
		}
	}
	return bytes
}

func (g *gate) release(p *peer) (bytes int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	bytes = g.held[p]
	delete(g.held, p)
	return bytes
}

func (g *gate) leave(p *peer) {
	if g.release(p) >= mostKept {
		debug.FreeOSMemory()
	}
}

func (g *gate) makeRoom(peers []*peer) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.drop(peers)
}

// drop disconnects the least trusted client, and among equals the one that was idle for longest, but
// never one that has proved to hold the key. It reports whether it disconnected a client. The caller
// holds the lock.
func (g *gate) drop(peers []*peer) bool {
	var first *peer
	for _, p := range peers {
		if p.dropped || p.standing == proven || g.known[p.name] {
			continue
		}
		if first == nil || p.standing < first.standing || p.standing == first.standing && p.net.last.Load() < first.net.last.Load() {
			first = p
		}
	}
	if first == nil {
		return false
	}
	first.dropped = true
	first.net.Close()
	return true
}
