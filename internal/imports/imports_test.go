// Package imports holds the test of which packages of this module may import
// which: imports run one way, from what a user sees to what computes.
package imports

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/helmholtz-go/helmholtz/"

// internal are the packages that anything may be built on.
var internal = []string{"internal/file", "internal/kernels", "internal/lists", "internal/memory", "internal/names", "internal/npy", "internal/numbers", "internal/philox", "internal/plainjson", "internal/safetensors", "internal/shell", "internal/statistics", "internal/work"}

// allowed are the packages of this module that each may import besides those of
// internal. A package that is not here may not be either: its place in the order
// has to be thought of first. What nobody uses any more does not stay.
var allowed = map[string][]string{
	"internal/elsewhere":     nil,
	"internal/english":       nil,
	"internal/file":          {"internal/names"},
	"internal/file/filetest": nil,
	"internal/fuzz":          nil,
	"internal/imports":       nil,
	"internal/kernels":       {"internal/philox", "internal/work"},
	"internal/lists":         nil,
	"internal/memory":        nil,
	"internal/names":         nil,
	"internal/npy":           {"internal/memory"},
	"internal/numbers":       {"internal/file", "internal/kernels"},
	"internal/philox":        nil,
	"internal/plainjson":     {"internal/names"},
	"internal/safetensors":   {"internal/npy", "internal/plainjson"},
	"internal/shell":         nil,
	"internal/statistics":    nil,
	"internal/work":          nil,

	"dataset":         nil,
	"dataset/parquet": {"dataset"},
	"runs":            {"dataset"},
	"runs/factorized": {"dataset", "runs"},
	"runs/parquet":    {"runs"},
	"runs/pretrained": {"dataset", "runs"},
	"runs/rivals":     {"dataset", "runs", "runs/factorized"},
	"runs/samples":    {"dataset", "runs", "runs/rivals"},
	"runs/runstest":   {"dataset", "internal/fuzz", "runs"},

	"fisher":               nil,
	"hm/engine":            nil,
	"hm/engine/oracle":     {"hm/engine"},
	"hm/engine/cpu":        {"hm/engine", "fisher"},
	"hm/engine/enginetest": {"hm/engine", "fisher", "hm/engine/oracle"},
	"gpu":                  {"hm/engine", "fisher"},

	"hm/deterministic": {"dataset", "runs", "runs/factorized"},
	"hm":               {"hm/engine", "hm/engine/cpu", "runs/factorized", "dataset", "runs", "runs/pretrained"},

	"hm/wasm": {"dataset", "hm", "runs"},

	"boltzmann/oracle":   nil,
	"boltzmann":          {"dataset", "runs/factorized", "runs", "runs/pretrained"},
	"boltzmann/energies": {"boltzmann", "dataset", "runs/factorized", "runs"},
	"boltzmann/general":  {"boltzmann", "dataset", "runs/factorized", "runs"},
	"boltzmann/updown":   {"boltzmann", "dataset", "runs"},

	"factors":             {"dataset", "runs/factorized", "runs"},
	"factors/autoencoder": {"dataset", "hm/engine", "runs/factorized", "runs"},
	"sequences":           {"boltzmann", "dataset", "fisher", "runs"},
	"plotting":            {"boltzmann", "hm", "dataset", "hm/engine", "runs"},

	// What a cell imports, and what the kernel's process runs.
	"kernelext":                  {"hm", "dataset", "runs", "kernelext/internal/session"},
	"kernelext/internal/session": {"hm", "dataset", "runs"},
	"kernelext/internal/proxy":   nil,
	"docs":                       nil,
	"kernelext/kernel":           {"docs", "hm", "dataset", "plotting", "runs", "kernelext", "kernelext/internal/proxy", "kernelext/internal/session"},

	"notebooks/cell":        {"dataset"},
	"notebooks/mixture":     {"dataset", "runs"},
	"notebooks/reproduce":   {"dataset", "plotting", "runs"},
	"notebooks/thesis":      {"boltzmann", "boltzmann/energies", "boltzmann/general", "boltzmann/updown", "factors", "factors/autoencoder", "hm", "hm/deterministic", "hm/engine", "hm/engine/oracle", "dataset", "plotting", "runs", "runs/rivals", "runs/samples", "sequences", "notebooks/reproduce"},
	"notebooks/check":       {"boltzmann", "boltzmann/general", "hm", "dataset", "runs", "plotting", "notebooks/cell", "notebooks/reproduce", "notebooks/thesis"},
	"cmd/live":              {"dataset", "hm", "runs"},
	"cmd/helmholtz":         {"cmd/helmholtz/command"},
	"cmd/helmholtz/command": {"docs", "boltzmann", "boltzmann/energies", "boltzmann/general", "factors", "factors/autoencoder", "gpu", "hm", "hm/deterministic", "dataset", "dataset/parquet", "hm/engine", "kernelext/kernel", "notebooks/reproduce", "notebooks/thesis", "plotting", "runs", "runs/parquet", "runs/pretrained", "runs/rivals", "runs/samples", "boltzmann/updown", "sequences"},
}

