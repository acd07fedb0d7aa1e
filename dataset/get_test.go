package dataset

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// published is a set of two files on a local server.
func published(t *testing.T, handler http.Handler) collection {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return twoFiles(server.URL + "/sets")
}

// twoFiles is a set of two files, published at an address.
func twoFiles(address string) collection {
	c := collection{name: "toy", folder: "toy", address: address}
	for _, name := range []string{"a.amat", "b.amat"} {
		c.files = append(c.files, file{name: name, size: int64(len(content(name))), sha256: sumOf(content(name))})
	}
	return c
}

func sumOf(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// content is large enough to arrive in several parts.
func content(name string) []byte { return []byte(strings.Repeat("0 1 1 0 "+name+"\n", 20_000)) }

func serve(w http.ResponseWriter, r *http.Request) { w.Write(content(filepath.Base(r.URL.Path))) }

// hasty waits for a server no longer than it takes to notice.
var hasty = patience{stall: time.Minute, attempts: 3}

func quiet(string, int64, int64) {}

// filesUnder lists the files below the folders, relative to them.
func filesUnder(t *testing.T, folders ...string) []string {
	t.Helper()
	var found []string
	for _, folder := range folders {
		err := fs.WalkDir(os.DirFS(folder), ".", func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				found = append(found, path)
			}
			return err
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
	}
	return found
}

func TestGetFetchesOnceAndReportsProgress(t *testing.T) {
	data, cache := emptyFolders(t)
	var asked []string
	c := published(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.Path)
		serve(w, r)
	}))
	last := map[string]int64{}
	for range 2 {
		err := c.get(t.Context(), hasty, func(file string, done, total int64) {
			if done <= last[file] || done > total {
				t.Errorf("%s: %d of %d bytes after %d", file, done, total, last[file])
			}
			last[file] = done
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if want := []string{"/sets/a.amat", "/sets/b.amat"}; !slices.Equal(asked, want) {
		t.Errorf("asked for %v, want %v, each once", asked, want)
	}
	if got, want := filesUnder(t, data, cache), []string{"toy/a.amat", "toy/b.amat"}; !slices.Equal(got, want) {
		t.Errorf("files %v, want %v", got, want)
	}
	for _, f := range c.files {
		path := filepath.Join(data, "toy", f.name)
		got, err := os.ReadFile(path)
		if err != nil || string(got) != string(content(f.name)) {
			t.Errorf("%s holds %d other bytes (%v)", f.name, len(got), err)
		}
		if last[path] != f.size {
			t.Errorf("%s: progress ended at %d of %d bytes", path, last[path], f.size)
		}
	}
}

func TestGetKeepsVerifiedFilesCompressedToo(t *testing.T) {
	data, cache := emptyFolders(t)
	c := published(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		t.Errorf("asked for %s", r.URL.Path)
	}))
	write(t, compress(content("a.amat")), data, "toy", "a.amat.gz")
	write(t, content("b.amat"), cache, "toy", "b.amat")
	if err := c.get(t.Context(), hasty, quiet); err != nil {
		t.Fatal(err)
	}
	if got := filesUnder(t, data); !slices.Equal(got, []string{"toy/a.amat.gz"}) {
		t.Errorf("files %v", got)
	}
}

// A file that is published compressed is kept unpacked, and packed anew, unless it
// holds something else.
func TestGetKeepsUnpackedFiles(t *testing.T) {
	data, cache := emptyFolders(t)
	c := published(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		t.Errorf("asked for %s", r.URL.Path)
	}))
	for i, f := range c.files {
		packed := append(compress(content(f.name)), compress(nil)...) // as another program packs it
		c.files[i] = file{f.name + ".gz", int64(len(packed)), sumOf(packed), f.size, f.sha256}
	}
	write(t, content("a.amat"), data, "toy", "a.amat")
	write(t, compress(content("b.amat")), cache, "toy", "b.amat.gz")
	if err := c.get(t.Context(), hasty, quiet); err != nil {
		t.Fatal(err)
	}
	write(t, content("b.amat"), data, "toy", "a.amat")
	wantError(t, c.get(t.Context(), hasty, quiet), filepath.Join(data, "toy", "a.amat"), "remove it")
}

