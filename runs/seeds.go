package runs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
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
	"golang.org/x/sync/errgroup"
)

// Seeds holds the runs of one experiment with several seeds. Each is an ordinary run in a separate
// subdirectory: seed-1, seed-2 and so on.
type Seeds struct {
	Runs    []*Run // runs with a checkpoint, sorted by seed
	Waiting int    // number of planned seeds without a checkpoint
	dir     string
}

// Dir returns the directory that contains the seeds' directories, or the directory of the single
// run.
func (s *Seeds) Dir() string { return s.dir }

// String returns the experiment, the number of seeds, their directory, and the objective in the last
// epoch, with several seeds as the mean ± the standard deviation over them. The objective is computed on
// the validation rows, if there are any.
func (s *Seeds) String() string {
	if s == nil || len(s.Runs) == 0 {
		return "no seeds with a checkpoint"
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
	if math.IsNaN(last.Mean) { // no epoch is complete
		return text
	}
	text += fmt.Sprintf("; %s %s %s in the last epoch", rows, s.objective().Name, last.Text(3))
	if math.IsNaN(last.SD) { // one seed
		return text
	}
	return text + ", mean ± sd"
}

// Finished reports whether training has finished for all seeds.
func (s *Seeds) Finished() bool {
	return s.Waiting == 0 && !slices.ContainsFunc(s.Runs, func(r *Run) bool { return !r.Finished() })
}

// Over returns the spread of value over the runs of the seeds.
func (s *Seeds) Over(value func(*Run) float64) Spread { return SpreadOf(s.Runs, value) }

// LastMeasures formats the measures of the last epoch on the validation rows or, if there are none, in training, as mean and
// standard deviation over the seeds.
func (s *Seeds) LastMeasures() string {
	of, last := "training", func(r *Run) Measures { return r.last.Train }
	if s.Runs[0].last.Validation != nil {
		of, last = "validation", func(r *Run) Measures { return r.last.Validation }
	}
	measures := slices.DeleteFunc(s.Runs[0].experiment.Measures(), func(m Measure) bool {
		_, measured := last(s.Runs[0])[m.Key]
		return !measured
	})
	return fmt.Sprintf("%s of the last epoch, mean ± sd over the seeds: %s", of, measuresText(measures, func(m Measure, scale float64, decimals int) string {
		return s.Over(func(r *Run) float64 { return scale * last(r)[m.Key] }).Text(decimals)
	}))
}

// mostSeeds limits the number of seeds, because each seed gets a directory before the first is trained.
const mostSeeds = 10_000

// TrainSeeds trains n seeds, 1 to 10,000: the experiment's seed and the following ones, each like Train, in
// a subdirectory of dir. It also trains seeds that dir already contains or that interrupted training
// planned: it keeps finished seeds and resumes or begins all others. Workers decides how many seeds
// train in parallel, unless AtOnce does; AtOnce(ctx, 1) trains them one by one. The number
// affects only the recorded seconds of each seed, which include waiting for other seeds. The recorders
// receive one seed after the other. The first error stops all seeds, and TrainSeeds returns the errors of all that failed.
func TrainSeeds(ctx context.Context, e Experiment, set *dataset.Set, n int, dir string, recorders ...Recorder) (*Seeds, error) {
	if n < 1 || n > mostSeeds {
		return nil, fmt.Errorf("%d seeds: give a number from 1 to %d", n, mostSeeds)
	}
	e, err := Resolve(e, set, SeedDir(dir, e.Header().Seed))
	if err != nil {
		return nil, err
	}
	all, err := claimSeeds(e, dir, n, set)
	if err != nil {
		return nil, err
	}
	most, given := ctx.Value(atOnce{}).(int)
	if !given {
		if most, _, err = Workers(e, set); err != nil {
			return nil, err
		}
	}
	several, ctx := errgroup.WithContext(ctx)
	several.SetLimit(max(1, most))
	reports := &turns{recorders: usual(recorders)}
	failures := make([]error, len(all))
	for i, seed := range all {
		several.Go(func() error {
			if err := ctx.Err(); err != nil && i > 0 {
				return err // an interrupted seed reports its interruption first
			}
			_, err := Train(ctx, withSeed(e, seed), set, SeedDir(dir, seed), &turn{turns: reports})
			if err != nil {
				err = fmt.Errorf("seed %d: %w", seed, err)
			}
			if !errors.Is(err, context.Canceled) {
				failures[i] = err
			}
			return err
		})
	}
	failure := several.Wait()
	seeds, err := OpenSeeds(dir) // there may be no checkpoint yet
	return seeds, cmp.Or(errors.Join(failures...), failure, err)
}

// claimSeeds adds n seeds, from e's seed upwards, to the plan in dir, creates their directories, and returns all planned
// seeds, sorted. Resumed training reads the plan to find the seeds that are left.
func claimSeeds(e Experiment, dir string, n int, set *dataset.Set) (planned []uint64, err error) {
	last := e.Header()
	last.Seed += uint64(n - 1)
	if err := last.checkSeeds(); err != nil {
		return nil, err
	}
	there, err := sameSeeds(dir)
	if err != nil {
		return nil, err
	}
	var begun []uint64
	for _, other := range there {
		seed := other.Header().Seed
		if err := sameButForSeed(SeedDir(dir, seed), other, e); err != nil {
			return nil, err
		}
		begun = append(begun, seed)
	}
	seeds := slices.Clone(begun)
	for seed := e.Header().Seed; seed <= last.Seed; seed++ {
		seeds = append(seeds, seed)
	}
	if planned, err = writePlan(dir, seeds); err != nil {
		return nil, err
	}
	for _, seed := range planned {
		if slices.Contains(begun, seed) {
			continue
		}
		if err := Claim(withSeed(e, seed), set, SeedDir(dir, seed)); err != nil {
			return nil, err
		}
	}
	return planned, nil
}

func notSeeds(dir string) error {
	return fmt.Errorf("%s is not the directory of a run, nor of several seeds: it has no %s and no %s (helmholtz runs lists runs)", dir, experimentFile, SeedDir("", 1))
}

// ReadSeeds reads the experiments of the seeds in a directory, sorted by seed. It returns none if the
// directory does not exist or contains and plans no seeds. It returns an error if seeds are planned but
// none has begun, if the directory contains other visible directories, or if the seeds belong to different
// experiments.
func ReadSeeds(dir string) ([]Experiment, error) {
	seeds, err := sameSeeds(dir)
	if err == nil && len(seeds) == 0 {
		var planned []uint64
		if planned, err = readPlan(dir); len(planned) > 0 {
			err = fmt.Errorf("training in %s was interrupted before the first of its %d seeds began: repeat the command that started it", dir, len(planned))
		}
	}
	return seeds, err
}

// sameSeeds is like readSeeds, but refuses seeds of different experiments.
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
			return nil, fmt.Errorf("the seeds in %s have different numbers of epochs (%d in %s, %d elsewhere), probably because extending them was interrupted: give all of them the same number with train --resume %s --epochs %d",
				dir, h.Epochs, SeedDir("", h.Seed), longest, shell.Argument(dir), longest)
		}
	}
	return seeds, nil
}

