package dataset

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	files "github.com/helmholtz-go/helmholtz/internal/file"
)

// patience describes how long a download waits for a server, and how often it asks.
type patience struct {
	stall    time.Duration // the longest time without a byte before an attempt ends
	pause    time.Duration // before the second attempt; it doubles before each later one
	attempts int
}

// usual suits slow connections, and servers that pause now and then.
var usual = patience{stall: time.Minute, pause: time.Second, attempts: 5}

type download struct {
	file
	patience
	address, target string
	progress        func(done int64)
	part            *os.File // holds the bytes that have arrived
	done            int64    // number of bytes in part
}

func partName(target string) string {
	return filepath.Join(filepath.Dir(target), "."+filepath.Base(target)+".part")
}

// fetch downloads the file into the folder of its target, verifies it and renames it to the target. It resumes an
// earlier, unfinished download.
func (d *download) fetch(ctx context.Context) (err error) {
	name := partName(d.target)
	held, err := files.Hold(filepath.Dir(name), filepath.Base(name))
	switch {
	case err == nil:
		defer held.Release()
	case errors.Is(err, files.ErrLocked), errors.Is(err, files.ErrLost):
		return fmt.Errorf("another program is fetching %s: wait for it", d.target)
	case !errors.Is(err, files.ErrNoLocks): // without locks, the checksum reveals that two programs wrote the file
		return err
	}
	if d.part, err = os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644); err != nil {
		return err
	}
	defer d.part.Close()
	if d.done, err = d.part.Seek(0, io.SeekEnd); err != nil {
		return err
	}
	left := d.done > 0
	older, _ := filepath.Glob(filepath.Join(filepath.Dir(name), ".download-*")) // left by earlier versions, which did not resume
	for _, path := range older {
		os.Remove(path)
	}
	sum, err := d.transfer(ctx)
	if err == nil && sum != d.sha256 && left {
		// The earlier download may have been of another file.
		if err = d.restart(); err == nil {
			sum, err = d.transfer(ctx)
		}
	}
	if err != nil {
		if d.done == 0 {
			os.Remove(name)
		}
		return err
	}
	if sum != d.sha256 {
		os.Remove(name)
		return fmt.Errorf("%s sent %d bytes with SHA-256 %s, not %d with SHA-256 %s: try again, or put the file at %s",
			d.address, d.done, sum, d.size, d.sha256, d.target)
	}
	if err := errors.Join(d.part.Chmod(0o644), d.part.Sync()); err != nil {
		return err
	}
	return os.Rename(name, d.target)
}

func (d *download) restart() error {
	d.done = 0
	if err := d.part.Truncate(0); err != nil {
		return err
	}
	_, err := d.part.Seek(0, io.SeekStart)
	return err
}

// transfer receives the missing bytes, in at most d.attempts attempts, and returns the SHA-256 of the whole file.
func (d *download) transfer(ctx context.Context) (sum string, err error) {
	pause := d.pause
	for attempt := 1; d.done < d.size; attempt++ {
		again, err := d.attempt(ctx)
		if err == nil {
			break
		}
		if err := ctx.Err(); err != nil {
			return "", err
		}
		if !again || attempt >= d.attempts {
			return "", err
		}
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-time.After(pause):
		}
		pause *= 2
	}
	h := sha256.New()
	if _, err := d.part.Seek(0, io.SeekStart); err != nil {
		return "", err
	}
	_, err = io.Copy(h, d.part)
	return hex.EncodeToString(h.Sum(nil)), err
}
