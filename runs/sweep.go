package runs

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/file"
	"github.com/helmholtz-go/helmholtz/internal/lists"
	"github.com/helmholtz-go/helmholtz/internal/names"
)

// Sweep is an experiment and axes along which its settings vary. It has one run for each
// combination of values and each seed. Every run opens the data that its settings name, so your own
// rows must be in a file, not in memory.
type Sweep struct {
	// Base is the experiment that varies, in TOML. A setting that Base omits gets its default in
	// each combination; a varying preset, for example, determines such defaults. Experiment.TOML omits
	// nothing.
	Base  []byte
	Axes  []Axis
	Seeds int // number of seeds per combination: the seed of Base and the following ones
}

// Axis is a set of settings that vary together.
type Axis struct {
	Keys   []string // full TOML names of the settings, such as method.learning_rate
	Values [][]any  // one element per point on the axis, with one value per key, as TOML decodes it
}

// Setting is one combination of values of a sweep's axes.
type Setting struct {
	Name       string   // lists the values that vary; also the name of the directory with its seeds
	Values     []string // one per key of the axes, in TOML notation
	Experiment Experiment
}

// mostRuns limits the number of runs of a sweep.
const mostRuns = 100_000

// sweepFile is the TOML form of a sweep.
type sweepFile struct {
	Seeds    int
	Base     any              // an experiment, or the path of its file
	Grid     map[string]any   // settings with lists of values: all combinations
	Together []map[string]any // the same, but the lists advance together
}

// ReadSweep reads a sweep from a TOML file. The file has seeds (default 1); a base, which is either
// a table with the contents of an experiment file or the path of an experiment file, relative to the
// folder of the sweep file; and axes:
//
//	seeds = 3
//	base = "base.toml"
//
//	[grid]
//	method.learning_rate = [0.01, 0.02, 0.04]
//
//	[[together]]
//	method.preset = ["nws", "nrws"]
//	method.damping = [0.2, 0.1]
//
// The sweep tries all combinations of the values in grid. The lists within one table together advance
// in parallel. A setting that the base omits has its default. If the preset varies, each preset
// replaces the base's values for the settings that define the preset, such as the metric; all other
// settings of the base stay. ReadSweep refuses a combination that contradicts the published method that
// its preset names.
func ReadSweep(path string) (*Sweep, error) {
	text, err := file.ReadNamed(path, file.Small)
	if err != nil {
		return nil, err
	}
	s, err := parseSweep(text, path)
	if err == nil {
		err = s.checkPresets()
	}
	if err != nil {
		return nil, ExplainMissing(path, fmt.Errorf("%s: %w", path, err))
	}
	return s, nil
}

// parseSweep reads a sweep from the text of the file at path. The paths of the base and the data are
// relative to the folder of the file.
func parseSweep(text []byte, path string) (*Sweep, error) {
	f := sweepFile{Seeds: 1}
	meta, err := decodeTOML(text, &f)
	if err != nil {
		return nil, err
	}
	for _, key := range meta.Keys() {
		if !slices.Contains([]string{"seeds", "base", "grid", "together"}, key[0]) {
			return nil, fmt.Errorf("%s: a sweep has seeds, base, grid and together", key)
		}
	}
	s := &Sweep{Seeds: f.Seeds}
	of, ofText := path, text // the file with the base
	switch base := f.Base.(type) {
	case string:
		if !filepath.IsAbs(base) {
			base = filepath.Join(filepath.Dir(path), base)
		}
		s.Base, err = file.ReadNamed(base, file.Small)
		if of, ofText = base, s.Base; err == nil {
			if _, err = ParseExperiment(s.Base); err != nil {
				err = fmt.Errorf("%s: %w", base, err)
			}
		}
	case map[string]any:
		if s.Base, err = toml.Marshal(base); err == nil {
			_, err = ParseExperiment(s.Base)
		}
	default:
		err = errors.New(`base: give the experiment that varies, as a table or as the name of a file, base = "experiment.toml"`)
	}
	if err == nil {
		err = s.resolveData(of, ofText)
	}
	if err != nil {
		return nil, err
	}
	order := map[string]int{} // of the keys in the file
	for i, key := range meta.Keys() {
		if key[0] != "base" && len(key) > 1 {
			order[strings.Join(key[1:], ".")] = i
		}
	}
	grid := names.Flat("", f.Grid)
	for _, key := range inOrder(grid, order) {
		axis, err := newAxis([]string{key}, grid)
		if err != nil {
			return nil, fmt.Errorf("grid: %w", err)
		}
		s.Axes = append(s.Axes, axis)
	}
	for _, table := range f.Together {
		values := names.Flat("", table)
		axis, err := newAxis(inOrder(values, order), values)
		if err != nil {
			return nil, fmt.Errorf("together: %w", err)
		}
		s.Axes = append(s.Axes, axis)
	}
	for _, axis := range s.Axes {
		for i, key := range axis.Keys {
			for _, values := range axis.Values {
				values[i] = dataValue(key, values[i], path, text)
			}
		}
	}
	_, err = s.Settings()
	return s, err
}

