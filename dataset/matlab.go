package dataset

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/helmholtz-go/helmholtz/internal/npy"
)

// A MATLAB file of version 5 (the MAT-file format 5 published by MathWorks) has a header of 128 bytes, then
// elements. An element has a type, a number of bytes, and the bytes, padded to a multiple of 8. The element of
// an array has inner elements: flags, sizes, a name, and the numbers in column order, in any type that can hold
// them.
const (
	matlabMagic   = "MATLAB 5.0 MAT-file"
	matlabHeader  = 128
	matlabMatrix  = 14
	matlabZipped  = 15
	matlabLogical = 2 // a flag
	matlabComplex = 8 // a flag
	// maxMatlabName bounds names, and maxMatlabSizes dimensions; rows have 4 dimensions.
	maxMatlabName  = 256
	maxMatlabSizes = 16
)

// matlabTypes maps types of elements to types of numbers.
var matlabTypes = map[uint32]string{1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}

// Arrays with classes in this range hold numbers. An element may hold them in a smaller type than their class has.
const firstNumeric, lastNumeric = 6, 15

// matlabClasses has the types of the numbers of these classes.
var matlabClasses = [...]string{"f8", "f4", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"}

// readMatlab returns the arrays of numbers in a MATLAB file, or only the array that pick names. It skips cells,
// structures and text.
func readMatlab(in *input, pick string) (arrays []tensor, err error) {
	header := make([]byte, matlabHeader)
	if _, err := io.ReadFull(in, header); err != nil {
		return nil, matlabError(err)
	}
	var order binary.ByteOrder = binary.LittleEndian
	if string(header[126:]) == "MI" {
		order = binary.BigEndian
	}
	var skipped error // of the first cell or structure
	for {
		kind, size, _, err := matlabTag(in, order)
		if err == io.EOF && len(arrays) == 0 {
			return nil, skipped
		}
		if err == io.EOF {
			return arrays, nil
		}
		if err != nil {
			return nil, matlabError(err)
		}
		body := &counter{Reader: io.LimitReader(in, int64(size))}
		var a tensor
		var numeric bool
		switch kind {
		case matlabZipped:
			z, err := zlib.NewReader(body)
			if err != nil {
				return nil, damaged(err)
			}
			inside := &decompressor{Reader: z, compressed: body}
			kind, size, _, err := matlabTag(inside, order)
			if err != nil || kind != matlabMatrix {
				return nil, matlabError(io.ErrUnexpectedEOF)
			}
			a, numeric, err = matlabArray(inside, order, size, pick)
			if err != nil {
				return nil, err
			}
			if numeric { // the checksum follows the array
				if _, err := io.Copy(io.Discard, inside); err != nil {
					return nil, err
				}
			}
		case matlabMatrix:
			if a, numeric, err = matlabArray(body, order, size, pick); err != nil {
				return nil, err
			}
			size += -size & 7
		}
		if _, err := io.Copy(io.Discard, io.LimitReader(in, int64(size)-body.done)); err != nil {
			return nil, err
		}
		if numeric {
			arrays = append(arrays, a)
		} else if remedy := matlabRemedies[a.kind]; remedy != "" && skipped == nil && (pick == "" || a.name == pick) {
			skipped = fmt.Errorf("%s of the MATLAB file is a %s, not an array of numbers: save what is in it, for example with "+remedy, a.name, a.kind, a.name)
		}
	}
}

// matlabRemedies are lines of Python that save what is in a value of MATLAB, by its kind; %q stands for its name.
var matlabRemedies = map[string]string{
	"cell":      `numpy.save("rows.npy", numpy.array(scipy.io.loadmat(FILE, simplify_cells=True)[%q].tolist()))`,
	"structure": `scipy.io.savemat("rows.mat", scipy.io.loadmat(FILE, simplify_cells=True)[%q])`,
}

func matlabError(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return errors.New("the MATLAB file is damaged or ends early: save it again with save -v7")
	}
	return err
}

// matlabTag reads the type of an element and the number of its bytes. If the tag itself holds the bytes, at most
// four, it returns them as small.
func matlabTag(r io.Reader, order binary.ByteOrder) (kind, size uint32, small []byte, err error) {
	tag := make([]byte, 8)
	if _, err := io.ReadFull(r, tag); err != nil {
		return 0, 0, nil, err
	}
	kind, size = order.Uint32(tag), order.Uint32(tag[4:])
	if few := kind >> 16; few != 0 {
		return kind & 0xffff, few, tag[4:][:min(few, 4)], nil
	}
	return kind, size, nil, nil
}

