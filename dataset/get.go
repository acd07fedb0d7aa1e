package dataset

import (
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	files "github.com/helmholtz-go/helmholtz/internal/file"
)

// Get downloads the files of a named set from the addresses that publish them, into the first of Folders that
// is writable, and checks their SHA-256. A file appears under its name only once it is complete and verified.
// Until then, the received bytes are kept next to it under another name, and the next call resumes there. Files
// that are present and verified are kept; sets without files need no download.
//
// If progress is not nil, Get calls it as bytes arrive, with the path of the file and the numbers of bytes
// received and expected.
func Get(ctx context.Context, name string, progress func(file string, done, total int64)) error {
	c, ok := find(name)
	if !ok {
		return noSet(name)
	}
	if progress == nil {
		progress = func(string, int64, int64) {}
	}
	if err := c.get(ctx, usual, progress); err != nil {
		return fmt.Errorf("data set %s: %w", name, err)
	}
	return nil
}

func (c collection) get(ctx context.Context, p patience, progress func(file string, done, total int64)) error {
	if c.address == "" {
		return c.notOffered()
	}
	for _, f := range c.files {
		present, err := c.locate(f)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if present != "" {
			if valid, err := f.verify(present); err != nil {
				return err
			} else if valid {
				continue
			}
		}
		folder, err := c.writableFolder()
		if err != nil {
			return err
		}
		target := filepath.Join(folder, f.name)
		if present != "" && present != target {
			return fmt.Errorf("%s differs from the published file, and would be read instead of %s: remove it", present, target)
		}
		d := download{file: f, address: c.address + "/" + f.name, target: target, patience: p,
			progress: func(done int64) { progress(target, done, f.size) }}
		if err := d.fetch(ctx); err != nil {
			return err
		}
	}
	return nil
}

// notOffered returns an error that names the missing files, which the user must provide, or nil if none is
// missing.
func (c collection) notOffered() error {
	var wanted []string
	for _, f := range c.files {
		_, err := c.locate(f)
		if missing, is := errors.AsType[*missingError](err); is {
			wanted = append(wanted, missing.paths[0])
		} else if err != nil {
			return err
		}
	}
	if len(wanted) == 0 {
		return nil
	}
	return fmt.Errorf("its files are not offered for download in this layout; put %s, compressed or not, at %s",
		c.content, strings.Join(wanted, ", "))
}

// writableFolder creates the folder for the set's files in the first of Folders that is writable, and returns
// its path.
func (c collection) writableFolder() (string, error) {
	folders, err := Folders()
	if err != nil {
		return "", err
	}
	var refusals []error
	for _, root := range folders {
		folder := filepath.Join(root, c.folder)
		err := os.MkdirAll(folder, 0o755)
		if err == nil {
			var probe *os.File
			// A fixed name lets the next attempt remove the file that a killed program left.
			if probe, err = os.Create(filepath.Join(folder, ".writable")); err == nil {
				probe.Close()
				if err = os.Remove(probe.Name()); err == nil || errors.Is(err, fs.ErrNotExist) {
					return folder, nil
				}
			}
		}
		refusals = append(refusals, err)
	}
	return "", fmt.Errorf("no folder to write data to: set %s to one (%w)", Environment, errors.Join(refusals...))
}

// verify reports whether the file at path has the content of the published file. Either of the two may be
// compressed.
func (f file) verify(path string) (bool, error) {
	local, _, err := files.Open(path)
	if err != nil {
		return false, err
	}
	defer local.Close()
	valid, err := f.matches(local)
	if valid || err != nil {
		return valid, err
	}
	if _, err := local.Seek(0, io.SeekStart); err != nil {
		return false, err
	}
	z, err := gzip.NewReader(local)
	if err != nil {
		return false, nil
	}
	valid, err = f.matches(z)
	return valid && err == nil, nil
}

func (f file) matches(r io.Reader) (bool, error) {
	h := sha256.New()
	if _, err := io.Copy(h, io.LimitReader(r, max(f.size, f.unpackedSize)+1)); err != nil {
		return false, err
	}
	sum := hex.EncodeToString(h.Sum(nil))
	return sum == f.sha256 || sum == f.unpackedSHA256, nil
}
