//go:build unix

package proxy

import (
	"crypto/rand"
	"fmt"
	"maps"
	"slices"
)

// A subshell (JEP 91) runs the magics of its cells while GoNB runs another cell. The Go of its cells is refused.

// subshell answers a request to create, delete or list subshells.
func (k *Kernel) subshell(r *request) any {
	k.mu.Lock()
	defer k.mu.Unlock()
	id := r.text("subshell_id")
	queue, known := k.subshells[id]
	switch {
	case r.from != k.control:
		return failure(r.Header.Type + ": send it on the control socket")
	case r.Header.Type == "list_subshell_request":
		return map[string]any{"status": "ok", "subshell_id": append([]string{}, slices.Sorted(maps.Keys(k.subshells))...)}
	case r.Header.Type == "create_subshell_request":
		id, queue = rand.Text(), make(chan *request, mostRequests)
		k.subshells[id] = queue
		go func() {
			for r := <-queue; r != nil; r = <-queue {
				k.runInSubshell(r)
			}
		}()
		return map[string]any{"status": "ok", "subshell_id": id}
	case !known:
		return noSubshell(id)
	}
	delete(k.subshells, id)
	go func() { queue <- nil }() // behind the cells that wait
	return map[string]any{"status": "ok"}
}

func noSubshell(id string) any {
	return failure(fmt.Sprintf("there is no subshell %q: create_subshell_request creates one", id))
}

// queueOf returns the queue of a subshell, or nil if there is no such subshell.
func (k *Kernel) queueOf(id string) chan<- *request {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.subshells[id]
}

// busy reports whether GoNB has a cell.
func (k *Kernel) busy() bool {
	k.order.Lock()
	defer k.order.Unlock()
	return k.ahead != nil
}

func (k *Kernel) runInSubshell(r *request) {
	k.say("status", r.header, map[string]string{"execution_state": "busy"})
	k.mu.Lock()
	before, count := k.parent, k.count
	k.parent = r.header // displays of the magics belong to this cell
	k.mu.Unlock()
	if !r.cell.silent {
		k.say("execute_input", r.header, map[string]any{"code": r.cell.code, "execution_count": count})
	}
	content := map[string]any{"status": "ok", "execution_count": count, "user_expressions": struct{}{}}
	if err := k.runMagics(r.cell, r.header); err != nil {
		content = failure(err.Error())
	}
	k.mu.Lock()
	if &k.parent[0] == &r.header[0] {
		k.parent = before
	}
	k.mu.Unlock()
	k.conclude(r, "execute", content)
}
