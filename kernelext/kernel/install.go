//go:build unix

// Package kernel implements the Jupyter kernel "Go (Helmholtz)": GoNB, with a session in which data
// sets, models and running experiments outlive the cell. Cells use it through package kernelext.
package kernel

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/helmholtz-go/helmholtz/internal/file"
)

// Name is Jupyter's name for the kernel.
const Name = "helmholtz"

// displayName is the name that a notebook shows.
const displayName = "Go (Helmholtz)"

const module = "github.com/helmholtz-go/helmholtz"

// spec is Jupyter's kernel.json.
type spec struct {
	Argv          []string `json:"argv"`
	DisplayName   string   `json:"display_name"`
	Language      string   `json:"language"`
	InterruptMode string   `json:"interrupt_mode"`
}

// UserFolder returns the user's Jupyter data folder.
func UserFolder() (string, error) {
	if dir := os.Getenv("JUPYTER_DATA_DIR"); dir != "" {
		return dir, nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", err
	}
	if runtime.GOOS == "darwin" {
		return filepath.Join(home, "Library", "Jupyter"), nil
	}
	if dir := os.Getenv("XDG_DATA_HOME"); dir != "" {
		return filepath.Join(dir, "jupyter"), nil
	}
	return filepath.Join(home, ".local", "share", "jupyter"), nil
}

// Find fills in missing tools from the folder of this program, the build folder of the module, the
// folder in which go installs programs, and the PATH. If t.Module is empty, Find uses this
// library's module, if the working directory is in it or in a module that requires it. An error
// names the missing tool and the remedy.
func Find(t Tools) (Tools, error) {
	if t.Go == "" {
		path, err := exec.LookPath("go")
		if err != nil {
			return t, errors.New("go is not on the PATH: install Go 1.26 or later from https://go.dev/dl")
		}
		t.Go = path
	}
	var err error
	if t.Module == "" {
		if t.Module, err = findModule(t.Go); err != nil {
			return t, err
		}
	}
	for _, path := range []*string{&t.Go, &t.Module} {
		if *path, err = filepath.Abs(*path); err != nil {
			return t, err
		}
	}
	places := Places(t.Go, t.Module)
	for _, tool := range []struct {
		path          *string
		name, program string
	}{
		{&t.Go, "go", ""},
		{&t.GoNB, "gonb", gonb},
		{&t.GoImports, "goimports", "golang.org/x/tools/cmd/goimports"},
		{&t.GoPLS, "gopls", "golang.org/x/tools/gopls"},
	} {
		if *tool.path == "" {
			if *tool.path, err = FindProgram(tool.name, places); err != nil {
				return t, fmt.Errorf("%s is neither on the PATH nor in %s: in %s, run\n    go install %s",
					tool.name, strings.Join(existing(places), ", "), t.Module, tool.program)
			}
		}
		if *tool.path, err = filepath.Abs(*tool.path); err != nil {
			return t, err
		}
		if info, err := os.Stat(*tool.path); err != nil || info.IsDir() || info.Mode()&0o111 == 0 {
			return t, fmt.Errorf("%s: there is no program %q: name it with --%s", tool.name, *tool.path, tool.name)
		}
	}
	if b, err := file.Read(filepath.Join(t.Module, "go.mod"), file.Small); err != nil || !strings.Contains(string(b), "module "+module+"\n") {
		return t, fmt.Errorf("%q is not a directory of the module %s: name one with --module", t.Module, module)
	}
	return t, nil
}

// Places returns the folders in which Find looks for tools before it looks on the PATH. They may be
// empty or not exist. module is the directory of this library's module, or empty for the working
// directory.
func Places(goProgram, module string) []string {
	places := []string{filepath.Join(module, "build", "bin"), goValue(goProgram, "GOBIN")}
	if self, err := os.Executable(); err == nil {
		places = append([]string{filepath.Dir(self)}, places...)
	}
	for _, root := range filepath.SplitList(goValue(goProgram, "GOPATH")) {
		places = append(places, filepath.Join(root, "bin"))
	}
	return places
}

