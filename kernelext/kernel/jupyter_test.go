package kernel

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// jupyter registers this kernel and GoNB alone with a Jupyter of the test, and
// returns a function that runs a script of testdata with it. The test is
// skipped where Python lacks one of the modules, or Go one of its tools.
func jupyter(t *testing.T, modules ...string) func(script string, arguments ...string) {
	t.Helper()
	if testing.Short() {
		t.Skip("it takes minutes")
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	python := ""
	imports := "import " + strings.Join(append(modules, "jupyter_client"), ", ")
	for _, p := range []string{filepath.Join(root, "build", "venv", "bin", "python"), "python3"} {
		if exec.Command(p, "-c", imports).Run() == nil {
			python = p
			break
		}
	}
	if python == "" {
		t.Skipf("no Python can %s", imports)
	}
	tools, err := Find(Tools{Module: root})
	if err != nil {
		t.Skip(err)
	}
	program := filepath.Join(t.TempDir(), "helmholtz")
	data := t.TempDir()
	env := append(environment(os.Environ(), tools), "JUPYTER_DATA_DIR="+data)
	for _, command := range [][]string{
		{tools.Go, "build", "-o", program, "./cmd/helmholtz"},
		{program, "kernel", "install", "--module", root},
		{tools.GoNB, "--install", "-go_work=" + root},
	} {
		c := exec.Command(command[0], command[1:]...)
		c.Dir, c.Env = root, env
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", strings.Join(command, " "), err, out)
		}
	}
	return func(script string, arguments ...string) {
		t.Helper()
		c := exec.Command(python, append([]string{filepath.Join(root, "kernelext", "kernel", "testdata", script)}, arguments...)...)
		c.Dir, c.Env = t.TempDir(), append(env, "KERNEL="+Name)
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
			t.Errorf("%s: %v\n%s", script, err, text)
		} else {
			t.Logf("%s", text)
		}
	}
}

func TestAllOfGoNBWorksUnchanged(t *testing.T) {
	jupyter(t)("differential.py", "gonb", Name, t.TempDir())
}

func TestConformance(t *testing.T) {
	jupyter(t, "jupyter_kernel_test")("conformance.py")
}

func TestWithstands(t *testing.T) {
	jupyter(t, "psutil")("withstand.py", t.TempDir())
}

func TestSoak(t *testing.T) {
	jupyter(t, "psutil")("soak.py", t.TempDir(), "500")
}

func TestInTheBrowser(t *testing.T) {
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("there is no chromium")
	}
	jupyter(t, "jupyterlab", "playwright")("browser.py", t.TempDir(), chromium)
}
