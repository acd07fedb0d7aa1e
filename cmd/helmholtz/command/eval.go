package command

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/helmholtz-go/helmholtz/boltzmann"
	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/internal/work"
	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"gonum.org/v1/gonum/floats"
)

// estimate holds the options of an evaluation: what to evaluate, with which samples, and where its
// parts are stored.
type estimate struct {
	split, checkpoint, parts string
	data                     string // where the data of the run are now, or ""
	samples, rows            int
	file, stdin              string // of rows to evaluate one by one, and the format of standard input
	seed                     uint64
	rivals, why, rank        bool
	against                  string // the rows to judge samples beside, or ""
	missing                  int    // values of the rows
}

func (x *estimate) addTo(f *pflag.FlagSet) {
	splitFlag(f, &x.split, "`rows` to evaluate: train, validation or test")
	checkpointFlag(f, &x.checkpoint)
	dataFlag(f, &x.data)
	numberFlag(f, &x.samples, "samples", 1000, 1, "`K` importance samples per row")
	rows := "0"
	parsedFlag(f, &rows, "rows", "N", "evaluate `N` rows drawn with --seed, 0 for all; or print log p of each row in a FILE, or - for standard input", func(text string) (string, error) {
		n, err := strconv.Atoi(text)
		switch {
		case err == nil && n < 0:
			return "", errors.New("give at least 0, or a file of rows")
		case text == "":
			return "", errors.New("give a number of rows, or a file of rows")
		case err == nil:
			x.rows, x.file = n, ""
		default:
			x.rows, x.file = 0, text
		}
		return text, nil
	})
	stdinFlag(f, &x.stdin)
	f.Uint64Var(&x.seed, "seed", 1, "`seed` of the samples")
	f.StringVar(&x.parts, "parts", "", "`DIR` that stores parts, shared by programs")
}

func newEval() *cobra.Command {
	var x estimate
	var shard string
	var o runs.EvaluationOptions
	var asJSON bool
	c := &cobra.Command{
		Use:   "eval DIR",
		Short: "Estimate the log-likelihood of the machine of a run",
		Args:  oneRun,
	}
	f := c.Flags()
	tables := newTableFlags(c, "evaluations", "")
	x.addTo(f)
	f.StringVar(&shard, "shard", "", "do only a share of the parts: `INDEX/COUNT`, such as 0/4, or auto")
	optionalFlag(f, &o.LogZ2, "log-z2", 100_000, 10, "`N` outer samples for log Z², at least 10, or 0 to omit it")
	numberFlag(f, &o.LogZ2Inner, "log-z2-inner", 1, 1, "`N` inner samples per outer sample for log Z²")
	f.BoolVar(&x.rivals, "rivals", false, rivalsUsage)
	f.StringVar(&x.against, "samples-against", "", "also judge samples beside `DATA`: test or validation, which are rows of the run, or a file of rows")
	takes(f, "samples-against", "test", "validation")
	f.BoolVar(&x.why, "why", false, "with --rows FILE, print log p of each column of a row given the others, the odd columns first")
	f.BoolVar(&x.rank, "rank", false, "with --rows FILE, print the share of the training rows that are less probable than each row")
	f.BoolVar(&asJSON, "json", false, "print one JSON object, which includes what was evaluated, or with --rows FILE a list of objects")

	var schedule boltzmann.AnnealingSchedule
	f.TextVar(&schedule, "schedule", boltzmann.Published(), "the `steps` of AIS: published, even:N (the default is even:1000 for a machine given by a free energy, even:200 for an RNN-RBM) or adaptive:N")
	numberFlag(f, &o.Chains, "chains", 100, 2, "`M` chains of AIS")
	numberFlag(f, &o.Raise, "raise", 0, 0, "also estimate log p of `N` rows by RAISE, along the same schedule")
	numberFlag(f, &o.RaiseChains, "raise-chains", 10, 1, "`M` chains per row of RAISE")

	c.RunE = func(c *cobra.Command, args []string) (err error) {
		if err := firstOf(refuseIdle(c, o.LogZ2 > 0, "--log-z2", "log-z2-inner"), refuseIdle(c, x.parts != "", "--parts", "shard"), refuseIdle(c, x.file == "-", "--rows -", "stdin"), refuseReplaced(c, x.file, "table", tables.path),
			refuseIdle(c, o.Raise > 0, "--raise", "raise-chains"), refuseIdle(c, x.file != "", "--rows FILE", "why", "rank"), refuseForeignParts(c, x.parts), tables.check(asJSON)); err != nil {
			return err
		}
		if o.Share, err = runs.ParseShard(shard, os.Getenv); err != nil {
			return misuse(c, "%w", err)
		}
		for _, name := range []string{"json", "format", "table", "rivals", "samples-against"} {
			if o.Share.Count > 0 && c.Flags().Changed(name) {
				return misuse(c, "--%s with --shard: a share prints no result; omit one of them", name)
			}
		}
		if c.Flags().Changed("schedule") {
			o.Schedule = schedule.String()
		}
		for flag, value := range map[string]*int{"samples": &x.samples, "chains": &o.Chains} {
			if !c.Flags().Changed(flag) {
				*value = 0 // which means the default number
			}
		}
		o.Samples, o.Seed = x.samples, x.seed
		o.Progress = func(work string) func(float64) { return newFraction(c.ErrOrStderr(), work) }
		seeds, err := runs.OpenSeeds(args[0])
		if err != nil {
			return err
		}
		if x.file != "" {
			return x.evalRows(c, seeds, o, tables, asJSON)
		}
		ctx, preempted := preemptible(c.Context())
		if o.Share.Count > 0 {
			err = x.evalShare(ctx, c, seeds, o)
		} else {
			err = x.evalSeeds(ctx, c, seeds, o, tables, asJSON)
		}
		if x.parts == "" {
			return err
		}
		return resumable(err, preempted())
	}
	return c
}

