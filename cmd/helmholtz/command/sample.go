package command

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/plotting"
	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/helmholtz-go/helmholtz/sequences"
	"github.com/spf13/cobra"
)

func newSample() *cobra.Command {
	var out, midi, which, data, kind, split string
	var conditions []string
	var n int
	var how dataset.Writing
	var chain runs.Chain
	var seed uint64
	c := &cobra.Command{
		Use:   "sample DIR",
		Short: "Draw images from the machine of a run",
		Args:  oneRun,
	}
	f := c.Flags()
	fileFlag(f, &out, "out", "sheet.png", "`file` to draw into: PNG, SVG or PDF, by its extension, GIF for an animation, or CSV, JSON or Parquet for rows", append(slices.Clone(formats), append(rowFormats, "gif")...)...)
	f.BoolVar(&how.Within, "within", false, "move numbers of rows into the range that their column has in the training file")
	fileFlag(f, &midi, "midi", "", "standard MIDI `file` to write sequences into", "mid")
	f.StringVar(&kind, "kind", "", "`what` to draw: means, draws, reconstructions, completions, posterior, layers, filters or filters-above, or another kind of the model (default its first)")
	takes(f, "kind", "means", "draws", "reconstructions", "completions", "posterior", "layers", "filters", "filters-above")
	splitFlag(f, &split, "`rows` to reconstruct or complete: train, validation or test")
	checkpointFlag(f, &which)
	dataFlag(f, &data)
	numberFlag(f, &n, "n", 100, 1, "`number` of images")
	f.StringArrayVar(&conditions, "given", nil, "draw rows that meet `conditions`, such as group=b,age=30:40")
	numberFlag(f, &chain.Sweeps, "gibbs", 0, 0, "`N` sweeps of Gibbs chains on p*, for means")
	ofChains := chainFlags(f, &chain)
	f.Uint64Var(&seed, "seed", 1, "`seed` of the draws")

	c.RunE = func(c *cobra.Command, args []string) error {
		if err := firstOf(refuseIdle(c, chain.Sweeps > 0, "--gibbs", ofChains...), refuseUnwritable(c, "out", out), refuseUnwritable(c, "midi", midi)); err != nil {
			return err
		}
		return eachRun(args[0], out, func(dir, out string) error {
			run, model, err := openModel(dir, which)
			if err != nil {
				return err
			}
			format := extensionOf(out)
			table := slices.Contains(rowFormats, format)
			if how.Within && !table {
				return misuse(c, "--within is for rows, but --out is %s: name a file such as rows.csv", out)
			}
			if err := plotting.CheckPixels(run); err != nil && !table {
				return fmt.Errorf("%w; to draw rows of the table, write them with --out rows.csv", err)
			}
			kind := kind
			sweeps := chain.Sweeps
			if conditions != nil {
				if kind != "" && kind != "draws" {
					return misuse(c, "--given chooses among draws, but --kind is %s: omit one of them", kind)
				}
				if format == "gif" || midi != "" {
					return misuse(c, "--given draws rows or a picture: omit --midi, and name another file than %s, such as rows.csv", out)
				}
				kind, sweeps = "draws", max(1, sweeps)
			} else if kind == "" && table {
				kind = drawsOf(model, chain.Sweeps)
			}
			d, err := drawingOf(c, run, model, kind, sweeps, append([]string{"gibbs", "split", "seed"}, ofChains...))
			if err != nil {
				return err
			}
			if midi != "" && !d.Steps {
				return runs.Lacks(run, "plays no music")
			}
			if table && d.Kind != "means" && d.Kind != "draws" {
				return misuse(c, "--out %s is for rows of the visible units, but --kind %s draws others: name a picture, such as sheet.png", out, d.Kind)
			}
			s := runs.Sampling{N: n, Chain: chain, Seed: seed, Progress: newFraction(c.ErrOrStderr(), "sampling")}
			var set *dataset.Set
			ofFile := run.Experiment().Header().Dataset.IsFile() // whose keys are not known
			if slices.Contains(d.Uses, "split") {
				if set, err = run.DatasetAt(data); err == nil {
					s.Rows = pick(set, split)
				}
			} else if table || conditions != nil || midi != "" && ofFile {
				set, err = run.Blank()
			}
			if err != nil {
				return err
			}
			if table && d.Kind == "draws" && chain.Sweeps > 0 && conditions == nil { // draws that no table can hold are refused before the sweeps
				first := s
				first.N, first.Chain.Sweeps = min(n, 100), 0
				sheets, err := d.Draw(c.Context(), first)
				if err == nil {
					_, _, err = set.Fields(sheets[0], how)
				}
				if err != nil {
					return err
				}
			}
			var given []dataset.Given
			var sheets []dataset.Sheet
			if conditions != nil {
				if given, err = set.ParseGiven(strings.Join(conditions, ",")); err != nil {
					return misuse(c, "--%w", err)
				}
				chosen, drawn, failure := run.Given(c.Context(), model, set, given, s, how)
				if sheets, err = runs.Sheet(chosen, failure); err == nil {
					fmt.Fprintf(c.ErrOrStderr(), "%s that meet the conditions, among %s\n", names.Count(n, "row"), names.Count(drawn, "draw"))
				}
			} else {
				sheets, err = d.Draw(c.Context(), s)
			}
			if err != nil {
				return err
			}
			if midi != "" {
				var b bytes.Buffer
				path := fileOf(dir, args[0], midi)
				var keys []int
				if ofFile {
					keys = set.Keys()
				}
				if err := sequences.WriteMIDI(&b, sheets[0], keys); err != nil {
					return err
				}
				if err := savedAt(c, path, writeFile(path, b.Bytes())); err != nil {
					return err
				}
			}
			if table {
				how.Exact = d.Kind == "means"
				columns, fields, err := set.Fields(sheets[0], how)
				if err != nil {
					return err
				}
				for _, g := range given { // the label, which no unit holds
					if g.Column.Kind == dataset.LabelColumn {
						columns = append(columns, g.Column)
						for r := range fields {
							fields[r] = append(fields[r], g.Value)
						}
					}
				}
				text, err := rowsAs(format, columns, fields, ',')
				if err != nil {
					return err
				}
				return savedAt(c, out, writeFile(out, text))
			}
			figure := plotting.Drawn(d, sheets)
			switch animated := format == "gif"; {
			case animated && d.Steps:
				film, err := plotting.Film(sheets[0])
				if err != nil {
					return err
				}
				return savedAt(c, out, film.Save(out))
			case animated:
				if c.Flags().Changed("checkpoint") {
					return misuse(c, "--out %s shows all kept epochs: omit --checkpoint", out)
				}
				if len(run.Kept()) == 0 {
					return misuse(c, "--out %s: the run has kept no epochs: train with --keep, such as --keep 1,5,20", out)
				}
				var frames []*plotting.Figure
				for _, epoch := range run.Kept() {
					model, err := run.ModelAt(strconv.Itoa(epoch))
					if err != nil {
						return err
					}
					d, err := drawingOf(c, run, model, kind, chain.Sweeps, nil)
					if err != nil {
						return err
					}
					sheets, err := d.Draw(c.Context(), s)
					if err != nil {
						return err
					}
					frames = append(frames, plotting.Drawn(d, sheets).Title(fmt.Sprintf("epoch %d", epoch)))
				}
				if !slices.Contains(run.Kept(), run.Epochs()) {
					frames = append(frames, figure.Title(fmt.Sprintf("epoch %d", run.Epochs())))
				}
				return savedAt(c, out, plotting.Animate(300*time.Millisecond, frames...).Save(out))
			}
			return savedAt(c, out, figure.Save(out))
		})
	}
	return c
}

