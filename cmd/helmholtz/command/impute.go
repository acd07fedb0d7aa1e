package command

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/spf13/cobra"
)

func newImpute() *cobra.Command {
	var out, which string
	var draws, sweeps int
	var how dataset.Writing
	var seed uint64
	c := &cobra.Command{
		Use:   "impute DIR FILE",
		Short: "Fill in missing values of a table with the machine of a run",
		Args:  between(2, 2, "name the directory of one run, and a file of rows"),
	}
	f := c.Flags()
	fileFlag(f, &out, "out", "filled.csv", "`file` to write: CSV, JSON or Parquet, by its extension", rowFormats...)
	numberFlag(f, &draws, "draws", 1, 1, "`number` of completed copies of the rows")
	numberFlag(f, &sweeps, "sweeps", 0, 0, "`N` sweeps of each chain (default 20 for a Helmholtz machine, 500 for a Boltzmann machine)")
	f.BoolVar(&how.Within, "within", false, "move numbers that are filled in into the range of their column in the training file")
	checkpointFlag(f, &which)
	f.Uint64Var(&seed, "seed", 1, "`seed` of the draws")

	c.RunE = func(c *cobra.Command, args []string) error {
		dir, path := args[0], args[1]
		if err := refuseUnwritable(c, "out", out); err != nil {
			return err
		}
		from, _ := os.Stat(path)
		if to, err := os.Stat(out); err == nil && os.SameFile(from, to) {
			return misuse(c, "--out %s is the file of rows, which it would replace: name another file", out)
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
			return misuse(c, "--sweeps: %s draws exactly, without chains; omit it", runs.NounOf(run.Experiment()))
		}
		set, err := run.Blank()
		if err != nil {
			return err
		}
		gaps, err := set.ReadGaps(path)
		if err != nil {
			return err
		}
		if draws > 1 && slices.ContainsFunc(gaps.Columns, func(c dataset.Column) bool { return c.Name == "draw" }) {
			return misuse(c, "--draws %d adds a column draw, but %s has one: omit --draws, and run the command with --seed 1, 2 and so on", draws, path)
		}
		rows := 0
		for _, gap := range gaps.Gaps {
			rows += len(gap.Rows)
		}
		said := fmt.Sprintf("missing: %s in %d of %s; filled in for each row by ", names.Count(gaps.Missing, "field"), rows, names.Count(gaps.Rows.Rows, "row"))
		switch {
		case rows == 0:
			said = "no field of " + path + " is missing: its rows are written as they are"
		case by.Sweeps == 0:
			said += names.Count(draws, "exact draw")
		default:
			said += fmt.Sprintf("%s of %s", names.Count(draws, "chain"), names.Count(cmp.Or(sweeps, by.Sweeps), "sweep"))
		}
		if gaps.Absent != nil {
			said += "; the file has no column " + strings.Join(gaps.Absent, ", ")
		}
		if gaps.Labels > 0 {
			said += fmt.Sprintf("; missing labels, which are not filled in: %d", gaps.Labels)
		}
		fmt.Fprintln(c.ErrOrStderr(), said)
		sheets, again, err := by.Impute(c.Context(), gaps, draws, sweeps, seed, newFraction(c.ErrOrStderr(), "imputing"))
		if err != nil {
			return err
		}
		if again > 0 {
			fmt.Fprintf(c.ErrOrStderr(), "%s repeated, in which a categorical column had no value or several, since the model draws its units one by one\n", names.Count(again, "draw"))
		}
		format := extensionOf(out)
		columns, all := gaps.Columns, [][]string{}
		if draws > 1 {
			columns = append([]dataset.Column{{Name: "draw"}}, columns...)
		}
		for d, sheet := range sheets {
			filled, err := gaps.Complete(sheet, how, format != "csv")
			if err != nil {
				return err
			}
			for _, row := range filled {
				if draws > 1 {
					row = slices.Insert(row, 0, strconv.Itoa(d+1))
				}
				all = append(all, row)
			}
		}
		text, err := rowsAs(format, columns, all, gaps.Separator())
		if err != nil {
			return err
		}
		return savedAt(c, out, writeFile(out, text))
	}
	return c
}
