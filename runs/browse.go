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

// listed is a run without its snapshot.
type listed struct {
	*Run
	state State // as for a job of a sweep
}

// followed returns a path at which filepath.WalkDir begins in the folder that dir names, even if dir is a link to it.
func followed(dir string) string {
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

// List finds the runs of all known families below a directory, sorted by path, without reading the tensors of their
// checkpoints. The directory, and runs in it, may be symbolic links. List skips damaged runs, runs of unknown families and
// links to other folders, and returns one error for each. The table has one row per run: its directory and results, its
// settings, and a remark if any run diverged. Results hide settings with the same key. A setting that a run lacks is the only
// one of the run whose key ends in it, if there is one.
func List(dir string) (list *Table, passed []error, err error) {
	var found []listed
	root := followed(dir)
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
			found = append(found, listed{run, run.state()})
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
var results = []field[listed]{
	{Column{Key: "run"}, func(l listed) any { return l.dir }},
	{Column{Key: "state"}, func(l listed) any { return l.state }},
	{Column{Key: "epoch", Kind: Integer}, func(l listed) any { return l.Epochs() }},
	{Column{Key: "epochs", Kind: Integer}, func(l listed) any { return l.experiment.Header().Epochs }},
	{Column{Key: "objective"}, func(l listed) any {
		objective := l.without().Objective()
		if objective.Unit == "" {
			return objective.Name
		}
		return objective.Name + " (" + objective.Unit + ")"
	}},
	{Column{Key: "train", Kind: Number, Decimals: 3}, func(l listed) any { return l.last.Train.Of(l.without().Objective()) }},
	{Column{Key: "validation", Kind: Number, Decimals: 3}, func(l listed) any { return l.last.Validation.Of(l.without().Objective()) }},
	{Column{Key: "best", Kind: Number, Decimals: 3}, func(l listed) any { return l.best.Validation.Of(l.without().Objective()) }},
	{Column{Key: "best_epoch", Label: "best epoch", Kind: Integer}, func(l listed) any {
		if epoch := l.best.Epoch; epoch > 0 {
			return epoch
		}
		return nil
	}},
	{Column{Key: "seconds", Unit: "s", Kind: Number, Decimals: 1}, func(l listed) any { return l.last.Seconds }},
	{Column{Key: "family"}, func(l listed) any { return familyName(l.experiment) }},
	{Column{Key: "data"}, func(l listed) any { return l.experiment.Header().Dataset.Name }},
	{Column{Key: "method"}, func(l listed) any { return l.experiment.String() }},
	{Column{Key: "date"}, func(l listed) any {
		if l.session.Date.IsZero() {
			return nil
		}
		return l.session.Date.Format(time.RFC3339)
	}},
}

// listName is the name of the table of runs.
const listName = "runs"

// listOf returns the table of runs.
func listOf(found []listed) *Table {
	columns, all, keys := slices.Clone(results), map[string]map[string]string{}, map[string]string{}
	for _, l := range found {
		all[l.dir] = settings(l.experiment)
		maps.Copy(keys, all[l.dir])
	}
	maps.DeleteFunc(keys, func(key, _ string) bool {
		return !columnKey.MatchString(key) || slices.ContainsFunc(results, func(f field[listed]) bool { return f.Key == key })
	})
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		columns = append(columns, field[listed]{Column{Key: key, loose: true}, func(l listed) any {
			if ends := names.Ending(slices.Collect(maps.Keys(all[l.dir])), key); len(ends) == 1 {
				return scalar(unquoted(all[l.dir][ends[0]]))
			}
			return nil
		}})
	}
	if slices.ContainsFunc(found, func(l listed) bool { return l.Warning() != "" }) {
		columns = append(columns, field[listed]{Column{Key: remarkKey}, func(l listed) any { return remarkOn(l.Warning()) }})
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
