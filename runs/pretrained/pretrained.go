// Package pretrained finds, fetches, checks and stores trained machines. A pretrained machine is
// the directory of a finished run with a card, which describes the training and the measurements.
// The machines of this project are in the folder pretrained of its repository. The folder is a separate
// module, so that programs that use the library do not download the machines:
//
//	run, err := hm.OpenPretrained("glyphs-nrws")
package pretrained

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/helmholtz-go/helmholtz/internal/file"
	"github.com/helmholtz-go/helmholtz/internal/names"
)

// Environment names the environment variable that holds a folder of pretrained machines.
const Environment = "HELMHOLTZ_PRETRAINED"

const (
	module   = "github.com/helmholtz-go/helmholtz"
	folder   = "pretrained" // folder of the clone, and last element of the module path
	cardFile = "card.json"
	mostCard = 1 << 20
	mostFile = 1 << 30
)

// catalogue lists the machines of this project, so that their names and cards are known even without their
// files.
//
//go:embed catalogue.json
var catalogue []byte

// Published is one of this project's machines.
type Published struct {
	Card
	Bytes int64  `json:"bytes"` // size of all files
	Sum   string `json:"card"`  // SHA-256 of the file of the card, which lists the SHA-256 of all other files
}

// Catalogue returns the machines of this project, sorted by name.
func Catalogue() []Published {
	var all []Published
	if err := json.Unmarshal(catalogue, &all); err != nil {
		panic("pretrained: the embedded catalogue: " + err.Error())
	}
	return all
}

// published returns the catalogue entry of a machine, and reports whether there is one.
func published(name string) (p Published, is bool) {
	all := Catalogue()
	i := slices.IndexFunc(all, func(p Published) bool { return p.Name == name })
	if i < 0 {
		return p, false
	}
	return all[i], true
}

// A Machine is a pretrained machine whose files are on this computer.
type Machine struct {
	Card
	Dir       string // directory of the run
	Published bool   // whether it is in the catalogue and its files are the published ones
}

// folders returns the folders that Find searches for machines, in order: the folder pretrained of the
// repository, if the working directory is inside a clone; the folder that HELMHOLTZ_PRETRAINED names;
// and a folder in the user's cache, which only Get fills.
func folders() (all []string) {
	if root := clone(); root != "" {
		all = append(all, filepath.Join(root, folder))
	}
	if own := os.Getenv(Environment); own != "" {
		all = append(all, own)
	}
	if cache := cached(); cache != "" {
		all = append(all, cache)
	}
	return all
}

// cached returns the folder for machines in the user's cache, or "" if the user has no cache directory.
func cached() string {
	cache, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(cache, "helmholtz", folder)
}

var moduleLine = regexp.MustCompile(`(?m)^module ` + regexp.QuoteMeta(module) + `\r?$`)

