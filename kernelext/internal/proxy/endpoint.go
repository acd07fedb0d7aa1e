//go:build unix

package proxy

import (
	"cmp"
	"crypto/rand"
	"errors"
	"net"
	"runtime/debug"
	"strings"
	"sync"
	"time"
)

const (
	// mostUnverified is the largest total number of bytes in unverified messages, over all clients
	// of all endpoints.
	mostUnverified = largestMessage
	// mostKept is how many unverified bytes a departing client must leave for memory to be returned
	// to the system immediately.
	mostKept = 16 << 20
	// mostWaiting is how many bytes may wait for one client. A client of a ROUTER that falls
	// further behind is disconnected; a client of iopub misses output and is told so.
	mostWaiting = 64 << 20
	// spareRoom is how many additional bytes are reserved for messages other than output, such as
	// the end of a cell.
	spareRoom = 1 << 20
	// mostPeers is the maximum number of clients of an endpoint.
	mostPeers = 256
	// mostTopics is the maximum number of subscriptions of a client of iopub.
	mostTopics = 64
)

// front holds the clients of all endpoints of a kernel. Anybody on the machine can connect, but only
// holders of the key can sign messages. So when there is no room, the front drops only clients that
// have not signed a message.
type front struct {
	mu    sync.Mutex
	peers map[*peer]bool
	known map[string]bool // identities of clients that have signed a message
	// missed returns the message that tells a client of iopub what it has missed.
	missed func(messages, bytes int) [][]byte
}

func newFront() *front { return &front{peers: map[*peer]bool{}, known: map[string]bool{}} }

// endpoint is a socket of the kernel.
type endpoint struct {
	*front
	kind     string
	listener net.Listener
	// received is called with each message, from one goroutine per client.
	received func(p *peer, frames [][]byte)
	number   int // of clients; the lock of the front guards it
}

// Levels of trust that a client can earn.
const (
	silent = iota // nothing yet
	spoken        // a subscription or a heartbeat, which anybody can send
	proven        // a signed message
)

// peer is a client of an endpoint.
type peer struct {
	*wire
	at    *endpoint
	queue queue

	// The lock of the front guards these fields.
	identity string    // empty until the client has completed the handshake
	standing int       // trust that the client has earned
	held     int       // bytes of its message that is not yet verified
	dropped  bool      // set when the front has closed the connection
	last     time.Time // when the client last sent or received something
	topics   map[string]bool
	missed   struct{ messages, bytes int } // missed output that the client has not been told about
}

func (f *front) listen(network, address, kind string, received func(*peer, [][]byte)) (*endpoint, error) {
	l, err := net.Listen(network, address)
	if err != nil {
		return nil, err
	}
	e := &endpoint{front: f, kind: kind, listener: l, received: received}
	go e.accept()
	return e, nil
}

func (e *endpoint) accept() {
	most := uint64(largestNote)
	if e.kind == "ROUTER" {
		most = largestMessage
	}
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
		p := &peer{wire: newWire(c, most), at: e, topics: map[string]bool{}, last: time.Now()}
		p.claim, p.queue.send = p.hold, func(frames [][]byte) error {
			err := p.send(frames)
			if err != nil {
				p.Close()
			}
			e.mu.Lock()
			defer e.mu.Unlock()
			p.last = time.Now()
			return err
		}
		if !e.add(p) {
			c.Close()
			continue
		}
		go p.serve()
	}
}

func (p *peer) serve() {
	defer p.leave()
	if p.open(p.at.kind, "") != nil {
		return
	}
	defer p.Close()
	p.at.mu.Lock()
	p.identity = cmp.Or(p.chosen, "\x00"+rand.Text())
	p.at.mu.Unlock()
	for {
		frames, err := p.receive()
		if err != nil {
			return
		}
		p.at.received(p, frames)
		p.at.mu.Lock()
		p.held = 0
		p.at.mu.Unlock()
	}
}

// add adds a client. If there are too many, it first disconnects another client. It reports whether
// there was room.
func (e *endpoint) add(p *peer) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.number >= mostPeers && !e.drop(func(other *peer) bool { return other.at == e }) {
		return false
	}
	e.peers[p] = true
	e.number++
	return true
}

func (p *peer) leave() {
	p.at.mu.Lock()
	delete(p.at.peers, p)
	p.at.number--
	held := p.held
	p.at.mu.Unlock()
	p.queue.close()
	if held >= mostKept {
		debug.FreeOSMemory()
	}
}

// show records the trust that a client has earned. A signed message counts for all connections of a
// front end, which share one identity, because a front end never sends anything on some of them.
func (p *peer) show(standing int) {
	p.at.mu.Lock()
	defer p.at.mu.Unlock()
	p.standing = max(p.standing, standing)
	if p.standing == proven && p.chosen != "" {
		p.at.known[p.chosen] = true
	}
}

