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

// BackendVariable is the environment variable that names the backend of a process that does not
// call UseBackend. The cells of a notebook and runs in the background share it.
const BackendVariable = "HELMHOLTZ_BACKEND"

// computing holds the engine that the process uses.
var computing struct {
	sync.Mutex
	chosen backend
	fallen sync.Once // limits the report that auto computes on the CPU to one per process
}

type backend struct {
	engine.Engine
	name string
}

// UseBackend selects the engine that trains, evaluates and samples in this process:
//
//	cpu    the processor, which is the default
//	cuda   an NVIDIA GPU; the program must import _ "github.com/helmholtz-go/helmholtz/gpu"
//	       and be built with the tag cuda
//	auto   cuda if it is available, and otherwise cpu, which is reported once on standard error
//
// If the engine is not available, UseBackend returns an error that names what is missing and the
// remedy, and keeps the previous choice. Existing models and training in progress keep their engine.
// The backend is not part of an experiment: a run can resume on another backend.
func UseBackend(name string) error {
	computing.Lock()
	defer computing.Unlock()
	chosen, err := findBackend(name)
	if err == nil {
		computing.chosen = chosen
	}
	return err
}

// Device returns the name of the backend that the process uses, and a line that describes its hardware.
func Device() (name, description string, err error) {
	b, err := openBackend()
	if err != nil {
		return "", "", err
	}
	return b.name, b.Describe(), nil
}

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
		return backend{}, errors.New(`the engine cuda is not part of this program: import _ "github.com/helmholtz-go/helmholtz/gpu" and build with -tags cuda, or use the backend cpu`)
	default:
		return backend{}, fmt.Errorf("no backend %q: use %s or auto", name, strings.Join(known, ", "))
	}
}