// FindProgram returns the absolute path of a program in one of several folders or, if it is in
// none, on the PATH.
func FindProgram(name string, places []string) (string, error) {
	path, err := exec.LookPath(name)
	for _, dir := range places {
		if found, err := exec.LookPath(filepath.Join(dir, name)); dir != "" && err == nil {
			return filepath.Abs(found)
		}
	}
	if err != nil {
		return "", err
	}
	return filepath.Abs(path)
}

func existing(places []string) []string {
	return slices.DeleteFunc(places, func(dir string) bool {
		info, err := os.Stat(dir)
		return err != nil || !info.IsDir()
	})
}

func goValue(goProgram, name string) string {
	out, _ := exec.Command(goProgram, "env", name).Output()
	return strings.TrimSpace(string(out))
}

// findModule returns the directory of this library's module if the working directory is in this
// module or in a module that requires it.
func findModule(goProgram string) (string, error) {
	out, err := exec.Command(goProgram, "list", "-m", "-f", "{{.Dir}}", module).Output()
	dir := strings.TrimSpace(string(out))
	if err != nil || dir == "" {
		return "", fmt.Errorf("the working directory is not in the module %s: change to a clone of it, or name one with --module", module)
	}
	return dir, nil
}

// Install registers the kernel, with the tools that Find returned, in a Jupyter data folder such as
// UserFolder or PREFIX/share/jupyter, and returns the directory of its registration.
func Install(folder string, t Tools) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	if vanishes(self, goValue(t.Go, "GOCACHE")) {
		return "", errors.New("go run builds only a temporary program: build it first with go build -o build/bin/helmholtz ./cmd/helmholtz, and run build/bin/helmholtz kernel install")
	}
	dir := filepath.Join(folder, "kernels", Name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("cannot register the kernel: %w: name a folder that you may write to with --prefix", err)
	}
	text, err := json.MarshalIndent(spec{
		Argv: []string{self, "kernel", "run", "--go", t.Go, "--gonb", t.GoNB, "--goimports", t.GoImports, "--gopls", t.GoPLS,
			"--module", t.Module, "{connection_file}"},
		DisplayName: displayName, Language: "go", InterruptMode: "message",
	}, "", "  ")
	if err != nil {
		return "", err
	}
	if err := file.WriteAside(filepath.Join(dir, "kernel.json"), append(text, '\n')); err != nil {
		return "", fmt.Errorf("cannot register the kernel: %w", err)
	}
	return dir, nil
}

// vanishes reports whether go run built a program: it is then in a temporary folder
// go-build…/b001/exe, or in Go's cache.
func vanishes(program, cache string) bool {
	dir := filepath.Dir(program)
	if real, err := filepath.EvalSymlinks(cache); err == nil { // like the program's path
		cache = real
	}
	return filepath.Base(dir) == "exe" && strings.Contains(dir, string(filepath.Separator)+"go-build") ||
		cache != "" && strings.HasPrefix(dir, cache+string(filepath.Separator))
}

// Remove undoes Install. It reports whether the kernel was registered.
func Remove(folder string) (bool, error) {
	dir := filepath.Join(folder, "kernels", Name)
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return true, os.RemoveAll(dir)
}

// Folders returns the absolute paths of the Jupyter data folders of JUPYTER_PATH, of the user and of
// the machine, each once.
func Folders() []string {
	folders := filepath.SplitList(os.Getenv("JUPYTER_PATH"))
	if user, err := UserFolder(); err == nil {
		folders = append(folders, user)
	}
	var unique []string
	for _, folder := range append(folders, "/usr/local/share/jupyter", "/usr/share/jupyter") {
		path, err := filepath.Abs(folder)
		if folder != "" && err == nil && !slices.Contains(unique, path) {
			unique = append(unique, path)
		}
	}
	return unique
}

// Registered returns the registrations of the kernel in Jupyter data folders.
func Registered(folders ...string) []string {
	var found []string
	for _, folder := range folders {
		dir := filepath.Join(folder, "kernels", Name)
		if _, err := os.Stat(filepath.Join(dir, "kernel.json")); err == nil {
			found = append(found, dir)
		}
	}
	return found
}
