package dataset

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/helmholtz-go/helmholtz/internal/npy"
	"github.com/helmholtz-go/helmholtz/internal/philox"
)

// Unlabeled is the label of a row that has none.
const Unlabeled = 255

// Streams of the purpose Subset.
const (
	keptRows = iota
	keptLabels
)

// Classes is the number of classes of the labels, 0 of a set without labels.
func (s *Set) Classes() int {
	return max(classes(s.train.Labels), classes(s.validation.Labels), classes(s.test.Labels))
}

// CheckClasses refuses labels of more classes than a model has.
func (s *Set) CheckClasses(classes int) error {
	if s.Classes() <= classes {
		return nil
	}
	if first := s.firstClass(); first > 0 && s.Classes()-first <= classes {
		return fmt.Errorf("classes = %d for %s, whose labels begin at %d and end at %d, while classes are numbered from 0: shift the labels of a file by first_label = %[3]d (--first-label %[3]d), or subtract %[3]d from each",
			classes, s.Name(), first, s.Classes()-1)
	}
	return fmt.Errorf("classes = %d for %s, whose labels go up to %d: give classes = %d", classes, s.Name(), s.Classes()-1, s.Classes())
}

// firstClass returns the least label of all rows.
func (s *Set) firstClass() int {
	first := Unlabeled
	for _, labels := range [][]uint8{s.train.Labels, s.validation.Labels, s.test.Labels} {
		for _, label := range labels {
			first = min(first, int(label))
		}
	}
	return first
}

func classes(labels []uint8) int {
	n := 0
	for _, label := range labels {
		if label != Unlabeled {
			n = max(n, int(label)+1)
		}
	}
	return n
}

// keepLabels returns the labels of the rows with all but n taken away, of each
// class alike. Those of a smaller n are among those of a larger one. given are the labels
// of all rows of the data, of which these are some.
func (r rows) keepLabels(n int, given []uint8, stream *philox.Stream) ([]uint8, error) {
	count := classes(given)
	if classes(r.labels) == 0 {
		return nil, errors.New("its rows have no labels: leave it 0, use a set with labels, such as mnist, fashion or glyphs, or give those of a file of your own by label_file")
	}
	have := make([]int, count)
	for _, label := range r.labels {
		if label != Unlabeled {
			have[label]++
		}
	}
	for class, rows := range have {
		switch {
		case rows > 0:
		case slices.Contains(given, uint8(class)):
			return nil, fmt.Errorf("none of the %d training rows that are kept is of class %d: keep more of them (subset), hold out fewer (validation), or leave it 0 for all labels", len(r.labels), class)
		case class == 0:
			return nil, errors.New("no training row is of class 0, and classes are numbered from 0: shift labels that begin at 1 by first_label = 1 (--first-label 1), or leave it 0 for all labels")
		default:
			return nil, fmt.Errorf("no training row is of class %d: number the classes from 0 without gaps, or leave it 0 for all labels", class)
		}
	}
	if n%count != 0 {
		return nil, fmt.Errorf("its labels have %d classes: give a multiple of %d", count, count)
	}
	for class, rows := range have {
		if rows < n/count {
			return nil, fmt.Errorf("only %d training rows are of class %d: give at most %d", rows, class, count*rows)
		}
	}
	kept := slices.Repeat([]uint8{Unlabeled}, len(r.labels))
	left := slices.Repeat([]int{n / count}, count)
	for _, row := range stream.Perm(len(r.labels)) {
		if label := r.labels[row]; label != Unlabeled && left[label] > 0 {
			left[label]--
			kept[row] = label
		}
	}
	return kept, nil
}

// readAnyLabels finds the format of a file of labels from its first bytes and reads it.
func readAnyLabels(r io.Reader) (rows, error) {
	b, start, err := begin(r)
	switch {
	case err != nil:
		return rows{}, err
	case bytes.HasPrefix(start, []byte(npy.Magic)):
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
	header, length, err := npy.ReadHeader(r)
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
	if strings.HasPrefix(npy.Kind(kind), "i") {
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
