package dataset

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	files "github.com/helmholtz-go/helmholtz/internal/file"
)

// tearing serves content with ranges, but every answer breaks off after some bytes.
// It notes the ranges that are asked for.
type tearing struct {
	bytes  int
	ranges []string
}

func (s *tearing) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.ranges = append(s.ranges, r.Header.Get("Range"))
	http.ServeContent(&torn{w, s.bytes}, r, "", time.Time{}, bytes.NewReader(content(filepath.Base(r.URL.Path))))
}

// torn is an answer that breaks off after some bytes more.
type torn struct {
	http.ResponseWriter
	left int
}

func (w *torn) Write(b []byte) (int, error) {
	if len(b) > w.left {
		_, _ = w.ResponseWriter.Write(b[:w.left])
		w.left = 0
		panic(http.ErrAbortHandler)
	}
	w.left -= len(b)
	return w.ResponseWriter.Write(b)
}

// single is the set of the first file alone.
func single(t *testing.T, handler http.Handler) (c collection, path string) {
	t.Helper()
	data, _ := emptyFolders(t)
	c = published(t, handler)
	c.files = c.files[:1]
	return c, filepath.Join(data, "toy", "a.amat")
}

func wantFetched(t *testing.T, path string) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(got, content("a.amat")) {
		t.Errorf("%s holds %d other bytes (%v)", path, len(got), err)
	}
	if got := filesUnder(t, filepath.Dir(path)); !slices.Equal(got, []string{"a.amat"}) {
		t.Errorf("files %v, want that alone", got)
	}
}

// What breaks off goes on where it was, within a download and from one to the next,
// and is not at its name before it is whole.
func TestDownloadsGoOnWhereTheyBrokeOff(t *testing.T) {
	server := &tearing{bytes: len(content("a.amat"))/5 + 1}
	c, path := single(t, server)
	err := c.get(t.Context(), hasty, quiet) // has three attempts
	wantError(t, err, "broke off after", "the download resumes there", path)
	if got := filesUnder(t, filepath.Dir(path)); !slices.Equal(got, []string{".a.amat.part"}) {
		t.Errorf("files %v, want the part", got)
	}
	if err := c.get(t.Context(), hasty, quiet); err != nil {
		t.Fatal(err)
	}
	wantFetched(t, path)
	if len(server.ranges) < 5 || server.ranges[0] != "" || slices.Contains(server.ranges[1:], "") || len(slices.Compact(server.ranges)) != len(server.ranges) {
		t.Errorf("the ranges asked for are %q", server.ranges)
	}
}

// A server that sends nothing any more is given up, asked again, and then named.
func TestStalledServersAreGivenUp(t *testing.T) {
	for name, before := range map[string]int{"before the header": -1, "before the first byte": 0, "after some bytes": 1000} {
		var asked atomic.Int32
		c, path := single(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked.Add(1)
			if before >= 0 {
				w.Header().Set("Content-Length", fmt.Sprint(len(content("a.amat"))))
				_, _ = w.Write(content("a.amat")[:before])
				w.(http.Flusher).Flush()
			}
			<-r.Context().Done() // until the client gives up
		}))
		err := c.get(t.Context(), patience{stall: 100 * time.Millisecond, attempts: 2}, quiet)
		wantError(t, err, "sent nothing for 100ms", "broke off after", path)
		if n := asked.Load(); n != 2 {
			t.Errorf("%s: asked %d times", name, n)
		}
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s: a file that is not whole lies at its name", name)
		}
	}
}

// A server that answers every range with all of the file, or with another part, or
// that has to be asked again, is understood.
func TestDownloadsFromSimpleServers(t *testing.T) {
	half := content("a.amat")[:100_000]
	for name, handler := range map[string]http.HandlerFunc{
		"without ranges": serve,
		"with another part": func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Range") != "" {
				w.Header().Set("Content-Range", "bytes 7-99/280000")
				w.WriteHeader(http.StatusPartialContent)
				return
			}
			serve(w, r)
		},
		"without such a part": func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Range") != "" {
				w.WriteHeader(http.StatusRequestedRangeNotSatisfiable)
				return
			}
			serve(w, r)
		},
	} {
		c, path := single(t, handler)
		write(t, half, filepath.Dir(path), filepath.Base(partName(path)))
		if err := c.get(t.Context(), hasty, quiet); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		wantFetched(t, path)
	}
	asked := 0
	c, path := single(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked++; asked < 3 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		serve(w, r)
	}))
	if err := c.get(t.Context(), hasty, quiet); err != nil {
		t.Error(err)
	}
	wantFetched(t, path)
}

// A download mends what a killed program, or one without space on its disk, left: it resumes from the beginning of the
// file, and begins anew after another file or more than the file. It removes what earlier versions left.
func TestLeftoversAreMended(t *testing.T) {
	whole := content("a.amat")
	for name, left := range map[string][]byte{
		"of another file": bytes.Repeat([]byte("1"), 1000),
		"as long, other":  bytes.Repeat([]byte("1"), len(whole)),
		"longer":          append(slices.Clone(whole), 7),
		"the beginning":   whole[:len(whole)/2],
		"whole":           whole,
		"nothing":         nil,
	} {
		server := &tearing{bytes: 1 << 20}
		c, path := single(t, server)
		write(t, left, filepath.Dir(path), filepath.Base(partName(path)))
		write(t, left, filepath.Dir(path), ".download-123")
		if err := c.get(t.Context(), hasty, quiet); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		wantFetched(t, path)
		if name == "whole" && len(server.ranges) != 0 {
			t.Errorf("what was whole is asked for: %q", server.ranges)
		}
	}
}

// Two programs do not write into the same part.
func TestOneProgramFetchesAFile(t *testing.T) {
	c, path := single(t, http.HandlerFunc(serve))
	write(t, nil, filepath.Dir(path), filepath.Base(partName(path)))
	held, err := files.Hold(filepath.Dir(path), filepath.Base(partName(path)))
	if err != nil {
		t.Fatal(err)
	}
	wantError(t, c.get(t.Context(), hasty, quiet), "another program", path)
	held.Release()
	if err := c.get(t.Context(), hasty, quiet); err != nil {
		t.Error(err)
	}
	wantFetched(t, path)
}

// What has no chance is not asked for again.
func TestWhatIsNotThereIsAskedForOnce(t *testing.T) {
	asked := 0
	c, _ := single(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		http.NotFound(w, r)
	}))
	if err := c.get(t.Context(), hasty, quiet); err == nil || !strings.Contains(err.Error(), "404") || asked != 1 {
		t.Errorf("asked %d times, error %v", asked, err)
	}
}
