package dataset

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/internal/npy"
)

// FromRows makes a set of rows of one's own. Each row has shape.Units() values from 0 to
// 1, which are rounded to 0 or 1, as Fixed says: FromRows of a Spec can do something else
// with grey values, which are kept as multiples of 1/255. Rows of another length and
// other values are refused. Where test has no rows, a tenth of train, drawn by seed,
// become the test rows.
func FromRows(name string, shape Shape, train, test [][]float64) (*Set, error) {
	return Spec{Name: name}.FromRows(shape, train, test)
}

// FromRows makes a set of rows of one's own, divided as the Spec says. Its
// Name must not be that of another set: such a set cannot be opened by its
// Spec again, but has to be made again, or stored by Set.Save.
func (s Spec) FromRows(shape Shape, train, test [][]float64) (*Set, error) {
	return s.FromLabeledRows(shape, train, test, nil, nil)
}

// FromLabeledRows is FromRows of rows with labels: the class of each, from 0 on, or Unlabeled.
// Either slice may be nil, where no row has one.
func (s Spec) FromLabeledRows(shape Shape, train, test [][]float64, trainLabels, testLabels []uint8) (*Set, error) {
	_, taken := find(s.Name)
	err, misshapen := s.check(), shape.Check()
	switch {
	case err != nil:
		return nil, err
	case taken:
		return nil, fmt.Errorf("data set %s: this is the name of a set that comes with the program; choose another", s.Name)
	case s.Test != "":
		return nil, fmt.Errorf("data set %s: test = %q names a file, but the test rows are given as a slice; leave test empty", s.Name, s.Test)
	case s.LabelFile != "":
		return nil, fmt.Errorf("data set %s: label_file = %q names a file, but the labels are given as a slice; leave it empty", s.Name, s.LabelFile)
	case misshapen != nil:
		return nil, fmt.Errorf("data set %s: %w", s.Name, misshapen)
	case len(train) == 0:
		return nil, fmt.Errorf("data set %s: no rows to train on", s.Name)
	}
	var data source
	for _, part := range []struct {
		name   string
		to     *rows
		values [][]float64
		labels []uint8
	}{{"training", &data.train, train, trainLabels}, {"test", &data.test, test, testLabels}} {
		var err error
		if *part.to, err = quantize(shape, part.values); err != nil {
			return nil, fmt.Errorf("data set %s: %s %w", s.Name, part.name, err)
		}
		if err := part.to.label(part.labels); err != nil {
			return nil, fmt.Errorf("data set %s: %s rows: %w", s.Name, part.name, err)
		}
	}
	set, err := s.divide(data)
	if err != nil {
		return nil, err
	}
	set.madeFromRows = true
	return set, nil
}

// label gives rows their labels, where there are any.
func (r *rows) label(labels []uint8) error {
	if labels != nil && len(labels) != r.count() {
		return fmt.Errorf("%s for %s; give one a row, or none", names.Count(len(labels), "label"), names.Count(r.count(), "row"))
	}
	r.labels = slices.Clone(labels)
	return nil
}

// outside returns the error for a value that is no grey value; row and place count from 0.
func outside(row, place int, v float64) error {
	remedy := "divide values by their largest, such as 255"
	if !(v > 1) || math.IsInf(v, 1) {
		remedy = "scale values to that range"
	}
	return fmt.Errorf("row %d, value %d of the row: %v is not in [0, 1]: %s", row+1, place+1, v, remedy)
}

func quantize(shape Shape, slices [][]float64) (rows, error) {
	r := rows{shape: shape, values: make([]uint8, 0, len(slices)*shape.Units())}
	for i, slice := range slices {
		if len(slice) != shape.Units() {
			return rows{}, fmt.Errorf("row %d has %d values, a row of shape %v has %d", i+1, len(slice), shape, shape.Units())
		}
		for j, v := range slice {
			gray, ok := gray(v)
			if !ok {
				return rows{}, outside(i, j, v)
			}
			r.values = append(r.values, gray)
		}
	}
	return r, nil
}

// gray maps a probability to the nearest multiple of 1/255, and says whether v
// is a probability.
func gray(v float64) (uint8, bool) {
	if !(0 <= v && v <= 1) {
		return 0, false
	}
	return uint8(math.Round(255 * v)), true
}

