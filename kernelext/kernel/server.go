//go:build unix

package kernel

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/helmholtz-go/helmholtz/kernelext/internal/session"
	"github.com/helmholtz-go/helmholtz/runs"
)

// Limits of cells' requests.
const (
	largestExperiment = 1 << 20 // bytes
	largestHeader     = 16 << 10
	headerTime        = 10 * time.Second
)

// serve answers the requests of the user's cells on a socket in a directory that only the user can
// access. In the same directory it writes the token that cells have to present. fail makes the running
// cell fail.
func serve(dir string, s *session.Session, show func(run string) error, fail func(reason string)) (io.Closer, error) {
	token := rand.Text()
	if err := os.WriteFile(filepath.Join(dir, session.TokenFile), []byte(token), 0o600); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, session.SocketFile)
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("cannot listen to cells: %w", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	server := &http.Server{
		Handler: handler(token, s, show, fail), ReadHeaderTimeout: headerTime, MaxHeaderBytes: largestHeader,
		ErrorLog: log.New(io.Discard, "", 0), // cells come and go
	}
	go func() { _ = server.Serve(ownUser{l}) }()
	return server, nil
}

func handler(token string, s *session.Session, show func(run string) error, fail func(reason string)) http.Handler {
	mux := http.NewServeMux()
	// handle registers an action for requests with a limit on the bytes of their body.
	handle := func(action string, most int64, do func(name string, body io.Reader, r *http.Request) (any, error)) {
		mux.HandleFunc("POST /"+action, func(w http.ResponseWriter, r *http.Request) {
			v, err := do(r.URL.Query().Get(session.Name), http.MaxBytesReader(w, r.Body, most), r)
			respond(w, v, err)
		})
	}
	handle("start", largestExperiment, func(name string, body io.Reader, r *http.Request) (any, error) {
		text, err := io.ReadAll(body)
		var e runs.Experiment
		if err == nil {
			e, err = runs.ParseExperiment(text)
		}
		if dir := r.URL.Query().Get(session.Directory); err == nil && dir != "" && e.Header().Dataset.IsFile() {
			e, err = fromFolder(e, dir)
		}
		if err != nil {
			return nil, fmt.Errorf("the experiment: %w", err)
		}
		return nil, s.Start(name, e)
	})
	handle("runs", 0, func(string, io.Reader, *http.Request) (any, error) { return s.Runs(), nil })
	handle("info", 0, func(name string, _ io.Reader, _ *http.Request) (any, error) { return s.Info(name) })
	handle("wait", 0, func(name string, _ io.Reader, r *http.Request) (any, error) { return nil, s.Wait(r.Context(), name) })
	actions := maps.Clone(session.Actions)
	actions[session.Show] = func(_ *session.Session, run string) error { return show(run) }
	for action, do := range actions {
		handle(action, 0, func(name string, _ io.Reader, _ *http.Request) (any, error) { return nil, do(s, name) })
	}
	handle("fail", largestHeader, func(_ string, body io.Reader, _ *http.Request) (any, error) {
		reason, err := io.ReadAll(body)
		if err == nil {
			fail(string(reason))
		}
		return nil, err
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if subtle.ConstantTimeCompare([]byte(r.Header.Get("Authorization")), []byte("Bearer "+token)) != 1 {
			http.Error(w, "the token of the session is wrong or missing", http.StatusUnauthorized)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// ownUser is a listener on a unix socket that hangs up on processes of other users.
type ownUser struct{ *net.UnixListener }

// Accept returns the next connection of the same user.
func (l ownUser) Accept() (net.Conn, error) {
	for {
		c, err := l.AcceptUnix()
		if err != nil {
			return nil, err
		}
		if sameUser(c) {
			return c, nil
		}
		c.Close()
	}
}

// fromFolder returns an experiment whose data are files, with their paths relative to the working
// directory instead of dir.
func fromFolder(e runs.Experiment, dir string) (runs.Experiment, error) {
	here, err := os.Getwd()
	if err == nil {
		here, err = filepath.EvalSymlinks(here) // the folder of a cell may have its links resolved
	}
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil || here == dir {
		return e, err
	}
	h := e.Header()
	for _, path := range h.Dataset.Paths() {
		if *path == "" || filepath.IsAbs(*path) {
			continue
		}
		if *path, err = filepath.Rel(here, filepath.Join(dir, *path)); err != nil {
			return e, err
		}
		if !strings.ContainsRune(*path, filepath.Separator) {
			*path = "." + string(filepath.Separator) + *path // not the name of a set
		}
	}
	return e.WithHeader(h), nil
}

// respond writes a value as JSON, or an error as text. The cell notices a truncated answer.
func respond(w http.ResponseWriter, v any, err error) {
	if tooLarge := new(http.MaxBytesError); errors.As(err, &tooLarge) {
		http.Error(w, fmt.Sprintf("the request is larger than %d bytes: send less", tooLarge.Limit), http.StatusRequestEntityTooLarge)
		return
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusUnprocessableEntity)
		return
	}
	if v != nil {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(v)
	}
}
