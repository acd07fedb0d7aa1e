package dataset

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"

	files "github.com/helmholtz-go/helmholtz/internal/file"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/internal/numbers"
	"github.com/helmholtz-go/helmholtz/internal/philox"
	"github.com/helmholtz-go/helmholtz/internal/statistics"
)

// FromSeq makes a set from rows that a sequence yields, such as a generator or your own reader of a database, and divides it
// as FromRows divides its training rows. The rows may take more memory than there is: they are written to a file in the
// user's cache directory, which is gone when the program ends, and the system reads its pages as training needs them, except
// on Windows and in web pages, where they are kept in memory. Each row has of.Shape.Units() numbers, from 0 to 1 unless the
// binarisation is Real; the Columns of the schema describe them, and may be nil. FromSeq returns the first error of the
// sequence. The Spec cannot open the set again, and must not standardise it or keep rows with gaps.
func (s Spec) FromSeq(of Schema, rows iter.Seq2[[]float32, error]) (*Set, error) {
	if err := s.checkGiven(of.Shape, false); err != nil {
		return nil, err
	}
	units := of.Shape.Units()
	for _, c := range of.Columns {
		units -= c.Units
	}
	switch {
	case of.Columns != nil && units != 0:
		return nil, fmt.Errorf("data set %s: the columns of the schema have %s, but its shape is %v: correct one of them", s.Name, names.Count(of.Shape.Units()-units, "unit"), of.Shape)
	case s.Gaps:
		return nil, fmt.Errorf("data set %s: gaps = true, but rows on disk keep no missing values: give the rows to FromRows, or fill them in and omit gaps", s.Name)
	case s.Standardize:
		return nil, fmt.Errorf("data set %s: standardize = true would change rows on disk: yield standardised numbers, and omit standardize", s.Name)
	}
	set, err := s.fromSeq(of, rows)
	if err != nil {
		return nil, fmt.Errorf("data set %s: %w", s.Name, err)
	}
	return set, nil
}

func (s Spec) fromSeq(of Schema, sequence iter.Seq2[[]float32, error]) (*Set, error) {
	units, real := of.Shape.Units(), s.Binarization == Real
	n, least, most, grey, scaled := 0, uint8(255), uint8(0), false, make([]float32, units)
	all, release, err := onDisk(units, real, func(write func(Values) error) error {
		for row, err := range sequence {
			if n++; err != nil {
				return fmt.Errorf("row %d: %w", n, err)
			}
			if len(row) != units {
				return fmt.Errorf("row %d has %d values, but a row of shape %v has %d", n, len(row), of.Shape, units)
			}
			plain := real && len(s.Missing) == 0
			for i := 0; i < units && plain; i++ {
				scaled[i] = float32(float64(row[i]) / cmp.Or(s.Largest, 1))
				plain = statistics.Finite(float64(scaled[i]))
			}
			if plain {
				if err := write(Reals(units, scaled)); err != nil {
					return err
				}
				continue
			}
			made := rows{Split: Split{Shape: of.Shape}, numbers: make([]float64, units), before: n - 1}
			for i, v := range row {
				made.numbers[i] = float64(v)
			}
			if err := s.scaleRows(&made); err != nil {
				return err
			}
			if err := write(made.Values); err != nil {
				return err
			}
			if !real {
				least, most, grey = min(least, slices.Min(made.Bytes())), max(most, slices.Max(made.Bytes())), grey || made.AreGrey()
			}
		}
		if n == 0 {
			return errors.New("no rows to train on")
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	defer func() { _ = release() }()
	if real {
		err = (&rows{Split: Split{Shape: of.Shape, Values: all}}).checkPrecise(all.At)
	} else if s.Binarization == Fixed {
		err = Split{Values: Bytes(1, []uint8{least, most})}.checkRounding()
	}
	if err != nil {
		return nil, err
	}
	places := make([]int, n) // which divide divides as if they were lengths
	for i := range places {
		places[i] = i
	}
	plan := s
	plan.Binarization = Stochastic
	set, err := plan.divide(source{train: rows{Split: Split{Shape: of.Shape, Values: Values{Rows: n, Units: units}, Lengths: places}}})
	if err != nil {
		return nil, err
	}
	parts := []*Split{&set.train, &set.validation, &set.test}
	divided, _, err := onDisk(units, real, func(write func(Values) error) error {
		for i, part := range parts {
			random := philox.NewStream(s.Seed, philox.Binarize, uint32(i))
			for _, place := range part.Lengths {
				row := all.Part(place, place+1)
				if !real {
					row = Bytes(units, slices.Clone(row.Bytes()))
					s.binarize(Split{Values: row}, random)
				}
				if err := write(row); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	first := 0
	for _, part := range parts {
		end := first + part.Rows
		part.Values, part.Lengths, first = divided.Part(first, end).OnDisk(), nil, end
	}
	set.spec, set.madeFromRows, set.binarized = s.clone(), true, grey && (s.Binarization == Fixed || s.Binarization == Drawn)
	set.columns = of.Columns
	return set, nil
}

// onDisk returns the rows that fill writes, in a file that has no name any more, and a function that gives them up.
func onDisk(units int, real bool, fill func(write func(Values) error) error) (of Values, release func() error, err error) {
	folder, err := os.UserCacheDir()
	if err != nil {
		folder = os.TempDir()
	}
	if folder = filepath.Join(folder, "helmholtz"); os.MkdirAll(folder, 0o700) != nil {
		folder = ""
	}
	f, err := os.CreateTemp(folder, "sequence-*")
	if err != nil {
		return of, nil, err
	}
	defer func() { err = errors.Join(err, f.Close(), os.Remove(f.Name())) }()
	b, size := bufio.NewWriterSize(f, 1<<20), 0
	err = fill(func(row Values) error {
		n, err := row.WriteTo(b)
		size += int(n)
		return err
	})
	if err == nil {
		err = b.Flush()
	}
	if err != nil {
		return of, nil, err
	}
	mapped, release, err := files.Map(f, size)
	if of = Bytes(units, mapped); real && err == nil {
		of = numbers.Reals(units, realsOf(mapped))
	}
	return of, release, err
}
