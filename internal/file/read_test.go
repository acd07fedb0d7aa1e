package file_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/internal/file"
	"github.com/helmholtz-go/helmholtz/internal/file/filetest"
)

func TestReadRefusesWhatIsNoSuchFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(path, []byte("whole"), 0o644); err != nil {
		t.Fatal(err)
	}
	read := func(most int64) error { _, err := file.Read(path, most); return err }
	filetest.Refused(t, path, func() error { return read(100) })

	if b, err := file.Read(path, 5); err != nil || string(b) != "whole" {
		t.Errorf("%q, error %v", b, err)
	}
	if err := read(4); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("a byte more than may be: the error is %v", err)
	}
	path += " that is not there"
	if err := read(100); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the error is %v", err)
	}
}

func TestLinesAreGivenOneByOne(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lines")
	long := strings.Repeat("x", 99) + "\n"
	for _, c := range []struct {
		text  string
		lines []string
		err   string
	}{
		{"", nil, ""},
		{"a\n\nb\r\nc", []string{"a\n", "\n", "b\r\n", "c"}, ""},
		{long + long, []string{long, long}, ""},
		{long + "x" + long, []string{long}, "line 2 has more than 100 bytes"},
	} {
		if err := os.WriteFile(path, []byte(c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		var lines []string
		var failure error
		for line, err := range file.Lines(path, 100) {
			if failure = err; err == nil {
				lines = append(lines, string(line))
			}
		}
		if !slices.Equal(lines, c.lines) || (failure == nil) != (c.err == "") || failure != nil && !strings.Contains(failure.Error(), c.err) {
			t.Errorf("%q: lines %q, error %v", c.text, lines, failure)
		}
	}
}
