package dataset

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/helmholtz-go/helmholtz/internal/npy"
	"github.com/helmholtz-go/helmholtz/internal/work"
)

// scale turns the numbers of files into grey values. All files must use the same scale: grey levels from 0 to 255
// (but not in columns with names of their own) or from 0 to Largest, numbers from 0 to 1, or spins of -1 and 1.
// With the binarisation Real, scale keeps the numbers, divided by Largest if it is given.
func (s Spec) scale(parts ...*rows) error {
	if err := s.develop(nil, parts...); err != nil {
		return err
	}
	if s.Binarization == Real || s.Largest != 0 {
		for _, part := range parts {
			if part.scaled && s.Largest != 0 && s.Largest != 1 && s.rules() != FirstRules {
				return fmt.Errorf("largest = %v has no effect on truth values, keys, or text of only 0 and 1: omit it (--largest)", s.Largest)
			}
			if err := part.divideBy(s.Largest, s.Binarization == Real); err != nil {
				return err
			}
		}
		return nil
	}
	spinsToBits(parts...)
	whole, most := true, 0.0
	for _, part := range parts {
		for _, v := range part.numbers {
			whole, most = whole && v == math.Trunc(v) && v >= 0, max(most, v)
		}
	}
	levels := whole && most >= 128 && most <= 255
	if levels {
		for _, part := range parts {
			if named := part.named(); named != nil {
				return fmt.Errorf("the columns %s have whole numbers up to %v, which need not be grey levels (%w): keep the numbers with binarization real (--binarization real), divide them into ranges with columns = %q (--columns), or if they are grey levels, give largest = 255 (--largest)", quoted(named), most, ErrOutside, named[0]+"=real")
			}
			if part.numbers != nil && slices.Max(part.numbers) <= 1 {
				return fmt.Errorf("one file has only the numbers 0 and 1, but another has grey levels up to %v: give the largest value of both (largest, --largest)", most)
			}
		}
	}
	brightest := uint8(0) // of the parts whose scale is not known
	for _, part := range parts {
		if !part.scaled && !part.AreBits() && part.Rows > 0 {
			brightest = max(brightest, slices.Max(part.Bytes()))
		}
	}
	for _, part := range parts {
		if err := part.toLevels(levels, whole, brightest); err != nil {
			return err
		}
	}
	return nil
}

// pictureKind and tableKind are kinds of rows that are no array.
const pictureKind, tableKind = "picture", "table"

// extent describes numbers by the least and the largest of them, and by whether all are whole.
type extent struct {
	Least float64 `toml:"least,omitzero"`
	Most  float64 `toml:"greatest,omitzero"`
	Whole bool    `toml:"whole,omitempty"`
}

// scale is what the training rows tell of the numbers of a file.
type scale struct {
	Levels bool   `toml:"levels,omitempty"` // grey levels from 0 to 255
	Bits   bool   `toml:"bits,omitempty"`   // bytes of 0 and 1
	Gray   bool   `toml:"grey,omitempty"`   // some numbers are between off and on
	Spins  bool   `toml:"spins,omitempty"`  // -1 and 1
	White  uint16 `toml:"white,omitzero"`   // of pictures
	Reals  bool   `toml:"reals,omitempty"`  // kept as they are
	extent        // of kept numbers, and of the levels of pictures
}

func (r *rows) scale() scale {
	of := scale{Levels: r.levels, Bits: r.bits, Gray: r.AreGrey(), Spins: r.spins, White: r.white, Reals: r.AreReal()}
	if of.Reals || of.White != 0 {
		of.extent = r.extent()
	}
	return of
}

