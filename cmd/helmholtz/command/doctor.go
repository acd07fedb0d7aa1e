package command

import (
	"cmp"
	"encoding/json"
	"fmt"
	goversion "go/version"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/file"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/klauspost/cpuid/v2"
	"github.com/spf13/cobra"
)

func newDoctor() *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "Check the installation, and say how to get missing parts",
		Args:  noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			examine(c.OutOrStdout(), localEnvironment())
			return nil
		},
	}
}

// environment gives access to the parts that doctor examines.
type environment struct {
	// look returns the path of a program that the kernel's installation also finds, or an error if
	// there is none.
	look func(program string) (string, error)
	// goVersion returns the output of a Go program's version command.
	goVersion func(path string) (string, error)
	// kernels returns the paths of the descriptions, kernel.json, of installed Jupyter kernels.
	kernels func() []string
}

func localEnvironment() environment {
	return environment{
		look: programFinder(),
		goVersion: func(path string) (string, error) {
			out, err := exec.Command(path, "version").Output()
			return string(out), err
		},
		kernels: func() []string {
			var found []string
			for _, dir := range jupyterFolders() {
				specs, _ := filepath.Glob(filepath.Join(dir, "kernels", "*", "kernel.json"))
				found = append(found, specs...)
			}
			return found
		},
	}
}

func examine(w io.Writer, e environment) {
	line := func(found bool, what, detail string) {
		mark := "ok"
		if !found {
			mark = "--"
		}
		fmt.Fprintf(w, "%s  %-10s %s\n", mark, what, detail)
	}
	// either writes what was found, after a prefix, or else how to get it.
	either := func(what, before, found string, err error, missing string) {
		if err != nil {
			found, before = missing, ""
		}
		line(err == nil, what, before+found)
	}
	found, detail := goProgram(e)
	line(found, "go", detail)
	for _, tool := range []string{"gonb", "goimports", "gopls", "jupyter"} {
		path, err := e.look(tool)
		either(tool, "", path, err, "not found: make notebook installs it")
	}
	registered := 0
	for _, path := range e.kernels() {
		argv, remedy := startsGo(path)
		if argv == nil {
			continue
		}
		registered++
		missing := slices.IndexFunc(argv, func(argument string) bool {
			_, err := os.Stat(argument)
			return filepath.IsAbs(argument) && err != nil
		})
		if missing >= 0 {
			path += " starts " + argv[missing] + ", which is missing: " + remedy + " registers it anew"
		}
		line(missing < 0, "kernel", path)
	}
	if registered == 0 {
		line(false, "kernel", noKernel)
	}
	var missing []string
	sets := dataset.List()
	for _, i := range sets {
		if !i.Ready() {
			missing = append(missing, i.Name)
		}
	}
	detail = fmt.Sprintf("all %d sets", len(sets))
	if len(missing) > 0 {
		detail = fmt.Sprintf("%d sets; without files: %s; helmholtz data get NAME fetches them, or set %s",
			len(sets)-len(missing), strings.Join(missing, ", "), dataset.Environment)
	}
	line(len(missing) == 0, "data", detail)
	line(true, "CPU", processor())
	path, err := e.look("nvidia-smi")
	either("GPU", "there is one: ", path, err, "no nvidia-smi, so there seems to be none")
	for _, name := range engine.Names() {
		computes, err := engine.Open(name)
		if err == nil {
			detail = name + ": " + computes.Describe()
			for _, feature := range computes.Lacks() {
				detail += "; lacks " + string(feature)
			}
		}
		either("engine", "", detail, err, fmt.Sprint(err))
	}
	name, _, err := hm.Device()
	either("backend", "", name+" computes; "+hm.BackendVariable+" or --backend chooses another", err, fmt.Sprint(err))
}

// processor describes the processor and the code that computes on it.
func processor() string {
	sets, used := kernels.InstructionSets(), kernels.InstructionSet()
	text := fmt.Sprintf("%s, %d threads, %s kernels", cmp.Or(cpuid.CPU.BrandName, runtime.GOARCH), runtime.GOMAXPROCS(0), used)
	switch fastest := sets[len(sets)-1]; {
	case fastest != used:
		text += fmt.Sprintf("; the %s kernels are faster: unset HELMHOLTZ_CPU", fastest)
	case fastest == "portable":
		text += ", which are slow; there are faster ones for AVX2 and AVX-512 (amd64) and for arm64, in builds without the tag purego"
	}
	return text
}

// oldestGo is the oldest Go version that go.mod allows.
const oldestGo = "go1.26"

func goProgram(e environment) (ok bool, detail string) {
	const remedy = "install Go 1.26 or later from https://go.dev/dl"
	path, err := e.look("go")
	if err != nil {
		return false, "not found: " + remedy
	}
	text, err := e.goVersion(path)
	if err != nil {
		return false, fmt.Sprintf("%s version: %v: %s", path, err, remedy)
	}
	for word := range strings.FieldsSeq(text) {
		switch {
		case !goversion.IsValid(word):
		case goversion.Compare(word, oldestGo) < 0:
			return false, fmt.Sprintf("%s is %s, too old: %s", path, word, remedy)
		default:
			return true, path + ", " + word
		}
	}
	return false, fmt.Sprintf("%s version printed %q: %s", path, strings.TrimSpace(text), remedy)
}

// startsGo returns the command line of a kernel.json if it starts GoNB, or this program's kernel,
// which contains GoNB, and the command that registers the kernel.
func startsGo(path string) (argv []string, remedy string) {
	var content struct {
		Argv []string `json:"argv"`
	}
	b, err := file.Read(path, file.Small)
	if err != nil || json.Unmarshal(b, &content) != nil || len(content.Argv) == 0 {
		return nil, ""
	}
	switch argv := content.Argv; {
	case len(argv) > 2 && slices.Equal(argv[1:3], []string{"kernel", "run"}):
		return argv, "helmholtz kernel install"
	case strings.Contains(filepath.Base(argv[0]), "gonb"):
		return argv, "gonb --install"
	}
	return nil, ""
}
