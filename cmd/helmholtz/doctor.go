package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/helmholtz-go/helmholtz/hm/dataset"
	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/klauspost/cpuid/v2"
	"github.com/spf13/cobra"
)

func newDoctor() *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "Say what of a working installation is there, and how to get the rest",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			examine(c.OutOrStdout(), localEnvironment())
			return nil
		},
	}
}

// environment is what doctor looks at.
type environment struct {
	// look returns the path of a program, in the project's build folder or on
	// the PATH, and an error where there is none.
	look func(program string) (string, error)
	// kernels returns the folders of installed Jupyter kernels.
	kernels func() []string
}

func localEnvironment() environment {
	return environment{
		look: func(program string) (string, error) {
			for _, dir := range []string{"build/bin", "build/venv/bin"} {
				path := filepath.Join(dir, program)
				if info, err := os.Stat(path); err == nil && info.Mode()&0o111 != 0 {
					return path, nil
				}
			}
			return exec.LookPath(program)
		},
		kernels: func() []string {
			dirs := []string{"build/jupyter", os.Getenv("JUPYTER_DATA_DIR"), "/usr/local/share/jupyter", "/usr/share/jupyter"}
			if home, err := os.UserHomeDir(); err == nil {
				dirs = append(dirs, filepath.Join(home, ".local/share/jupyter"), filepath.Join(home, "Library/Jupyter"))
			}
			var found []string
			for _, dir := range dirs {
				if dir != "" {
					specs, _ := filepath.Glob(filepath.Join(dir, "kernels", "*", "kernel.json"))
					found = append(found, specs...)
				}
			}
			return found
		},
	}
}

// examine writes a line for each part of an installation.
func examine(w io.Writer, e environment) {
	line := func(found bool, what, detail string) {
		mark := "ok"
		if !found {
			mark = "--"
		}
		fmt.Fprintf(w, "%s  %-10s %s\n", mark, what, detail)
	}
	program := func(name, remedy string) {
		if path, err := e.look(name); err == nil {
			line(true, name, path)
		} else {
			line(false, name, "not found: "+remedy)
		}
	}
	program("go", "install Go 1.26 or later from https://go.dev/dl")
	for _, tool := range []string{"gonb", "goimports", "gopls"} {
		program(tool, "make notebook installs it")
	}
	program("jupyter", "make notebook installs it")
	kernel := ""
	for _, spec := range e.kernels() {
		var content struct {
			Argv []string `json:"argv"`
		}
		b, err := os.ReadFile(spec)
		if err == nil && json.Unmarshal(b, &content) == nil && len(content.Argv) > 0 && strings.Contains(filepath.Base(content.Argv[0]), "gonb") {
			kernel = spec
			break
		}
	}
	if kernel != "" {
		line(true, "kernel", kernel)
	} else {
		line(false, "kernel", "no Jupyter kernel for Go: make notebook registers one")
	}
	var missing []string
	ready := 0
	for _, i := range dataset.List() {
		if i.Ready() {
			ready++
		} else {
			missing = append(missing, i.Name)
		}
	}
	if len(missing) == 0 {
		line(true, "data", fmt.Sprintf("all %d sets", ready))
	} else {
		line(false, "data", fmt.Sprintf("%d sets; without files: %s; helmholtz data get NAME fetches them, or set %s",
			ready, strings.Join(missing, ", "), dataset.Environment))
	}
	processor := cpuid.CPU.BrandName
	if processor == "" {
		processor = runtime.GOARCH
	}
	var vectors []string
	for _, f := range []cpuid.FeatureID{cpuid.AVX2, cpuid.FMA3, cpuid.AVX512F, cpuid.ASIMD} {
		if cpuid.CPU.Supports(f) {
			vectors = append(vectors, f.String())
		}
	}
	line(true, "CPU", strings.Join(append([]string{processor, fmt.Sprintf("%d threads", runtime.GOMAXPROCS(0))}, vectors...), ", "))
	if path, err := e.look("nvidia-smi"); err == nil {
		line(false, "GPU", "there is one ("+path+"), but this program has no engine for it: it computes on the CPU")
	} else {
		line(false, "GPU", "none found: training computes on the CPU")
	}
	cpu, err := engine.Open("cpu")
	if err != nil {
		line(false, "engine", err.Error())
		return
	}
	line(true, "engine", cpu.Describe())
}
