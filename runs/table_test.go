package runs_test

import (
	"io"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/runs"
)

func TestCells(t *testing.T) {
	type method string
	type standardError float64
	number, none := 1.5, (*float64)(nil)
	table := runs.NewTable("cells", "",
		runs.Column{Key: "text"},
		runs.Column{Key: "integer", Kind: runs.Integer},
		runs.Column{Key: "number", Kind: runs.Number},
		runs.Column{Key: "boolean", Kind: runs.Boolean},
	)
	table.Add(method("NRWS"), 1, standardError(0.25), true)
	table.Add("\xff", uint64(math.MaxInt64), &number, false)
	table.Add("", uint8(3), math.NaN(), nil)
	table.Add(nil, (*int)(nil), none, (*bool)(nil))
	want := [][]any{
		{"NRWS", int64(1), 0.25, true},
		{"\uFFFD", int64(math.MaxInt64), 1.5, false},
		{nil, int64(3), nil, nil},
		{nil, nil, nil, nil},
	}
	if got := table.Rows(); !reflect.DeepEqual(got, want) {
		t.Errorf("the rows are %v, want %v", got, want)
	}
}

func TestMisuseOfTablesPanics(t *testing.T) {
	column := func(key string) runs.Column { return runs.Column{Key: key, Kind: runs.Integer} }
	add := func(cells ...any) func() {
		return func() { runs.NewTable("epochs", "", column("epoch"), column("step")).Add(cells...) }
	}
	for _, test := range []struct {
		misuse func()
		says   string
	}{
		{func() { runs.NewTable("Epochs", "", column("epoch")) }, `runs: "Epochs" is not a valid name of a table`},
		{func() { runs.NewTable("epochs", "") }, "runs: table epochs has no columns"},
		{func() { runs.NewTable("epochs", "", column("log p")) }, `runs: "log p" is not a valid key of a column of table epochs`},
		{func() { runs.NewTable("epochs", "", column("train.")) }, `runs: "train." is not a valid key of a column of table epochs`},
		{func() { runs.NewTable("epochs", "", column("step"), column("step")) }, "runs: table epochs has two columns with the key step"},
		{func() { runs.NewTable("epochs", "", runs.Column{Key: "epoch", Kind: runs.Integer, Decimals: 1}) },
			"runs: 1 decimals are invalid for the integer column epoch of table epochs"},
		{func() { runs.NewTable("epochs", "", runs.Column{Key: "log_p", Kind: runs.Number, Decimals: -1}) },
			"runs: -1 decimals are invalid for the number column log_p of table epochs"},
		{func() { runs.NewTable("epochs", "", runs.Column{Key: "epoch", Kind: runs.Integer, Fraction: true}) },
			"runs: fractions are invalid for the integer column epoch of table epochs"},
		{add(1), "runs: a row has 1 cells, but there are 2 columns in table epochs"},
		{add(1, 2, 3), "runs: a row has 3 cells, but there are 2 columns in table epochs"},
		{add(1, 2.5), "runs: float64 2.5 is not a valid cell of the integer column step of table epochs"},
		{add("1", 2), "runs: string 1 is not a valid cell of the integer column epoch of table epochs"},
		{add(1, uint64(1<<63)), "runs: uint64 9223372036854775808 is not a valid cell of the integer column step of table epochs"},
	} {
		func() {
			defer func() {
				if said, ok := recover().(string); !ok || !strings.Contains(said, test.says) {
					t.Errorf("the panic is %q, want one that says %q", said, test.says)
				}
			}()
			test.misuse()
		}()
	}
}

