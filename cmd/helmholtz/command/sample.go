package command

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/plotting"
	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/helmholtz-go/helmholtz/sequences"
	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/stat"
)

// drawn holds the options of draws: flags of sample, and keys of a request of serve.
type drawn struct {
	N      int    `json:"n"`
	Given  string `json:"given"`
	Within bool   `json:"within"`
	Gibbs  int    `json:"gibbs"`
	Seed   uint64 `json:"seed"`
}

// sampled are the flags of sample.
type sampled struct {
	drawn
	out, midi, which, data, kind, split string
	conditions                          []string
	chain                               runs.Chain
	ofChains                            []string
}

func newSample() *cobra.Command {
	var x sampled
	c := &cobra.Command{
		Use:   "sample DIR",
		Short: "Draw images from the machine of a run",
		Args:  oneRun,
	}
	f := c.Flags()
	fileFlag(f, &x.out, "out", "sheet.png", "`file` to draw into: PNG, SVG or PDF, by its extension, or CSV, JSON or Parquet for rows", append(slices.Clone(formats), rowFormats...)...)
	f.BoolVar(&x.Within, "within", false, "move numbers of rows into the range that their column has in the training file")
	fileFlag(f, &x.midi, "midi", "", "standard MIDI `file` to write sequences into", "mid")
	f.StringVar(&x.kind, "kind", "", "`what` to draw: means, draws, reconstructions, completions, posterior, layers, filters or filters-above, or another kind of the model (default its first)")
	takes(f, "kind", "means", "draws", "reconstructions", "completions", "posterior", "layers", "filters", "filters-above")
	splitFlag(f, &x.split, "`rows` to reconstruct or complete: train, validation or test")
	checkpointFlag(f, &x.which)
	dataFlag(f, &x.data)
	numberFlag(f, &x.N, "n", 100, 1, "`number` of images")
	f.StringArrayVar(&x.conditions, "given", nil, "draw rows that meet `conditions`, such as group=b,age=30:40")
	numberFlag(f, &x.Gibbs, "gibbs", 0, 0, "`N` sweeps of Gibbs chains on p*, for means")
	x.ofChains = chainFlags(f, &x.chain)
	f.Uint64Var(&x.Seed, "seed", 1, "`seed` of the draws")

	c.RunE = func(c *cobra.Command, args []string) error {
		if err := firstOf(refuseIdle(c, x.Gibbs > 0, "--gibbs", x.ofChains...), refuseUnwritable(c, "out", x.out), refuseUnwritable(c, "midi", x.midi)); err != nil {
			return err
		}
		return eachRun(args[0], x.out, func(dir, out string) error {
			run, model, err := openModel(dir, x.which)
			if err != nil {
				return err
			}
			d, err := x.drawing(c, run, model, out)
			if err != nil {
				return err
			}
			return x.write(c, run, model, d, fileOf(dir, args[0], x.midi), out)
		})
	}
	return c
}

// isTable reports whether a file holds rows.
func isTable(out string) bool { return slices.Contains(rowFormats, extensionOf(out)) }

// drawing returns what to draw from the model of a run into a file. It refuses contradictory flags.
func (x *sampled) drawing(c *cobra.Command, run *runs.Run, model any, out string) (d runs.Drawing, err error) {
	table, kind, sweeps := isTable(out), x.kind, x.Gibbs
	if err := plotting.CheckPixels(run); err != nil && !table && !x.Within {
		return d, fmt.Errorf("%w; to draw rows of the table, write them with --out rows.csv", err)
	}
	switch {
	case x.Within && !table:
		return d, misuse(c, "--within is for rows, but --out is %s: name a file such as rows.csv", out)
	case x.conditions == nil && kind == "" && table:
		kind, sweeps = x.rowKind(model, false)
	case x.conditions == nil:
	case kind != "" && kind != "draws":
		return d, misuse(c, "--given chooses among draws, but --kind is %s: omit one of them", kind)
	case x.midi != "":
		return d, misuse(c, "--given draws rows or a picture, but --midi writes sequences: omit one of them")
	default:
		kind, sweeps = x.rowKind(model, true)
	}
	d, err = drawingOf(c, run, model, kind, sweeps, append([]string{"gibbs", "split", "seed"}, x.ofChains...))
	switch {
	case err != nil:
	case x.midi != "" && !d.Steps:
		err = run.Lacks("plays no music")
	case table && d.Kind != "means" && d.Kind != "draws":
		err = misuse(c, "--out %s is for rows of the visible units, but --kind %s draws others: name a picture, such as sheet.png", out, d.Kind)
	case !slices.Contains(d.Uses, "split") && c.Flags().Changed("dataset"):
		err = misuse(c, "--dataset %s: samples of --kind %s need no data; omit it", x.data, d.Kind)
	}
	return d, err
}