func (r *rows) extent() extent {
	if r.AreBits() {
		return extent{0, 1, true}
	}
	all, reals := extent{math.Inf(1), math.Inf(-1), true}, r.Reals()
	var joining sync.Mutex
	work.Parts(r.count()*r.Shape.Units(), 1<<20, func(first, last int) {
		e := extent{math.Inf(1), math.Inf(-1), true}
		for k := first; k < last; k++ {
			v := 0.0
			if reals != nil {
				v = float64(reals[k])
			} else {
				v = r.number(k)
			}
			if v < e.Least {
				e.Least = v
			}
			if v > e.Most {
				e.Most = v
			}
			e.Whole = e.Whole && v == math.Trunc(v)
		}
		joining.Lock()
		defer joining.Unlock()
		all = extent{min(all.Least, e.Least), max(all.Most, e.Most), all.Whole && e.Whole}
	})
	return all
}

func (e extent) areLevels() bool { return e.Whole && e.Least >= 0 && e.Most >= 128 }

func (e extent) areFractions() bool { return !e.Whole && e.Least >= 0 && e.Most <= 1 }

// scaleLike turns the numbers of a second file into values, on the scale of training rows that scale has scaled. It
// refuses numbers that may be on another scale.
func (s Spec) scaleLike(training scale, part *rows) error {
	if err := s.develop(&training, part); err != nil {
		return err
	}
	of := part.extent()
	switch {
	case s.Binarization == Real || s.Largest != 0:
		if err := part.divideBy(s.Largest, s.Binarization == Real); err != nil || s.Largest != 0 || !training.Reals {
			return err
		}
		by := training.extent
		if of = part.extent(); of.areLevels() && by.areFractions() || of.areFractions() && by.areLevels() {
			return fmt.Errorf("its numbers go from %v to %v, but the training rows go from %v to %v: scale the rows in the same way", of.Least, of.Most, by.Least, by.Most)
		}
		return nil
	case training.Spins:
		if spinsToBits(part); !part.spins && (part.numbers == nil || of.Least != 1) {
			return errors.New("its numbers are not all -1 or 1, like the training rows: write bits as spins, for example with numpy.save(\"rows.npy\", 2.0*a-1)")
		}
		return part.toLevels(false, true, 0)
	case part.scaled || part.spins:
		return part.toLevels(false, true, 0)
	case training.Levels && of.Least >= 0 && of.Most == 1 && of.Whole && training.Gray:
		return errors.New("its numbers are only 0 and 1, but the training rows have grey levels from 0 to 255: multiply it by 255 if 1 is white, for example with numpy.save(\"rows.npy\", 255.0*a), or divide it by 255 if 255 is white")
	case training.Levels && of.Least >= 0 && of.Most <= 255 && of.Most != 1 && of.Whole:
		part.scaled = true
		return part.toLevels(true, true, 0)
	case of.Least >= 0 && of.Most <= 1, part.numbers == nil && of.Most >= 128:
		return part.toLevels(false, of.Whole, uint8(of.Most))
	}
	scale := "go from 0 to 1"
	if training.Levels {
		scale = "have grey levels, whole numbers from 0 to 255"
	}
	return fmt.Errorf("its numbers go from %v to %v, but the training rows %s: scale the rows in the same way", of.Least, of.Most, scale)
}

// named returns the names of the columns that have units, or nil if these names only count pixels, such as pixel0
// and pixel1.
func (r *rows) named() (columns []string) {
	for _, c := range r.columns {
		if c.Kind != LabelColumn && !c.Kind.isIgnored() {
			columns = append(columns, c.Name)
		}
	}
	if areCounted(columns) {
		return nil
	}
	return columns
}

// areCounted reports whether names differ only in their digits.
func areCounted(columns []string) bool {
	withoutDigits := func(c rune) rune {
		if '0' <= c && c <= '9' {
			return -1
		}
		return c
	}
	return !slices.ContainsFunc(columns, func(name string) bool {
		stem := strings.Map(withoutDigits, name)
		return stem == name || stem != strings.Map(withoutDigits, columns[0])
	})
}

// scaleRows scales the rows that a program passes in.
func (s Spec) scaleRows(part *rows) error {
	if err := part.checkMissing(s, false); err != nil {
		return err
	}
	if s.Binarization == Real || s.Largest != 0 {
		return part.divideBy(s.Largest, s.Binarization == Real)
	}
	return part.toLevels(false, false, 0)
}

