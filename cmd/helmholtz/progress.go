package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// newProgress returns a recorder that draws a bar where w is a terminal and
// writes a line an epoch where it is not.
func newProgress(w io.Writer) runs.Recorder {
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return &bar{w: w}
	}
	return &lines{w: w}
}

// lines reports epochs as lines.
type lines struct {
	w      io.Writer
	start  time.Time
	plan   runs.Plan
	warned bool
}

func (l *lines) Begin(p runs.Plan) {
	l.plan, l.start, l.warned = p, time.Now(), false
	announce(l.w, p)
}

// announce writes what training sets out to do.
func announce(w io.Writer, p runs.Plan) {
	fmt.Fprintf(w, "%s: %d epochs of %d steps", p.Name, p.Epochs, p.StepsPerEpoch)
	if p.Start > 0 {
		fmt.Fprintf(w, ", resumed after %d steps", p.Start)
	}
	fmt.Fprintln(w)
	if b, objective := p.History.Baseline, p.History.Objective(); b != nil {
		rows := map[string]string{"train": "training"}
		fmt.Fprintf(w, "base line: %s, a factorised model of the data's means, over the %s rows\n",
			written([]runs.Measure{objective}, runs.Measures{objective.Key: b.Factorised.Value}), cmp.Or(rows[b.Rows], b.Rows))
	}
}

// warn says of the first epoch that is far from the base line that it is.
func warn(w io.Writer, h runs.History, e runs.Epoch, warned *bool) {
	if text := h.Warning(e); text != "" && !*warned {
		fmt.Fprintln(w, text)
		*warned = true
	}
}

func (l *lines) Step(runs.Progress) {}

func (l *lines) Epoch(e runs.Epoch) {
	fmt.Fprintf(l.w, "epoch %d/%d  %s  %.0f s", e.Epoch, l.plan.Epochs, describe(l.plan.History, e), e.Seconds)
	if taken := e.Step - l.plan.Start; taken > 0 { // none where an epoch was interrupted at its end
		left := time.Since(l.start) / time.Duration(taken) * time.Duration(l.plan.Epochs*l.plan.StepsPerEpoch-e.Step)
		fmt.Fprintf(l.w, ", %s left", left.Round(time.Second))
	}
	fmt.Fprintln(l.w)
	warn(l.w, l.plan.History, e, &l.warned)
}

func (l *lines) End(error) {}

// describe writes the measures of an epoch.
func describe(h runs.History, e runs.Epoch) string {
	s := written(h.Measures, e.Train)
	if value, ok := e.Validation[h.Objective().Key]; ok {
		s += fmt.Sprintf(", validation %s %.3f", h.Objective().Name, value)
	}
	for _, name := range slices.Sorted(maps.Keys(e.Measured)) {
		s += fmt.Sprintf("; %s: %s", name, written(h.Measures, e.Measured[name]))
	}
	return s
}

// written writes the values of measures.
func written(measures []runs.Measure, values runs.Measures) string {
	return writtenMeasures(slices.DeleteFunc(slices.Clone(measures), func(m runs.Measure) bool {
		_, measured := values[m.Key]
		return !measured
	}), func(m runs.Measure, decimals int) string { return fmt.Sprintf("%.*f", decimals, values[m.Key]) })
}

// writtenMeasures writes measures by the texts of their values with a number of
// decimals, fewer of fractions, which have no unit. Those of the same unit that
// follow each other share it.
func writtenMeasures(measures []runs.Measure, text func(m runs.Measure, decimals int) string) string {
	var parts []string
	for i, m := range measures {
		decimals := 3
		if m.Unit == "" {
			decimals = 2
		}
		part := m.Name + " " + text(m, decimals)
		if m.Unit != "" && (i+1 == len(measures) || measures[i+1].Unit != m.Unit) {
			part += " " + m.Unit
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ", ")
}

// bar reports steps as a bar, with a line above it for each epoch.
type bar struct {
	w      io.Writer
	plan   runs.Plan
	bar    *progressbar.ProgressBar
	warned bool
}

func (b *bar) Begin(p runs.Plan) {
	b.plan, b.warned = p, false
	announce(b.w, p)
	// The bar counts the steps of this session, for the rate to be its own.
	b.bar = progressbar.NewOptions(p.Epochs*p.StepsPerEpoch-p.Start,
		progressbar.OptionSetWriter(b.w),
		progressbar.OptionSetDescription(p.Name),
		progressbar.OptionShowIts(), progressbar.OptionSetItsString("step"), progressbar.OptionShowCount(),
		progressbar.OptionSetPredictTime(true), progressbar.OptionSetElapsedTime(true),
		progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionSetWidth(20),
		progressbar.OptionUseANSICodes(true))
}

func (b *bar) Step(p runs.Progress) {
	b.bar.Describe(fmt.Sprintf("epoch %d/%d  %s", p.Epoch, b.plan.Epochs, written(b.plan.History.Measures, p.Measures)))
	_ = b.bar.Set(p.Step - b.plan.Start)
}

func (b *bar) Epoch(e runs.Epoch) {
	_ = b.bar.Clear()
	fmt.Fprintf(b.w, "epoch %d/%d  %s\n", e.Epoch, b.plan.Epochs, describe(b.plan.History, e))
	warn(b.w, b.plan.History, e, &b.warned)
}

func (b *bar) End(error) { _ = b.bar.Exit() }

// newFraction returns a function that draws the fraction of work done where w
// is a terminal.
func newFraction(w io.Writer, what string) func(float64) {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	bar := progressbar.NewOptions(1000,
		progressbar.OptionSetWriter(w), progressbar.OptionSetDescription(what),
		progressbar.OptionSetPredictTime(true), progressbar.OptionSetWidth(20),
		progressbar.OptionClearOnFinish(), progressbar.OptionThrottle(100*time.Millisecond))
	return func(done float64) { _ = bar.Set(int(1000 * done)) }
}
