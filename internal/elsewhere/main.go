// Command elsewhere type-checks packages and their tests for other systems and exits with
// 1 if one has an error. Unlike go vet, it compiles nothing:
//
//	go run ./internal/elsewhere windows/amd64,darwin/arm64 ./...
package main

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/tools/go/packages"
)

func main() {
	for system := range strings.SplitSeq(os.Args[1], ",") {
		goos, goarch, _ := strings.Cut(system, "/")
		loaded, err := packages.Load(&packages.Config{
			Mode:  packages.LoadAllSyntax,
			Tests: true,
			Env:   append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch),
		}, os.Args[2:]...)
		if err != nil {
			fmt.Fprintln(os.Stderr, "elsewhere:", err)
			os.Exit(1)
		}
		if packages.PrintErrors(loaded) > 0 {
			fmt.Fprintf(os.Stderr, "elsewhere: errors on %s; go vet with GOOS=%s and GOARCH=%s shows them, too\n", system, goos, goarch)
			os.Exit(1)
		}
	}
}
