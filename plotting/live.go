package plotting

import (
	"errors"
	"fmt"
	"html"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/janpfeifer/gonb/gonbui"
)

// Live returns a recorder that keeps one display of the notebook cell up to date during training:
// progress, rate, time left, the measures of the current epoch and of the last validation, and the
// curves so far. Outside a notebook it returns runs.Printer on standard error.
func Live() runs.Recorder {
	if !gonbui.IsNotebook {
		return runs.Printer(os.Stderr)
	}
	id := "helmholtz-live-" + gonbui.UniqueId()
	return &live{seen: func() bool { return true }, now: time.Now, show: func(html string) { gonbui.UpdateHTML(id, html) }, sync: gonbui.Sync}
}

// LiveHTML returns a recorder that passes the display of Live to show, as HTML, whenever the display
// changes. It draws curves only while seen returns true. It calls show and seen from the training
// goroutine.
func LiveHTML(seen func() bool, show func(html string)) runs.Recorder {
	return &live{seen: seen, now: time.Now, show: show, sync: func() {}}
}

// betweenUpdates is the minimum time between updates. A notebook that receives updates more often falls
// behind.
const betweenUpdates = 500 * time.Millisecond

func (l *live) update(html func() string) {
	began := l.now()
	l.show(html())
	l.updated = l.now()
	l.took = l.updated.Sub(began)
}

// updateIfDue updates the display if the time since the last update is at least ten times the duration of that update,
// because updates take time from training, and at least a thousandth of the time since training began, because Jupyter
// keeps all updates of a closed notebook in memory.
func (l *live) updateIfDue() {
	if now := l.now(); now.Sub(l.updated) >= max(betweenUpdates, 10*l.took, now.Sub(l.begun)/1000) {
		l.update(l.training)
	}
}

type live struct {
	seen     func() bool
	now      func() time.Time
	show     func(html string)
	sync     func() // returns when the notebook has received the display
	begun    time.Time
	updated  time.Time
	took     time.Duration // the last update
	plan     runs.Plan
	progress runs.Progress
	history  runs.History
	curve    string // image of the curves of the first epochs, whose number is drawn
	drawn    int    // number of epochs in curve
}

func (l *live) Begin(p runs.Plan) {
	l.plan, l.begun = p, l.now()
	l.progress = runs.Progress{Step: p.Start}
	l.history = runs.History{Measures: p.History.Measures, Epochs: slices.Clone(p.History.Epochs), Baseline: p.History.Baseline}
	if n := len(l.history.Epochs); n > 0 {
		l.progress.Epoch = l.history.Epochs[n-1].Epoch
	}
	l.curve, l.drawn = "", 0
	l.update(l.training)
}

func (l *live) Step(p runs.Progress) {
	l.progress = p
	l.updateIfDue()
}

func (l *live) Epoch(e runs.Epoch) {
	l.history.Epochs = append(l.history.Epochs, e)
	l.progress = runs.Progress{Epoch: e.Epoch, Step: e.Step, LearningRate: e.LearningRate, Measures: e.Train}
	l.updateIfDue()
}

// End shows the last state regardless of the time since the previous update, and returns when the
// notebook has received it.
func (l *live) End(err error) {
	ending := "finished"
	if l.history.LastWarning() != "" {
		ending = "ended"
	}
	switch {
	case errors.As(err, new(*runs.Interruption)):
		ending = "stopped with a checkpoint: train it again to resume"
	case err != nil:
		ending = "stopped: " + err.Error()
	}
	l.update(func() string { return l.html(ending) })
	l.sync()
}

func (l *live) training() string { return l.html("") }

// html returns the display; ending describes how training ended, or is "". It has inline styles and no scripts, because untrusted notebooks do not run
// scripts. Colours stand twice, because JupyterLab removes its variables from untrusted notebooks.
func (l *live) html(ending string) string {
	if len(l.history.Epochs) > l.drawn && l.seen() {
		l.curve, _ = Curves(l.history).Size(5, 2.4).HTML() // there is no image while no epoch has a finite value
		l.drawn = len(l.history.Epochs)
	}
	var b strings.Builder
	total := l.plan.Epochs * l.plan.StepsPerEpoch
	done := 0.0
	if total > 0 {
		done = min(1, float64(l.progress.Step)/float64(total))
	}
	b.WriteString(`<div style="font-family:sans-serif;font-size:13px;max-width:560px">`)
	fmt.Fprintf(&b, `<div><b>%s</b> epoch %s of %s, step %s of %s</div>`, html.EscapeString(l.plan.Name),
		integer(l.progress.Epoch), integer(l.plan.Epochs), integer(l.progress.Step), integer(total))
	fmt.Fprintf(&b, `<div style="background:#e2e2e2;background:var(--jp-layout-color3,#e2e2e2);height:8px;margin:4px 0"><div style="background:#0072b2;background:var(--jp-brand-color1,#0072b2);height:8px;width:%.1f%%"></div></div>`, 100*done)
	fmt.Fprintf(&b, `<div>%s</div>`, html.EscapeString(l.pace(total, ending)))
	if warning := l.history.LastWarning(); warning != "" {
		fmt.Fprintf(&b, `<div style="color:#d55e00;color:var(--jp-warn-color0,#d55e00)"><b>%s</b></div>`, html.EscapeString(warning))
	}
	if l.progress.Step > l.plan.Start {
		b.WriteString(measuresTable(l.history, l.progress.Measures))
	}
	b.WriteString(measuredTable(l.history))
	b.WriteString(l.curve)
	b.WriteString(`</div>`)
	return b.String()
}

