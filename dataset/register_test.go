package dataset

import (
	"errors"
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
	if err != nil || !slices.Equal(rows.Reals, []float32{1.5, 2}) {
		t.Errorf("%v, %v", rows.Reals, err)
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
