//go:build unix

package proxy

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/internal/file/filetest"
)

func TestHostileConnectionFilesAreRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "connection.json")
	if err := os.WriteFile(path, []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	filetest.Refused(t, path, func() error { _, err := readConnection(path); return err })
}

func TestConnectionFilesNeedPorts(t *testing.T) {
	c, _ := place(t)
	if _, err := readConnection(c.path); err != nil {
		t.Fatal(err)
	}
	c.Control = 0
	if err := os.WriteFile(c.path, encode(c), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := readConnection(c.path); err == nil || !strings.Contains(err.Error(), "control_port is 0") {
		t.Errorf("a connection file without a control port: %v", err)
	}
}
