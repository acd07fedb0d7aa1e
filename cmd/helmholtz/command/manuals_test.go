package command

import (
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/docs"
)

// Each section of the manuals is the manual of a command, with its examples.
func TestManuals(t *testing.T) {
	root, sections := newRoot(), 0
	for _, page := range docs.Pages() {
		for line := range strings.Lines(page.Text) {
			path, is := strings.CutPrefix(strings.TrimSpace(line), "## helmholtz")
			if page.Name != "commands" || !is {
				continue
			}
			sections++
			c, _, err := root.Find(strings.Fields(path))
			if err != nil || c.CommandPath() != "helmholtz"+path {
				t.Errorf("there is no command helmholtz%s (%v)", path, err)
			} else if description, examples := docs.Manual(c.CommandPath()); c.Long != description || c.Example != examples || !strings.HasPrefix(examples, "  helmholtz ") {
				t.Errorf("helmholtz%s: %q, %q", path, description, examples)
			}
		}
	}
	if sections < 30 {
		t.Errorf("%d sections are found", sections)
	}
}
