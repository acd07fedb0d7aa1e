package runs

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

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
	if _, planned, err := addPlanned(dir, seeds); planned || err != nil {
		return err
	}
	held, err := holdSoon(dir)
	if errors.Is(err, file.ErrLocked) {
		err = fmt.Errorf("another program begins seeds in %s: wait for it, or choose another directory", dir)
	}
	if err != nil {
		return notWritten(dir, err)
	}
	defer held.Release()
	all, planned, err := addPlanned(dir, seeds) // once more: another program may have added some
	if planned || err != nil {
		return err
	}
	line, err := marshalSealed(seedPlan{all})
	if err != nil {
		return err
	}
	err = errors.Join(held.WriteAside(planFile, line), held.RemoveLeftovers(func(name string) bool { return name == planFile }))
	return notWritten(dir, err)
}

// holdSoon is file.Hold of a directory that others hold for moments, for which it waits.
func holdSoon(dir string) (*file.Held, error) {
	for deadline := time.Now().Add(5 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		held, err := file.Hold(dir, lockFile)
		if !errors.Is(err, file.ErrLocked) || time.Now().After(deadline) {
			return held, err
		}
	}
}

// addPlanned adds to seeds those that are to be in a directory already, as such to come, and says
// whether the directory says so of all.
func addPlanned(dir string, seeds map[uint64]bool) (all []uint64, planned bool, err error) {
	there, err := readPlan(dir)
	if err != nil {
		return nil, false, err
	}
	for _, seed := range there {
		if !seeds[seed] {
			seeds[seed] = false
		}
	}
	all = slices.Sorted(maps.Keys(seeds))
	return all, slices.Equal(all, there), nil
}