// spinsToBits turns numbers that are all -1 or 1 into 0 and 1, if at least one of them is -1.
func spinsToBits(parts ...*rows) {
	spins := false
	for _, part := range parts {
		for _, v := range part.numbers {
			if v != -1 && v != 1 {
				return
			}
			spins = spins || v == -1
		}
		if part.numbers == nil && part.count() > 0 {
			return
		}
	}
	if !spins {
		return
	}
	for _, part := range parts {
		for k, v := range part.numbers {
			part.numbers[k] = (v + 1) / 2
		}
		part.spins = true
	}
}

// codes returns the codes for a missing value that are numbers except NaN. By FirstRules, they are codes only in the numbers of
// rows: see codesOf.
func (s Spec) codes() (codes []float64) {
	for _, text := range s.Missing {
		if code, err := strconv.ParseFloat(text, 64); err == nil && !math.IsNaN(code) && s.rules() != FirstRules {
			codes = append(codes, code)
		}
	}
	return codes
}

// codesOf returns the codes for a missing value as the numbers of the rows have them, or NaN for a code that none of them can have. It
// refuses a code that is not a number, and a code in pictures and in steps that list keys.
func (s Spec) codesOf(r *rows) (codes []float64, err error) {
	old := s.rules() == FirstRules
	for _, text := range s.Missing {
		code, err := strconv.ParseFloat(text, 64)
		switch {
		case r.kind == tableKind || old && (r.scaled || r.kind == pictureKind): // a table has refused missing values
		case r.kind == pictureKind || r.keys != nil:
			return nil, fmt.Errorf("missing = %q, but pictures, and steps that list keys, have no missing values: omit missing (--missing)", text)
		case err != nil && r.kind == "" && r.scaled: // text that has only 0 and 1
		case err != nil:
			return nil, fmt.Errorf("missing = %q is not a number, but the rows are numbers without text: give one number, such as -999 (--missing)", text)
		case old:
			codes = append(codes, code)
		default:
			codes = append(codes, npy.Nearest(r.kind, code))
		}
	}
	return codes, nil
}

// areSame reports whether a number of a file is the code for a missing value, perhaps rounded to float32. A whole number
// is not rounded.
func (of Rules) areSame(v, code float64) bool {
	return v == code || of != FirstRules && code != math.Trunc(code) && float32(v) == float32(code)
}

// scipy.io.savemat writes these numbers for the masked entries of NumPy's arrays of real and whole numbers.
const (
	maskedReal  = float32(1e20)
	maskedWhole = 999999
)

// checkMissing refuses missing numbers: NaN, the codes that the Spec gives and, in arrays, maskedReal. It also refuses
// infinite numbers. fromFile reports whether the rows are an array of a file.
func (r *rows) checkMissing(s Spec, fromFile bool) error {
	codes, err := s.codesOf(r)
	if err != nil {
		return err
	}
	rules, units := s.rules(), r.Shape.Units()
	coded := func(v float64) bool {
		return slices.ContainsFunc(codes, func(code float64) bool { return rules.areSame(v, code) })
	}
	if s.Gaps && (r.Lengths != nil || r.kind == pictureKind) {
		return errors.New("gaps = true, but only tables and arrays of rows have missing values: omit gaps (--gaps)")
	}
	if s.Gaps && r.kind != tableKind {
		r.Missing = make([]bool, r.count()*units)
		defer r.fillGaps()
	}
	for k, v := range r.numbers {
		if rules != FirstRules && r.Lengths != nil && k%units >= r.Lengths[k/units]*r.Shape.Width {
			continue // after the last step
		}
		masked := fromFile && r.kind != tableKind && rules != FirstRules && float32(v) == maskedReal
		if math.IsNaN(v) || masked || coded(v) {
			if s.Gaps {
				r.Missing[k] = true
				continue
			}
			return r.absent(k, v, fromFile)
		}
		if math.IsInf(v, 0) {
			return fmt.Errorf("%s: %v is not finite: correct it, or leave out its row", r.place(k), v)
		}
	}
	if len(codes) == 0 {
		return nil
	}
	for k, b := range r.Bytes() {
		v := float64(b)
		if r.scaled {
			v /= 255
		}
		if is := slices.Contains(codes, v); is && s.Gaps {
			r.Missing[k] = true
		} else if is {
			return r.absent(k, v, fromFile)
		}
	}
	return nil
}

