// Notices writes NOTICES, the licences of all modules that are linked into this project's programs,
// and the bill of materials:
//
//	go run ./internal/notices                  write NOTICES
//	go run ./internal/notices -sbom FILE       write the bill of materials of the program
//
// It refuses a module whose licence is not allowed. It uses only go list and the sources that Go
// keeps, so it needs no network.
package main

import (
	"flag"
	"fmt"
	"os"
)

// noticesFile is in the root of the module, where the program runs.
const noticesFile = "NOTICES"

func main() {
	sbom := flag.String("sbom", "", "write the bill of materials into a `file` instead")
	version := flag.String("version", "", "`version` of the program in the bill of materials")
	flag.Parse()
	if err := write(*sbom, *version); err != nil {
		fmt.Fprintln(os.Stderr, "notices:", err)
		os.Exit(1)
	}
}

func write(sbom, version string) error {
	linked, err := linked()
	if err != nil {
		return err
	}
	if sbom != "" {
		text, err := billOfMaterials(linked, version)
		if err != nil {
			return err
		}
		return os.WriteFile(sbom, text, 0o644)
	}
	tools, err := inTools()
	if err != nil {
		return err
	}
	text, err := notices(linked, tools)
	if err != nil {
		return err
	}
	return os.WriteFile(noticesFile, text, 0o644)
}
