package dataset

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"slices"
	"unsafe"

	files "github.com/helmholtz-go/helmholtz/internal/file"
	"github.com/helmholtz-go/helmholtz/internal/memory"
	"github.com/helmholtz-go/helmholtz/internal/numbers"
	"github.com/helmholtz-go/helmholtz/internal/statistics"
)

// A stored set begins with two lines: the name of the format, and the header as JSON. The bytes of the splits
// follow. A split has its values, row-major, its labels if it has any, and the lengths of its sequences as
// little-endian uint32. If all values of the set are 0 or 255, each takes a bit, beginning with the lowest bit of
// the first byte. Otherwise, a value takes a byte. Real numbers are little-endian float32. The last key of the
// header is a checksum of the keys before it and of the bytes after it; sets of earlier versions have no
// checksum.
const (
	storedMagic = "helmholtz data set 1\n"
	// maxStoredHeader bounds the header. Its longest parts are paths and the columns of a table.
	maxStoredHeader = 1 << 18
	// checksumMark precedes the checksum in the header.
	checksumMark = `,"checksum":"`
)

// storedHeader is the header of a stored set.
type storedHeader struct {
	Spec         Spec           `json:"spec"`
	MadeFromRows bool           `json:"made_from_rows,omitempty"`
	Height       int            `json:"height"`
	Width        int            `json:"width"`
	Bits         int            `json:"bits"` // per value
	Splits       [3]storedSplit `json:"splits"`
	Columns      []Column       `json:"columns,omitempty"`
	Classes      []string       `json:"classes,omitempty"`
	Spins        bool           `json:"spins,omitempty"`
	Keys         []int          `json:"keys,omitempty"`
	Scalings     []scaling      `json:"scalings,omitempty"`
	Fingerprint  string         `json:"fingerprint"`
	Checksum     string         `json:"checksum,omitempty"`
}

// storedSplit describes the training, validation or test rows.
type storedSplit struct {
	Rows    int  `json:"rows"`
	Labeled bool `json:"labelled,omitempty"`
	Lengths bool `json:"lengths,omitempty"` // whether the rows are sequences
	Weights bool `json:"weights,omitempty"`
	Missing bool `json:"missing,omitempty"` // whether a mask of missing values follows, a bit for each
}

// Save writes the set in the format that Load reads: its Spec, and its rows as they are divided.
func (s *Set) Save(w io.Writer) error {
	h := storedHeader{
		Spec: s.spec, MadeFromRows: s.madeFromRows, Height: s.Shape().Height, Width: s.Shape().Width,
		Bits: 1, Columns: s.columns, Classes: s.classes, Spins: s.spins, Keys: s.keys, Scalings: s.scalings, Fingerprint: s.Fingerprint(),
	}
	splits := [3]Split{s.train, s.validation, s.test}
	for i, split := range splits {
		h.Splits[i] = storedSplit{split.Rows, split.Labels != nil, split.Lengths != nil, split.Weights != nil, split.Missing != nil}
		if split.AreGrey() {
			h.Bits = 8
		}
	}
	if s.train.AreReal() {
		h.Bits = 32
	}
	header, err := json.Marshal(h)
	if err != nil {
		return err
	}
	if len(header) > maxStoredHeader-100 { // the checksum takes up to 100 bytes
		return fmt.Errorf("the columns of %s take %d bytes to describe, and a stored set holds %d: shorten their names, or give their shape if they are pixels", s.Name(), len(header), maxStoredHeader-100)
	}
	header = header[:len(header)-1] // without the brace: the checksum follows
	for s.train.Size() == 0 && (len(storedMagic)+len(header)+len(checksumMark)+2*sha256.Size+len("\"}\n"))%4 != 0 {
		header = append(header, ' ') // so that numbers of a set on disk can be mapped
	}
	writeRows := func(w io.Writer) {
		for _, split := range splits {
			split.eachPart(func(some Values) {
				if h.Bits == 1 {
					w.Write(packBits(nil, some.Bytes()))
				} else {
					some.WriteTo(w)
				}
			})
			w.Write(split.Labels)
			w.Write(lengthBytes(split.Lengths))
			binary.Write(w, binary.LittleEndian, split.Weights)
			w.Write(packMask(split.Missing))
		}
	}
	sum := newStoredSum(header[1:])
	writeRows(sum)
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "%s%s%s%x\"}\n", storedMagic, header, checksumMark, sum.Sum(nil)) // the writer remembers an error
	writeRows(b)
	return b.Flush()
}

