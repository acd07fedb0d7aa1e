package file

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// elsewhere is a program on a machine of its own, with a clock that is set by hand.
type elsewhere struct {
	lease
	watch
	root *os.Root
}

func newElsewhere(t *testing.T, dir, name string, clock func() time.Time) *elsewhere {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	e := &elsewhere{lease: newLease(), watch: watch{now: clock, seen: map[string]sighting{}}, root: root}
	e.Host, e.System = name, name
	return e
}

func (e *elsewhere) try() error { return e.take(e.root, "dir", &e.watch) }

func TestLeases(t *testing.T) {
	dir := t.TempDir()
	now := time.Now()
	clock := func() time.Time { return now }
	a, b := newElsewhere(t, dir, "a", clock), newElsewhere(t, dir, "b", clock)
	if err := a.try(); err != nil {
		t.Fatal(err)
	}
	refused := func(alive bool) {
		t.Helper()
		var leased *LeasedError
		if err := b.try(); !errors.As(err, &leased) || !errors.Is(err, ErrLocked) || leased.Host != "a" || leased.Alive != alive {
			t.Fatalf("a lease of a is refused to b with %v, alive: %v", err, !alive)
		}
	}
	refused(false)
	now = now.Add(leaseLasts - time.Second)
	refused(false)
	if err := a.renew(a.root); err != nil {
		t.Fatal(err)
	}
	refused(true)
	now = now.Add(leaseLasts - time.Second)
	refused(true)
	now = now.Add(2 * time.Second)
	if err := b.try(); err != nil {
		t.Fatalf("a lease that was not renewed is not void: %v", err)
	}
	if err := a.renew(a.root); !errors.Is(err, ErrLost) {
		t.Errorf("a lease that another has taken is renewed: %v", err)
	}
	if err := b.mine(b.root); err != nil {
		t.Error(err)
	}
}

// TestOneHoldsALease has programs on several machines take, renew, lose and give up the
// lease of one directory in any order.
func TestOneHoldsALease(t *testing.T) {
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 1))
		dir, now := t.TempDir(), time.Now()
		var all []*elsewhere
		for i := range 4 {
			all = append(all, newElsewhere(t, dir, fmt.Sprint(i), func() time.Time { return now }))
		}
		holds, taken := map[*elsewhere]bool{}, 0
		for range 300 {
			e := all[r.IntN(len(all))]
			switch action := r.IntN(10); {
			case action < 4 && !holds[e]:
				e.lease.Holder = newLease().Holder // started anew
				if e.try() == nil {
					holds[e] = true
					taken++
				}
			case action < 6 && holds[e]:
				holds[e] = e.renew(e.root) == nil
			case action == 6:
				holds[e] = false // killed, or without a way to the file system
			case action == 7 && holds[e] && e.mine(e.root) == nil:
				holds[e] = false
				if err := e.root.Remove(LeaseFile); err != nil {
					t.Fatal(err)
				}
			default:
				now = now.Add(time.Duration(r.IntN(30)) * time.Second)
			}
			holders := 0
			for e, believes := range holds {
				if believes && e.mine(e.root) == nil {
					holders++
				}
			}
			if holders > 1 {
				t.Fatalf("seed %d: %d programs hold one lease", seed, holders)
			}
		}
		if taken < 3 {
			t.Errorf("seed %d: the lease was taken %d times", seed, taken)
		}
	}
}

// TestOneTakesAVoidLease has many take a void lease at the same time.
func TestOneTakesAVoidLease(t *testing.T) {
	for range 50 {
		dir, now := t.TempDir(), time.Now()
		gone := newElsewhere(t, dir, "gone", time.Now)
		if err := gone.try(); err != nil {
			t.Fatal(err)
		}
		var all []*elsewhere
		for i := range 8 {
			e := newElsewhere(t, dir, fmt.Sprint(i), func() time.Time { return now })
			e.try() // sees it
			all = append(all, e)
		}
		now = now.Add(2 * leaseLasts)
		var group sync.WaitGroup
		for _, e := range all {
			group.Go(func() { e.try() })
		}
		group.Wait()
		holders := 0
		for _, e := range append(all, gone) {
			if e.mine(e.root) == nil {
				holders++
			}
		}
		if holders > 1 {
			t.Fatalf("%d hold a void lease that all took at once", holders)
		}
		now = now.Add(2 * leaseLasts)
		for _, e := range all { // whoever sees what is left, sees it void in time
			e.try()
			now = now.Add(2 * leaseLasts)
			if e.try() == nil && e.mine(e.root) != nil {
				t.Fatal("who took a void lease does not hold it")
			}
		}
	}
}

func TestHoldShared(t *testing.T) {
	dir := t.TempDir()
	h, err := HoldShared(dir, lock)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := HoldShared(dir, lock); !errors.Is(err, ErrLocked) {
		t.Errorf("a directory is held twice: %v", err)
	}
	if err := h.WriteAside("f", nil); err != nil {
		t.Fatal(err)
	}
	if held := Leased(dir); held != nil {
		t.Errorf("this machine takes its own lease for another's: %v", held)
	}
	other := newElsewhere(t, dir, "other", time.Now)
	if err := other.root.Remove(LeaseFile); err != nil {
		t.Fatal(err)
	}
	if err := other.try(); err != nil {
		t.Fatal(err)
	}
	if err := h.WriteAside("f", nil); !errors.Is(err, ErrLost) {
		t.Errorf("a directory that another machine has taken over is written into: %v", err)
	}
	h.Release()
	if held := Leased(dir); held == nil || held.Host != "other" {
		t.Errorf("the lease of another machine is not left as it is: %v", held)
	}
	if _, err := HoldShared(dir, lock); !errors.Is(err, ErrLocked) {
		t.Errorf("a directory is held that another machine holds: %v", err)
	}
}

// TestLeaseOfThisMachine is void as soon as its program is gone: the lock says so.
func TestLeaseOfThisMachine(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, LeaseFile), []byte(`{"holder":"killed","system":"`+thisSystem()+`"}`), 0o644); err != nil {
		t.Fatal(err)
	}
	h, err := HoldShared(dir, lock)
	if err != nil {
		t.Fatal(err)
	}
	h.Release()
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("released, the directory holds %v, %v", entries, err)
	}
}
