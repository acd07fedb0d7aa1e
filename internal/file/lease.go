package file

import (
	"cmp"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// A lease is a file that names the machine that holds a directory, for machines that share a file
// system whose locks may be local to each machine. The holder rewrites it at every beat; a program
// that sees no change for the duration of a lease may take it over. Clocks of different machines
// are never compared.
type lease struct {
	Holder string `json:"holder"` // random text that identifies the holder
	Host   string `json:"host"`   // name of the machine
	System string `json:"system"` // identifies the machine and its boot; its programs share locks
	Beat   int    `json:"beat"`
}

// LeaseFile is the name of the lease in a directory.
const LeaseFile = ".lease"

// leaseBeat is how often a lease is renewed, and leaseLasts how long it is valid without renewal.
const (
	leaseBeat  = 15 * time.Second
	leaseLasts = 60 * time.Second
)

// LeasedError is the error for a directory that a program on another machine holds, or held when
// that machine stopped.
type LeasedError struct {
	Host  string
	Alive bool          // whether a renewal has been observed
	Left  time.Duration // time until the lease expires without renewal
}

func (e *LeasedError) Error() string {
	if e.Alive {
		return "held by a program on " + e.Host
	}
	return fmt.Sprintf("held by a program on %s, until %s pass without a sign of life", e.Host, e.Left.Round(time.Second))
}

func (e *LeasedError) Unwrap() error { return ErrLocked }

// leases are the leases of other machines that this program has seen.
var leases = &watch{now: time.Now, seen: map[string]sighting{}}

// watch remembers since when each lease has been unchanged.
type watch struct {
	sync.Mutex
	now  func() time.Time
	seen map[string]sighting // by directory
}

type sighting struct {
	lease
	since time.Time
	alive bool // an earlier beat of the same holder has been seen
}

// look returns nil if a lease has expired, that is, if this program has seen no change in it for
// leaseLasts.
func (w *watch) look(path string, l lease) *LeasedError {
	w.Lock()
	defer w.Unlock()
	s, known := w.seen[path]
	if !known || s.lease != l {
		s = sighting{l, w.now(), known && s.Holder == l.Holder}
		w.seen[path] = s
	}
	left := leaseLasts - w.now().Sub(s.since)
	if left <= 0 {
		return nil
	}
	return &LeasedError{Host: cmp.Or(l.Host, "another machine"), Alive: s.alive, Left: left}
}

// thisSystem identifies this machine and its boot.
var thisSystem = sync.OnceValue(func() string {
	if id, err := os.ReadFile("/proc/sys/kernel/random/boot_id"); err == nil {
		return strings.TrimSpace(string(id))
	}
	name, _ := os.Hostname()
	return name
})

func newLease() lease {
	host, _ := os.Hostname()
	return lease{Holder: rand.Text(), Host: host, System: thisSystem()}
}

// readLease reads the lease in a file, or returns fs.ErrNotExist if there is none. The holder of an
// incomplete lease is unknown.
func readLease(root *os.Root, name string) (lease, error) {
	var l lease
	f, err := root.OpenFile(name, os.O_RDONLY|nonblocking, 0) // do not block on a pipe
	if err != nil {
		return l, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, 4096))
	if err != nil {
		return l, err
	}
	if json.Unmarshal(text, &l) != nil {
		return lease{Holder: string(text)}, nil
	}
	return l, nil
}

// create writes the lease if there is none, and otherwise returns fs.ErrExist. The write is atomic,
// except on file systems without hard links.
func (l lease) create(root *os.Root) error {
	aside, text, err := l.writeAside(root)
	if err != nil {
		return err
	}
	err = link(root, aside, LeaseFile)
	_ = unlink(root, aside) // if it stays, it is a leftover
	if !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, noSecondName) {
		return err
	}
	f, err := create(root, LeaseFile)
	if err != nil {
		return err
	}
	if err = errors.Join(write(f, text), f.Close()); err != nil {
		_ = unlink(root, LeaseFile) // report the first error
	}
	return err
}

