package command

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/lists"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/internal/npy"
	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/spf13/cobra"
)

func newFeatures() *cobra.Command {
	var out, which, kind, path, format, rotation, data string
	var samples int
	var seed uint64
	c := &cobra.Command{
		Use:   "features DIR",
		Short: "Describe rows by the hidden units or the factors of a run",
		Args:  oneRun,
	}
	f := c.Flags()
	f.StringVar(&path, "rows", "", "`FILE` of rows like the data of the run, or - for standard input")
	stdinFlag(f, &format)
	fileFlag(f, &out, "out", "features.csv", "`file` to write: CSV, Parquet, or NPY without names, by its extension", "csv", "parquet", "npy")
	f.StringVar(&kind, "kind", "", "`what` to write: means, regression, bartlett, sources or codes of rows, loadings, components, mixing, correlations or atoms of the model, or fit or parallel of the training rows (default its first)")
	takes(f, "kind", "means", "regression", "bartlett", "sources", "codes", "loadings", "components", "mixing", "correlations", "atoms", "fit", "parallel")
	f.StringVar(&rotation, "rotate", "", "rotation of the factors of ppca and factor-analysis: `which` of varimax and promax (default none)")
	takes(f, "rotate", "varimax", "promax")
	f.StringVar(&data, "dataset", "", "`path` of the training rows, for --kind fit and parallel, if they have moved")
	checkpointFlag(f, &which)
	numberFlag(f, &samples, "samples", 100, 1, "`K` samples per row, for means above the first hidden layer, or random tables of --kind parallel")
	f.Uint64Var(&seed, "seed", 1, "`seed` of the samples or random tables")

	c.RunE = func(c *cobra.Command, args []string) error {
		if err := firstOf(refuseIdle(c, path == "-", "--rows -", "stdin"), refuseUnwritable(c, "out", out), refuseReplaced(c, path, "out", out)); err != nil {
			return err
		}
		run, model, err := openModel(args[0], which)
		if err != nil {
			return err
		}
		encoder, is := model.(runs.Encoder)
		if !is {
			return run.Lacks("has no features")
		}
		all := encoder.Encodings()
		if rotation != "" {
			rotator, is := model.(runs.Rotator)
			if !is {
				return run.Lacks("has no factors to rotate (--rotate)")
			}
			if known := rotator.Rotations(); !slices.Contains(known, rotation) {
				return misuse(c, "--rotate %s: use %s%s", rotation, strings.Join(known, " or "), names.Meant(rotation, known...))
			}
			if all, err = rotator.Rotated(rotation); err != nil {
				return err
			}
		}
		kinds := lists.Map(all, func(e runs.Encoding) string { return e.Kind })
		i := slices.Index(kinds, cmp.Or(kind, kinds[0]))
		if i < 0 {
			after := ""
			if rotation != "" {
				after = " after --rotate " + rotation
			}
			return misuse(c, "--kind %s: %s has %s%s; give one of these, or omit it%s", kind, run.Noun(), strings.Join(kinds, ", "), after, names.Meant(kind, kinds...))
		}
		e := all[i]
		if err := refuseIdle(c, e.Training, "--kind fit or parallel", "dataset"); err != nil {
			return err
		}
		switch {
		case (e.Units || e.Lines != "") && path != "":
			return misuse(c, "--rows %s has no effect with --kind %s, which describes the model: omit --rows", path, e.Kind)
		case !e.Units && e.Lines == "" && path == "":
			return misuse(c, "%s are features of rows: give a file of rows, such as --rows rows.csv", e.Kind)
		case e.Samples == 0:
			if err := refuseUnused(c, "--kind "+e.Kind, []string{"samples"}, nil); err != nil {
				return err
			}
		}
		set, err := run.Blank()
		if err != nil {
			return err
		}
		var rows dataset.Split
		switch {
		case e.Training:
			training, err := run.DatasetAt(data)
			if err != nil {
				return fmt.Errorf("--kind %s describes the training rows: %w; if the data have moved, name their path with --dataset", e.Kind, err)
			}
			rows = training.Train()
		case !e.Units && e.Lines == "":
			if rows, err = rowsOf(c, path, format, set.ReadRows, set.ParseRows); err != nil {
				return err
			}
		}
		note(c, rows)
		lines, err := e.Encode(c.Context(), rows, samples, seed)
		if err != nil {
			return err
		}
		if extensionOf(out) == "npy" {
			return savedAt(c, out, writeFile(out, npy.Matrix(lines)))
		}
		columns := []runs.Column{{Key: cmp.Or(e.Lines, "row"), Kind: runs.Integer}}
		if e.Units {
			columns = []runs.Column{{Key: "unit", Kind: runs.Text}}
		}
		for _, name := range e.Columns {
			columns = append(columns, runs.Column{Key: name, Kind: runs.Number, Decimals: 4})
		}
		units, t := set.UnitNames(), runs.NewTable("features", "", columns...)
		for r, line := range lines {
			cells := []any{r + 1}
			if e.Units {
				cells[0] = units[r]
			}
			for _, v := range line {
				cells = append(cells, v)
			}
			t.Add(cells...)
		}
		return (&tableFlags{c, extensionOf(out), out}).giveAndSay(t)
	}
	return c
}