// isPath reports whether a name that no set has is meant as the path of a
// file.
func isPath(name string) bool {
	if strings.ContainsAny(name, `/\`) || filepath.Ext(name) != "" || strings.HasSuffix(name, "-ubyte") {
		return true
	}
	_, err := os.Stat(name)
	return err == nil
}

// loadOwn reads the files of one's own that the Spec names.
func (s Spec) loadOwn() (source, error) {
	var data source
	var err error
	if data.train, err = s.readLabeled(s.Name, s.LabelFile); err != nil || s.Test == "" {
		return data, err
	}
	if data.test, err = s.readLabeled(s.Test, s.TestLabelFile); err != nil {
		return source{}, err
	}
	if data.test.shape != data.train.shape {
		return source{}, fmt.Errorf("%s has rows of shape %v, %s of shape %v", s.Name, data.train.shape, s.Test, data.test.shape)
	}
	if data.train.bits && data.test.gray() || data.test.bits && data.train.gray() {
		return source{}, fmt.Errorf("of %s and %s one has bytes of 0 and 1 alone, and one grey levels: save both as floating-point numbers from 0 to 1", s.Name, s.Test)
	}
	return data, nil
}

// readLabeled reads a file of rows and, where it is named, that of their labels.
func (s Spec) readLabeled(path, labels string) (rows, error) {
	data, err := readFile(path, readAny)
	if err != nil || labels == "" {
		return data, err
	}
	of, err := readFile(labels, readAnyLabels)
	if err != nil {
		return data, err
	}
	for i, label := range of.labels {
		switch {
		case label == Unlabeled:
		case int(label) < s.FirstLabel:
			return data, fmt.Errorf("%s: row %d has the class %d, before first_label = %d: give the number of the first class", labels, i+1, label, s.FirstLabel)
		default:
			of.labels[i] -= uint8(s.FirstLabel)
		}
	}
	if err := data.label(of.labels); err != nil {
		return data, fmt.Errorf("%s and %s: %w", path, labels, err)
	}
	return data, nil
}

// begin returns the content of a file, behind a byte order mark, with its first bytes.
func begin(r io.Reader) (b *input, start []byte, err error) {
	b = inputOf(r)
	b.skipMark()
	start, err = b.Peek(len(npy.Magic))
	switch {
	case err != nil && err != io.EOF:
		return nil, nil, err
	case len(start) == 0:
		return nil, nil, errors.New("the file is empty")
	}
	return b, start, nil
}

// readAny finds the format of a file from its first bytes and reads it.
func readAny(r io.Reader) (rows, error) {
	b, start, err := begin(r)
	switch {
	case err != nil:
		return rows{}, err
	case bytes.HasPrefix(start, []byte(npy.Magic)):
		return readNPY(b)
	case bytes.HasPrefix(start, []byte{0, 0}):
		images, err := readImages(b)
		return images, cmp.Or(err, images.unpack())
	case strings.IndexByte("01 \t\r\n", start[0]) >= 0:
		return readText(b)
	case strings.HasPrefix(storedMagic, string(start)):
		return rows{}, errors.New("a set that Save wrote is read by dataset.Load, and has no name")
	}
	return rows{}, fmt.Errorf("a file that begins with %q is neither IDX, nor NPY, nor text of 0 and 1", start)
}

// unpack turns bytes that are all 0 or 1 into 0 and 255, in place: such a file of one's own means
// off and on, not two shades of black. It refuses others that do not go up to half of 255, which
// are of another scale.
func (r *rows) unpack() error {
	if len(r.values) == 0 {
		return nil
	}
	switch most := slices.Max(r.values); {
	case most <= 1:
		r.bits = true
		for i := range r.values {
			r.values[i] *= 255
		}
	case most < 128:
		return fmt.Errorf("its bytes go from 0 to %d, where grey levels go to 255: divide them by the largest that there can be, and save them as floating-point numbers in an NPY array", most)
	}
	return nil
}

// gray says whether there are values between off and on.
func (r *rows) gray() bool { return !isBinary(r.values) }