// clone returns the root of the clone around the working directory, or "" if there is none.
func clone() string {
	dir, err := os.Getwd()
	if err != nil {
		return ""
	}
	for ; ; dir = filepath.Dir(dir) {
		text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && moduleLine.Match(text) {
			return dir
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
	}
}

// Find returns the machine with a name from the first folder in which it is intact. It reads all files
// of the machine and returns an error if any differs from the card or, for a machine of the catalogue,
// from the published files.
func Find(name string) (Machine, error) {
	if err := checkName(name); err != nil {
		return Machine{}, err
	}
	searched := folders()
	var damaged error
	for _, folder := range searched {
		dir := filepath.Join(folder, name)
		if _, err := os.Stat(filepath.Join(dir, cardFile)); err != nil {
			continue
		}
		m, err := read(dir, name)
		if err == nil {
			return m, nil
		}
		damaged = cmp.Or(damaged, err)
	}
	if damaged != nil {
		return Machine{}, damaged
	}
	if p, is := published(name); is {
		return Machine{}, missing(fmt.Sprintf("the pretrained machine %s is not on this computer (looked in %s): run \"helmholtz pretrained get %[1]s\" (%[3]s), or set %s to the folder that has it",
			name, strings.Join(searched, ", "), size(p.Bytes), Environment))
	}
	all := known(searched)
	return Machine{}, missing(fmt.Sprintf("no pretrained machine is called %q%s (looked in %s); the machines are %s",
		name, names.Meant(name, all...), strings.Join(searched, ", "), strings.Join(all, ", ")))
}

// missing is the error for a machine whose files are not on this computer.
type missing string

func (m missing) Error() string { return string(m) }

func (missing) Unwrap() error { return fs.ErrNotExist }

var machineName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]*$`)

func checkName(name string) error {
	if !machineName.MatchString(name) {
		return fmt.Errorf("%q is not a valid name of a pretrained machine: use lower-case letters, digits and -, such as glyphs-nrws", name)
	}
	return nil
}

func known(folders []string) (all []string) {
	for _, p := range Catalogue() {
		all = append(all, p.Name)
	}
	for _, folder := range folders {
		entries, _ := os.ReadDir(folder)
		for _, entry := range entries {
			if _, err := os.Stat(filepath.Join(folder, entry.Name(), cardFile)); err == nil && machineName.MatchString(entry.Name()) {
				all = append(all, entry.Name())
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Names lists the machines of the catalogue and of the folders, sorted.
func Names() []string { return known(folders()) }

func read(dir, name string) (m Machine, err error) {
	path := filepath.Join(dir, cardFile)
	text, err := file.Read(path, mostCard)
	if err != nil {
		return m, err
	}
	damaged := func(path, what string) error {
		return fmt.Errorf("%s %s: restore it, or remove its folder and run \"helmholtz pretrained get %s\"", path, what, name)
	}
	p, is := published(name)
	if is && p.Sum != sum(text) {
		return m, damaged(path, "is not the published card")
	}
	if err := json.Unmarshal(text, &m.Card); err != nil {
		return m, damaged(path, "is not a card ("+err.Error()+")")
	}
	if m.Name != name || len(m.Files) == 0 {
		return m, damaged(path, fmt.Sprintf("is the card of %q with %d files", m.Name, len(m.Files)))
	}
	for of, want := range m.Files {
		if filepath.Base(of) != of {
			return m, damaged(path, fmt.Sprintf("lists %q, which is not a file name", of))
		}
		b, err := file.Read(filepath.Join(dir, of), mostFile)
		if err != nil {
			return m, damaged(filepath.Join(dir, of), "cannot be read ("+err.Error()+")")
		}
		if sum(b) != want {
			return m, damaged(filepath.Join(dir, of), "differs from the card's checksum")
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return m, err
	}
	for _, entry := range entries { // opening the run would read unlisted files
		if _, listed := m.Files[entry.Name()]; !listed && entry.Name() != cardFile && !strings.HasPrefix(entry.Name(), ".") {
			return m, damaged(filepath.Join(dir, entry.Name()), "is not listed on the card")
		}
	}
	m.Dir, m.Published = dir, is
	return m, nil
}

func sum(b []byte) string { return fmt.Sprintf("%x", sha256.Sum256(b)) }

func size(bytes int64) string { return fmt.Sprintf("%.1f MB", float64(bytes)/1e6) }

// Get returns a machine like Find. If Find does not find a machine of the catalogue, Get fetches it into
// the user's cache. The Go command downloads the module of pretrained machines, so the user's proxy and
// checksum settings apply. Get verifies every file.
func Get(ctx context.Context, name string) (Machine, error) {
	p, is := published(name)
	if !is {
		return Find(name)
	}
	if m, err := Find(name); err == nil {
		return m, nil
	}
	cache := cached()
	if cache == "" {
		return Machine{}, errors.New("this user has no cache directory to fetch into: set HOME or XDG_CACHE_HOME")
	}
	from, err := download(ctx)
	if err != nil {
		return Machine{}, fmt.Errorf("fetching the pretrained machine %s (%s): %w; or clone the repository and set %s to its folder %s", name, size(p.Bytes), err, Environment, folder)
	}
	m, err := read(filepath.Join(from, name), name)
	if err != nil {
		return Machine{}, fmt.Errorf("the version of the module of pretrained machines differs from this program's: upgrade the program: %w", err)
	}
	target := filepath.Join(cache, name)
	if err := os.RemoveAll(target); err != nil { // it may be of another version or incomplete
		return Machine{}, err
	}
	if err := file.MkdirAll(target); err != nil {
		return Machine{}, err
	}
	for _, of := range append(slices.Sorted(maps.Keys(m.Files)), cardFile) { // the card last: without it the machine does not count
		b, err := file.Read(filepath.Join(m.Dir, of), mostFile)
		if err == nil {
			err = file.WriteAside(filepath.Join(target, of), b)
		}
		if err != nil {
			return Machine{}, err
		}
	}
	return read(target, name)
}

// download downloads the module of machines with the Go command, and returns the module's directory.
func download(ctx context.Context) (string, error) {
	command := exec.CommandContext(ctx, "go", "mod", "download", "-json", module+"/"+folder+"@latest")
	command.Dir = os.TempDir() // outside of any module
	out, err := command.Output()
	var of struct{ Dir, Error string }
	if decode := json.NewDecoder(bytes.NewReader(out)).Decode(&of); decode == nil && of.Error != "" {
		return "", errors.New(of.Error)
	}
	if exit, is := errors.AsType[*exec.ExitError](err); is {
		return "", fmt.Errorf("go mod download: %s", bytes.TrimSpace(exit.Stderr))
	}
	if err == nil && of.Dir == "" {
		err = errors.New("go mod download named no directory")
	}
	return of.Dir, err
}
