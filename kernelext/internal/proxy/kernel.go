//go:build unix

package proxy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/go-zeromq/zmq4"
)

// Options holds the parts of a Kernel.
type Options struct {
	ConnectionFile string
	// Guard is the command line that calls Guard with the arguments that follow it: a directory,
	// and a program with its arguments.
	Guard []string
	GoNB  []string // the program and its options
	// Environment is the environment of GoNB and of the cells.
	Environment []string
	// Directory contains the sockets to GoNB. Guard removes it if the kernel does not.
	Directory string
	Magics    Magics
	// Introduction replaces fields of GoNB's answer to the question who the kernel is.
	Introduction map[string]any
	// Stop is called, possibly more than once, when the kernel shuts down. It returns when
	// everything that it stops has stopped.
	Stop func()
}

// Kernel is a Jupyter kernel that delegates the work to GoNB. It restarts GoNB when GoNB exits or
// hangs. It treats all child processes of its process as GoNB's.
type Kernel struct {
	options    Options
	connection connection
	key        key
	seen       history
	gate       *gate
	builds     *regexp.Regexp // matches paths of GoNB's builds

	// Sockets that front ends connect to.
	shell, control, stdin, iopub, heartbeat *endpoint

	// gonb is locked while no GoNB answers, and read-locked while something is sent to GoNB.
	gonb  sync.RWMutex
	child *child

	order sync.Mutex // taken before mu
	turns []turn     // requests that wait behind GoNB's current cell
	ahead *request   // GoNB's current cell, or nil

	mu                   sync.Mutex
	answerTime, hangTime time.Duration
	ends                 bool                // set once the kernel is asked to shut down
	parent               []byte              // header of the running cell, or of the last one
	requests             map[string]*request // requests that GoNB has not answered, by id
	givenUp              string              // id of the request that GoNB still works on after it was given up
	cells                map[string]*cell    // cells whose output has not ended
	count                int                 // execution count of the last answered cell, or 0
}

// Start starts GoNB and listens to front ends.
func Start(o Options) (*Kernel, error) {
	c, err := readConnection(o.ConnectionFile)
	if err != nil {
		return nil, err
	}
	k := &Kernel{options: o, connection: c, key: key(c.Key), gate: newGate(), builds: buildPaths(o.Directory), answerTime: answerTime, hangTime: hangTime, parent: []byte("{}")}
	k.forget()
	adoptOrphans()
	k.gonb.Lock() // early front ends wait
	if err = k.listen(c); err == nil {
		err = k.startGoNB()
	}
	if err != nil {
		k.close()
		return nil, err
	}
	k.gonb.Unlock()
	return k, nil
}

// startGoNB starts GoNB and returns when it answers. The caller holds k.gonb. If GoNB cannot be
// started, k.child is a GoNB that has ended, to which waiting requests are sent.
func (k *Kernel) startGoNB() error {
	g, err := start(k.options.Guard, k.options.GoNB, k.options.Environment, k.options.Directory, k.connection)
	if err != nil {
		return err
	}
	k.child = g
	if err := k.awaken(); err != nil {
		k.child.stop()
		return err
	}
	g.passing.Go(func() { k.passReplies(g, g.shell, k.shell) })
	g.passing.Go(func() { k.passReplies(g, g.control, k.control) })
	g.passing.Go(func() { k.passReplies(g, g.stdin, k.stdin) })
	return nil
}

func (k *Kernel) listen(c connection) error {
	for _, s := range []struct {
		endpoint *(*endpoint)
		kind     zmq4.SocketType
		port     int
		received func(*peer, [][]byte)
	}{
		{&k.shell, zmq4.Router, c.Shell, func(p *peer, f [][]byte) { k.request(p, f, k.shell) }},
		{&k.control, zmq4.Router, c.Control, func(p *peer, f [][]byte) { k.request(p, f, k.control) }},
		{&k.stdin, zmq4.Router, c.Stdin, k.input},
		{&k.iopub, zmq4.Pub, c.IOPub, func(p *peer, f [][]byte) {
			k.gate.show(p, spoken)
			p.subscribe(f)
		}},
		{&k.heartbeat, zmq4.Rep, c.Heartbeat, func(p *peer, f [][]byte) {
			k.gate.show(p, spoken)
			p.queue.put(f, mostBeats)
		}},
	} {
		network, address := c.address(s.port)
		var err error
		if *s.endpoint, err = k.gate.listen(network, address, s.kind, s.received); err != nil {
			return fmt.Errorf("cannot listen at the address in the connection file %s: %w", c.path, err)
		}
	}
	k.iopub.missed = k.missed
	return nil
}

