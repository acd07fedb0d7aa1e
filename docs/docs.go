// Package docs embeds the guides of this folder, so that programs can show them offline.
package docs

import (
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/helmholtz-go/helmholtz/internal/lists"
	"github.com/helmholtz-go/helmholtz/internal/names"
)

//go:embed *.md
var files embed.FS

// Page is a guide.
type Page struct {
	Name  string // file name without .md
	Title string
	Text  string // Markdown without images and what only the site runs; links to other files are reduced to their text
}

var (
	images = regexp.MustCompile(`(?m)^(!\[[^\]]*\]\([^)]*\)|(<a [^>]*>)?<img [^>]*>(</a>)?)\n+|<a id[^>]*></a>`)
	live   = regexp.MustCompile(`(?s)<link .*</noscript>`)
	// unescaped undoes what Markdown needs.
	unescaped = strings.NewReplacer(`\*`, "*", `\<`, "<", `\-`, "-")
	links     = regexp.MustCompile(`\[([^\]]+)\]\(([^)]*)\)`)
)

// Names returns the names of the guides, sorted.
func Names() []string {
	all, _ := fs.Glob(files, "*.md") // the pattern is well formed
	for i, name := range all {
		all[i] = strings.TrimSuffix(name, ".md")
	}
	return all
}

// Pages returns the guides, sorted by name.
func Pages() []Page {
	return lists.Map(Names(), read)
}

func read(name string) Page {
	text, _ := files.ReadFile(name + ".md") // Names has found it
	text = live.ReplaceAll(text, []byte("A browser runs the machine on the site that `make site` builds."))
	shown := links.ReplaceAllStringFunc(images.ReplaceAllString(string(text), ""), func(link string) string {
		if parts := links.FindStringSubmatch(link); !strings.HasPrefix(parts[2], "http") {
			return parts[1]
		}
		return link
	})
	shown = unescaped.Replace(shown)
	title, _, _ := strings.Cut(shown, "\n")
	return Page{Name: name, Title: strings.TrimPrefix(title, "# "), Text: shown}
}

// Site returns the path of the site's first page, or "" if there is none. Both `make site` and the Docker image
// put the site next to the program's folder.
func Site() string {
	program, err := os.Executable()
	if err != nil {
		return ""
	}
	return siteOf(program)
}

func siteOf(program string) string {
	page := filepath.Join(filepath.Dir(filepath.Dir(program)), "site", "html", "index.html")
	if _, err := os.Stat(page); err != nil {
		return ""
	}
	return page
}

// Find returns the guide with the given name, or an error that lists all names.
func Find(name string) (Page, error) {
	if slices.Contains(Names(), name) {
		return read(name), nil
	}
	return Page{}, fmt.Errorf("there is no guide %q%s: the guides are %s", name, names.Meant(name, Names()...), strings.Join(Names(), ", "))
}

type manual struct{ description, examples string }

// manuals returns the manuals of all commands by their paths.
var manuals = sync.OnceValue(func() map[string]manual {
	all := map[string]manual{}
	text, _ := files.ReadFile("commands.md") // it is embedded
	_, first, _ := strings.Cut(string(text), "\n## ")
	for section := range strings.SplitSeq(first, "\n## ") {
		command, section, _ := strings.Cut(unescaped.Replace(strings.TrimRight(section, "\n")), "\n")
		lines := strings.Split(section, "\n")
		end := len(lines) // of the description: the indented lines at the end are examples
		for end > 0 && strings.HasPrefix(lines[end-1], "    ") {
			end--
			lines[end] = lines[end][2:]
		}
		all[command] = manual{strings.Trim(strings.Join(lines[:end], "\n"), "\n"), strings.Join(lines[end:], "\n")}
	}
	return all
})

// Manual returns the description and the examples of a command, named by its path such as "helmholtz eval", from the page
// commands. Both are empty if the page has no section for it.
func Manual(command string) (description, examples string) {
	of := manuals()[command]
	return of.description, of.examples
}
