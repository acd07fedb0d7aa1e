package command

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// bare returns a machine on which nothing is installed.
func bare() environment {
	return environment{
		look:      func(string) (string, error) { return "", os.ErrNotExist },
		goVersion: func(string) (string, error) { return "", os.ErrNotExist },
		kernels:   func() []string { return nil },
	}
}

// wantLines checks the beginnings of the lines that doctor prints.
func wantLines(t *testing.T, e environment, want ...string) {
	t.Helper()
	var out bytes.Buffer
	examine(&out, e)
	for _, w := range want {
		if !strings.Contains("\n"+out.String(), "\n"+w) {
			t.Errorf("doctor lacks a line %q:\n%s", w, out.String())
		}
	}
}

func TestDoctorSaysWhatToDo(t *testing.T) {
	wantLines(t, bare(), "--  go         not found: install Go 1.26", "--  gonb       not found: make notebook",
		"--  jupyter    not found: make notebook", "--  kernel     "+noKernel)
}

func TestDoctorKnowsTheVersionOfGo(t *testing.T) {
	for version, want := range map[string]string{
		"go version go1.26.0 linux/amd64":                               "ok  go         /bin/go, go1.26.0",
		"go version go1.26rc2 linux/amd64":                              "ok  go         /bin/go, go1.26rc2",
		"go version go1.30 darwin/arm64":                                "ok  go         /bin/go, go1.30",
		"go version go1.25.9 linux/amd64":                               "--  go         /bin/go is go1.25.9, too old: install Go 1.26",
		"go version go1.9 linux/amd64":                                  "--  go         /bin/go is go1.9, too old",
		"go version devel go1.27-91f2ad21e3 Tue Jan 6 2026 linux/arm64": "ok  go         /bin/go, go1.27-91f2ad21e3",
		"gcc go\n": `--  go         /bin/go version printed "gcc go": install Go 1.26`,
	} {
		e := bare()
		e.look = func(program string) (string, error) { return "/bin/" + program, nil }
		e.goVersion = func(path string) (string, error) { return version, nil }
		wantLines(t, e, want)
	}
	e := bare()
	e.look = func(program string) (string, error) { return "/bin/" + program, nil }
	e.goVersion = func(path string) (string, error) { return "", errors.New("exec format error") }
	wantLines(t, e, "--  go         /bin/go version: exec format error: install Go 1.26")
}

// TestDoctorAsksForTheGoOfTheModule compares doctor's Go version with go.mod.
func TestDoctorAsksForTheGoOfTheModule(t *testing.T) {
	text, err := os.ReadFile("../../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	if want := "\ngo " + strings.TrimPrefix(oldestGo, "go"); !strings.Contains(string(text), want+"\n") && !strings.Contains(string(text), want+".") {
		t.Errorf("go.mod does not ask for %s", oldestGo)
	}
}

func TestDoctorKnowsBothKernels(t *testing.T) {
	folder := t.TempDir()
	gonb := filepath.Join(folder, "gonb")
	if err := os.WriteFile(gonb, nil, 0o700); err != nil {
		t.Fatal(err)
	}
	kernels := map[string]string{}
	for name, argv := range map[string]string{
		"gonb":      `["` + gonb + `", "--kernel", "{connection_file}"]`,
		"helmholtz": `["` + gonb + `", "kernel", "run", "--go", "` + gonb + `", "{connection_file}"]`,
		"gone":      `["` + gonb + `", "kernel", "run", "--go", "/gone/go", "{connection_file}"]`,
		"gonbgone":  `["/gone/gonb", "--kernel", "{connection_file}"]`,
		"python3":   `["/bin/python3", "-m", "ipykernel_launcher", "-f", "{connection_file}"]`,
		"torn":      `["/somewhere/bin/gonb"`,
	} {
		kernels[name] = filepath.Join(folder, name+".json")
		if err := os.WriteFile(kernels[name], fmt.Appendf(nil, `{"argv": %s, "language": "any"}`, argv), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{
		"gonb": "ok  kernel     " + kernels["gonb"], "helmholtz": "ok  kernel     " + kernels["helmholtz"],
		"gone":     "--  kernel     " + kernels["gone"] + " starts /gone/go, which is missing: helmholtz kernel install registers it anew",
		"gonbgone": "--  kernel     " + kernels["gonbgone"] + " starts /gone/gonb, which is missing: gonb --install registers it anew",
		"python3":  "--  kernel ", "torn": "--  kernel ",
	} {
		e := bare()
		e.kernels = func() []string { return []string{kernels[name]} }
		wantLines(t, e, want)
	}
}
