// Package safetensors writes and reads files in the safetensors format: named tensors of float32 or float64,
// and metadata, a map of strings. A file consists of the length of a JSON header in eight bytes, the header,
// and the elements of the tensors. The same content gives the same bytes.
//
// The metadata of a sealed file contains a checksum of its content, which Read verifies. For other readers of
// safetensors, the checksum is just another string.
package safetensors

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/helmholtz-go/helmholtz/internal/npy"
	"github.com/helmholtz-go/helmholtz/internal/plainjson"
)

// maxHeader is the largest accepted length of a header, in bytes, hundreds of times larger than the header of
// the deepest machine.
const maxHeader = 8 << 20

// Tensor is a named row-major array, of float32 in Data or of float64 in Wide. The other slice is nil.
type Tensor struct {
	Name  string
	Shape []int
	Data  []float32
	Wide  []float64
}

// Size returns the number of elements.
func (t Tensor) Size() int { return len(t.Data) + len(t.Wide) }

// Finite reports whether all elements are finite.
func (t Tensor) Finite() bool {
	for _, x := range t.Data {
		if x-x != 0 {
			return false
		}
	}
	for _, x := range t.Wide {
		if x-x != 0 {
			return false
		}
	}
	return true
}

// dtype returns the name of the elements' type in a header, and the size of an element in bytes.
func (t Tensor) dtype() (name string, size int) {
	if t.Wide != nil {
		return "F64", 8
	}
	return "F32", 4
}

// appendData appends the elements as a file stores them, little-endian.
func (t Tensor) appendData(b []byte) []byte {
	for _, x := range t.Data {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	for _, x := range t.Wide {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
	}
	return b
}

// File holds the content of a file.
type File struct {
	Metadata map[string]string
	Tensors  []Tensor
}

// checksum is the key of a sealed file's checksum in the metadata.
const checksum = "checksum"

// Checksum returns the SHA-256, in hexadecimal, of the metadata without the checksum itself and of the tensors'
// names, types, shapes and elements. It does not depend on the order of the tensors.
func (f *File) Checksum() string {
	sum := sha256.New()
	for _, key := range slices.Sorted(maps.Keys(f.Metadata)) {
		if key != checksum {
			write(sum, []byte(key), []byte(f.Metadata[key]))
		}
	}
	tensors := slices.SortedFunc(slices.Values(f.Tensors), func(a, b Tensor) int { return strings.Compare(a.Name, b.Name) })
	for _, t := range tensors {
		dtype, _ := t.dtype()
		write(sum, []byte(t.Name), []byte(dtype), fmt.Append(nil, t.Shape), t.appendData(nil))
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// write hashes each part after its length, so that the same bytes have another hash if they are divided into
// other parts.
func write(sum hash.Hash, parts ...[]byte) {
	for _, part := range parts {
		sum.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(part))))
		sum.Write(part)
	}
}

// Seal adds the checksum to the metadata.
func (f *File) Seal() {
	if f.Metadata == nil {
		f.Metadata = map[string]string{}
	}
	f.Metadata[checksum] = f.Checksum()
}

// Sealed reports whether the file carries a checksum.
func (f *File) Sealed() bool { return f.Metadata[checksum] != "" }

// entry describes a tensor in the JSON header.
type entry struct {
	Dtype   string `json:"dtype"`
	Shape   []int  `json:"shape"`
	Offsets [2]int `json:"data_offsets"`
}

