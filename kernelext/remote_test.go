package kernelext_test

import (
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/helmholtz-go/helmholtz/kernelext"
	"github.com/helmholtz-go/helmholtz/kernelext/internal/session"
)

// Sessions that are opened again and again leave no connections behind.
func TestSessionsKeepNoConnections(t *testing.T) {
	dir, err := os.MkdirTemp("/tmp", "remote-test-") // the path of a socket is short
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, session.TokenFile), []byte("token"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv(session.Environment, dir)
	l, err := net.Listen("unix", filepath.Join(dir, session.SocketFile))
	if err != nil {
		t.Fatal(err)
	}
	var opened, kept atomic.Int64
	server := &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "{}") }),
		ConnState: func(_ net.Conn, state http.ConnState) {
			switch state {
			case http.StateNew:
				opened.Add(1)
			case http.StateIdle: // it waits for another request
				kept.Add(1)
			}
		},
	}
	served := make(chan error)
	go func() { served <- server.Serve(l) }()
	for range 10 {
		if _, err := kernelext.Open().Run("x").Status(); err != nil {
			t.Error(err)
		}
	}
	if err := server.Shutdown(t.Context()); err != nil { // which ends what it has to say
		t.Fatal(err)
	}
	<-served
	if opened.Load() == 0 || kept.Load() > 0 {
		t.Errorf("of %d connections %d are kept", opened.Load(), kept.Load())
	}
}