// readSeeds is like ReadSeeds, but checks neither that the experiments agree nor that planned seeds have begun.
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
			return nil, fmt.Errorf("%s is the directory of one run: choose another directory for several seeds", dir)
		case isSeed:
			e, err := ExperimentIn(filepath.Join(dir, name))
			if errors.Is(err, os.ErrNotExist) {
				if err := refuseForeign(filepath.Join(dir, name)); err != nil {
					return nil, err
				}
				continue // a crash left no experiment
			}
			if err != nil {
				return nil, err
			}
			if is := e.Header().Seed; is != seed {
				return nil, fmt.Errorf("%s belongs to the run of seed %d: rename its directory to %s", filepath.Join(dir, name, experimentFile), is, SeedDir("", is))
			}
			seeds = append(seeds, e)
		case strings.HasPrefix(name, "."):
		case isRun(filepath.Join(dir, name)):
			return nil, fmt.Errorf("%s contains %s, which is not the run of a seed: name that run, or a directory with only the seeds of one experiment; resume the layers of one machine with the command that started them", dir, filepath.Join(dir, name))
		case entry.IsDir():
			return nil, fmt.Errorf("%s contains %s, which is not the run of a seed: name the directory of one run, or one with only the seeds of one experiment", dir, name)
		}
	}
	slices.SortFunc(seeds, func(a, b Experiment) int { return cmp.Compare(a.Header().Seed, b.Header().Seed) })
	return seeds, nil
}

// OpenSeeds opens the runs of the seeds in a directory, finished or not. If dir is the directory of a
// single run, it opens that run.
func OpenSeeds(dir string) (*Seeds, error) {
	if dir == "" {
		return nil, errNoDirectory
	}
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
		return nil, notSeeds(dir)
	}
	s := &Seeds{dir: dir}
	for _, seed := range planned {
		if !slices.ContainsFunc(experiments, func(e Experiment) bool { return e.Header().Seed == seed }) {
			s.Waiting++
		}
	}
	for _, e := range experiments {
		run, err := look(SeedDir(dir, e.Header().Seed), loadCheckpoint)
		switch {
		case err != nil:
			return nil, err
		case run.begun():
			s.Runs = append(s.Runs, run)
		default:
			s.Waiting++
		}
	}
	if len(s.Runs) == 0 {
		return nil, fmt.Errorf("no seed in %s has a checkpoint yet: train them longer", dir)
	}
	return s, nil
}

