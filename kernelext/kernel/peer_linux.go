package kernel

import (
	"net"
	"os"
	"syscall"
)

// sameUser reports whether the process at the other end belongs to the user of this process, as the
// system recorded when it connected.
func sameUser(c *net.UnixConn) bool {
	raw, err := c.SyscallConn()
	if err != nil {
		return false
	}
	same := false
	err = raw.Control(func(socket uintptr) {
		peer, err := syscall.GetsockoptUcred(int(socket), syscall.SOL_SOCKET, syscall.SO_PEERCRED)
		same = err == nil && int(peer.Uid) == os.Geteuid()
	})
	return err == nil && same
}
