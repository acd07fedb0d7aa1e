//go:build unix

package kernel

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"

	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/runs"
)

// linked matches gopls's link to a method or a field of this library, with its package, type and name.
var linked = regexp.MustCompile(`pkg\.go\.dev/` + regexp.QuoteMeta(module) + `/([\w/]+)#(\w+)\.(\w+)`)

// Hover returns the explanation of a name by gopls. If the name is a setting, it adds the key, the default and the usual
// values, as the help of the command line has them.
func (m magics) Hover(said string) string {
	found := linked.FindStringSubmatch(said)
	if found == nil {
		return said
	}
	more, matched := "", false
	for _, of := range []string{found[1] + "." + found[2] + ",", found[1] + "."} { // the settings of a family, or its package
		for _, family := range runs.Families() {
			e, err := runs.NewDraft(family).Experiment()
			if err != nil {
				continue
			}
			kind := reflect.TypeOf(e)
			if !strings.Contains(kind.PkgPath()+"."+kind.Name(), module+"/"+of) { // type arguments have paths, too
				continue
			}
			matched = true
			for _, row := range e.Rows() {
				key := row.Key[strings.LastIndexByte(row.Key, '.')+1:]
				if !strings.EqualFold(strings.ReplaceAll(key, "_", ""), found[3]) {
					continue
				}
				more += fmt.Sprintf("\n\n---\n\n`%s` of %s, `--%s`: %s; default `%v`", row.Key, family, row.Flag, row.Usage, reflect.ValueOf(row.Value).Elem())
				if row.Remedy != "" {
					more += "; " + row.Remedy
				}
				if row.Idle != "" {
					more += "; needs " + row.Idle
				}
			}
		}
		if matched {
			break
		}
	}
	return said + more
}

// unknown matches the errors of Go about a field or a method that a type does not have, and about a name that a package
// does not have.
var unknown = regexp.MustCompile(`\(type \*?(\w+)\.(\w+) has no field or method (\w+)\)|undefined: (\w+)\.(\w+)\b`)

// Suggest adds the name that was meant to the errors of a compiler about unknown names of this library.
func (m magics) Suggest(report string) string {
	return unknown.ReplaceAllStringFunc(report, func(said string) string {
		found := unknown.FindStringSubmatch(said)
		known := m.exported(found[1]+found[4], found[2])
		word := strings.ReplaceAll(found[3]+found[5], "_", "")
		for _, prefix := range []string{"", "Set", "With"} {
			if short, is := strings.CutPrefix(word, prefix); is {
				if meant := names.Meant(short, known...); meant != "" {
					return said + meant
				}
			}
		}
		return said
	})
}

// exported returns the exported methods and fields of a type in this library or, if the type is "", the exported names
// of a package. It relies on the form that gofmt gives to files.
func (m magics) exported(name, of string) (all []string) {
	alone, block := `^func \(\w+ \*?`+of+`\b.*?\) ([A-Z]\w*)`, `(?s)^type `+of+`\b[^\n]* struct {\n(.*?)^}`
	if of == "" {
		alone, block = `^(?:func|type|const|var) ([A-Z]\w*)`, `(?s)^(?:const|var|type) \(\n(.*?)^\)`
	}
	find := func(pattern string, in []byte) (found []string) {
		for _, match := range regexp.MustCompile("(?m)"+pattern).FindAllSubmatch(in, -1) {
			found = append(found, string(match[1]))
		}
		return found
	}
	_ = filepath.WalkDir(m.module, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || path == m.module:
		case d.IsDir() && (d.Name() == "internal" || d.Name() == "build" || d.Name()[0] == '.'):
			return filepath.SkipDir
		case filepath.Base(filepath.Dir(path)) == name && filepath.Ext(path) == ".go" && !strings.HasSuffix(path, "_test.go"):
			text, _ := os.ReadFile(path) // a file that cannot be read has no names
			all = append(all, find(alone, text)...)
			for _, inner := range find(block, text) {
				all = append(all, find(`^\t([A-Z]\w*)`, []byte(inner))...)
			}
		}
		return nil
	})
	return all
}
