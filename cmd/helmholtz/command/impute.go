package command

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/stat"
)

func newImpute() *cobra.Command {
	var out, which, format string
	var x imputing
	c := &cobra.Command{
		Use:   "impute DIR FILE",
		Short: "Fill in missing values of a table with the machine of a run",
		Args:  between(2, 2, "name the directory of one run, and a file of rows, or - for standard input"),
	}
	f := c.Flags()
	fileFlag(f, &out, "out", "filled.csv", "`file` to write: CSV, JSON or Parquet, by its extension", rowFormats...)
	stdinFlag(f, &format)
	numberFlag(f, &x.Draws, "draws", 1, 1, "`number` of completed copies of the rows")
	numberFlag(f, &x.Sweeps, "sweeps", 0, 0, sweepsUsage)
	f.BoolVar(&x.Within, "within", false, "move numbers that are filled in into the range of their column in the training file")
	f.BoolVar(&x.Spread, "spread", false, "write one copy with means and most frequent values, and their deviations and shares in columns NAME_sd and NAME_share")
	checkpointFlag(f, &which)
	f.Uint64Var(&x.Seed, "seed", 1, "`seed` of the draws")

	c.RunE = func(c *cobra.Command, args []string) error {
		dir, path := args[0], args[1]
		if x.Spread && x.Draws == 1 {
			return misuse(c, "--spread summarises several draws: give their number, such as --draws 100")
		}
		if err := firstOf(refuseIdle(c, path == "-", "the file -", "stdin"), refuseUnwritable(c, "out", out), refuseReplaced(c, path, "out", out)); err != nil {
			return err
		}
		run, model, err := openModel(dir, which)
		if err != nil {
			return err
		}
		by, err := run.Imputation(model)
		if err != nil {
			return err
		}
		if by.Sweeps == 0 && c.Flags().Changed("sweeps") {
			return misuse(c, "--sweeps: %s draws without chains; omit it", run.Noun())
		}
		set, err := run.Blank()
		if err != nil {
			return err
		}
		gaps, err := rowsOf(c, path, format, set.ReadGaps, set.ParseGaps)
		if err != nil {
			return err
		}
		note(c, gaps.Rows)
		rows := 0
		for _, gap := range gaps.Gaps {
			rows += len(gap.Rows)
		}
		said := fmt.Sprintf("missing: %s in %d of %s; filled in for each row by ", names.Count(gaps.Missing, "field"), rows, names.Count(gaps.Rows.Rows, "row"))
		switch {
		case rows == 0:
			said = "no field of " + path + " is missing: its rows are written as they are"
		case slices.Contains(by.Uses, "candidates") && by.Sweeps == 0:
			said += names.Count(x.Draws, "draw") + " of p(x|given), by importance resampling"
		case by.Sweeps == 0:
			said += names.Count(x.Draws, "exact draw")
		default:
			said += fmt.Sprintf("%s of %s", names.Count(x.Draws, "chain"), names.Count(cmp.Or(x.Sweeps, by.Sweeps), "sweep"))
		}
		if gaps.Absent != nil {
			said += "; the file has no column " + strings.Join(gaps.Absent, ", ")
		}
		if gaps.Labels > 0 {
			said += fmt.Sprintf("; missing labels, which are not filled in: %d", gaps.Labels)
		}
		fmt.Fprintln(c.ErrOrStderr(), said)
		text, how, err := x.impute(c.Context(), by, gaps, extensionOf(out), newFraction(c.ErrOrStderr(), "imputing"))
		if err != nil {
			return err
		}
		if how.Again > 0 {
			fmt.Fprintf(c.ErrOrStderr(), "%s repeated, in which a categorical column had no value or several, since the model draws its units one by one\n", names.Count(how.Again, "draw"))
		}
		if how.Effective > 0 {
			sayEffective(c, how.Effective, how.Fewest, x.Draws)
		}
		if by.Sweeps > 0 && rows > 0 {
			fmt.Fprintf(c.ErrOrStderr(), "the last sweep changed missing values in %.1f %% of the chains\n", 100*how.Moved)
		}
		return savedAt(c, out, writeFile(out, text))
	}
	return c
}

const sweepsUsage = "`N` sweeps of each chain (default 20 for a Helmholtz machine, 500 for a Boltzmann machine)"

// sayEffective writes the mean and the smallest effective sample size of rows of which importance resampling picked draws.
func sayEffective(c *cobra.Command, mean, fewest float64, draws int) {
	repeated := ""
	if fewest < float64(draws) {
		repeated = ", fewer than its draws, which repeat hidden units"
	}
	fmt.Fprintf(c.ErrOrStderr(), "%.1f samples a row effective, on average, and %.1f in the row with fewest%s\n", mean, fewest, repeated)
}

