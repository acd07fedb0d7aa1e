package runs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/helmholtz-go/helmholtz/dataset"
)

// Seeds are the runs of one experiment with several seeds. Each is an ordinary
// run in a directory of its own, seed-1, seed-2 and so on, within one
// directory.
type Seeds struct {
	Runs    []*Run // by seed, those that have a checkpoint
	Waiting int    // number of seeds that have none yet
	dir     string
}

// Dir is the directory that the seeds' directories lie in, or that of the one
// run.
func (s *Seeds) Dir() string { return s.dir }

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
// Seeds that dir holds already belong to it: finished ones are kept,
// interrupted ones are resumed.
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
	for _, e := range all {
		seed := e.Header().Seed
		if _, failure := Train(ctx, e, set, SeedDir(dir, seed), recorders...); failure != nil {
			seeds, _ := OpenSeeds(dir) // there may be no checkpoint yet
			return seeds, fmt.Errorf("seed %d: %w", seed, failure)
		}
	}
	return OpenSeeds(dir)
}

// claimSeeds makes the directories of n seeds, for an interrupted training to
// know what is left.
func claimSeeds(e Experiment, dir string, n int, set *dataset.Set) error {
	first := e.Header().Seed
	last := e.Header()
	last.Seed += uint64(n - 1)
	if err := last.CheckSeeds(); err != nil {
		return err
	}
	there, err := ReadSeeds(dir)
	if err != nil {
		return err
	}
	for _, other := range there {
		if err := sameButForSeed(SeedDir(dir, other.Header().Seed), other, e); err != nil {
			return err
		}
	}
	for seed := first; seed <= last.Seed; seed++ {
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
	seeds, err := readSeeds(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range seeds {
		if err := sameButForSeed(SeedDir(dir, seeds[0].Header().Seed), seeds[0], e); err != nil {
			return nil, err
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
			e, err := ReadExperiment(filepath.Join(dir, name, experimentFile))
			if errors.Is(err, os.ErrNotExist) {
				continue // a crash came before it
			}
			if err != nil {
				return nil, err
			}
			if is := e.Header().Seed; is != seed {
				return nil, fmt.Errorf("%s holds the run of seed %d: name it %s", filepath.Join(dir, name), is, SeedDir("", is))
			}
			seeds = append(seeds, e)
		case entry.IsDir() && !strings.HasPrefix(name, "."):
			return nil, fmt.Errorf("%s holds %s, which is not the run of a seed: name a directory of one run, or one for the seeds of one experiment alone", dir, name)
		}
	}
	slices.SortFunc(seeds, func(a, b Experiment) int { return cmp.Compare(a.Header().Seed, b.Header().Seed) })
	return seeds, nil
}

// OpenSeeds opens the runs of the seeds in a directory, finished or not, or the
// one run whose directory it is.
func OpenSeeds(dir string) (*Seeds, error) {
	if _, err := os.Stat(filepath.Join(dir, experimentFile)); err == nil {
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
	if len(experiments) == 0 {
		return nil, fmt.Errorf("%s is not the directory of a run, nor of several seeds: it holds no %s and no %s", dir, experimentFile, SeedDir("", 1))
	}
	s := &Seeds{dir: dir}
	for _, e := range experiments {
		path := SeedDir(dir, e.Header().Seed)
		if _, err := os.Stat(filepath.Join(path, checkpointFile)); errors.Is(err, os.ErrNotExist) {
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
	_, err := compare(filepath.Join(dir, experimentFile), there.TOML(), withSeed(here, there.Header().Seed))
	return err
}

func withSeed(e Experiment, seed uint64) Experiment {
	h := e.Header()
	h.Seed = seed
	return e.With(h)
}
