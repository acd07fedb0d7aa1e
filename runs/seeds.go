package runs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/file"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/internal/shell"
)

// Seeds are the runs of one experiment with several seeds. Each is an ordinary
// run in a directory of its own, seed-1, seed-2 and so on, within one
// directory.
type Seeds struct {
	Runs    []*Run // by seed, those that have a checkpoint
	Waiting int    // number of seeds that have none yet, of those that training set out to do
	dir     string
}

// Dir is the directory that the seeds' directories lie in, or that of the one
// run.
func (s *Seeds) Dir() string { return s.dir }

// String names the experiment, the number of its seeds and their directory, and gives the objective of
// the last epoch, of validation rows if there are any: the mean ± the standard deviation over the seeds.
func (s *Seeds) String() string {
	if s == nil || len(s.Runs) == 0 {
		return "no seeds that have a checkpoint"
	}
	text := fmt.Sprintf("%v: %s in %s", s.Runs[0].experiment, names.Count(len(s.Runs), "seed"), s.dir)
	if s.Waiting > 0 {
		text += fmt.Sprintf(", %d more without a checkpoint", s.Waiting)
	}
	of, rows := newCompared(s), "validation"
	last := of.Validation
	if math.IsNaN(last.Mean) {
		rows, last = "training", of.Train
	}
	if math.IsNaN(last.Mean) { // no epoch has ended
		return text
	}
	return fmt.Sprintf("%s; %s %s %s in the last epoch, mean ± sd", text, rows, s.objective().Name, last.Text(3))
}

// Finished says whether training has come to its end for all seeds.
func (s *Seeds) Finished() bool {
	return s.Waiting == 0 && !slices.ContainsFunc(s.Runs, func(r *Run) bool { return !r.Finished() })
}

// Over is the spread of a value over the seeds.
func (s *Seeds) Over(value func(*Run) float64) Spread { return SpreadOf(s.Runs, value) }

// mostSeeds are more than anybody waits for: each has a directory before the first is
// trained.
const mostSeeds = 10_000

// TrainSeeds trains as Train does with n seeds, that of the experiment and
// those that follow it, one after the other, each into a directory within dir.
// Seeds that dir holds already belong to it, and those that it was to hold when
// training was interrupted: finished ones are kept, the others go on or begin.
func TrainSeeds(ctx context.Context, e Experiment, set *dataset.Set, n int, dir string, recorders ...Recorder) (*Seeds, error) {
	if n < 1 || n > mostSeeds {
		return nil, fmt.Errorf("%d seeds: give at least 1, and at most %d", n, mostSeeds)
	}
	e, err := Resolve(e, set)
	if err != nil {
		return nil, err
	}
	if err := claimSeeds(e, dir, n, set); err != nil {
		return nil, err
	}
	all, err := ReadSeeds(dir)
	if err != nil {
		return nil, err
	}
	for _, there := range all {
		seed := there.Header().Seed // the rest may keep and measure otherwise than e
		if _, failure := Train(ctx, withSeed(e, seed), set, SeedDir(dir, seed), recorders...); failure != nil {
			seeds, _ := OpenSeeds(dir) // there may be no checkpoint yet
			return seeds, fmt.Errorf("seed %d: %w", seed, failure)
		}
	}
	return OpenSeeds(dir)
}

// claimSeeds writes down which seeds there are to be, n more and those of before, and
// makes their directories, for an interrupted training to know what is left.
func claimSeeds(e Experiment, dir string, n int, set *dataset.Set) error {
	first := e.Header().Seed
	last := e.Header()
	last.Seed += uint64(n - 1)
	if err := last.CheckSeeds(); err != nil {
		return err
	}
	there, err := sameSeeds(dir)
	if err != nil {
		return err
	}
	seeds := map[uint64]bool{} // whether they are there
	for seed := first; seed <= last.Seed; seed++ {
		seeds[seed] = false
	}
	for _, other := range there {
		seed := other.Header().Seed
		if err := sameButForSeed(SeedDir(dir, seed), other, e); err != nil {
			return err
		}
		seeds[seed] = true
	}
	if err := writePlan(dir, seeds); err != nil {
		return err
	}
	for _, seed := range slices.Sorted(maps.Keys(seeds)) {
		if seeds[seed] {
			continue
		}
		if err := Claim(withSeed(e, seed), set, SeedDir(dir, seed)); err != nil {
			return err
		}
	}
	return nil
}

// ReadSeeds reads the experiments of the seeds whose directories lie in one,
// by seed; none where it holds none, or is not there. It refuses a directory
// that holds directories of anything else, and seeds of different experiments.
func ReadSeeds(dir string) ([]Experiment, error) {
	seeds, err := sameSeeds(dir)
	if err == nil && len(seeds) == 0 {
		var planned []uint64
		if planned, err = readPlan(dir); len(planned) > 0 {
			err = fmt.Errorf("training in %s was interrupted before the first of its %d seeds was begun: give the command that began it again", dir, len(planned))
		}
	}
	return seeds, err
}

