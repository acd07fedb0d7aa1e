//go:build unix

package proxy

import (
	"errors"
	"log"
	"strings"
	"sync"
	"time"
)

const (
	// answerTime is how long GoNB may work on a request other than a cell until the front end is
	// told that there is no answer.
	answerTime = 30 * time.Second
	// hangTime is how much longer GoNB may work until it is restarted.
	hangTime = 60 * time.Second
	// mostRequests is how many requests may wait for GoNB. GoNB exits if 10,000 wait.
	mostRequests = 1000
)

type request struct {
	header   []byte
	id, kind string
	identity string    // of the front end
	from     *endpoint // socket of the request and of its reply
	stops    bool      // whether cells that wait behind this cell are skipped if it fails
	cell     *cell     // the cell of a request on the shell socket to run one
}

// turn is a request on the shell socket that waits until the preceding cell has ended.
type turn struct {
	request request
	message *message // for GoNB
	refusal any      // the kernel's own answer, or nil if GoNB is asked
}

// request handles a message from a front end on the shell or control socket.
func (k *Kernel) request(p *peer, frames [][]byte, from *endpoint) {
	k.gonb.RLock()
	defer k.gonb.RUnlock()
	m := k.accept(p, frames)
	if m == nil {
		return
	}
	r := request{header: m.header, id: m.Header.ID, kind: m.Header.Type, identity: p.identity, from: from}
	if err := m.check(); err != nil {
		log.Printf("helmholtz kernel: refused a message: %v", err)
		k.respond(r, failure(err.Error()))
		return
	}
	if content := m.explained(k.options.Magics); content != nil {
		k.respond(r, content)
		return
	}
	isCell := from == k.shell && r.kind == "execute_request"
	if isCell {
		r.cell = m.prepare()
		r.stops = string(m.fields["stop_on_error"]) != "false"
	}
	refusal := m.spare()
	if refusal != nil && !isCell {
		k.respond(r, refusal)
		return
	}
	if !k.expect(r) {
		k.respond(r, failure("too many requests wait for GoNB: send this one again when cells have ended"))
		return
	}
	switch r.kind {
	case "shutdown_request":
		go k.shutDown()
	case "interrupt_request":
		go k.interrupt()
	default:
		if from == k.shell && forwarded[r.kind] {
			k.order.Lock()
			defer k.order.Unlock()
			k.turns = append(k.turns, turn{r, m, refusal})
			k.takeTurns(k.child)
			return
		}
	}
	to := k.child.shell
	if from == k.control {
		to = k.child.control
	}
	k.forward(to, m)
}

// takeTurns passes requests to GoNB until GoNB has a cell to run. GoNB itself would run the cells
// behind a failed one. The caller holds k.order.
func (k *Kernel) takeTurns(g *child) {
	for k.ahead == nil && len(k.turns) > 0 {
		next := k.turns[0]
		k.turns = k.turns[1:]
		switch {
		case next.refusal != nil:
			k.withdraw(next.request, next.refusal)
			k.stop(next.request)
		default:
			if next.request.kind == "execute_request" {
				k.ahead = &next.request
				k.mu.Lock()
				k.ahead.cell.started = now()
				k.mu.Unlock()
			}
			k.forward(g.shell, next.message)
		}
	}
}

// endTurn passes on the reply to a cell, and takes the next turns. It locks k.order first.
// Otherwise, if the cell failed, a cell that a front end sends after this reply could be skipped.
func (k *Kernel) endTurn(g *child, cell string, failed bool, pass func()) {
	k.order.Lock()
	defer k.order.Unlock()
	pass()
	if k.ahead == nil || k.ahead.id != cell {
		return
	}
	if failed {
		k.stop(*k.ahead)
	}
	k.ahead = nil
	k.takeTurns(g)
}

// stop answers the cells that wait behind a failed one; they are not run. The caller holds k.order.
func (k *Kernel) stop(behind request) {
	if !behind.stops {
		return
	}
	turns := k.turns
	k.turns = nil
	for _, t := range turns {
		if t.request.kind == "execute_request" {
			k.withdraw(t.request, map[string]string{"status": "aborted"})
		} else {
			k.turns = append(k.turns, t)
		}
	}
}

// withdraw answers a request that was not passed to GoNB.
func (k *Kernel) withdraw(r request, content any) {
	k.mu.Lock()
	delete(k.requests, r.id)
	delete(k.cells, r.id)
	k.mu.Unlock()
	k.respond(r, content)
}

// accept returns the message of a front end, or nil if the message is malformed, not signed with the
// key, or a replay.
func (k *Kernel) accept(p *peer, frames [][]byte) *message {
	m, err := k.key.parse(frames)
	if err == nil && len(k.key) > 0 {
		err = k.seen.add(k.key.signature(m))
	}
	if err != nil {
		log.Printf("helmholtz kernel: refused a message: %v", err)
		return nil
	}
	k.gate.show(p, proven)
	m.identities = append([][]byte{[]byte(p.identity)}, m.identities...)
	return m
}

