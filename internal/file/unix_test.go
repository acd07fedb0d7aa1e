//go:build unix

package file

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/helmholtz-go/helmholtz/internal/names"
	"golang.org/x/sys/unix"
)

func TestPipeIsNotReplaced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := WriteAside(path, []byte("x")); err == nil || !strings.Contains(err.Error(), path+": there is a pipe") {
		t.Errorf("where a pipe lies a file is written with the error %v", err)
	}
}

// A pipe that nobody writes into holds up neither who looks nor who would hold: it is no
// lock.
func TestPipeIsNoLock(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, lock)
	if err := syscall.Mkfifo(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if Locked(dir, lock) {
		t.Error("a pipe is locked")
	}
	if _, err := Hold(dir, lock); err == nil || !strings.Contains(err.Error(), path+" is a pipe") {
		t.Errorf("held by a pipe, it ends with %v", err)
	}
}

// TestReleaseFreesAtOnce has the lock's file open a second time, as a program has that is
// just being started.
func TestReleaseFreesAtOnce(t *testing.T) {
	dir := t.TempDir()
	h := mustHold(t, dir)
	inherited, err := syscall.Dup(int(h.lock.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(inherited)
	h.Release()
	if Locked(dir, lock) {
		t.Error("a directory that was released is locked")
	}
	mustHold(t, dir).Release()
}

// terminal is a buffer that passes for a terminal with a number of columns.
type terminal struct {
	bytes.Buffer
	*os.File
}

func (t *terminal) Write(b []byte) (int, error) { return t.Buffer.Write(b) }

// A line of progress is never as wide as the terminal, which would break it and leave a copy at each step. The bar
// gives way to the text, of which what fits is shown.
func TestBarFitsTheTerminal(t *testing.T) {
	tty, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer tty.Close()
	for columns, bar := range map[uint16]bool{12: false, 40: false, 70: true, 200: true} {
		if err := unix.IoctlSetWinsize(int(tty.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 20, Col: columns}); err != nil {
			t.Fatal(err)
		}
		for _, done := range []float64{0, 0.5, 1} {
			w := &terminal{File: tty}
			(&Bar{W: w, Start: time.Now()}).Draw("epoch 3/20  log p̃* -90.125", "(1/9) ", done)
			line := strings.TrimPrefix(w.Buffer.String(), "\r")
			if width := names.Width(line); width != int(columns)-1 {
				t.Errorf("%d columns, %g done: the line has %d: %q", columns, done, width, line)
			}
			if strings.Contains(line, "|") != bar || !strings.Contains(line, map[float64]string{0: "  0%", 0.5: " 50%", 1: "100%"}[done]) {
				t.Errorf("%d columns, %g done: %q", columns, done, line)
			}
		}
	}
}