// pace returns the speed of training and the time left, or how training ended.
func (l *live) pace(total int, ending string) string {
	elapsed := l.now().Sub(l.begun)
	steps := l.progress.Step - l.plan.Start
	parts := []string{}
	if steps > 0 && elapsed > 0 {
		rate := float64(steps) / elapsed.Seconds()
		parts = append(parts, significant(rate, 3)+" steps/s")
		if ending == "" && total > l.progress.Step {
			parts = append(parts, clock(time.Duration(float64(total-l.progress.Step)/rate*float64(time.Second)))+" left")
		}
	}
	parts = append(parts, clock(elapsed)+" elapsed")
	if l.progress.LearningRate > 0 {
		parts = append(parts, fmt.Sprintf("learning rate %.3g", l.progress.LearningRate))
	}
	if ending != "" {
		return strings.Join(append([]string{ending}, parts...), " · ")
	}
	parts = append(parts, "as of "+l.now().Format("2 January, 15:04:05"))
	return strings.Join(parts, " · ")
}

// clock formats a duration as m:ss or h:mm:ss.
func clock(d time.Duration) string {
	seconds := int(d.Round(time.Second).Seconds())
	if seconds < 3600 {
		return fmt.Sprintf("%d:%02d", seconds/60, seconds%60)
	}
	return fmt.Sprintf("%d:%02d:%02d", seconds/3600, seconds/60%60, seconds%60)
}

// measuresTable formats the measures of the current epoch and of the last validation, and the
// baseline.
func measuresTable(h runs.History, train runs.Measures) string {
	var validation runs.Measures
	for _, e := range h.Epochs {
		if e.Validation != nil {
			validation = e.Validation
		}
	}
	measures := present(h, train, validation)
	var b strings.Builder
	row := func(name string, values runs.Measures) {
		fmt.Fprintf(&b, `<tr><td>%s</td>`, html.EscapeString(name))
		for _, m := range measures {
			cell := "–"
			if value, ok := values[m.Key]; ok {
				cell = measured(m, value)
			}
			fmt.Fprintf(&b, `<td>%s</td>`, cell)
		}
		b.WriteString(`</tr>`)
	}
	b.WriteString(`<table style="font-size:13px;text-align:right;border-spacing:12px 2px"><tr><th></th>`)
	for _, m := range measures {
		heading := m.Name
		if m.Unit != "" {
			heading = withUnit(m.Label, m.Unit)
		}
		fmt.Fprintf(&b, `<th>%s</th>`, html.EscapeString(heading))
	}
	b.WriteString(`</tr>`)
	row("training, this epoch", train)
	if validation != nil {
		row("validation, last", validation)
	}
	if h.Baseline != nil {
		row(h.Baseline.Label(), runs.Measures{h.Objective().Key: h.Baseline.Factorized.Value})
	}
	b.WriteString(`</table>`)
	return b.String()
}

// present returns the measures of a history that have values. If the history describes no measures, it
// returns the log-likelihood.
func present(h runs.History, values ...runs.Measures) []runs.Measure {
	if len(h.Measures) == 0 {
		return []runs.Measure{runs.LogP}
	}
	return slices.DeleteFunc(slices.Clone(h.Measures), func(m runs.Measure) bool {
		return !slices.ContainsFunc(values, func(v runs.Measures) bool { _, ok := v[m.Key]; return ok })
	})
}

// measuredTable formats the latest measurements along training, one row per measurement.
func measuredTable(h runs.History) string {
	last := map[string]runs.Epoch{}
	for _, e := range h.Epochs {
		for name := range e.Measured {
			last[name] = e
		}
	}
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(last)) {
		values := last[name].Measured[name]
		var parts []string
		for _, m := range present(h, values) {
			text := m.Name + " " + measured(m, values[m.Key])
			if se, ok := values[m.Key+runs.StandardErrorKey]; ok && m.Unit != "" {
				text += " ± " + measured(m, se)
			}
			parts = append(parts, html.EscapeString(text))
		}
		fmt.Fprintf(&b, `<div style="margin:2px 12px"><b>%s</b>, measured after epoch %s: %s</div>`, html.EscapeString(name), integer(last[name].Epoch), strings.Join(parts, ", "))
	}
	return b.String()
}

func measured(m runs.Measure, v float64) string {
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return "unknown"
	case m.Fraction:
		return percent(v)
	}
	return number(v, 2)
}

// SweepHTML formats a sweep for a notebook: its progress, a table of its settings, best first, its
// failures, and the figures of Sweep once there are results.
func SweepHTML(r runs.SweepReport) string {
	r = r.ByBest()
	var b strings.Builder
	states, total := r.States(), 0
	for _, n := range states {
		total += n
	}
	fmt.Fprintf(&b, "<p>%d of %d runs are finished</p>", states[runs.Finished], total)
	_ = r.Table().WriteHTML(&b) // a strings.Builder never fails
	for _, s := range r.Settings {
		for _, failure := range s.Failures {
			fmt.Fprintf(&b, "<p>failed: %s</p>", html.EscapeString(failure.Error()))
		}
	}
	if states[runs.Finished] > 0 {
		for _, figure := range Sweep(r) {
			if image, err := figure.HTML(); err == nil { // otherwise there is nothing to draw yet
				b.WriteString(image)
			}
		}
	}
	return b.String()
}
