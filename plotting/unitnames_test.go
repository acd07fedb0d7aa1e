package plotting

import (
	"slices"
	"testing"

	"github.com/helmholtz-go/helmholtz/dataset"
)

// A unit has the name of the value for which it is 1.
func TestUnitsAreNamed(t *testing.T) {
	columns := []dataset.Column{
		{Name: "age", Kind: dataset.RealColumn, Units: 1},
		{Name: "town", Kind: dataset.CategoricalColumn, Units: 2, Values: []string{"Aa", "Bb"}},
		{Name: "sick", Kind: dataset.BinaryColumn, Units: 1, Values: []string{"no", "yes"}},
		{Name: "ward", Kind: dataset.CategoricalColumn, Units: 1, Values: []string{"east"}, Rest: true},
	}
	want := []string{"age", "town=Aa", "town=Bb", "sick=yes", "ward=east"}
	if got := unitNames(columns); !slices.Equal(got, want) {
		t.Errorf("the units are %q, want %q", got, want)
	}
}
