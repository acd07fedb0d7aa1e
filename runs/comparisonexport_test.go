package runs_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/helmholtz-go/helmholtz/runs"
)

// The column of a setting has the narrowest kind that fits all its values.
func TestSettingsHaveAKind(t *testing.T) {
	for _, test := range []struct {
		values []string // "" means missing
		kind   runs.ColumnKind
		want   []any
	}{
		{[]string{"32", "", "64"}, runs.Integer, []any{int64(32), nil, int64(64)}},
		{[]string{"0.05", "1", ""}, runs.Number, []any{0.05, 1.0, nil}},
		{[]string{"true", "false", "true"}, runs.Boolean, []any{true, false, true}},
		{[]string{"01", "pm1", ""}, runs.Text, []any{"01", "pm1", nil}},
		{[]string{"[6, 3]", "[9]", "[9]"}, runs.Text, []any{"[6, 3]", "[9]", "[9]"}},
	} {
		c := runs.Comparison{Settings: []string{"method.setting"}, Objective: runs.LogP}
		for _, value := range test.values {
			settings := map[string]string{}
			if value != "" {
				settings["method.setting"] = value
			}
			c.Experiments = append(c.Experiments, runs.Compared{Settings: settings})
		}
		table := c.Table()
		at := slices.IndexFunc(table.Columns(), func(c runs.Column) bool { return c.Key == "settings.method.setting" })
		if at < 0 {
			t.Fatalf("the table has the columns %+v", table.Columns())
		}
		column := table.Columns()[at]
		var got []any
		for _, row := range table.Rows() {
			got = append(got, row[at])
		}
		if column.Label != "method.setting" || column.Kind != test.kind || !cmp.Equal(got, test.want) {
			t.Errorf("%q are cells %v of the column %+v, want %v of kind %v", test.values, got, column, test.want, test.kind)
		}
	}
}
