// Package safetensors writes and reads files of named tensors of float32 or float64 with a map of
// texts, in the safetensors format: the length of a JSON header in eight bytes, the header, and the
// data. The same tensors give the same bytes.
//
// A sealed file carries a checksum of its content among its texts, which is verified when the file
// is read. Other readers of safetensors see one more text.
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
)

// maxHeader is the length of the longest accepted header: hundreds of times the header of a machine
// with the most layers.
const maxHeader = 8 << 20

// Tensor is a named row-major array of float32 or of float64: one of Data and Wide is nil.
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

// dtype returns the name of the elements' type in a header, and their size in bytes.
func (t Tensor) dtype() (name string, size int) {
	if t.Wide != nil {
		return "F64", 8
	}
	return "F32", 4
}

// appendData appends the elements in the form of a file.
func (t Tensor) appendData(b []byte) []byte {
	for _, x := range t.Data {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	for _, x := range t.Wide {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
	}
	return b
}

// File is the content of a file.
type File struct {
	Metadata map[string]string
	Tensors  []Tensor
}

// Tensor returns the tensor with a name.
func (f *File) Tensor(name string) (Tensor, bool) {
	i := slices.IndexFunc(f.Tensors, func(t Tensor) bool { return t.Name == name })
	if i < 0 {
		return Tensor{}, false
	}
	return f.Tensors[i], true
}

// checksum is the key of the checksum of a sealed file.
const checksum = "checksum"

// Checksum returns the SHA-256, in hexadecimal, of the tensors' names, types, shapes and elements
// and of the texts except the checksum, in any order.
func (f *File) Checksum() string {
	sum := sha256.New()
	for _, key := range slices.Sorted(maps.Keys(f.Metadata)) {
		if key != checksum {
			write(sum, []byte(key), []byte(f.Metadata[key]))
		}
	}
	tensors := slices.SortedFunc(slices.Values(f.Tensors), func(a, b Tensor) int { return bytes.Compare([]byte(a.Name), []byte(b.Name)) })
	for _, t := range tensors {
		dtype, _ := t.dtype()
		write(sum, []byte(t.Name), []byte(dtype), fmt.Append(nil, t.Shape), t.appendData(nil))
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// write hashes texts with their lengths, so that their boundaries matter.
func write(sum hash.Hash, texts ...[]byte) {
	for _, text := range texts {
		sum.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(text))))
		sum.Write(text)
	}
}

// Seal adds the checksum to the texts.
func (f *File) Seal() {
	if f.Metadata == nil {
		f.Metadata = map[string]string{}
	}
	f.Metadata[checksum] = f.Checksum()
}

// Sealed reports whether the file carries a checksum.
func (f *File) Sealed() bool { return f.Metadata[checksum] != "" }

// ErrDamaged is the error for a file whose content does not match its checksum.
var ErrDamaged = errors.New("its checksum does not match: the file was damaged or changed")

// entry describes a tensor in the header.
type entry struct {
	Dtype   string `json:"dtype"`
	Shape   []int  `json:"shape"`
	Offsets [2]int `json:"data_offsets"`
}

// Marshal returns the bytes of a file. Tensors are stored in the given order.
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

// Unmarshal reads the bytes of a file, as Read does.
func Unmarshal(b []byte) (*File, error) { return Read(bytes.NewReader(b), int64(len(b))) }

// placed is a tensor with its place among the elements of a file.
type placed struct {
	entry
	name string
}

// Read reads a file of at most size bytes. It allocates no more than these justify. It refuses
// missing, surplus or shared bytes, and returns ErrDamaged for a wrong checksum. It checks the
// header before it reads the rest.
func Read(r io.Reader, size int64) (*File, error) {
	f := &File{}
	entries, err := f.readHeader(r, size)
	if err != nil {
		return nil, err
	}
	buffer := make([]byte, 1<<16)
	for _, e := range entries {
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
	if f.Sealed() && f.Metadata[checksum] != f.Checksum() {
		return nil, ErrDamaged
	}
	return f, nil
}

// ReadMetadata reads the metadata of a file of at most size bytes, and nothing after its header, so
// it verifies no checksum.
func ReadMetadata(r io.Reader, size int64) (map[string]string, error) {
	f := &File{}
	_, err := f.readHeader(r, size)
	return f.Metadata, err
}

// readHeader reads a file up to its elements: the texts, and the tensors in the order of their
// places, which fill the rest of at most size bytes.
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
	slices.SortFunc(entries, func(a, b placed) int {
		if a.Offsets != b.Offsets {
			return slices.Compare(a.Offsets[:], b.Offsets[:])
		}
		return bytes.Compare([]byte(a.name), []byte(b.name))
	})
	at := 0
	for _, e := range entries {
		n, ok := elements(e.Shape)
		switch {
		case e.width() == 0:
			return nil, fmt.Errorf("safetensors: tensor %q holds %s, not F32 or F64", e.name, e.Dtype)
		case e.Offsets[0] != at || e.Offsets[1] < at || uint64(e.Offsets[1]) > left:
			return nil, fmt.Errorf("safetensors: tensor %q lies at bytes %d to %d of %d: expected it at %d", e.name, e.Offsets[0], e.Offsets[1], left, at)
		case !ok || e.width()*n != e.Offsets[1]-at:
			return nil, fmt.Errorf("safetensors: tensor %q of shape %v has %d bytes", e.name, e.Shape, e.Offsets[1]-at)
		}
		at = e.Offsets[1]
	}
	return entries, nil
}

// width returns the size of an element in bytes, or 0 for an unsupported type.
func (e entry) width() int {
	return map[string]int{"F32": 4, "F64": 8}[e.Dtype]
}

// read reads the elements of the tensor through a buffer.
func (e placed) read(r io.Reader, buffer []byte) (Tensor, error) {
	n, width := (e.Offsets[1]-e.Offsets[0])/e.width(), e.width()
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
			if width == 8 {
				t.Wide[first] = math.Float64frombits(binary.LittleEndian.Uint64(part))
			} else {
				t.Data[first] = math.Float32frombits(binary.LittleEndian.Uint32(part))
			}
		}
	}
	return t, nil
}

// ends returns the error for a file that ends too early.
func ends(err error, where string) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return fmt.Errorf("safetensors: the file ends %s", where)
	}
	return err
}

// elements multiplies the sizes of a shape; ok is false for negative sizes and for products that no
// file can hold.
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
