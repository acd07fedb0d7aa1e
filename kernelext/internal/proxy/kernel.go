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
)

// Magics are the lines of a cell that this kernel runs instead of GoNB, and what it knows about its library.
type Magics interface {
	// Run runs a line, given without its leading "%hm", until ctx is cancelled, and returns what it prints.
	Run(ctx context.Context, line string) (printed string, err error)
	// Complete returns the completions of a line's last word. The line is given without "%hm".
	Complete(line string) []string
	// Inspect explains a line.
	Inspect(line string) string
	// Hover completes the explanation of a name by the language server, in Markdown.
	Hover(said string) string
	// Suggest returns a report of the compiler, with the names that were meant.
	Suggest(report string) string
}

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
	front      *front
	builds     *regexp.Regexp // matches paths of GoNB's builds

	// Sockets that front ends connect to.
	shell, control, stdin, iopub, heartbeat *endpoint

	// gonb is locked while no GoNB answers, and read-locked while something is sent to GoNB.
	gonb  sync.RWMutex
	child *child

	order sync.Mutex // taken before mu
	turns []*request // requests that wait behind GoNB's current cell
	ahead *request   // GoNB's current cell, or nil

	mu                   sync.Mutex
	answerTime, hangTime time.Duration
	ends                 bool                // set once the kernel is asked to shut down
	parent               []byte              // header of the running cell, or of the last one
	requests             map[string]*request // requests that have no answer yet, by id
	givenUp              string              // id of the request that GoNB still works on after it was given up
	count                int                 // execution count of the last answered cell, or 0
	subshells            map[string]chan *request
}

// New returns a kernel that Start starts.
func New(o Options) (*Kernel, error) {
	c, err := readConnection(o.ConnectionFile)
	k := &Kernel{options: o, connection: c, key: key(c.Key), front: newFront(), builds: buildPaths(o.Directory), answerTime: answerTime, hangTime: hangTime, parent: []byte("{}")}
	k.front.missed, k.subshells = k.missed, map[string]chan *request{}
	k.forget()
	return k, err
}

// Start starts GoNB and listens to front ends.
func (k *Kernel) Start() error {
	adoptOrphans()
	k.gonb.Lock() // early front ends wait
	defer k.gonb.Unlock()
	err := k.listen()
	if err == nil {
		err = k.startGoNB()
	}
	if err != nil {
		k.close()
	}
	return err
}

// startGoNB starts GoNB and returns when it answers. The caller holds k.gonb. If GoNB cannot be
// started, k.child is a GoNB that has ended, to which waiting requests are sent.
func (k *Kernel) startGoNB() error {
	g, err := start(k.options.Guard, k.options.GoNB, k.options.Environment, k.options.Directory, k.connection)
	if err != nil {
		return err
	}
	k.child = g
	heard := make(chan struct{})
	g.passing.Go(func() { k.passOutput(g, heard) })
	// Until a message arrives on iopub, GoNB's messages may be lost, because GoNB has not yet received the kernel's
	// subscription.
	err = g.await(20*time.Millisecond, func() bool {
		select {
		case <-heard:
			return true
		default:
			k.ask(g.shell, "kernel_info_request")
			return false
		}
	})
	if err != nil {
		g.stop()
		return err
	}
	g.passing.Go(func() { k.passReplies(g, g.shell, k.shell) })
	g.passing.Go(func() { k.passReplies(g, g.control, k.control) })
	g.passing.Go(func() { k.passReplies(g, g.stdin, k.stdin) })
	return nil
}

func (k *Kernel) listen() error {
	c := k.connection
	for _, s := range []struct {
		endpoint *(*endpoint)
		kind     string
		port     int
		received func(*peer, [][]byte)
	}{
		{&k.shell, "ROUTER", c.Shell, func(p *peer, f [][]byte) { k.request(p, f, k.shell) }},
		{&k.control, "ROUTER", c.Control, func(p *peer, f [][]byte) { k.request(p, f, k.control) }},
		{&k.stdin, "ROUTER", c.Stdin, k.input},
		{&k.iopub, "PUB", c.IOPub, (*peer).subscribe},
		{&k.heartbeat, "REP", c.Heartbeat, func(p *peer, f [][]byte) {
			p.show(spoken)
			_ = p.send(f)
		}},
	} {
		network, address := c.address(s.port)
		var err error
		if *s.endpoint, err = k.front.listen(network, address, s.kind, s.received); err != nil {
			return fmt.Errorf("cannot listen at the address in the connection file %s: %w", c.path, err)
		}
	}
	return nil
}

func (k *Kernel) missed(messages, bytes int) [][]byte {
	m := answer("stream", k.current(), map[string]string{"name": "stderr", "text": fmt.Sprintf(
		"%d messages of output, %d MB, are missing here: they arrived faster than they were read. Write large output to a file\n", messages, max(1, bytes/1e6))})
	m.identities = [][]byte{[]byte("stream")}
	return k.key.frames(m)
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
	for _, w := range []*wire{k.child.shell, k.child.control, k.child.stdin, k.child.iopub} {
		w.Close()
	}
	const lost = "GoNB ended and was restarted: the declarations of earlier cells are gone, so run them again; runs are not affected"
	k.mu.Lock()
	requests := k.requests
	k.forget()
	k.mu.Unlock()
	k.turns, k.ahead = nil, nil
	for _, r := range requests {
		k.respond(r, failure(lost))
	}
	k.Warn(lost)
	return k.startGoNB()
}

