package engine

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

var (
	mutex   sync.Mutex
	engines = map[string]func() (Engine, error){}
)

// Register makes an engine known by name, as packages of engines do when they
// are imported. open is called when the engine is first wanted, and once only:
// it looks for what the engine computes on, and says what is missing and what to
// do. Register panics if the name is taken.
func Register(name string, open func() (Engine, error)) {
	mutex.Lock()
	defer mutex.Unlock()
	if _, taken := engines[name]; taken {
		panic("engine: " + name + " is registered twice")
	}
	engines[name] = sync.OnceValues(open)
}

// Open returns the engine of a name, the same each time, or the error with which
// it could not be opened.
func Open(name string) (Engine, error) {
	mutex.Lock()
	open, known := engines[name]
	mutex.Unlock()
	if !known {
		return nil, fmt.Errorf("no engine %q in this program: use one of %s", name, strings.Join(Names(), ", "))
	}
	e, err := open()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return e, nil
}

// Names are those of the engines that this program holds, whether or not they
// can be opened.
func Names() []string {
	mutex.Lock()
	defer mutex.Unlock()
	return slices.Sorted(maps.Keys(engines))
}
