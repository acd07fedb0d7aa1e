package npy

import (
	"archive/zip"
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sbinet/npyio/npy"
)

// archive is an NPZ archive of files.
func archive(t *testing.T, files map[string][]byte) *bytes.Reader {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, content := range files {
		f, err := z.Create(name)
		if err == nil {
			_, err = f.Write(content)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return bytes.NewReader(b.Bytes())
}

// array is an NPY file of a header and data.
func array(header string, data ...byte) []byte {
	header += "\n"
	return slices.Concat([]byte(Magic), []byte{1, 0, byte(len(header)), byte(len(header) >> 8)}, []byte(header), data)
}

func all(string) bool { return true }

// Arrays are read in row-major order, whatever order and type they were saved in.
func TestReadArchive(t *testing.T) {
	var rows bytes.Buffer
	if err := npy.Write(&rows, []float64{1, 2.5, -3}); err != nil {
		t.Fatal(err)
	}
	fortran := array("{'descr': '>f4', 'fortran_order': True, 'shape': (2, 3), }", // 1 2 3, 4 5 6 column by column
		0x3f, 0x80, 0, 0, 0x40, 0x80, 0, 0, 0x40, 0, 0, 0, 0x40, 0xa0, 0, 0, 0x40, 0x40, 0, 0, 0x40, 0xc0, 0, 0)
	half := array("{'descr': '<f2', 'fortran_order': False, 'shape': (2,), }", 0x01, 0x80, 0xff, 0x7b) // the smallest, negative, and the largest
	r := archive(t, map[string][]byte{"b.npy": rows.Bytes(), "W.npy": fortran, "c.npy": half, "other.npy": []byte("no array")})
	read, err := ReadArchive(r, r.Size(), func(name string) bool { return name != "other" })
	if err != nil || len(read) != 3 {
		t.Fatalf("%v, error %v", read, err)
	}
	for _, a := range read {
		want := Array{"b", []int{3}, []float64{1, 2.5, -3}}
		switch a.Name {
		case "W":
			want = Array{"W", []int{2, 3}, []float64{1, 2, 3, 4, 5, 6}}
		case "c":
			want = Array{"c", []int{2}, []float64{-0x1p-24, 65504}}
		}
		if fmt.Sprint(a) != fmt.Sprint(want) {
			t.Errorf("read %v, want %v", a, want)
		}
	}
}

// What is damaged or claims too much is refused, by the name of the array.
func TestDamagedArchivesAreRefused(t *testing.T) {
	for says, content := range map[string][]byte{
		"float32 or float64 is needed": array("{'descr': '<i8', 'fortran_order': False, 'shape': (1,), }", make([]byte, 8)...),
		"header of the NPY file":       []byte("no array at all"),
		"4 bytes of data, but":         array("{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }", make([]byte, 4)...),
		"takes":                        array("{'descr': '<f8', 'fortran_order': False, 'shape': (1099511627776, 1099511627776), }"),
	} {
		r := archive(t, map[string][]byte{"W.npy": content})
		if _, err := ReadArchive(r, r.Size(), all); err == nil || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), "W.npy") {
			t.Errorf("error %v, which does not say %q", err, says)
		}
	}
	if _, err := ReadArchive(strings.NewReader("PK"), 2, all); err == nil || !strings.Contains(err.Error(), "not an NPZ archive") {
		t.Errorf("error %v", err)
	}
}
