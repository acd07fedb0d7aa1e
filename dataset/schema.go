package dataset

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	files "github.com/helmholtz-go/helmholtz/internal/file"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/internal/statistics"
)

// Schema declares how a file becomes rows: the columns of a table, or the shape of other rows, and the scale of their
// numbers. A set without rows that is made from a Schema reads files and writes samples like the set that it describes.
type Schema struct {
	Header  bool     // whether the first line of a table names its columns
	Columns []Column // of a table; nil for other data
	Decimal string   // the decimal character, "." or ",", if the other one may separate thousands; otherwise ""
	Shape   Shape    // of a row, with its first unit in the upper left
	// Fingerprint is the Fingerprint of the set in the schema of a run, and otherwise "".
	Fingerprint string
	Gaps        bool // whether fields may be missing: see Spec.Gaps

	point     string // the decimal character of the training file, or "" if its numbers have none
	sequences bool
	keys      []int
	classes   []string
	scalings  []scaling // of the units of a standardised set
	scale     scale
}

// Schema returns the columns of the set, or the shape of its rows, and the scale of the numbers in its file.
func (s *Set) Schema() Schema {
	of := Schema{Header: s.header, Decimal: s.decimal, point: s.point, Columns: s.fields, Shape: s.Shape(), Gaps: s.spec.Gaps, sequences: s.train.Lengths != nil, keys: s.keys, classes: s.classes, scalings: s.scalings, scale: s.scale}
	if of.Columns == nil {
		of.Columns = s.columns
	}
	return of
}

// Blank returns a set without rows. spec is the Spec of the set that the Schema describes. The set can read rows with
// ReadRows, and write samples with WriteCSV.
func (of Schema) Blank(spec Spec) (*Set, error) {
	if err := spec.check(); err != nil {
		return nil, err
	}
	if err := of.Shape.Check(); err != nil {
		return nil, err
	}
	spec.Gaps = spec.Gaps || of.Gaps
	units := 0 // that are standardised
	if spec.Standardize {
		if units = of.Shape.Units(); of.sequences {
			units = of.Shape.Width
		}
	}
	if len(of.scalings) != units {
		return nil, fmt.Errorf("the schema has the deviations of %d units, but %d are standardised: write it anew", len(of.scalings), units)
	}
	empty := Split{Shape: of.Shape}
	if spec.Binarization == Real {
		empty.Values = Reals(units, []float32{})
	}
	if of.sequences {
		empty.Lengths = []int{}
	}
	set := newSet(spec.clone(), empty, empty, empty)
	kinds, err := parseColumns(spec.Columns)
	if err != nil {
		return nil, err
	}
	set.decimal, set.point = of.Decimal, of.point
	set.header, set.scale, set.spins, set.keys, set.classes, set.scalings = of.Header, of.scale, of.scale.Spins, of.keys, of.classes, of.scalings
	if spec.Schema != "" { // which gives all kinds
		for _, c := range of.Columns {
			kinds[c.Name] = Column{}
		}
	}
	switch {
	case !spec.IsFile():
		set.columns = of.Columns
	case spec.Shape == "":
		set.columns, set.unnamed = known(of.Columns, of.Header, kinds)
		fallthrough
	default:
		set.fields = of.Columns
	}
	return set, nil
}

// schemaFormat is the version of the TOML of a Schema.
const schemaFormat = 1

// schemaTOML is the TOML of a Schema.
type schemaTOML struct {
	Format      int          `toml:"schema"`
	Fingerprint string       `toml:"fingerprint,omitempty"`
	Shape       string       `toml:"shape,omitempty"`
	Header      *bool        `toml:"header,omitempty"`
	Decimal     string       `toml:"decimal,omitempty"`
	Point       string       `toml:"point,omitempty"`
	Gaps        bool         `toml:"gaps,omitempty"`
	Sequences   bool         `toml:"sequences,omitempty"`
	Keys        []int        `toml:"keys,omitempty"`
	Classes     []string     `toml:"classes,omitempty"`
	Means       []float64    `toml:"means,omitempty"`
	Deviations  []float64    `toml:"deviations,omitempty"`
	Scale       scale        `toml:"scale"`
	Columns     []columnTOML `toml:"column,omitempty"`
}