// partsPath matches the paths in a directory of parts: the parts of each seed, the job script of a scheduler
// with its logs, and hidden files.
var partsPath = regexp.MustCompile(`^(slurm[.-].*|kubernetes\.yaml.*|(seed-\d+/)?\..*|seed-\d+(/part-\d+)?)$`)

// refuseForeignParts refuses a directory for parts that holds anything else.
func refuseForeignParts(c *cobra.Command, dir string) error {
	if dir == "" {
		return nil
	}
	for _, pattern := range []string{"*", "seed-*/*"} {
		paths, _ := fs.Glob(os.DirFS(dir), pattern) // the patterns are valid
		if i := slices.IndexFunc(paths, func(path string) bool { return !partsPath.MatchString(path) }); i >= 0 {
			return misuse(c, "--parts %s contains %s, which is not a part of an evaluation: choose another directory", dir, paths[i])
		}
	}
	return nil
}

// evaluate evaluates the model of a run, and reports whether printed evaluations name the run.
func (x *estimate) evaluate(ctx context.Context, c *cobra.Command, run *runs.Run, o runs.EvaluationOptions) (e evaluated, named bool, err error) {
	model, err := run.ModelAt(x.checkpoint)
	if err != nil {
		return e, false, err
	}
	how, err := run.Evaluation(model)
	if err != nil {
		return e, false, err
	}
	if err := firstOf(refuseSampling(c, model), refuseUnused(c, run.Noun(), evaluationFlags, how.Uses)); err != nil {
		return e, how.Named, err
	}
	if o.Set, err = run.DatasetAt(x.data); err != nil {
		return e, how.Named, err
	}
	if notice := o.Set.Notice(); notice != "" {
		fmt.Fprintln(c.ErrOrStderr(), notice)
	}
	o.Rows = pick(o.Set, x.split).Subset(x.rows, x.seed)
	if x.parts != "" {
		o.Parts = filepath.Join(x.parts, fmt.Sprintf("seed-%d", run.Experiment().Header().Seed))
	}
	x.missing = o.Rows.Lacking()
	sayMissing(c, o.Rows)
	var judged runs.Findings
	var about string
	if x.against != "" { // before the evaluation, which may take long
		if judged, about, err = x.judge(ctx, run, model, o); err != nil {
			return e, how.Named, err
		}
	}
	evaluation, err := how.Evaluate(ctx, o)
	err = unusedOption(c, err)
	if err == nil && x.rivals {
		evaluation, err = withRivals(ctx, run, model, o, evaluation)
	}
	if m, draws := model.(runs.Sampler); err == nil && x.against == "" && draws && o.Rows.MeanWeights() == nil {
		if _, known := model.(runs.RowEvaluator); !known && slices.ContainsFunc(m.Drawings(), func(d runs.Drawing) bool { return d.Kind == "draws" }) {
			fmt.Fprintln(c.ErrOrStderr(), "no log p: judge samples by --samples-against test")
		}
	}
	if err == nil && x.against != "" {
		evaluation = extended{Evaluation: evaluation, more: judged, said: about + "\n"}
	}
	return evaluated{run, x, evaluation}, how.Named, err
}

