package dataset

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"slices"

	files "github.com/helmholtz-go/helmholtz/internal/file"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/internal/work"
)

// Spec describes which data to open and how to divide it. It is a plain value that TOML and JSON store; opening
// an equal Spec gives an equal Set.
type Spec struct {
	// Name is the name of a set, as in List, or the path of your own data: CSV and other text, NPY, NPZ, MATLAB,
	// IDX, JSON of sequences, Parquet (if package dataset/parquet is imported), or a folder of pictures. All
	// these files but NPZ and Parquet may be gzipped. FILE#NAME names an array of an NPZ or a MATLAB file.
	Name string `toml:"name" json:"name"`
	// Test is the path of a file of test rows for your own data. If Test is empty and the data has no test rows,
	// a tenth of the rows, drawn from the seed, becomes the test rows.
	Test string `toml:"test,omitempty" json:"test,omitempty"`
	// LabelFile is the path of a file with the class of each row of your own data, and TestLabelFile is the same
	// for the rows of Test. Such a file is an IDX, NPY, NPZ or MATLAB array of whole numbers, or text with one
	// number per line. Classes are numbered from 0; -1 or 255 marks a row without a label.
	LabelFile     string `toml:"label_file,omitempty" json:"label_file,omitempty"`
	TestLabelFile string `toml:"test_label_file,omitempty" json:"test_label_file,omitempty"`
	// WeightFile is the path of a file with a weight, 0 or more, for each training row of the file Name. Training
	// visits rows in proportion to their weights. If a minibatch contains a row several times, these copies share
	// their random numbers: the gradient is not biased, but noisier. Measures are weighted means over the rows of
	// the file, including validation and test rows drawn from it.
	WeightFile string `toml:"weight_file,omitempty" json:"weight_file,omitempty"`
	// Columns sets the kinds of columns of a table, as NAME=KIND separated by commas: binary, categorical,
	// real, real:N, label, identifier or skip (see ColumnKind). A column without a name is named by its number, counted from
	// 1. The kinds of other columns are inferred; a column named label or class holds the classes of the rows.
	// The columns of a named set have their kinds; NAME=label makes the labels of one of them, instead of units.
	Columns string `toml:"columns,omitempty" json:"columns,omitempty"`
	// Schema is the path of a Schema that declares the columns of a table, as Schema.TOML writes it. Columns has
	// precedence.
	Schema string `toml:"schema,omitempty" json:"schema,omitempty"`
	// Header says whether the first line of a table has the names of the columns, "yes" or "no". By default, the
	// fields decide, and a line in doubt is refused.
	Header string `toml:"header,omitempty" json:"header,omitempty"`
	// Decimal is the character before the decimals of numbers in text, "." or ",". The other one may separate
	// thousands. By default, the fields decide, and numbers in doubt are refused.
	Decimal string `toml:"decimal,omitempty" json:"decimal,omitempty"`
	// Shape is the height and the width of images in a table or an array of rows × units, such as 28x28.
	Shape string `toml:"shape,omitempty" json:"shape,omitempty"`
	// Largest is the value that stands for 1, such as 16 for pixels from 0 to 16; the numbers of a file are
	// divided by it. If Largest is 0, numbers from 0 to 1 stay as they are, and whole numbers up to 255 are
	// divided by 255 if their largest is at least 128, unless their columns have names that do not just count them. The
	// numbers of Test have the scale of Name.
	Largest float64 `toml:"largest,omitzero" json:"largest,omitempty"`
	// Missing holds codes for missing values, in addition to NaN and, in tables, empty fields, "?" and the other codes
	// of pandas.read_csv, such as NA, None and null. Rows with a missing value are refused, whatever the kind of the
	// column, unless the column is skipped or Gaps is set.
	Missing Codes `toml:"missing,omitempty" json:"missing,omitempty"`
	// Gaps keeps rows with missing values of a table or an array instead of refusing them: see Split.Missing. FromRows then
	// takes NaN for a missing value. A Schema can also declare gaps.
	Gaps bool `toml:"gaps,omitempty" json:"gaps,omitempty"`
	// FirstLabel is the number of the first class in the labels of your own data: 1 if classes are numbered from
	// 1. It is subtracted from each label.
	FirstLabel int `toml:"first_label,omitzero" json:"first_label,omitempty"`
	// Binarization determines how grey values become values of the visible units.
	Binarization Binarization `toml:"binarization" json:"binarization"`
	// Standardize subtracts from each real column its mean over the training rows, and divides it by the standard
	// deviation. Rows count by their weights, if they have any. Without columns, it does so for each unit. It
	// needs the binarisation Real, and rows or sequences of numbers, not images. Set.WriteCSV and Set.Original undo it.
	Standardize bool `toml:"standardize,omitempty" json:"standardize,omitempty"`
	// Validation is the number of rows held out for validation, drawn from the seed among all rows that are not
	// test rows; 0 holds out none. nil keeps the validation rows of a named set (see Info) or of your own data.
	// If your own data has none, Spec.Open holds out none, and OpenNew holds out a tenth of the rows of a file.
	Validation *int `toml:"validation,omitempty" json:"validation,omitempty"`
	// Subset is the number of training rows kept, drawn from the seed after the validation rows are held out; 0
	// keeps all.
	Subset int `toml:"subset,omitzero" json:"subset,omitzero"`
	// Labels is the number of training rows that keep their label, drawn from the seed, the same number from each
	// class; the other rows lose theirs. 0 keeps all labels. Machines of package hm with a label need a number;
	// machines of package boltzmann also learn from all labels.
	Labels int `toml:"labels,omitzero" json:"labels,omitempty"`
	// Rules is the version of the rules by which a file of your own is read. Opening the file sets it; 0 means
	// NewestRules. A run records it.
	Rules Rules `toml:"rules,omitzero" json:"rules,omitempty"`
	// Seed determines which rows are held out or kept, which keep their labels, and the draws of Drawn.
	Seed uint64 `toml:"seed" json:"seed"`

	before  bool   // whether a program that recorded no Rules opened the file
	array   bool   // whether all numbers of a table have one scale, as in an array
	input   *Input // holds the content of the file Name; nil if the file is to be read
	numbers bool   // whether the numbers decide if the binarisation is Real: see OpenNumbers
}

