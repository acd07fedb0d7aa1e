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

// deepestTOML is more brackets within each other, and more parts of a key, than any
// experiment has. The parser goes down into them by recursion.
const deepestTOML = 32

// DecodeTOML reads the text of an experiment into a value, as toml.Decode does. It
// refuses what is larger, or nested deeper, than any experiment is.
func DecodeTOML(text []byte, into any) (toml.MetaData, error) {
	if len(text) > file.Small {
		return toml.MetaData{}, fmt.Errorf("an experiment of %d bytes, where none has more than %d: give another file", len(text), file.Small)
	}
	if line := tooDeep(text); line > 0 {
		return toml.MetaData{}, fmt.Errorf("line %d: more than %d brackets within each other, or dots in a key: no experiment has that, give another file", line, deepestTOML)
	}
	return toml.Decode(string(text), into)
}

// EncodeTOML writes a value as TOML. It panics where a setting has no name, which Check of an
// experiment refuses.
func EncodeTOML(value any) []byte {
	text, err := encodeTOML(value)
	if err != nil {
		panic(err)
	}
	return text
}

func encodeTOML(value any) ([]byte, error) {
	var b bytes.Buffer
	err := toml.NewEncoder(&b).Encode(value)
	return b.Bytes(), err
}

// HashOf is the SHA-256, in hexadecimal, of the name of a family and of the JSON of an
// experiment of it: what Hash of the experiment may be. It panics where a number is not finite
// or a setting has no name, which Check of an experiment refuses.
func HashOf(family string, e Experiment) string {
	text, err := json.Marshal(e)
	if err != nil {
		panic(err)
	}
	return fmt.Sprintf("%x", sha256.Sum256(append([]byte(family), text...)))
}

// CheckDecoded refuses settings of an experiment file that into, the value that DecodeTOML
// filled, does not have, and names the closest that it has. What differs from one that it has
// in the case of letters is refused, too, although it has been decoded: the file could have both.
// meta is what DecodeTOML returned.
func CheckDecoded(meta toml.MetaData, into any) error {
	known := append(settingNames("", reflect.TypeOf(into)), "family")
	for _, key := range meta.Keys() {
		if written := strings.Join(key, "."); !slices.Contains(known, written) {
			return fmt.Errorf("unknown setting %q%s: remove it or mend its spelling", written, meantSetting(written, known))
		}
	}
	return nil
}

// meantSetting names the setting whose last part is the closest, as names.Meant does: one of the
// same table where one is near there, unless another table has the very word.
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

// cutLast cuts the last part off a name with dots.
func cutLast(name string) (table, last string) {
	i := strings.LastIndexByte(name, '.')
	return name[:max(0, i)], name[i+1:]
}

// settingNames are the keys of a type and of those within it, with what they begin with.
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

// passedTOML are comments and strings, in whose place brackets and dots mean nothing. A string that
// does not end reaches to the end of the text, and one of three quotes may end in two more.
var passedTOML = regexp.MustCompile(`(?s)#[^\n]*|"""(?:\\.|[^\\])*?(?:"{3,5}|\\?\z)|'''.*?(?:'{3,5}|\z)|"(?:\\.|[^"\\])*(?:"|\\?\z)|'[^']*(?:'|\z)`)

// tooDeep is the line in which TOML is nested too deeply, 0 if none is.
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

// Differences names the settings, but for the fingerprint of the data, that are
// other here than there, by their full names in TOML, with both values.
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

// settings are the settings of an experiment, by their full names in TOML.
func settings(e Experiment) map[string]string {
	values := map[string]string{}
	table, elements := "", map[string]int{} // of tables of arrays
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
