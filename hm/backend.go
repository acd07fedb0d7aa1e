package hm

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	_ "github.com/helmholtz-go/helmholtz/hm/engine/cpu" // the default engine
)

// BackendVariable is the environment variable that names the backend of a
// process which does not choose one by UseBackend. Cells of a notebook and runs in
// the background share it.
const BackendVariable = "HELMHOLTZ_BACKEND"

// computing is the engine of the process.
var computing struct {
	sync.Mutex
	chosen backend
	fallen sync.Once // auto has said that it computes on the CPU
}

// backend is an engine by its name.
type backend struct {
	engine.Engine
	name string
}

// UseBackend chooses the engine that trains, evaluates and samples in this process:
//
//	cpu    the processor, which is the default
//	cuda   an NVIDIA GPU; the program has to import _ "github.com/helmholtz-go/helmholtz/gpu"
//	       and to be built with the tag cuda
//	auto   cuda where it can be had, and cpu elsewhere, which it says once on standard error
//
// It fails with what is missing and what to do, and the choice is then as before.
// Models and runs under way keep the engine that they began with. The backend is
// no part of an experiment: what one has begun another can resume.
func UseBackend(name string) error {
	computing.Lock()
	defer computing.Unlock()
	chosen, err := findBackend(name)
	if err == nil {
		computing.chosen = chosen
	}
	return err
}

// Device says what computes: the backend's name, and a line on what it runs on.
func Device() (name, description string, err error) {
	b, err := openBackend()
	if err != nil {
		return "", "", err
	}
	return b.name, b.Describe(), nil
}

// openBackend returns the engine of the process.
func openBackend() (backend, error) {
	computing.Lock()
	defer computing.Unlock()
	if computing.chosen.Engine == nil {
		name := cmp.Or(os.Getenv(BackendVariable), "cpu")
		chosen, err := findBackend(name)
		if err != nil {
			return backend{}, fmt.Errorf("%s=%s: %w", BackendVariable, name, err)
		}
		computing.chosen = chosen
	}
	return computing.chosen, nil
}

func findBackend(name string) (backend, error) {
	if name == "auto" {
		found, err := findBackend("cuda")
		if err == nil {
			return found, nil
		}
		computing.fallen.Do(func() { fmt.Fprintf(os.Stderr, "backend auto computes on the CPU: %v\n", err) })
		return findBackend("cpu")
	}
	switch known := engine.Names(); {
	case slices.Contains(known, name):
		e, err := engine.Open(name)
		return backend{e, name}, err
	case name == "cuda":
		return backend{}, errors.New(`the engine cuda is no part of this program: import _ "github.com/helmholtz-go/helmholtz/gpu" and build with -tags cuda, or use the backend cpu`)
	default:
		return backend{}, fmt.Errorf("no backend %q: use %s or auto", name, strings.Join(known, ", "))
	}
}