type columnTOML struct {
	Name           string     `toml:"name"`
	Kind           ColumnKind `toml:"kind"`
	Transformation string     `toml:"transformation,omitempty"`
	Missing        []string   `toml:"missing,omitempty"`
	Units          int        `toml:"units,omitzero"` // of categories without names
	Values         []string   `toml:"values,omitempty"`
	Cuts           []float64  `toml:"cuts,omitempty"`
	Rest           bool       `toml:"rest,omitempty"`
	Decimals       *int       `toml:"decimals,omitempty"`
	Least          float64    `toml:"least,omitzero"`
	Greatest       float64    `toml:"greatest,omitzero"`
	Mean           float64    `toml:"mean,omitzero"`
	Deviation      float64    `toml:"deviation,omitzero"`
}

const (
	// countColumn is the kind that the TOML of a Schema gives a RealColumn of whole numbers that are not negative.
	countColumn ColumnKind = "count"

	logarithm, standardisation = "log", "standardised"
)

// TOML returns the Schema as text, which ParseSchema reads.
func (of Schema) TOML() []byte {
	t := schemaTOML{Format: schemaFormat, Fingerprint: of.Fingerprint, Decimal: of.Decimal, Point: of.point, Gaps: of.Gaps, Sequences: of.sequences, Keys: of.keys, Classes: of.classes, Scale: of.scale}
	if of.Columns != nil {
		t.Header = &of.Header
	}
	if of.Columns == nil || of.Shape.Height > 1 {
		t.Shape = strings.Replace(of.Shape.String(), "×", "x", 1)
	}
	for _, by := range of.scalings {
		t.Means, t.Deviations = append(t.Means, by.Mean), append(t.Deviations, by.SD)
	}
	for _, c := range of.Columns {
		column := columnTOML{Name: c.Name, Kind: c.Kind, Missing: c.Missing, Values: c.Values, Cuts: c.Cuts, Rest: c.Rest}
		if c.Cuts != nil {
			column.Values = nil // which follow from the cuts
		}
		if c.Kind == CategoricalColumn && c.Values == nil {
			column.Units = c.Units
		}
		if n := c.Numbers; n != nil {
			column.Decimals, column.Least, column.Greatest, column.Mean, column.Deviation = &n.Decimals, n.Least, n.Greatest, n.Mean, n.SD
			if n.Decimals == 0 && n.Least >= 0 {
				column.Kind = countColumn
			}
		}
		switch {
		case c.Log:
			column.Transformation = logarithm
		case c.Kind == RealColumn && of.scalings != nil:
			column.Transformation = standardisation
		}
		t.Columns = append(t.Columns, column)
	}
	var b bytes.Buffer
	if err := toml.NewEncoder(&b).Encode(t); err != nil {
		panic(err) // all types can be encoded
	}
	return b.Bytes()
}

// ParseSchema reads the TOML of a Schema. It refuses unknown keys and kinds, values that do not fit their kind, and two
// columns of one name.
func ParseSchema(text []byte) (of Schema, err error) {
	var t schemaTOML
	meta, err := toml.Decode(string(text), &t)
	switch {
	case err != nil:
		return of, fmt.Errorf("the schema is no TOML: %w", err)
	case t.Format != schemaFormat:
		return of, fmt.Errorf("schema = %d: this program reads schema = %d; write the schema anew with helmholtz data show FILE --write-schema", t.Format, schemaFormat)
	case t.Shape == "" && len(t.Columns) == 0:
		return of, errors.New("the schema declares no columns and no shape of other rows: give a table [[column]] for each column")
	case len(meta.Undecoded()) > 0:
		return of, fmt.Errorf("the schema has an unknown key %v: remove it, or correct its name", meta.Undecoded()[0])
	case len(t.Means) != len(t.Deviations) || slices.ContainsFunc(t.Deviations, func(sd float64) bool { return !(sd > 0) }) || slices.ContainsFunc(t.Means, func(mean float64) bool { return !statistics.Finite(mean) }):
		return of, errors.New("the schema has deviations that are not above 0, or another number of means: write it anew")
	}
	of = Schema{
		Header: t.Header != nil && *t.Header, Decimal: t.Decimal, Fingerprint: t.Fingerprint, Gaps: t.Gaps,
		point: t.Point, sequences: t.Sequences, keys: t.Keys, classes: t.Classes, scale: t.Scale,
	}
	for i, mean := range t.Means {
		of.scalings = append(of.scalings, scaling{mean, t.Deviations[i]})
	}
	units, names := 0, map[string]bool{}
	for _, c := range t.Columns {
		column, err := c.column()
		if err == nil && names[c.Name] {
			err = errors.New("the schema has two columns of this name: give each its own")
		}
		if err != nil {
			return of, fmt.Errorf("column %q of the schema: %w", c.Name, err)
		}
		column.First, names[c.Name] = units, true
		of.Columns, units = append(of.Columns, column), units+column.Units
	}
	if of.Shape = (Shape{1, units}); t.Shape != "" {
		if of.Shape, err = parseShape(t.Shape); err == nil && t.Columns != nil && units != of.Shape.Units() {
			err = fmt.Errorf("shape = %q has %d values, but the columns of the schema have %d units: correct one of them", t.Shape, of.Shape.Units(), units)
		}
	}
	switch {
	case err != nil:
	case of.Shape.Units() > 1<<20:
		err = fmt.Errorf("the schema has %d units: give at most %d", of.Shape.Units(), 1<<20)
	case of.keys != nil && (len(of.keys) != 2 || of.keys[1]-of.keys[0]+1 != of.Shape.Width):
		err = fmt.Errorf("the schema has keys = %v for steps of %d units: write it anew", of.keys, of.Shape.Width)
	}
	return of, err
}