// matlabPart reads the bytes of an element. It refuses an element of more than most bytes.
func matlabPart(r io.Reader, order binary.ByteOrder, most uint32) ([]byte, error) {
	_, size, small, err := matlabTag(r, order)
	if err != nil || small != nil {
		return small, err
	}
	if size > most {
		return nil, io.ErrUnexpectedEOF
	}
	part := make([]byte, size+-size&7)
	_, err = io.ReadFull(r, part)
	return part[:size], err
}

// matlabArray reads an array of numbers. numeric is false for an array that it skips: one that is empty, does
// not hold numbers, or has another name than pick, if pick is set.
func matlabArray(r io.Reader, order binary.ByteOrder, size uint32, pick string) (a tensor, numeric bool, err error) {
	r = io.LimitReader(r, int64(size))
	flags, err := matlabPart(r, order, 8)
	if err != nil || len(flags) < 8 {
		return a, false, matlabError(io.ErrUnexpectedEOF)
	}
	sizes, err := matlabPart(r, order, 4*maxMatlabSizes)
	if err == nil && len(sizes) < 8 { // an array has at least two dimensions
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return a, false, matlabError(err)
	}
	for i := 0; i+4 <= len(sizes); i += 4 {
		a.size = append(a.size, int(int32(order.Uint32(sizes[i:]))))
	}
	name, err := matlabPart(r, order, maxMatlabName)
	if err != nil {
		return a, false, matlabError(err)
	}
	a.name = string(name)
	class := order.Uint32(flags) & 0xff
	a.kind = map[uint32]string{1: "cell", 2: "structure"}[class]
	if class < firstNumeric || class > lastNumeric || pick != "" && a.name != pick || product(a.size) == 0 {
		if class == 5 && (pick == "" || a.name == pick) {
			err = fmt.Errorf("array %s is sparse: save full(%[1]s), or in Python with numpy.save(\"rows.npy\", scipy.io.loadmat(FILE)[%[1]q].toarray())", a.name)
		}
		return a, false, err
	}
	if order.Uint32(flags)>>8&matlabComplex != 0 {
		return a, false, fmt.Errorf("array %s is complex: save real(%[1]s) or abs(%[1]s), or both parts as columns with [real(%[1]s) imag(%[1]s)]", a.name)
	}
	a.truth = order.Uint32(flags)>>8&matlabLogical != 0
	kind, claim, small, err := matlabTag(r, order)
	of, known := npy.Numbers[matlabTypes[kind]]
	if err != nil || !known {
		return a, false, matlabError(io.ErrUnexpectedEOF)
	}
	values := io.LimitReader(r, int64(claim))
	if small != nil {
		values = bytes.NewReader(small)
	}
	got, err := a.read(values, 0, matlabTypes[kind], order)
	if err != nil {
		return a, false, fmt.Errorf("array %s: %w", a.name, err)
	}
	if got != of.Width*product(a.size) {
		return a, false, fmt.Errorf("array %s has %d bytes of numbers, but its size %v needs %d: save it again with save -v7", a.name, got, a.size, of.Width*product(a.size))
	}
	if a.kind = matlabClasses[class-firstNumeric]; a.truth {
		a.kind = "b1"
	}
	if a.truth && a.bytes == nil {
		return a, false, matlabError(io.ErrUnexpectedEOF)
	}
	if class == firstNumeric && a.bytes != nil && !a.truth { // MATLAB saves doubles as bytes if bytes can hold them
		for _, v := range a.bytes {
			a.numbers = append(a.numbers, float64(v))
		}
		a.bytes = nil
	}
	a = a.transposed()
	return a, true, err
}

// turned returns the arrays of a MATLAB file with square images reordered from height × width × rows to rows × height ×
// width. It leaves sequences, which have a length each.
func turned(arrays []tensor, pick string) ([]tensor, error) {
	if len(arrays) == 0 {
		if pick != "" {
			return nil, fmt.Errorf("the MATLAB file has no array of numbers named %s", pick)
		}
		return nil, errors.New("the MATLAB file has no arrays of numbers")
	}
	for i, a := range arrays {
		if len(a.size) != 3 || slices.ContainsFunc(arrays, func(of tensor) bool { return of.areLengths() && of.count() == a.size[0] }) {
			continue
		}
		h, w, n := a.size[0], a.size[1], a.size[2]
		switch {
		case h == w && n != w:
			a.size = []int{n, h * w} // of the transposed array, which has its last dimension first
			a = a.transposed()
			a.size = []int{n, h, w}
			arrays[i] = a
		case w != n:
			return nil, fmt.Errorf("array %s has size %v: images that are not square have to be rows × height × width; save permute(%[1]s, [3 1 2])", a.name, a.size)
		}
	}
	return arrays, nil
}