// Open opens the named set, or the file at a path, for a new experiment: see Spec.OpenNew.
func Open(name string) (*Set, error) { return Spec{Name: name}.OpenNew() }

// OpenNew opens the data of a new experiment. If Validation is nil and your own file has at least 10 training
// rows and no validation rows, it holds out a tenth of the training rows for validation, so that training has a
// best epoch. The Spec of the set records their number. OpenNew opens other data like Open.
func (s Spec) OpenNew() (*Set, error) { return s.open(true) }

// OpenNumbers opens data like OpenNew, but keeps numbers as real numbers (Real) if they have columns with names of their
// own, or are not on the scale of grey levels, or if they are to be standardised. It does so only if Largest is 0 and
// Binarization is Fixed or Gray.
func (s Spec) OpenNumbers() (*Set, error) {
	if s.Standardize && (s.Binarization == Fixed || s.Binarization == Gray) {
		s.Binarization = Real
	}
	s.numbers = s.Largest == 0 && (s.Binarization == Fixed || s.Binarization == Gray)
	return s.OpenNew()
}

// OpenSuggested opens the data of a new experiment like OpenNumbers, as "helmholtz new" does: for hm.Suggested. It
// standardises real numbers if a column has a ScaleNotice.
func (s Spec) OpenSuggested() (*Set, error) {
	set, err := s.OpenNumbers()
	if err != nil || s.Largest != 0 || set.ScaleNotice() == "" {
		return set, err
	}
	if set.isImages() {
		return s.OpenNew() // whose error says how to scale them, since images cannot be standardised
	}
	return set, set.standardize()
}

func (s Spec) open(fresh bool) (*Set, error) {
	return work.Interruptible(func() (*Set, error) { return s.read(fresh) })
}

func (s Spec) read(fresh bool) (*Set, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	standardize := s.Standardize
	s.Standardize = false // so that the cache keeps the numbers of the file
	path := s.cachePath(fresh)
	set := fromCache(path)
	if set == nil {
		var err error
		if set, err = s.parse(fresh); err != nil {
			return nil, err
		}
		if path != "" && path == s.cachePath(fresh) {
			plain := set.spec.cachePath(false)
			if s.numbers && set.doubt != "" {
				plain = path // since the notice is not of a set that is opened as it is
			}
			_ = set.keep(plain, path) // else the files are only read again
		}
	}
	if standardize {
		return set, set.standardize()
	}
	return set, nil
}

