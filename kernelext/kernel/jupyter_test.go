package kernel

import (
	"cmp"
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
// The part in the browser runs where there is chromium and its Python has the
// module playwright besides. Its screenshots go to build/browser.
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
		{"the console", "console.py", []string{t.TempDir()}},
		{"what it withstands", "withstand.py", []string{t.TempDir()}},
		{"widgets", "widgets.py", []string{Name, t.TempDir()}},
		{"a soak of the proxy alone", "soak.py", []string{t.TempDir(), cmp.Or(os.Getenv("HELMHOLTZ_SOAK_CELLS"), "2000"), "bare"}},
		{"a soak", "soak.py", []string{t.TempDir(), cmp.Or(os.Getenv("HELMHOLTZ_SOAK_CELLS"), "500")}},
	} {
		t.Run(part.name, func(t *testing.T) { j.run(t, part.script, part.arguments...) })
	}
	t.Run("the browser", func(t *testing.T) {
		chromium, err := exec.LookPath("chromium")
		if err != nil {
			t.Skip("there is no chromium")
		}
		if exec.Command(j.python, "-c", "import jupyterlab, playwright").Run() != nil {
			t.Skipf("%s -m pip install playwright", j.python)
		}
		j.run(t, "browser.py", filepath.Join(j.root, "build", "browser"), chromium)
	})
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
	program := filepath.Join(t.TempDir(), "helmholtz")
	j := jupyter{root, python(t, root), append(environment(os.Environ(), tools), "JUPYTER_DATA_DIR="+t.TempDir(), "KERNEL="+Name)}
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

// run runs a script of testdata, and fails if it does.
func (j jupyter) run(t *testing.T, script string, arguments ...string) {
	t.Helper()
	c := exec.Command(j.python, append([]string{filepath.Join(j.root, "kernelext", "kernel", "testdata", script)}, arguments...)...)
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
