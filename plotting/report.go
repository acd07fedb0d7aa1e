package plotting

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"html"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/helmholtz-go/helmholtz/boltzmann"
	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/internal/file"
	"github.com/helmholtz-go/helmholtz/internal/shell"
	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/janpfeifer/gonb/gonbui"
)

// A Page is a self-contained page of HTML.
type Page string

// Save writes the page to a file, and creates its directory if necessary.
func (p Page) Save(path string) error { return save(path, []byte(p)) }

// Show displays the page below the running notebook cell. Outside a notebook it prints to standard error
// a hint to use Save.
func (p Page) Show() { show("page", "report.html", func() { gonbui.DisplayHTML(p.inNotebook()) }) }

// inNotebook returns the page without its style, which would change the whole page of Jupyter.
func (p Page) inNotebook() string {
	before, rest, _ := strings.Cut(string(p), "<style>")
	_, after, _ := strings.Cut(rest, "</style>")
	return before + after
}

// ReportOptions limits what a report computes.
type ReportOptions struct {
	Samples int    // importance samples per row; 0 means 1000
	Rows    int    // test rows to evaluate, chosen by the run's seed; 0 means 1000
	LogZ2   int    // outer samples for log Z²; 0 means 100,000
	Data    string // where the data of the run are now, if they have moved
	// Rivals, which may be nil, adds simple models and where they beat the model to an evaluation.
	Rivals func(ctx context.Context, run *runs.Run, model any, o runs.EvaluationOptions, e runs.Evaluation) (runs.Evaluation, error)
	// Progress, which may be nil, is called with the fraction of the evaluation done.
	Progress func(float64)
}

// report is a page in progress, with the first error of its figures.
type report struct {
	strings.Builder
	set *dataset.Set // nil if the data cannot be opened
	err error
}

// Report describes a run on one page: its experiment, the computers and program versions that trained it,
// its curves and its norms. If the last checkpoint has a model, the page also shows the results that this
// model can give: samples, the drift of long chains, the evaluation on test rows with its standard errors,
// importance weights and log Z². For a run on a table, it draws TableFigures. Without the data of the run, the page says what
// is missing. Report returns an error if a section fails.
func Report(ctx context.Context, dir string, o ReportOptions) (Page, error) {
	run, err := runs.Open(dir)
	if err != nil {
		return "", err
	}
	history := run.ThinHistory(mostEpochs)
	if history.Err != nil {
		return "", history.Err
	}
	var r report
	name := file.Name(dir)
	fmt.Fprintf(&r, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>%s</title>\n"+
		"<style>body{font-family:sans-serif;max-width:1100px;margin:2em auto;padding:0 1em}img{max-width:100%%;height:auto}</style></head><body>\n<h1>%[1]s</h1>\n<p>%s</p>\n",
		html.EscapeString(name), html.EscapeString(run.String()))
	if warning := cmp.Or(history.LastWarning(), history.Unconverged(run.Last())); warning != "" {
		fmt.Fprintf(&r, "<p><b>%s</b></p>\n", html.EscapeString(warning))
	}
	if r.set, err = run.DatasetAt(o.Data); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	} else if err != nil {
		r.set = nil
		r.paragraph("The page has no evaluation and no data in its figures: " + withoutData(err).Error())
	} else if r.paragraph(r.set.String()); r.set.Notice() != "" {
		fmt.Fprintf(&r, "<p><b>%s</b></p>\n", html.EscapeString(r.set.Notice()))
	}
	if err := r.sections(ctx, run, history, o); err != nil || r.err != nil {
		return "", cmp.Or(r.err, err)
	}
	r.WriteString("</body></html>\n")
	return Page(r.String()), nil
}

func (r *report) sections(ctx context.Context, run *runs.Run, history runs.History, o ReportOptions) error {
	r.section("Training")
	if len(history.Epochs) > 0 {
		r.figure(CurvesByEpochAndTime(history))
	}
	if err := r.model(ctx, run, o); err != nil {
		return err
	}
	if n := len(history.Epochs); n > 0 && history.Epochs[n-1].Norms != nil {
		r.section("Norms of the layers")
		r.figure(Norms(history))
	}
	r.section("The experiment")
	r.table(runs.SettingsTable(run.Experiment()))
	sessions, err := run.Provenance()
	if err != nil {
		return err
	}
	r.section("Where it was computed")
	r.table(sessionsTable(sessions))
	r.section("Epochs")
	if all, shown := run.Epochs(), len(history.Epochs); shown < all {
		fmt.Fprintf(r, "<p>Curves and table show %d of %d epochs; helmholtz history %s --format csv writes all.</p>\n", shown, all, html.EscapeString(shell.Argument(run.Dir())))
	}
	r.table(history.WithoutNorms().Table())
	return nil
}

// mostEpochs limits the number of epochs in a report.
const mostEpochs = 1000

