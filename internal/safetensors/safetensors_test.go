package safetensors

import (
	"bytes"
	"encoding/binary"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/helmholtz-go/helmholtz/internal/fuzz"
	"pgregory.net/rapid"
)

func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := &File{Metadata: rapid.MapOfN(rapid.String(), rapid.String(), 1, 4).Draw(t, "metadata")}
		for i := range rapid.IntRange(0, 4).Draw(t, "tensors") {
			shape := rapid.SliceOfN(rapid.IntRange(0, 4), 0, 3).Draw(t, "shape")
			n, _ := elements(shape)
			data := rapid.SliceOfN(rapid.Float32(), n, n).Draw(t, "data")
			f.Tensors = append(f.Tensors, Tensor{Name: string(rune('a' + i)), Shape: shape, Data: data})
		}
		b, err := Marshal(f)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Unmarshal(b)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range f.Tensors {
			if !slices.ContainsFunc(got.Tensors, func(is Tensor) bool { return cmp.Equal(is, want) }) {
				t.Fatalf("the tensor %v is not among %v", want, got.Tensors)
			}
		}
		if !cmp.Equal(got.Metadata, f.Metadata) {
			t.Fatalf("metadata %v, want %v", got.Metadata, f.Metadata)
		}
	})
}

func TestNaNKeepsItsBits(t *testing.T) {
	nan := math.Float32frombits(0x7fc12345)
	b, err := Marshal(&File{Tensors: []Tensor{{Name: "x", Shape: []int{1}, Data: []float32{nan}}}})
	if err != nil {
		t.Fatal(err)
	}
	f, err := Unmarshal(b)
	if err != nil {
		t.Fatal(err)
	}
	if got := math.Float32bits(f.Tensors[0].Data[0]); got != 0x7fc12345 {
		t.Errorf("bits %#x", got)
	}
}

// file lays out a header and data by hand.
func file(header string, data int) []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	return append(append(b, header...), make([]byte, data)...)
}

func TestTornFilesAreRefused(t *testing.T) {
	whole, err := Marshal(&File{Metadata: map[string]string{"k": "v"},
		Tensors: []Tensor{{Name: "x", Shape: []int{2, 2}, Data: make([]float32, 4)}}})
	if err != nil {
		t.Fatal(err)
	}
	for n := range len(whole) {
		if _, err := Unmarshal(whole[:n]); err == nil {
			t.Errorf("the first %d of %d bytes are read without an error", n, len(whole))
		}
	}
	for _, c := range []struct {
		name, want string
		bytes      []byte
	}{
		{"bytes left over", "after the last tensor", append(bytes.Clone(whole), 0)},
		{"huge header", "a header of", binary.LittleEndian.AppendUint64(nil, 1<<62)},
		{"other type", "not F32", file(`{"x":{"dtype":"F16","shape":[2],"data_offsets":[0,4]}}`, 4)},
		{"shape and bytes disagree", "has 4 bytes", file(`{"x":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}}`, 4)},
		{"negative size", "of shape", file(`{"x":{"dtype":"F32","shape":[-1,-1],"data_offsets":[0,4]}}`, 4)},
		{"tensor twice", "stands twice", file(`{"x":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"x":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]}}`, 8)},
		{"null", "x.shape is null", file(`{"x":{"dtype":"F32","shape":null,"data_offsets":[0,4]}}`, 4)},
		{"gap", "expected it at 0", file(`{"x":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}`, 8)},
		{"end before start", "expected it at 0", file(`{"x":{"dtype":"F32","shape":[1],"data_offsets":[0,-4]}}`, 8)},
	} {
		if _, err := Unmarshal(c.bytes); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one that says %q", c.name, err, c.want)
		}
	}
}

// What is read is written and read again as it was, and so it is with a seal.
func FuzzUnmarshal(f *testing.F) {
	f.Add(file(`{"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}`, 4))
	f.Add(file(`{"__metadata__":{"a":"b"}}`, 0))
	f.Add(file(`{"x":{"dtype":"F32","shape":[9223372036854775807,2],"data_offsets":[0,4]}}`, 4))
	f.Fuzz(wantRoundTrip)
}

// FuzzHeader has the length of the header right, which a change of the header in a
// file seldom leaves so.
func FuzzHeader(f *testing.F) {
	f.Add(`{"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"y":{"dtype":"F64","shape":[],"data_offsets":[4,12]}}`, uint8(12))
	f.Add(`{"__metadata__":{"checksum":"b"},"none":{"dtype":"F64","shape":[0,2],"data_offsets":[0,0]}}`, uint8(0))
	f.Fuzz(func(t *testing.T, header string, data uint8) { wantRoundTrip(t, file(header, int(data))) })
}

func wantRoundTrip(t *testing.T, b []byte) {
	var read *File
	var err error
	fuzz.Bounded(t, len(b), func() { read, err = Unmarshal(b) })
	if err != nil {
		return
	}
	for range 2 {
		written, err := Marshal(read)
		if err != nil {
			t.Fatalf("read but not written: %v", err)
		}
		again, err := Unmarshal(written)
		if err != nil {
			t.Fatalf("written but not read: %v", err)
		}
		if again.Checksum() != read.Checksum() || !maps.Equal(again.Metadata, read.Metadata) {
			t.Fatalf("read as %v, written and read again as %v", read, again)
		}
		read.Seal()
	}
}

// A sealed file is read as it was written; each bit of it that is flipped is
// noticed, takes the seal away, or changes nothing, as the case of a letter in
// JSON's keys does.
func TestSeal(t *testing.T) {
	f := &File{Metadata: map[string]string{"k": "v", "of": "a test"}, Tensors: []Tensor{
		{Name: "narrow", Shape: []int{1, 2}, Data: []float32{1, -2}}, {Name: "wide", Shape: []int{2}, Wide: []float64{math.Pi, 1e-300}},
	}}
	f.Seal()
	b, err := Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	back, err := Unmarshal(b)
	if err != nil || !back.Sealed() {
		t.Fatalf("a sealed file is read with the error %v", err)
	}
	if diff := cmp.Diff(f, back); diff != "" {
		t.Errorf("(-written +read):\n%s", diff)
	}
	for i := range b {
		for bit := range 8 {
			damaged := append([]byte(nil), b...)
			damaged[i] ^= 1 << bit
			if read, err := Unmarshal(damaged); err == nil && read.Sealed() && !cmp.Equal(read, back) {
				t.Fatalf("bit %d of byte %d flipped is not noticed", bit, i)
			}
		}
	}
	// The order of tensors is no part of the content.
	f.Tensors[0], f.Tensors[1] = f.Tensors[1], f.Tensors[0]
	if f.Checksum() != f.Metadata["checksum"] {
		t.Error("the checksum depends on the order of the tensors")
	}
}
