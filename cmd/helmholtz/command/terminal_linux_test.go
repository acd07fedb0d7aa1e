package command

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// onTerminal runs a command with a terminal for its standard error, and returns what stands there.
func onTerminal(t *testing.T, args ...string) (code int, shown string) {
	t.Helper()
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer screen.Close()
	fd := int(screen.Fd())
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	tty, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	ended := make(chan error)
	go func() { _, err := io.Copy(&b, screen); ended <- err }()
	code = run(t.Context(), args, io.Discard, tty)
	tty.Close()
	<-ended // reading a terminal that nobody has open is an error
	return code, b.String()
}

// On a terminal, training ends with the command to type next, which works. Logs and pipes do not have it.
func TestTrainingSaysWhatIsNext(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a run")
	train := []string{"train", "--dataset", "3by3", "--subset", "64", "--layers", "2", "--epochs", "1", "--out", dir}
	code, shown := onTerminal(t, train...)
	next := "next: helmholtz report '" + dir + "' describes it on a page"
	if code != 0 || !strings.Contains(shown, next) {
		t.Errorf("exit status %d, want %q on\n%s", code, next, shown)
	}
	if code, _, errs := helmholtz(t, t.Context(), "report", dir, "--samples", "2", "--rows", "2", "--log-z2", "10"); code != 0 {
		t.Errorf("the report ends with %d: %s", code, errs)
	}
	if code, _, errs := helmholtz(t, t.Context(), append(train[:len(train)-1], dir+"2")...); code != 0 || strings.Contains(errs, "next:") {
		t.Errorf("exit status %d, and a log with\n%s", code, errs)
	}
}