func (k *Kernel) missed(messages, bytes int) [][]byte {
	k.mu.Lock()
	parent := k.parent
	k.mu.Unlock()
	m := answer("stream", parent, map[string]string{"name": "stderr", "text": fmt.Sprintf(
		"%d messages of output, %d MB, are missing here: they arrived faster than they were read. Write large output to a file\n", messages, max(1, bytes/1e6))})
	m.identities = [][]byte{[]byte("stream")}
	return k.key.frames(m)
}

// awaken repeats a request to GoNB until a message arrives on iopub. Until then, GoNB's messages
// may be lost, because GoNB has not yet received the kernel's subscription.
func (k *Kernel) awaken() error {
	heard := make(chan struct{})
	g := k.child
	g.passing.Go(func() { k.passOutput(g, heard) })
	for deadline := time.Now().Add(startTime); time.Now().Before(deadline); {
		k.ask(g.shell, "kernel_info_request")
		select {
		case <-heard:
			return nil
		case <-g.ended:
			return fmt.Errorf("gonb ended while starting; the lines above give the reason")
		case <-time.After(20 * time.Millisecond):
		}
	}
	return fmt.Errorf("gonb did not answer within %v", startTime)
}

// ask sends GoNB one of the kernel's own requests, whose answers are dropped.
func (k *Kernel) ask(on *wire, kind string) {
	m := answer(kind, encode(header{Session: ourIdentity}), struct{}{})
	m.parent = []byte("{}")
	m.identities = [][]byte{[]byte(ourIdentity)}
	k.forward(on, m)
}

// Wait returns when GoNB has ended after a request to shut down, when ctx is cancelled, or when
// GoNB has ended and cannot be restarted.
func (k *Kernel) Wait(ctx context.Context) error {
	defer k.close()
	defer context.AfterFunc(ctx, k.options.Stop)()
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
			continue
		case <-k.child.ended:
		}
		k.mu.Lock()
		ends := k.ends
		k.mu.Unlock()
		if ends {
			break
		}
		if err := k.renew(); err != nil {
			k.options.Stop()
			return errors.Join(fmt.Errorf("gonb ended and could not be restarted: %w", err), os.RemoveAll(k.options.Directory))
		}
	}
	k.options.Stop()
	k.child.stop()
	return os.RemoveAll(k.options.Directory)
}

func (k *Kernel) renew() error {
	k.gonb.Lock()
	defer k.gonb.Unlock()
	k.child.stop()
	k.child.passing.Wait()
	k.child.disconnect()
	const lost = "GoNB ended and was restarted: the declarations of earlier cells are gone, so run them again; runs and the session's models and data are not affected"
	k.mu.Lock()
	requests := k.requests
	k.forget()
	k.mu.Unlock()
	k.turns, k.ahead = nil, nil
	for _, r := range requests {
		k.respond(*r, failure(lost))
	}
	k.Warn(lost)
	return k.startGoNB()
}

func (k *Kernel) forget() {
	k.givenUp = ""
	k.requests, k.cells = map[string]*request{}, map[string]*cell{}
}

func (k *Kernel) close() {
	for _, e := range []*endpoint{k.shell, k.control, k.stdin, k.iopub, k.heartbeat} {
		if e != nil {
			e.close()
		}
	}
}

// passReplies passes GoNB's replies on a socket to the front ends that they are for.
func (k *Kernel) passReplies(g *child, from *wire, to *endpoint) {
	for {
		frames, err := from.receive()
		if err != nil {
			k.unheard(g, err)
			return
		}
		m, err := k.key.parse(frames)
		if err != nil || len(m.identities) == 0 {
			continue
		}
		var parent header
		_ = json.Unmarshal(m.parent, &parent)
		if parent.Session == ourIdentity {
			continue
		}
		identity := string(m.identities[0])
		m.identities = m.identities[1:]
		m.date()
		if !strings.HasSuffix(m.Header.Type, "_reply") {
			to.reply(identity, k.key.frames(m))
			continue
		}
		k.mu.Lock()
		r := k.requests[parent.ID]
		k.mu.Unlock()
		if r == nil || r.cell == nil {
			k.passReply(g, m, parent.ID, nil)
			continue
		}
		g.passing.Go(func() {
			select {
			case <-r.cell.done:
			case <-g.ended:
			}
			k.passReply(g, m, parent.ID, r.cell)
		})
	}
}

