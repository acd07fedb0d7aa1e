//go:build unix

package proxy

import (
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/go-zeromq/zmq4"
	"github.com/go-zeromq/zmq4/security/null"
)

// handshakeTime is how long a peer may take to say what it is.
const handshakeTime = 10 * time.Second

// wire is one ZeroMQ connection.
type wire struct {
	net     *limited
	conn    *zmq4.Conn
	sending sync.Mutex
}

// open greets the peer at the other end of c, as a server or as a client, and
// closes c if that fails.
func open(c net.Conn, kind zmq4.SocketType, identity string, server bool) (w *wire, err error) {
	defer func() {
		err = malformed(recover(), err)
		if err != nil {
			c.Close()
		}
	}()
	w = &wire{net: limit(c)}
	if err := c.SetDeadline(time.Now().Add(handshakeTime)); err != nil {
		return nil, err
	}
	w.conn, err = zmq4.Open(w.net, null.Security(), kind, zmq4.SocketIdentity(identity), server, nil)
	if err != nil {
		return nil, err
	}
	w.net.commands = false
	return w, c.SetDeadline(time.Time{})
}

// malformed turns a panic of zmq4, which some malformed metadata cause, into
// an error.
func malformed(panicked any, err error) error {
	if panicked != nil {
		return fmt.Errorf("malformed message: %v", panicked)
	}
	return err
}

// peerIdentity is the identity that the peer gave itself, empty for most.
func (w *wire) peerIdentity() string { return w.conn.Peer.Meta["Identity"] }

func (w *wire) send(frames [][]byte) error {
	w.sending.Lock()
	defer w.sending.Unlock()
	if err := w.conn.SendMsg(zmq4.NewMsgFrom(frames...)); err != nil {
		return err
	}
	return w.net.out.Flush()
}

func (w *wire) receive() (frames [][]byte, err error) {
	defer func() { err = malformed(recover(), err) }()
	m, err := w.conn.RecvMsg()
	return m.Frames, err
}

func (w *wire) close() { w.conn.Close() }