// write draws into files.
func (x *sampled) write(c *cobra.Command, run *runs.Run, model any, d runs.Drawing, midi, out string) (err error) {
	s := x.sampling(x.chain)
	s.Progress = newFraction(c.ErrOrStderr(), "sampling")
	var set *dataset.Set
	ofFile := run.Experiment().Header().Dataset.IsFile() // whose keys are not known
	if slices.Contains(d.Uses, "split") {
		if set, err = run.DatasetAt(x.data); err == nil {
			s.Rows = wholeOf(c, pick(set, x.split))
		}
	} else if isTable(out) || x.conditions != nil || midi != "" && ofFile {
		set, err = run.Blank()
	}
	if err != nil {
		return err
	}
	if isTable(out) && d.Kind == "draws" && x.Gibbs > 0 && x.conditions == nil { // draws that no table can hold are refused before the sweeps
		first := s
		first.N, first.Chain.Sweeps = min(x.N, 100), 0
		sheets, err := d.Draw(c.Context(), first)
		if err == nil {
			_, _, err = set.Fields(sheets[0], dataset.Writing{Within: x.Within})
		}
		if err != nil {
			return err
		}
	}
	var given []dataset.Given
	if x.conditions != nil {
		if given, err = set.ParseGiven(strings.Join(x.conditions, ",")); err != nil {
			return misuse(c, "--%w", err)
		}
	}
	sheets, among, err := x.draw(c.Context(), run, model, set, d, given, s)
	if err == nil && given != nil {
		fmt.Fprintf(c.ErrOrStderr(), "%s that meet the conditions, among %s\n", names.Count(x.N, "row"), names.Count(among, "draw"))
	}
	if err == nil && midi != "" {
		var b bytes.Buffer
		var keys []int
		if ofFile {
			keys = set.Keys()
		}
		if err = sequences.WriteMIDI(&b, sheets[0], keys); err == nil {
			err = savedAt(c, midi, writeFile(midi, b.Bytes()))
		}
	}
	if err != nil {
		return err
	}
	if isTable(out) {
		text, err := x.rows(set, sheets[0], given, d, extensionOf(out))
		if err != nil {
			return err
		}
		return savedAt(c, out, writeFile(out, text))
	}
	return savedAt(c, out, plotting.Drawn(d, sheets).Save(out))
}

func (x drawn) sampling(chain runs.Chain) runs.Sampling {
	chain.Sweeps = x.Gibbs
	return runs.Sampling{N: x.N, Chain: chain, Seed: x.Seed}
}

// rowKind returns the kind of drawings for rows, or "" for the usual kind of the model, and the number of sweeps.
func (x drawn) rowKind(model any, given bool) (kind string, sweeps int) {
	if given {
		return "draws", max(1, x.Gibbs)
	}
	sampler, is := model.(runs.Sampler)
	if is && slices.ContainsFunc(sampler.Drawings(), func(d runs.Drawing) bool {
		return d.Kind == "draws" && (x.Gibbs == 0 || slices.Contains(d.Uses, "gibbs"))
	}) {
		kind = "draws"
	}
	return kind, x.Gibbs
}

// draw returns the sheets of a drawing or, given conditions, one of rows that meet them, and the number of draws.
func (x drawn) draw(ctx context.Context, run *runs.Run, model any, set *dataset.Set, d runs.Drawing, given []dataset.Given, s runs.Sampling) (sheets []dataset.Sheet, among int, err error) {
	if given == nil {
		sheets, err = d.Draw(ctx, s)
		return sheets, s.N, err
	}
	rows, among, err := run.Given(ctx, model, set, given, s, dataset.Writing{Within: x.Within})
	return []dataset.Sheet{rows}, among, err
}

