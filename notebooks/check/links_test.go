package check

import (
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	// link matches the target of a Markdown link or image.
	link    = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ +(.+)$`)
	// spoken matches the characters that the anchor of a heading omits.
	spoken = regexp.MustCompile(`[^\p{L}\p{M}\p{Nd}\p{Pc} -]`)
	fenced = regexp.MustCompile("(?ms)^```.*?^```$")
)

// anchors returns the anchors of the headings of a text.
func anchors(text string) (all []string) {
	for _, match := range heading.FindAllStringSubmatch(fenced.ReplaceAllString(text, ""), -1) {
		all = append(all, strings.ReplaceAll(spoken.ReplaceAllString(strings.ToLower(match[1]), ""), " ", "-"))
	}
	return all
}

// prose returns the text of a page, or of the text cells of a notebook.
func prose(t *testing.T, path string) string {
	t.Helper()
	text := read(t, path)
	if filepath.Ext(path) == ".md" {
		return text
	}
	n, err := Parse([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	var cells []string
	for _, c := range n.Cells {
		if c.Type == "markdown" {
			cells = append(cells, string(c.Source))
		}
	}
	return strings.Join(cells, "\n")
}

// Links within this repository lead to existing files and headings.
func TestLinks(t *testing.T) {
	links := 0
	filesOf(t, []string{".md", ".ipynb"}, func(path string) {
		for _, match := range link.FindAllStringSubmatch(prose(t, path), -1) {
			to, err := url.Parse(match[1])
			if err != nil {
				t.Errorf("%s: %v", path, err)
				continue
			}
			if to.IsAbs() {
				continue
			}
			links++
			target := path
			if to.Path != "" {
				from := filepath.Dir(path)
				if filepath.Base(path) == "start.md" {
					from = filepath.Join(from, "..", "..") // where make site copies it
				}
				target = filepath.Join(from, filepath.FromSlash(to.Path))
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s links to %s: %v", path, match[1], err)
			} else if to.Fragment != "" && !slices.Contains(anchors(prose(t, target)), to.Fragment) {
				t.Errorf("%s links to %s, which has no such heading", path, match[1])
			}
		}
	})
	if links < 100 {
		t.Errorf("%d links were found", links)
	}
}
