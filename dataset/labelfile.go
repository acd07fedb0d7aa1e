package dataset

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// readAnyLabels finds the format of a file of labels from its first bytes and reads it.
func readAnyLabels(r io.Reader) (rows, error) {
	b, start, err := begin(r)
	switch {
	case err != nil:
		return rows{}, err
	case bytes.HasPrefix(start, []byte(npyMagic)):
		return readNPYLabels(b)
	case bytes.HasPrefix(start, []byte{0, 0}):
		return readLabels(b)
	}
	return readTextLabels(b)
}

// classOf is the label of a whole number: a class, or Unlabeled of −1 or 255.
func classOf(v int64) (uint8, error) {
	if v < -1 || v > Unlabeled {
		return 0, fmt.Errorf("%d is no class: these go from 0 to %d, and -1 or 255 is a row without one", v, Unlabeled-1)
	}
	return uint8(v), nil
}

// readNPYLabels reads a NumPy array of whole numbers in one dimension.
func readNPYLabels(r io.Reader) (rows, error) {
	header, length, err := readNPYHeader(r)
	if err != nil {
		return rows{}, err
	}
	kind, size := header.Descr.Type, header.Descr.Shape
	if len(size) != 1 {
		return rows{}, fmt.Errorf("the NPY array has shape %v; one number a row is needed", size)
	}
	width, n, err := npyClaim(kind, size, map[string]int{"u1": 1, "i1": 1, "u2": 2, "i2": 2, "u4": 4, "i4": 4, "u8": 8, "i8": 8})
	if err != nil {
		return rows{}, err
	}
	labels, got, err := readRest(r, length, n, width, func(first int, block []byte) ([]uint8, error) {
		for i := range len(block) / width {
			label, err := classOf(wholeNumber(kind, block[width*i:width*(i+1)]))
			if err != nil {
				return nil, fmt.Errorf("row %d: %w", first+i+1, err)
			}
			block[i] = label
		}
		return block[:len(block)/width], nil
	})
	if err == nil {
		err = npyLength(header, got, width*n)
	}
	return rows{labels: labels}, err
}

// wholeNumber is that in the bytes of a value of an NPY type, the largest where it has more than 63
// bits.
func wholeNumber(kind string, b []byte) int64 {
	var eight [8]byte
	if strings.HasPrefix(kind, ">") {
		copy(eight[8-len(b):], b)
	} else {
		for i, v := range b {
			eight[7-i] = v
		}
	}
	number := int64(binary.BigEndian.Uint64(eight[:]))
	if strings.HasPrefix(npyKind(kind), "i") {
		unused := 64 - 8*len(b)
		return number << unused >> unused
	}
	if number < 0 {
		return math.MaxInt64
	}
	return number
}

// readTextLabels reads text of a whole number a line. Empty lines are passed over.
func readTextLabels(r io.Reader) (rows, error) {
	var data rows
	lines := bufio.NewScanner(r)
	for line := 1; lines.Scan(); line++ {
		text := strings.TrimSpace(lines.Text())
		if text == "" {
			continue
		}
		v, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return rows{}, fmt.Errorf("line %d: %.20q is no whole number: give a class a line, IDX of bytes, or an NPY array of whole numbers", line, text)
		}
		label, err := classOf(v)
		if err != nil {
			return rows{}, fmt.Errorf("line %d: %w", line, err)
		}
		data.labels = append(data.labels, label)
	}
	err := lines.Err()
	if err == nil && len(data.labels) == 0 {
		err = errors.New("the file has no labels")
	}
	return data, err
}