// drawsOf returns the kind "draws" if the model has it, after the given number of sweeps, or else "", its usual
// kind.
func drawsOf(model any, sweeps int) string {
	sampler, is := model.(runs.Sampler)
	if is && slices.ContainsFunc(sampler.Drawings(), func(d runs.Drawing) bool {
		return d.Kind == "draws" && (sweeps == 0 || slices.Contains(d.Uses, "gibbs"))
	}) {
		return "draws"
	}
	return ""
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
	figureFlag(f, &out, "inpainted.png", "`file` to draw into")
	splitFlag(f, &split, "`rows` to inpaint: train, validation or test")
	checkpointFlag(f, &which)
	dataFlag(f, &data)
	numberFlag(f, &n, "n", 8, 1, "`number` of images, drawn with --seed")
	numberFlag(f, &chains, "chains", 4, 1, "`number` of chains per image")
	numberFlag(f, &chain.Sweeps, "sweeps", 20, 1, "`N` sweeps of each chain")
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
			return runs.Lacks(run, "fills in no images")
		}
		how := inpainter.Inpainting()
		if err := refuseUnused(c, runs.NounOf(run.Experiment()), ofChains, how.Uses); err != nil {
			return err
		}
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
		p, err := how.Fill(c.Context(), pick(set, split).Subset(n, seed), mask, chains, chain, seed, newFraction(c.ErrOrStderr(), "inpainting"))
		if err != nil {
			return err
		}
		return savedAt(c, out, plotting.Inpainting(p).Save(out))
	}
	return c
}
