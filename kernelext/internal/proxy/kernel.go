package proxy

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"sync"
	"time"

	"github.com/go-zeromq/zmq4"
)

// Options say what a Kernel consists of.
type Options struct {
	ConnectionFile string
	// Guard is the command line that calls Guard with the arguments that
	// follow it: a directory, and a program with its arguments.
	Guard []string
	GoNB  []string // the program and its options
	// Environment is that of GoNB and of the cells.
	Environment []string
	// Directory holds the sockets to GoNB. Guard removes it.
	Directory string
	Magics    Magics
	// Stop is called when the kernel shuts down, more than once maybe, and
	// returns when what it stops has stopped.
	Stop func()
}

// Kernel is a Jupyter kernel that leaves the work to GoNB.
type Kernel struct {
	options Options
	key     key
	child   *child

	// What front ends connect to.
	shell, control, stdin, iopub, heartbeat *endpoint
	// ready is closed once GoNB answers; requests wait for it.
	ready chan struct{}

	mu       sync.Mutex
	parent   []byte          // header of the cell that runs, or of the last one
	running  string          // id of the request of the cell that runs, empty if none does
	controls map[string]bool // requests that came by control
	cells    map[string]cell // cells with magics that have not begun
}

// Start starts GoNB and listens to front ends.
func Start(o Options) (*Kernel, error) {
	c, err := readConnection(o.ConnectionFile)
	if err != nil {
		return nil, err
	}
	k := &Kernel{
		options: o, key: key(c.Key), ready: make(chan struct{}),
		parent: []byte("{}"), controls: map[string]bool{}, cells: map[string]cell{},
	}
	if err := k.listen(c); err != nil {
		k.close()
		return nil, err
	}
	if k.child, err = start(o.Guard, o.GoNB, o.Environment, o.Directory, c); err != nil {
		k.close()
		return nil, err
	}
	if err := k.awaken(); err != nil {
		k.child.stop()
		k.close()
		return nil, err
	}
	go k.passReplies(k.child.shell, k.shell)
	go k.passReplies(k.child.control, k.control)
	go k.passReplies(k.child.stdin, k.stdin)
	close(k.ready)
	return k, nil
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
		{&k.iopub, zmq4.Pub, c.IOPub, (*peer).subscribe},
		{&k.heartbeat, zmq4.Rep, c.Heartbeat, func(p *peer, f [][]byte) { p.queue.put(f, mostWaiting) }},
	} {
		network, address := c.address(s.port)
		var err error
		if *s.endpoint, err = listen(network, address, s.kind, s.received); err != nil {
			return fmt.Errorf("cannot listen where the connection file %s says: %w", c.path, err)
		}
	}
	return nil
}

// awaken asks GoNB for its name until iopub shows that it is heard: what GoNB
// says before this kernel has subscribed is lost.
func (k *Kernel) awaken() error {
	heard := make(chan struct{})
	go k.passOutput(heard)
	for deadline := time.Now().Add(startTime); time.Now().Before(deadline); {
		k.ask(k.child.shell, "kernel_info_request")
		select {
		case <-heard:
			return nil
		case <-k.child.ended:
			return fmt.Errorf("gonb ended as it started; the lines above say why")
		case <-time.After(20 * time.Millisecond):
		}
	}
	return fmt.Errorf("gonb did not answer within %v", startTime)
}

// ask sends GoNB a request of this kernel's own, whose answers are for nobody.
func (k *Kernel) ask(on *wire, kind string) {
	m := answer(kind, encode(header{Session: ourIdentity}), struct{}{})
	m.parent = []byte("{}")
	m.identities = [][]byte{[]byte(ourIdentity)}
	k.forward(on, m)
}

// Wait returns when GoNB has ended, after ctx has or after a request to shut
// down.
func (k *Kernel) Wait(ctx context.Context) error {
	defer k.close()
	select {
	case <-ctx.Done():
	case <-k.child.ended:
	}
	k.options.Stop()
	k.child.stop()
	return os.RemoveAll(k.options.Directory)
}

func (k *Kernel) close() {
	for _, e := range []*endpoint{k.shell, k.control, k.stdin, k.iopub, k.heartbeat} {
		if e != nil {
			e.close()
		}
	}
}