// newStoredSum returns a hash of a header's keys before the checksum. The caller adds the bytes after the header.
func newStoredSum(keys []byte) hash.Hash {
	sum := sha256.New()
	sum.Write(keys)
	sum.Write([]byte("\n"))
	return sum
}

// Load reads a set that Save has written. It refuses a set that differs from the saved one, and a set that is
// followed by further bytes.
func Load(r io.Reader) (*Set, error) { return checked(load(r, 0, nil)) }

// LoadFile is like Load, for a file with a number of bytes. If they are more than a quarter of the memory, the rows stay in the
// file, and the system reads them when they are used.
func LoadFile(f *os.File, size int64) (*Set, error) {
	if limit, _ := memory.Limit(); size <= min(limit/4, mostLoaded) || !files.Maps {
		return checked(load(f, size, nil))
	}
	content, release, err := files.Map(f, int(size))
	if err != nil {
		return nil, err
	}
	s, err := checked(load(bytes.NewReader(content), size, content))
	if err != nil {
		_ = release()
	}
	return s, err
}

// mostLoaded is the largest size of a file, in bytes, whose rows LoadFile reads into memory.
var mostLoaded int64 = 1 << 40

func checked(s *Set, fingerprint string, err error) (*Set, error) {
	if err == nil && s.Fingerprint() != fingerprint {
		return nil, fmt.Errorf("the stored data set %s is damaged: its rows have fingerprint %.12s, not %.12s", s.Name(), s.Fingerprint(), fingerprint)
	}
	return s, err
}

// load reads a stored set, and the fingerprint that it should have. size is the size of its file, or 0. If mapped, the content of
// the file, is not nil, the rows stay there.
func load(r io.Reader, size int64, mapped []byte) (s *Set, fingerprint string, err error) {
	b := bufio.NewReaderSize(r, maxStoredHeader)
	h, sum, start, err := readStoredHeader(b, len(mapped))
	if err != nil {
		return nil, "", err
	}
	claim := 0
	for _, split := range h.Splits {
		claim += h.bytes(split)
	}
	var data []byte
	if mapped != nil {
		data = mapped[start:]
		sum.Write(data)
	} else if data, err = storedRows(b, claim, int(size), sum); err != nil {
		return nil, "", err
	}
	switch {
	case len(data) < claim:
		return nil, "", fmt.Errorf("the stored data set is damaged: its header claims %d bytes of rows, but there are %d", claim, len(data))
	case len(data) > claim:
		return nil, "", fmt.Errorf("the stored data set is damaged: its header claims %d bytes of rows, but there are more", claim)
	}
	if h.Checksum != "" && h.Checksum != hex.EncodeToString(sum.Sum(nil)) {
		return nil, "", errors.New("the stored data set is damaged: its checksum does not match")
	}
	var divided [3]Split
	shape := Shape{h.Height, h.Width}
	left := bytes.NewBuffer(data)
	for i, split := range h.Splits {
		of, values, copied := &divided[i], split.Rows*shape.Units(), false
		of.Shape = shape
		switch h.Bits {
		case 1:
			of.Values = byRows(slices.Clip(left.Next((values+7)/8)), split.Rows, shape.Units())
			copied = !of.AreBits() || shape.Units()%8 != 0
		case 8:
			of.Values = Bytes(shape.Units(), slices.Clip(left.Next(values)))
		case 32:
			numbers := left.Next(4 * values)
			reals := realsOf(numbers)
			copied = unsafe.Pointer(unsafe.SliceData(reals)) != unsafe.Pointer(unsafe.SliceData(numbers))
			if slices.ContainsFunc(reals, func(v float32) bool { return !statistics.Finite(float64(v)) }) {
				return nil, "", errors.New("the stored data set is damaged: it has numbers that are not finite")
			}
			of.Values = Reals(shape.Units(), reals)
		}
		if mapped != nil && !copied && split.Rows > 0 {
			of.Values = of.OnDisk()
		}
		if split.Labeled {
			of.Labels = left.Next(split.Rows)
		}
		if split.Lengths {
			for range split.Rows {
				of.Lengths = append(of.Lengths, int(binary.LittleEndian.Uint32(left.Next(4))))
			}
			if err := checkLengths(of.Lengths, split.Rows, shape.Height); err != nil {
				return nil, "", fmt.Errorf("the stored data set is damaged: %w", err)
			}
		}
		if split.Weights {
			of.Weights = make([]float64, split.Rows)
			_, _ = binary.Decode(left.Next(8*split.Rows), binary.LittleEndian, of.Weights)
			if slices.ContainsFunc(of.Weights, func(w float64) bool { return w < 0 || !statistics.Finite(w) }) {
				return nil, "", errors.New("the stored data set is damaged: it has weights that are negative or not finite")
			}
		}
		if split.Missing {
			for _, v := range numbers.Bits(values, left.Next((values+7)/8)).Row(0) {
				of.Missing = append(of.Missing, v != 0)
			}
		}
	}
	s = newSet(h.Spec.OpenedBefore(), divided[0], divided[1], divided[2])
	s.madeFromRows, s.columns, s.classes, s.spins, s.keys, s.scalings = h.MadeFromRows, h.Columns, h.Classes, h.Spins, h.Keys, h.Scalings
	return s, h.Fingerprint, nil
}