// passReply passes the reply to a request to the front end that sent the request. c is the cell of the
// request, all of whose output has been passed on, or nil.
func (k *Kernel) passReply(g *child, m *message, id string, c *cell) {
	m.introduce(k.options.Introduction)
	m.hideFailure()
	k.mu.Lock()
	r := k.requests[id]
	delete(k.requests, id)
	reply := struct {
		Status string
		Count  int `json:"execution_count"`
	}{Count: k.count}
	if m.Header.Type == "execute_reply" {
		_ = json.Unmarshal(m.content, &reply)
		k.count = reply.Count
	}
	if c != nil {
		m.metadata = encode(map[string]string{"started": c.started})
	}
	if c != nil && c.failure != nil {
		failed := maps.Clone(c.failure)
		failed["execution_count"] = reply.Count
		m.content, reply.Status = encode(failed), "error"
	}
	k.mu.Unlock()
	pass := func() {
		if r != nil { // otherwise the request was given up
			r.from.reply(r.identity, k.key.frames(m))
		}
	}
	if m.Header.Type == "execute_reply" {
		k.endTurn(g, id, reply.Status != "ok", pass)
	} else {
		pass()
	}
}

// passOutput passes GoNB's iopub messages to all front ends, and closes heard at the first one.
func (k *Kernel) passOutput(g *child, heard chan<- struct{}) {
	for {
		frames, err := g.iopub.receive()
		if err != nil {
			k.unheard(g, err)
			return
		}
		if heard != nil {
			close(heard)
			heard = nil
		}
		// The first frame is this kernel's identity. The second is the front end's identity, which
		// is the topic.
		m, err := k.key.parse(frames)
		if err != nil || len(m.identities) < 2 {
			continue
		}
		m.identities = m.identities[1:]
		m.date()
		k.publish(m)
	}
}

// unheard kills GoNB and tells the user why, if GoNB has sent a message beyond the limit: nothing
// after that message could be read. The kernel then restarts GoNB.
func (k *Kernel) unheard(g *child, err error) {
	if !errors.Is(err, errLarge) {
		return
	}
	k.Warn(fmt.Sprintf("GoNB sent a message of more than %d bytes: show less at a time", largestOutput))
	g.kill()
}

// publish passes on one message of GoNB, and runs the magics of a cell when the cell begins.
func (k *Kernel) publish(m *message) {
	var parent header
	_ = json.Unmarshal(m.parent, &parent)
	if parent.Session == ourIdentity {
		return
	}
	var status struct {
		State string `json:"execution_state"`
	}
	if m.Header.Type == "status" {
		_ = json.Unmarshal(m.content, &status)
	}
	if k.follow(parent, status.State, m.parent) {
		return
	}
	if parent.Type != "execute_request" {
		k.tell(m)
		return
	}
	k.mu.Lock()
	c := k.cells[parent.ID]
	k.mu.Unlock()
	if c == nil {
		k.tell(m)
		return
	}
	if k.repeatsEnd(m, c) {
		return
	}
	k.explain(c, m)
	m.sizeImage()
	if status.State == "idle" {
		k.finish(c, parent.ID, m)
		return
	}
	k.begin(c, status.State, m)
}

// say publishes a message of this kernel as a message of the cell with the header parent.
func (k *Kernel) say(kind string, parent []byte, content any) {
	m := answer(kind, parent, content)
	m.identities = [][]byte{[]byte(kind)}
	k.tell(m)
}

func (k *Kernel) tell(m *message) {
	output := m.Header.Type == "stream" || m.Header.Type == "display_data" || m.Header.Type == "update_display_data" || m.Header.Type == "execute_result"
	k.iopub.broadcast(k.key.frames(m), output)
}

// Warn prints a line on the standard error of the running cell or of the last one.
func (k *Kernel) Warn(text string) {
	k.mu.Lock()
	parent := k.parent
	k.mu.Unlock()
	k.say("stream", parent, map[string]string{"name": "stderr", "text": text + "\n"})
}

// Display shows data, a value for each MIME type, as output of the running cell or of the last one.
// With update it replaces the display with the same id.
func (k *Kernel) Display(id string, data map[string]string, update bool) {
	kind := "display_data"
	if update {
		kind = "update_display_data"
	}
	k.mu.Lock()
	parent := k.parent
	k.mu.Unlock()
	k.say(kind, parent, map[string]any{
		"data": withText(data), "metadata": struct{}{}, "transient": map[string]string{"display_id": id},
	})
}
