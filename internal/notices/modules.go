package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// module is a module whose packages are linked.
type module struct {
	Path, Version string
	Licenses      []license
}

// standard is the path of Go's standard library and runtime.
const standard = "std"

// listed is a package as go list describes it.
type listed struct {
	ImportPath, Dir string
	Root            string // root folder of Go, for a package of the standard library
	Standard        bool
	Imports         []string
	Module          *struct {
		Path, Version, Dir string
		Main               bool
	}
}

// platforms lists the platforms that the program is built for, as go list names them. Only the CUDA
// engine needs cgo.
var platforms = []struct{ system, processor, tags, cgo string }{
	{"linux", "amd64", "", "0"},
	{"linux", "amd64", "cuda", "1"},
	{"linux", "arm64", "", "0"},
	{"darwin", "arm64", "", "0"},
	{"windows", "amd64", "", "0"},
}

// linked returns the modules of the packages that are linked, on any platform, into the program or
// into programs that import this module's packages. It sorts them by path.
func linked() ([]module, error) {
	found := map[string]*module{}
	for _, p := range platforms {
		packages, err := list([]string{"GOOS=" + p.system, "GOARCH=" + p.processor, "CGO_ENABLED=" + p.cgo}, "-tags="+p.tags, "./...")
		if err != nil {
			return nil, err
		}
		var roots []string
		for path, l := range packages {
			if l.Module != nil && l.Module.Main && !strings.Contains(path, "/internal/") {
				roots = append(roots, path)
			}
		}
		if err := collect(found, packages, roots); err != nil {
			return nil, err
		}
	}
	return sorted(found), nil
}

// tools are the programs that notebooks/jupyter.sh builds in addition to helmholtz.
var tools = []string{"github.com/janpfeifer/gonb", "golang.org/x/tools/cmd/goimports", "golang.org/x/tools/gopls"}

func inTools() ([]module, error) {
	packages, err := list([]string{"GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0"}, tools...)
	if err != nil {
		return nil, err
	}
	found := map[string]*module{}
	if err := collect(found, packages, tools); err != nil {
		return nil, err
	}
	return sorted(found), nil
}

func sorted(found map[string]*module) (modules []module) {
	for _, path := range slices.Sorted(maps.Keys(found)) {
		modules = append(modules, *found[path])
	}
	return modules
}

// list returns descriptions of packages, and of everything that they import, by path.
func list(environment []string, arguments ...string) (map[string]listed, error) {
	command := exec.Command("go", append([]string{"list", "-deps", "-json=ImportPath,Dir,Root,Standard,Imports,Module"}, arguments...)...)
	command.Env = append(os.Environ(), environment...)
	out, err := command.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return nil, fmt.Errorf("%v: %s", command, exit.Stderr)
	}
	if err != nil {
		return nil, err
	}
	packages := map[string]listed{}
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var l listed
		switch err := decoder.Decode(&l); {
		case err == io.EOF:
			return packages, nil
		case err != nil:
			return nil, err
		}
		packages[l.ImportPath] = l
	}
}

func collect(found map[string]*module, packages map[string]listed, roots []string) error {
	seen := map[string]bool{}
	var visit func(path string) error
	visit = func(path string) error {
		l, known := packages[path]
		if seen[path] || !known { // C and the standard library's vendored packages are unknown
			return nil
		}
		seen[path] = true
		m := found[l.module()]
		if m == nil {
			m = &module{Path: l.module()}
			found[m.Path] = m
			if l.Module != nil {
				m.Version = l.Module.Version
			}
		}
		for _, imported := range l.Imports {
			if err := visit(imported); err != nil {
				return err
			}
		}
		return m.addLicenses(l)
	}
	for _, root := range roots {
		if err := visit(root); err != nil {
			return err
		}
	}
	return nil
}

func (l listed) module() string {
	if l.Standard {
		return standard
	}
	return l.Module.Path
}

// licenseFiles matches the names of files with a licence or a notice.
var licenseFiles = regexp.MustCompile(`(?i)^(un)?(licen[cs]e|copying|copyright|notice|patents)([-.].*)?$`)

// elsewhere lists further files, to which the licence of a module refers.
var elsewhere = map[string][]string{"github.com/golang/freetype": {"licenses/ftl.txt"}}

// addLicenses adds the licences in the folder of a package and in its parents, up to the module's
// folder.
func (m *module) addLicenses(l listed) error {
	root := l.Root
	if l.Standard {
		l.Dir = root // one licence covers all its packages
	} else {
		root = l.Module.Dir
	}
	var files []string
	for _, file := range elsewhere[m.Path] {
		files = append(files, filepath.Join(root, file))
	}
	for dir := l.Dir; ; dir = filepath.Dir(dir) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return err
		}
		for _, entry := range entries {
			if !entry.IsDir() && licenseFiles.MatchString(entry.Name()) && filepath.Ext(entry.Name()) != ".go" {
				files = append(files, filepath.Join(dir, entry.Name()))
			}
		}
		if dir == root {
			break
		}
	}
	for _, file := range files {
		name, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		if slices.ContainsFunc(m.Licenses, func(l license) bool { return l.File == name }) {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		m.Licenses = append(m.Licenses, license{File: name, Text: string(text)})
	}
	slices.SortFunc(m.Licenses, func(a, b license) int { return cmp.Compare(a.File, b.File) })
	return nil
}