// inTests are the packages that the tests of any may import besides.
var inTests = []string{"boltzmann", "boltzmann/oracle", "factors", "runs/factorized", "internal/file/filetest", "internal/fuzz", "hm/deterministic", "hm/engine", "hm/engine/oracle", "hm/engine/enginetest", "hm/engine/cpu", "runs/runstest"}

// foreign are modules that only some packages may know of.
var foreign = map[string][]string{
	"github.com/janpfeifer/gonb": {"plotting"},
	"github.com/go-zeromq":       {"kernelext/internal/proxy"},
	"github.com/parquet-go":      {"dataset/parquet", "runs/parquet"},
	"gorgonia.org/cu":            {"gpu"},
}

func with(packages []string, more ...string) []string { return slices.Concat(packages, more) }

// listed is a package as go list describes it.
type listed struct {
	ImportPath                         string
	Imports, TestImports, XTestImports []string
}

// list returns the packages of this module as they are built with some tags.
func list(t *testing.T, tags string) (packages []listed) {
	t.Helper()
	command := exec.Command("go", "list", "-e", "-tags="+tags, "-json=ImportPath,Imports,TestImports,XTestImports", "./...")
	command.Dir = "../.." // the root of the module
	out, err := command.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		t.Fatalf("%v: %s", err, exit.Stderr)
	}
	if err != nil {
		t.Fatal(err)
	}
	decoder := json.NewDecoder(strings.NewReader(string(out)))
	for {
		var p listed
		err := decoder.Decode(&p)
		if err == io.EOF {
			return packages
		}
		if err != nil {
			t.Fatal(err)
		}
		p.ImportPath = strings.TrimPrefix(p.ImportPath, module)
		packages = append(packages, p)
	}
}

