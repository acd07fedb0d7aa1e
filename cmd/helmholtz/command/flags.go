package command

import (
	"encoding"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func textFlag(f *pflag.FlagSet, v text, name, usage string) {
	f.TextVar(v, name, v, usage)
	takes(f, name, textWords(v)...)
}

// text is a value that TOML writes as text.
type text interface {
	encoding.TextUnmarshaler
	encoding.TextMarshaler
}

func hyperparameterFlags(f *pflag.FlagSet, settings []runs.Hyperparameter) {
	for _, s := range settings {
		inGroup(f, s.Group, func(f *pflag.FlagSet) {
			switch v := s.Value.(type) {
			case *bool:
				f.BoolVar(v, s.Flag, *v, s.Usage)
			case *int:
				f.IntVar(v, s.Flag, *v, s.Usage)
			case *float64:
				f.Float64Var(v, s.Flag, *v, s.Usage)
			case *string:
				f.StringVar(v, s.Flag, *v, s.Usage)
			case *uint64:
				f.Uint64Var(v, s.Flag, *v, s.Usage)
			case *[]int:
				f.IntSliceVar(v, s.Flag, *v, s.Usage)
				flag := f.Lookup(s.Flag)
				flag.Value = wholeNumbers{flag.Value, flag.Value.(pflag.SliceValue)}
			case *[]float64:
				f.Float64SliceVar(v, s.Flag, *v, s.Usage)
			case text:
				textFlag(f, v, s.Flag, s.Usage)
			default:
				listFlag(f, v, s.Flag, s.Usage)
			}
			if s.Run {
				namesRun(f, s.Flag)
			}
		})
	}
}

// groupOf is the annotation for the group in which help shows a flag.
const groupOf = "group"

// runOf is the annotation of a flag whose value is the directory of a run.
const runOf = "run"

func namesRun(f *pflag.FlagSet, name string) { annotate(f.Lookup(name), runOf, "") }

func inGroup(f *pflag.FlagSet, group string, add func(*pflag.FlagSet)) {
	own := pflag.NewFlagSet("", pflag.ContinueOnError)
	own.SortFlags = false
	add(own)
	own.VisitAll(func(flag *pflag.Flag) { annotate(flag, groupOf, group) })
	f.AddFlagSet(own)
}

func annotate(f *pflag.Flag, name string, words ...string) {
	if f.Annotations == nil {
		f.Annotations = map[string][]string{}
	}
	f.Annotations[name] = words
}

// number is the value of a flag for a whole number with a minimum. An optional number may also be 0,
// which omits something.
type number struct {
	value    *int
	least    int
	optional bool
	given    **int // also set to the number once the flag is given; may be nil
}

func numberFlag(f *pflag.FlagSet, value *int, name string, normal, least int, usage string) {
	*value = normal
	f.Var(&number{value: value, least: least}, name, usage)
}

// optionalFlag adds a flag for a whole number with a minimum, or 0.
func optionalFlag(f *pflag.FlagSet, value *int, name string, normal, least int, usage string) {
	*value = normal
	f.Var(&number{value: value, least: least, optional: true}, name, usage)
}

func (n *number) String() string { return strconv.Itoa(*n.value) }

func (n *number) Type() string { return "int" }

func (n *number) Set(text string) error {
	v, err := strconv.Atoi(text)
	switch {
	case err != nil:
		return errors.New("give a whole number")
	case v < n.least && n.optional && v != 0:
		return fmt.Errorf("give at least %d, or 0 to omit it", n.least)
	case v < n.least && !n.optional:
		return fmt.Errorf("give at least %d", n.least)
	}
	*n.value = v
	if n.given != nil {
		*n.given = &v
	}
	return nil
}

// word is the value of a flag that is a text with restrictions.
type word struct {
	value  *string
	kind   string // the type in help
	refuse func(text string) error
}

func (w *word) String() string { return *w.value }

func (w *word) Type() string { return w.kind }

func (w *word) Set(text string) error {
	err := w.refuse(text)
	if err == nil {
		*w.value = text
	}
	return err
}

func choice(value *string, words ...string) *word {
	return &word{value, "string", func(text string) error {
		if !slices.Contains(words, text) {
			return fmt.Errorf("use %s%s", strings.Join(words, ", "), names.Meant(text, words...))
		}
		return nil
	}}
}

func choiceFlag(f *pflag.FlagSet, value *string, name, usage string, words ...string) {
	*value = words[0]
	f.Var(choice(value, words...), name, usage)
	takes(f, name, words...)
}

// formats are the formats of figures, by the extensions of their files.
var formats = []string{"png", "svg", "pdf"}

// fileFlag adds a flag for a file whose extension decides its format.
func fileFlag(f *pflag.FlagSet, path *string, name, normal, usage string, endings ...string) {
	*path = normal
	f.Var(&word{path, "string", func(path string) error {
		if !slices.Contains(endings, strings.ToLower(strings.TrimPrefix(filepath.Ext(path), "."))) {
			return fmt.Errorf("use a name that ends in .%s", strings.Join(endings, ", ."))
		}
		return nil
	}}, name, usage)
}

func figureFlag(f *pflag.FlagSet, path *string, normal, usage string) {
	fileFlag(f, path, "out", normal, usage+": PNG, SVG or PDF, by its extension", formats...)
}

// refuseIdle refuses given flags that have no effect without another flag. acts reports whether the
// other flag is in effect.
func refuseIdle(c *cobra.Command, acts bool, without string, flags ...string) error {
	for _, name := range flags {
		if !acts && c.Flags().Changed(name) {
			return misuse(c, "--%s has no effect without %s: give that, or omit --%s", name, without, name)
		}
	}
	return nil
}

func refuseIdleHyperparameters(c *cobra.Command, settings []runs.Hyperparameter) error {
	for _, s := range settings {
		if err := refuseIdle(c, s.Idle == "", s.Idle, s.Flag); err != nil {
			return err
		}
	}
	return nil
}

// wholeNumbers is the value of a flag that is a list of whole numbers. An empty text is an empty list.
type wholeNumbers struct {
	pflag.Value
	pflag.SliceValue
}

func (n wholeNumbers) Set(written string) error {
	if written == "" {
		return n.Replace(nil)
	}
	return n.Value.Set(written)
}

// list is the value of a flag that is a list of texts, separated by commas.
type list struct{ values reflect.Value } // a slice whose elements are written as in TOML

func listFlag(f *pflag.FlagSet, values any, name, usage string) {
	f.Var(&list{reflect.ValueOf(values).Elem()}, name, usage)
}

func (l *list) String() string {
	var words []string
	for i := range l.values.Len() {
		text, err := l.values.Index(i).Addr().Interface().(text).MarshalText()
		if err != nil {
			panic(err) // it was parsed from a text
		}
		words = append(words, string(text))
	}
	return strings.Join(words, ",")
}

func (l *list) Type() string { return "list" }

func (l *list) Set(written string) error {
	values := reflect.MakeSlice(l.values.Type(), 0, 0)
	for word := range strings.SplitSeq(written, ",") {
		v := reflect.New(values.Type().Elem())
		if err := v.Interface().(text).UnmarshalText([]byte(word)); err != nil {
			return err
		}
		values = reflect.Append(values, v.Elem())
	}
	l.values.Set(values)
	return nil
}

// computing adds the backend flag to a command, and checks before the command runs that the backend
// is available.
func computing(c *cobra.Command) *cobra.Command {
	name := backendFlag(c)
	c.PreRunE = func(*cobra.Command, []string) error {
		if *name != "" {
			return hm.UseBackend(*name)
		}
		_, _, err := hm.Device()
		return err
	}
	return c
}

func backendFlag(c *cobra.Command) *string {
	var name string
	c.Flags().Var(choice(&name, "cpu", "cuda", "auto"), "backend",
		"`backend` that computes: cpu, cuda (an NVIDIA GPU), or auto, which uses cuda if available (default $"+hm.BackendVariable+", or cpu)")
	return &name
}

// givenBackend returns the flag --backend of a command as arguments for the programs that compute in
// its place. It returns nil if the user has not given the flag.
func givenBackend(c *cobra.Command) []string {
	if f := c.Flags().Lookup("backend"); f.Changed {
		return []string{"--backend", f.Value.String()}
	}
	return nil
}