// sayMissing writes that log p is of the observed values of rows, if some are missing.
func sayMissing(c *cobra.Command, rows dataset.Split) {
	if n := rows.Lacking(); n > 0 {
		fmt.Fprintf(c.ErrOrStderr(), "log p of the observed values: %d of %d units of the %s are missing\n", n, rows.Rows*rows.Shape.Units(), names.Count(rows.Rows, "row"))
	}
}

// evaluationFlags are the flags of eval that only some models use.
var evaluationFlags = []string{"samples", "log-z2", "log-z2-inner", "parts", "shard", "schedule", "chains", "raise", "raise-chains"}

func (x *estimate) evalShare(ctx context.Context, c *cobra.Command, seeds *runs.Seeds, o runs.EvaluationOptions) error {
	left := 0
	for _, run := range seeds.Runs {
		_, _, err := x.evaluate(ctx, c, run, o)
		if unfinished, is := errors.AsType[*runs.UnfinishedError](err); is {
			left += unfinished.Left
		} else if err != nil {
			return err
		}
	}
	message := "all parts are done: the same command without --shard prints the evaluation"
	if left > 0 {
		message = fmt.Sprintf("this share is done; still missing: %s in other shares", names.Count(left, "part"))
	}
	_, err := fmt.Fprintln(c.ErrOrStderr(), message)
	return err
}

// evaluated is the evaluation of a run, which may be one of several seeds.
type evaluated struct {
	run     *runs.Run
	options *estimate
	runs.Evaluation
}

// own describes what was evaluated, in findings that the evaluation itself lacks.
func (e evaluated) own() (own runs.Findings) {
	finding := func(kind runs.ColumnKind, key string, value any) {
		if !slices.ContainsFunc(e.Findings(), func(f runs.Finding) bool { return f.Column.Key == key }) {
			own = append(own, runs.Finding{Column: runs.Column{Key: key, Kind: kind}, Value: value})
		}
	}
	finding(runs.Text, "run", e.run.Dir())
	finding(runs.Text, "checkpoint", e.options.checkpoint) // last, best, or an epoch
	finding(runs.Integer, "seed", e.run.Experiment().Header().Seed)
	finding(runs.Integer, "epochs", e.run.Epochs()) // done
	finding(runs.Boolean, "finished", e.run.Finished())
	finding(runs.Text, "split", e.options.split)
	finding(runs.Integer, "draw_seed", e.options.seed)
	if e.options.missing > 0 {
		finding(runs.Integer, "missing", e.options.missing)
	}
	return own
}

