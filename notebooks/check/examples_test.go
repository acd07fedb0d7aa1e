package check

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// docs is the folder of the guides.
var docs = filepath.Join("..", "..", "docs")

// The page on writing your own names only examples that exist, and that the tests execute: their output is checked
// or their picture is.
func TestExamplesOfOnesOwn(t *testing.T) {
	links := regexp.MustCompile(`\[(Example\w*)\]\(([^)]+_test\.go)\)`).FindAllStringSubmatch(read(t, filepath.Join(docs, "own.md")), -1)
	if len(links) < 10 {
		t.Errorf("the page has %d examples", len(links))
	}
	for _, link := range links {
		text := read(t, filepath.Join(docs, link[2]))
		_, body, found := strings.Cut(text, "\nfunc "+link[1]+"() {")
		body, _, _ = strings.Cut(body, "\n}\n")
		drawn := regexp.MustCompile(`(golden\(t, |: )` + link[1] + `\b`).MatchString(text)
		if !found || !drawn && !strings.Contains(body, "// Output:") {
			t.Errorf("%s has no executed %s", link[2], link[1])
		}
	}
}

// The gallery has every picture of an example, each below code of that example.
func TestGallery(t *testing.T) {
	page := read(t, filepath.Join(docs, "gallery.md"))
	shown := map[string]bool{}
	words := func(code string) string { return strings.Join(strings.Fields(code), " ") } // indented in any way
	for _, figure := range regexp.MustCompile("(?s)\\[Example\\]\\(([^)]+)\\)\n\n```go\n([^`]+)\n```\n\n!\\[[^]]+\\]\\(([^)]+)\\)").FindAllStringSubmatch(page, -1) {
		if example := words(read(t, filepath.Join(docs, figure[1]))); !strings.Contains(example, words(figure[2])) {
			t.Errorf("%s does not have %s", figure[1], figure[2])
		}
		shown[filepath.Base(figure[3])] = true
	}
	pictures, err := filepath.Glob(filepath.Join(docs, "..", "plotting", "testdata", "*.png"))
	if err != nil || len(pictures) == 0 {
		t.Fatal(err)
	}
	for _, picture := range pictures {
		if name := filepath.Base(picture); !shown[name] {
			t.Errorf("the gallery lacks %s", name)
		}
	}
}