func (k *Kernel) input(p *peer, frames [][]byte) {
	k.gonb.RLock()
	defer k.gonb.RUnlock()
	m := k.accept(p, frames)
	if m == nil {
		return
	}
	if err := m.check(); err != nil {
		log.Printf("helmholtz kernel: refused an input: %v", err)
		return
	}
	k.forward(k.child.stdin, m)
}

func (k *Kernel) forward(to *wire, m *message) {
	if err := to.send(k.key.frames(m)); err != nil {
		log.Printf("helmholtz kernel: gonb: %v", err)
	}
}

// expect records a request that will be passed to GoNB, and reports whether there is room for it.
func (k *Kernel) expect(r request) bool {
	if !forwarded[r.kind] {
		return true // a comm message has no reply
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	urgent := r.kind == "shutdown_request" || r.kind == "interrupt_request"
	if len(k.requests) >= mostRequests && !urgent {
		return false
	}
	k.requests[r.id] = &r
	if r.cell != nil {
		k.cells[r.id] = r.cell
	}
	k.ends = k.ends || r.kind == "shutdown_request"
	return true
}

func (k *Kernel) respond(r request, content any) {
	kind, ok := strings.CutSuffix(r.kind, "_request")
	if !ok {
		return
	}
	k.say("status", r.header, map[string]string{"execution_state": "busy"})
	if failed, ok := content.(map[string]any); ok && r.kind == "execute_request" {
		k.say("error", r.header, failed)
		k.mu.Lock()
		failed["execution_count"] = k.count // front ends rely on it
		k.mu.Unlock()
	}
	m := answer(kind+"_reply", r.header, content)
	if r.kind == "execute_request" {
		m.metadata = encode(map[string]string{"started": m.Header.Date})
	}
	r.from.reply(r.identity, k.key.frames(m))
	k.say("status", r.header, map[string]string{"execution_state": "idle"})
}

// follow learns from a message of GoNB what GoNB is working on. about and parent are the header of
// the request that the message belongs to, parsed and as JSON. state is busy or idle, or empty if
// the message is not a status. follow reports whether the request was given up, so that nobody waits
// for the message.
func (k *Kernel) follow(about header, state string, parent []byte) (tooLate bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	tooLate = about.ID == k.givenUp && k.givenUp != ""
	if state == "" {
		return tooLate
	}
	isCell, busy := about.Type == "execute_request", state == "busy"
	switch {
	case isCell:
		k.parent = parent
	case busy:
		g := k.child
		time.AfterFunc(k.answerTime, func() { k.giveUp(about.ID, g) })
	case tooLate:
		k.givenUp = ""
	}
	return tooLate
}

// giveUp answers a request that GoNB has not answered.
func (k *Kernel) giveUp(id string, g *child) {
	k.mu.Lock()
	r := k.requests[id]
	if r != nil {
		delete(k.requests, id)
		k.givenUp = id
		time.AfterFunc(k.hangTime, func() { k.endHangInTime(id, g) })
	}
	k.mu.Unlock()
	if r != nil {
		k.respond(*r, failure("GoNB has not answered in time; if cells do not run either, an interrupt restarts it"))
	}
}

// endHangInTime ends a GoNB that still works on a given-up request. While a tool of GoNB runs, it
// waits, because a download may take long.
func (k *Kernel) endHangInTime(id string, g *child) {
	now, _ := g.look()
	if len(now.tools) == 0 {
		k.endHang(id, g)
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.givenUp == id {
		time.AfterFunc(k.hangTime, func() { k.endHangInTime(id, g) })
	}
}

// endHang ends a GoNB that still works on a given-up request.
func (k *Kernel) endHang(id string, g *child) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.givenUp == id && id != "" {
		g.kill()
	}
}

// shutDown makes sure that GoNB ends after a request to shut down.
func (k *Kernel) shutDown() {
	k.options.Stop()
	k.gonb.RLock()
	g := k.child
	k.gonb.RUnlock()
	select {
	case <-g.ended:
	case <-time.After(stopTime):
		g.kill()
	}
}

// mostSeen is the minimum number of messages that a history remembers, the same as in Jupyter's own
// kernels.
const mostSeen = 1 << 16

// history remembers the signatures of the last messages, so that an eavesdropper cannot replay a
// message.
type history struct {
	mu           sync.Mutex
	older, newer map[signature]struct{}
}

// add remembers a signature, and refuses one that it already knows.
func (h *history) add(s signature) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	_, before := h.older[s]
	_, lately := h.newer[s]
	if before || lately {
		return errors.New("it is a repetition")
	}
	if len(h.newer) >= mostSeen || h.newer == nil {
		h.older, h.newer = h.newer, map[signature]struct{}{}
	}
	h.newer[s] = struct{}{}
	return nil
}