// People read fractions in percent, and programs as numbers.
func TestFractionsAreReadInPercent(t *testing.T) {
	table := runs.NewTable("shares", "",
		runs.Column{Key: "ess", Label: "ESS", Kind: runs.Number, Decimals: 1, Fraction: true},
		runs.Column{Key: "error", Kind: runs.Number, Fraction: true})
	table.Add(0.0031, 0.07)
	table.Add(nil, nil)
	for _, c := range []struct {
		write func(*runs.Table, io.Writer) error
		want  string
	}{
		{(*runs.Table).WriteMarkdown, "| ESS (%) | error (%) |\n| ---: | ---: |\n| 0.3 | 7 |\n| – | – |\n"},
		{(*runs.Table).WriteCSV, "ess,error\n0.0031,0.07\n,\n"},
	} {
		var b strings.Builder
		if err := c.write(table, &b); err != nil || b.String() != c.want {
			t.Errorf("the table is\n%s(%v), want\n%s", b.String(), err, c.want)
		}
	}
}

func TestKindsOfColumnsHaveNames(t *testing.T) {
	for kind, want := range map[runs.ColumnKind]string{runs.Text: "text", runs.Boolean: "boolean", 7: "invalid(7)", -1: "invalid(-1)"} {
		if got := kind.String(); got != want {
			t.Errorf("kind %d is %q, want %q", int(kind), got, want)
		}
	}
}

func TestTheErrorOfAnUnknownFormatListsThem(t *testing.T) {
	err := runs.NewTable("epochs", "", runs.Column{Key: "epoch"}).Write(t.Output(), "xml")
	if want := `unknown table format "xml": use one of csv, json, latex, markdown, text`; err == nil || err.Error() != want {
		t.Errorf("the error is %v, want %s", err, want)
	}
}

// LaTeX's own signs in names and numbers do not end or change a table.
func TestLaTeX(t *testing.T) {
	table := runs.NewTable("t", "R&D_1 at 50 % {η² \\ ~^#$|<>}",
		runs.Column{Key: "name_of"}, runs.Column{Key: "log_p", Unit: "nats", Kind: runs.Number, Decimals: 1}, runs.Column{Key: "n", Kind: runs.Integer})
	table.Add("a & b", -8.25, 3)
	table.Add("–1 ± 2\n", math.Inf(-1), nil)
	var b strings.Builder
	if err := table.WriteLaTeX(&b); err != nil {
		t.Fatal(err)
	}
	want := `\begin{table}
\centering
\caption{R\&D\_1 at 50 \% \{$\eta$$^2$ \textbackslash{} \textasciitilde{}\textasciicircum{}\#\$$|$$<$$>$\}}
\begin{tabular}{lrr}
\hline
name\_of & log\_p (nats) & n \\
\hline
a \& b & $-8.2$ & 3 \\
--1 $\pm$ 2  & $-\infty$ & -- \\
\hline
\end{tabular}
\end{table}
`
	if b.String() != want {
		t.Errorf("the table is\n%swant\n%s", b.String(), want)
	}
}

// Columns are selected by the whole key, or by its last part if that is enough.
func TestSelect(t *testing.T) {
	table := runs.NewTable("t", "", runs.Column{Key: "train.log_p", Kind: runs.Integer}, runs.Column{Key: "best.log_p", Kind: runs.Integer}, runs.Column{Key: "settings.rate", Kind: runs.Integer})
	table.Add(1, 2, 3)
	for keys, want := range map[string]string{
		"":                   "train.log_p,best.log_p,settings.rate\n1,2,3\n",
		"rate,best.log_p":    "settings.rate,best.log_p\n3,2\n",
		"log_p":              `"log_p" is ambiguous: write train.log_p or best.log_p`,
		"settings.rat,log_p": `no column "settings.rat" (did you mean "settings.rate"?)`,
	} {
		var b strings.Builder
		selected, err := table.Select("", slices.DeleteFunc(strings.Split(keys, ","), func(key string) bool { return key == "" })...)
		if err == nil {
			err = selected.WriteCSV(&b)
		}
		if got := b.String(); err != nil && err.Error() != want || err == nil && got != want {
			t.Errorf("the columns %q are %q (%v), want %q", keys, got, err, want)
		}
	}
}
