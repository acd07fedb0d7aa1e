// Package safetensors writes and reads files of named float32 tensors with a
// map of text, in the safetensors format: the length of a JSON header in eight
// bytes, the header, the data. The same tensors give the same bytes.
package safetensors

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
)

// maxHeader is the longest header that is read.
const maxHeader = 100 << 20

// Tensor is a named array of float32, row-major.
type Tensor struct {
	Name  string
	Shape []int
	Data  []float32
}

// File is the content of a file.
type File struct {
	Metadata map[string]string
	Tensors  []Tensor
}

// Tensor returns the tensor of a name.
func (f *File) Tensor(name string) (Tensor, bool) {
	i := slices.IndexFunc(f.Tensors, func(t Tensor) bool { return t.Name == name })
	if i < 0 {
		return Tensor{}, false
	}
	return f.Tensors[i], true
}

// entry describes a tensor in the header.
type entry struct {
	Dtype   string `json:"dtype"`
	Shape   []int  `json:"shape"`
	Offsets [2]int `json:"data_offsets"`
}

// Marshal returns the bytes of a file. Tensors lie in the order given.
func Marshal(f *File) ([]byte, error) {
	header := map[string]any{}
	if len(f.Metadata) > 0 {
		header["__metadata__"] = f.Metadata
	}
	size := 0
	for _, t := range f.Tensors {
		if n, ok := elements(t.Shape); !ok || n != len(t.Data) {
			return nil, fmt.Errorf("safetensors: tensor %q of shape %v has %d elements", t.Name, t.Shape, len(t.Data))
		}
		if _, twice := header[t.Name]; twice {
			return nil, fmt.Errorf("safetensors: two tensors are named %q", t.Name)
		}
		header[t.Name] = entry{"F32", t.Shape, [2]int{size, size + 4*len(t.Data)}}
		size += 4 * len(t.Data)
	}
	text, err := json.Marshal(header)
	if err != nil {
		return nil, err
	}
	for len(text)%8 != 0 { // so that the data are aligned
		text = append(text, ' ')
	}
	out := make([]byte, 0, 8+len(text)+size)
	out = binary.LittleEndian.AppendUint64(out, uint64(len(text)))
	out = append(out, text...)
	for _, t := range f.Tensors {
		for _, x := range t.Data {
			out = binary.LittleEndian.AppendUint32(out, math.Float32bits(x))
		}
	}
	return out, nil
}

// Unmarshal reads the bytes of a file. It allocates no more than they account
// for, and refuses bytes that are missing, left over or shared by tensors.
func Unmarshal(b []byte) (*File, error) {
	if len(b) < 8 {
		return nil, errors.New("safetensors: the file ends within the length of its header")
	}
	length := binary.LittleEndian.Uint64(b)
	if length > maxHeader || length > uint64(len(b)-8) {
		return nil, fmt.Errorf("safetensors: a header of %d bytes in a file of %d", length, len(b))
	}
	text, data := b[8:8+length], b[8+length:]

	var header map[string]json.RawMessage
	if err := json.Unmarshal(text, &header); err != nil {
		return nil, fmt.Errorf("safetensors: header: %w", err)
	}
	f := &File{}
	if raw, ok := header["__metadata__"]; ok {
		if err := json.Unmarshal(raw, &f.Metadata); err != nil {
			return nil, fmt.Errorf("safetensors: metadata: %w", err)
		}
		delete(header, "__metadata__")
	}
	type placed struct {
		entry
		name string
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
		case e.Dtype != "F32":
			return nil, fmt.Errorf("safetensors: tensor %q holds %s, not F32", e.name, e.Dtype)
		case e.Offsets[0] != at || e.Offsets[1] < at || e.Offsets[1] > len(data):
			return nil, fmt.Errorf("safetensors: tensor %q lies at bytes %d to %d of %d: expected it at %d", e.name, e.Offsets[0], e.Offsets[1], len(data), at)
		case !ok || 4*n != e.Offsets[1]-at:
			return nil, fmt.Errorf("safetensors: tensor %q of shape %v has %d bytes", e.name, e.Shape, e.Offsets[1]-at)
		}
		t := Tensor{Name: e.name, Shape: e.Shape, Data: make([]float32, n)}
		for i := range t.Data {
			t.Data[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[at+4*i:]))
		}
		f.Tensors = append(f.Tensors, t)
		at = e.Offsets[1]
	}
	if at != len(data) {
		return nil, fmt.Errorf("safetensors: %d bytes after the last tensor", len(data)-at)
	}
	return f, nil
}

// elements multiplies the sizes of a shape; ok is false for negative sizes and
// for products that no file can hold.
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
