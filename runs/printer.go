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
)

// Printer returns a recorder that writes the plan of training, one line per epoch and the remaining
// time. If w is a terminal, it also shows a moving progress bar. Training without a recorder uses a
// Printer on standard error, if standard error is a terminal.
func Printer(w io.Writer) Recorder {
	return &printer{w: w, moves: file.IsTerminal(w)}
}

// Quiet is a recorder that prints nothing.
var Quiet Recorder = quiet{}

type quiet struct{}

func (quiet) Begin(Plan)    {}
func (quiet) Step(Progress) {}
func (quiet) Epoch(Epoch)   {}
func (quiet) End(error)     {}

// usual returns the given recorders, except nil, or the default if none are given.
func usual(given []Recorder) []Recorder {
	if len(given) == 0 && file.IsTerminal(os.Stderr) {
		return []Recorder{Printer(os.Stderr)}
	}
	return slices.DeleteFunc(slices.Clone(given), func(r Recorder) bool { return r == nil })
}

// printer reports epochs as lines. If moves is true, it also shows a progress bar that counts steps.
type printer struct {
	w      io.Writer
	moves  bool
	bar    *file.Bar
	start  time.Time
	plan   Plan
	warned bool
}

func (p *printer) Wait(until *TakenError) {
	fmt.Fprintf(p.w, "waiting up to %s: a program on %s trains in %s, or its machine stopped during training; without a sign of life, training resumes here\n",
		until.Left.Round(time.Second), until.Host, until.Dir)
}

func (p *printer) Begin(plan Plan) {
	p.plan, p.start, p.warned = plan, time.Now(), false
	p.bar = &file.Bar{W: p.w, Start: p.start}
	fmt.Fprintf(p.w, "%s: %s of %s", plan.Name, names.Count(plan.Epochs, "epoch"), names.Count(plan.StepsPerEpoch, "step"))
	switch {
	case plan.Late:
		fmt.Fprintf(p.w, ", in parallel; %s done", names.Count(plan.Start, "step"))
	case plan.Start > 0:
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
}

// Step draws a bar that counts only this session's steps, so that the rate is right.
func (p *printer) Step(at Progress) {
	if !p.moves {
		return
	}
	done, all := at.Step-p.plan.Start, p.plan.Epochs*p.plan.StepsPerEpoch-p.plan.Start
	rate, unit := float64(done)/time.Since(p.start).Seconds(), "s"
	if rate <= 1 {
		rate, unit = 60*rate, "min"
	}
	p.bar.Draw(fmt.Sprintf("epoch %d/%d  %s", at.Epoch, p.plan.Epochs, measuresLine(p.plan.History.Measures, at.Measures)),
		fmt.Sprintf("(%d/%d, %.0f step/%s) ", done, all, rate, unit), float64(done)/float64(max(1, all)))
}

func (p *printer) Epoch(e Epoch) {
	if p.moves {
		p.bar.Clear()
	}
	fmt.Fprintf(p.w, "epoch %d/%d  %s", e.Epoch, p.plan.Epochs, describe(p.plan.History, e))
	if !p.moves { // otherwise the bar shows the time
		fmt.Fprintf(p.w, "  %s", time.Duration(e.Seconds*float64(time.Second)).Round(time.Second))
		if taken := e.Step - p.plan.Start; taken > 0 { // 0 if the session began after the epoch's last step
			left := time.Since(p.start) / time.Duration(taken) * time.Duration(p.plan.Epochs*p.plan.StepsPerEpoch-e.Step)
			fmt.Fprintf(p.w, ", %s left", left.Round(time.Second))
		}
	}
	fmt.Fprintln(p.w)
	if text := p.plan.History.Warning(e); text != "" && !p.warned { // only for the first epoch with a warning
		fmt.Fprintln(p.w, text)
		p.warned = true
	}
}

func (p *printer) End(error) {}

func describe(h History, e Epoch) string {
	s := measuresLine(h.Measures, e.Train)
	if value, ok := e.Validation[h.Objective().Key]; ok {
		s += fmt.Sprintf(", validation %s %s", h.Objective().Name, fmt.Sprintf("%.3f", Float(value)))
	}
	for _, name := range slices.Sorted(maps.Keys(e.Measured)) {
		s += fmt.Sprintf("; %s: %s", name, measuresLine(h.Measures, e.Measured[name]))
	}
	return s
}

func measuresLine(measures []Measure, values Measures) string {
	return measuresText(slices.DeleteFunc(slices.Clone(measures), func(m Measure) bool {
		_, measured := values[m.Key]
		return !measured
	}), func(m Measure, scale float64, decimals int) string {
		return fmt.Sprintf("%.*f", decimals, Float(scale*values[m.Key]))
	})
}

// measuresText formats measures. text returns the text of a measure's value, multiplied by scale and with
// the given number of decimals. Fractions are shown in percent. If consecutive measures have the same
// unit, only the last shows it; every fraction shows %.
func measuresText(measures []Measure, text func(m Measure, scale float64, decimals int) string) string {
	var parts []string
	for i, m := range measures {
		scale, unit := 1.0, m.Unit
		if m.Fraction {
			scale, unit = 100, "%"
		}
		part := m.Name + " " + text(m, scale, m.decimals())
		if unit != "" && (m.Fraction || i+1 == len(measures) || measures[i+1].Unit != unit) {
			part += " " + unit
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ", ")
}
