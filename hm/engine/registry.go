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

// Register makes an engine available by name; engine packages call it when they are imported. Open
// calls open once, the first time that the engine is opened. open looks for the hardware that the
// engine needs. If some is missing, open returns an error that names it and the remedy. Register
// panics if the name is taken.
func Register(name string, open func() (Engine, error)) {
	mutex.Lock()
	defer mutex.Unlock()
	if _, taken := engines[name]; taken {
		panic("engine: " + name + " is registered twice")
	}
	engines[name] = sync.OnceValues(open)
}

// Open returns the engine with this name, or the error from opening it. It returns the same engine
// each time.
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

// Names returns the engines built into this program, whether or not they can be opened.
func Names() []string {
	mutex.Lock()
	defer mutex.Unlock()
	return slices.Sorted(maps.Keys(engines))
}