func (r *rows) absent(k int, v float64, fromFile bool) error {
	remedy := ""
	if fromFile {
		present := fmt.Sprintf("(a != %v)", v)
		if math.IsNaN(v) {
			present = "(~numpy.isnan(a))"
		}
		remedy = fmt.Sprintf(`, for example with numpy.save("rows.npy", a[%s.reshape(len(a), -1).all(1)])`, present)
	}
	return absentError(r.place(k), fmt.Sprint(v), remedy)
}

// absentError returns the error for a missing value at a place. value quotes it, and remedy is a line of Python that
// leaves out its row.
func absentError(place, value, remedy string) error {
	return fmt.Errorf("%s: a missing value (%s): fill it in, or leave out its row%s", place, value, remedy)
}

// place names the row and the column of a value.
func (r *rows) place(k int) string {
	row, unit := r.before+k/r.Shape.Units(), k%r.Shape.Units()
	for _, c := range r.columns {
		if c.First <= unit && unit < c.First+c.Units {
			return fmt.Sprintf("row %d, column %q", row+1, c.Name)
		}
	}
	return fmt.Sprintf("row %d, value %d of the row", row+1, unit+1)
}

// number returns a number as the file has it, or as it is after scaling.
func (r *rows) number(k int) float64 {
	switch {
	case r.numbers != nil:
		return r.numbers[k]
	case r.pixels != nil:
		return float64(numberOf(r.pixels[k], r.white))
	case r.scaled || r.AreReal():
		return r.At(k)
	}
	return float64(r.Bytes()[k])
}

// divideBy divides numbers by largest, the largest possible number, or by 1 if largest is 0, but leaves the units that
// mark a value or range of a column. If keep is true, it keeps the results as real numbers; otherwise it turns them
// into grey values.
func (r *rows) divideBy(largest float64, keep bool) error {
	n := r.count() * r.Shape.Units()
	if largest == 0 || r.scaled {
		largest = 1
	}
	if keep && r.AreReal() { // which coded has checked
		r.scaled = true
		return nil
	}
	var reals []float32
	var values []uint8
	if keep {
		reals = make([]float32, 0, n)
	}
	for k := range n {
		v := r.number(k)
		if largest != 1 && (r.marks == nil || !r.marks[k%len(r.marks)]) {
			v /= largest
		}
		if keep {
			if !(math.Abs(v) <= math.MaxFloat32) {
				return fmt.Errorf("%s: float32 cannot hold %v: leave out the row, or scale the column", r.place(k), v)
			}
			if reals = append(reals, float32(v)); r.lost == "" && isLost(v) {
				r.lost = fmt.Sprintf("%s: %v", r.place(k), r.number(k))
			}
			continue
		}
		grey, ok := gray(v)
		if !ok {
			return fmt.Errorf("%s: %v is not from 0 to largest = %v: give the largest possible value", r.place(k), r.number(k), largest)
		}
		values = append(values, grey)
	}
	if keep && n > 0 {
		if err := r.checkPrecise(r.number); err != nil {
			return err
		}
	}
	if r.numbers, r.pixels, r.scaled = nil, nil, true; keep && n > 0 {
		r.Values = Reals(r.Shape.Units(), reals)
	} else if n > 0 {
		r.Values = Bytes(r.Shape.Units(), values)
	}
	return nil
}

// isLost reports whether a number is not 0, but so close to 0 that float32 keeps few of its digits, or 0.
func isLost(v float64) bool { return v != 0 && math.Abs(v) < 0x1p-126 }

