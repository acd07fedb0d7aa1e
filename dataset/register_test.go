package dataset

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// Decimal commas of the training file say nothing of a second file in a registered format.
func TestRegisteredFormatsBesideDecimalCommas(t *testing.T) {
	const magic = "\x01table"
	RegisterTable(magic, func(_ TableFile, row func([]string) error) error {
		return errors.Join(row([]string{"a", "b"}), row([]string{"1.5", "2"}))
	})
	defer delete(tableReaders, magic)
	set := opened(t, Spec{Name: written(t, "rows.csv", "a;b\n1,500;4,500\n2,500;1,250\n5,500;3,250\n"), Binarization: Real, Validation: new(0)})
	rows, err := set.ReadRows(written(t, "rows.table", magic))
	if err != nil || !slices.Equal(rows.Reals(), []float32{1.5, 2}) {
		t.Errorf("%v, %v", rows.Reals(), err)
	}
}

// The first bytes of a file decide which format reads it.
func TestFirstBytesOfTablesAreUnambiguous(t *testing.T) {
	const magic = "table of a test"
	read := func(TableFile, func([]string) error) error { return nil }
	RegisterTable(magic, read)
	defer delete(tableReaders, magic)
	for _, other := range []struct {
		magic string
		read  TableReader
	}{
		{magic, read}, {magic[:5], read}, {magic + "!", read}, {"", read}, {"another table", nil}, {strings.Repeat("x", longestStart+1), read},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%q was registered", other.magic)
					delete(tableReaders, other.magic)
				}
			}()
			RegisterTable(other.magic, other.read)
		}()
	}
}

// The choice between real and other numbers reads a table once, and gives the set of the Spec that names the choice.
func TestNumbersDecideAfterOneReading(t *testing.T) {
	const magic = "\x01table"
	read := 0
	var lines string
	RegisterTable(magic, func(_ TableFile, row func([]string) error) error {
		read++
		for line := range strings.Lines(lines) {
			if err := row(strings.Split(strings.TrimSpace(line), ",")); err != nil {
				return err
			}
		}
		return nil
	})
	defer delete(tableReaders, magic)
	path := written(t, "rows.table", magic)
	for _, c := range []struct {
		rows string
		want Spec // of OpenSuggested
	}{
		{table30("age,pay", "%[2]d.5,1%[2]d00"), Spec{Binarization: Real, Standardize: true}},
		{table30("p0,p1,p2", "1%[2]d,0,%[2]d"), Spec{}},
		{table30("p0,p1", "1%[2]d000,%[2]d"), Spec{Binarization: Real, Standardize: true}},
		{table30("age,pay,town", "%[2]d,1%[2]de39,t%[2]d"), Spec{}}, // too large for float32
		{table30("age,town", "0.%[2]d,t%[2]d"), Spec{Binarization: Real}},
	} {
		read, lines = 0, c.rows
		got, err := Spec{Name: path}.OpenSuggested()
		if err != nil || read != 1 {
			t.Errorf("%+v: read %d times, %v", c.want, read, err)
			continue
		}
		c.want.Name = path
		want, err := c.want.OpenNew()
		if err != nil || got.Fingerprint() != want.Fingerprint() || !reflect.DeepEqual(got.Schema(), want.Schema()) || !reflect.DeepEqual(got.Spec(), want.Spec()) {
			t.Errorf("%+v: %v\n%s, want %+v\n%s", got.Spec(), err, got.Schema().TOML(), want.Spec(), want.Schema().TOML())
		}
	}
}