// storedRows reads up to n bytes of rows, and one more if there are more, and adds the first n to a hash. size is as in load.
func storedRows(b *bufio.Reader, n, size int, sum hash.Hash) (data []byte, err error) {
	data = make([]byte, 0, min(n, max(firstBytes, size))+1)
	parts, summed := make(chan []byte, 4), make(chan struct{})
	go func() { // beside reading
		for part := range parts {
			sum.Write(part)
		}
		close(summed)
	}()
	for err == nil && len(data) < n {
		first, last := len(data), min(n, len(data)+1<<20)
		data = slices.Grow(data, last-first)
		var read int
		read, err = io.ReadFull(b, data[first:last])
		data = data[:first+read]
		parts <- data[first:]
	}
	close(parts)
	if <-summed; err == nil {
		var more byte
		if more, err = b.ReadByte(); err == nil {
			data = append(data, more)
		}
	}
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = nil
	}
	return data, err
}

// realsOf returns the numbers of little-endian bytes, which it need not copy on most machines.
func realsOf(bytes []byte) []float32 {
	n, first := len(bytes)/4, unsafe.Pointer(unsafe.SliceData(bytes))
	if binary.NativeEndian.Uint16([]byte{1, 0}) == 1 && uintptr(first)%4 == 0 {
		return unsafe.Slice((*float32)(first), n)
	}
	reals := make([]float32, n)
	_, _ = binary.Decode(bytes, binary.LittleEndian, reals)
	return reals
}

