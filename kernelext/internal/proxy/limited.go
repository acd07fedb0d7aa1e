//go:build unix

package proxy

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync/atomic"
	"time"
)

// Limits on what a peer may send, in bytes.
const (
	largestOutput   = 256 << 20                    // for a message from GoNB
	largestMessage  = 128 << 20                    // for a message from a front end
	largestTopic    = 1 << 10                      // for a topic of a subscription
	largestNote     = 1 + largestTopic + frameCost // for a subscription and for a heartbeat
	largestGreeting = 4 << 10                      // for each message of the handshake
	frameCost       = 64                           // added to the length of each frame
	greetingLength  = 64
)

// Flags of a ZMTP frame.
const (
	frameMore = 1 << iota
	frameLong
	frameCommand
)

// errLarge is the error of a message beyond the limits.
var errLarge = errors.New("a message is too large")

// limited is a connection that refuses messages beyond the limits before they are read, and that
// buffers writes until they are flushed. zmq4 reads only the handshake. receive reads the later
// messages, because zmq4 would allocate as much memory as a peer announces.
type limited struct {
	net.Conn
	in       *bufio.Reader
	out      *bufio.Writer
	commands bool         // set during the handshake; ZMTP 3.0 has no commands after it
	most     uint64       // maximum bytes of a message after the handshake
	left     uint64       // unread bytes of the current handshake frame, with its header
	message  uint64       // bytes of the message so far
	last     atomic.Int64 // when the peer last sent or received something, in nanoseconds since 1970
}

func limit(c net.Conn, most uint64) *limited {
	l := &limited{Conn: c, commands: true, most: most, left: greetingLength}
	l.in, l.out = bufio.NewReader(noted{l}), bufio.NewWriterSize(noted{l}, 1<<15)
	l.last.Store(time.Now().UnixNano())
	return l
}

// noted is a connection that records when its peer sends or receives something.
type noted struct{ *limited }

func (n noted) Read(p []byte) (int, error) { return n.note(n.Conn.Read(p)) }

func (n noted) Write(p []byte) (int, error) { return n.note(n.Conn.Write(p)) }

func (n noted) note(bytes int, err error) (int, error) {
	if bytes > 0 {
		n.last.Store(time.Now().UnixNano())
	}
	return bytes, err
}

// receive returns the next message. It allocates a frame only after claim has allowed it.
func (l *limited) receive(claim func(bytes int) error) (frames [][]byte, err error) {
	for more := true; more; {
		header, size, err := l.nextFrame()
		if err != nil {
			return nil, err
		}
		more = header[0]&frameMore != 0
		if err := claim(int(size) + frameCost); err != nil {
			return nil, err
		}
		if _, err := l.in.Discard(len(header)); err != nil {
			return nil, err
		}
		frame := make([]byte, size)
		if _, err := io.ReadFull(l.in, frame); err != nil {
			return nil, err
		}
		frames = append(frames, frame)
	}
	return frames, nil
}

// Read reads bytes of the handshake.
func (l *limited) Read(p []byte) (int, error) {
	if l.left == 0 {
		header, size, err := l.nextFrame()
		if err != nil {
			return 0, err
		}
		l.left = uint64(len(header)) + size
	}
	n, err := l.in.Read(p[:min(uint64(len(p)), l.left)])
	l.left -= uint64(n)
	return n, err
}

// nextFrame returns the header of the next frame, which stays unread, and the length of the
// frame.
func (l *limited) nextFrame() (header []byte, size uint64, err error) {
	if header, err = l.in.Peek(2); err != nil {
		return nil, 0, err
	}
	flags, size := header[0], uint64(header[1])
	if flags&frameLong != 0 {
		if header, err = l.in.Peek(9); err != nil {
			return nil, 0, err
		}
		size = binary.BigEndian.Uint64(header[1:])
	}
	most := l.most
	switch {
	case l.commands:
		most = largestGreeting
	case flags&frameCommand != 0:
		return nil, 0, errors.New("the peer sent a ZMTP command after the handshake")
	}
	if size > most || l.message+size+frameCost > most {
		return nil, 0, fmt.Errorf("%w: it has more than %d bytes", errLarge, most)
	}
	l.message += size + frameCost
	if flags&frameMore == 0 {
		l.message = 0
	}
	return header, size, nil
}

func (l *limited) Write(p []byte) (int, error) {
	n, err := l.out.Write(p)
	if err == nil && l.commands {
		err = l.out.Flush()
	}
	return n, err
}