const seedPrefix = "seed-"

// SeedDir returns the directory of a seed's run within dir.
func SeedDir(dir string, seed uint64) string {
	return filepath.Join(dir, seedPrefix+strconv.FormatUint(seed, 10))
}

// seedOf returns the seed in the name of a seed's directory, and reports whether the name has that form.
func seedOf(name string) (uint64, bool) {
	digits, isSeed := strings.CutPrefix(name, seedPrefix)
	seed, err := strconv.ParseUint(digits, 10, 64)
	return seed, isSeed && err == nil && SeedDir("", seed) == name
}

// sameButForSeed returns an error if two experiments differ in anything but the seed. there is the experiment
// stored in dir.
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

// planFile lists the planned seeds in the directory of several seeds.
const planFile = "seeds.json"

type seedPlan struct {
	Seeds []uint64 `json:"seeds"`
}

// readPlan reads the planned seeds of a directory. It returns none if there is no plan, because earlier
// versions wrote none.
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
	if err := unmarshalSealed(text, &p, false, ""); err != nil {
		return nil, fmt.Errorf("%s: %w: restore the file from a copy, or remove it, which leaves only the seeds that have a directory", path, err)
	}
	return p.Seeds, nil
}

// writePlan adds seeds to the plan of a directory, and returns all planned seeds, sorted.
func writePlan(dir string, seeds []uint64) (all []uint64, err error) {
	err = planIn(dir, "seeds", planFile, func() (planned bool, err error) {
		there, err := readPlan(dir)
		all = slices.Compact(slices.Sorted(slices.Values(slices.Concat(there, seeds))))
		return slices.Equal(all, there), err
	}, func(held *file.Held) error {
		line, err := marshalSealed(seedPlan{all}, "")
		if err != nil {
			return err
		}
		return notWritten(dir, held.WriteAside(planFile, line))
	})
	return all, err
}

// planIn locks a directory and calls write, which writes the file plan and gives the remedy of its errors, as
// notWritten does. It does nothing if done reports that the directory already has the plan. planIn calls done
// both before and after it locks the directory, because another program may write the plan in between.
// Errors use what, such as "a sweep".
func planIn(dir, what, plan string, done func() (bool, error), write func(*file.Held) error) error {
	if dir == "" {
		return errNoDirectory
	}
	if is, err := done(); is || err != nil {
		return err
	}
	held, err := holdSoon(dir)
	if errors.Is(err, file.ErrLocked) {
		err = fmt.Errorf("another program is starting %s in %s: wait for it, or choose another directory", what, dir)
	}
	if err != nil {
		return notWritten(dir, err)
	}
	defer held.Release()
	if is, err := done(); is || err != nil {
		return err
	}
	return errors.Join(write(held), notWritten(dir, held.RemoveLeftovers(func(name string) bool { return name == plan })))
}

// hasPlan reports whether the file plan of a directory has the given text. If it has another text, hasPlan returns
// the error of other. If there is no plan, hasPlan refuses a directory with any contents other than the
// leftovers of a killed planIn and the names that accepts allows.
func hasPlan(dir, what, plan string, text []byte, other func() error, accepts func(name string) bool) (bool, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return false, err
	}
	foreign := slices.IndexFunc(entries, func(entry os.DirEntry) bool { // before the plan is read, which another program may write now
		name, left := file.Leftover(entry.Name())
		return entry.Name() != lockFile && !(left && name == plan) && !accepts(entry.Name())
	})
	there, err := file.Read(filepath.Join(dir, plan), file.Small)
	switch {
	case err == nil && string(there) == string(text):
		return true, nil
	case err == nil:
		return false, other()
	case !errors.Is(err, os.ErrNotExist):
		return false, err
	case foreign >= 0:
		return false, fmt.Errorf("%s is neither empty nor the directory of %s (it contains %s but no %s): choose another directory", dir, what, entries[foreign].Name(), plan)
	}
	return false, nil
}

// holdSoon calls file.Hold for a directory that other programs lock only briefly. It waits for them for
// up to 5 seconds.
func holdSoon(dir string) (*file.Held, error) {
	for deadline := time.Now().Add(5 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		held, err := file.Hold(dir, lockFile)
		if !errors.Is(err, file.ErrLocked) || time.Now().After(deadline) {
			return held, err
		}
	}
}
