package npy

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
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
	rows := array("{'descr': '>f8', 'fortran_order': False, 'shape': (3,), }", // 1 2.5 -3
		0x3f, 0xf0, 0, 0, 0, 0, 0, 0, 0x40, 4, 0, 0, 0, 0, 0, 0, 0xc0, 8, 0, 0, 0, 0, 0, 0)
	fortran := array("{'descr': '>f4', 'fortran_order': True, 'shape': (2, 3), }", // 1 2 3, 4 5 6 column by column
		0x3f, 0x80, 0, 0, 0x40, 0x80, 0, 0, 0x40, 0, 0, 0, 0x40, 0xa0, 0, 0, 0x40, 0x40, 0, 0, 0x40, 0xc0, 0, 0)
	half := array("{'descr': '<f2', 'fortran_order': False, 'shape': (2,), }", 0x01, 0x80, 0xff, 0x7b) // the smallest, negative, and the largest
	r := archive(t, map[string][]byte{"b.npy": rows, "W.npy": fortran, "c.npy": half, "other.npy": []byte("no array")})
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

// numpy.npz holds arrays that NumPy 2.4.6 wrote with numpy.lib.format.write_array, named after their type, version of
// the format, order, shape, and "big" if the most significant byte of a number comes first. In row-major order, their
// values count up from -2: in quarters if they are floats, in absolute values if they are unsigned, and modulo 2 if
// they are booleans.
func TestArraysOfNumPy(t *testing.T) {
	archive, err := zip.OpenReader("testdata/numpy.npz")
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	for _, f := range archive.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		header, _, err := ReadHeader(r)
		data, failed := io.ReadAll(r)
		words := strings.Fields(strings.TrimSuffix(f.Name, ".npy"))
		of, shape := Numbers[Kind(header.Type)], strings.TrimSpace(strings.TrimSuffix(strings.Join(words[3:], " "), "big"))
		if err != nil || failed != nil || Kind(header.Type) != words[0] || strings.Trim(fmt.Sprint(header.Shape), "[]") != shape {
			t.Fatalf("%s: %+v, errors %v and %v", f.Name, header, err, failed)
		}
		var values []float64
		for ; len(data) > 0; data = data[of.Width:] {
			if of.Value == nil {
				values = append(values, float64(data[0]))
			} else {
				values = append(values, of.Value(Order(header.Type), data))
			}
		}
		if header.Fortran {
			values = ByRows(values, header.Shape)
		}
		for k, got := range values {
			want := float64(k - 2)
			switch words[0][0] {
			case 'f':
				want /= 4
			case 'u':
				want = math.Abs(want)
			case 'b':
				want = math.Abs(math.Remainder(want, 2))
			}
			if got != want {
				t.Errorf("%s: value %d is %v, want %v", f.Name, k, got, want)
			}
		}
	}
}

// Headers that NumPy does not write are refused.
func TestDamagedHeadersAreRefused(t *testing.T) {
	good := "{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }"
	if header, n, err := ReadHeader(bytes.NewReader(array(good))); err != nil || n != 10+len(good)+1 || fmt.Sprint(header) != "{<f8 false [2]}" {
		t.Errorf("%v of %d bytes, error %v", header, n, err)
	}
	version := func(v byte) []byte {
		b := array(good)
		b[6] = v
		return b
	}
	for name, b := range map[string][]byte{
		"no newline":    array(good)[:10+len(good)],
		"a version 0":   version(0),
		"a version 4":   append(slices.Concat([]byte(Magic), []byte{4, 0, byte(len(good) + 1), 0, 0, 0}), good+"\n"...),
		"a version 2":   version(2), // whose length has four bytes
		"another order": array(strings.Replace(good, "False", "false", 1)),
		"no number":     array(strings.Replace(good, "2,", "2L,", 1)),
		"no shape":      array(strings.Replace(good, "shape", "size", 1)),
		"other keys":    array("{'shape': (2,), 'descr': '<f8', 'fortran_order': False, }"),
		"no magic word": append([]byte("numpy\x00"), array(good)[6:]...),
	} {
		if header, _, err := ReadHeader(bytes.NewReader(b)); err == nil || !strings.Contains(err.Error(), "the header of the NPY file is damaged") {
			t.Errorf("%s: %v, error %v", name, header, err)
		}
	}
}
