package kernel

import (
	"crypto/rand"
	"io"
	"net"
	"os"
	"runtime"
	"syscall"
	"testing"
)

// TestOtherUsersAreHungUpOn connects as another user to a socket that no
// directory protects, which an abstract one is.
func TestOtherUsersAreHungUpOn(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can be another user")
	}
	address := &net.UnixAddr{Name: "@helmholtz-" + rand.Text(), Net: "unix"}
	l, err := net.ListenUnix("unix", address)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			c, err := ownUser{l}.Accept()
			if err != nil {
				return
			}
			_, _ = io.WriteString(c, "welcome")
			c.Close()
		}
	}()
	const nobody = 65534
	for user, want := range map[int]string{0: "welcome", nobody: ""} {
		var c net.Conn
		as(t, user, func() { c, err = net.DialUnix("unix", nil, address) })
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if got, _ := io.ReadAll(c); string(got) != want {
			t.Errorf("user %d hears %q, not %q", user, got, want)
		}
	}
}

// as calls f with the effective user of this thread changed.
func as(t *testing.T, user int, f func()) {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	become := func(user int) {
		const unchanged = ^uintptr(0)
		if _, _, errno := syscall.RawSyscall(syscall.SYS_SETRESUID, unchanged, uintptr(user), unchanged); errno != 0 {
			t.Skipf("cannot be user %d: %v", user, errno)
		}
	}
	become(user)
	defer become(0)
	f()
}
