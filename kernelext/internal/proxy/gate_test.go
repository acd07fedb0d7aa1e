//go:build unix

package proxy

import (
	"fmt"
	"io"
	"net"
	"testing"
	"time"
)

// reach connects to a port of a kernel as anybody on the machine can, and says hello as a client
// of a kind, or nothing if it is empty.
func reach(t *testing.T, c connection, port int, kind string, then ...[]byte) net.Conn {
	t.Helper()
	network, address := c.address(port)
	connected, err := net.Dial(network, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { connected.Close() })
	if kind == "" {
		return connected
	}
	hello := ready(fmt.Sprintf("\x0bSocket-Type\x00\x00\x00%c%s", len(kind), kind))
	_, _ = connected.Write(join(greeting, hello, join(then...))) // the kernel may hang up before it has all
	return connected
}

// closed reports whether the other end closes a connection in time.
func closed(t *testing.T, c net.Conn, inTime time.Duration) bool {
	t.Helper()
	if err := c.SetReadDeadline(time.Now().Add(inTime)); err != nil {
		t.Fatal(err)
	}
	_, err := io.Copy(io.Discard, c)
	timeout, ok := err.(net.Error)
	return !ok || !timeout.Timeout()
}

// Of 20 strangers who announce a message of 100 MB each, and send only its beginning, one stays; a front end that has the key is served all the while.
func TestStrangersShareOneBudget(t *testing.T) {
	k := startKernel(t)
	c := k.connect(t)
	held := func() int {
		k.front.mu.Lock()
		defer k.front.mu.Unlock()
		return k.front.held()
	}
	const announced = 100 << 20
	const number = 20
	strangers, gone := map[int]net.Conn{}, make(chan int, number)
	for i := range number {
		strangers[i] = reach(t, k.connection, k.Shell, "DEALER", announce(announced), make([]byte, 1000))
		go func(c net.Conn) {
			_, _ = io.Copy(io.Discard, c)
			gone <- i
		}(strangers[i])
	}
	for range number - 1 {
		select {
		case i := <-gone:
			delete(strangers, i)
		case <-time.After(patience):
			t.Fatalf("%d strangers keep what they sent", len(strangers))
		}
	}
	if n := held(); n < announced || n > mostUnverified {
		t.Errorf("%d bytes are held", n)
	}
	if out := c.execute("hello"); out != "[hello]hello" {
		t.Errorf("a cell prints %q", out)
	}
	for _, last := range strangers {
		last.Close()
	}
	within(t, patience, "what the last one sent is forgotten", func() bool { return held() == 0 })
}

// 300 clients of each socket that say nothing, and 300 that only say hello, keep no new front
// end out, and cost the one that is there none of its connections.
func TestIdleClientsLockOutNobody(t *testing.T) {
	k := startKernel(t)
	clients := []*client{k.connect(t)}
	kinds := map[int]string{k.Shell: "DEALER", k.Control: "DEALER", k.Stdin: "DEALER", k.IOPub: "SUB", k.Heartbeat: "REQ"}
	for port, kind := range kinds {
		for range 300 {
			reach(t, k.connection, port, "")
			reach(t, k.connection, port, kind)
		}
	}
	clients = append(clients, k.connect(t))
	for _, c := range clients {
		id := c.request(c.shell, "execute_request", code("ask"))
		c.receive(c.stdin, "input_request")
		c.request(c.stdin, "input_reply", map[string]string{"value": "yes"})
		if _, text := c.outputs(id); text != "[ask]yes" {
			t.Errorf("a question is answered by %q", text)
		}
		c.request(c.control, "interrupt_request", struct{}{})
		c.receive(c.control, "interrupt_reply")
	}
}

// Topics are short.
func TestTopicsAreShort(t *testing.T) {
	k := startKernel(t)
	subscribe := func(length int) net.Conn {
		return reach(t, k.connection, k.IOPub, "SUB", announce(uint64(1+length)), []byte{1}, make([]byte, length))
	}
	short, long := subscribe(largestTopic), subscribe(largestTopic+1)
	if !closed(t, long, patience) {
		t.Error("a client may subscribe to a topic that is longer")
	}
	within(t, patience, "the short topic is subscribed to", func() bool {
		all := k.iopub.all()
		return len(all) == 1 && all[0].subscribed(string(make([]byte, largestTopic)))
	})
	short.Close()
}
