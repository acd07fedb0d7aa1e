package pretrained_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/boltzmann"
	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/helmholtz-go/helmholtz/runs/pretrained"
)

var update = flag.Bool("update", false, "write the catalogue anew from the machines of the clone")

// made makes a machine called small in a temporary folder, the only folder that is searched.
func made(t *testing.T) (folder string, card pretrained.Card) {
	t.Helper()
	t.Chdir(t.TempDir()) // outside the clone
	folder = t.TempDir()
	t.Setenv(pretrained.Environment, folder)
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	set, err := dataset.Open("3by3")
	if err != nil {
		t.Fatal(err)
	}
	trained, err := boltzmann.CD().Epochs(2).BatchSize(100).Train(t.Context(), boltzmann.New(set.Shape()).Hidden(4), set, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	run, err := runs.Open(trained.Dir())
	if err != nil {
		t.Fatal(err)
	}
	about := pretrained.Card{Name: "small", About: "a", Strengths: "s", Weaknesses: "w", Licence: "l"}
	draw := func() (map[string][]byte, error) { return map[string][]byte{"samples.png": []byte("no picture")}, nil }
	card, err = pretrained.Add(t.Context(), run, about, pretrained.Evaluation{Split: "train", Seed: 1}, folder, draw, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return folder, card
}

// An added machine is found, opens with its parameters, and agrees with its card on all rows and on
// some of them.
func TestMachinesAreFoundAndChecked(t *testing.T) {
	_, card := made(t)
	m, err := pretrained.Find("small")
	if err != nil {
		t.Fatal(err)
	}
	if m.Evaluation != card.Evaluation || m.Published || m.Evaluation.SE <= 0 || m.Epochs != 2 || len(m.Processors) != 1 {
		t.Errorf("the machine is %+v", m)
	}
	if _, err := boltzmann.OpenPretrained("small"); err != nil {
		t.Error(err)
	}
	for _, rows := range []int{0, 20} {
		result, err := m.Check(t.Context(), rows, nil)
		if err != nil {
			t.Fatal(err)
		}
		if !result.Agrees || rows == 0 && result.Now.Value != card.Evaluation.Value {
			t.Errorf("with %d rows: %+v", rows, result)
		}
	}
	m.Evaluation.Value += 1.1 * m.Evaluation.SE
	if result, err := m.Check(t.Context(), 0, nil); err != nil || result.Agrees {
		t.Errorf("a card that is wrong by more than a standard error: %v, %v", result, err)
	}
	m.Evaluation.Value += 0.1
	if result, err := m.Check(t.Context(), 200, nil); err != nil || result.Agrees {
		t.Errorf("a card that is wrong by far more on fewer rows: %v, %v", result, err)
	}
}

// An altered or lost file is refused by name, and so is a card that differs from the published one.
func TestAlteredMachinesAreRefused(t *testing.T) {
	folder, card := made(t)
	for name := range card.Files {
		path := filepath.Join(folder, "small", name)
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for what, damage := range map[string]func() error{
			"altered": func() error { return os.WriteFile(path, append(bytes.Clone(whole[1:]), 'x'), 0o600) },
			"lost":    func() error { return os.Remove(path) },
		} {
			if err := damage(); err != nil {
				t.Fatal(err)
			}
			if _, err := pretrained.Find("small"); err == nil || !strings.Contains(err.Error(), path) {
				t.Errorf("%s %s: %v", name, what, err)
			}
		}
		if err := os.WriteFile(path, whole, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	foreign := filepath.Join(folder, "small", "epoch-1.safetensors")
	if err := os.WriteFile(foreign, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := pretrained.Find("small"); err == nil || !strings.Contains(err.Error(), foreign) {
		t.Errorf("a file that the card does not list: %v", err)
	}
	if err := os.Remove(foreign); err != nil {
		t.Fatal(err)
	}
	if catalogue, err := pretrained.CatalogueOf(filepath.Join(folder, "nowhere")); err == nil || !strings.Contains(err.Error(), "nowhere") {
		t.Errorf("the catalogue of a missing folder is %q, %v", catalogue, err)
	}
	catalogue, err := pretrained.CatalogueOf(folder)
	if err != nil {
		t.Fatal(err)
	}
	bracketed := filepath.Join(t.TempDir(), "a[1]")
	if err := os.CopyFS(bracketed, os.DirFS(folder)); err != nil {
		t.Fatal(err)
	}
	if same, err := pretrained.CatalogueOf(bracketed); err != nil || !bytes.Equal(same, catalogue) {
		t.Errorf("the catalogue of %s is %s, %v; want %s", bracketed, same, err, catalogue)
	}
	pretrained.SetCatalogue(t, catalogue)
	if m, err := pretrained.Find("small"); err != nil || !m.Published {
		t.Errorf("the machine of the catalogue: %v, %v", m.Published, err)
	}
	pretrained.SetCatalogue(t, bytes.Replace(catalogue, []byte(`"card": "`), []byte(`"card": "0`), 1))
	if _, err := pretrained.Find("small"); err == nil || !strings.Contains(err.Error(), "not the published card") {
		t.Errorf("a card that is not the published one: %v", err)
	}
}

// Add refuses everything that would not make a machine, and names the reason.
func TestAddRefuses(t *testing.T) {
	folder, _ := made(t)
	m, err := pretrained.Find("small")
	if err != nil {
		t.Fatal(err)
	}
	run, err := runs.Open(m.Dir)
	if err != nil {
		t.Fatal(err)
	}
	whole := pretrained.Card{Name: "other", About: "a", Strengths: "s", Weaknesses: "w", Licence: "l"}
	for says, alter := range map[string]func(*pretrained.Card){
		"for licence":        func(c *pretrained.Card) { c.Licence = "" },
		"lower-case letters": func(c *pretrained.Card) { c.Name = "../other" },
		"exists":             func(c *pretrained.Card) { c.Name = "small" },
		"published machine":  func(c *pretrained.Card) { c.Name = pretrained.Catalogue()[0].Name },
	} {
		about := whole
		alter(&about)
		if _, err := pretrained.Add(t.Context(), run, about, pretrained.Evaluation{Split: "train"}, folder, nil, nil, nil); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v does not say %q", err, says)
		}
	}
	if _, err := pretrained.Add(t.Context(), run, whole, pretrained.Evaluation{Split: "dev"}, folder, nil, nil, nil); err == nil || !strings.Contains(err.Error(), `"dev"`) {
		t.Errorf("an unknown split: %v", err)
	}
}

// The error for a missing machine of the catalogue tells how to get it. Get fetches it as a module,
// with the Go command's settings, and verifies it; an altered module is refused.
func TestGetFetchesTheModule(t *testing.T) {
	folder, _ := made(t)
	catalogue, err := pretrained.CatalogueOf(folder)
	if err != nil {
		t.Fatal(err)
	}
	pretrained.SetCatalogue(t, catalogue)
	t.Setenv(pretrained.Environment, "")
	_, err = pretrained.Find("small")
	if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "helmholtz pretrained get small") {
		t.Errorf("a machine that is not there: %v", err)
	}
	if _, err := pretrained.Find("smal"); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "small") {
		t.Errorf("a mistyped name: %v", err)
	}
	t.Setenv("GOFLAGS", "-modcacherw")
	t.Setenv("GONOSUMDB", "*")
	t.Setenv("GOMODCACHE", t.TempDir())
	t.Setenv("GOPROXY", "off")
	if _, err := pretrained.Get(t.Context(), "small"); err == nil || !strings.Contains(err.Error(), pretrained.Environment) {
		t.Errorf("without a network: %v", err)
	}
	t.Setenv("GOPROXY", proxy(t, folder, "v0.1.0", nil))
	m, err := pretrained.Get(t.Context(), "small")
	if err != nil || !m.Published {
		t.Fatalf("%+v, %v", m, err)
	}
	if again, err := pretrained.Find("small"); err != nil || again.Dir != m.Dir {
		t.Errorf("after it was fetched: %v, %v", again.Dir, err)
	}
	if err := os.RemoveAll(m.Dir); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOPROXY", proxy(t, folder, "v0.2.0", []byte("# altered\n")))
	if _, err := pretrained.Get(t.Context(), "small"); err == nil || !strings.Contains(err.Error(), "experiment.toml differs from the card's checksum") {
		t.Errorf("an altered module: %v", err)
	}
	if _, err := pretrained.Find("small"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the altered machine was kept: %v", err)
	}
}

// proxy writes a module of the machines in a folder, with a text appended to each experiment, in
// the layout of a module proxy, and returns its address.
func proxy(t *testing.T, folder, version string, text []byte) string {
	t.Helper()
	const module = "github.com/helmholtz-go/helmholtz/pretrained"
	root := t.TempDir()
	at := filepath.Join(root, filepath.FromSlash(module), "@v")
	if err := os.MkdirAll(at, 0o755); err != nil {
		t.Fatal(err)
	}
	mod := []byte("module " + module + "\n")
	var archive bytes.Buffer
	z := zip.NewWriter(&archive)
	add := func(name string, b []byte) {
		w, err := z.Create(module + "@" + version + "/" + name)
		if err == nil {
			_, err = w.Write(b)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	add("go.mod", mod)
	files, err := filepath.Glob(filepath.Join(folder, "small", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if filepath.Base(path) == "experiment.toml" {
			b = append(b, text...)
		}
		add("small/"+filepath.Base(path), b)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string][]byte{
		"list": []byte(version + "\n"), version + ".info": []byte(`{"Version": "` + version + `"}`), version + ".mod": mod, version + ".zip": archive.Bytes(),
	} {
		if err := os.WriteFile(filepath.Join(at, name), b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return "file://" + filepath.ToSlash(root)
}

// The program's catalogue lists the machines of the clone, whose files verify and open.
func TestCatalogueIsUpToDate(t *testing.T) {
	folder := filepath.Join("..", "..", "pretrained")
	want, err := pretrained.CatalogueOf(folder)
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("catalogue.json", want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(want, pretrained.Embedded()) {
		t.Error("catalogue.json is not of the machines in pretrained: go test ./runs/pretrained -update")
	}
	for _, p := range pretrained.Catalogue() {
		if m, err := pretrained.Find(p.Name); err != nil || !m.Published {
			t.Errorf("%s: published %v, %v", p.Name, m.Published, err)
		}
	}
}
