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
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/kernelext/internal/session"
	"github.com/helmholtz-go/helmholtz/runs"
)

// Limits of requests of cells.
const (
	largestExperiment = 1 << 20 // bytes
	largestHeader     = 16 << 10
	headerTime        = 10 * time.Second
)

// serve answers the requests of the user's cells on a socket in a directory
// that is the user's alone, and writes the token that they have to show beside
// it.
func serve(dir string, s *session.Session, show func(run string) error) (io.Closer, error) {
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
		Handler: handler(token, s, show), ReadHeaderTimeout: headerTime, MaxHeaderBytes: largestHeader,
		ErrorLog: log.New(io.Discard, "", 0), // cells come and go
	}
	go func() { _ = server.Serve(ownUser{l}) }()
	return server, nil
}

func handler(token string, s *session.Session, show func(run string) error) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /runs", func(w http.ResponseWriter, r *http.Request) { respond(w, s.Runs(), nil) })
	mux.HandleFunc("PUT /runs/{name}", func(w http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, largestExperiment))
		var e runs.Experiment
		if err == nil {
			e, err = runs.ParseExperiment(text)
		}
		if err != nil {
			respond(w, nil, fmt.Errorf("the experiment: %w", err))
			return
		}
		respond(w, nil, s.Start(r.PathValue("name"), e))
	})
	mux.HandleFunc("GET /runs/{name}", func(w http.ResponseWriter, r *http.Request) {
		i, err := s.Info(r.PathValue("name"))
		respond(w, i, err)
	})
	mux.HandleFunc("GET /runs/{name}/end", func(w http.ResponseWriter, r *http.Request) {
		respond(w, nil, s.Wait(r.Context(), r.PathValue("name")))
	})
	for action, do := range map[string]func(string) error{
		"stop": s.Stop, "pause": s.Pause, "resume": s.Resume, "save": s.Save, "show": show,
	} {
		mux.HandleFunc("POST /runs/{name}/"+action, func(w http.ResponseWriter, r *http.Request) {
			respond(w, nil, do(r.PathValue("name")))
		})
	}
	mux.HandleFunc("GET /models", func(w http.ResponseWriter, r *http.Request) { respond(w, s.Models(), nil) })
	mux.HandleFunc("PUT /models/{name}", func(w http.ResponseWriter, r *http.Request) {
		model, err := io.ReadAll(http.MaxBytesReader(w, r.Body, session.Largest))
		if err == nil {
			err = s.Keep(r.PathValue("name"), model)
		}
		respond(w, nil, err)
	})
	mux.HandleFunc("GET /models/{name}", func(w http.ResponseWriter, r *http.Request) {
		model, err := s.Model(r.PathValue("name"))
		if err != nil {
			respond(w, nil, err)
			return
		}
		_, _ = w.Write(model)
	})
	mux.HandleFunc("PUT /data/{name}", func(w http.ResponseWriter, r *http.Request) {
		set, err := dataset.Load(http.MaxBytesReader(w, r.Body, session.Largest))
		if err == nil {
			err = s.KeepData(r.PathValue("name"), set)
		}
		respond(w, nil, err)
	})
	mux.HandleFunc("GET /data/{name}", func(w http.ResponseWriter, r *http.Request) {
		set, err := s.Data(r.PathValue("name"))
		if err != nil {
			respond(w, nil, err)
			return
		}
		_ = set.Save(w) // the cell notices what is missing
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if subtle.ConstantTimeCompare([]byte(r.Header.Get("Authorization")), []byte("Bearer "+token)) != 1 {
			http.Error(w, "the token of the session is wrong or missing", http.StatusUnauthorized)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// respond writes a value as JSON, or an error as text.
func respond(w http.ResponseWriter, v any, err error) {
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		http.Error(w, fmt.Sprintf("the request is larger than %d bytes: pass less, or write it to a file", tooLarge.Limit), http.StatusRequestEntityTooLarge)
	case err != nil:
		http.Error(w, err.Error(), http.StatusUnprocessableEntity)
	case v != nil:
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(v)
	}
}
