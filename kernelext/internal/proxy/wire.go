//go:build unix

package proxy

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"time"
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

// partners are the kinds of sockets that a kind of socket may talk to.
var partners = map[string][]string{
	"ROUTER": {"DEALER", "REQ", "ROUTER"}, "DEALER": {"ROUTER", "REP", "DEALER"}, "REQ": {"REP", "ROUTER"}, "REP": {"REQ", "DEALER"},
	"PUB": {"SUB", "XSUB"}, "SUB": {"PUB", "XPUB"},
}

// errLarge is the error of a message beyond the limits.
var errLarge = errors.New("a message is too large")

// wire is a connection that speaks ZMTP 3.0 without encryption, https://rfc.zeromq.org/spec/23/.
type wire struct {
	net.Conn
	in      *bufio.Reader
	out     *bufio.Writer
	most    uint64                // maximum bytes of a message
	claim   func(bytes int) error // allows memory for a frame, or is nil for a trusted peer
	chosen  string                // identity that the peer has chosen, usually empty
	sending sync.Mutex
}

func newWire(c net.Conn, most uint64) *wire {
	return &wire{Conn: c, most: most, in: bufio.NewReader(c), out: bufio.NewWriterSize(c, 1<<15)}
}

// open performs the handshake of a socket of a kind, and closes the connection if that fails.
func (w *wire) open(kind, identity string) error {
	err := errors.Join(w.SetDeadline(time.Now().Add(handshakeTime)), w.handshake(kind, identity), w.SetDeadline(time.Time{}))
	if err != nil {
		w.Close()
	}
	return err
}

func (w *wire) handshake(kind, identity string) error {
	const length, version, mechanism, end = 64, 10, 12, 32
	ours, theirs := make([]byte, length), make([]byte, length)
	copy(ours, "\xff\x00\x00\x00\x00\x00\x00\x00\x00\x7f\x03\x00NULL")
	_, _ = w.out.Write(ours)
	if err := w.out.Flush(); err != nil {
		return err
	}
	if _, err := io.ReadFull(w.in, theirs); err != nil {
		return err
	}
	if theirs[0] != ours[0] || theirs[9] != ours[9] || theirs[version] < ours[version] || string(theirs[mechanism:end]) != string(ours[mechanism:end]) {
		return errors.New("the peer does not speak ZMTP 3 without encryption")
	}
	const ready = "\x05READY"
	properties := []byte(ready)
	for _, p := range [][2]string{{"Socket-Type", kind}, {"Identity", identity}} {
		properties = append(append(properties, byte(len(p[0]))), p[0]...)
		properties = append(binary.BigEndian.AppendUint32(properties, uint32(len(p[1]))), p[1]...)
	}
	w.write(frameCommand, properties)
	if err := w.out.Flush(); err != nil {
		return err
	}
	flags, body, err := w.read(largestGreeting, nil)
	if err != nil {
		return err
	}
	rest, isReady := strings.CutPrefix(string(body), ready)
	if flags&frameCommand == 0 || !isReady {
		return errors.New("the peer does not send the command READY")
	}
	theirKind := ""
	for rest != "" {
		name := 1 + int(rest[0])
		value := name + 4
		if len(rest) < value || uint64(len(rest)-value) < uint64(binary.BigEndian.Uint32([]byte(rest[name:]))) {
			return errors.New("the metadata of the peer end too early")
		}
		end := value + int(binary.BigEndian.Uint32([]byte(rest[name:])))
		switch strings.ToLower(rest[1:name]) {
		case "socket-type":
			theirKind = rest[value:end]
		case "identity":
			w.chosen = rest[value:end]
		}
		rest = rest[end:]
	}
	if !slices.Contains(partners[kind], theirKind) {
		return fmt.Errorf("the peer is a socket %.20q, which does not talk to %s", theirKind, kind)
	}
	return nil
}

// read returns the flags and the bytes of the next frame. It refuses a frame beyond most bytes, and one that claim
// refuses, before it allocates the memory.
func (w *wire) read(most uint64, claim func(bytes int) error) (flags byte, body []byte, err error) {
	header, err := w.in.Peek(2)
	if err != nil {
		return 0, nil, err
	}
	size := uint64(header[1])
	if header[0]&frameLong != 0 {
		if header, err = w.in.Peek(9); err != nil {
			return 0, nil, err
		}
		size = binary.BigEndian.Uint64(header[1:])
	}
	flags = header[0]
	if size > most || size+frameCost > most {
		return 0, nil, fmt.Errorf("%w: it has more than %d bytes", errLarge, w.most)
	}
	if claim != nil {
		err = claim(int(size) + frameCost)
	}
	if err == nil {
		_, err = w.in.Discard(len(header))
	}
	if err == nil {
		body = make([]byte, size)
		_, err = io.ReadFull(w.in, body)
	}
	return flags, body, err
}

// receive returns the next message.
func (w *wire) receive() (frames [][]byte, err error) {
	left := w.most
	for more := true; more; {
		flags, body, err := w.read(left, w.claim)
		if err == nil && flags&frameCommand != 0 {
			err = errors.New("the peer sent a ZMTP command after the handshake")
		}
		if err != nil {
			return nil, err
		}
		left -= uint64(len(body)) + frameCost
		frames, more = append(frames, body), flags&frameMore != 0
	}
	return frames, nil
}

// write writes a frame to the buffer, which remembers an error until it is flushed.
func (w *wire) write(flags byte, body []byte) {
	if len(body) < 256 {
		_, _ = w.out.Write([]byte{flags, byte(len(body))})
	} else {
		_, _ = w.out.Write(binary.BigEndian.AppendUint64([]byte{flags | frameLong}, uint64(len(body))))
	}
	_, _ = w.out.Write(body)
}

func (w *wire) send(frames [][]byte) error {
	w.sending.Lock()
	defer w.sending.Unlock()
	for i, f := range frames {
		flags := byte(frameMore)
		if i == len(frames)-1 {
			flags = 0
		}
		w.write(flags, f)
	}
	return w.out.Flush()
}