// ReportUses lists the options that affect the report of a run with this model, from among samples, rows
// and log-z2.
func ReportUses(run *runs.Run, model any) (uses []string) {
	_, own := model.(runs.Evaluator)
	if how, err := run.Evaluation(model); err == nil && slices.Contains(how.Uses, "samples") {
		uses = append(uses, "samples", "rows")
	} else if err == nil && !own {
		uses = append(uses, "rows") // an Estimator without samples
	}
	if _, weighs := model.(*hm.Model); weighs {
		uses = append(uses, "log-z2")
	}
	return uses
}

// model adds the sections on the model of the last checkpoint: its samples, its drift, and its evaluation
// if the evaluation uses importance samples or is exact.
func (r *report) model(ctx context.Context, run *runs.Run, o ReportOptions) error {
	o.Samples, o.Rows, o.LogZ2 = cmp.Or(o.Samples, 1000), cmp.Or(o.Rows, 1000), cmp.Or(o.LogZ2, 100_000)
	model, err := run.ModelAt("last")
	if err != nil {
		return err
	}
	seed := run.Experiment().Header().Seed
	samples, err := usual(ctx, run, model, 100)
	if err != nil {
		return err
	}
	if samples != nil {
		r.section("Samples")
		r.figure(samples)
	}
	if HasColumns(run) {
		r.section("The columns of the table")
		missing, err := TableFigures(ctx, run, o.Data, func(f *Figure, _ string) error { r.figure(f); return nil })
		if err != nil {
			return err
		}
		for _, line := range missing {
			r.paragraph(line)
		}
	}
	set := r.set
	if set == nil {
		return nil
	}
	if of, is := model.(*boltzmann.Model); is && !set.HasGaps() {
		d, err := of.Drift(ctx, set.Train())
		switch {
		case err == nil:
			r.section("Equilibrium")
			r.paragraph(d.String())
		case !errors.Is(err, boltzmann.ErrNoDistribution):
			return err
		}
	}
	if !slices.Contains(ReportUses(run, model), "rows") || set.Test().Rows == 0 {
		return nil
	}
	how, err := run.Evaluation(model)
	if err != nil {
		return err
	}
	rows := set.Test().Subset(o.Rows, seed)
	options := runs.EvaluationOptions{Set: set, Rows: rows, Samples: o.Samples, Seed: seed, Progress: func(string) func(float64) { return o.Progress }}
	evaluation, err := how.Evaluate(ctx, options)
	if err != nil {
		return err
	}
	of, weighs := model.(*hm.Model)
	var z hm.LogZ2
	var weights hm.ImportanceWeights
	if weighs {
		if z, err = of.LogZ2(ctx, o.LogZ2, 1); err != nil {
			return err
		}
		if weights, err = of.ImportanceWeights(ctx, set.Test(), o.Samples); err != nil {
			return err
		}
	}
	if e, normalized := evaluation.(interface{ WithLogZ2(hm.LogZ2) hm.Evaluation }); normalized && weighs {
		evaluation = e.WithLogZ2(z)
	}
	if o.Rivals != nil {
		if evaluation, err = o.Rivals(ctx, run, model, options, evaluation); err != nil {
			return err
		}
	}
	r.section("Evaluation")
	fmt.Fprintf(r, "<p>%s, the last checkpoint; ± are standard errors over the rows.</p>\n<pre>%s</pre>\n",
		html.EscapeString(rows.String()), html.EscapeString(evaluation.String()))
	if !weighs {
		return nil
	}
	r.section("Importance weights")
	r.figure(ImportanceWeights(weights))
	r.section("log Z²")
	r.figure(LogZ2(z))
	return nil
}

func (r *report) section(title string) { fmt.Fprintf(r, "<h2>%s</h2>\n", html.EscapeString(title)) }

func (r *report) paragraph(text string) { fmt.Fprintf(r, "<p>%s</p>\n", html.EscapeString(text)) }

func (r *report) table(t *runs.Table) { _ = t.WriteHTML(r) } // a Builder never fails

func (r *report) figure(f *Figure) {
	text, err := f.HTML()
	r.WriteString(text + "\n")
	r.err = cmp.Or(r.err, err)
}

func sessionsTable(sessions []runs.Provenance) *runs.Table {
	t := runs.NewTable("sessions", "", runs.Column{Key: "began"}, runs.Column{Key: "step", Label: "after step", Kind: runs.Integer},
		runs.Column{Key: "version"}, runs.Column{Key: "go"}, runs.Column{Key: "host"}, runs.Column{Key: "platform"}, runs.Column{Key: "processor"},
		runs.Column{Key: "threads", Kind: runs.Integer}, runs.Column{Key: "instruction_set", Label: "instruction set"}, runs.Column{Key: "device"})
	for _, s := range sessions {
		t.Add(s.Date.Format(time.RFC3339), s.Step, s.Version, s.Go, s.Host, s.Platform, s.Processor, s.Threads, s.InstructionSet, s.Device)
	}
	return t
}

// Drawn returns a figure of the sheets that a model drew. The figure remembers an error if there are none.
func Drawn(d runs.Drawing, sheets []dataset.Sheet) *Figure {
	switch {
	case len(sheets) == 0:
		return failed(errors.New("there are no sheets to draw: give at least one"))
	case d.Columns:
		return Descents(sheets)
	case d.Steps:
		return PianoRolls(sheets[0])
	}
	return Samples(sheets[0])
}