// hold makes room for bytes of the client's message. To do so, it may drop clients that hold
// unverified bytes and have not signed a message.
func (p *peer) hold(bytes int) error {
	p.at.mu.Lock()
	defer p.at.mu.Unlock()
	for p.at.held()+bytes > mostUnverified {
		if !p.at.drop(func(other *peer) bool { return other != p && other.held > 0 }) {
			return errors.New("too many bytes wait to be verified")
		}
	}
	p.held, p.last = p.held+bytes, time.Now()
	return nil
}

// held returns the number of unverified bytes. The caller holds the lock.
func (f *front) held() (bytes int) {
	for p := range f.peers {
		if !p.dropped {
			bytes += p.held
		}
	}
	return bytes
}

// drop disconnects the least trusted of some clients, and among equals the one that was idle for longest, but
// never one that has proved to hold the key. It reports whether it disconnected a client. The caller
// holds the lock.
func (f *front) drop(some func(*peer) bool) bool {
	var first *peer
	for p := range f.peers {
		if p.dropped || p.standing == proven || f.known[p.identity] || !some(p) {
			continue
		}
		if first == nil || p.standing < first.standing || p.standing == first.standing && p.last.Before(first.last) {
			first = p
		}
	}
	if first == nil {
		return false
	}
	first.dropped = true
	first.Close()
	return true
}

func (e *endpoint) reply(identity string, frames [][]byte) {
	for _, p := range e.all() {
		if p.identity == identity && !p.queue.put(frames, mostWaiting) {
			p.Close()
		}
	}
}

// broadcast sends a message to the clients that subscribed to its topic, which is the first frame.
// output reports whether the message is output, which a slow client may miss.
func (e *endpoint) broadcast(frames [][]byte, output bool) {
	for _, p := range e.all() {
		if p.subscribed(string(frames[0])) {
			p.publish(frames, output)
		}
	}
}

// publish sends a message to a client of iopub. A client that is behind misses output until its
// queue is at most half full or a message other than output arrives. The client then first gets a
// message about the output that it missed.
func (p *peer) publish(frames [][]byte, output bool) {
	p.at.mu.Lock()
	defer p.at.mu.Unlock()
	most, behind := mostWaiting+spareRoom, p.missed.messages > 0
	if output {
		most = mostWaiting
		if behind {
			most = mostWaiting / 2
		}
	}
	if behind && p.queue.put(p.at.missed(p.missed.messages, p.missed.bytes), most) {
		p.missed.messages, p.missed.bytes, behind = 0, 0, false
	}
	if behind || !p.queue.put(frames, most) {
		p.missed.messages++
		p.missed.bytes += size(frames)
	}
}

// all returns the clients that have completed the handshake.
func (e *endpoint) all() (peers []*peer) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for p := range e.peers {
		if p.at == e && p.identity != "" {
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
		p.Close()
	}
}

// subscribe handles a message of a client of iopub: a byte 1 and the prefix of topics to subscribe
// to, or 0 and a prefix to unsubscribe from.
func (p *peer) subscribe(frames [][]byte) {
	p.show(spoken)
	if len(frames) != 1 || len(frames[0]) == 0 {
		return
	}
	p.at.mu.Lock()
	defer p.at.mu.Unlock()
	switch topic := string(frames[0][1:]); {
	case frames[0][0] == 0:
		delete(p.topics, topic)
	case frames[0][0] == 1 && len(p.topics) < mostTopics && len(topic) <= largestTopic:
		p.topics[topic] = true
	}
}

func (p *peer) subscribed(topic string) bool {
	p.at.mu.Lock()
	defer p.at.mu.Unlock()
	for t := range p.topics {
		if strings.HasPrefix(topic, t) {
			return true
		}
	}
	return false
}

// queue holds the messages that wait for one client, up to a number of bytes, and sends them.
type queue struct {
	send func(frames [][]byte) error

	mu       sync.Mutex
	messages [][][]byte
	bytes    int
	sent     chan struct{} // closed when all messages are sent; nil if none is
	closed   bool
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
	if q.sent == nil {
		q.sent = make(chan struct{})
		go q.sendAll()
	}
	return true
}

func (q *queue) sendAll() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.messages) > 0 && !q.closed {
		next := q.messages[0]
		q.messages[0], q.messages = nil, q.messages[1:]
		q.bytes -= size(next)
		q.mu.Unlock()
		err := q.send(next)
		q.mu.Lock()
		q.closed = q.closed || err != nil
	}
	close(q.sent)
	q.sent = nil
}

// drain waits until all messages are sent or the queue is closed.
func (q *queue) drain() {
	q.mu.Lock()
	sent := q.sent
	q.mu.Unlock()
	if sent != nil {
		<-sent
	}
}

func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed, q.messages = true, nil
}

// size returns the number of bytes that a message takes up in a queue.
func size(frames [][]byte) int {
	n := 0
	for _, f := range frames {
		n += len(f) + frameCost
	}
	return n
}
