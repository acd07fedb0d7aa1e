// Command elsewhere type-checks packages and their tests for other systems and exits with
// 1 if one has an error. Unlike go vet, it compiles nothing:
//
//	go run ./internal/elsewhere windows/amd64,darwin/arm64 ./...
package main

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/tools/go/packages"
)

// standard is the folder of the standard library, which compiles on every system.
var standard = filepath.Join(build.Default.GOROOT, "src") + string(filepath.Separator)

func main() {
	for system := range strings.SplitSeq(os.Args[1], ",") {
		goos, goarch, _ := strings.Cut(system, "/")
		loaded, err := packages.Load(&packages.Config{
			Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports |
				packages.NeedDeps | packages.NeedTypes | packages.NeedTypesSizes,
			Tests:     true,
			Env:       append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch),
			ParseFile: parse,
		}, os.Args[2:]...)
		if err != nil {
			fmt.Fprintln(os.Stderr, "elsewhere:", err)
			os.Exit(1)
		}
		if printErrors(loaded) {
			fmt.Fprintf(os.Stderr, "elsewhere: errors on %s; go vet with GOOS=%s and GOARCH=%s shows them, too\n", system, goos, goarch)
			os.Exit(1)
		}
	}
}

// parse parses a file without the bodies of functions of the standard library, which take most of the time.
func parse(files *token.FileSet, name string, text []byte) (*ast.File, error) {
	f, err := parser.ParseFile(files, name, text, parser.AllErrors|parser.SkipObjectResolution)
	if f == nil || !strings.HasPrefix(name, standard) {
		return f, err
	}
	for _, d := range f.Decls {
		if function, is := d.(*ast.FuncDecl); is {
			function.Body = nil
		}
	}
	return f, err
}

// printErrors prints the errors of packages and of what they import, and reports whether there are any. It omits the
// errors in the standard library: without the bodies of functions, some imports are unused.
func printErrors(loaded []*packages.Package) (some bool) {
	packages.Visit(loaded, nil, func(p *packages.Package) {
		for _, err := range p.Errors {
			if !strings.HasPrefix(err.Pos, standard) {
				fmt.Fprintln(os.Stderr, err)
				some = true
			}
		}
	})
	return some
}
