// Notices writes NOTICES, the licences of all modules that are linked into this project's programs:
//
//	go run ./internal/notices
//
// It refuses a module whose licence is not allowed. It uses only go list and the sources that Go
// keeps, so it needs no network.
package main

import (
	"fmt"
	"os"
)

// noticesFile is in the root of the module, where the program runs.
const noticesFile = "NOTICES"

func main() {
	text, err := current()
	if err == nil {
		err = os.WriteFile(noticesFile, text, 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "notices:", err)
		os.Exit(1)
	}
}

// current returns the text of NOTICES for the modules that are linked now.
func current() ([]byte, error) {
	linked, err := linked()
	if err != nil {
		return nil, err
	}
	tools, err := inTools()
	if err != nil {
		return nil, err
	}
	return notices(linked, tools)
}
