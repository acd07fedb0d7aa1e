package plotting

import (
	"fmt"
	"html"
	"os"
	"strings"
	"time"

	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/janpfeifer/gonb/gonbui"
)

// LiveSweep returns what Sweep.Train asks for recorders of its jobs. They keep one
// display of the notebook cell up to date, whatever program trains the runs: a table of
// the settings, the best first, and the figures of Sweep. Outside a notebook they are
// those of runs.Printer of standard error.
func LiveSweep(s *runs.Sweep, dir string) func(runs.Job) []runs.Recorder {
	if !gonbui.IsNotebook {
		return func(runs.Job) []runs.Recorder { return []runs.Recorder{runs.Printer(os.Stderr)} }
	}
	id := "helmholtz-sweep-" + gonbui.UniqueId()
	live := &liveSweep{sweep: s, dir: dir, now: time.Now, show: func(html string) { gonbui.UpdateHTML(id, html) }, sync: gonbui.Sync}
	return func(runs.Job) []runs.Recorder { return []runs.Recorder{live} }
}

// betweenReports is how long a report stays: each is read from the directories of all
// runs.
const betweenReports = 4 * betweenUpdates

// liveSweep is the display of a sweep. The jobs that it is told of are those of one
// worker, one after the other.
type liveSweep struct {
	sweep   *runs.Sweep
	dir     string
	now     func() time.Time
	show    func(html string)
	sync    func() // returns when the notebook has what was shown
	updated time.Time
}

// Begin implements runs.Recorder.
func (l *liveSweep) Begin(runs.Plan) { l.updateIfDue() }

// Step implements runs.Recorder.
func (l *liveSweep) Step(runs.Progress) { l.updateIfDue() }

// Epoch implements runs.Recorder.
func (l *liveSweep) Epoch(runs.Epoch) { l.updateIfDue() }

// End implements runs.Recorder. It shows what the run reached, whatever the time since
// the report before.
func (l *liveSweep) End(error) {
	l.update()
	l.sync()
}

func (l *liveSweep) updateIfDue() {
	if l.now().Sub(l.updated) >= betweenReports {
		l.update()
	}
}

func (l *liveSweep) update() {
	report, err := l.sweep.Report(l.dir)
	if err != nil {
		l.show(html.EscapeString(err.Error()))
	} else {
		l.show(SweepHTML(report))
	}
	l.updated = l.now()
}

// SweepHTML writes a sweep for a notebook: how far it has come, a table of its settings,
// the best first, what failed, and the figures of Sweep once settings have reached
// something.
func SweepHTML(r runs.SweepReport) string {
	r = r.ByBest()
	var b strings.Builder
	states, total := r.States(), 0
	for _, n := range states {
		total += n
	}
	fmt.Fprintf(&b, "<p>%d of %d runs are finished</p>", states[runs.Finished], total)
	_ = r.Table().WriteHTML(&b) // a strings.Builder takes all
	for _, s := range r.Settings {
		for _, failure := range s.Failures {
			fmt.Fprintf(&b, "<p>failed: %s</p>", html.EscapeString(failure.Error()))
		}
	}
	if states[runs.Finished] > 0 {
		for _, figure := range Sweep(r) {
			if image, err := figure.HTML(); err == nil { // else there is nothing to draw yet
				b.WriteString(image)
			}
		}
	}
	return b.String()
}