// parse reads the files of the Spec.
func (s Spec) parse(fresh bool) (*Set, error) {
	data, err := s.load()
	if s.numbers && errors.Is(err, ErrOutside) {
		s.Binarization, s.numbers = Real, false
		data, err = s.load()
	}
	if err != nil {
		return nil, err
	}
	if s.numbers = false; data.real {
		s.Binarization = Real
	}
	s.Gaps, s.Shape = s.Gaps || data.gaps, cmp.Or(s.Shape, data.shape)
	if s.Rules == 0 && !s.before && s.IsFile() {
		s.Rules = NewestRules
	}
	if fresh && s.IsFile() && s.Validation == nil && data.validation.count() == 0 {
		rows := data.train.count()
		if data.test.count() == 0 {
			rows -= testRows(rows)
		}
		if rows >= 10 {
			s.Validation = new(rows / 10)
		}
	}
	return s.divide(data)
}

// isNamed reports whether the Spec names a set that comes with the program.
func (s Spec) isNamed() bool {
	_, named := find(s.Name)
	return named
}

// Paths returns pointers to the paths in the Spec; some paths may be empty. It returns nil if the Spec names a
// set that comes with the program.
func (s *Spec) Paths() []*string {
	if s.isNamed() {
		return nil
	}
	return []*string{&s.Name, &s.Test, &s.LabelFile, &s.TestLabelFile, &s.WeightFile, &s.Schema}
}

// IsFile reports whether the Spec names a file or folder of your own.
func (s Spec) IsFile() bool { return !s.isNamed() && isPath(s.Name) }

// Open reads the data and divides it. It never downloads: the error for a missing file names the places that were
// searched and says how to get the file.
func (s Spec) Open() (*Set, error) { return s.open(false) }

func (s Spec) load() (source, error) {
	named, ok := find(s.Name)
	switch {
	case ok && s.Test != "":
		return source{}, fmt.Errorf("data set %s: test = %q: the set already has test rows; leave test empty", s.Name, s.Test)
	case ok && s.LabelFile != "":
		return source{}, fmt.Errorf("data set %s: label_file = %q: it is only for a file of your own; leave label_file empty", s.Name, s.LabelFile)
	case ok:
		data, err := named.load()
		if err == nil && s.Columns != "" {
			err = data.takeLabels(s)
		}
		return data, err
	case isPath(s.Name):
		data, err := s.loadOwn()
		if !errors.Is(err, fs.ErrNotExist) {
			return data, err
		}
		if best := names.Closest(s.Name, setNames()...); best != "" {
			err = fmt.Errorf("%w; or, among the sets that come with the program, did you mean %q?", err, best)
		}
		return source{}, err
	}
	path, _ := filepath.Abs(s.Name)
	return source{}, fmt.Errorf("%w; there is no file or folder %s either%s", noSet(s.Name), path, files.Remedy(fs.ErrNotExist, s.Name))
}