// column returns the column that the TOML declares. It has no units if its values remain to be found in a file.
func (c columnTOML) column() (Column, error) {
	if c.Units < 0 || c.Units > maxValues {
		return Column{}, fmt.Errorf("units = %d: give a number up to %d, or leave it out", c.Units, maxValues)
	}
	of := Column{Name: c.Name, Kind: c.Kind, Units: c.Units, Values: c.Values, Cuts: c.Cuts, Rest: c.Rest, Missing: c.Missing, Log: c.Transformation == logarithm}
	if c.Decimals != nil {
		of.Numbers = &Numbers{*c.Decimals, c.Least, c.Greatest, c.Mean, c.Deviation}
	}
	real := c.Kind == RealColumn || c.Kind == countColumn
	switch {
	case !slices.Contains([]string{"", logarithm, standardisation}, c.Transformation):
		return of, fmt.Errorf("transformation = %q: use log or standardised, or leave it out", c.Transformation)
	case c.Transformation != "" && !real, c.Cuts != nil && !real, c.Decimals != nil && !real:
		return of, fmt.Errorf("it is %s, but has a transformation, cuts or decimals, which are for numbers: remove them", c.Kind)
	case real && c.Cuts == nil && c.Values != nil && !slices.Equal(c.Values, []string{onlyRange}):
		return of, fmt.Errorf("it is %s, but has values, which are for categories: remove them", c.Kind)
	case !slices.IsSorted(c.Cuts):
		return of, fmt.Errorf("cuts = %v: give them in ascending order", c.Cuts)
	case len(distinct(c.Values)) < len(c.Values):
		return of, fmt.Errorf("values = %q: give each value once", c.Values)
	}
	switch c.Kind {
	case LabelColumn, IdentifierColumn:
	case SkippedColumn:
		if len(c.Values) > 1 { // of the kind that it had
			of.Values = nil
		}
	case BinaryColumn:
		if of.Units = 1; c.Values != nil && len(c.Values) != 2 {
			return of, fmt.Errorf("it is binary, but has %s: give two", names.Count(len(c.Values), "value"))
		}
	case RealColumn, countColumn:
		of.Kind, of.Units = RealColumn, max(1, len(c.Values))
		if c.Cuts != nil {
			of.Values = rangesOf(c.Cuts)
			of.Units = len(of.Values)
		}
	case CategoricalColumn:
		of.Units = max(c.Units, len(c.Values))
	default:
		return of, fmt.Errorf("kind = %q: use binary, categorical, count, real, label, identifier or skip", c.Kind)
	}
	return of, nil
}

// isComplete reports whether a schema declares the values of a column of a kind, so that they need not be inferred.
func (c Column) isComplete(kind ColumnKind) bool {
	return c.Kind == kind && (c.Values != nil || kind == RealColumn && c.Units == 1)
}

// declare reads the columns of a table from the schema in a file. Columns of the Spec have precedence.
func (t *table) declare(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("schema = %q: %w%s", path, err, files.Remedy(err, path))
	}
	of, err := ParseSchema(text)
	if err == nil && of.Columns == nil {
		err = errors.New("it declares no columns, since its data is no table: leave schema empty")
	}
	if err != nil {
		return fmt.Errorf("schema = %q: %w", path, err)
	}
	if t.decimal == "" {
		t.decimal = of.Decimal
	}
	if t.headed == "" {
		t.headed = map[bool]string{false: "no", true: "yes"}[of.Header]
	}
	t.schema, t.open = true, t.open || of.Gaps
	for _, c := range of.Columns {
		if _, is := t.kinds[c.Name]; !is {
			t.kinds[c.Name] = c
		}
	}
	return nil
}
