package runs

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/helmholtz-go/helmholtz/internal/names"
)

// Listed describes a run by its files, without reading the tensors of its checkpoint.
type Listed struct {
	Dir        string
	Family     string
	Experiment Experiment
	Epochs     int       // done
	Last, Best Epoch     // the last epoch and the epoch with the best validation objective; epoch 0 if there is none
	State      State     // state of the run, as for a job of a sweep
	Date       time.Time // when its last session began; zero if unknown
	run        *Run      // without snapshot
}

// History reads the records of all epochs.
func (l Listed) History() History { return l.run.History() }

func (l Listed) objective() Measure { return l.run.without().Objective() }

// Followed returns a path at which filepath.WalkDir begins in the folder that dir names, even if dir is a link to it.
func Followed(dir string) string {
	if info, err := os.Lstat(dir); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return dir + string(filepath.Separator)
	}
	return dir
}

// within reports whether a link leads to a place in the folder root, where List finds it anyway.
func within(link, root string) bool {
	to, err := filepath.EvalSymlinks(link)
	folder, failure := filepath.EvalSymlinks(root)
	return err == nil && failure == nil && strings.HasPrefix(to, folder+string(filepath.Separator))
}

// List finds the runs of all known families below a directory, sorted by path. The directory, and runs in it, may be
// symbolic links. List skips damaged runs, runs of unknown families and links to other folders, and returns one error
// for each.
func List(dir string) (found []Listed, passed []error, err error) {
	root := Followed(dir)
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		linked := err == nil && entry.Type()&fs.ModeSymlink != 0
		if linked {
			info, failure := os.Stat(path)
			switch {
			case failure != nil || !info.IsDir() || within(path, root):
				return nil
			case !isRun(path):
				passed = append(passed, fmt.Errorf("%s is a link to a folder: name it to list its runs", path))
				return nil
			}
		}
		switch {
		case err != nil && path == root:
			return fmt.Errorf("cannot look for runs: %w: name a folder", err)
		case path == root && !entry.IsDir():
			return fmt.Errorf("cannot look for runs: %s is a file: name a folder", path)
		case err != nil:
			passed = append(passed, err)
			return nil
		case !linked && !entry.IsDir() || !isRun(path):
			return nil
		}
		run, err := listed(path)
		if err != nil {
			passed = append(passed, fmt.Errorf("%s: %w", path, err))
		} else {
			found = append(found, run)
		}
		if linked {
			return nil // SkipDir would skip the rest of the folder that has the link
		}
		return fs.SkipDir
	})
	return found, passed, err
}

func listed(dir string) (l Listed, err error) {
	run, err := look(dir, peekCheckpoint)
	if err == nil {
		err = run.lost
	}
	if err != nil {
		return l, err
	}
	e := run.experiment
	l = Listed{
		Dir: dir, Family: familyName(e), Experiment: e, Epochs: run.position.Epoch, Last: run.last, Best: run.best,
		State: Interrupted, Date: run.session.Date, run: run,
	}
	switch {
	case Taken(dir) != nil:
		l.State = Running
	case run.Finished():
		l.State = Finished
	case run.Imported():
		l.State = Imported
	case exists(Job{Dir: dir}.failure()):
		l.State = Failed
	case !run.begun():
		l.State = Waiting
	}
	return l, nil
}

// results are the columns of a list that are not settings. The objective depends on the family.
var results = []field[Listed]{
	{Column{Key: "run"}, func(l Listed) any { return l.Dir }},
	{Column{Key: "state"}, func(l Listed) any { return l.State }},
	{Column{Key: "epoch", Kind: Integer}, func(l Listed) any { return l.Epochs }},
	{Column{Key: "epochs", Kind: Integer}, func(l Listed) any { return l.Experiment.Header().Epochs }},
	{Column{Key: "objective"}, func(l Listed) any {
		objective := l.objective()
		if objective.Unit == "" {
			return objective.Name
		}
		return objective.Name + " (" + objective.Unit + ")"
	}},
	{Column{Key: "train", Kind: Number, Decimals: 3}, func(l Listed) any { return l.Last.Train.Of(l.objective()) }},
	{Column{Key: "validation", Kind: Number, Decimals: 3}, func(l Listed) any { return l.Last.Validation.Of(l.objective()) }},
	{Column{Key: "best", Kind: Number, Decimals: 3}, func(l Listed) any { return l.Best.Validation.Of(l.objective()) }},
	{Column{Key: "best_epoch", Label: "best epoch", Kind: Integer}, func(l Listed) any {
		if epoch := l.Best.Epoch; epoch > 0 {
			return epoch
		}
		return nil
	}},
	{Column{Key: "seconds", Unit: "s", Kind: Number, Decimals: 1}, func(l Listed) any { return l.Last.Seconds }},
	{Column{Key: "family"}, func(l Listed) any { return l.Family }},
	{Column{Key: "data"}, func(l Listed) any { return l.Experiment.Header().Dataset.Name }},
	{Column{Key: "method"}, func(l Listed) any { return l.Experiment.String() }},
	{Column{Key: "date"}, func(l Listed) any {
		if l.Date.IsZero() {
			return nil
		}
		return l.Date.Format(time.RFC3339)
	}},
}

// listName is the name of the table of runs.
const listName = "runs"

// ListTable returns a table with one row per run: its results, its settings, and a remark if any run diverged. Results
// hide settings with the same key. A setting that a run lacks is the only one of the run whose key ends in it, if there is one.
func ListTable(found []Listed) *Table {
	columns, all, keys := slices.Clone(results), map[string]map[string]string{}, map[string]string{}
	for _, l := range found {
		all[l.Dir] = settings(l.Experiment)
		maps.Copy(keys, all[l.Dir])
	}
	maps.DeleteFunc(keys, func(key, _ string) bool {
		return !columnKey.MatchString(key) || slices.ContainsFunc(results, func(f field[Listed]) bool { return f.Key == key })
	})
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		columns = append(columns, field[Listed]{Column{Key: key, loose: true}, func(l Listed) any {
			if ends := names.Ending(slices.Collect(maps.Keys(all[l.Dir])), key); len(ends) == 1 {
				return scalar(unquoted(all[l.Dir][ends[0]]))
			}
			return nil
		}})
	}
	if slices.ContainsFunc(found, func(l Listed) bool { return l.run.Warning() != "" }) {
		columns = append(columns, field[Listed]{Column{Key: remarkKey}, func(l Listed) any { return remarkOn(l.run.Warning()) }})
	}
	return tableOf(listName, "", columns, found...)
}

// Overview returns a ListTable with the settings that have the given keys, as in Table.Select, and without all others.
func Overview(list *Table, settings ...string) (*Table, error) {
	var keys []string
	for _, c := range list.columns {
		if !c.loose {
			keys = append(keys, c.Key)
		}
	}
	if last := len(keys) - 1; keys[last] == remarkKey {
		keys, settings = keys[:last], append(slices.Clone(settings), remarkKey)
	}
	return list.Select("", append(keys, settings...)...)
}