// mostRolls is the number of piano rolls that usual draws.
const mostRolls = 6

// usual draws n images of the first kind that the model offers, or at most mostRolls piano rolls. It returns nil if the
// model draws no images or only after many sweeps of chains, or if the rows come from a table.
func usual(ctx context.Context, run *runs.Run, model any, n int) (*Figure, error) {
	sampler, is := model.(runs.Sampler)
	if !is || CheckPixels(run) != nil {
		return nil, nil
	}
	all := sampler.Drawings()
	if len(all) == 0 || all[0].Sweeps > 0 {
		return nil, nil
	}
	d := all[0]
	if d.Steps {
		n = min(n, mostRolls)
	}
	sheets, err := d.Draw(ctx, runs.Sampling{N: n, Seed: run.Experiment().Header().Seed})
	if err != nil {
		return nil, err
	}
	return Drawn(d, sheets), nil
}

// CheckPixels returns an error for a run whose rows come from a table, because they cannot be drawn as images.
func CheckPixels(run *runs.Run) error {
	if !run.Experiment().Header().Dataset.IsFile() {
		return nil
	}
	set, err := run.Blank()
	if err != nil {
		return nil // drawing needs no data; functions that need the data return the error
	}
	return set.CheckPixels()
}

// UsualSamples draws n images from the last checkpoint of a run, or a few piano rolls. It returns nil if
// the model draws no images or only after many sweeps of chains, or if the rows come from a table.
func UsualSamples(ctx context.Context, run *runs.Run, n int) (*Figure, error) {
	model, err := run.ModelAt("last")
	if err != nil {
		return nil, err
	}
	return usual(ctx, run, model, n)
}

// Weighs reports whether ModelFigures draws the importance weights of a model.
func Weighs(model any) bool {
	_, weighs := model.(*hm.Model)
	return weighs
}

// ModelFigures draws the figures of the last checkpoint of a run, which supplement the figures of its training, and
// passes each to save with its kind. It uses the options Samples, LogZ2 and Data. It also returns estimates of log p by
// the number of samples, or nil if the model has no importance weights, and a line for each figure that it cannot draw,
// or only in part.
func ModelFigures(ctx context.Context, run *runs.Run, o ReportOptions, save func(f *Figure, kind string) error) (convergence *hm.Convergence, missing []string, err error) {
	model, err := run.ModelAt("last")
	if err != nil {
		return nil, nil, err
	}
	machine, weighs := model.(*hm.Model)
	if weighs {
		set, err := run.DatasetAt(o.Data)
		switch {
		case err == nil:
			if convergence, err = weigh(ctx, run, set, machine, o, save); err != nil {
				return nil, nil, err
			}
		case errors.Is(err, fs.ErrNotExist):
			missing = append(missing, "no figures of importance weights: "+withoutData(err).Error())
		default:
			return nil, nil, err
		}
	}
	if HasColumns(run) {
		lines, err := TableFigures(ctx, run, o.Data, save)
		if missing = append(missing, lines...); err != nil {
			return nil, nil, err
		}
	}
	figure, err := usual(ctx, run, model, 100)
	if err == nil && figure != nil {
		err = save(figure, "samples")
	}
	if sampler, is := model.(runs.Sampler); is && CheckPixels(run) == nil {
		for _, d := range sampler.Drawings() {
			if err != nil || !d.Columns {
				continue
			}
			var sheets []dataset.Sheet
			if sheets, err = d.Draw(ctx, runs.Sampling{N: 10, Seed: run.Experiment().Header().Seed}); err == nil {
				err = save(Drawn(d, sheets), d.Kind)
			}
		}
	}
	if err == nil && weighs {
		err = save(FisherStructure(machine.Architecture()), "fisher-structure")
	}
	return convergence, missing, err
}

// weigh draws the figures of importance weights, and returns estimates of log p by the number of samples.
func weigh(ctx context.Context, run *runs.Run, set *dataset.Set, model *hm.Model, o ReportOptions, save func(*Figure, string) error) (*hm.Convergence, error) {
	weights, err := model.ImportanceWeights(ctx, set.Test(), o.Samples)
	if err != nil {
		return nil, err
	}
	z, err := model.LogZ2(ctx, o.LogZ2, 1)
	if err != nil {
		return nil, err
	}
	dreams, err := model.DreamWeights(ctx, max(1, o.LogZ2/10), 100)
	if err != nil {
		return nil, err
	}
	numbers := slices.DeleteFunc([]int{1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000}, func(k int) bool { return k >= o.Samples })
	convergence, err := model.Convergence(ctx, set.Test().Subset(1000, run.Experiment().Header().Seed), append(numbers, o.Samples)...)
	if err != nil {
		return nil, err
	}
	if model.Bidirectional() {
		convergence = convergence.WithLogZ2(z)
	}
	return &convergence, errors.Join(save(ImportanceWeights(weights), "importance-weights"), save(ProposalWeights(weights, dreams), "proposal-weights"), save(LogZ2(z), "log-z2"))
}
