//go:build unix

package kernel

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestInJupyter drives the kernel with Jupyter's own clients, by the scripts of
// testdata. It takes minutes, and runs where HELMHOLTZ_JUPYTER_TESTS is set, as
// make kernel does; notebooks/jupyter.sh install installs what it needs.
//
// HELMHOLTZ_SOAK_CELLS is the number of cells of each soak, where it is set.
//
// The part in the browser runs where notebooks/jupyter.sh browser has installed what
// it needs.
func TestInJupyter(t *testing.T) {
	if os.Getenv("HELMHOLTZ_JUPYTER_TESTS") == "" {
		t.Skip("type make kernel")
	}
	j := register(t)
	for _, part := range []struct {
		name, script string
		arguments    []string
	}{
		{"all of GoNB works unchanged", "differential.py", []string{"gonb", Name, t.TempDir()}},
		{"the conformance suite", "conformance.py", nil},
		{"subshells", "subshells.py", nil},
		{"the console", "console.py", []string{t.TempDir()}},
		{"what it withstands", "withstand.py", []string{t.TempDir()}},
		{"widgets", "widgets.py", []string{Name, t.TempDir()}},
		{"a soak of the proxy alone", "soak.py", []string{t.TempDir(), cmp.Or(os.Getenv("HELMHOLTZ_SOAK_CELLS"), "2000"), "bare"}},
		{"a soak", "soak.py", []string{t.TempDir(), cmp.Or(os.Getenv("HELMHOLTZ_SOAK_CELLS"), "500")}},
	} {
		t.Run(part.name, func(t *testing.T) { j.run(t, j.python, part.script, part.arguments...) })
	}
	t.Run("a session in the browser", func(t *testing.T) {
		if err := j.inBrowser(t, "session"); err != nil {
			t.Skip(err)
		}
	})
}

// TestInBrowser uses the kernel in JupyterLab and Chromium, by the parts of browser.py. It
// takes minutes, and runs where HELMHOLTZ_BROWSER_TESTS is set, as make browser does.
func TestInBrowser(t *testing.T) {
	if os.Getenv("HELMHOLTZ_BROWSER_TESTS") == "" {
		t.Skip("type make browser")
	}
	j := register(t)
	for _, part := range []string{"begin", "guides", "session", "editing", "failing", "sweep", "interrupt", "restart", "everything"} {
		t.Run(part, func(t *testing.T) {
			if err := j.inBrowser(t, part); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// inBrowser runs a part of browser.py, whose notebooks and screenshots go to build/browser. An
// error says what it has not that it needs.
func (j jupyter) inBrowser(t *testing.T, part string) error {
	t.Helper()
	driver := filepath.Join(j.root, "build", "playwright", "bin", "python")
	chromium, err := exec.LookPath("chromium")
	if err == nil {
		err = exec.Command(driver, "-c", "import playwright").Run()
	}
	if err != nil {
		return fmt.Errorf("%w: notebooks/jupyter.sh browser installs what is missing", err)
	}
	j.run(t, driver, "browser.py", j.python, chromium, filepath.Join(j.root, "notebooks"), filepath.Join(j.root, "build", "browser", part), part)
	return nil
}

// jupyter is a Jupyter of the test, in which this kernel and GoNB alone are
// registered.
type jupyter struct {
	root, python string
	environment  []string
}

func register(t *testing.T) jupyter {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	tools, err := Find(Tools{Module: root})
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	program := filepath.Join(folder, "bin", "helmholtz")
	if err := os.Symlink(filepath.Join(root, "build", "site"), filepath.Join(folder, "site")); err != nil { // beside bin, as in build
		t.Fatal(err)
	}
	j := jupyter{root, python(t, root), append(environment(tools), "JUPYTER_DATA_DIR="+t.TempDir(), "KERNEL="+Name, "HELMHOLTZ_SITE_SERVED=1")}
	for _, command := range [][]string{
		{tools.Go, "build", "-o", program, "./cmd/helmholtz"},
		{program, "kernel", "install", "--module", root},
		{tools.GoNB, "--install", "-go_work=" + root},
	} {
		c := exec.Command(command[0], command[1:]...)
		c.Dir, c.Env = root, j.environment
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", strings.Join(command, " "), err, out)
		}
	}
	return j
}

// python returns the Python of the project, or else the machine's.
func python(t *testing.T, root string) string {
	t.Helper()
	const needed = "import jupyter_client, jupyter_console, jupyter_kernel_test, pexpect, psutil"
	for _, p := range []string{filepath.Join(root, "build", "venv", "bin", "python"), "python3"} {
		if exec.Command(p, "-c", needed).Run() == nil {
			return p
		}
	}
	t.Fatalf("no Python can %s: python3 -m pip install -r notebooks/requirements.txt", needed)
	return ""
}

// run runs a script of testdata by a Python, and fails if it does.
func (j jupyter) run(t *testing.T, python, script string, arguments ...string) {
	t.Helper()
	c := exec.Command(python, append([]string{filepath.Join(j.root, "kernelext", "kernel", "testdata", script)}, arguments...)...)
	c.Dir, c.Env = t.TempDir(), j.environment
	// To a file, not a pipe, which processes that are left would hold open.
	out, err := os.Create(filepath.Join(c.Dir, "output"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	c.Stdout, c.Stderr = out, out
	err = c.Run()
	text, readErr := os.ReadFile(out.Name())
	if readErr != nil {
		t.Fatal(readErr)
	}
	if err != nil {
		t.Fatalf("%s: %v\n%s", script, err, text)
	}
	t.Logf("%s", text)
}
