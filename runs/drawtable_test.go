package runs_test

import (
	"math"

	"github.com/helmholtz-go/helmholtz/runs"
	"pgregory.net/rapid"
)

var (
	texts = rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{
		"", " ", "NRWS, η = 0.05", "log p̃*", "a|b\\|c", "\"", "\",\"", "a\nb", "a\r\nb", "\r", "\t", "NA", "null", "+Inf",
		"1e3", "\\.", "\x00\x1b[31m", "\ufeff", "\u2028", "not UTF-8: \xff", "漢字 👩‍🔬", "<b>&amp;</b>",
	}))
	integers = rapid.OneOf(rapid.Int64(), rapid.SampledFrom([]int64{0, math.MinInt64, math.MaxInt64, 1<<53 + 1}))
	numbers  = rapid.OneOf(rapid.Float64(), rapid.SampledFrom([]float64{
		0, math.Copysign(0, -1), 1, 0.1, -84.91, 1e-5, 1e6, 1e15, 1e21, 1 << 53, math.Nextafter(1, 2), math.MaxFloat64,
		-math.MaxFloat64, math.SmallestNonzeroFloat64, 0x1p-1022, math.Inf(1), math.Inf(-1), math.NaN(),
	}))
)

// drawTable draws a random table with a few columns and rows and some missing cells.
func drawTable(t *rapid.T) *runs.Table {
	keys := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-zÄé0-9_-]{1,4}(\.[a-z0-9_]{1,3}){0,2}`), 1, 5, rapid.ID[string]).Draw(t, "keys")
	columns := make([]runs.Column, len(keys))
	for i, key := range keys {
		columns[i] = runs.Column{
			Key: key, Label: texts.Draw(t, "label"), Unit: texts.Draw(t, "unit"),
			Kind: rapid.SampledFrom([]runs.ColumnKind{runs.Text, runs.Integer, runs.Number, runs.Boolean}).Draw(t, "kind"),
		}
		if columns[i].Kind == runs.Number {
			columns[i].Decimals = rapid.IntRange(0, 4).Draw(t, "decimals")
			columns[i].Fraction = rapid.Bool().Draw(t, "fraction")
		}
	}
	table := runs.NewTable("drawn", texts.Draw(t, "title"), columns...)
	for range rapid.IntRange(0, 6).Draw(t, "rows") {
		row := make([]any, len(columns))
		for i, c := range columns {
			if rapid.IntRange(0, 3).Draw(t, "missing") > 0 {
				row[i] = drawCell(t, c.Kind)
			}
		}
		table.Add(row...)
	}
	return table
}

func drawCell(t *rapid.T, kind runs.ColumnKind) any {
	switch kind {
	case runs.Text:
		return texts.Draw(t, "text")
	case runs.Integer:
		return integers.Draw(t, "integer")
	case runs.Number:
		return numbers.Draw(t, "number")
	}
	return rapid.Bool().Draw(t, "boolean")
}

// sameCell reports whether two cells are the same; numbers must agree to the bit.
func sameCell(a, b any) bool {
	x, isNumber := a.(float64)
	y, areNumbers := b.(float64)
	if isNumber && areNumbers {
		return math.Float64bits(x) == math.Float64bits(y)
	}
	return a == b
}