// MarshalJSON writes null for standard errors and other values that the table omits.
func (e evaluated) MarshalJSON() ([]byte, error) {
	text, err := json.Marshal(e.Evaluation)
	table := e.Findings().Table()
	for i, c := range table.Columns() {
		if table.Rows()[0][i] != nil {
			continue
		}
		path := regexp.MustCompile(`"` + strings.ReplaceAll(regexp.QuoteMeta(c.Key), `\.`, `":.*?"`) + `":([^,{}]+)`)
		if at := path.FindSubmatchIndex(text); at != nil {
			text = slices.Replace(text, at[2], at[3], []byte("null")...)
		}
	}
	var b bytes.Buffer
	for _, f := range e.own() {
		value, failure := json.Marshal(f.Value)
		fmt.Fprintf(&b, ",%q:%s", f.Column.Key, value)
		err = errors.Join(err, failure)
	}
	return fmt.Appendf(nil, "{%s,%s", bytes.TrimPrefix(b.Bytes(), []byte(",")), bytes.TrimPrefix(text, []byte("{"))), err
}

func (x *estimate) evalSeeds(ctx context.Context, c *cobra.Command, seeds *runs.Seeds, o runs.EvaluationOptions, tables *tableFlags, asJSON bool) error {
	out, several := c.OutOrStdout(), seeds.Runs[0].Dir() != seeds.Dir()
	var each []evaluated
	var evaluations []runs.Evaluation
	var findings []runs.Findings
	for _, run := range seeds.Runs {
		e, named, err := x.evaluate(ctx, c, run, o)
		if err != nil {
			if several {
				err = fmt.Errorf("%s: %w", run.Dir(), err)
			}
			return err
		}
		each, evaluations, findings = append(each, e), append(evaluations, e.Evaluation), append(findings, slices.Concat(e.own(), e.Findings()))
		if asJSON || tables.chosen() {
			continue
		}
		h, format := run.Experiment().Header(), "%[4]v"
		seed := fmt.Sprintf("seed %d", h.Seed)
		if !run.Finished() {
			seed += fmt.Sprintf(", unfinished after %d of %d epochs", run.Epochs(), h.Epochs)
		}
		switch {
		case named:
			format = "%[2]s, checkpoint %[3]s\n%[4]v"
		case several:
			format = "%[1]s\n%[4]v\n"
		}
		if _, err := fmt.Fprintf(out, format, seed, run.Dir(), x.checkpoint, e.Evaluation); err != nil {
			return err
		}
	}
	table, over := findings[0].Table(findings[1:]...), runs.FindingsOver(evaluations)
	var err error
	switch {
	case tables.chosen():
		err = tables.print(table)
	case asJSON && several:
		err = json.NewEncoder(out).Encode(struct {
			Run        string         `json:"run"`
			Split      string         `json:"split"`
			Checkpoint string         `json:"checkpoint"`
			DrawSeed   uint64         `json:"draw_seed"`
			Version    string         `json:"version"` // of the program
			Seeds      []evaluated    `json:"seeds"`
			Waiting    int            `json:"waiting"` // seeds without a checkpoint
			Over       runs.OverSeeds `json:"over_seeds"`
		}{seeds.Dir(), x.split, x.checkpoint, x.seed, runs.Version(), each, seeds.Waiting, over})
	case asJSON:
		var text []byte
		if text, err = json.Marshal(each[0]); err == nil {
			_, err = fmt.Fprintf(out, "%s,\"version\":%q}\n", bytes.TrimSuffix(text, []byte("}")), runs.Version())
		}
	case several:
		waiting := ""
		if seeds.Waiting > 0 {
			waiting = fmt.Sprintf(", %d more have no checkpoint yet", seeds.Waiting)
		}
		_, err = fmt.Fprintf(out, "mean ± sd over %d seeds%s\n%v", len(each), waiting, over)
	}
	return errors.Join(err, tables.save(table))
}

func dataFlag(f *pflag.FlagSet, path *string) {
	f.StringVar(path, "dataset", "", "`path` of the data of the run, if they have moved; they must be the same")
}

