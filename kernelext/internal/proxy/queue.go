//go:build unix

package proxy

import "sync"

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

// put adds a message and reports whether there was room. An empty queue has
// room for any message.
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

// size is what a message weighs in a queue.
func size(frames [][]byte) int {
	n := 0
	for _, f := range frames {
		n += len(f) + frameCost
	}
	return n
}
