//go:build unix

package proxy

import (
	"os"
	"path/filepath"
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
