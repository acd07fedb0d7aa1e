package dataset

import (
	"bufio"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	files "github.com/helmholtz-go/helmholtz/internal/file"
)

// CacheEnvironment is the name of the environment variable that turns the cache of rows off, if its value is "off".
const CacheEnvironment = "HELMHOLTZ_CACHE"

// cacheVersion is the version of the files in the cache.
const cacheVersion = 2

// leastCached is the least size of the files of a Spec, in bytes, whose rows are kept in the cache, and mostCached is the
// largest size of the cache.
var leastCached, mostCached int64 = 16 << 20, 10 << 30

// CacheFolder returns the folder in the user's cache directory that keeps the rows of large files, as Spec.Open has read
// them. A later Open of an equal Spec takes the rows from there if its files have the same path, size, time, beginning
// and end.
func CacheFolder() (string, error) {
	of, err := os.UserCacheDir()
	return filepath.Join(of, "helmholtz", "rows"), err
}

// ClearCache removes all rows from the cache.
func ClearCache() error {
	folder, err := CacheFolder()
	if err != nil {
		return err
	}
	return trimCache(folder, -1)
}

// trimCache removes the files of a folder that were not used for longest until the rest takes at most most bytes.
func trimCache(folder string, most int64) error {
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var all []fs.FileInfo
	size := int64(0)
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil {
			all, size = append(all, info), size+info.Size()
		}
	}
	slices.SortFunc(all, func(a, b fs.FileInfo) int { return a.ModTime().Compare(b.ModTime()) })
	for _, info := range all {
		if size <= most {
			break
		}
		err = errors.Join(err, os.Remove(filepath.Join(folder, info.Name())))
		size -= info.Size()
	}
	return err
}

// cachePath returns the path in the cache of the rows that read returns, or "" if they are not kept there.
func (s Spec) cachePath(fresh bool) string {
	size := int64(0)
	for _, of := range []string{s.Name, s.Test, s.LabelFile, s.WeightFile} {
		path, _ := cutArray(of)
		if info, err := os.Stat(path); err == nil {
			size += info.Size()
		}
	}
	folder, err := CacheFolder()
	if size < leastCached || err != nil || os.Getenv(CacheEnvironment) == "off" || !s.IsFile() {
		return ""
	}
	s.Rules = s.rules() // which a set records
	text, err := json.Marshal(s)
	if err != nil {
		return ""
	}
	sum := sha256.New()
	fmt.Fprintln(sum, cacheVersion, string(text), fresh, s.numbers, s.before)
	for _, of := range s.Paths() {
		if *of == "" {
			continue
		}
		name, _ := cutArray(*of)
		path, err := filepath.Abs(name)
		if err != nil {
			return ""
		}
		f, n, err := files.Open(path)
		if err != nil {
			return ""
		}
		info, err := f.Stat()
		if err == nil {
			fmt.Fprintln(sum, path, n, info.ModTime().UnixNano())
			for _, from := range []int64{0, max(0, n-1<<16)} {
				_, failure := io.Copy(sum, io.NewSectionReader(f, from, 1<<16))
				err = errors.Join(err, failure)
			}
		}
		if errors.Join(err, f.Close()) != nil {
			return ""
		}
	}
	return filepath.Join(folder, fmt.Sprintf("%x", sum.Sum(nil)))
}

// keptSet is the first line of a file in the cache: what Set.Save leaves out. The stored set follows.
type keptSet struct {
	Doubt, Unread, Decimal, Point string
	Unnamed                       []string
	Binarized, Header             bool
	Fields                        []Column
	Scale                         scale
}

// fromCache returns the set that a file of the cache keeps, or nil if there is none. The file has a checksum of the set.
func fromCache(path string) *Set {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil
	}
	b := bufio.NewReader(f)
	var of keptSet
	line, err := b.ReadBytes('\n')
	if err != nil || json.Unmarshal(line, &of) != nil {
		return nil
	}
	set, _, err := load(b, info.Size(), nil)
	if err != nil {
		return nil
	}
	set.doubt, set.unread, set.unnamed, set.binarized, set.scale = of.Doubt, of.Unread, of.Unnamed, of.Binarized, of.Scale
	set.form = form{of.Fields, of.Header, of.Decimal, of.Point}
	now := time.Now()
	_ = os.Chtimes(path, now, now) // so that it is not the oldest
	return set
}

// keep writes a set into the cache at two paths.
func (s *Set) keep(path, also string) error {
	line, err := json.Marshal(keptSet{s.doubt, s.unread, s.decimal, s.point, s.unnamed, s.binarized, s.header, s.fields, s.scale})
	if err != nil {
		return err
	}
	folder := filepath.Dir(path)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(folder, "new-*")
	if err != nil {
		return err
	}
	_, err = f.Write(append(line, '\n'))
	if err = errors.Join(err, s.Save(f), f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	if also != path {
		_ = os.Remove(also)
		_ = os.Link(path, also)
	}
	return trimCache(folder, mostCached)
}
