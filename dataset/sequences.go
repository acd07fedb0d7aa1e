package dataset

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/helmholtz-go/helmholtz/internal/memory"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/internal/philox"
	"github.com/helmholtz-go/helmholtz/internal/plainjson"
)

// Sequence returns the steps of row i of a set of sequences, one slice of Shape.Width values per step.
func (s Split) Sequence(i int) [][]float64 {
	values, width := s.Floats(i)[0], s.Shape.Width
	steps := make([][]float64, s.Lengths[i])
	for t := range steps {
		steps[t] = values[t*width : (t+1)*width]
	}
	return steps
}

// Steps returns the total number of steps of all sequences.
func (s Split) Steps() (n int) {
	for _, length := range s.Lengths {
		n += length
	}
	return n
}

// checkLengths requires one length per row, from 1 to the height of the rows, or no lengths.
func checkLengths(lengths []int, rows, height int) error {
	if lengths != nil && len(lengths) != rows {
		return fmt.Errorf("%s for %s: give one per sequence", names.Count(len(lengths), "length"), names.Count(rows, "row"))
	}
	for i, length := range lengths {
		if length < 1 || length > height {
			return fmt.Errorf("sequence %d has %s, but rows hold from 1 to %d", i+1, names.Count(length, "step"), height)
		}
	}
	return nil
}

// cut turns rows into sequences with the given numbers of steps. It sets the values after the last step of a row
// to 0.
func (r *rows) cut(lengths tensor) error {
	if r.Shape.Height == 1 {
		return errors.New("lengths belong to sequences: save them as sequences × steps × units")
	}
	for i := range lengths.count() {
		v := lengths.at(i)
		if v != math.Trunc(v) || math.Abs(v) > math.MaxInt32 {
			return fmt.Errorf("the length %v is not a whole number: give the number of steps of each sequence", v)
		}
		r.Lengths = append(r.Lengths, int(v))
	}
	if err := checkLengths(r.Lengths, r.count(), r.Shape.Height); err != nil {
		return err
	}
	r.Values = Bytes(r.Units, r.Bytes())
	units := r.Shape.Units()
	for i, length := range r.Lengths {
		if r.numbers != nil {
			clear(r.numbers[i*units+length*r.Shape.Width : (i+1)*units])
		} else {
			clear(r.Bytes()[i*units+length*r.Shape.Width : (i+1)*units])
		}
	}
	return nil
}

// lengthen gives sequences room for a number of steps.
func (r *rows) lengthen(steps int) error {
	if steps == r.Shape.Height {
		return nil
	}
	n, units := r.count(), r.Shape.Units()
	r.Shape.Height = steps
	if err := checkRoom(int64(n), memory.Product(int64(n), int64(r.Shape.Units())), numbersEach); err != nil {
		return fmt.Errorf("every sequence is stored at the length of the longest: %w", err)
	}
	if r.numbers != nil {
		r.numbers = lengthened(r.numbers, units, r.Shape.Units())
	} else {
		r.Values = Bytes(r.Shape.Units(), lengthened(r.Bytes(), units, r.Shape.Units()))
	}
	return nil
}

// lengthened appends zeros to each row of old values, up to the number new.
func lengthened[T any](values []T, old, new int) (all []T) {
	for row := range slices.Chunk(values, old) {
		all = append(append(all, row...), make([]T, new-old)...)
	}
	return all
}

// checkKeys refuses sequences of other keys than the training sequences, because unit 0 is the lowest key.
func (r *rows) checkKeys(train []int) error {
	if r.keys != nil && train != nil && !slices.Equal(r.keys, train) {
		return fmt.Errorf("keys = %v, but the training sequences have the keys %v: give the same keys in both files", r.keys, train)
	}
	return nil
}

// sequenceFile is a JSON file of sequences. With Keys, a step lists the keys that sound, and unit 0 is the
// lowest key. Without Keys, a step has one value per unit.
type sequenceFile struct {
	Keys  []int         `json:"keys"`
	Train [][][]float64 `json:"train"`
	Valid [][][]float64 `json:"valid"`
	Test  [][][]float64 `json:"test"`
}

// piano holds the MIDI numbers of the lowest and the highest key of a piano.
var piano = []int{21, 108}

// readPianoRolls reads a file of published piano rolls, whose steps list keys of a piano.
func readPianoRolls(c collection) (source, error) {
	return readPart(c, 0, func(r io.Reader) (source, error) { return Spec{}.readSequences(r, piano) })
}

func readMotion(c collection) (source, error) {
	return readPart(c, 0, func(r io.Reader) (source, error) {
		data, err := Spec{}.readSequences(r, nil)
		err = cmp.Or(err, data.train.divideBy(0, true), data.test.divideBy(0, true))
		return data, err
	})
}

