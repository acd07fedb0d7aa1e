//go:build unix

package proxy

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/go-zeromq/zmq4"
	"github.com/go-zeromq/zmq4/security/null"
)

// Limits on what a peer may send, in bytes.
const (
	largestOutput   = 256 << 20                    // for a message from GoNB
	largestMessage  = 128 << 20                    // for a message from a front end
	largestTopic    = 1 << 10                      // for a topic of a subscription
	largestNote     = 1 + largestTopic + frameCost // for a subscription and for a heartbeat
	largestGreeting = 4 << 10                      // for the command of the handshake
	frameCost       = 64                           // added to the length of each frame
)

// handshakeTime is how long a peer may take for its handshake.
const handshakeTime = 10 * time.Second

// Flags of a ZMTP frame.
const (
	frameMore = 1 << iota
	frameLong
	frameCommand
)

// errLarge is the error of a message beyond the limits.
var errLarge = errors.New("a message is too large")

// wire is a connection that speaks ZMTP 3.0 without encryption. zmq4 makes the handshake and sends. receive reads the messages
// after the handshake, because zmq4 would allocate as much memory as a peer announces.
type wire struct {
	net.Conn
	in      *bufio.Reader
	out     *bufio.Writer
	most    uint64                // maximum bytes of a message
	claim   func(bytes int) error // allows memory for a frame, or is nil for a trusted peer
	zmq     *zmq4.Conn            // nil during the handshake
	left    uint64                // unread bytes of the handshake's current frame, with its header
	chosen  string                // identity that the peer has chosen, usually empty
	sending sync.Mutex
}

func newWire(c net.Conn, most uint64) *wire {
	const greeting = 64
	return &wire{Conn: c, most: most, left: greeting, in: bufio.NewReader(c), out: bufio.NewWriterSize(c, 1<<15)}
}

// open performs the handshake of a socket of a kind, and closes the connection if that fails.
func (w *wire) open(kind, identity string) (err error) {
	defer func() {
		if panicked := recover(); panicked != nil { // some malformed metadata make zmq4 panic
			err = fmt.Errorf("malformed metadata: %v", panicked)
		}
		if err != nil {
			w.Close()
		}
	}()
	if err := w.SetDeadline(time.Now().Add(handshakeTime)); err != nil {
		return err
	}
	of := zmq4.SocketType(kind)
	serves := of == zmq4.Router || of == zmq4.Pub || of == zmq4.Rep
	conn, err := zmq4.Open(w, null.Security(), of, zmq4.SocketIdentity(identity), serves, nil)
	if err != nil {
		return err
	}
	w.zmq, w.chosen = conn, conn.Peer.Meta["Identity"]
	return w.SetDeadline(time.Time{})
}

// Read reads bytes of the handshake.
func (w *wire) Read(p []byte) (int, error) {
	if w.left == 0 {
		header, size, err := w.next(largestGreeting)
		if err != nil {
			return 0, err
		}
		w.left = uint64(len(header)) + size
	}
	n, err := w.in.Read(p[:min(uint64(len(p)), w.left)])
	w.left -= uint64(n)
	return n, err
}

func (w *wire) Write(p []byte) (int, error) {
	n, err := w.out.Write(p)
	if err == nil && w.zmq == nil {
		err = w.out.Flush()
	}
	return n, err
}

// next returns the header of the next frame, which stays unread, and the length of the frame. It refuses a frame beyond
// most bytes.
func (w *wire) next(most uint64) (header []byte, size uint64, err error) {
	if header, err = w.in.Peek(2); err != nil {
		return nil, 0, err
	}
	size = uint64(header[1])
	if header[0]&frameLong != 0 {
		if header, err = w.in.Peek(9); err != nil {
			return nil, 0, err
		}
		size = binary.BigEndian.Uint64(header[1:])
	}
	if size > most || size+frameCost > most {
		return nil, 0, fmt.Errorf("%w: it has more than %d bytes", errLarge, most)
	}
	return header, size, nil
}

// receive returns the next message.
func (w *wire) receive() (frames [][]byte, err error) {
	left := w.most
	for more := true; more; {
		header, size, err := w.next(left)
		if err != nil {
			return nil, err
		}
		more = header[0]&frameMore != 0
		if header[0]&frameCommand != 0 {
			return nil, errors.New("the peer sent a ZMTP command after the handshake")
		}
		if w.claim != nil {
			if err := w.claim(int(size) + frameCost); err != nil {
				return nil, err
			}
		}
		if _, err := w.in.Discard(len(header)); err != nil {
			return nil, err
		}
		frame := make([]byte, size)
		if _, err := io.ReadFull(w.in, frame); err != nil {
			return nil, err
		}
		left -= size + frameCost
		frames = append(frames, frame)
	}
	return frames, nil
}

func (w *wire) send(frames [][]byte) error {
	w.sending.Lock()
	defer w.sending.Unlock()
	if err := w.zmq.SendMsg(zmq4.NewMsgFrom(frames...)); err != nil {
		return err
	}
	return w.out.Flush()
}
