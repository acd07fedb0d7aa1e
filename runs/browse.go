package runs

import (
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
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

// resultAt returns the index of a result, or -1 if no result has the name.
func resultAt(name string) int {
	return slices.IndexFunc(results, func(f field[Listed]) bool { return f.Key == name })
}

// setting returns the setting that name denotes in a run, by the rule of Named, or "" if the run lacks it. It also
// returns the number of settings that name may denote.
func (l Listed) setting(name string) (value string, meanings int) {
	all := settings(l.Experiment)
	ends := names.Ending(slices.Collect(maps.Keys(all)), name)
	if len(ends) == 1 {
		value = unquoted(all[ends[0]])
	}
	return value, len(ends)
}

// value returns a result or a setting of a run as text, or "" if the run lacks it.
func (l Listed) value(name string) string {
	if i := resultAt(name); i >= 0 {
		cell, _ := results[i].Kind.cell(reflect.ValueOf(results[i].Cell(l)))
		return plain(cell)
	}
	value, _ := l.setting(name)
	return value
}

// Settings returns the names of the runs' settings, sorted. It omits names that are also the name of a
// result.
func Settings(found []Listed) []string {
	all := map[string]bool{}
	for _, l := range found {
		for name := range settings(l.Experiment) {
			if columnKey.MatchString(name) && resultAt(name) < 0 {
				all[name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// Named returns the full name of the result or setting of the runs that name denotes. The last part of a
// full name is enough if it is unambiguous in each run: learning_rate for method.learning_rate. If name
// denotes different settings in runs of different families, Named returns name, which Where, SortedBy and
// ListTable look up in each run: it denotes the setting with this full name or, if the run has none, the
// only setting whose last part it is. An error suggests the closest name.
func Named(found []Listed, name string) (string, error) {
	var all []string
	for _, c := range results {
		all = append(all, c.Key)
	}
	all = append(all, Settings(found)...)
	ends := names.Ending(all, name)
	switch len(ends) {
	case 1:
		return ends[0], nil
	case 0:
		short := slices.Clone(all)
		for _, full := range all {
			short = append(short, full[strings.LastIndexByte(full, '.')+1:])
		}
		return "", fmt.Errorf("no run has a column %q%s: use one of %s", name, names.Meant(name, short...), strings.Join(all, ", "))
	}
	for _, l := range found {
		if _, meanings := l.setting(name); meanings > 1 {
			return "", fmt.Errorf("%q is ambiguous: write %s", name, strings.Join(ends, " or "))
		}
	}
	return name, nil
}

type condition struct{ name, operator, value string }

// conditionForm matches a name, an operator and a value.
var conditionForm = regexp.MustCompile(`(?s)^([^!=<>~]+)(!=|<=|>=|==|[=<>~])(.*)$`)

// IsCondition reports whether a text contains an operator of Where.
func IsCondition(text string) bool { return strings.ContainsAny(text, "=<>~") }

// Where returns the runs that satisfy all conditions. A condition is NAME=VALUE. Instead of =, it can use
// == (the same), !=, <, >, <= or >=, or ~ for "contains". Named resolves the names. Numbers are compared
// as numbers. A run that lacks the value satisfies only !=.
func Where(found []Listed, conditions ...string) ([]Listed, error) {
	all := found
	for _, text := range conditions {
		c, err := parseCondition(all, text)
		if err != nil {
			return nil, err
		}
		found = slices.DeleteFunc(slices.Clone(found), func(l Listed) bool { return !c.holds(l.value(c.name)) })
	}
	return found, nil
}

func parseCondition(found []Listed, text string) (c condition, err error) {
	parts := conditionForm.FindStringSubmatch(text)
	if parts == nil {
		return c, fmt.Errorf("%q is not a condition: write NAME=VALUE, with =, !=, <, >, <=, >= or ~", text)
	}
	c = condition{strings.TrimSpace(parts[1]), parts[2], strings.TrimSpace(parts[3])}
	if len(found) > 0 {
		c.name, err = Named(found, c.name)
	}
	if err == nil && c.name == "state" && c.operator != "~" && !slices.Contains(States[:], State(c.value)) {
		var states []string
		for _, s := range States {
			states = append(states, string(s))
		}
		err = fmt.Errorf("no run is %q%s: use one of %s", c.value, names.Meant(c.value, states...), strings.Join(states, ", "))
	}
	if err == nil && c.operator != "~" && !isNumber(c.value) && numeric(found, c.name) {
		err = fmt.Errorf("%s is a number, but %q is not: compare it with a number", c.name, c.value)
	}
	return c, err
}

func isNumber(text string) bool {
	_, err := strconv.ParseFloat(text, 64)
	return err == nil
}

// numeric reports whether the result name is a number. For a setting, it reports whether some run has the
// setting and it is a number in every run that has it.
func numeric(found []Listed, name string) bool {
	if i := resultAt(name); i >= 0 {
		return results[i].Kind != Text
	}
	known := false
	for _, l := range found {
		value := l.value(name)
		if value != "" && !isNumber(value) {
			return false
		}
		known = known || value != ""
	}
	return known
}

func (c condition) holds(value string) bool {
	if value == "" {
		return c.operator == "!="
	}
	order := compareValues(value, c.value)
	switch c.operator {
	case "~":
		return strings.Contains(value, c.value)
	case "!=":
		return order != 0
	}
	return strings.Contains(c.operator, [...]string{"<", "=", ">"}[order+1])
}

// compareValues compares numbers by value and sorts other texts after them, alphabetically.
func compareValues(a, b string) int {
	m, errM := strconv.ParseInt(a, 10, 64) // float64 would round large seeds
	n, errN := strconv.ParseInt(b, 10, 64)
	if errM == nil && errN == nil {
		return cmp.Compare(m, n)
	}
	x, errA := strconv.ParseFloat(a, 64)
	y, errB := strconv.ParseFloat(b, 64)
	switch {
	case errA == nil && errB == nil:
		return cmp.Compare(x, y)
	case errA == nil:
		return -1
	case errB == nil:
		return 1
	}
	return strings.Compare(a, b)
}

// SortedBy returns the runs sorted by a result or a setting, in descending order if by begins with a
// minus. Runs that lack the result or the setting come last.
func SortedBy(found []Listed, by string) ([]Listed, error) {
	name, down := strings.CutPrefix(by, "-")
	if len(found) == 0 {
		return found, nil
	}
	name, err := Named(found, name)
	if err != nil {
		return nil, err
	}
	values := map[string]string{} // by directory
	for _, l := range found {
		values[l.Dir] = l.value(name)
	}
	found = slices.Clone(found)
	slices.SortStableFunc(found, func(a, b Listed) int {
		x, y := values[a.Dir], values[b.Dir]
		switch {
		case x == "" || y == "":
			return cmp.Compare(y, x)
		case down:
			return compareValues(y, x)
		}
		return compareValues(x, y)
	})
	return found, nil
}

// ListTable returns a table with one row per run: its results and the settings with the given names, as
// Named returns them.
func ListTable(found []Listed, settings ...string) *Table {
	columns := slices.Clone(results)
	for _, name := range settings {
		if slices.ContainsFunc(columns, func(f field[Listed]) bool { return f.Key == name }) {
			continue
		}
		columns = append(columns, settingColumn(Column{Key: name}, found, func(l Listed) string { return l.value(name) }))
	}
	if slices.ContainsFunc(found, func(l Listed) bool { return l.run.Warning() != "" }) {
		columns = append(columns, field[Listed]{Column{Key: remarkKey}, func(l Listed) any { return remarkOn(l.run.Warning()) }})
	}
	return tableOf("runs", "", columns, found...)
}
