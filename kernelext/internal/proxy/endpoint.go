//go:build unix

package proxy

import (
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-zeromq/zmq4"
	"github.com/go-zeromq/zmq4/security/null"
)

type endpoint struct {
	kind     zmq4.SocketType
	gate     *gate
	listener net.Listener
	// received is called with each message, from one goroutine per client.
	received func(p *peer, frames [][]byte)
	// missed returns the message that tells a client of iopub what it has missed.
	missed func(messages, bytes int) [][]byte

	mu    sync.Mutex
	peers map[*peer]bool
}

type peer struct {
	*wire
	net      *limited
	identity string
	queue    *queue

	// The gate guards these fields.
	name     string // identity that the client chose, usually empty
	standing int    // trust that the client has earned
	dropped  bool   // set when the gate has closed the connection

	mu     sync.Mutex
	topics map[string]bool               // subscriptions of a client of iopub
	missed struct{ messages, bytes int } // missed output that the client has not been told about
}

const (
	// mostWaiting is how many bytes may wait for one client. A client of a ROUTER that falls
	// further behind is disconnected; a client of iopub misses output and is told so.
	mostWaiting = 64 << 20
	// spareRoom is how many additional bytes are reserved for messages other than output, such as
	// the end of a cell.
	spareRoom = 1 << 20
	// mostPeers is the maximum number of clients of an endpoint.
	mostPeers = 256
	// mostBeats is how many bytes of heartbeats may wait for one client; the client misses further
	// heartbeats.
	mostBeats = 64 << 10
	// mostTopics is the maximum number of subscriptions of a client of iopub.
	mostTopics = 64
)

func (g *gate) listen(network, address string, kind zmq4.SocketType, received func(*peer, [][]byte)) (*endpoint, error) {
	l, err := net.Listen(network, address)
	if err != nil {
		return nil, err
	}
	e := &endpoint{kind: kind, gate: g, listener: l, received: received, peers: map[*peer]bool{}}
	go e.accept()
	return e, nil
}

func (e *endpoint) accept() {
	for {
		c, err := e.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			time.Sleep(10 * time.Millisecond) // for example out of file descriptors
			continue
		}
		// Clients are added here, in order of arrival, so that earlier clients count as idle for
		// longer.
		p := &peer{net: limit(c, e.largest()), queue: newQueue(), topics: map[string]bool{}}
		if !e.add(p) {
			c.Close()
			continue
		}
		go e.serve(p)
	}
}

// largest returns how many bytes a message of a client may have.
func (e *endpoint) largest() uint64 {
	if e.kind == zmq4.Router {
		return largestMessage
	}
	return largestNote
}

func (e *endpoint) serve(p *peer) {
	defer e.gate.leave(p)
	defer e.remove(p)
	w, err := open(p.net, e.kind, "", true)
	if err != nil {
		return
	}
	defer w.close()
	identity := w.peerIdentity()
	e.gate.call(p, identity)
	if identity == "" {
		identity = "\x00" + rand.Text()
	}
	e.mu.Lock()
	p.wire, p.identity = w, identity
	e.mu.Unlock()
	go func() {
		defer w.close()
		for frames, ok := p.queue.take(); ok; frames, ok = p.queue.take() {
			if w.send(frames) != nil {
				return
			}
		}
	}()
	for {
		frames, err := p.net.receive(func(bytes int) error { return e.gate.claim(p, bytes) })
		if err != nil {
			return
		}
		e.received(p, frames)
		e.gate.release(p)
	}
}

// add adds a client. If there are too many, it first disconnects another client. It reports whether
// there was room.
func (e *endpoint) add(p *peer) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.peers) >= mostPeers && !e.gate.makeRoom(slices.Collect(maps.Keys(e.peers))) {
		return false
	}
	e.peers[p] = true
	return true
}

func (e *endpoint) remove(p *peer) {
	e.mu.Lock()
	delete(e.peers, p)
	e.mu.Unlock()
	p.queue.close()
}

func (e *endpoint) reply(identity string, frames [][]byte) {
	for _, p := range e.all() {
		if p.identity == identity && !p.queue.put(frames, mostWaiting) {
			p.close()
		}
	}
}

// broadcast sends a message to the clients that subscribed to its topic, which is the first frame.
// output reports whether the message is output, which a slow client may miss.
func (e *endpoint) broadcast(frames [][]byte, output bool) {
	for _, p := range e.all() {
		if p.subscribed(string(frames[0])) {
			p.publish(frames, output, e.missed)
		}
	}
}

// publish sends a message to a client of iopub. A client that is behind misses output until its
// queue is at most half full or a message other than output arrives. The client then first gets a
// message about the output that it missed.
func (p *peer) publish(frames [][]byte, output bool, missed func(messages, bytes int) [][]byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	most, behind := mostWaiting+spareRoom, p.missed.messages > 0
	if output {
		most = mostWaiting
		if behind {
			most = mostWaiting / 2
		}
	}
	if behind && p.queue.put(missed(p.missed.messages, p.missed.bytes), most) {
		p.missed.messages, p.missed.bytes, behind = 0, 0, false
	}
	if behind || !p.queue.put(frames, most) {
		p.missed.messages++
		p.missed.bytes += size(frames)
	}
}

