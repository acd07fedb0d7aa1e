//go:build unix

package proxy

import (
	"errors"
	"runtime/debug"
	"sync"
)

const (
	// mostUnverified is how many bytes the messages may have that are not verified yet, of all
	// clients of all endpoints together.
	mostUnverified = largestMessage
	// mostKept is how many bytes a client may leave behind until the memory is given back to
	// the system at once.
	mostKept = 16 << 20
)

// errBusy is the error of a message for which there is no room beside others.
var errBusy = errors.New("too many bytes wait to be verified")

// gate decides which clients of a kernel's endpoints may stay. Whoever holds the key proves it
// with a signed message; anybody on the machine can connect. So clients without proof are the
// first to go when there is no room, and among them those that were idle for longest.
type gate struct {
	mu    sync.Mutex
	known map[string]bool // identities of clients that have signed a message
	held  map[*peer]int   // bytes of messages that are not verified yet
}

func newGate() *gate { return &gate{known: map[string]bool{}, held: map[*peer]int{}} }

// What a client has shown of itself.
const (
	silent = iota // nothing yet
	spoken        // a subscription or a heartbeat, which anybody can send
	proven        // the key
)

// call notes the identity that a client chose.
func (g *gate) call(p *peer, name string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	p.name = name
}

// show notes what a client has shown of itself. The proof counts for all connections of a front
// end, which have one identity: on some of them it never sends anything.
func (g *gate) show(p *peer, standing int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	p.standing = max(p.standing, standing)
	if p.standing == proven && p.name != "" {
		g.known[p.name] = true
	}
}

// claim makes room for bytes of a client's message. Clients without proof that hold some lose
// their connection for it.
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

// total returns the bytes that clients hold which may stay.
func (g *gate) total() (bytes int) {
	for p, held := range g.held {
		if !p.dropped {
			bytes += held
		}
	}
	return bytes
}

// release forgets what a client's message took.
func (g *gate) release(p *peer) (bytes int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	bytes = g.held[p]
	delete(g.held, p)
	return bytes
}

// leave forgets a client that has gone.
func (g *gate) leave(p *peer) {
	if g.release(p) >= mostKept {
		debug.FreeOSMemory()
	}
}

// makeRoom drops one of several clients, and reports whether it did.
func (g *gate) makeRoom(peers []*peer) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.drop(peers)
}

// drop closes the connection of the client that has shown least of itself, and of several such
// clients of the one that was idle for longest, but of none that has proved to hold the key. It
// reports whether it did. The caller holds the lock.
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
