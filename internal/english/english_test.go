// Package english tests the sentences of the project: comments and texts of Go files that are not tests, and
// Markdown written by hand. It finds only what a machine can find; the rest is for readers.
//
// The files in the folder allowed list the offences that a Go or Markdown file may still have, one file a line:
//
//	hm/run.go 2 why they must stay
//
// A reason is needed only for offences that are meant to stay. The counts may only shrink: a file with fewer
// offences than listed fails as well. Lower the counts with go test ./internal/english -shrink; list the offences
// that are left with go test -v ./internal/english.
package english

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var shrink = flag.Bool("shrink", false, "lower the counts in the folder allowed to the offences that are left")

const root = "../.."

// rule finds an offence anywhere in a text, in lower case, and names the remedy.
type rule struct {
	words   []string // one of which the text must contain; looking for them first is what makes the test fast
	pattern *regexp.Regexp
	remedy  string
}

// rules apply to comments, string literals and Markdown.
var rules = []rule{
	{[]string{"that of", "those of"}, regexp.MustCompile(`\b(that|those) of\b`), "repeat the noun"},
	{[]string{"go on", "goes on", "up again"}, regexp.MustCompile(`\bgoe?s? on\b|\btak(en?|es) up again\b`), "write resume or continue"},
	{[]string{" away"}, regexp.MustCompile(`\b(leave|leaves|leaving|left) \S+ away\b`), "write omit"},
	{[]string{"give fewer"}, regexp.MustCompile(`\bgive fewer\b`), "write use fewer"},
	{[]string{" says"}, regexp.MustCompile(`\b(what|as) (\S+ ){1,4}says\b`), "name what is read there"},
	{[]string{" of "}, regexp.MustCompile(`(\b(nil|empty|false|zero|none|0)|"") of (one|an?|the|those|all)\b`), "write: or nil if"},
	{[]string{"where there", "where it"}, regexp.MustCompile(`\bwhere (there (is|are) (none|no)|it has none)\b`), "write: if there is no X"},
	{[]string{", 0 the first"}, regexp.MustCompile(`, 0 the first\b`), "write: counted from 0"},
	{[]string{"who"}, regexp.MustCompile(`\bwho(ever)? has\b`), "name the person"},
	{[]string{"what "}, regexp.MustCompile(`\bwhat (trains|computes|waits|draws|reads|writes|runs|stops|resumes)\b`), "name the agent"},
	{[]string{"test"}, regexp.MustCompile(`\btests? (holds?|says?)\b`), "write: a test checks"},
}

// inverted finds a sentence that begins with a word that should follow its main clause.
var inverted = regexp.MustCompile(`(?:^|[.?!:] )(Of|What|Where|Who) [^.?!]*(?:[.?!]|$)`)

// offences returns one line for every offence of a text.
func offences(text string) (found []string) {
	text = strings.Join(strings.Fields(text), " ")
	lower := strings.ToLower(text)
	contains := func(word string) bool { return strings.Contains(lower, word) }
	for _, r := range rules {
		if slices.ContainsFunc(r.words, contains) {
			for _, at := range r.pattern.FindAllString(lower, -1) {
				found = append(found, fmt.Sprintf("%q: %s", at, r.remedy))
			}
		}
	}
	if !strings.Contains(text, "Of ") && !strings.Contains(text, "Wh") {
		return found
	}
	for _, sentence := range inverted.FindAllString(text, -1) {
		if !strings.HasSuffix(sentence, "?") {
			found = append(found, fmt.Sprintf("%.40q: begin with the main clause", sentence))
		}
	}
	return found
}

// docOffences returns the offences in how the doc comment of a function or type begins.
func docOffences(name, doc string, function bool) (found []string) {
	words := strings.Fields(doc)
	if len(words) > 1 && !function && (words[0] == "A" || words[0] == "An" || words[0] == "The") {
		words = words[1:]
	}
	if len(words) < 2 || words[0] == "Deprecated:" || words[0] == name+"," || words[1] == "and" {
		return nil // of several names at once the verb follows later
	}
	verb := strings.TrimRight(words[1], ",:")
	switch {
	case words[0] != name:
		if ast.IsExported(name) {
			return []string{fmt.Sprintf("the comment of %s begins with %q: begin with its name", name, words[0])}
		}
	case !function && (verb == "are" || strings.HasSuffix(name, "s")), function && verb == "is" && len(words) > 2 && (words[2] == "like" || words[2] == "for"):
	case !strings.HasSuffix(verb, "s"), function && (verb == "is" || verb == "says" || verb == "was"):
		return []string{fmt.Sprintf("%q: write %s returns, reports, draws, ...", words[0]+" "+verb, name)}
	}
	return nil
}