// synthesized returns sequences that make writes, each step by step, with random numbers of its own.
func (c collection) synthesized(make func(stream *philox.Stream, steps [][]uint8)) source {
	number := uint32(0)
	part := func(n int) rows {
		values := slices.Repeat([]uint8{0}, n*c.shape.Units())
		for sequence := range slices.Chunk(values, c.shape.Units()) {
			make(philox.NewStream(1, philox.Synthesis, number), slices.Collect(slices.Chunk(sequence, c.shape.Width)))
			number++
		}
		r := bytesOf(c.shape, values, nil)
		r.Lengths, r.scaled = slices.Repeat([]int{c.shape.Height}, n), true
		return r
	}
	return source{train: part(c.train), validation: part(c.validation), test: part(c.test)}
}

// readSequences reads a JSON file of sequences. keys holds the lowest and the highest key for a file that does
// not give them; it may be nil.
func (s Spec) readSequences(r io.Reader, keys []int) (data source, err error) {
	f := sequenceFile{Keys: keys}
	text, err := io.ReadAll(r)
	if err != nil {
		return source{}, err
	}
	if s.rules() == FirstRules {
		err = json.Unmarshal(text, &f)
	} else {
		err = plainjson.Decode(text, &f)
	}
	if err != nil {
		return source{}, fmt.Errorf(`JSON of sequences: %w: write {"keys": [21, 108], "train": [[[60, 64], [60]]], "valid": [], "test": []}, or omit keys and give one value per unit in each step; if it has no sequences, save an array with numpy.save("rows.npy", json.load(open(FILE))[KEY]), or rows with lists with pandas.read_json(FILE, lines=True).to_parquet("rows.parquet")`, err)
	}
	shape, err := f.shape()
	if err != nil {
		return source{}, err
	}
	for _, part := range []struct {
		name string
		from [][][]float64
		to   *rows
	}{{"train", f.Train, &data.train}, {"valid", f.Valid, &data.validation}, {"test", f.Test, &data.test}} {
		if *part.to, err = f.rows(part.from, shape); err != nil {
			return source{}, fmt.Errorf("%s, %w", part.name, err)
		}
	}
	return data, nil
}

// shape returns the shape of rows that hold the longest sequence. It returns an error if such rows do not fit
// into memory.
func (f sequenceFile) shape() (s Shape, err error) {
	all := [][][][]float64{f.Train, f.Valid, f.Test}
	n := int64(0)
	for _, part := range all {
		n += int64(len(part))
		for _, sequence := range part {
			s.Height = max(s.Height, len(sequence))
			if len(sequence) > 0 && s.Width == 0 {
				s.Width = len(sequence[0])
			}
		}
	}
	if f.Keys != nil {
		if len(f.Keys) != 2 || f.Keys[0] < 0 || f.Keys[1] < f.Keys[0] || f.Keys[1] > math.MaxUint16 {
			return s, fmt.Errorf("keys = %v: give the lowest and the highest key, such as [21, 108]", f.Keys)
		}
		s.Width = f.Keys[1] - f.Keys[0] + 1
	}
	switch {
	case len(f.Train) == 0:
		return s, errors.New(`no sequences to train on: list them under "train"`)
	case s.Height == 0 || s.Width == 0:
		return s, errors.New("the sequences have no values: give at least one step of one unit")
	}
	if err := checkRoom(n, memory.Product(n, int64(s.Height), int64(s.Width)), numbersEach); err != nil {
		return s, fmt.Errorf("every sequence is stored at the length of the longest, %s of %s: %w; or divide the longest ones", names.Count(s.Height, "step"), names.Count(s.Width, "unit"), err)
	}
	return s, nil
}

// rows returns sequences as rows of a shape. The values after the last step of a sequence are 0.
func (f sequenceFile) rows(sequences [][][]float64, shape Shape) (rows, error) {
	r := rows{Split: Split{Shape: shape}, keys: f.Keys}
	if len(sequences) == 0 {
		return r, nil
	}
	if n := len(sequences) * shape.Units(); f.Keys == nil {
		r.numbers = make([]float64, n)
	} else {
		r.scaled, r.Values = true, Bytes(shape.Units(), make([]uint8, n))
	}
	for i, sequence := range sequences {
		if len(sequence) == 0 {
			return r, fmt.Errorf("sequence %d: it has no steps: leave it out", i+1)
		}
		r.Lengths = append(r.Lengths, len(sequence))
		for t, step := range sequence {
			first := i*shape.Units() + t*shape.Width
			if f.Keys == nil && len(step) != shape.Width {
				return r, fmt.Errorf("sequence %d, step %d: %s, but the first step of the file has %d: give each step one value per unit, or give keys if steps list the keys that sound",
					i+1, t+1, names.Count(len(step), "value"), shape.Width)
			}
			if f.Keys == nil {
				copy(r.numbers[first:], step)
				continue
			}
			for _, key := range step {
				if key != math.Trunc(key) || key < float64(f.Keys[0]) || key > float64(f.Keys[1]) {
					return r, fmt.Errorf("sequence %d, step %d: the key %v is not a whole number from %d to %d: correct it, or give other keys", i+1, t+1, key, f.Keys[0], f.Keys[1])
				}
				r.Bytes()[first+int(key)-f.Keys[0]] = 255
			}
		}
	}
	return r, nil
}
