//go:build unix

package proxy

import (
	"bytes"
	"encoding/binary"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// greeting is how a ZMTP 3.0 peer begins, ready the command that follows.
var greeting = append(append([]byte{0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0x7f, 3, 0}, "NULL"...), make([]byte, 48)...)

func ready(properties string) []byte {
	body := "\x05READY" + properties
	return append([]byte{frameCommand, byte(len(body))}, body...)
}

const dealer = "\x0bSocket-Type\x00\x00\x00\x06DEALER"

// announce is the header of a long frame.
func announce(size uint64) []byte {
	return binary.BigEndian.AppendUint64([]byte{frameLong}, size)
}

func join(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

// nonsense is what a peer may not send.
var nonsense = [][]byte{
	[]byte("GET / HTTP/1.0\r\n\r\n" + strings.Repeat("x", 100)),
	make([]byte, 200),
	join(greeting, []byte{frameCommand, 0}),
	join(greeting, []byte{frameCommand | frameLong, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}),
	join(greeting, []byte("\x04\x05\xffREAD")),
	join(greeting, ready("\xff")),
	join(greeting, ready("\x03abc\xff\xff\xff\xff")),
	join(greeting, ready("\x0bSocket-Type\x00\x00\x00\x03XXX")),
	join(greeting, ready(dealer), announce(1<<62)),
	join(greeting, ready(dealer), announce(1<<63+1)),
	join(greeting, ready(dealer), announce(largestMessage+1)),
	join(greeting, ready(dealer), bytes.Repeat([]byte{frameMore, 0}, largestMessage/frameCost+1)),
	join(greeting, ready(dealer), []byte("\x04\x05\x04PING")),
}

func socket(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "endpoint-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return filepath.Join(dir, "s")
}

func TestNonsenseEndsItsConnectionAlone(t *testing.T) {
	path := socket(t)
	e, err := newFront().listen("unix", path, "ROUTER", func(p *peer, f [][]byte) { p.queue.put(f, mostWaiting) })
	if err != nil {
		t.Fatal(err)
	}
	defer e.close()
	for i, sent := range nonsense {
		c, err := net.Dial("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
			t.Fatal(err)
		}
		go func() { _, _ = c.Write(sent) }()
		// All that comes back is the greeting and the command, then the end.
		var got []byte
		for b := make([]byte, 1024); ; {
			n, err := c.Read(b)
			got = append(got, b[:n]...)
			if err, ok := err.(net.Error); ok && err.Timeout() {
				t.Fatalf("nonsense %d: the connection stays", i)
			}
			if err != nil {
				break
			}
		}
		if len(got) > 200 {
			t.Errorf("nonsense %d was answered: %q", i, got)
		}
		c.Close()
	}
	c, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	w := newWire(c, largestOutput)
	if err := w.open("DEALER", ""); err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if err := w.send([][]byte{[]byte("echo"), {}}); err != nil {
		t.Fatal(err)
	}
	if f, err := w.receive(); err != nil || len(f) != 2 || string(f[0]) != "echo" {
		t.Errorf("received %q: %v", f, err)
	}
}

func FuzzConnection(f *testing.F) {
	for _, b := range nonsense {
		f.Add(b[:min(len(b), 300)])
	}
	f.Add(join(greeting, ready(dealer), []byte("\x01\x01a\x00\x01b")))
	f.Fuzz(func(t *testing.T, sent []byte) {
		ours, theirs := net.Pipe()
		go func() {
			_, _ = theirs.Write(sent)
			theirs.Close()
		}()
		go func() {
			for b := make([]byte, 256); ; {
				if _, err := theirs.Read(b); err != nil {
					return
				}
			}
		}()
		w := newWire(ours, largestOutput)
		for err := w.open("ROUTER", ""); err == nil; {
			_, err = w.receive()
		}
	})
}

func TestAClientThatDoesNotReadHoldsUpNobody(t *testing.T) {
	path := socket(t)
	e, err := newFront().listen("unix", path, "PUB", (*peer).subscribe)
	if err != nil {
		t.Fatal(err)
	}
	defer e.close()
	e.missed = func(messages, _ int) [][]byte { return [][]byte{[]byte("news"), {byte(messages)}} }
	subscribe := func() *wire {
		c, err := net.Dial("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		w := newWire(c, largestOutput)
		if err := w.open("SUB", ""); err != nil {
			t.Fatal(err)
		}
		if err := w.send([][]byte{append([]byte{1}, "news"...)}); err != nil {
			t.Fatal(err)
		}
		return w
	}
	reads, sleeps := subscribe(), subscribe()
	defer reads.Close()
	defer sleeps.Close()
	for subscribed := 0; subscribed < 2; {
		subscribed = 0
		for _, p := range e.all() {
			if p.subscribed("news") {
				subscribed++
			}
		}
	}
	big := make([]byte, 8<<20)
	for i := range 32 { // four times what may wait
		e.broadcast([][]byte{[]byte("old"), {byte(i)}}, true)
		e.broadcast([][]byte{[]byte("news of today"), {byte(i)}, big}, true)
		f, err := reads.receive()
		if err != nil || len(f) != 3 || f[1][0] != byte(i) {
			t.Fatalf("message %d: %d frames, %v", i, len(f), err)
		}
	}
	for _, p := range e.all() {
		p.queue.mu.Lock()
		if p.queue.bytes > mostWaiting {
			t.Errorf("%d bytes wait for a client", p.queue.bytes)
		}
		p.queue.mu.Unlock()
	}
}

func TestQueue(t *testing.T) {
	taken := make(chan [][]byte)
	q := queue{send: func(frames [][]byte) error {
		taken <- frames
		return nil
	}}
	m := [][]byte{make([]byte, 100)}
	waiting := func() int {
		q.mu.Lock()
		defer q.mu.Unlock()
		return len(q.messages)
	}
	for i := range 3 { // the second message waits behind the first, which is being sent
		if put := q.put(m, 50); put != (i < 2) {
			t.Errorf("message %d has room: %v", i, put)
		}
		within(t, patience, "the first message is being sent", func() bool { return waiting() == min(i, 1) })
	}
	if got := <-taken; len(got) != 1 {
		t.Error("nothing is sent")
	}
	within(t, patience, "the second message is being sent", func() bool { return waiting() == 0 })
	if !q.put(m, 50) {
		t.Error("a queue that was emptied has no room")
	}
	go func() {
		<-taken
		<-taken
	}()
	q.drain()
	q.close()
	if q.put(m, 500) {
		t.Error("a closed queue goes on")
	}
	q.drain()
}
