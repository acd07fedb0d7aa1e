//go:build unix

package kernel

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/helmholtz-go/helmholtz/docs"
	"github.com/helmholtz-go/helmholtz/internal/file"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/kernelext/internal/session"
	"github.com/helmholtz-go/helmholtz/plotting"
	"github.com/helmholtz-go/helmholtz/runs"
)

// magics are the %hm lines of a cell.
type magics struct {
	session *session.Session
	show    func(run string) error
	display func(kind, text string) // displays a text of a MIME type below the cell
	module  string                  // directory of this library's module
	ctx     context.Context         // of the line that is running
}

// command is one of the %hm lines.
type command struct {
	name, arguments, help string
	run                   func(m magics, arguments []string, w io.Writer) error
	complete              func(m magics) []string // completions of the first argument, or nil
}

// commands returns all commands.
func commands() []command {
	return []command{
		{"runs", "", "list the runs of this session and of earlier ones", magics.runs, nil},
		{"sweep", "DIR", "show the progress, results and figures of the sweep in a directory", magics.sweep, nil},
		{"show", "RUN", "show a run and keep the display up to date", func(m magics, arguments []string, _ io.Writer) error { return m.show(arguments[0]) }, magics.runNames},
		{"stop", "RUN", "stop a run within a step, with a checkpoint", onRun(func(m magics, run string) error { return m.session.Stop(run) }), magics.runNames},
		{"resume", "RUN", "resume a run that was stopped or interrupted, bit for bit", onRun(func(m magics, run string) error { return m.session.Resume(run) }), magics.runNames},
		{"wait", "RUN", "wait until a run has finished; the cell fails if the run does", onRun(magics.wait), magics.runNames},
		{"save", "RUN PATH", "write the model of a run to a safetensors file", magics.save, magics.runNames},
		{"docs", "[PAGE]", "show a guide, or list the guides", magics.docs, func(magics) []string { return docs.Names() }},
		{"help", "", "list these lines", magics.help, nil},
	}
}

// Run runs a line of a cell, and returns what it prints.
func (m magics) Run(ctx context.Context, line string) (printed string, err error) {
	fields := strings.Fields(line)
	if len(fields) == 0 {
		fields = []string{"help"}
	}
	c, ok := find(fields[0])
	if !ok {
		return "", fmt.Errorf("%%hm %s is unknown%s; %%hm help lists the lines", fields[0], names.Meant(fields[0], m.Complete("")...))
	}
	arguments, n := fields[1:], len(strings.Fields(c.arguments))
	fixed := !strings.HasPrefix(c.arguments, "[")
	if fixed && n > 0 && len(arguments) >= n { // the last argument may be a path with spaces
		arguments = append(arguments[:n-1], unquoted(strings.Join(arguments[n-1:], " ")))
	}
	if fixed && len(arguments) != n {
		return "", fmt.Errorf("%%hm %s: write %%hm %s", c.name, strings.TrimSpace(c.name+" "+c.arguments))
	}
	var out strings.Builder
	defer func() {
		if p := recover(); p != nil { // the kernel survives
			err = fmt.Errorf("panic: %v", p)
		}
		if printed = out.String(); err != nil {
			err = fmt.Errorf("%%hm %s: %w", c.name, err)
		}
	}()
	m.ctx = ctx
	return "", c.run(m, arguments, &out)
}

// unquoted removes a pair of quotes around a word.
func unquoted(word string) string {
	if n := len(word); n > 1 && word[0] == word[n-1] && strings.ContainsRune(`"'`, rune(word[0])) {
		return word[1 : n-1]
	}
	return word
}

func find(name string) (c command, found bool) {
	all := commands()
	i := slices.IndexFunc(all, func(c command) bool { return c.name == name })
	if i < 0 {
		return c, false
	}
	return all[i], true
}

// Complete returns the completions of a line's last word.
func (m magics) Complete(line string) []string {
	fields := strings.Fields(line)
	if line == "" || strings.HasSuffix(line, " ") {
		fields = append(fields, "")
	}
	var choice []string
	switch len(fields) {
	case 1:
		for _, c := range commands() {
			choice = append(choice, c.name)
		}
	case 2:
		if c, ok := find(fields[0]); ok && c.complete != nil {
			choice = c.complete(m)
		}
	}
	var matches []string
	for _, word := range choice {
		if strings.HasPrefix(word, fields[len(fields)-1]) {
			matches = append(matches, word)
		}
	}
	return matches
}

// Inspect explains a line.
func (m magics) Inspect(line string) string {
	if fields := strings.Fields(line); len(fields) > 0 {
		if c, ok := find(fields[0]); ok {
			return fmt.Sprintf("%%hm %s\n\n%s", strings.TrimSpace(c.name+" "+c.arguments), c.help)
		}
	}
	var b strings.Builder
	_ = m.help(nil, &b)
	return b.String()
}

