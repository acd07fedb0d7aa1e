package command

import (
	"encoding"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// textFlag adds a flag that is written as its setting is in TOML.
func textFlag(f *pflag.FlagSet, v text, name, usage string) {
	f.TextVar(v, name, v, usage)
	takes(f, name, textWords(v)...)
}

// text is a value that TOML has as a text.
type text interface {
	encoding.TextUnmarshaler
	encoding.TextMarshaler
}

// hyperparameterFlags adds the flags of settings, in their groups.
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
			case text:
				textFlag(f, v, s.Flag, s.Usage)
			default:
				panic(fmt.Sprintf("--%s is a %T", s.Flag, v))
			}
			if s.Run {
				namesRun(f, s.Flag)
			}
		})
	}
}

// groupOf is the annotation of a flag with the group in which help shows it.
const groupOf = "group"

// runOf is the annotation of a flag that names the directory of a run.
const runOf = "run"

// namesRun notes that a flag names the directory of a run.
func namesRun(f *pflag.FlagSet, name string) { annotate(f.Lookup(name), runOf, "") }

// inGroup adds flags that help shows together.
func inGroup(f *pflag.FlagSet, group string, add func(*pflag.FlagSet)) {
	own := pflag.NewFlagSet("", pflag.ContinueOnError)
	own.SortFlags = false
	add(own)
	own.VisitAll(func(flag *pflag.Flag) { annotate(flag, groupOf, group) })
	f.AddFlagSet(own)
}

// annotate notes words under a name beside a flag.
func annotate(f *pflag.Flag, name string, words ...string) {
	if f.Annotations == nil {
		f.Annotations = map[string][]string{}
	}
	f.Annotations[name] = words
}

// number is the value of a flag that is a whole number of at least some least
// one, or 0 where that leaves something out.
type number struct {
	value    *int
	least    int
	optional bool
}

// numberFlag adds a flag for a whole number of at least the given one.
func numberFlag(f *pflag.FlagSet, value *int, name string, normal, least int, usage string) {
	*value = normal
	f.Var(&number{value: value, least: least}, name, usage)
}

// optionalFlag adds a flag for a whole number of at least the given one, or 0.
func optionalFlag(f *pflag.FlagSet, value *int, name string, normal, least int, usage string) {
	*value = normal
	f.Var(&number{value, least, true}, name, usage)
}

func (n *number) String() string { return strconv.Itoa(*n.value) }

func (n *number) Type() string { return "int" }

func (n *number) Set(text string) error {
	v, err := strconv.Atoi(text)
	switch {
	case err != nil:
		return errors.New("give a whole number")
	case v < n.least && n.optional && v != 0:
		return fmt.Errorf("give at least %d, or 0 to leave it out", n.least)
	case v < n.least && !n.optional:
		return fmt.Errorf("give at least %d", n.least)
	}
	*n.value = v
	return nil
}

// choice is the value of a flag that is one of some words.
type choice struct {
	value *string
	words []string
}

// choiceFlag adds a flag for one of some words, the first of which is its
// default.
func choiceFlag(f *pflag.FlagSet, value *string, name, usage string, words ...string) {
	*value = words[0]
	f.Var(&choice{value, words}, name, usage)
	takes(f, name, words...)
}

func (c *choice) String() string { return *c.value }

func (c *choice) Type() string { return "string" }

func (c *choice) Set(text string) error {
	if !slices.Contains(c.words, text) {
		return fmt.Errorf("use %s%s", strings.Join(c.words, ", "), names.Meant(text, c.words...))
	}
	*c.value = text
	return nil
}

// formats are those of figures, by the endings of their files.
var formats = []string{"png", "svg", "pdf"}

// namedFile is the value of a flag that names a file, by whose ending its format is known.
type namedFile struct {
	path    *string
	endings []string
}

// figureFlag adds the flag --out for the file of a figure.
func figureFlag(f *pflag.FlagSet, path *string, normal, usage string) {
	*path = normal
	f.Var(&namedFile{path, formats}, "out", usage+": PNG, SVG or PDF by its ending")
}

func (n *namedFile) String() string { return *n.path }

func (n *namedFile) Type() string { return "string" }

func (n *namedFile) Set(path string) error {
	ending := strings.TrimPrefix(filepath.Ext(path), ".")
	if !slices.Contains(n.endings, strings.ToLower(ending)) {
		return fmt.Errorf("use a name that ends in .%s", strings.Join(n.endings, ", ."))
	}
	*n.path = path
	return nil
}

// refuseIdle refuses flags that were given, but do nothing without another.
func refuseIdle(c *cobra.Command, without string, flags ...string) error {
	for _, name := range flags {
		if c.Flags().Changed(name) {
			return misuse(c, "--%s does nothing without %s: give that, or leave --%s out", name, without, name)
		}
	}
	return nil
}

// refuseIdleHyperparameters refuses flags that were given of settings that do nothing.
func refuseIdleHyperparameters(c *cobra.Command, settings []runs.Hyperparameter) error {
	for _, s := range settings {
		if s.Idle != "" {
			if err := refuseIdle(c, s.Idle, s.Flag); err != nil {
				return err
			}
		}
	}
	return nil
}

// list is the value of a flag that is a list of texts, separated by commas.
type list[T encoding.TextMarshaler, P interface {
	*T
	encoding.TextUnmarshaler
}] struct{ values *[]T }

// listFlag adds a flag for a list whose elements are written as in TOML.
func listFlag[T encoding.TextMarshaler, P interface {
	*T
	encoding.TextUnmarshaler
}](f *pflag.FlagSet, values *[]T, name, usage string) {
	f.Var(&list[T, P]{values}, name, usage)
}

func (l *list[T, P]) String() string {
	var words []string
	for _, v := range *l.values {
		text, err := v.MarshalText()
		if err != nil {
			panic(err) // it was read from text
		}
		words = append(words, string(text))
	}
	return strings.Join(words, ",")
}

func (l *list[T, P]) Type() string { return "list" }

func (l *list[T, P]) Set(text string) error {
	var values []T
	for _, word := range strings.Split(text, ",") {
		var v T
		if err := P(&v).UnmarshalText([]byte(word)); err != nil {
			return err
		}
		values = append(values, v)
	}
	*l.values = values
	return nil
}
