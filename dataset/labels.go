package dataset

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/helmholtz-go/helmholtz/internal/npy"
	"github.com/helmholtz-go/helmholtz/internal/philox"
)

// Unlabeled is the label of a row without a class.
const Unlabeled = 255

// These are the random streams of the purpose philox.Subset.
const (
	keptRows = iota
	keptLabels
)

// Classes returns the number of classes of the labels, or 0 for a set without labels.
func (s *Set) Classes() int {
	return max(classes(s.train.Labels), classes(s.validation.Labels), classes(s.test.Labels))
}

// ClassNames returns the names of the classes, in the order of their numbers, or nil if the classes are only numbers.
func (s *Set) ClassNames() []string {
	for _, c := range s.columns {
		if c.Kind == LabelColumn {
			return slices.Clone(c.Values)
		}
	}
	return slices.Clone(s.classes)
}

// CheckClasses refuses labels of more classes than a model has.
func (s *Set) CheckClasses(classes int) error {
	if s.Classes() <= classes {
		return nil
	}
	if first := s.firstClass(); first > 0 && s.Classes()-first <= classes {
		return fmt.Errorf("classes = %d for %s, whose labels begin at %d and end at %d, while classes are numbered from 0: shift the labels of a file with first_label = %[3]d (--first-label %[3]d), or subtract %[3]d from each",
			classes, s.Name(), first, s.Classes()-1)
	}
	return fmt.Errorf("classes = %d for %s, whose labels go up to %d: give classes = %d", classes, s.Name(), s.Classes()-1, s.Classes())
}

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

// perClass returns the number of labels of each class.
func perClass(labels []uint8, classes int) []int {
	counts := make([]int, classes)
	for _, label := range labels {
		if label != Unlabeled {
			counts[label]++
		}
	}
	return counts
}

// keepLabels returns a copy of the labels in which all but n are Unlabeled. It keeps the same number of labels
// for each class. A smaller n keeps a subset of the labels that a larger n keeps. given holds the labels of all
// rows of the data, including these rows.
func (r Split) keepLabels(n int, given []uint8, stream *philox.Stream) ([]uint8, error) {
	count := classes(given)
	if classes(r.Labels) == 0 {
		return nil, errors.New("its rows have no labels: set labels = 0, use a set with labels, such as mnist, fashion or glyphs, or give the labels of your own file with label_file")
	}
	have := perClass(r.Labels, count)
	for class, rows := range have {
		switch {
		case rows > 0:
		case slices.Contains(given, uint8(class)):
			return nil, fmt.Errorf("none of the %d training rows that are kept is of class %d: keep more of them (subset), hold out fewer (validation), or keep all labels with 0", len(r.Labels), class)
		case class == 0:
			return nil, errors.New("no training row is of class 0, and classes are numbered from 0: shift labels that begin at 1 with first_label = 1 (--first-label 1), or keep all labels with 0")
		default:
			return nil, fmt.Errorf("no training row is of class %d: number the classes from 0 without gaps, or keep all labels with 0", class)
		}
	}
	if n%count != 0 {
		return nil, fmt.Errorf("its labels have %d classes: give a multiple of %d", count, count)
	}
	if rows := slices.Min(have); rows < n/count {
		return nil, fmt.Errorf("only %d training rows are of class %d: give at most %d", rows, slices.Index(have, rows), count*rows)
	}
	kept := slices.Repeat([]uint8{Unlabeled}, len(r.Labels))
	left := slices.Repeat([]int{n / count}, count)
	for _, row := range stream.Perm(len(r.Labels)) {
		if label := r.Labels[row]; label != Unlabeled && left[label] > 0 {
			left[label]--
			kept[row] = label
		}
	}
	return kept, nil
}

// readPickedLabels reads the labels in a file. It detects the format of the file. pick names the array if the
// file has several.
func readPickedLabels(r io.Reader, pick string) ([]uint8, error) {
	b, start, err := begin(r)
	if err != nil {
		return nil, err
	}
	if array, is, err := readArray(b, start, pick); is {
		if err != nil {
			return nil, err
		}
		return array.labels()
	}
	if err := checkRead(start); err != nil {
		return nil, err
	}
	return readTextLabels(b)
}

// readArrays reads the arrays of a file, and reports whether the format of the file has arrays, and whether they have names.
// start holds the first bytes of the file. If pick is not empty, only the array of that name is read.
func readArrays(b *input, start []byte, pick string) (arrays []tensor, is, named bool, err error) {
	var array tensor
	switch {
	case bytes.HasPrefix(start, []byte("PK\x03\x04")):
		arrays, err = readArchive(b, pick)
		return arrays, true, true, err
	case bytes.HasPrefix(start, []byte(matlabMagic)):
		arrays, err = readMatlab(b, pick)
		return arrays, true, true, err
	case bytes.HasPrefix(start, []byte(npy.Magic)):
		array, err = readNPY(b)
	case bytes.HasPrefix(start, []byte{0, 0}) && checkRead(start) == nil:
		array, err = readIDX(b)
	default:
		return nil, false, false, nil
	}
	return []tensor{array}, true, false, err
}

// readArray is like readArrays, for a file with one array or with one of the name pick.
func readArray(b *input, start []byte, pick string) (array tensor, is bool, err error) {
	arrays, is, _, err := readArrays(b, start, pick)
	if is && err == nil && len(arrays) != 1 {
		err = errors.New("the file has several arrays, or none with this name: give FILE#NAME with the name of the array of labels")
	}
	if !is || err != nil {
		return tensor{}, is, err
	}
	return arrays[0], true, nil
}

// classOf returns the label for a whole number: a class, or Unlabeled for −1 or 255.
func classOf(v int64) (uint8, error) {
	if v < -1 || v > Unlabeled {
		return 0, fmt.Errorf("%d is not a class: classes go from 0 to %d, and -1 or 255 marks a row without a class", v, Unlabeled-1)
	}
	return uint8(v), nil
}

// checkSigns refuses labels that are all -1 and 1. minus reports whether one of them was written as -1, not as 255.
func checkSigns(labels []uint8, minus bool) error {
	if minus && slices.Contains(labels, 1) && !slices.ContainsFunc(labels, func(label uint8) bool { return label != 1 && label != Unlabeled }) {
		return errors.New("all labels are -1 or 1, but -1 means no label: write 0 and 1 for two classes")
	}
	return nil
}

// readTextLabels reads text with one whole number per line. It skips empty lines.
func readTextLabels(r io.Reader) (labels []uint8, err error) {
	minus := false
	lines := bufio.NewScanner(r)
	for line := 1; lines.Scan(); line++ {
		text := strings.TrimSpace(lines.Text())
		if text == "" {
			continue
		}
		v, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("line %d: %.20q is not a whole number: give one class per line, IDX of bytes, or an NPY array of whole numbers", line, text)
		}
		label, err := classOf(v)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
		labels = append(labels, label)
		minus = minus || v < 0
	}
	err = lines.Err()
	if err == nil && len(labels) == 0 {
		err = errors.New("the file has no labels")
	}
	err = cmp.Or(err, checkSigns(labels, minus))
	return labels, err
}