func (m magics) help(_ []string, w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, c := range commands() {
		fmt.Fprintf(t, "%%hm %s\t%s\n", strings.TrimSpace(c.name+" "+c.arguments), c.help)
	}
	fmt.Fprintf(t, "Paths are relative to the notebook's folder, also after %%cd.\n")
	return t.Flush()
}

func (m magics) docs(arguments []string, w io.Writer) error {
	switch len(arguments) {
	case 0:
		t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		for _, p := range docs.Pages() {
			fmt.Fprintf(t, "%%hm docs %s\t%s\n", p.Name, p.Title)
		}
		if site := docs.Site(); site != "" && os.Getenv("HELMHOLTZ_SITE_SERVED") != "" { // set where Jupyter serves it
			m.display("text/html", fmt.Sprintf(`<iframe src="%sstatic/index.html" width="100%%" height="600"></iframe>`, cmp.Or(os.Getenv("JUPYTERHUB_SERVICE_PREFIX"), "/")))
		} else if site != "" {
			fmt.Fprintf(t, "\nThe whole site: file://%s\n", site)
		}
		return t.Flush()
	case 1:
		page, err := docs.Find(arguments[0])
		if err == nil {
			m.display("text/markdown", page.Text)
		}
		return err
	}
	return errors.New("name one guide")
}

// onRun returns a command that applies do to a run and then prints the run's state.
func onRun(do func(m magics, run string) error) func(magics, []string, io.Writer) error {
	return func(m magics, arguments []string, w io.Writer) error {
		if err := do(m, arguments[0]); err != nil {
			return err
		}
		i, err := m.session.Info(arguments[0])
		if err == nil {
			fmt.Fprintf(w, "%s is %s, epoch %d of %d\n", i.Name, i.Does(), i.Epoch, i.Epochs)
		}
		return err
	}
}

func (m magics) wait(run string) error {
	if err := m.session.Wait(m.ctx, run); err != nil {
		return err
	}
	if i, err := m.session.Info(run); err != nil || i.State != session.Finished {
		return cmp.Or(err, fmt.Errorf("the run %s is %s, epoch %d of %d: %%hm resume %s continues it", run, i.Does(), i.Epoch, i.Epochs, run))
	}
	return nil
}

func (m magics) runs(_ []string, w io.Writer) error {
	all := m.session.Runs()
	if len(all) == 0 {
		fmt.Fprintln(w, "no runs yet")
		return nil
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "RUN\tSTATE\tEPOCHS\tTRAINING\tMETHOD")
	var remarks strings.Builder
	for _, r := range all {
		reached := "-"
		if r.Value != nil {
			reached = strings.TrimSpace(fmt.Sprintf("%s %.2f %s", r.Objective.Name, runs.Float(*r.Value), r.Objective.Unit))
		}
		if remark := cmp.Or(r.Error, r.Warning); remark != "" {
			fmt.Fprintf(&remarks, "%s: %s\n", r.Name, remark)
		}
		fmt.Fprintf(t, "%s\t%s\t%d of %d\t%s\t%s\n", r.Name, r.Does(), r.Epoch, r.Epochs, reached, r.Method)
	}
	err := t.Flush()
	fmt.Fprint(w, remarks.String())
	return err
}

// sweep shows the current state of the sweep in a directory, whichever programs train it.
func (m magics) sweep(arguments []string, _ io.Writer) error {
	s, err := runs.OpenSweep(arguments[0])
	if err != nil {
		return err
	}
	report, err := s.Report(arguments[0])
	if err == nil {
		m.display("text/html", plotting.SweepHTML(report))
	}
	return err
}

func (m magics) runNames() []string {
	var names []string
	for _, r := range m.session.Runs() {
		names = append(names, r.Name)
	}
	return names
}

func (m magics) save(arguments []string, w io.Writer) error {
	name, path := arguments[0], arguments[1]
	model, err := m.runModel(name)
	if err != nil {
		return err
	}
	if err := file.WriteAside(path, model); err != nil {
		return fmt.Errorf("cannot write %s: %w: name a file in an existing folder that you may write to", path, err)
	}
	fmt.Fprintf(w, "%s: %d bytes\n", path, len(model))
	return nil
}

// runModel returns the model of a run in its current state of training.
func (m magics) runModel(name string) ([]byte, error) {
	if err := m.session.Save(name); err != nil {
		return nil, err
	}
	run, err := runs.Open(m.session.Dir(name))
	if err != nil {
		return nil, err
	}
	model, err := run.ModelAt("last")
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if of, is := model.(runs.Saver); is {
		err = of.Save(&b)
	} else {
		err = run.SaveModel(&b)
	}
	return b.Bytes(), err
}