func (s *Sweep) resolveData(path string, text []byte) error {
	table, err := s.base()
	if err != nil {
		return err
	}
	changed := false
	data, _ := table["dataset"].(map[string]any)
	for key, value := range data {
		if is := dataValue("dataset."+key, value, path, text); !reflect.DeepEqual(is, value) {
			data[key], changed = is, true
		}
	}
	if changed {
		s.Base, err = toml.Marshal(table)
	}
	return err
}

// dataValue returns the value of a setting in a file. If the value is a path of data, dataValue resolves
// it like dataOfFile.
func dataValue(key string, value any, path string, text []byte) any {
	name, is := value.(string)
	switch {
	case !is:
	case key == "dataset.name":
		return dataOfFile(dataset.Spec{Name: name}, path, text).Name
	case slices.Contains([]string{"dataset.test", "dataset.label_file", "dataset.test_label_file", "dataset.weight_file", "dataset.schema"}, key):
		return dataPath(name, path, text)
	}
	return value
}

// checkPresets refuses a combination that contradicts the published method that its preset names.
func (s *Sweep) checkPresets() error {
	settings, err := s.Settings()
	if err != nil {
		return err
	}
	for _, setting := range settings {
		if err := CheckPreset(setting.Experiment); err != nil {
			return fmt.Errorf("%s: %w", setting.Name, err)
		}
	}
	return nil
}

// inOrder returns the keys of a table in the order of its file.
func inOrder(table map[string]any, order map[string]int) []string {
	keys := slices.Sorted(maps.Keys(table))
	slices.SortStableFunc(keys, func(a, b string) int { return order[a] - order[b] })
	return keys
}

// newAxis returns the axis along which the lists of the given keys advance together. It refuses lists of
// different lengths.
func newAxis(keys []string, table map[string]any) (Axis, error) {
	a := Axis{Keys: keys}
	for _, key := range keys {
		list, is := table[key].([]any)
		if !is || len(list) == 0 {
			return a, fmt.Errorf("%s = %s: give a list of values, such as [0.01, 0.02]", key, valueText(table[key]))
		}
		if a.Values == nil {
			a.Values = make([][]any, len(list))
		}
		if len(list) != len(a.Values) {
			return a, fmt.Errorf("%s has %d values and %s has %d: lists that advance together must have the same length", keys[0], len(a.Values), key, len(list))
		}
		for i, value := range list {
			a.Values[i] = append(a.Values[i], value)
		}
	}
	return a, nil
}

func (s *Sweep) checkAxes() error {
	for _, a := range s.Axes {
		keys := strings.Join(a.Keys, ", ")
		switch {
		case len(a.Keys) == 0:
			return errors.New("an axis has no settings: name the settings that vary along it, or omit it")
		case len(a.Values) == 0:
			return fmt.Errorf("%s: the axis has no values: give at least one, or omit it", keys)
		}
		for _, values := range a.Values {
			if len(values) != len(a.Keys) {
				return fmt.Errorf("%s: %v is not a point on the axis: give one value per setting", keys, values)
			}
			if slices.Contains(values, nil) {
				return fmt.Errorf("%s: a value is nil: give one value per setting", keys)
			}
			for i, value := range values {
				if text, err := toml.Marshal(map[string]any{"v": value}); err == nil && !bytes.HasPrefix(text, []byte("v = ")) {
					return fmt.Errorf("%s: %v is a table: vary its settings, such as dataset.name, in a table [[together]]", a.Keys[i], value)
				}
			}
		}
	}
	return nil
}

func (s *Sweep) keys() []string {
	return slices.Concat(lists.Map(s.Axes, func(a Axis) []string { return a.Keys })...)
}

// Settings returns all combinations of the axes' values, with the last axis varying fastest, or the
// base alone if there are no axes. It refuses axes that lack values, settings that the experiment
// does not have, and two combinations that are the same experiment.
func (s *Sweep) Settings() ([]Setting, error) {
	if err := s.checkAxes(); err != nil {
		return nil, err
	}
	keys := s.keys()
	for i, key := range keys {
		if slices.Contains(keys[:i], key) {
			return nil, fmt.Errorf("%s varies twice: omit one of its lists", key)
		}
	}
	number := 1
	for _, a := range s.Axes {
		number = min(number*min(len(a.Values), mostRuns+1), mostRuns+1)
	}
	if s.Seeds < 1 || s.Seeds > mostSeeds {
		return nil, fmt.Errorf("seeds = %d: give a number from 1 to %d", s.Seeds, mostSeeds)
	}
	if number*s.Seeds > mostRuns {
		return nil, fmt.Errorf("more than %d runs: use fewer values or fewer seeds", mostRuns)
	}
	base, err := s.varied(keys)
	if err != nil {
		return nil, err
	}
	settings := make([]Setting, 0, number)
	names, hashes := map[string]bool{}, map[string]string{}
	for n := range number {
		var values []any
		for i, rest := len(s.Axes)-1, n; i >= 0; i-- {
			places := s.Axes[i].Values
			values = slices.Concat(places[rest%len(places)], values)
			rest /= len(places)
		}
		varied := base
		for i, key := range keys {
			varied = withValue(varied, strings.Split(key, "."), values[i])
		}
		setting := Setting{Name: settingName(keys, values)}
		for _, value := range values {
			setting.Values = append(setting.Values, valueText(value))
		}
		text, err := toml.Marshal(varied)
		if err == nil {
			setting.Experiment, err = ParseExperiment(text)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", setting.Name, err)
		}
		if n > 0 && setting.Experiment.Header().Seed != settings[0].Experiment.Header().Seed {
			return nil, errors.New("the seed varies: instead give the number of seeds, such as seeds = 3, which count up from the base's seed")
		}
		last := setting.Experiment.Header()
		last.Seed += uint64(s.Seeds - 1)
		if err := last.checkSeeds(); err != nil {
			return nil, err
		}
		hash := setting.Experiment.Hash()
		if other, taken := hashes[hash]; taken {
			return nil, fmt.Errorf("%s and %s are the same experiment: give each value once", other, setting.Name)
		}
		hashes[hash] = setting.Name
		if names[setting.Name] {
			setting.Name = fmt.Sprintf("%.80s-%.8s", setting.Name, hash)
		}
		names[setting.Name] = true
		settings = append(settings, setting)
	}
	return settings, nil
}

