//go:build unix

package kernel

import "net"

// ownUser is a listener on a unix socket that hangs up on processes of other users.
type ownUser struct{ *net.UnixListener }

// Accept returns the next connection of the same user.
func (l ownUser) Accept() (net.Conn, error) {
	for {
		c, err := l.AcceptUnix()
		if err != nil {
			return nil, err
		}
		if sameUser(c) {
			return c, nil
		}
		c.Close()
	}
}
