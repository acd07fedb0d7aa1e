package command

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/runs"
)

// familyTests finds places in a Go file that depend on the family of something: type assertions,
// type switch cases and type arguments that name a type of a family's package, and comparisons with
// the name of a family.
func familyTests(t *testing.T, name string, text any) (found []string) {
	t.Helper()
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, name, text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	packages := map[string]bool{}
	for _, i := range parsed.Imports {
		path, err := strconv.Unquote(i.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		for _, of := range []string{"hm", "hm/deterministic", "boltzmann", "boltzmann/energies", "boltzmann/general", "boltzmann/updown", "factors", "factors/autoencoder", "sequences"} {
			if path == "github.com/helmholtz-go/helmholtz/"+of {
				packages[path[strings.LastIndex(path, "/")+1:]] = true
				if i.Name != nil {
					packages[i.Name.Name] = true
				}
			}
		}
	}
	refuse := func(what string, all ...ast.Expr) {
		for _, e := range all {
			ast.Inspect(e, func(n ast.Node) bool {
				if s, is := n.(*ast.SelectorExpr); is {
					if of, is := s.X.(*ast.Ident); is && packages[of.Name] {
						found = append(found, files.Position(e.Pos()).String()+": "+what+" "+of.Name+"."+s.Sel.Name)
					}
				}
				return true
			})
		}
	}
	named := func(all ...ast.Expr) {
		for _, e := range all {
			if literal, is := e.(*ast.BasicLit); is && literal.Kind == token.STRING {
				if text, err := strconv.Unquote(literal.Value); err == nil && slices.Contains(runs.Families(), text) {
					found = append(found, files.Position(e.Pos()).String()+": comparison with the family "+text)
				}
			}
		}
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.TypeAssertExpr:
			if n.Type != nil {
				refuse("assertion of", n.Type)
			}
		case *ast.TypeSwitchStmt:
			for _, c := range n.Body.List {
				refuse("case of", c.(*ast.CaseClause).List...)
			}
		case *ast.IndexExpr:
			refuse("argument", n.Index)
		case *ast.IndexListExpr:
			refuse("argument", n.Indices...)
		case *ast.CaseClause:
			named(n.List...)
		case *ast.BinaryExpr:
			if n.Op == token.EQL || n.Op == token.NEQ {
				named(n.X, n.Y)
			}
		}
		return true
	})
	return found
}

// Commands test what a run can do, not which family it belongs to.
func TestNothingAsksForAFamily(t *testing.T) {
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if name := entry.Name(); strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") {
			for _, found := range familyTests(t, name, nil) {
				t.Error(found)
			}
		}
	}
	for _, code := range []string{
		"_, is := e.(hm.Experiment)", "_, is := e.(*hm.Run)", "switch e.(type) { case int, hm.Experiment: }", "switch f := e.(type) { case *hm.Model: _ = f }",
		"holds[hm.Experiment](dir)", "pair[int, hm.Model](dir)", `_ = family == "hm"`, `_ = "general-boltzmann" != family`, `switch family { case "deterministic": }`,
	} {
		text := "package p\nimport \"github.com/helmholtz-go/helmholtz/hm\"\nfunc f() { " + code + " }\n"
		if len(familyTests(t, "p.go", text)) != 1 {
			t.Errorf("%s is not found", code)
		}
	}
}
