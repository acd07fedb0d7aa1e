//go:build !js

package main

import (
	"log"
	"os"

	"github.com/helmholtz-go/helmholtz/hm"
)

// main writes the model file of the page's machine, which WebAssembly then loads.
func main() {
	run, err := hm.OpenPretrained(machine)
	if err == nil {
		err = run.SaveModel(os.Stdout)
	}
	if err != nil {
		log.Fatal(err)
	}
}
