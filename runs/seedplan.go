package runs

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/helmholtz-go/helmholtz/internal/file"
)

// planFile says, in the directory of several seeds, which there are to be.
const planFile = "seeds.json"

type seedPlan struct {
	Seeds []uint64 `json:"seeds"`
}

// readPlan reads which seeds there are to be in a directory; none where it does not
// say so, as those of earlier versions.
func readPlan(dir string) ([]uint64, error) {
	path := filepath.Join(dir, planFile)
	text, err := file.Read(path, file.Small)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var p seedPlan
	sealed, err := unmarshalSealed(text, &p)
	if err == nil && !sealed {
		err = errors.New("it has no checksum")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w: restore the file from a copy, or remove it, and the seeds are those whose directories are there", path, err)
	}
	return p.Seeds, nil
}

// writePlan adds seeds to those that there are to be in a directory, and to them those
// that are to be there already.
func writePlan(dir string, seeds map[uint64]bool) error {
	held, err := file.Hold(dir, lockFile)
	if errors.Is(err, file.ErrLocked) {
		err = fmt.Errorf("another program begins seeds in %s: wait for it, or choose another directory", dir)
	}
	if err != nil {
		return notWritten(dir, err)
	}
	defer held.Release()
	planned, err := readPlan(dir)
	if err != nil {
		return err
	}
	for _, seed := range planned {
		if !seeds[seed] {
			seeds[seed] = false // to come
		}
	}
	all := slices.Sorted(maps.Keys(seeds))
	if slices.Equal(all, planned) {
		return nil
	}
	line, err := marshalSealed(seedPlan{all})
	if err != nil {
		return err
	}
	err = errors.Join(held.WriteAside(planFile, line), held.RemoveLeftovers(func(name string) bool { return name == planFile }))
	return notWritten(dir, err)
}
