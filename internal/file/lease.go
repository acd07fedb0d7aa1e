package file

import (
	"cmp"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	mathrand "math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// A lease is a file that says which machine holds a directory, for machines that share
// a file system whose locks may be of one machine alone. Its holder writes it anew
// every beat; who sees the same one for as long as it lasts may take its place. Clocks
// of different machines are not compared.
type lease struct {
	Holder string `json:"holder"` // a random text
	Host   string `json:"host"`   // name of the machine
	System string `json:"system"` // of the machine since it was started, whose locks its programs share
	Beat   int    `json:"beat"`
}

// LeaseFile is the name of the lease in a directory.
const LeaseFile = ".lease"

// How often a lease is written anew, and how long one that is not lasts.
const (
	leaseBeat  = 15 * time.Second
	leaseLasts = 60 * time.Second
)

// LeasedError is the error of a directory that a program on another machine holds, or
// held when that machine stopped.
type LeasedError struct {
	Host  string
	Alive bool          // whether it has been seen to be renewed
	Left  time.Duration // in which it must be, or it is void
}

func (e *LeasedError) Error() string {
	if e.Alive {
		return "held by a program on " + e.Host
	}
	return fmt.Sprintf("held by a program on %s, unless that ends without a sign of life within %s", e.Host, e.Left.Round(time.Second))
}

func (e *LeasedError) Unwrap() error { return ErrLocked }

// leases are those of other machines that this program has seen.
var leases = &watch{now: time.Now, seen: map[string]sighting{}}

// watch remembers since when leases are as they are.
type watch struct {
	sync.Mutex
	now  func() time.Time
	seen map[string]sighting // by the directory
}

type sighting struct {
	lease
	since time.Time
	alive bool // another beat of its holder has been seen before
}

// look returns nil where a lease is void.
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

// thisSystem names the machine since it was started.
var thisSystem = sync.OnceValue(func() string {
	if id, err := os.ReadFile("/proc/sys/kernel/random/boot_id"); err == nil {
		return strings.TrimSpace(string(id))
	}
	name, _ := os.Hostname()
	return name
})

// newLease is one of this program.
func newLease() lease {
	host, _ := os.Hostname()
	return lease{Holder: rand.Text(), Host: host, System: thisSystem()}
}

// readLease reads the lease that a file holds, fs.ErrNotExist if there is none. One that
// is not written yet, or was cut short, is that of nobody known.
func readLease(root *os.Root, name string) (lease, error) {
	var l lease
	f, err := root.OpenFile(name, os.O_RDONLY|nonblocking, 0) // a pipe holds nobody up
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

// create writes the lease where there is none, else fs.ErrExist: all of it at once, but
// on file systems on which a file cannot have two names.
func (l lease) create(root *os.Root) error {
	aside, text, err := l.writeAside(root)
	if err != nil {
		return err
	}
	err = root.Link(aside, LeaseFile)
	_ = root.Remove(aside) // where it stays, it is a leftover
	if !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, noSecondName) {
		return err
	}
	f, err := root.OpenFile(LeaseFile, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err != nil {
		_ = root.Remove(LeaseFile) // what went wrong first is what is said
	}
	return err
}

// noSecondName is the error of file systems on which a file cannot have two names: EPERM on Unix,
// ERROR_INVALID_FUNCTION on Windows.
const noSecondName = syscall.Errno(1)

// writeAside writes the lease into a file of a name that nobody else has.
func (l lease) writeAside(root *os.Root) (aside string, text []byte, err error) {
	if text, err = json.Marshal(l); err != nil {
		return "", nil, err
	}
	aside = leaseAside()
	if err := root.WriteFile(aside, text, 0o644); err != nil {
		_ = root.Remove(aside) // what went wrong first is what is said
		return "", nil, err
	}
	return aside, text, nil
}

func leaseAside() string {
	return LeaseFile + "." + strconv.FormatUint(mathrand.Uint64(), 10) + temporary
}

// take makes the lease that of a directory, whose path names it to the watch. A lease of
// the same system is void, as who asks holds the lock.
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
	// Of several that see it void one renames it. Who comes late may have renamed the
	// lease of the one that was first, and puts it back.
	aside := leaseAside()
	if err := root.Rename(LeaseFile, aside); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return ErrLocked
		}
		return err
	}
	defer root.Remove(aside)
	renamed, err := readLease(root, aside)
	if err != nil {
		_ = root.Link(aside, LeaseFile)
		return errors.Join(err, ErrLocked)
	}
	if renamed != there { // who has taken it, or renewed it, meanwhile has it
		_ = renamed.create(root)
		return ErrLocked
	}
	if err = l.create(root); errors.Is(err, fs.ErrExist) {
		return ErrLocked
	}
	return err
}

// mine refuses a directory whose lease is no longer that of its holder.
func (l lease) mine(root *os.Root) error {
	there, err := readLease(root, LeaseFile)
	if err == nil && there.Holder != l.Holder {
		err = ErrLost
	}
	return err
}

// renew writes the lease with another beat.
func (l *lease) renew(root *os.Root) error {
	if err := l.mine(root); err != nil {
		return err
	}
	l.Beat++
	aside, _, err := l.writeAside(root)
	if err != nil {
		return err
	}
	if err := root.Rename(aside, LeaseFile); err != nil {
		_ = root.Remove(aside) // what went wrong first is what is said
		return err
	}
	return nil
}

// leased is the lease of a directory that is held, and what renews it.
type leased struct {
	lease
	stop  chan struct{}
	ended sync.WaitGroup
}

// newLeased takes the lease of a held directory.
func newLeased(h *Held) (*leased, error) {
	l := &leased{lease: newLease(), stop: make(chan struct{})}
	if err := l.take(h.root, filepath.Clean(h.path), leases); err != nil {
		return nil, err
	}
	l.ended.Go(func() {
		// A lease that could not be renewed may be the next time; one that was lost is
		// noticed by who writes.
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

// end gives the lease up.
func (l *leased) end(root *os.Root) {
	close(l.stop)
	l.ended.Wait()
	if l.mine(root) == nil {
		_ = root.Remove(LeaseFile) // where it stays, it lapses
	}
}

// Leased returns the error of a directory that a program on another machine holds, nil
// if none does.
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
