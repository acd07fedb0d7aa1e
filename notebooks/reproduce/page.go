package reproduce

import (
	"fmt"
	"io"
	"strings"

	"github.com/helmholtz-go/helmholtz/runs"
)

// Report writes a page of what has been made of the catalogue's entries: what was
// confirmed, what was not and what was found beyond; what speaks for and against each
// conclusion; then for each entry its numbers and claims, with verdicts, figures, and
// what it took; then what has not been made. The same findings give the same page.
// folder is that of the figures, from where the page lies.
func (c Catalog) Report(w io.Writer, conclusions []Conclusion, made map[string]Made, folder string) error {
	p := &page{w: w}
	p.summary(c, made)
	if len(conclusions) > 0 {
		p.print("## The conclusions\n\nA conclusion is open where no finding has a verdict yet; the results that would tell are named. What was found at the scale laptop is of shorter training, in which an order may be another than in the end.\n\n")
		p.table(c.conclusionsTable(conclusions, made))
	}
	for _, e := range c {
		if m, there := made[e.ID]; there {
			p.entry(e, m, folder)
		}
	}
	p.missing(c, made)
	return p.err
}

// page writes until it fails.
type page struct {
	w   io.Writer
	err error
}

func (p *page) print(format string, values ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format, values...)
	}
}

func (p *page) table(t *runs.Table) {
	if p.err == nil {
		p.err = t.WriteMarkdown(p.w)
	}
	p.print("\n")
}

// summary says what was found of all claims and numbers.
func (p *page) summary(c Catalog, made map[string]Made) {
	found := map[Verdict][]string{}
	var beyond []string
	for _, e := range c {
		m, there := made[e.ID]
		if !there {
			continue
		}
		for _, j := range m.Judged {
			found[j.Verdict] = append(found[j.Verdict], fmt.Sprintf("%s (%s, %s)", strings.TrimPrefix(strings.TrimSuffix(j.Says, "."), "(shown) "), e.ID, m.Scale))
		}
		for _, n := range e.Numbers {
			if v, ok := m.Value(n); ok {
				verdict := n.judge(v)
				found[verdict] = append(found[verdict], fmt.Sprintf("%v (%s, %s)", n, e.ID, m.Scale))
			}
		}
		if m.Diverged != "" && len(e.Claims) == 0 {
			found[Open] = append(found[Open], fmt.Sprintf("%s (%s, %s)", e.Title, e.ID, m.Scale))
		}
		for _, sentence := range m.Beyond {
			beyond = append(beyond, fmt.Sprintf("%s (%s, %s)", strings.TrimSuffix(sentence, "."), e.ID, m.Scale))
		}
	}
	p.print("# Published results, made anew\n\n")
	beyondThem := 0
	for _, e := range c {
		if e.Place == Beyond {
			beyondThem++
		}
	}
	p.print("Of %d published results and %d questions beyond them %d have been made, by criteria that were declared before the training that they judge ([criteria.toml](thesis/criteria.toml)).\n\n", len(c)-beyondThem, beyondThem, len(made))
	for _, part := range []struct {
		title string
		lines []string
	}{
		{"Confirmed: claims that hold", found[Holds]},
		{"Confirmed: numbers within their tolerance or bound", found[Reproduced]},
		{"Confirmed: numbers that are better than published", found[Exceeded]},
		{"Not confirmed: claims that fail", found[Fails]},
		{"Not confirmed: numbers that are worse than published", found[Missed]},
		{"Open: claims that are not decided, for the reason that the evidence of each gives", found[Open]},
		{"Found beyond the claims", beyond},
	} {
		text := "none."
		if len(part.lines) > 0 {
			text = strings.Join(part.lines, "; ") + "."
		}
		p.print("- **%s** (%d): %s\n", part.title, len(part.lines), text)
	}
	p.print("- Without a verdict (%d): what is of shorter training than published, or of stand-in data, and asks for more than an order, and what has to be looked at.\n\n", len(found[Shown]))
	p.print("Log-likelihoods are in nats. “sd” is a standard deviation over seeds, “se” a standard error: of one seed over rows, of several over seeds. ")
	p.print("The scale full is as published; laptop is shorter training. This page is written by `helmholtz reproduce report --results notebooks/results --out notebooks/RESULTS.md` of the findings in [results](results).\n\n")
}

// entry writes what was found of an entry.
func (p *page) entry(e Entry, m Made, folder string) {
	p.print("## %s: %s\n\n%s. Setting: %s.\n\n", e.ID, e.Title, e.Place, e.Setting)
	if e.Blocked != "" {
		p.print("Blocked in part: %s.\n\n", e.Blocked)
	}
	if e.Note != "" {
		p.print("%s\n\n", e.Note)
	}
	for _, t := range e.Tables(m) {
		p.table(t)
	}
	for _, f := range m.Figures {
		p.print("![%s](%s/%s)\n\n", f.Caption, folder, f.File)
		p.print("%s.\n\n", strings.TrimSuffix(f.Caption, "."))
	}
	p.print("Scale %s:\n\n    helmholtz reproduce %s --scale %s\n\n", m.Scale, e.ID, m.Scale)
	p.print("Made on %s by %s", m.Made.Format("2006-01-02"), m.By)
	if m.Hardware != "" {
		p.print("; %s of training by %s, on %s", duration(m.Seconds), m.Version, m.Hardware)
	}
	p.print(".\n\n")
}

// missing lists the entries that have not been made.
func (p *page) missing(c Catalog, made map[string]Made) {
	t := runs.NewTable("missing", "",
		runs.Column{Key: "id", Label: "id", Kind: runs.Text},
		runs.Column{Key: "title", Label: "title", Kind: runs.Text},
		runs.Column{Key: "why", Label: "waits for", Kind: runs.Text},
	)
	for _, e := range c {
		if _, there := made[e.ID]; there {
			continue
		}
		why := "its trainings"
		switch {
		case e.Make == nil && e.Blocked != "":
			why = e.Blocked
		case e.Make == nil:
			why = "code that makes it"
		case e.Blocked != "":
			why = "its trainings; blocked in part: " + e.Blocked
		}
		t.Add(e.ID, e.Title, why)
	}
	if len(t.Rows()) == 0 {
		return
	}
	p.print("## Not made yet\n\n")
	p.table(t)
}

// duration writes seconds as minutes or hours.
func duration(seconds float64) string {
	switch {
	case seconds < 120:
		return fmt.Sprintf("%.0f s", seconds)
	case seconds < 7200:
		return fmt.Sprintf("%.0f min", seconds/60)
	}
	return fmt.Sprintf("%.1f h", seconds/3600)
}