// noSecondName is the error of file systems without hard links: EPERM on Unix,
// ERROR_INVALID_FUNCTION on Windows.
const noSecondName = syscall.Errno(1)

// writeAside writes the lease into a file with a unique name.
func (l lease) writeAside(root *os.Root) (aside string, text []byte, err error) {
	if text, err = json.Marshal(l); err != nil {
		return "", nil, err
	}
	aside = asideOf(LeaseFile)
	f, err := create(root, aside)
	if err == nil {
		err = errors.Join(write(f, text), f.Close())
	}
	if err != nil {
		_ = unlink(root, aside) // report the first error
		return "", nil, err
	}
	return aside, text, nil
}

// take makes l the lease of a directory, whose path identifies it in the watch. An existing lease of
// the same system is void, because the caller holds the lock.
func (l lease) take(root *os.Root, path string, w *watch) error {
	err := l.create(root)
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	there, err := readLease(root, LeaseFile)
	if errors.Is(err, fs.ErrNotExist) {
		return l.create(root)
	}
	if err != nil {
		return err
	}
	if there.System != l.System {
		if held := w.look(path, there); held != nil {
			return held
		}
	}
	// Only one of several programs that see an expired lease renames it. A late program may rename
	// the new lease of the first one instead, and then puts it back.
	aside := asideOf(LeaseFile)
	if err := move(root, LeaseFile, aside); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return ErrLocked
		}
		return err
	}
	defer func() { _ = unlink(root, aside) }() // if it stays, it is a leftover
	renamed, err := readLease(root, aside)
	if err != nil {
		_ = link(root, aside, LeaseFile)
		return errors.Join(err, ErrLocked)
	}
	if renamed != there { // a program that has taken or renewed it meanwhile keeps it
		_ = renamed.create(root)
		return ErrLocked
	}
	if err = l.create(root); errors.Is(err, fs.ErrExist) {
		return ErrLocked
	}
	return err
}

// mine refuses a directory whose lease no longer belongs to its holder.
func (l lease) mine(root *os.Root) error {
	there, err := readLease(root, LeaseFile)
	if err == nil && there.Holder != l.Holder {
		err = ErrLost
	}
	return err
}

func (l *lease) renew(root *os.Root) error {
	if err := l.mine(root); err != nil {
		return err
	}
	l.Beat++
	aside, _, err := l.writeAside(root)
	if err != nil {
		return err
	}
	if err := move(root, aside, LeaseFile); err != nil {
		_ = unlink(root, aside) // report the first error
		return err
	}
	return nil
}

type leased struct {
	lease
	stop  chan struct{}
	ended sync.WaitGroup
}

func newLeased(h *Held) (*leased, error) {
	l := &leased{lease: newLease(), stop: make(chan struct{})}
	if err := l.take(h.root, filepath.Clean(h.path), leases); err != nil {
		return nil, err
	}
	l.ended.Go(func() {
		// A failed renewal may succeed at the next beat; writers notice a lost lease.
		renewing := l.lease
		beats := time.NewTicker(leaseBeat)
		defer beats.Stop()
		for {
			select {
			case <-l.stop:
				return
			case <-beats.C:
				_ = renewing.renew(h.root)
			}
		}
	})
	return l, nil
}

func (l *leased) end(root *os.Root) {
	close(l.stop)
	l.ended.Wait()
	if l.mine(root) == nil {
		_ = unlink(root, LeaseFile) // if it stays, it expires
	}
}

// Leased returns the error for a directory that a program on another machine holds, or nil.
func Leased(path string) *LeasedError {
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil
	}
	defer root.Close()
	there, err := readLease(root, LeaseFile)
	if err != nil || there.System == thisSystem() {
		return nil
	}
	return leases.look(filepath.Clean(path), there)
}
