//go:build unix

package kernel

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/docs"
	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/kernelext"
	"github.com/helmholtz-go/helmholtz/kernelext/internal/session"
	"github.com/helmholtz-go/helmholtz/runs"
)

// experiment is one whose training takes a moment, or a long while.
func experiment(t *testing.T, epochs int) hm.Experiment {
	t.Helper()
	set, err := dataset.Spec{Name: "3by3", Subset: 32}.Open()
	if err != nil {
		t.Fatal(err)
	}
	return hm.RWS().BatchSize(8).Epochs(epochs).Experiment(hm.New(set.Shape()).Dense(6, 4), set)
}

// TestAProgramIsTheSameInAndOutsideTheKernel does what the cells of a notebook
// do, with the session of the kernel and with that of the program.
func TestAProgramIsTheSameInAndOutsideTheKernel(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Run("in the kernel", func(t *testing.T) {
		dir, err := os.MkdirTemp("/tmp", "client-test-")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		t.Setenv(session.Environment, dir)
		s := session.New("kernel", nil)
		defer s.Close()
		var shown, failed []string
		server, err := serve(dir, s, func(run string) error {
			shown = append(shown, run)
			return nil
		}, func(reason string) { failed = append(failed, reason) })
		if err != nil {
			t.Fatal(err)
		}
		defer server.Close()
		notebook(t)
		if !slices.Equal(shown, []string{"short"}) {
			t.Errorf("shown were %v", shown)
		}
		// A refused run, and a run that cannot be shown, fail their cell, also if the cell ignores the error.
		for _, refused := range []struct {
			start  func() *kernelext.Run
			reason string
		}{
			{func() *kernelext.Run { return kernelext.Open().Start("short", experiment(t, 4)) }, "another experiment"},
			{func() *kernelext.Run { return kernelext.Open().Start("a/b", experiment(t, 1)) }, "use up to 100 letters"},
			{func() *kernelext.Run { return kernelext.Open().Start("none", nil) }, "the experiment is nil"},
			{func() *kernelext.Run { return kernelext.Open().Run("none") }, `no run "none"`},
		} {
			failed = nil
			refused.start().Show()
			if len(failed) == 0 || !strings.Contains(failed[0], refused.reason) {
				t.Errorf("the cell fails with %q, want %q", failed, refused.reason)
			}
		}
	})
	t.Run("outside", func(t *testing.T) {
		t.Setenv(session.Environment, "")
		notebook(t)
	})
}

