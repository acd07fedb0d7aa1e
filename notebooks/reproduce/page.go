package reproduce

import (
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/runs"
)

// Report writes a page of what has been made of the catalogue's entries: what was
// confirmed, what was not and what was found beyond; what speaks for and against each
// conclusion; then for each entry its numbers and claims, with verdicts, figures, and
// what it took; then what has not been made. The same findings give the same page.
// folder is that of the findings, from where the page lies, and figures are in one of it.
func (c Catalog) Report(w io.Writer, conclusions []Conclusion, made map[string]Made, folder string) error {
	p := &page{w: w}
	p.summary(c, made, folder)
	if len(conclusions) > 0 {
		p.print("## The conclusions\n\nA conclusion is open where no finding has a verdict yet; the results that would tell are named. One that stands “so far” rests on the scale laptop alone: on shorter training, as said of each result, in which an order may be another than in the end.\n\n")
		p.conclusions(c, conclusions, made)
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
func (p *page) summary(c Catalog, made map[string]Made, folder string) {
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
	p.print("Of %d published results and %d questions beyond them %d have been made, by criteria that were declared before the training that they judge (notebooks/thesis/criteria.toml).\n\n", len(c)-beyondThem, beyondThem, len(made))
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
			text = runs.EscapeMarkdown(strings.Join(part.lines, "; ")) + "."
		}
		p.print("- **%s** (%d): %s\n", part.title, len(part.lines), text)
	}
	p.print("- Without a verdict (%d), which the tables call shown: what is of shorter training than published, or of stand-in data, and asks for more than an order, and what has to be looked at.\n\n", len(found[Shown]))
	p.print("Log-likelihoods are in nats. “sd” is a standard deviation over seeds, “se” a standard error: of one seed over rows, of several over seeds. ")
	p.print("The scale full is as published; laptop is shorter training, of which each result says how short. η is the learning rate and α the damping. In settings of Várady 2025 (B) and (C) are pixels that are rounded once, and drawn at each step, B before a number is the minibatch, K the steps between refreshes of the Fisher blocks and S the samples of a row; in those of the BiHM thesis K is the samples of a row. ")
	p.print("This page is written by `helmholtz reproduce report` of the findings in [%s](%s).\n\n", path.Base(folder), folder)
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
		p.print("![%s](%s/figures/%s)\n\n", f.Caption, folder, f.File)
		p.print("%s.\n\n", strings.TrimSuffix(f.Caption, "."))
	}
	p.print("Scale %s%s:\n\n    helmholtz reproduce %s --scale %s\n\n", m.Scale, e.lengths(m.Scale), e.ID, m.Scale)
	p.print("Made on %s by %s", m.Made.Format("2006-01-02"), build(m.By))
	if m.Hardware != "" {
		p.print("; %s of training by %s, on %s", duration(m.Seconds), build(m.Version), m.Hardware)
	}
	p.print(".\n\n")
}

// lengths say for how many epochs the trainings of an entry go on at a scale, of how many
// that are published, and with how many seeds: ", 50 of 500 epochs with 3 seeds".
func (e Entry) lengths(s Scale) string {
	here, published := Catalog{e}.Trainings(s), Catalog{e}.Trainings(Full)
	var lengths []string
	for i, t := range here {
		length := names.Count(t.Experiment.Header().Epochs, "epoch")
		if s != Full && len(here) == len(published) {
			length = fmt.Sprintf("%d of %s", t.Experiment.Header().Epochs, names.Count(published[i].Experiment.Header().Epochs, "epoch"))
		}
		if t.Seeds > 1 {
			length += fmt.Sprintf(" with %d seeds", t.Seeds)
		}
		if !slices.Contains(lengths, length) {
			lengths = append(lengths, length)
		}
	}
	if len(lengths) == 0 {
		return ""
	}
	return ", " + strings.Join(lengths, "; ")
}

// build names versions of the program, also of one that was built without its commit.
func build(version string) string {
	return strings.ReplaceAll(version, "(devel)", "a build that did not record its commit")
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