func checkpointFlag(f *pflag.FlagSet, which *string) {
	*which = "last"
	parsedFlag(f, which, "checkpoint", "checkpoint", "`which` checkpoint: last, best (highest validation log p), or the number of an epoch that the run keeps", func(text string) (string, error) {
		if epoch, err := strconv.Atoi(text); text != "last" && text != "best" && (err != nil || epoch < 1) {
			return "", errors.New("use last, best, or the number of an epoch")
		}
		return text, nil
	})
}

func splitFlag(f *pflag.FlagSet, split *string, usage string) {
	choiceFlag(f, split, "split", usage, "test", "train", "validation")
}

func pick(set *dataset.Set, name string) dataset.Split {
	rows, _ := set.Split(name)
	return rows
}

// stdinFlag adds the flag for the format of rows from standard input.
func stdinFlag(f *pflag.FlagSet, format *string) {
	choiceFlag(f, format, "stdin", "`format` of the rows that - reads from standard input: "+strings.Join(dataset.InputFormats, ", "), dataset.InputFormats...)
}

// rowsOf reads rows from the file at path or, if path is -, parses standard input in a format.
func rowsOf[T any](c *cobra.Command, path, format string, read func(string) (T, error), parse func(dataset.Input) (T, error)) (rows T, err error) {
	if path != "-" {
		return read(path)
	}
	content, err := work.Interruptible(func() ([]byte, error) { return io.ReadAll(c.InOrStdin()) })
	if err != nil {
		return rows, fmt.Errorf("standard input: %w", err)
	}
	return parse(dataset.Input{Name: "standard input", Format: format, Content: content})
}

// note prints the notice about rows that a command read.
func note(c *cobra.Command, rows dataset.Split) {
	if notice := rows.Notice(); notice != "" {
		fmt.Fprintln(c.ErrOrStderr(), notice)
	}
}

func (x *estimate) evalRows(c *cobra.Command, seeds *runs.Seeds, o runs.EvaluationOptions, tables *tableFlags, asJSON bool) error {
	if seeds.Runs[0].Dir() != seeds.Dir() {
		return misuse(c, "--rows %s: %s has several seeds: name the directory of one, such as %s", x.file, seeds.Dir(), seeds.Runs[0].Dir())
	}
	for _, flag := range []string{"split", "log-z2", "log-z2-inner", "parts", "shard", "raise", "raise-chains", "rivals", "samples-against"} {
		if c.Flags().Changed(flag) {
			return misuse(c, "--%s does nothing with --rows %s: omit --%s", flag, x.file, flag)
		}
	}
	run := seeds.Runs[0]
	model, err := run.ModelAt(x.checkpoint)
	if err != nil {
		return err
	}
	if how, err := run.Evaluation(model); err == nil {
		if err := firstOf(refuseSampling(c, model), refuseUnused(c, run.Noun(), []string{"samples", "schedule", "chains"}, how.Uses)); err != nil {
			return err
		}
	}
	if o.Set, err = run.Blank(); err != nil {
		return err
	}
	if o.Rows, err = rowsOf(c, x.file, x.stdin, o.Set.ReadRows, o.Set.ParseRows); err != nil {
		return err
	}
	note(c, o.Rows)
	training := sync.OnceValues(func() (*dataset.Set, error) { return run.DatasetAt(x.data) })
	if x.data != "" { // a wrong path is an error even if no model needs the rows
		if _, err := training(); err != nil {
			return err
		}
	}
	s, err := scored(c.Context(), run, model, &o, training)
	if err != nil {
		return unusedOption(c, err)
	}
	explained := ""
	if x.why || x.rank {
		if explained, err = x.explain(c, run, model, o, s); err != nil {
			return err
		}
	}
	sayMissing(c, o.Rows)
	fmt.Fprintf(c.ErrOrStderr(), "log p of %s: %s\n", names.Count(o.Rows.Rows, "row"), s.what)
	if explained != "" {
		fmt.Fprintf(c.ErrOrStderr(), "log p of columns given the others: %s\n", explained)
	}
	if asJSON {
		tables.format = "json"
		return tables.print(s.table())
	}
	if !tables.chosen() && tables.path == "" {
		tables.format = "csv"
	}
	return tables.giveAndSay(s.table())
}