func (s Spec) check() error {
	switch {
	case s.Name == "":
		return errors.New("data set without a name: give the name of a set or the path of a file")
	case slices.Contains(s.Missing, ""):
		return fmt.Errorf("data set %s: missing has an empty code, but empty fields are missing without it: omit it (--missing)", s.Name)
	case s.Binarization < Fixed || s.Binarization > Real:
		return fmt.Errorf("data set %s: binarization %d is none of Fixed, Stochastic, Gray, Drawn and Real", s.Name, s.Binarization)
	case s.Standardize && s.Binarization != Real:
		return fmt.Errorf("data set %s: standardize = true is for real numbers, but binarization = %v: use binarization real (--binarization real), or omit standardize", s.Name, s.Binarization)
	case s.Standardize && s.Largest != 0:
		return fmt.Errorf("data set %s: largest = %v has no effect on standardised numbers: omit it, or omit standardize", s.Name, s.Largest)
	case s.Largest < 0 || math.IsInf(s.Largest, 1) || math.IsNaN(s.Largest):
		return fmt.Errorf("data set %s: largest = %v: give the largest possible value, above 0", s.Name, s.Largest)
	case (s.Schema+s.Header+s.Decimal+s.Shape != "" || s.Largest != 0 || len(s.Missing) > 0 || s.Gaps || s.Rules != 0) && s.isNamed():
		return fmt.Errorf("data set %s: schema, header, decimal, shape, largest, missing, gaps and rules are for a file of your own; leave them empty", s.Name)
	case s.Rules > NewestRules:
		return fmt.Errorf("data set %s: rules = %d, but this program knows the rules 1 to %d for reading files: open the data with a newer program, or omit rules to read the file anew", s.Name, s.Rules, NewestRules)
	case s.Header != "" && s.Header != "yes" && s.Header != "no":
		return fmt.Errorf("data set %s: header = %q: give yes or no, or leave it empty", s.Name, s.Header)
	case s.Decimal != "" && s.Decimal != "." && s.Decimal != ",":
		return fmt.Errorf("data set %s: decimal = %q: give a point or a comma, or leave it empty", s.Name, s.Decimal)
	case s.Validation != nil && *s.Validation < 0:
		return fmt.Errorf("data set %s: validation = %d: hold out 0 rows or more", s.Name, *s.Validation)
	case s.Subset < 0:
		return fmt.Errorf("data set %s: subset = %d: keep a positive number of training rows, or all with 0", s.Name, s.Subset)
	case s.WeightFile != "" && !s.IsFile():
		return fmt.Errorf("data set %s: weight_file = %q: it is only for the rows of a file of your own; leave it empty", s.Name, s.WeightFile)
	case s.TestLabelFile != "" && (s.Test == "" || s.LabelFile == ""):
		return fmt.Errorf("data set %s: test_label_file = %q: it labels the rows of test, and needs test and label_file; give both", s.Name, s.TestLabelFile)
	case s.Test != "" && s.Test == s.Name:
		return fmt.Errorf("data set %s: test = %[1]q: it is the file of the training rows: name another file, or omit test to hold out a tenth of the rows", s.Name)
	case s.TestLabelFile != "" && s.TestLabelFile == s.LabelFile:
		return fmt.Errorf("data set %s: test_label_file = %q: it is the file of the training labels: name the file with the labels of the test rows", s.Name, s.LabelFile)
	case s.FirstLabel < 0 || s.FirstLabel >= Unlabeled:
		return fmt.Errorf("data set %s: first_label = %d: give the number of the first class, 0 or 1", s.Name, s.FirstLabel)
	case s.FirstLabel != 0 && s.isNamed():
		return fmt.Errorf("data set %s: first_label = %d: it is only for the labels of a file of your own; omit first_label", s.Name, s.FirstLabel)
	case s.Labels < 0:
		return fmt.Errorf("data set %s: labels = %d: keep the labels of a positive number of training rows", s.Name, s.Labels)
	}
	return nil
}

func (s Spec) clone() Spec {
	if s.Validation != nil {
		s.Validation = new(*s.Validation)
	}
	s.Missing = slices.Clone(s.Missing)
	return s
}

// Binarization is how the grey values of a set become values of visible units. For data that is already 0 and 1,
// all kinds but Real give the same values.
type Binarization int

const (
	// Fixed rounds every value at one half, once, when the set is opened: the values become 0 and 255.
	Fixed Binarization = iota
	// Stochastic keeps the grey values. A value v is the probability v/255 of a Bernoulli variable, which training
	// redraws at each step.
	Stochastic
	// Gray keeps the grey values v as the numbers v/255, for Gaussian visible units.
	Gray
	// Drawn draws every value once, from the seed, when the set is opened: a value v becomes 255 with probability
	// v/255, and otherwise 0.
	Drawn
	// Real keeps the numbers of a file as they are, as float32, for Gaussian visible units.
	Real
)

var binarizationNames = names.New("binarization", "fixed", "stochastic", "grey", "drawn", "real")

func (b Binarization) String() string { return binarizationNames.Name(int(b)) }

func (b Binarization) MarshalText() ([]byte, error) { return binarizationNames.Marshal(int(b)) }

func (b *Binarization) UnmarshalText(text []byte) error {
	return binarizationNames.Parse((*int)(b), text)
}