// readSources opens every folder of the module: go test takes a passed test as passed for as long as
// what the test itself opened is the same, and does not know what go list reads.
func readSources(t *testing.T) {
	t.Helper()
	err := filepath.WalkDir("../..", func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Name() == ".git" {
			return filepath.SkipDir
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestImportsRunOneWay(t *testing.T) {
	readSources(t)
	used := map[[2]string]bool{}
	for _, tags := range []string{"", "cuda", "purego"} {
		packages := list(t, tags)
		if len(packages) == 0 {
			t.Fatal("go list finds no packages")
		}
		for _, p := range packages {
			may, known := allowed[p.ImportPath]
			if strings.HasPrefix(p.ImportPath, "internal/") && slices.ContainsFunc(may, func(path string) bool { return !strings.HasPrefix(path, "internal/") }) {
				t.Errorf("%s may import %v: nothing in internal imports what is above it", p.ImportPath, may)
			}
			if !known {
				t.Errorf("%s is not on the list of this test: give it a place in the order of DESIGN.md", p.ImportPath)
				continue
			}
			if !strings.HasPrefix(p.ImportPath, "internal/") {
				may = with(may, internal...)
			}
			for _, imported := range p.Imports {
				check(t, p.ImportPath, imported, may)
				used[[2]string{p.ImportPath, strings.TrimPrefix(imported, module)}] = true
			}
			for _, imported := range slices.Concat(p.TestImports, p.XTestImports) {
				check(t, "a test of "+p.ImportPath, imported, with(may, with(with(inTests, internal...), p.ImportPath)...))
				used[[2]string{p.ImportPath, strings.TrimPrefix(imported, module)}] = true
			}
		}
	}
	for importer, may := range allowed {
		for _, imported := range may {
			if !used[[2]string{importer, imported}] {
				t.Errorf("%s may import %s, and does not: take it off the list of this test", importer, imported)
			}
		}
	}
}

func check(t *testing.T, importer, imported string, may []string) {
	t.Helper()
	for path, importers := range foreign {
		name := strings.TrimPrefix(importer, "a test of ")
		if (imported == path || strings.HasPrefix(imported, path+"/")) && !slices.Contains(importers, name) {
			t.Errorf("%s imports %s, which only %s may", importer, imported, strings.Join(importers, " and "))
		}
	}
	if own, ok := strings.CutPrefix(imported, module); ok && !slices.Contains(may, own) {
		t.Errorf("%s imports %s, and may import only %v of this module", importer, own, may)
	}
}

// TestOrderHasNoCycles follows the list from every package, with a path of those
// on the way.
func TestOrderHasNoCycles(t *testing.T) {
	var visit func(p string, path []string)
	visit = func(p string, path []string) {
		if slices.Contains(path, p) {
			t.Fatalf("%s may import itself by way of %v", p, path)
		}
		for _, next := range allowed[p] {
			if _, known := allowed[next]; !known {
				t.Errorf("%s may import %s, which is not on the list", p, next)
			}
			visit(next, append(path, p))
		}
	}
	for p := range allowed {
		visit(p, nil)
	}
}

// TestImageCopiesWhatItCompiles finds, in what the image copies before it compiles
// the library, the folder of every package of the module.
func TestImageCopiesWhatItCompiles(t *testing.T) {
	dockerfile, err := os.ReadFile("../../Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	compiled, _, found := strings.Cut(string(dockerfile), "COPY --chown=${NB_USER} . .")
	if !found {
		t.Fatal("the Dockerfile nowhere copies the whole project")
	}
	var copied []string
	for line := range strings.Lines(compiled) {
		if fields := strings.Fields(line); len(fields) == 4 && fields[0] == "COPY" {
			copied = append(copied, fields[2])
		}
	}
	for p := range allowed {
		if !slices.ContainsFunc(copied, func(folder string) bool { return p == folder || strings.HasPrefix(p, folder+"/") }) {
			t.Errorf("the Dockerfile compiles the library before it copies %s", p)
		}
	}
}

// TestProgramsThatImportHMNeedFewModules lists the modules that a program requires if it imports hm alone.
func TestProgramsThatImportHMNeedFewModules(t *testing.T) {
	readSources(t)
	command := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}{{end}}{{end}}", "./hm")
	command.Dir = "../.."
	out, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	modules := strings.Fields(string(out))
	slices.Sort(modules)
	want := []string{"github.com/BurntSushi/toml", "github.com/klauspost/cpuid/v2", "golang.org/x/sync", "golang.org/x/sys", "golang.org/x/term", "gonum.org/v1/gonum"}
	if modules = slices.Compact(modules); !slices.Equal(modules, want) {
		t.Errorf("hm needs %v, want %v", modules, want)
	}
}

// TestOnlyStatisticsFactorises finds calls of gonum's factorisations that do not check their matrix first.
func TestOnlyStatisticsFactorises(t *testing.T) {
	err := filepath.WalkDir("../..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || strings.HasSuffix(path, "_test.go") || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "internal/statistics/matrices.go") {
			return err
		}
		source, err := os.ReadFile(path)
		for _, call := range []string{".Factorize(", ".Inverse(", "mat.LogDet(", "mat.Det("} {
			if strings.Contains(strings.ReplaceAll(string(source), "statistics"+call, ""), call) {
				t.Errorf("%s calls %s: call package statistics, which refuses what is not finite", path, call)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Anyone who distributes the program distributes NOTICES with it, which make notices writes.
func TestNoticesNameLinkedModules(t *testing.T) {
	readSources(t)
	notices, err := os.ReadFile("../../NOTICES")
	if err != nil {
		t.Fatal(err)
	}
	command := exec.Command("go", "list", "-deps", "-tags=cuda", "-f", "{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}{{end}}{{end}}", "./cmd/...", "./gpu")
	command.Dir = "../.."
	out, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	for name := range strings.Lines(string(out)) {
		if name := strings.TrimSpace(name); name != "" && !strings.Contains(string(notices), "\n"+name+", LICEN") && !strings.Contains(string(notices), "\n"+name+", COPYING") {
			t.Errorf("NOTICES has no licence of %s, which is linked: write it with make notices", name)
		}
	}
}
