//go:build unix

package proxy

import (
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
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

// request is a message of a front end on the shell or control socket, as GoNB gets it.
type request struct {
	*message
	identity string    // of the front end
	from     *endpoint // socket of the request and of its reply
	cell     *cell     // nil unless this is a request on the shell socket to run a cell
	answer   any       // content of the kernel's own answer, or nil if GoNB is asked
}

// forwarded are the requests that GoNB answers.
var forwarded = map[string]bool{
	"kernel_info_request": true, "execute_request": true, "complete_request": true, "inspect_request": true,
	"interrupt_request": true, "shutdown_request": true,
}

// request handles a message from a front end on the shell or control socket.
func (k *Kernel) request(p *peer, frames [][]byte, from *endpoint) {
	k.gonb.RLock()
	defer k.gonb.RUnlock()
	m := k.accept(p, frames)
	if m == nil {
		return
	}
	r := &request{message: m, identity: p.identity, from: from}
	switch k.decide(r); {
	case r.answer != nil && r.cell == nil:
		k.respond(r, r.answer)
		return
	case r.cell != nil && m.Header.Subshell != "":
		select {
		case k.queueOf(m.Header.Subshell) <- r:
			return
		default:
		}
		fallthrough
	case !k.expect(r):
		k.respond(r, failure("too many requests wait: send this one again when cells have ended"))
		return
	case m.Header.Type == "shutdown_request":
		go k.shutDown()
	case m.Header.Type == "interrupt_request":
		go k.interrupt()
	case from == k.shell && forwarded[m.Header.Type]:
		k.order.Lock()
		defer k.order.Unlock()
		k.turns = append(k.turns, r)
		k.takeTurns(k.child)
		return
	}
	to := k.child.shell
	if from == k.control {
		to = k.child.control
	}
	k.forward(to, m)
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
	p.show(proven)
	m.identities = append([][]byte{[]byte(p.identity)}, m.identities...)
	return m
}

// decide sets the kernel's own answer to a request, which includes the requests that GoNB 0.11.4 cannot handle:
// requests that GoNB never answers, and code at which it exits or hangs. It edits the requests that GoNB answers.
func (k *Kernel) decide(r *request) {
	kind := r.Header.Type
	if err := r.check(); err != nil {
		log.Printf("helmholtz kernel: refused a message: %v", err)
		r.answer = failure(err.Error())
		return
	}
	inSubshell := r.Header.Subshell != "" && r.from == k.shell
	if inSubshell && k.queueOf(r.Header.Subshell) == nil {
		r.answer = noSubshell(r.Header.Subshell)
		return
	}
	switch kind {
	case "create_subshell_request", "delete_subshell_request", "list_subshell_request":
		r.answer = k.subshell(r)
	case "is_complete_request":
		r.answer = read(r.text("code")).completeness()
	case "history_request":
		r.answer = map[string]any{"status": "ok", "history": []any{}}
	case "comm_info_request":
		r.answer = map[string]any{"status": "ok", "comms": struct{}{}}
	case "execute_request":
		s := read(r.text("code"))
		if r.from == k.shell {
			r.cell = newCell(r.fields)
			if r.cell.magics, s.code = s.magics(); r.cell.magics != nil {
				r.set("code", s.code)
				s = read(s.code)
			} else {
				r.cell.end(nil)
			}
		}
		if inSubshell && strings.TrimSpace(s.code) != "" {
			r.cell, r.answer = nil, failure("a subshell runs only %hm lines, because GoNB runs one cell at a time: run this cell without a subshell")
		} else if s.deadly > 0 {
			r.answer = failure(fmt.Sprintf("line %d is a command without a name: add the name, or remove the line; %%help lists the commands", s.deadly))
		}
	case "complete_request", "inspect_request":
		s, cursor := read(r.text("code")), r.number("cursor_pos")
		before := s.until(cursor)
		line := before[strings.LastIndexByte(before, '\n')+1:]
		rest, isMagic := magicLine(line)
		at, row, found := cursor, strings.Count(before, "\n"), true
		switch {
		case kind == "inspect_request" && isMagic:
			r.answer = map[string]any{"status": "ok", "found": true, "metadata": struct{}{}, "data": map[string]string{"text/plain": k.options.Magics.Inspect(rest)}}
		case isMagic:
			word := ""
			if fields := strings.Fields(rest); len(fields) > 0 && !strings.HasSuffix(line, " ") {
				word = fields[len(fields)-1]
			} else if rest != "" {
				rest += " "
			}
			end := utf8.RuneCountInString(before)
			r.answer = completions(k.options.Magics.Complete(rest), end-utf8.RuneCountInString(word), end)
		case kind == "complete_request" && s.deadly > 0:
			r.answer = completions(nil, cursor, cursor)
		case kind == "inspect_request":
			at, row, found = s.identifier(cursor)
		}
		if r.answer == nil && inSubshell && k.busy() { // GoNB answers only between cells
			r.answer = map[string]any{"complete_request": completions(nil, cursor, cursor), "inspect_request": notFound}[kind]
		}
		if !found || s.deadly > 0 && r.answer == nil {
			r.answer = notFound
		}
		if r.answer == nil {
			if at != cursor {
				r.set("cursor_pos", at)
			}
			if code := s.legible(row); code != s.code {
				r.set("code", code)
			}
		}
	default:
		if strings.HasSuffix(kind, "_request") && !forwarded[kind] {
			r.answer = failure(kind + ": this kernel does not support it")
		}
	}
}

func completions(matches []string, start, end int) any {
	return map[string]any{"status": "ok", "matches": append([]string{}, matches...), "metadata": struct{}{}, "cursor_start": start, "cursor_end": end}
}

// mostCode is how many bytes a cell may have. GoNB and Go's tools take minutes for larger ones.
const mostCode = 4 << 20

type field struct {
	name    string
	kind    any // a value of the type that the field must have
	missing any // default for a missing field; nil if the field must be present
}

func (f field) holds(value json.RawMessage) bool {
	var v any
	return json.Unmarshal(value, &v) == nil && reflect.TypeOf(v) == reflect.TypeOf(f.kind)
}

var fields = map[string][]field{
	"execute_request":     {{"code", "", nil}, {"silent", false, false}, {"store_history", true, true}, {"allow_stdin", true, false}},
	"complete_request":    {{"code", "", nil}, {"cursor_pos", 0., nil}},
	"inspect_request":     {{"code", "", nil}, {"cursor_pos", 0., nil}, {"detail_level", 0., 0}},
	"shutdown_request":    {{"restart", false, false}},
	"input_reply":         {{"value", "", nil}},
	"is_complete_request": {{"code", "", ""}},
}

// check refuses a message that would make GoNB exit, and adds required fields that front ends may
// omit.
func (m *message) check() error {
	for _, part := range []struct {
		name string
		json []byte
		as   any
	}{{"parent header", m.parent, new(header)}, {"metadata", m.metadata, new(map[string]json.RawMessage)}, {"content", m.content, &m.fields}} {
		if err := json.Unmarshal(part.json, part.as); err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
	}
	required, ok := fields[m.Header.Type]
	if !ok {
		return nil
	}
	if m.fields == nil {
		return fmt.Errorf("%s without content", m.Header.Type)
	}
	edited := false
	for _, f := range required {
		value, ok := m.fields[f.name]
		if f.name == "code" && len(value) > mostCode {
			return fmt.Errorf("the cell has %d bytes, more than the limit of %d for the Go compiler: write data to a file, and read the file in the cell", len(value), mostCode)
		}
		if !ok && f.missing != nil {
			m.fields[f.name], edited = encode(f.missing), true
		} else if !f.holds(value) {
			return fmt.Errorf("%s: %s is %.40q, not a %T", m.Header.Type, f.name, value, f.kind)
		}
	}
	if edited {
		m.content = encode(m.fields)
	}
	return nil
}

// takeTurns passes requests to GoNB until GoNB has a cell to run. GoNB itself would run the cells
// behind a failed one. The caller holds k.order.
func (k *Kernel) takeTurns(g *child) {
	for k.ahead == nil && len(k.turns) > 0 {
		next := k.turns[0]
		k.turns = k.turns[1:]
		if next.answer != nil {
			k.withdraw(next, next.answer)
			k.stop(next)
			continue
		}
		if next.cell != nil {
			k.ahead = next
			k.mu.Lock()
			next.cell.started = now()
			k.mu.Unlock()
		}
		k.forward(g.shell, next.message)
	}
}

// endTurn passes on the reply to a cell, and takes the next turns. It locks k.order first.
// Otherwise, if the cell failed, a cell that a front end sends after this reply could be skipped.
func (k *Kernel) endTurn(g *child, cell string, failed bool, pass func()) {
	k.order.Lock()
	defer k.order.Unlock()
	pass()
	if k.ahead == nil || k.ahead.Header.ID != cell {
		return
	}
	if failed {
		k.stop(k.ahead)
	}
	k.ahead = nil
	k.takeTurns(g)
}

// stop answers the cells that wait behind a failed one, unless it says that they shall run. The caller holds k.order.
func (k *Kernel) stop(behind *request) {
	if string(behind.fields["stop_on_error"]) == "false" {
		return
	}
	k.turns = slices.DeleteFunc(k.turns, func(r *request) bool {
		if r.cell != nil {
			k.withdraw(r, map[string]string{"status": "aborted"})
		}
		return r.cell != nil
	})
}

// withdraw answers a request that was not passed to GoNB.
func (k *Kernel) withdraw(r *request, content any) {
	k.mu.Lock()
	delete(k.requests, r.Header.ID)
	k.mu.Unlock()
	k.respond(r, content)
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
func (k *Kernel) expect(r *request) bool {
	if !forwarded[r.Header.Type] {
		return true // a comm message has no reply
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	ends := r.Header.Type == "shutdown_request"
	if len(k.requests) >= mostRequests && !ends && r.Header.Type != "interrupt_request" {
		return false
	}
	k.requests[r.Header.ID] = r
	k.ends = k.ends || ends
	return true
}

func (k *Kernel) respond(r *request, content any) {
	kind, ok := strings.CutSuffix(r.Header.Type, "_request")
	if !ok {
		return
	}
	k.say("status", r.header, map[string]string{"execution_state": "busy"})
	k.conclude(r, kind, content)
}

// conclude ends a request that is shown as running.
func (k *Kernel) conclude(r *request, kind string, content any) {
	isCell := kind == "execute"
	if failed, ok := content.(map[string]any); ok && failed["status"] == "error" && isCell {
		k.say("error", r.header, failed)
		k.mu.Lock()
		failed["execution_count"] = k.count // front ends rely on it
		k.mu.Unlock()
	}
	m := answer(kind+"_reply", r.header, content)
	if isCell {
		m.metadata = encode(map[string]string{"started": m.Header.Date})
	}
	r.from.reply(r.identity, k.key.frames(m))
	k.say("status", r.header, map[string]string{"execution_state": "idle"})
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
		k.respond(r, failure("GoNB has not answered in time; if cells do not run either, an interrupt restarts it"))
	}
}

// endHangInTime ends a GoNB that still works on a given-up request. While a tool of GoNB runs, it
// waits, because a download may take long.
func (k *Kernel) endHangInTime(id string, g *child) {
	now, _ := g.look()
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case k.givenUp != id:
	case len(now.tools) == 0:
		g.kill()
	default:
		time.AfterFunc(k.hangTime, func() { k.endHangInTime(id, g) })
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