// all returns the clients that have completed the handshake.
func (e *endpoint) all() []*peer {
	e.mu.Lock()
	defer e.mu.Unlock()
	peers := make([]*peer, 0, len(e.peers))
	for p := range e.peers {
		if p.wire != nil {
			peers = append(peers, p)
		}
	}
	return peers
}

// close waits briefly for queued messages and closes the endpoint.
func (e *endpoint) close() {
	e.listener.Close()
	sent := make(chan struct{})
	go func() {
		for _, p := range e.all() {
			p.queue.drain()
		}
		close(sent)
	}()
	select {
	case <-sent:
	case <-time.After(time.Second):
	}
	for _, p := range e.all() {
		p.close()
	}
}

// subscribe handles a message of a client of iopub: a byte 1 and the prefix of topics to subscribe
// to, or 0 and a prefix to unsubscribe from.
func (p *peer) subscribe(frames [][]byte) {
	if len(frames) != 1 || len(frames[0]) == 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch topic := string(frames[0][1:]); {
	case frames[0][0] == 0:
		delete(p.topics, topic)
	case frames[0][0] == 1 && len(p.topics) < mostTopics && len(topic) <= largestTopic:
		p.topics[topic] = true
	}
}

func (p *peer) subscribed(topic string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for t := range p.topics {
		if strings.HasPrefix(topic, t) {
			return true
		}
	}
	return false
}

// queue holds the messages that wait for one client, up to a number of bytes.
type queue struct {
	mu       sync.Mutex
	changed  sync.Cond
	messages [][][]byte
	bytes    int
	sending  bool
	closed   bool
}

func newQueue() *queue {
	q := &queue{}
	q.changed.L = &q.mu
	return q
}

// put adds a message, unless more than most bytes would then wait, and reports whether it did. An
// empty queue has room for any message.
func (q *queue) put(frames [][]byte, most int) bool {
	n := size(frames)
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed || q.bytes > 0 && q.bytes+n > most {
		return false
	}
	q.messages = append(q.messages, frames)
	q.bytes += n
	q.changed.Broadcast()
	return true
}

// take waits for the next message; ok is false once the queue is closed.
func (q *queue) take() (frames [][]byte, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.sending = false
	q.changed.Broadcast()
	for len(q.messages) == 0 && !q.closed {
		q.changed.Wait()
	}
	if q.closed {
		return nil, false
	}
	frames = q.messages[0]
	q.messages[0] = nil
	q.messages = q.messages[1:]
	q.bytes -= size(frames)
	q.sending = true
	return frames, true
}

// drain waits until all messages are sent or the queue is closed.
func (q *queue) drain() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for (len(q.messages) > 0 || q.sending) && !q.closed {
		q.changed.Wait()
	}
}

func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed, q.messages = true, nil
	q.changed.Broadcast()
}

// size returns the number of bytes that a message takes up in a queue.
func size(frames [][]byte) int {
	n := 0
	for _, f := range frames {
		n += len(f) + frameCost
	}
	return n
}

// handshakeTime is how long a peer may take for its handshake.
const handshakeTime = 10 * time.Second

type wire struct {
	net     *limited
	conn    *zmq4.Conn
	sending sync.Mutex
}

// open performs the handshake with the peer at the other end of c, as a server or as a client, and
// closes c if that fails.
func open(c *limited, kind zmq4.SocketType, identity string, server bool) (w *wire, err error) {
	defer func() {
		err = malformed(recover(), err)
		if err != nil {
			c.Close()
		}
	}()
	w = &wire{net: c}
	if err := c.SetDeadline(time.Now().Add(handshakeTime)); err != nil {
		return nil, err
	}
	w.conn, err = zmq4.Open(w.net, null.Security(), kind, zmq4.SocketIdentity(identity), server, nil)
	if err != nil {
		return nil, err
	}
	w.net.commands = false
	return w, c.SetDeadline(time.Time{})
}

// malformed turns a panic of zmq4, which some malformed metadata cause, into an error.
func malformed(panicked any, err error) error {
	if panicked != nil {
		return fmt.Errorf("malformed message: %v", panicked)
	}
	return err
}

func (w *wire) peerIdentity() string { return w.conn.Peer.Meta["Identity"] }

func (w *wire) send(frames [][]byte) error {
	w.sending.Lock()
	defer w.sending.Unlock()
	if err := w.conn.SendMsg(zmq4.NewMsgFrom(frames...)); err != nil {
		return err
	}
	return w.net.out.Flush()
}

// receive returns the next message of a trusted peer.
func (w *wire) receive() (frames [][]byte, err error) {
	return w.net.receive(func(int) error { return nil })
}

func (w *wire) close() { w.conn.Close() }