// scores are log p of rows, and the columns and lines of a table of them. what describes how log p was computed.
type scores struct {
	logP    []float64
	columns []runs.Column
	lines   [][]any
	what    string
}

func (s *scores) table() *runs.Table {
	t := runs.NewTable("rows", "", s.columns...)
	for _, cells := range s.lines {
		t.Add(cells...)
	}
	return t
}

// scored returns log p of each row of o.Rows. training returns the data of the run, which some models need; then o.Set has them.
func scored(ctx context.Context, run *runs.Run, model any, o *runs.EvaluationOptions, training func() (*dataset.Set, error)) (s *scores, err error) {
	evaluator, ok := model.(runs.RowEvaluator)
	if !ok {
		return nil, run.Lacks("has no log p of rows")
	}
	logPAndErrors := func() (logP, se []float64, what string, err error) {
		if of, is := model.(runs.RowErrorEvaluator); is {
			return of.LogPAndErrors(ctx, *o)
		}
		logP, what, err = evaluator.LogPOfRows(ctx, *o)
		return logP, nil, what, err
	}
	logP, se, what, err := logPAndErrors()
	if errors.Is(err, dataset.ErrNoRows) { // annealing begins at the base rates of the training rows
		if o.Set, err = training(); err == nil {
			logP, se, what, err = logPAndErrors()
		}
	}
	if err != nil {
		return nil, err
	}
	var labels [][]float64
	if labeler, is := model.(runs.Labeler); is {
		if labels, err = labeler.LogLabels(ctx, *o); err != nil {
			return nil, err
		}
	}
	s = &scores{logP: logP, lines: make([][]any, len(logP)), what: what}
	add := func(c runs.Column, cell func(r int) any) {
		s.columns = append(s.columns, c)
		for r := range s.lines {
			s.lines[r] = append(s.lines[r], cell(r))
		}
	}
	nats := runs.Column{Key: "log_p", Label: "log p", Unit: "nats", Kind: runs.Number, Decimals: 3}
	add(runs.Column{Key: "row", Kind: runs.Integer}, func(r int) any { return r + 1 })
	add(nats, func(r int) any { return logP[r] })
	classes, spec, first := o.Set.ClassNames(), o.Set.Spec(), 0
	if spec.LabelFile == "" && !o.Set.MadeFromRows() {
		first = spec.FirstLabel // ReadRows has subtracted it
	}
	label := runs.Column{Key: "label", Kind: runs.Integer}
	if classes != nil {
		label.Kind = runs.Text
	}
	if of := o.Rows.Labels; of != nil {
		add(label, func(r int) any { return labelCell(int(of[r]), classes, first) })
	}
	if labels != nil {
		label.Key, nats.Key, nats.Label = "predicted", "predicted_log_p", "log p(predicted|x)"
		add(label, func(r int) any { return labelCell(floats.MaxIdx(labels[r]), classes, spec.FirstLabel) })
		add(nats, func(r int) any { return labels[r][floats.MaxIdx(labels[r])] })
	}
	if se != nil {
		nats.Key, nats.Label = "log_p"+runs.StandardErrorKey, "± se"
		add(nats, func(r int) any { return se[r] })
	}
	return s, nil
}

// labelCell returns the label of a row as the data write it: a name, or a number counted from first. It returns nil
// for a row without a label.
func labelCell(label int, classes []string, first int) any {
	switch {
	case label == dataset.Unlabeled:
		return nil
	case label+first < len(classes):
		return classes[label+first]
	}
	return label + first
}
