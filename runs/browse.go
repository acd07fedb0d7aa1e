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

// within reports whether a link leads to a place in the folder root, where List finds it anyway.
func within(link, root string) bool {
	to, err := filepath.EvalSymlinks(link)
	folder, failure := filepath.EvalSymlinks(root)
	return err == nil && failure == nil && strings.HasPrefix(to, folder+string(filepath.Separator))
}

// List finds the runs of all known families below a directory, sorted by path, without reading the tensors of their
// checkpoints. The directory, and runs in it, may be symbolic links. List skips damaged runs, runs of unknown families and
// links to other folders, and returns one error for each. The table has one row per run: its directory and results, its
// settings, and a remark if any run diverged. Results hide settings with the same key. A setting that a run lacks is the only
// one of the run whose key ends in it, if there is one.
func List(dir string) (list *Table, passed []error, err error) {
	var found []*Run
	root := dir
	if info, err := os.Lstat(dir); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		root += string(filepath.Separator) // WalkDir then begins in the folder that the link names
	}
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
		run, err := look(path, peekCheckpoint)
		if err == nil {
			err = run.lost
		}
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
	return listOf(found), passed, err
}

// state returns the state of a run, which may have no checkpoint.
func (r *Run) state() State {
	switch {
	case Taken(r.dir) != nil:
		return Running
	case r.Finished():
		return Finished
	case r.Imported():
		return Imported
	case exists(Job{Dir: r.dir}.failure()):
		return Failed
	case !r.begun():
		return Waiting
	}
	return Interrupted
}

// results are the columns of a list that are not settings. The objective depends on the family.
var results = []field[*Run]{
	{Column{Key: "run"}, func(r *Run) any { return r.dir }},
	{Column{Key: "state"}, func(r *Run) any { return r.state() }},
	{Column{Key: "epoch", Kind: Integer}, func(r *Run) any { return r.Epochs() }},
	{Column{Key: "epochs", Kind: Integer}, func(r *Run) any { return r.experiment.Header().Epochs }},
	{Column{Key: "objective"}, func(r *Run) any {
		objective := r.without().Objective()
		if objective.Unit == "" {
			return objective.Name
		}
		return objective.Name + " (" + objective.Unit + ")"
	}},
	{Column{Key: "train", Kind: Number, Decimals: 3}, func(r *Run) any { return r.last.Train.Of(r.without().Objective()) }},
	{Column{Key: "validation", Kind: Number, Decimals: 3}, func(r *Run) any { return r.last.Validation.Of(r.without().Objective()) }},
	{Column{Key: "best", Kind: Number, Decimals: 3}, func(r *Run) any { return r.best.Validation.Of(r.without().Objective()) }},
	{Column{Key: "best_epoch", Label: "best epoch", Kind: Integer}, func(r *Run) any {
		if epoch := r.best.Epoch; epoch > 0 {
			return epoch
		}
		return nil
	}},
	{Column{Key: "seconds", Unit: "s", Kind: Number, Decimals: 1}, func(r *Run) any { return r.last.Seconds }},
	{Column{Key: "family"}, func(r *Run) any { return familyName(r.experiment) }},
	{Column{Key: "data"}, func(r *Run) any { return r.experiment.Header().Dataset.Name }},
	{Column{Key: "method"}, func(r *Run) any { return r.experiment.String() }},
	{Column{Key: "date"}, func(r *Run) any {
		if r.session.Date.IsZero() {
			return nil
		}
		return r.session.Date.Format(time.RFC3339)
	}},
}

// listName is the name of the table of runs.
const listName = "runs"

// listOf returns the table of runs.
func listOf(found []*Run) *Table {
	columns, all, keys := slices.Clone(results), map[string]map[string]string{}, map[string]string{}
	for _, r := range found {
		all[r.dir] = settings(r.experiment)
		maps.Copy(keys, all[r.dir])
	}
	maps.DeleteFunc(keys, func(key, _ string) bool {
		return !columnKey.MatchString(key) || slices.ContainsFunc(results, func(f field[*Run]) bool { return f.Key == key })
	})
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		columns = append(columns, field[*Run]{Column{Key: key, loose: true}, func(r *Run) any {
			if ends := names.Ending(slices.Collect(maps.Keys(all[r.dir])), key); len(ends) == 1 {
				return scalar(unquoted(all[r.dir][ends[0]]))
			}
			return nil
		}})
	}
	if slices.ContainsFunc(found, func(r *Run) bool { return r.Warning() != "" }) {
		columns = append(columns, field[*Run]{Column{Key: remarkKey}, func(r *Run) any { return remarkOn(r.Warning()) }})
	}
	return tableOf(listName, "", columns, found...)
}

// Overview returns a List with the settings that have the given keys, as in Table.Select, and without all others.
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
