package dataset

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"
)

// Schema declares how a file becomes rows: the columns of a table, or the shape of other rows, and the scale of their
// numbers. A set without rows that is made from a Schema reads files and writes samples like the set that it describes.
type Schema struct {
	Header  bool     // whether the first line of a table names its columns
	Columns []Column // of a table; nil for other data
	Shape   Shape    // of a row, with its first unit in the upper left
	// Fingerprint is the Fingerprint of the set in the schema of a run, and otherwise "".
	Fingerprint string

	sequences bool
	keys      []int
	classes   []string
	scalings  []scaling // of the units of a standardised set
	scale     scale
}

// Schema returns the columns of the set, or the shape of its rows, and the scale of the numbers in its file.
func (s *Set) Schema() Schema {
	of := Schema{Header: s.header, Columns: s.fields, Shape: s.Shape(), sequences: s.train.Lengths != nil, keys: s.keys, classes: s.classes, scalings: s.scalings, scale: s.scale}
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
	empty := rows{shape: of.Shape}
	if spec.Binarization == Real {
		empty.reals = []float32{}
	}
	if of.sequences {
		empty.lengths = []int{}
	}
	set := newSet(spec.clone(), empty, empty, empty)
	kinds, err := parseColumns(spec.Columns)
	if err != nil {
		return nil, err
	}
	set.header, set.scale, set.spins, set.keys, set.classes, set.scalings = of.Header, of.scale, of.scale.Spins, of.keys, of.classes, of.scalings
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
	Shape       string       `toml:"shape"`
	Header      *bool        `toml:"header,omitempty"`
	Sequences   bool         `toml:"sequences,omitempty"`
	Keys        []int        `toml:"keys,omitempty"`
	Classes     []string     `toml:"classes,omitempty"`
	Means       []float64    `toml:"means,omitempty"`
	Deviations  []float64    `toml:"deviations,omitempty"`
	Scale       scale        `toml:"scale"`
	Columns     []columnTOML `toml:"column,omitempty"`
}

type columnTOML struct {
	Name      string     `toml:"name"`
	Kind      ColumnKind `toml:"kind"`
	Units     int        `toml:"units"`
	Values    []string   `toml:"values,omitempty"`
	Cuts      []float64  `toml:"cuts,omitempty"`
	Rest      bool       `toml:"rest,omitempty"`
	Decimals  *int       `toml:"decimals,omitempty"`
	Least     *float64   `toml:"least,omitempty"`
	Greatest  *float64   `toml:"greatest,omitempty"`
	Mean      *float64   `toml:"mean,omitempty"`
	Deviation *float64   `toml:"deviation,omitempty"`
}

// CountColumn is the kind that the TOML of a Schema gives a RealColumn of whole numbers that are not negative.
const CountColumn ColumnKind = "count"

// TOML returns the Schema as text, which ParseSchema reads.
func (of Schema) TOML() []byte {
	t := schemaTOML{Format: schemaFormat, Fingerprint: of.Fingerprint, Shape: strings.Replace(of.Shape.String(), "×", "x", 1), Sequences: of.sequences, Keys: of.keys, Classes: of.classes, Scale: of.scale}
	if of.Columns != nil {
		t.Header = &of.Header
	}
	for _, by := range of.scalings {
		t.Means, t.Deviations = append(t.Means, by.Mean), append(t.Deviations, by.SD)
	}
	for _, c := range of.Columns {
		column := columnTOML{Name: c.Name, Kind: c.Kind, Units: c.Units, Values: c.Values, Cuts: c.Cuts, Rest: c.Rest}
		if n := c.Numbers; n != nil {
			column.Decimals, column.Least, column.Greatest, column.Mean, column.Deviation = &n.Decimals, &n.Least, &n.Greatest, &n.Mean, &n.SD
			if n.Decimals == 0 && n.Least >= 0 {
				column.Kind = CountColumn
			}
		}
		t.Columns = append(t.Columns, column)
	}
	var b bytes.Buffer
	if err := toml.NewEncoder(&b).Encode(t); err != nil {
		panic(err) // all types can be encoded
	}
	return b.Bytes()
}

// ParseSchema reads the TOML of a Schema. It refuses unknown keys, kinds and units that do not match the values.
func ParseSchema(text []byte) (of Schema, err error) {
	var t schemaTOML
	meta, err := toml.Decode(string(text), &t)
	switch {
	case err != nil:
		return of, fmt.Errorf("the schema is no TOML: %w", err)
	case t.Format != schemaFormat:
		return of, fmt.Errorf("schema = %d: this program reads schema = %d; write the schema anew with helmholtz data show FILE --write-schema", t.Format, schemaFormat)
	case len(meta.Undecoded()) > 0:
		return of, fmt.Errorf("the schema has an unknown key %v: remove it, or correct its name", meta.Undecoded()[0])
	}
	if of.Shape, err = parseShape(t.Shape); err != nil {
		return of, err
	}
	of.Fingerprint, of.Header, of.sequences, of.keys, of.classes, of.scale = t.Fingerprint, t.Header != nil && *t.Header, t.Sequences, t.Keys, t.Classes, t.Scale
	if len(t.Means) != len(t.Deviations) || slices.ContainsFunc(t.Deviations, func(sd float64) bool { return !(sd > 0) }) {
		return of, errors.New("the schema has deviations that are not above 0, or another number of means: write it anew")
	}
	for i, mean := range t.Means {
		of.scalings = append(of.scalings, scaling{mean, t.Deviations[i]})
	}
	units := 0
	for _, c := range t.Columns {
		column := Column{Name: c.Name, Kind: c.Kind, First: units, Units: c.Units, Values: c.Values, Cuts: c.Cuts, Rest: c.Rest}
		if c.Kind == CountColumn {
			column.Kind = RealColumn
		}
		if c.Decimals != nil && c.Least != nil && c.Greatest != nil && c.Mean != nil && c.Deviation != nil {
			column.Numbers = &Numbers{*c.Decimals, *c.Least, *c.Greatest, *c.Mean, *c.Deviation}
		}
		if err := column.check(); err != nil {
			return of, fmt.Errorf("column %q of the schema: %w", c.Name, err)
		}
		of.Columns, units = append(of.Columns, column), units+c.Units
	}
	if t.Columns != nil && units != of.Shape.Units() {
		return of, fmt.Errorf("the columns of the schema have %d units, but shape = %q has %d: correct one of them", units, t.Shape, of.Shape.Units())
	}
	return of, nil
}

// check refuses a column whose units do not match its kind and values.
func (c Column) check() error {
	units := len(c.Values)
	switch c.Kind {
	case SkippedColumn, LabelColumn:
		units = 0
	case BinaryColumn:
		if c.Values != nil && units != 2 {
			return fmt.Errorf("it is binary, but has %d values: give two", units)
		}
		units = 1
	case RealColumn:
		if c.Values == nil {
			units = 1
		}
		if c.Values != nil && len(c.Cuts) != len(c.Values)-1 || !slices.IsSorted(c.Cuts) {
			return fmt.Errorf("it has %d ranges and the cuts %v: give one cut less than ranges, in ascending order", len(c.Values), c.Cuts)
		}
	case CategoricalColumn:
		if c.Values == nil {
			units = c.Units
		}
	default:
		return fmt.Errorf("kind = %q: use binary, categorical, count, real, label, identifier or skip", c.Kind)
	}
	if c.Units != units {
		return fmt.Errorf("units = %s, but its kind and values need %d", strconv.Itoa(c.Units), units)
	}
	return nil
}
