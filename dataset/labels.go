package dataset

import (
	"errors"
	"fmt"
	"slices"

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
			return nil, errors.New("no training row is of class 0, and classes are numbered from 0: subtract 1 from labels that begin at 1, or leave it 0 for all labels")
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