func TestGetReplacesATornFile(t *testing.T) {
	data, _ := emptyFolders(t)
	c := published(t, http.HandlerFunc(serve))
	write(t, content("a.amat")[:100], data, "toy", "a.amat")
	if err := c.get(t.Context(), hasty, quiet); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(filepath.Join(data, "toy", "a.amat")); string(got) != string(content("a.amat")) {
		t.Errorf("the torn file was kept, %d bytes", len(got))
	}
}

func TestGetNamesAFileThatWouldHideTheDownload(t *testing.T) {
	data, _ := emptyFolders(t)
	c := published(t, http.HandlerFunc(serve))
	torn := compress(content("a.amat"))[:100]
	write(t, torn, data, "toy", "a.amat.gz")
	wantError(t, c.get(t.Context(), hasty, quiet), filepath.Join(data, "toy", "a.amat.gz"), "remove it")
	if got := filesUnder(t, data); !slices.Equal(got, []string{"toy/a.amat.gz"}) {
		t.Errorf("files %v", got)
	}
}

func TestFailedTransfersLeaveNothingBehind(t *testing.T) {
	for name, c := range map[string]struct {
		handler http.HandlerFunc
		want    []string
	}{
		"another file": {func(w http.ResponseWriter, r *http.Request) {
			other := content("a.amat")
			other[7] = '1'
			w.Write(other)
		}, []string{"SHA-256", "/sets/a.amat", "put the file at"}},
		"endless": {func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				if _, err := w.Write(content("a.amat")); err != nil {
					return
				}
			}
		}, []string{"SHA-256"}},
		"short": {func(w http.ResponseWriter, r *http.Request) {
			w.Write(content("a.amat")[:1000])
		}, []string{"sent 1000 bytes"}},
		"not found": {http.NotFound, []string{"404 Not Found", "put the file at"}},
	} {
		t.Run(name, func(t *testing.T) {
			data, cache := emptyFolders(t)
			wantError(t, published(t, c.handler).get(t.Context(), hasty, quiet), c.want...)
			if got := filesUnder(t, data, cache); len(got) != 0 {
				t.Errorf("left behind: %v", got)
			}
		})
	}
}

func TestGetStopsWhenItsContextIsCanceled(t *testing.T) {
	data, cache := emptyFolders(t)
	ctx, cancel := context.WithCancel(t.Context())
	c := published(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "a.amat") {
			serve(w, r)
			return
		}
		w.Write(content("b.amat")[:1000])
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}))
	err := c.get(ctx, hasty, func(file string, done, total int64) {
		if strings.HasSuffix(file, "b.amat") {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if got := filesUnder(t, data, cache); !slices.Equal(got, []string{"toy/.b.amat.part", "toy/a.amat"}) {
		t.Errorf("files %v, want the one that was complete, and the part of the other", got)
	}
}

func TestGetWritesToTheFirstFolderThatAllowsIt(t *testing.T) {
	data, cache := emptyFolders(t)
	if err := os.Symlink(filepath.Join(data, "nowhere"), filepath.Join(data, "toy")); err != nil {
		t.Fatal(err)
	}
	if err := published(t, http.HandlerFunc(serve)).get(t.Context(), hasty, quiet); err != nil {
		t.Fatal(err)
	}
	if got, want := filesUnder(t, cache), []string{"toy/a.amat", "toy/b.amat"}; !slices.Equal(got, want) {
		t.Errorf("files in the cache %v, want %v", got, want)
	}
}

func TestGetOfWhatIsNotOffered(t *testing.T) {
	data, _ := emptyFolders(t)
	wantError(t, Get(t.Context(), "uci/dna", nil), "uci/dna", "not offered",
		filepath.Join(data, "uci", "dna", "dna.train.data.gz"), filepath.Join(data, "uci", "dna", "dna.test.data.gz"))
	wantError(t, Get(t.Context(), "freyfaces", nil), "freyfaces", "not offered", "grey levels of 1965 images of 28×20, a byte each",
		filepath.Join(data, "faces", "freyfaces-1965x28x20.u8.gz"))
	wantError(t, Get(t.Context(), "mnits", nil), "mnits", "the sets are glyphs")
	for _, name := range []string{"glyphs", "miniglyphs", "3by3"} {
		if err := Get(t.Context(), name, nil); err != nil {
			t.Errorf("%s needs no files, but: %v", name, err)
		}
	}
}