// leastSpread is the smallest standard deviation of a column, relative to its largest magnitude, for which
// float32 keeps the differences between its values.
const leastSpread = 1e-5

// spread describes numbers by how far they are from the first of them, and by the largest magnitude.
type spread struct{ n, first, sum, squares, most float64 }

func (c *spread) add(x float64) {
	if c.n == 0 {
		c.first = x
	}
	v := x - c.first
	c.n, c.sum, c.squares, c.most = c.n+1, c.sum+v, c.squares+v*v, max(c.most, math.Abs(x))
}

func (c spread) deviation() float64 {
	return math.Sqrt(max(0, c.squares/c.n-c.sum/c.n*c.sum/c.n))
}

// checkPrecise refuses columns whose values are so close together, relative to their magnitude, that float32
// cannot tell them apart.
func (r *rows) checkPrecise(number func(k int) float64) error {
	units := r.Shape.Units()
	columns := make([]spread, units)
	for r := range r.count() { // by rows, as they lie in memory
		for i := range columns {
			columns[i].add(number(r*units + i))
		}
	}
	for i, c := range columns {
		deviation := c.deviation()
		switch {
		case deviation == 0 && c.most > 1<<53:
			return fmt.Errorf("%s and the values below it are as large as %.6g, where whole numbers cannot be told apart: leave the column out, or first subtract a number near their mean", r.place(i), c.most)
		case 0 < deviation && deviation < leastSpread*c.most:
			return fmt.Errorf("%s and the values below it have a standard deviation of only %.2g, and are as large as %.6g: first subtract a number near their mean, since values are kept with 7 digits", r.place(i), deviation, c.most)
		}
	}
	return nil
}

// toLevels turns numbers into grey values. If levels is true, they must be whole and at most 255, otherwise from
// 0 to 1. whole reports whether all numbers of the data are whole; it selects the remedy in the error. toLevels turns bytes
// that are all 0 or 1 into 0 and 255, in place, since a user's file of such bytes means off and on, not two shades of
// black. It refuses other bytes if the largest of all parts, brightest, is below 128, since they must have another scale.
func (r *rows) toLevels(levels, whole bool, brightest uint8) error {
	if r.numbers == nil {
		if r.scaled || r.AreBits() || r.Rows == 0 {
			return nil
		}
		r.scaled, r.levels = true, brightest > 1
		switch largest := slices.Max(r.Bytes()); {
		case largest <= 1:
			r.bits = largest == 1 // zeros are black on any scale
			for i := range r.Bytes() {
				r.Bytes()[i] *= 255
			}
		case brightest < 128:
			return fmt.Errorf("its bytes go from 0 to %d, but grey levels go to 255, and %[1]d is %w: divide by the largest possible value, such as largest = %[1]d (--largest)", brightest, ErrOutside)
		}
		return nil
	}
	values := make([]uint8, len(r.numbers))
	for k, v := range r.numbers {
		if levels {
			values[k] = uint8(v)
			continue
		}
		var ok bool
		if values[k], ok = gray(v); !ok {
			return r.outside(k, v, whole)
		}
	}
	r.Values, r.numbers, r.scaled, r.levels = Bytes(r.Shape.Units(), values), nil, true, levels
	return nil
}

// outside returns the error for a number that is not a grey value.
func (r *rows) outside(k int, v float64, whole bool) error {
	remedy := "divide numbers by their largest, or scale them to that range, or keep them as they are with binarization real (--binarization real) and Gaussian units"
	if largest := slices.Max(r.numbers); whole && largest == maskedWhole {
		remedy = "scipy.io.savemat writes 999999 for a masked entry: if it stands for missing values, find them with --missing 999999; otherwise scale the numbers to that range"
	} else if whole {
		remedy = fmt.Sprintf("divide by the largest possible value, such as largest = %v (--largest), or keep the numbers as they are with binarization real (--binarization real) and Gaussian units", largest)
	}
	return fmt.Errorf("%s: %v is %w: %s", r.place(k), v, ErrOutside, remedy)
}