// base returns the experiment that varies, as a table.
func (s *Sweep) base() (table map[string]any, err error) {
	_, err = decodeTOML(s.Base, &table)
	return table, err
}

// varied returns the base as a table. It omits the checksums of the data, and of the parameters of other runs
// that training reads, if settings of these vary. If the preset varies, it also omits the settings that a preset
// determines, unless they vary themselves.
func (s *Sweep) varied(keys []string) (table map[string]any, err error) {
	if table, err = s.base(); err != nil {
		return nil, err
	}
	varies := func(of string) bool {
		return slices.ContainsFunc(keys, func(key string) bool { return strings.HasPrefix(key, of+".") })
	}
	if varies("dataset") {
		delete(table, "fingerprint")
	}
	for name, of := range table { // such as start
		if of, is := of.(map[string]any); is && varies(name) {
			delete(of, "parameters")
		}
	}
	e, err := ParseExperiment(s.Base)
	if err != nil {
		return table, err
	}
	for _, row := range e.Rows() {
		for _, key := range row.Decides {
			name, setting := cutLast(key)
			if of, is := table[name].(map[string]any); is && slices.Contains(keys, row.Key) && !slices.Contains(keys, key) {
				delete(of, setting)
			}
		}
	}
	return table, nil
}

func withValue(table map[string]any, path []string, value any) map[string]any {
	table = maps.Clone(table)
	if len(path) > 1 {
		within, _ := table[path[0]].(map[string]any)
		if within == nil {
			within = map[string]any{}
		}
		value = withValue(within, path[1:], value)
	}
	table[path[0]] = value
	return table
}

// valueText returns a value in TOML notation.
func valueText(value any) string {
	text, err := toml.Marshal(map[string]any{"v": value})
	if err != nil {
		return fmt.Sprint(value)
	}
	return strings.TrimSpace(strings.TrimPrefix(string(text), "v = "))
}

// longestName limits the length of a directory name that describes what varies.
const longestName = 120

// settingName returns the directory name of a setting: the keys, shortened to their last parts
// unless two coincide, and their values.
func settingName(keys []string, values []any) string {
	if len(keys) == 0 {
		return "base"
	}
	last := func(key string) string { return key[strings.LastIndex(key, ".")+1:] }
	var parts []string
	for i, key := range keys {
		short := last(key)
		if slices.ContainsFunc(keys, func(other string) bool { return other != key && last(other) == short }) {
			short = key
		}
		parts = append(parts, short+"="+valueName(values[i]))
	}
	name := strings.Join(parts, ",")
	if len(name) > longestName {
		name = fmt.Sprintf("%.*s-%.8x", longestName-9, name, sha256.Sum256([]byte(name)))
	}
	return name
}

// notInNames matches the characters that are replaced in file names.
var notInNames = regexp.MustCompile(`[^-+._0-9A-Za-z]`)

// valueName returns a value in characters that file names may have.
func valueName(value any) string {
	if list := reflect.ValueOf(value); list.Kind() == reflect.Slice {
		parts := lists.N(list.Len(), func(i int) string { return valueName(list.Index(i).Interface()) })
		return strings.Join(parts, "-")
	}
	return notInNames.ReplaceAllString(strings.Trim(valueText(value), `"`), "_")
}

// TOML returns the sweep in the form that ReadSweep reads.
func (s *Sweep) TOML() ([]byte, error) {
	if err := s.checkAxes(); err != nil {
		return nil, err
	}
	base, err := s.base()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "seeds = %d\n", s.Seeds)
	for _, a := range s.Axes {
		b.WriteString("\n[[together]]\n")
		for i, key := range a.Keys {
			list := lists.Map(a.Values, func(values []any) any { return values[i] })
			fmt.Fprintf(&b, "%q = %s\n", key, valueText(list))
		}
	}
	b.WriteString("\n")
	err = toml.NewEncoder(&b).Encode(map[string]any{"base": base})
	return b.Bytes(), err
}