func (k *Kernel) forget() { k.givenUp, k.requests = "", map[string]*request{} }

func (k *Kernel) close() {
	for _, e := range []*endpoint{k.shell, k.control, k.stdin, k.iopub, k.heartbeat} {
		if e != nil {
			e.close()
		}
	}
}

// passReplies passes GoNB's replies on a socket to the front ends that they are for. The reply to a cell waits until
// all output of the cell has been passed on.
func (k *Kernel) passReplies(g *child, from *wire, to *endpoint) {
	for {
		m, err := k.receive(g, from, 1)
		switch {
		case err != nil:
			return
		case m == nil:
			continue
		}
		identity := string(m.identities[0])
		m.identities = m.identities[1:]
		if !strings.HasSuffix(m.Header.Type, "_reply") {
			to.reply(identity, k.key.frames(m))
			continue
		}
		k.mu.Lock()
		r := k.requests[m.Parent.ID]
		k.mu.Unlock()
		if r == nil || r.cell == nil {
			k.passReply(g, m)
			continue
		}
		g.passing.Go(func() {
			select {
			case <-r.cell.done:
			case <-g.ended:
			}
			k.passReply(g, m)
		})
	}
}

// receive returns the next message of GoNB with its current time, because GoNB's times have no fractions of seconds.
// The message is nil if it is malformed, has fewer frames before the delimiter than least, or is about a request of
// this kernel. After a message beyond the limit nothing can be read: receive then kills GoNB, which is restarted.
func (k *Kernel) receive(g *child, from *wire, least int) (*message, error) {
	frames, err := from.receive()
	if errors.Is(err, errLarge) {
		k.Warn(fmt.Sprintf("GoNB sent a message of more than %d bytes: show less at a time", largestOutput))
		g.kill()
	}
	if err != nil {
		return nil, err
	}
	m, err := k.key.parse(frames)
	if err != nil || len(m.identities) < least || m.Parent.Session == ourIdentity {
		return nil, nil
	}
	m.Header.Date = now()
	m.header = encode(m.Header)
	return m, nil
}

// passReply passes the reply to a request to the front end that sent the request.
func (k *Kernel) passReply(g *child, m *message) {
	id := m.Parent.ID
	k.mu.Lock()
	r := k.requests[id]
	delete(k.requests, id)
	reply := struct {
		Status string
		Count  int `json:"execution_count"`
	}{Count: k.count}
	switch m.Header.Type {
	case "kernel_info_reply":
		m.introduce(k.options.Introduction)
	case "inspect_reply":
		m.hover(k.options.Magics)
	case "execute_reply":
		_ = json.Unmarshal(m.content, &reply)
		k.count = reply.Count
	}
	if r != nil && r.cell != nil {
		m.metadata = encode(map[string]string{"started": r.cell.started})
		if r.cell.failure != nil {
			failed := maps.Clone(r.cell.failure)
			failed["execution_count"] = reply.Count
			m.content, reply.Status = encode(failed), "error"
		}
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
		m, err := k.receive(g, g.iopub, 2)
		if err != nil {
			return
		}
		if heard != nil {
			close(heard)
			heard = nil
		}
		if m != nil {
			// The first frame is this kernel's identity. The second is the front end's identity, which
			// is the topic.
			m.identities = m.identities[1:]
			k.publish(g, m)
		}
	}
}

// publish passes on one message of GoNB, and learns from it what GoNB is working on.
func (k *Kernel) publish(g *child, m *message) {
	var status struct {
		State string `json:"execution_state"`
	}
	if m.Header.Type == "status" {
		_ = json.Unmarshal(m.content, &status)
	}
	id := m.Parent.ID
	k.mu.Lock()
	r := k.requests[id]
	late := id == k.givenUp && id != "" // nobody waits for the message
	switch {
	case status.State == "":
	case m.Parent.Type == "execute_request":
		k.parent = m.parent
	case status.State == "busy":
		time.AfterFunc(k.answerTime, func() { k.giveUp(id, g) })
	case late:
		k.givenUp = ""
	}
	k.mu.Unlock()
	switch {
	case late:
	case r == nil || r.cell == nil || r.cell.over:
		k.tell(m)
	case k.repeatsEnd(m, r.cell):
	case status.State == "idle":
		k.finish(r.cell, m)
	default:
		k.explain(r.cell, m)
		k.begin(g, r.cell, status.State, m)
	}
}

// current returns the header of the running cell, or of the last one.
func (k *Kernel) current() []byte {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.parent
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
	k.say("stream", k.current(), map[string]string{"name": "stderr", "text": text + "\n"})
}

// Display shows data, a value for each MIME type, as output of the running cell or of the last one.
// With update it replaces the display with the same id.
func (k *Kernel) Display(id string, data map[string]string, update bool) {
	kind := "display_data"
	if update {
		kind = "update_display_data"
	}
	k.say(kind, k.current(), map[string]any{
		"data": withText(data), "metadata": struct{}{}, "transient": map[string]string{"display_id": id},
	})
}
