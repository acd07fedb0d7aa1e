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

// Shares of the rows in bins add the weights of the rows. Numbers beyond the bins count in the last one.
func TestSharesAddWeights(t *testing.T) {
	b := binning{-0.5, 1, 2}
	if got := b.shares([]float64{0, 1, 1, 7}, nil); !slices.Equal(got, []float64{0.25, 0.75}) {
		t.Errorf("the shares are %v", got)
	}
	if got := b.shares([]float64{0, 1}, []float64{1.5, 0.5}); !slices.Equal(got, []float64{0.75, 0.25}) {
		t.Errorf("the weighted shares are %v", got)
	}
}