// Marshal returns the bytes of a file, with the tensors in the given order. It returns an error if a tensor's
// shape does not match its number of elements, or if two tensors have the same name.
func Marshal(f *File) ([]byte, error) {
	header := map[string]any{}
	if len(f.Metadata) > 0 {
		header["__metadata__"] = f.Metadata
	}
	size := 0
	for _, t := range f.Tensors {
		if n, ok := elements(t.Shape); !ok || n != t.Size() {
			return nil, fmt.Errorf("safetensors: tensor %q of shape %v has %d elements", t.Name, t.Shape, t.Size())
		}
		if _, twice := header[t.Name]; twice {
			return nil, fmt.Errorf("safetensors: two tensors are named %q", t.Name)
		}
		if t.Shape == nil {
			t.Shape = []int{} // for a scalar; null is not a shape
		}
		dtype, width := t.dtype()
		header[t.Name] = entry{dtype, t.Shape, [2]int{size, size + width*t.Size()}}
		size += width * t.Size()
	}
	text, err := json.Marshal(header)
	if err != nil {
		return nil, err
	}
	for len(text)%8 != 0 { // align the data
		text = append(text, ' ')
	}
	out := make([]byte, 0, 8+len(text)+size)
	out = binary.LittleEndian.AppendUint64(out, uint64(len(text)))
	out = append(out, text...)
	for _, t := range f.Tensors {
		out = t.appendData(out)
	}
	return out, nil
}

// Unmarshal reads a file from its bytes, as Read does.
func Unmarshal(b []byte) (*File, error) { return Read(bytes.NewReader(b), int64(len(b))) }

// placed is an entry of the header with the name of its tensor.
type placed struct {
	entry
	name string
}

// Read reads a file of at most size bytes. It checks the header before it reads the tensors, so that it never
// allocates more memory than a file of that size needs. It returns an error if the tensors overlap, leave gaps,
// or do not end with the file, or if the checksum does not match.
func Read(r io.Reader, size int64) (*File, error) { return ReadForeign(r, size, nil) }

// ReadForeign reads the wanted tensors of a file of another program like Read. They may also be of float16 or bfloat16,
// which it converts to float32; the tensors that are not wanted may have any type. If wanted is nil, it is Read.
func ReadForeign(r io.Reader, size int64, wanted func(name string) bool) (*File, error) {
	f := &File{}
	entries, err := f.readHeader(r, size)
	if err != nil {
		return nil, err
	}
	buffer := make([]byte, 1<<16)
	for _, e := range entries {
		if wanted != nil && !wanted(e.name) {
			if _, err := io.CopyN(io.Discard, r, int64(e.Offsets[1]-e.Offsets[0])); err != nil {
				return nil, ends(err, fmt.Sprintf("within tensor %q", e.name))
			}
			continue
		}
		if width := e.width(); width == 0 || width == 2 && wanted == nil {
			return nil, fmt.Errorf("safetensors: tensor %q holds %s, not F32 or F64", e.name, e.Dtype)
		}
		t, err := e.read(r, buffer)
		if err != nil {
			return nil, err
		}
		f.Tensors = append(f.Tensors, t)
	}
	switch n, err := io.ReadFull(r, buffer[:1]); {
	case n > 0:
		return nil, errors.New("safetensors: the file continues after the last tensor")
	case err != io.EOF:
		return nil, err
	}
	if wanted == nil && f.Sealed() && f.Metadata[checksum] != f.Checksum() {
		return nil, errors.New("its checksum does not match: the file was damaged or changed")
	}
	return f, nil
}

// ReadMetadata reads only the header of a file of at most size bytes, and returns its metadata. It does not
// verify the checksum.
func ReadMetadata(r io.Reader, size int64) (map[string]string, error) {
	f := &File{}
	_, err := f.readHeader(r, size)
	return f.Metadata, err
}