func notebook(t *testing.T) {
	ctx := t.Context()
	kernelext.Open().Start("short", experiment(t, 3)).Show()
	run, err := kernelext.Open().Run("short").Wait(ctx)
	if err != nil || !run.Finished() {
		t.Fatalf("%v", err)
	}
	history, err := kernelext.Open().Run("short").History()
	if err != nil || len(history.Epochs) != 3 {
		t.Errorf("%d epochs, %v", len(history.Epochs), err)
	}

	long := kernelext.Open().Start("long", experiment(t, 1_000_000))
	model, err := kernelext.Open().Run("long").Model()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := model.Means(ctx, 3); err != nil {
		t.Error(err)
	}

	rows := [][]float64{{0, 1, 0.5, 0}, {1, 1, 0, 0.25}, {0, 0, 1, 1}}
	set, err := dataset.Spec{Name: "own", Binarization: dataset.Stochastic}.FromRows(dataset.Shape{Height: 2, Width: 2}, rows, rows[:1])
	if err != nil {
		t.Fatal(err)
	}
	onRows := hm.RWS().BatchSize(2).Epochs(2).Experiment(hm.New(set.Shape()).Dense(3), set)
	if err := errors.Join(long.Stop(), runs.Claim(onRows, set, filepath.Join(filepath.Dir(run.Dir()), "rows")), kernelext.Open().Start("rows", onRows).Err()); err != nil {
		t.Fatal(err)
	}
	own, err := kernelext.Open().Run("rows").Wait(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if trained, err := own.Dataset(); err != nil || trained.Fingerprint() != set.Fingerprint() {
		t.Errorf("trained were other data: %v", err)
	}
	if err := long.Resume(); err != nil {
		t.Fatal(err)
	}

	canceled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := long.Wait(canceled); !errors.Is(err, context.Canceled) {
		t.Errorf("an interrupted cell: %v", err)
	}
	if status, err := long.Status(); err != nil || status.State != session.Running {
		t.Errorf("after an interrupted cell: %+v, %v", status, err)
	}
	if err := errors.Join(long.Stop(), long.Resume(), long.Stop()); err != nil {
		t.Error(err)
	}
	runs, err := kernelext.Open().Runs()
	if err != nil || len(runs) != 3 || runs[0].State != session.Stopped || runs[1].State != session.Finished || runs[2].State != session.Finished {
		t.Errorf("%+v, %v", runs, err)
	}

	train := kernelext.Open().Start("train", experiment(t, 1_000_000))
	waiting := kernelext.Open().Start("waiting", experiment(t, 1))
	if _, err := waiting.History(); err == nil || !strings.Contains(err.Error(), "is waiting and has not trained yet") {
		t.Errorf("the history of a run that waits: %v", err)
	}
	if err := errors.Join(waiting.Stop(), train.Stop()); err != nil {
		t.Error(err)
	}
	if _, err := waiting.Wait(ctx); err == nil || !strings.Contains(err.Error(), "is stopped and has not trained yet: resume it") {
		t.Errorf("waiting for a run that was stopped before it trained: %v", err)
	}

	for _, name := range []string{"", ".", "..", "a/b"} {
		for what, err := range map[string]error{
			"start": kernelext.Open().Start(name, experiment(t, 1)).Err(), "run": kernelext.Open().Run(name).Err(),
		} {
			if err == nil || !strings.Contains(err.Error(), "use up to 100 letters") {
				t.Errorf("%s %q: %v", what, name, err)
			}
		}
	}
	for what, err := range map[string]error{
		"no experiment":             kernelext.Open().Start("none", nil).Stop(),
		"a run that there is not":   kernelext.Open().Run("none").Err(),
		"a wrong name":              kernelext.Open().Start("a/b", experiment(t, 1)).Stop(),
		"another experiment":        kernelext.Open().Start("short", experiment(t, 4)).Err(),
		"data of another shape":     kernelext.Open().Start("misfit", hm.RWS().Experiment(hm.New(dataset.Shape{Height: 3, Width: 3}).Dense(3), set)).Err(),
		"the end of what has ended": long.Stop(),
	} {
		if err == nil {
			t.Errorf("%s is no error", what)
		}
	}
}

func TestMagics(t *testing.T) {
	t.Chdir(t.TempDir())
	s := session.New(session.Folder, nil)
	defer s.Close()
	var shown []string
	var page string
	m := magics{session: s, show: func(run string) error {
		shown = append(shown, run)
		return nil
	}, display: func(_, text string) { page = text }}
	run := func(line string) (string, string) {
		out, err := m.Run(t.Context(), line)
		if err != nil {
			return out, err.Error()
		}
		return out, ""
	}
	if out, _ := run("docs"); !strings.Contains(out, "%hm docs train") {
		t.Errorf("the list of guides: %q", out)
	}
	if docs.Site() == "" {
		program, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		site := filepath.Join(filepath.Dir(filepath.Dir(program)), "site")
		if err := errors.Join(os.MkdirAll(filepath.Join(site, "html"), 0o755), os.WriteFile(filepath.Join(site, "html", "index.html"), nil, 0o600)); err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(site)
	}
	t.Setenv("HELMHOLTZ_SITE_SERVED", "")
	if out, _ := run("docs"); !strings.Contains(out, "file://"+docs.Site()) || page != "" {
		t.Errorf("where Jupyter does not serve the site: %q, and shown %.40q", out, page)
	}
	t.Setenv("HELMHOLTZ_SITE_SERVED", "1")
	if out, _ := run("docs"); strings.Contains(out, "file://") || !strings.Contains(page, "<iframe") {
		t.Errorf("where Jupyter serves the site: %q, and shown %.40q", out, page)
	}
	if out, err := run("docs train"); out+err != "" || !strings.HasPrefix(page, "# Train") {
		t.Errorf("%q, %q, and shown %.40q", out, err, page)
	}
	if _, err := run("docs nothing"); !strings.Contains(err, "train") {
		t.Errorf("for a guide that does not exist: %q, want the names", err)
	}
	if out, _ := run("runs"); out != "no runs yet\n" {
		t.Errorf("%q", out)
	}
	if err := errors.Join(s.Start("a", experiment(t, 2)), s.Wait(t.Context(), "a")); err != nil {
		t.Fatal(err)
	}
	sweep := runs.Sweep{Base: experiment(t, 2).TOML(), Axes: []runs.Axis{{Keys: []string{"method.learning_rate"}, Values: [][]any{{0.1}, {0.2}}}}, Seeds: 2}
	if err := sweep.Claim("rates"); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ line, out, err string }{
		{"", "%hm stop RUN", ""},
		{"help", "%hm save RUN PATH", ""},
		{"help", "relative to the notebook's folder, also after %cd", ""},
		{"runs", "2 of 2", ""},
		{"show a", "", ""},
		{"stop a", "", "finished"},
		{"resume a", "", "finished"},
		{"wait a", "a is finished, epoch 2 of 2", ""},
		{"wait none", "", `no run "none"`},
		{"stop none", "", `no run "none"`},
		{"stop", "", "write %hm stop RUN"},
		{"save a", "", "write %hm save RUN PATH"},
		{"save a run.safetensors", "bytes", ""},
		{"save a my run.safetensors", "my run.safetensors: ", ""},
		{"save a 'my run.safetensors'", "my run.safetensors: ", ""},
		{`save a "run.safetensors"`, "run.safetensors: ", ""},
		{"save none x.safetensors", "", `no run "none"`},
		{"save a no/folder", "", "no/folder"},
		{"stop aa", "", `there is no run "aa" (did you mean "a"?)`},
		{"dance", "", "%hm help lists the lines"},
		{"resmue a", "", `%hm resmue is unknown (did you mean "resume"?); %hm help lists the lines`},
		{"sweep runs", "", "runs is not the directory of a sweep"},
	} {
		out, err := run(c.line)
		if !strings.Contains(out, c.out) || !strings.Contains(err, c.err) || (c.err == "") != (err == "") {
			t.Errorf("%%hm %s: %q, %q", c.line, out, err)
		}
	}
	if out, err := run("sweep rates"); out+err != "" || !strings.Contains(page, "0 of 4 runs are finished") || !strings.Contains(page, ">method.learning_rate<") {
		t.Errorf("%q, %q; the page of a sweep is %s", out, err, page)
	}
	if !slices.Equal(shown, []string{"a"}) {
		t.Errorf("shown were %v", shown)
	}
	f, err := os.Open("run.safetensors")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := hm.LoadModel(f); err != nil {
		t.Error(err)
	}
	if left, _ := filepath.Glob(".*"); len(left) != 0 {
		t.Errorf("left are %v", left)
	}
	for line, want := range map[string]string{
		"": "runs sweep show stop resume wait save docs help", "s": "sweep show stop save", "stop ": "a", "save ": "a", "save k": "",
		"save a ": "", "dance ": "", "st": "stop",
	} {
		if got := strings.Join(m.Complete(line), " "); got != want {
			t.Errorf("%q is completed by %q, not %q", line, got, want)
		}
	}
	for state, end := range map[runs.State]func(string) error{"finished": func(string) error { return nil }, session.Stopped: s.Stop} {
		name := "waited-" + string(state)
		if err := s.Start(name, experiment(t, map[runs.State]int{"finished": 2, session.Stopped: 1_000_000}[state])); err != nil {
			t.Fatal(err)
		}
		if err := end(name); err != nil {
			t.Fatal(err)
		}
		out, err := run("wait " + name)
		if failed := state != "finished"; failed != strings.Contains(err, "%hm resume "+name) || failed == strings.Contains(out, "is finished") {
			t.Errorf("waiting for a run that is %s: %q, %q", state, out, err)
		}
	}
	if got := m.Inspect("resume"); !strings.Contains(got, "%hm resume RUN") || strings.Contains(got, "%hm stop") {
		t.Errorf("inspected: %s", got)
	}
}
