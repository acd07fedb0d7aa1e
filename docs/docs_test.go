package docs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestPagesStandAlone(t *testing.T) {
	pages := Pages()
	if len(pages) < 10 {
		t.Fatalf("only %d guides", len(pages))
	}
	for _, p := range pages {
		if p.Title == "" || !strings.HasPrefix(p.Text, "# "+p.Title+"\n") {
			t.Errorf("%s begins with %.40q, not with a title", p.Name, p.Text)
		}
		if strings.Contains(p.Text, ".md)") || strings.Contains(p.Text, ".svg)") || strings.Contains(p.Text, "<img ") || strings.Contains(p.Text, "<div ") {
			t.Errorf("%s links to a file that a reader of the program does not have", p.Name)
		}
		if found, err := Find(p.Name); err != nil || found != p {
			t.Errorf("%s: found %q, %v", p.Name, found.Name, err)
		}
	}
	if _, err := Find("nothing"); err == nil || !strings.Contains(err.Error(), "train") {
		t.Errorf("for an unknown guide: %v, want the names", err)
	}
}

// A program finds the site beside its folder once the site is built.
func TestSite(t *testing.T) {
	build := t.TempDir()
	program := filepath.Join(build, "bin", "helmholtz")
	if page := siteOf(program); page != "" {
		t.Errorf("found %s without a site", page)
	}
	html := filepath.Join(build, "site", "html")
	if err := os.MkdirAll(html, 0o755); err != nil {
		t.Fatal(err)
	}
	want := filepath.Join(html, "index.html")
	if err := os.WriteFile(want, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if page := siteOf(program); page != want {
		t.Errorf("found %q, want %s", page, want)
	}
}