// readHeader reads the header of a file of at most size bytes. It sets f.Metadata, and returns the entries of
// the tensors in the order of their data, after checking that these have no gaps and fit into the file.
func (f *File) readHeader(r io.Reader, size int64) ([]placed, error) {
	start := make([]byte, 8)
	if _, err := io.ReadFull(r, start); err != nil {
		return nil, ends(err, "within the length of its header")
	}
	left := uint64(max(0, size-8))
	length := binary.LittleEndian.Uint64(start)
	if length > maxHeader || length > left {
		return nil, fmt.Errorf("safetensors: a header of %d bytes in a file of %d", length, size)
	}
	left -= length
	text := make([]byte, length)
	if _, err := io.ReadFull(r, text); err != nil {
		return nil, ends(err, "within its header")
	}
	var header map[string]json.RawMessage
	if err := json.Unmarshal(text, &header); err != nil {
		return nil, fmt.Errorf("safetensors: header: %w", err)
	}
	if raw, ok := header["__metadata__"]; ok {
		if err := json.Unmarshal(raw, &f.Metadata); err != nil {
			return nil, fmt.Errorf("safetensors: metadata: %w", err)
		}
		delete(header, "__metadata__")
	}
	var entries []placed
	for name, raw := range header {
		e := placed{name: name}
		decoder := json.NewDecoder(bytes.NewReader(raw))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&e.entry); err != nil {
			return nil, fmt.Errorf("safetensors: tensor %q: %w", name, err)
		}
		entries = append(entries, e)
	}
	if err := plainjson.Check(text, false); err != nil { // its depth is known now
		return nil, fmt.Errorf("safetensors: header: %w", err)
	}
	slices.SortFunc(entries, func(a, b placed) int {
		if a.Offsets != b.Offsets {
			return slices.Compare(a.Offsets[:], b.Offsets[:])
		}
		return strings.Compare(a.name, b.name)
	})
	at := 0
	for _, e := range entries {
		n, ok := elements(e.Shape)
		switch {
		case e.Offsets[0] != at || e.Offsets[1] < at || uint64(e.Offsets[1]) > left:
			return nil, fmt.Errorf("safetensors: tensor %q lies at bytes %d to %d of %d: expected it at %d", e.name, e.Offsets[0], e.Offsets[1], left, at)
		case !ok || e.width() > 0 && e.width()*n != e.Offsets[1]-at:
			return nil, fmt.Errorf("safetensors: tensor %q of shape %v has %d bytes", e.name, e.Shape, e.Offsets[1]-at)
		}
		at = e.Offsets[1]
	}
	return entries, nil
}

// width returns the size of an element in bytes, or 0 for an unsupported type.
func (e entry) width() int {
	switch e.Dtype {
	case "F16", "BF16":
		return 2
	case "F32":
		return 4
	case "F64":
		return 8
	}
	return 0
}

func (e placed) read(r io.Reader, buffer []byte) (Tensor, error) {
	width := e.width()
	n := (e.Offsets[1] - e.Offsets[0]) / width
	t := Tensor{Name: e.name, Shape: e.Shape}
	if width == 8 {
		t.Wide = make([]float64, n)
	} else {
		t.Data = make([]float32, n)
	}
	for first := 0; first < n; {
		part := buffer[:width*min(n-first, len(buffer)/width)]
		if _, err := io.ReadFull(r, part); err != nil {
			return t, ends(err, fmt.Sprintf("within tensor %q", e.name))
		}
		for ; len(part) > 0; part, first = part[width:], first+1 {
			switch e.Dtype {
			case "F64":
				t.Wide[first] = math.Float64frombits(binary.LittleEndian.Uint64(part))
			case "F32":
				t.Data[first] = math.Float32frombits(binary.LittleEndian.Uint32(part))
			case "F16":
				t.Data[first] = float32(npy.Numbers["f2"].Value(binary.LittleEndian, part))
			case "BF16":
				t.Data[first] = math.Float32frombits(uint32(binary.LittleEndian.Uint16(part)) << 16)
			}
		}
	}
	return t, nil
}

// ends returns err or, if the file ended too early, an error that says where it ended.
func ends(err error, where string) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return fmt.Errorf("safetensors: the file ends %s", where)
	}
	return err
}

// elements returns the number of elements of a shape. ok is false if a size is negative or the number is
// greater than math.MaxInt32.
func elements(shape []int) (n int, ok bool) {
	n = 1
	for _, s := range shape {
		if s < 0 || s > 0 && n > math.MaxInt32/s {
			return 0, false
		}
		n *= s
	}
	return n, true
}
