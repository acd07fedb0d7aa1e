package runs

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/helmholtz-go/helmholtz/internal/file"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/schollz/progressbar/v3"
)

// Printer returns a recorder that writes for people what training sets out to do, a line an
// epoch and the time that is left, with a bar that moves below them where w is a terminal.
// Training that is given no recorder has one of standard error, where that is a terminal.
func Printer(w io.Writer) Recorder {
	return &printer{w: w, moves: file.IsTerminal(w)}
}

// Quiet is a recorder that says nothing: training that is given it prints nothing.
var Quiet Recorder = quiet{}

type quiet struct{}

func (quiet) Begin(Plan)    {}
func (quiet) Step(Progress) {}
func (quiet) Epoch(Epoch)   {}
func (quiet) End(error)     {}

// usual are the recorders of training that is given some, or none.
func usual(given []Recorder) []Recorder {
	if len(given) == 0 && file.IsTerminal(os.Stderr) {
		return []Recorder{Printer(os.Stderr)}
	}
	return slices.DeleteFunc(slices.Clone(given), func(r Recorder) bool { return r == nil })
}

// printer reports epochs as lines, and steps as a bar below them where it moves.
type printer struct {
	w      io.Writer
	moves  bool
	bar    *progressbar.ProgressBar
	start  time.Time
	plan   Plan
	warned bool
}

// Wait implements Waiter.
func (p *printer) Wait(until *TakenError) {
	fmt.Fprintf(p.w, "waiting up to %s: a program on %s trains in %s, or that machine stopped while it did; without a sign of life from it, training goes on here\n",
		until.Left.Round(time.Second), until.Host, until.Dir)
}

func (p *printer) Begin(plan Plan) {
	p.plan, p.start, p.warned = plan, time.Now(), false
	fmt.Fprintf(p.w, "%s: %s of %s", plan.Name, names.Count(plan.Epochs, "epoch"), names.Count(plan.StepsPerEpoch, "step"))
	if plan.Start > 0 {
		fmt.Fprintf(p.w, ", resumed after %s", names.Count(plan.Start, "step"))
	}
	fmt.Fprintln(p.w)
	if plan.Notice != "" {
		fmt.Fprintln(p.w, plan.Notice)
	}
	if b, objective := plan.History.Baseline, plan.History.Objective(); b != nil {
		rows := map[string]string{"train": "training"}
		fmt.Fprintf(p.w, "baseline: %s, of %s, over the %s rows\n",
			measuresLine([]Measure{objective}, Measures{objective.Key: b.Factorized.Value}), b.model(), cmp.Or(rows[b.Rows], b.Rows))
	}
	if p.moves {
		// The bar counts the steps of this session, for the rate to be its own.
		p.bar = progressbar.NewOptions(plan.Epochs*plan.StepsPerEpoch-plan.Start,
			progressbar.OptionSetWriter(p.w),
			progressbar.OptionSetDescription(plan.Name),
			progressbar.OptionShowIts(), progressbar.OptionSetItsString("step"), progressbar.OptionShowCount(),
			progressbar.OptionSetPredictTime(true), progressbar.OptionSetElapsedTime(true),
			progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionFullWidth(),
			progressbar.OptionUseANSICodes(true))
	}
}

func (p *printer) Step(at Progress) {
	if p.moves {
		p.bar.Describe(fmt.Sprintf("epoch %d/%d  %s", at.Epoch, p.plan.Epochs, measuresLine(p.plan.History.Measures, at.Measures)))
		_ = p.bar.Set(at.Step - p.plan.Start)
	}
}

func (p *printer) Epoch(e Epoch) {
	if p.moves {
		_ = p.bar.Clear()
	}
	fmt.Fprintf(p.w, "epoch %d/%d  %s", e.Epoch, p.plan.Epochs, describe(p.plan.History, e))
	if !p.moves { // as the bar says otherwise
		fmt.Fprintf(p.w, "  %s", time.Duration(e.Seconds*float64(time.Second)).Round(time.Second))
		if taken := e.Step - p.plan.Start; taken > 0 { // none where an epoch was interrupted at its end
			left := time.Since(p.start) / time.Duration(taken) * time.Duration(p.plan.Epochs*p.plan.StepsPerEpoch-e.Step)
			fmt.Fprintf(p.w, ", %s left", left.Round(time.Second))
		}
	}
	fmt.Fprintln(p.w)
	if text := p.plan.History.Warning(e); text != "" && !p.warned { // of the first epoch that is far from the baseline
		fmt.Fprintln(p.w, text)
		p.warned = true
	}
}

func (p *printer) End(error) {
	if p.moves {
		_ = p.bar.Exit()
	}
}

// describe writes the measures of an epoch.
func describe(h History, e Epoch) string {
	s := measuresLine(h.Measures, e.Train)
	if value, ok := e.Validation[h.Objective().Key]; ok {
		s += fmt.Sprintf(", validation %s %.3f", h.Objective().Name, value)
	}
	for _, name := range slices.Sorted(maps.Keys(e.Measured)) {
		s += fmt.Sprintf("; %s: %s", name, measuresLine(h.Measures, e.Measured[name]))
	}
	return s
}

// measuresLine writes the values of measures.
func measuresLine(measures []Measure, values Measures) string {
	return MeasuresText(slices.DeleteFunc(slices.Clone(measures), func(m Measure) bool {
		_, measured := values[m.Key]
		return !measured
	}), func(m Measure, scale float64, decimals int) string {
		return fmt.Sprintf("%.*f", decimals, scale*values[m.Key])
	})
}

// MeasuresText writes measures by the texts of their values, which are multiplied by a scale
// and have a number of decimals: fractions are written in percent. Measures of the same unit
// that follow each other share it.
func MeasuresText(measures []Measure, text func(m Measure, scale float64, decimals int) string) string {
	var parts []string
	for i, m := range measures {
		scale, unit := m.scaled()
		part := m.Name + " " + text(m, scale, m.decimals())
		if unit != "" && (m.Fraction || i+1 == len(measures) || measures[i+1].Unit != unit) {
			part += " " + unit
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ", ")
}