// request acts upon a message from a front end on the shell or control socket.
func (k *Kernel) request(p *peer, frames [][]byte, from *endpoint) {
	<-k.ready
	m, err := k.key.parse(frames)
	if err == nil {
		err = m.check()
	}
	if err != nil {
		log.Printf("helmholtz kernel: refused a message: %v", err)
		return
	}
	m.identities = append([][]byte{[]byte(p.identity)}, m.identities...)
	if k.answered(m, from) {
		return
	}
	to := k.child.shell
	switch {
	case from == k.control:
		to = k.child.control
		k.mu.Lock()
		k.controls[m.Header.ID] = true
		k.mu.Unlock()
		switch m.Header.Type {
		case "shutdown_request":
			go k.shutDown()
		case "interrupt_request":
			go k.interrupt()
		}
	case m.Header.Type == "execute_request":
		k.prepare(m)
	}
	k.forward(to, m)
}

// shutDown sees to it that GoNB ends after a request to do so.
func (k *Kernel) shutDown() {
	k.options.Stop()
	select {
	case <-k.child.ended:
	case <-time.After(stopTime):
		k.child.stop()
	}
}

// input passes an answer to a question of a cell.
func (k *Kernel) input(p *peer, frames [][]byte) {
	<-k.ready
	m, err := k.key.parse(frames)
	if err == nil {
		err = m.check()
	}
	if err != nil {
		log.Printf("helmholtz kernel: refused an input: %v", err)
		return
	}
	m.identities = append([][]byte{[]byte(p.identity)}, m.identities...)
	k.forward(k.child.stdin, m)
}

func (k *Kernel) forward(to *wire, m *message) {
	if err := to.send(k.key.frames(m)); err != nil {
		log.Printf("helmholtz kernel: gonb: %v", err)
	}
}

// passReplies passes what GoNB says on a socket to the front end that it is
// for.
func (k *Kernel) passReplies(from *wire, to *endpoint) {
	for {
		frames, err := from.receive()
		if err != nil {
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
		k.mu.Lock()
		byControl := k.controls[parent.ID]
		delete(k.controls, parent.ID)
		k.mu.Unlock()
		if byControl {
			k.control.reply(string(m.identities[0]), frames[1:])
		} else {
			to.reply(string(m.identities[0]), frames[1:])
		}
	}
}

// passOutput passes what GoNB says on iopub to all front ends, and closes heard
// when there is something.
func (k *Kernel) passOutput(heard chan<- struct{}) {
	for {
		frames, err := k.child.iopub.receive()
		if err != nil {
			return
		}
		if heard != nil {
			close(heard)
			heard = nil
		}
		// The first frame is this kernel's identity, the second the front
		// end's, which is the topic.
		m, err := k.key.parse(frames)
		if err != nil || len(m.identities) < 2 {
			continue
		}
		m.identities = m.identities[1:]
		k.publish(m)
	}
}

// publish passes one message of GoNB, and runs the magics of a cell as it
// begins.
func (k *Kernel) publish(m *message) {
	var parent header
	_ = json.Unmarshal(m.parent, &parent)
	if parent.Session == ourIdentity {
		return
	}
	state := ""
	if m.Header.Type == "status" {
		var status struct {
			State string `json:"execution_state"`
		}
		_ = json.Unmarshal(m.content, &status)
		state = status.State
	}
	cellsOwn := parent.Type == "execute_request"
	if cellsOwn && state != "" {
		k.mu.Lock()
		k.running, k.parent = "", m.parent
		if state == "busy" {
			k.running = parent.ID
		}
		k.mu.Unlock()
	}
	if !cellsOwn {
		k.iopub.broadcast(k.key.frames(m))
		return
	}
	k.begin(parent.ID, state, m)
}

// say publishes a message of this kernel, as one of the cell with the header
// parent.
func (k *Kernel) say(kind string, parent []byte, content any) {
	m := answer(kind, parent, content)
	m.identities = [][]byte{[]byte(kind)}
	k.iopub.broadcast(k.key.frames(m))
}

// Display shows data, a value for each MIME type, as output of the cell that
// runs or of the last one; with update it replaces what is shown under the same
// id.
func (k *Kernel) Display(id string, data map[string]string, update bool) {
	kind := "display_data"
	if update {
		kind = "update_display_data"
	}
	k.mu.Lock()
	parent := k.parent
	k.mu.Unlock()
	k.say(kind, parent, map[string]any{
		"data": data, "metadata": struct{}{}, "transient": map[string]string{"display_id": id},
	})
}
