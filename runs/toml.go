package runs

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
	"github.com/helmholtz-go/helmholtz/internal/file"
	"github.com/helmholtz-go/helmholtz/internal/names"
)

// deepestTOML exceeds the nesting of brackets and of dotted keys in any experiment. The parser
// recurses into them.
const deepestTOML = 32

// DecodeTOML reads TOML into a struct, to which into points. It refuses settings that the struct does not have, and suggests
// the closest known setting. Keys are the toml tags of fields, or their names. It also refuses a key that differs from a
// setting only in case, because the file could then contain both, and a text that is larger or nested more deeply than any
// experiment.
func DecodeTOML(text []byte, into any) error {
	meta, err := decodeTOML(text, into)
	if err != nil {
		return err
	}
	known := append(settingNames("", reflect.TypeOf(into)), "family")
	for _, key := range meta.Keys() {
		if written := strings.Join(key, "."); !slices.Contains(known, written) {
			return fmt.Errorf("unknown setting %q%s: remove it or correct its spelling", written, meantSetting(written, known))
		}
	}
	return nil
}

// decodeTOML is like DecodeTOML, but accepts any settings.
func decodeTOML(text []byte, into any) (toml.MetaData, error) {
	if len(text) > file.Small {
		return toml.MetaData{}, fmt.Errorf("the experiment has %d bytes, more than the limit of %d: give another file", len(text), file.Small)
	}
	if line := tooDeep(text); line > 0 {
		return toml.MetaData{}, fmt.Errorf("line %d: more than %d nested brackets, or dots in a key, which no experiment has: give another file", line, deepestTOML)
	}
	return toml.Decode(string(text), into)
}

// HashOf returns the SHA-256, in hexadecimal, of the name of a family and the JSON of an
// experiment. It can serve as Experiment.Hash. It panics if a number is not finite or a setting's
// value has no name, which Experiment.Check refuses.
func HashOf(family string, e Experiment) string {
	text, err := json.Marshal(e)
	if err != nil {
		panic(err)
	}
	return fmt.Sprintf("%x", sha256.Sum256(append([]byte(family), text...)))
}

// meantSetting suggests the setting whose last part is closest to the last part of written, like
// names.Meant. It prefers a close setting in the same table, unless another table has the exact word.
func meantSetting(written string, known []string) string {
	table, last := cutLast(written)
	var lasts, beside []string
	for _, name := range known {
		of, key := cutLast(name)
		lasts = append(lasts, key)
		if strings.EqualFold(of, table) {
			beside = append(beside, key)
		}
	}
	best := names.Closest(last, lasts...)
	if best == "" {
		return ""
	}
	meant := known[slices.Index(lasts, best)]
	if near := names.Closest(last, beside...); near != "" && (near == best || !strings.EqualFold(best, last)) {
		meant = known[slices.IndexFunc(known, func(name string) bool {
			of, key := cutLast(name)
			return key == near && strings.EqualFold(of, table)
		})]
	}
	return fmt.Sprintf(" (did you mean %q?)", meant)
}

// cutLast splits off the last part of a dotted name.
func cutLast(name string) (table, last string) {
	i := strings.LastIndexByte(name, '.')
	return name[:max(0, i)], name[i+1:]
}

// settingNames returns the TOML keys of the fields of a type, including fields of inner structs, each with
// the prefix begin.
func settingNames(begin string, t reflect.Type) (all []string) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return nil
	}
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("toml"), ",")
		switch {
		case name == "-" || !f.IsExported():
		case name == "" && f.Anonymous:
			all = append(all, settingNames(begin, f.Type)...)
		default:
			name = cmp.Or(name, f.Name)
			all = append(append(all, begin+name), settingNames(begin+name+".", f.Type)...)
		}
	}
	return all
}

// passedTOML matches comments and strings, in which brackets and dots have no meaning. An
// unterminated string extends to the end of the text, and a triple-quoted string may end in two
// additional quotes.
var passedTOML = regexp.MustCompile(`(?s)#[^\n]*|"""(?:\\.|[^\\])*?(?:"{3,5}|\\?\z)|'''.*?(?:'{3,5}|\z)|"(?:\\.|[^"\\])*(?:"|\\?\z)|'[^']*(?:'|\z)`)

// tooDeep returns the line at which TOML is nested too deeply, or 0 if there is none.
func tooDeep(text []byte) int {
	depth, dots := 0, 0
	for i, c := range passedTOML.ReplaceAllFunc(text, func(passed []byte) []byte { return bytes.Repeat([]byte{' '}, len(passed)) }) {
		switch c {
		case '[', '{':
			depth++
		case ']', '}':
			depth = max(0, depth-1)
		case '.':
			dots++
		case '=', ',', '\n':
			dots = 0
		}
		if depth > deepestTOML || dots > deepestTOML {
			return 1 + bytes.Count(text[:i], []byte("\n"))
		}
	}
	return 0
}

// Differences lists the settings, except the fingerprint of the data, that differ between two
// experiments, by their full TOML names with both values.
func Differences(here, there Experiment) []string {
	was, is := settings(there), settings(here)
	keys := maps.Clone(was)
	maps.Copy(keys, is)
	var differences []string
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if was[key] != is[key] && key != "fingerprint" {
			differences = append(differences, fmt.Sprintf("%s is %s there, %s here", key, cmp.Or(was[key], "unset"), cmp.Or(is[key], "unset")))
		}
	}
	return differences
}

// settings returns the settings of an experiment by their full TOML names.
func settings(e Experiment) map[string]string {
	values := map[string]string{}
	table, elements := "", map[string]int{} // counts in arrays of tables
	for line := range strings.Lines(string(e.TOML())) {
		line = strings.TrimSpace(line)
		if name, ok := strings.CutPrefix(line, "[["); ok {
			name = strings.Trim(name, "]")
			table = fmt.Sprintf("%s.%d.", name, elements[name])
			elements[name]++
		} else if strings.HasPrefix(line, "[") {
			table = strings.Trim(line, "[]") + "."
		} else if key, value, ok := strings.Cut(line, " = "); ok {
			values[table+key] = value
		}
	}
	return values
}

// unquoted decodes a string in TOML notation. It returns any other text unchanged.
func unquoted(text string) string {
	var decoded struct{ V string }
	if _, err := toml.Decode("v = "+text, &decoded); err != nil {
		return text
	}
	return decoded.V
}
