package docs

import (
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
		if strings.Contains(p.Text, ".md)") || strings.Contains(p.Text, ".svg)") {
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