// goOffences returns the offences of a Go file, each with its line.
func goOffences(t *testing.T, path string, source []byte) (found []string) {
	t.Helper()
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	if ast.IsGenerated(file) {
		return nil
	}
	at := func(pos token.Pos, offences []string) {
		for _, o := range offences {
			found = append(found, fmt.Sprintf("%s:%d: %s", path, files.Position(pos).Line, o))
		}
	}
	for _, comment := range file.Comments {
		at(comment.Pos(), offences(comment.Text()))
	}
	ast.Inspect(file, func(node ast.Node) bool {
		switch n := node.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.Field:
			n.Tag = nil // no sentence
		case *ast.BasicLit:
			if n.Kind == token.STRING {
				if text, err := strconv.Unquote(n.Value); err == nil {
					at(n.Pos(), offences(text))
				}
			}
		case *ast.FuncDecl:
			at(n.Pos(), docOffences(n.Name.Name, n.Doc.Text(), true))
		case *ast.GenDecl:
			if n.Tok == token.TYPE && !n.Lparen.IsValid() {
				spec := n.Specs[0].(*ast.TypeSpec)
				at(n.Pos(), docOffences(spec.Name.Name, n.Doc.Text(), false))
			}
		case *ast.TypeSpec:
			at(n.Pos(), docOffences(n.Name.Name, n.Doc.Text(), false))
		}
		return true
	})
	return found
}

// markdownOffences returns the offences of a Markdown file outside of its code, each with the line of its paragraph.
func markdownOffences(path, source string) (found []string) {
	paragraph, start, code := "", 0, false
	end := func() {
		for _, o := range offences(paragraph) {
			found = append(found, fmt.Sprintf("%s:%d: %s", path, start, o))
		}
		paragraph = ""
	}
	for i, line := range strings.Split(source, "\n") {
		trimmed := strings.TrimSpace(line)
		if strings.HasPrefix(trimmed, "```") {
			code = !code
			end()
			continue
		}
		if code || strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "#") {
			end()
			continue
		}
		if trimmed == "" || strings.HasPrefix(trimmed, "- ") || strings.HasPrefix(trimmed, "|") {
			end()
		}
		if trimmed == "" {
			continue
		}
		if paragraph == "" {
			start = i + 1
		}
		paragraph += " " + strings.TrimLeft(trimmed, "-|> ")
	}
	end()
	return found
}

// found returns the offences of every file of the project, by its path from the root.
func found(t *testing.T) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(root, path)
		name = filepath.ToSlash(name)
		if entry.IsDir() {
			if name != "." && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "testdata" || entry.Name() == "node_modules" || name == "build" || name == "shared") {
				return filepath.SkipDir
			}
			return nil
		}
		goFile := strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go")
		markdown := strings.HasSuffix(name, ".md") && name != "notebooks/RESULTS.md" && !strings.HasPrefix(name, "notebooks/results/") // these are generated
		if !goFile && !markdown {
			return nil
		}
		source, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if markdown {
			all[name] = markdownOffences(name, string(source))
		} else {
			all[name] = goOffences(t, name, source)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// allowance is a line of a list: how many offences a file may have, and why, if they are to stay.
type allowance struct {
	count  int
	reason string
}

// readList reads a list of the folder allowed.
func readList(t *testing.T, path string) map[string]allowance {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	list := map[string]allowance{}
	for line := range strings.Lines(string(text)) {
		fields := strings.SplitN(strings.TrimSpace(line), " ", 3)
		if len(fields) < 2 {
			t.Fatalf("%s: %q is not a file and a count", path, line)
		}
		count, err := strconv.Atoi(fields[1])
		if _, twice := list[fields[0]]; err != nil || count < 1 || twice {
			t.Fatalf("%s: %q is not one file and a count of at least 1", path, line)
		}
		list[fields[0]] = allowance{count, strings.Join(fields[2:], "")}
	}
	return list
}

// writeList writes a list with no more offences than there are, and removes it if nothing is left.
func writeList(t *testing.T, path string, list map[string]allowance, found map[string][]string) {
	t.Helper()
	var text bytes.Buffer
	for _, file := range slices.Sorted(maps.Keys(list)) {
		if count := min(list[file].count, len(found[file])); count > 0 {
			fmt.Fprintln(&text, strings.TrimSpace(fmt.Sprintf("%s %d %s", file, count, list[file].reason)))
		}
	}
	var err error
	if text.Len() == 0 {
		err = os.Remove(path)
	} else {
		err = os.WriteFile(path, text.Bytes(), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestSentences compares the offences of every file with its allowance.
func TestSentences(t *testing.T) {
	found := found(t)
	lists, err := filepath.Glob("allowed/*.txt") // one for each folder of the root
	if err != nil {
		t.Fatal(err)
	}
	allowed := map[string]allowance{}
	for _, path := range lists {
		list := readList(t, path)
		if *shrink {
			writeList(t, path, list, found)
		}
		maps.Copy(allowed, list)
	}
	for file, has := range found {
		switch may := allowed[file].count; {
		case len(has) > may:
			t.Errorf("%s has %d offences against plain English and may have %d:\n%s", file, len(has), may, strings.Join(has, "\n"))
		case len(has) < may && !*shrink:
			t.Errorf("%s has only %d offences: lower its count of %d with go test ./internal/english -shrink", file, len(has), may)
		case may > 0:
			t.Log(strings.Join(has, "\n"))
		}
	}
	for file := range allowed {
		if _, known := found[file]; !known && !*shrink {
			t.Errorf("%s is gone: remove it from internal/english/allowed with go test ./internal/english -shrink", file)
		}
	}
}