// sameSeeds is readSeeds, and refuses seeds of different experiments.
func sameSeeds(dir string) ([]Experiment, error) {
	seeds, err := readSeeds(dir)
	if err != nil {
		return nil, err
	}
	longest := 0
	for _, e := range seeds {
		longest = max(longest, e.Header().Epochs)
	}
	for _, e := range seeds {
		if err := sameButForSeed(SeedDir(dir, seeds[0].Header().Seed), withEpochs(seeds[0], longest), withEpochs(e, longest)); err != nil {
			return nil, err
		}
	}
	for _, e := range seeds {
		if h := e.Header(); h.Epochs < longest {
			return nil, fmt.Errorf("the seeds in %s are to train for different numbers of epochs (%d in %s, %d elsewhere), as when they are interrupted while they are given more: train --resume %s --epochs %d gives all of them as many",
				dir, h.Epochs, SeedDir("", h.Seed), longest, shell.Argument(dir), longest)
		}
	}
	return seeds, nil
}

// readSeeds is ReadSeeds, whether the seeds are of one experiment or not.
func readSeeds(dir string) ([]Experiment, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var seeds []Experiment
	for _, entry := range entries {
		name := entry.Name()
		seed, isSeed := seedOf(name)
		switch {
		case name == experimentFile:
			return nil, fmt.Errorf("%s is the directory of one run: choose another one for several seeds", dir)
		case isSeed:
			e, err := ExperimentIn(filepath.Join(dir, name))
			if errors.Is(err, os.ErrNotExist) {
				if err := refuseForeign(filepath.Join(dir, name)); err != nil {
					return nil, err
				}
				continue // a crash came before it
			}
			if err != nil {
				return nil, err
			}
			if is := e.Header().Seed; is != seed {
				return nil, fmt.Errorf("%s is of the run of seed %d: name its directory %s", filepath.Join(dir, name, experimentFile), is, SeedDir("", is))
			}
			seeds = append(seeds, e)
		case strings.HasPrefix(name, "."):
		case isRun(filepath.Join(dir, name)):
			return nil, fmt.Errorf("%s holds %s, which is not the run of a seed: name that, or a directory for the seeds of one experiment alone; the layers of one machine go on by the command that began them", dir, filepath.Join(dir, name))
		case entry.IsDir():
			return nil, fmt.Errorf("%s holds %s, which is not the run of a seed: name a directory of one run, or one for the seeds of one experiment alone", dir, name)
		}
	}
	slices.SortFunc(seeds, func(a, b Experiment) int { return cmp.Compare(a.Header().Seed, b.Header().Seed) })
	return seeds, nil
}

// OpenSeeds opens the runs of the seeds in a directory, finished or not, or the
// one run whose directory it is.
func OpenSeeds(dir string) (*Seeds, error) {
	if _, err := os.Stat(filepath.Join(dir, experimentFile)); !errors.Is(err, os.ErrNotExist) {
		run, err := Open(dir)
		if err != nil {
			return nil, err
		}
		return &Seeds{Runs: []*Run{run}, dir: dir}, nil
	}
	experiments, err := ReadSeeds(dir)
	if err != nil {
		return nil, err
	}
	planned, err := readPlan(dir)
	if err != nil {
		return nil, err
	}
	if len(experiments) == 0 {
		return nil, fmt.Errorf("%s is not the directory of a run, nor of several seeds: it holds no %s and no %s", dir, experimentFile, SeedDir("", 1))
	}
	s := &Seeds{dir: dir}
	for _, seed := range planned {
		if !slices.ContainsFunc(experiments, func(e Experiment) bool { return e.Header().Seed == seed }) {
			s.Waiting++
		}
	}
	for _, e := range experiments {
		path := SeedDir(dir, e.Header().Seed)
		if _, err := os.Stat(filepath.Join(path, checkpointFile)); errors.Is(err, os.ErrNotExist) {
			if err := refuseLostCheckpoint(path, e); err != nil {
				return nil, err
			}
			s.Waiting++
			continue
		}
		run, err := Open(path)
		if err != nil {
			return nil, err
		}
		s.Runs = append(s.Runs, run)
	}
	if len(s.Runs) == 0 {
		return nil, fmt.Errorf("no seed in %s has a checkpoint yet: train them for longer", dir)
	}
	return s, nil
}

const seedPrefix = "seed-"

// SeedDir is the directory of the run of a seed within that of all.
func SeedDir(dir string, seed uint64) string {
	return filepath.Join(dir, seedPrefix+strconv.FormatUint(seed, 10))
}

// seedOf is the seed of which a directory of this name is, if it is of one.
func seedOf(name string) (uint64, bool) {
	digits, isSeed := strings.CutPrefix(name, seedPrefix)
	seed, err := strconv.ParseUint(digits, 10, 64)
	return seed, isSeed && err == nil && SeedDir("", seed) == name
}

// sameButForSeed refuses an experiment other than that of a directory, whatever
// their seeds.
func sameButForSeed(dir string, there, here Experiment) error {
	_, err := compare(dir, there, withSeed(here, there.Header().Seed))
	return err
}

func withEpochs(e Experiment, epochs int) Experiment {
	h := e.Header()
	h.Epochs = epochs
	return e.WithHeader(h)
}

func withSeed(e Experiment, seed uint64) Experiment {
	h := e.Header()
	h.Seed = seed
	return e.WithHeader(h)
}

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
	sealed, err := unmarshalSealed(text, &p, "")
	if err == nil && !sealed {
		err = errNoSeal
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
	line, err := marshalSealed(seedPlan{all}, "")
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
