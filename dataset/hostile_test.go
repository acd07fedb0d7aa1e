package dataset

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/internal/file/filetest"
)

// writeGzip writes a compressed file: a start, and then a part again and again, each
// in a member of its own.
func writeGzip(t *testing.T, path string, start, part []byte, times int) {
	t.Helper()
	file := append(compress(start), bytes.Repeat(compress(part), times)...)
	if err := os.WriteFile(path, file, 0o644); err != nil {
		t.Fatal(err)
	}
}

// wantRefused opens a file of one's own, which has to be refused by its name within
// the memory that a reader may take.
func wantRefused(t *testing.T, name, path string, says ...string) {
	t.Helper()
	var err error
	if took := filetest.Allocated(func() { _, err = Open(path) }); took > filetest.Most {
		t.Errorf("%s: %d bytes were taken", name, took)
	}
	wantError(t, err, append(says, path)...)
}

// A compressed file that holds much more than its size is refused before much of it
// is read, whatever it claims.
func TestCompressedBombsAreRefused(t *testing.T) {
	const gigabyte = 1 << 30
	array := fmt.Sprintf("{'descr': '<f4', 'fortran_order': False, 'shape': (%d, 784), }", gigabyte/4/784)
	row := strings.Repeat("0 ", 784)
	for name, c := range map[string]struct{ start, part []byte }{
		"IDX":  {idx(0x803, []uint32{gigabyte / 784, 28, 28}), make([]byte, 1<<20)},
		"NPY":  {npyFile(array, nil), make([]byte, 1<<20)},
		"text": {nil, []byte(strings.Repeat(row+"\n", 700))},
		"line": {[]byte(row), []byte(strings.Repeat(row, 700))},
		"none": {[]byte(row), bytes.Repeat([]byte("\n"), 1<<20)},
	} {
		path := filepath.Join(t.TempDir(), "bomb.gz")
		writeGzip(t, path, c.start, c.part, 1<<10)
		wantRefused(t, name, path, "200 times its size", "decompress the file")
	}
}

// What is not a regular file is refused, and what claims more than memory holds
// before any is taken, also where the file is as long as it claims.
func TestHostileDataAreRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "images.npy")
	const terabytes = 1 << 43
	for name, start := range map[string][]byte{
		"IDX": idx(0x803, []uint32{terabytes >> 20, 1 << 10, 1 << 10}),
		"NPY": npyFile(fmt.Sprintf("{'descr': '|u1', 'fortran_order': False, 'shape': (%d, 1024, 1024), }", terabytes>>20), nil),
	} {
		if err := filetest.Zeros(path, start, int64(len(start))+terabytes); err != nil {
			t.Fatal(err)
		}
		wantRefused(t, name, path, "claims too much", "memory", "fewer rows")
	}
	short := idx(0x803, []uint32{1 << 10, 1 << 10, 1 << 11})
	if err := filetest.Zeros(path, short, 1<<30); err != nil {
		t.Fatal(err)
	}
	wantRefused(t, "half of the claim", path, fmt.Sprintf("after %d of the 2147483648 values", 1<<30-len(short)))

	filetest.Refused(t, path, func() error { _, err := Open(path); return err })
}

// The files of named sets are read as those of one's own are.
func TestHostileFilesOfNamedSetsAreRefused(t *testing.T) {
	folder := t.TempDir()
	t.Setenv(Environment, folder)
	path := filepath.Join(folder, "faces", "freyfaces-1965x28x20.u8.gz")
	if err := os.Mkdir(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	writeGzip(t, path, nil, make([]byte, 1965*28*20), 1)
	open := func() error { _, err := Open("freyfaces"); return err }
	if err := open(); err != nil {
		t.Fatal(err)
	}
	filetest.Refused(t, path, open)
}

// The header of a stored set takes no memory for rows that are not there.
func TestHostileStoredSetsAreRefused(t *testing.T) {
	for name, c := range map[string]struct{ header, says string }{
		"too many":   {`"height":1048576,"width":1048576,"bits":1,"splits":[{"rows":1048576},{"rows":0},{"rows":0}]`, "memory"},
		"overflow":   {`"height":4294967296,"width":4294967296,"bits":8,"splits":[{"rows":9223372036854775807},{"rows":9223372036854775807},{"rows":2}]`, "memory"},
		"not there":  {`"height":1024,"width":1024,"bits":8,"splits":[{"rows":1024},{"rows":0},{"rows":0}]`, "damaged"},
		"not labels": {`"height":1,"width":1,"bits":8,"splits":[{"rows":1},{"rows":0},{"rows":1073741824,"labelled":true}]`, "damaged"},
	} {
		text := storedMagic + `{"spec":{"name":"mine","binarization":"fixed","seed":0},` + c.header + `,"fingerprint":""}` + "\n" + strings.Repeat("\xff", 100)
		var err error
		if took := filetest.Allocated(func() { _, err = Load(strings.NewReader(text)) }); took > filetest.Most {
			t.Errorf("%s: %d bytes were taken", name, took)
		}
		wantError(t, err, c.says)
	}
}

// Compressed files that hold more than memory is taken for at first are read whole.
func TestLargeCompressedFilesAreRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "images.gz")
	const n, units = 70, 1 << 20
	noise := make([]byte, units)
	for i := range noise {
		noise[i] = byte(i * i >> 7)
	}
	noise[0] = 2
	writeGzip(t, path, idx(0x803, []uint32{n, 1 << 10, 1 << 10}), noise, n)
	data, err := readFile(path, readRows)
	if err != nil {
		t.Fatal(err)
	}
	if data.count() != n || !slices.Equal(data.Bytes()[(n-1)*units:], noise) {
		t.Errorf("%d images were read, or others", data.count())
	}
}

// Text with bytes of 0, as in a file whose end was never written, is refused where they begin.
func TestTextWithZeros(t *testing.T) {
	for _, name := range []string{"rows.csv", "bits.txt"} {
		path := written(t, name, table30("a,b", "%[1]d.5,%[2]d")+strings.Repeat("\x00", 1<<20))
		if name == "bits.txt" {
			path = written(t, name, strings.Repeat("0 1 1\n1 0 1\n0 0 1\n", 9)+strings.Repeat("\x00", 1<<20))
		}
		_, err := Spec{Name: path}.Open()
		wantError(t, err, "bytes of 0")
	}
}