// readStoredHeader reads a stored set up to its rows, which begin at start, and returns the hash to which the caller adds the
// bytes of the rows. mapped is the size of the file if it is mapped, or 0.
func readStoredHeader(b *bufio.Reader, mapped int) (h storedHeader, sum hash.Hash, start int, err error) {
	magic, err := b.Peek(len(storedMagic))
	if err != nil && err != io.EOF {
		return h, nil, 0, err
	}
	if string(magic) != storedMagic {
		return h, nil, 0, fmt.Errorf("no stored data set begins with %q: save one with Set.Save", magic)
	}
	if _, err := b.Discard(len(storedMagic)); err != nil {
		return h, nil, 0, err
	}
	text, err := b.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) || errors.Is(err, io.EOF) {
		return h, nil, 0, errors.New("the stored data set is damaged: its header does not end")
	}
	if err != nil {
		return h, nil, 0, err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&h); err != nil {
		return h, nil, 0, fmt.Errorf("the header of the stored data set is damaged: %w", err)
	}
	start = len(storedMagic) + len(text)
	if h.Bits == 1 && h.Height*h.Width%8 != 0 || h.Bits == 32 && start%4 != 0 {
		mapped = 0 // since the rows have to be copied
	}
	if err := h.check(int64(mapped)); err != nil {
		return h, nil, 0, fmt.Errorf("the header of the stored data set is damaged: %w", err)
	}
	// Without checksumMark, the hash covers the whole header, and matches no checksum in it.
	keys, _, _ := bytes.Cut(text[1:], []byte(checksumMark))
	return h, newStoredSum(keys), start, nil
}

// check refuses headers that Save does not write, and headers that claim more values than fit into memory or, if the file is
// mapped, into its size.
func (h storedHeader) check(mapped int64) error {
	shape := Shape{h.Height, h.Width}
	switch err := h.Spec.check(); {
	case err != nil:
		return err
	case h.Height < 1 || h.Width < 1:
		return fmt.Errorf("rows of shape %v", shape)
	case h.Bits != 1 && h.Bits != 8 && h.Bits != 32 || (h.Bits == 32) != (h.Spec.Binarization == Real):
		return fmt.Errorf("%d bits per value with binarization %v", h.Bits, h.Spec.Binarization)
	}
	if h.Keys != nil && (len(h.Keys) != 2 || h.Keys[1]-h.Keys[0]+1 != h.Width) {
		return fmt.Errorf("keys %v for steps of %d units", h.Keys, h.Width)
	}
	units := 0 // that are standardised
	switch {
	case h.Spec.Standardize && h.Splits[0].Lengths:
		units = h.Width
	case h.Spec.Standardize:
		units = shape.Units()
	}
	if len(h.Scalings) != units || slices.ContainsFunc(h.Scalings, func(by scaling) bool { return !(by.SD > 0) }) {
		return fmt.Errorf("%d standard deviations for %d units, or one that is not above 0", len(h.Scalings), units)
	}
	rows := int64(0)
	for _, split := range h.Splits {
		if split.Rows < 0 {
			return fmt.Errorf("%d rows of shape %v", split.Rows, shape)
		}
		rows = memory.Sum(rows, int64(split.Rows))
	}
	size := memory.Product(rows, int64(h.Height), int64(h.Width), int64(h.Bits)) / 8
	if mapped > 0 && size > mapped {
		return fmt.Errorf("%d rows of shape %v in %d bytes", rows, shape, mapped)
	}
	if err := checkRoom(rows, size, bytesEach); mapped == 0 && err != nil {
		return fmt.Errorf("rows of shape %v: %w", shape, err)
	}
	if h.Splits[0].Rows == 0 {
		return errors.New("no rows to train on")
	}
	return nil
}

// bytes returns the number of bytes that a split takes.
func (h storedHeader) bytes(s storedSplit) int {
	n := (s.Rows*h.Height*h.Width*h.Bits + 7) / 8
	if s.Labeled {
		n += s.Rows
	}
	if s.Lengths {
		n += 4 * s.Rows
	}
	if s.Weights {
		n += 8 * s.Rows
	}
	if s.Missing {
		n += (s.Rows*h.Height*h.Width + 7) / 8
	}
	return n
}

// packBits appends values, 0 for off and 1 or 255 for on, as bits. The first bit begins a new byte.
func packBits(packed, values []uint8) []uint8 {
	for eight := range slices.Chunk(values, 8) {
		var bytes [8]uint8
		copy(bytes[:], eight)
		x := binary.LittleEndian.Uint64(bytes[:]) & 0x0101010101010101
		packed = append(packed, uint8(x*0x0102040810204080>>56)) // byte k in bit k
	}
	return packed
}