// rows returns rows of a drawing in a format, with a given label, which no unit holds.
func (x drawn) rows(set *dataset.Set, rows dataset.Sheet, given []dataset.Given, d runs.Drawing, format string) ([]byte, error) {
	columns, fields, err := set.Fields(rows, dataset.Writing{Within: x.Within, Exact: d.Kind == "means"})
	if err != nil {
		return nil, err
	}
	for _, g := range given {
		if g.Column.Kind == dataset.LabelColumn {
			columns = append(columns, g.Column)
			for r := range fields {
				fields[r] = append(fields[r], g.Value)
			}
		}
	}
	return rowsAs(format, columns, fields, ',')
}

// wholeOf returns the complete rows of a split, and writes how many they are if there are others.
func wholeOf(c *cobra.Command, rows dataset.Split) dataset.Split {
	whole := rows.Complete()
	if whole.Rows < rows.Rows {
		fmt.Fprintf(c.ErrOrStderr(), "the images are among the %d of %s without missing values\n", whole.Rows, names.Count(rows.Rows, rows.Name+" row"))
	}
	return whole
}

func newInpaint() *cobra.Command {
	var out, which, data, split, spec string
	var n, chains int
	var chain runs.Chain
	var seed uint64
	c := &cobra.Command{
		Use:   "inpaint DIR",
		Short: "Fill in missing parts of images with the machine of a run",
		Args:  oneRun,
	}
	f := c.Flags()
	f.StringVar(&spec, "mask", "", "`mask` of missing pixels: left, right, top, bottom, rectangle:ROW,COLUMN,HEIGHT,WIDTH or random:FRACTION")
	figureFlag(f, "out", &out, "inpainted.png", "`file` to draw into")
	splitFlag(f, &split, "`rows` to inpaint: train, validation or test")
	checkpointFlag(f, &which)
	dataFlag(f, &data)
	numberFlag(f, &n, "n", 8, 1, "`number` of images, drawn with --seed")
	numberFlag(f, &chains, "chains", 4, 1, "`number` of chains per image")
	numberFlag(f, &chain.Sweeps, "sweeps", 0, 1, sweepsUsage)
	ofChains := chainFlags(f, &chain)
	f.Uint64Var(&seed, "seed", 1, "`seed` of the draws")

	c.RunE = func(c *cobra.Command, args []string) error {
		if spec == "" {
			return misuse(c, "name the missing pixels with --mask, such as --mask left")
		}
		if err := refuseUnwritable(c, "out", out); err != nil {
			return err
		}
		run, model, err := openModel(args[0], which)
		if err != nil {
			return err
		}
		inpainter, is := model.(runs.Inpainter)
		if !is {
			return run.Lacks("fills in no images")
		}
		how := inpainter.Inpainting()
		uses := how.Uses
		if how.Sweeps > 0 {
			uses = append(slices.Clone(uses), "sweeps")
		}
		if err := refuseUnused(c, run.Noun(), append(ofChains, "sweeps"), uses); err != nil {
			return err
		}
		if !c.Flags().Changed("candidates") {
			chain.Candidates = 0 // the default of the model
		}
		chain.Sweeps = cmp.Or(chain.Sweeps, how.Sweeps)
		set, err := run.DatasetAt(data)
		if err != nil {
			return err
		}
		if err := set.CheckPixels(); err != nil {
			return err
		}
		mask, err := dataset.ParseMask(spec, set.Shape(), seed)
		if err != nil {
			return misuse(c, "%w", err)
		}
		p, err := how.Fill(c.Context(), wholeOf(c, pick(set, split)).Subset(n, seed), mask, chains, chain, seed, newFraction(c.ErrOrStderr(), "inpainting"))
		if err != nil {
			return err
		}
		if p.Effective != nil {
			sayEffective(c, stat.Mean(p.Effective, nil), slices.Min(p.Effective), chains)
		}
		return savedAt(c, out, plotting.Inpainting(p).Save(out))
	}
	return c
}
