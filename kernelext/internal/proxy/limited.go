//go:build unix

package proxy

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
)

// Limits of what a peer may send, since zmq4 makes room for as much as the
// peer announces.
const (
	largestMessage  = 256 << 20 // bytes
	largestGreeting = 4 << 10   // bytes of each message of the handshake
	frameCost       = 64        // bytes that a frame counts more than its length
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

// limited is a connection that refuses messages beyond the limits before they
// are read, and that gathers what is written until it is flushed.
type limited struct {
	net.Conn
	in  *bufio.Reader
	out *bufio.Writer
	// commands says that the handshake is under way. ZMTP 3.0 has no commands
	// after it.
	commands bool
	left     uint64 // bytes left of the frame that is being read, its header included
	message  uint64 // bytes of the message so far
}

func limit(c net.Conn) *limited {
	return &limited{Conn: c, in: bufio.NewReader(c), out: bufio.NewWriterSize(c, 1<<15), commands: true, left: greetingLength}
}

func (l *limited) Read(p []byte) (int, error) {
	if l.left == 0 {
		if err := l.nextFrame(); err != nil {
			return 0, err
		}
	}
	n, err := l.in.Read(p[:min(uint64(len(p)), l.left)])
	l.left -= uint64(n)
	return n, err
}

// nextFrame looks at the header of the next frame.
func (l *limited) nextFrame() error {
	header, err := l.in.Peek(2)
	if err != nil {
		return err
	}
	flags, length, size := header[0], 2, uint64(header[1])
	if flags&frameLong != 0 {
		length = 9
		if header, err = l.in.Peek(length); err != nil {
			return err
		}
		size = binary.BigEndian.Uint64(header[1:])
	}
	most := uint64(largestMessage)
	switch {
	case l.commands:
		most = largestGreeting
	case flags&frameCommand != 0:
		return errors.New("a ZMTP command after the handshake")
	}
	if size > most || l.message+size+frameCost > most {
		return fmt.Errorf("%w: of more than %d bytes", errLarge, most)
	}
	l.message += size + frameCost
	if flags&frameMore == 0 {
		l.message = 0
	}
	l.left = uint64(length) + size
	return nil
}

func (l *limited) Write(p []byte) (int, error) {
	n, err := l.out.Write(p)
	if err == nil && l.commands {
		err = l.out.Flush()
	}
	return n, err
}