// refuseReplaced refuses an output file that is the file of rows.
func refuseReplaced(c *cobra.Command, rows, flag, out string) error {
	from, _ := os.Stat(rows)
	if to, err := os.Stat(out); err == nil && rows != "-" && os.SameFile(from, to) {
		return misuse(c, "--%s %s is the file of rows, which it would replace: name another file", flag, out)
	}
	return nil
}

// imputing holds the options of an imputation: flags of impute, and keys of a request of serve.
type imputing struct {
	Rows   json.RawMessage `json:"rows"` // of a request
	Draws  int             `json:"draws"`
	Spread bool            `json:"spread"`
	Within bool            `json:"within"`
	Sweeps int             `json:"sweeps"`
	Seed   uint64          `json:"seed"`
}

// impute returns rows in a format, with their missing fields filled in: all draws or, with Spread, one copy (see spreadOf), and
// how runs.Inpainting.Impute drew them.
func (x imputing) impute(ctx context.Context, by runs.Inpainting, gaps *dataset.Gaps, format string, progress func(float64)) (text []byte, how runs.Imputed, err error) {
	columns, numbered := gaps.Columns, x.Draws > 1 && !x.Spread
	if numbered {
		if slices.ContainsFunc(columns, func(c dataset.Column) bool { return c.Name == "draw" }) {
			return nil, how, fmt.Errorf("%d draws add a column draw, but the rows have one: draw once, with seed 1, then with seed 2 and so on", x.Draws)
		}
		columns = append([]dataset.Column{{Name: "draw"}}, columns...)
	}
	sheets, how, err := by.Impute(ctx, gaps, x.Draws, x.Sweeps, x.Seed, progress)
	if err != nil {
		return nil, how, err
	}
	all := [][]string{}
	var copies [][][]string
	for d, sheet := range sheets {
		filled, err := gaps.Complete(sheet, dataset.Writing{Within: x.Within}, format != "csv" || x.Spread)
		if err != nil {
			return nil, how, err
		}
		copies = append(copies, filled)
		for _, row := range filled {
			if numbered {
				row = slices.Insert(row, 0, strconv.Itoa(d+1))
			}
			all = append(all, row)
		}
	}
	if x.Spread {
		if all, err = gaps.Complete(sheets[0], dataset.Writing{}, format != "csv"); err != nil {
			return nil, how, err
		}
		written := gaps.Written
		if format != "csv" {
			written = func(number string) string { return number }
		}
		if columns, all, err = spreadOf(gaps, all, copies, written); err != nil {
			return nil, how, err
		}
	}
	text, err = rowsAs(format, columns, all, gaps.Separator())
	return text, how, err
}

// spreadOf changes rows: each missing field becomes its mean or its most frequent value over completed copies, and new columns have
// the standard deviation or the share of the copies that have this value. written returns a number as the rows write it.
func spreadOf(gaps *dataset.Gaps, all [][]string, copies [][][]string, written func(number string) string) (columns []dataset.Column, _ [][]string, err error) {
	columns = slices.Clone(gaps.Columns)
	for k, c := range gaps.Columns {
		if !slices.ContainsFunc(gaps.Gaps, func(g dataset.Gap) bool { return c.Units > 0 && g.Mask[c.First] }) {
			continue
		}
		number := c.Kind == dataset.RealColumn && c.Values == nil
		added := dataset.Column{Name: c.Name + "_share", Kind: dataset.RealColumn}
		if number {
			added.Name = c.Name + "_sd"
		}
		if slices.ContainsFunc(columns, func(other dataset.Column) bool { return other.Name == added.Name }) {
			return nil, nil, fmt.Errorf("the rows have a column %s already, which spreads would add: rename it, or omit --spread", added.Name)
		}
		columns = append(columns, added)
		for r := range all {
			all[r] = append(all[r], map[bool]string{true: "0", false: "1"}[number]) // unless the field is missing
		}
		for _, gap := range gaps.Gaps {
			if !gap.Mask[c.First] {
				continue
			}
			for _, r := range gap.Rows {
				var numbers []float64
				counts := map[string]int{}
				for _, filled := range copies {
					field := filled[r][k]
					counts[field]++
					v, _ := strconv.ParseFloat(field, 64)
					numbers = append(numbers, v)
				}
				value, spread := "", 0.0
				if number {
					mean, sd := stat.MeanStdDev(numbers, nil)
					value, spread = written(strconv.FormatFloat(mean, 'g', 9, 64)), sd
				} else {
					for _, field := range slices.Sorted(maps.Keys(counts)) {
						if counts[field] > counts[value] {
							value = field
						}
					}
					spread = float64(counts[value]) / float64(len(copies))
				}
				all[r][k], all[r][len(columns)-1] = value, written(strconv.FormatFloat(spread, 'g', 4, 64))
			}
		}
	}
	return columns, all, nil
}
