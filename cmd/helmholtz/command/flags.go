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
	given    **int // where the number is, too, once it was given, or nil
}

// numberFlag adds a flag for a whole number of at least the given one.
func numberFlag(f *pflag.FlagSet, value *int, name string, normal, least int, usage string) {
	*value = normal
	f.Var(&number{value: value, least: least}, name, usage)
}

// optionalFlag adds a flag for a whole number of at least the given one, or 0.
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
		return fmt.Errorf("give at least %d, or 0 to leave it out", n.least)
	case v < n.least && !n.optional:
		return fmt.Errorf("give at least %d", n.least)
	}
	*n.value = v
	if n.given != nil {
		*n.given = &v
	}
	return nil
}

// word is the value of a flag that is a text which not all are.
type word struct {
	value  *string
	kind   string // as help names it
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

// choice returns the value of a flag that is one of some words.
func choice(value *string, words ...string) *word {
	return &word{value, "string", func(text string) error {
		if !slices.Contains(words, text) {
			return fmt.Errorf("use %s%s", strings.Join(words, ", "), names.Meant(text, words...))
		}
		return nil
	}}
}

// choiceFlag adds a flag for one of some words, the first of which is its
// default.
func choiceFlag(f *pflag.FlagSet, value *string, name, usage string, words ...string) {
	*value = words[0]
	f.Var(choice(value, words...), name, usage)
	takes(f, name, words...)
}

// formats are those of figures, by the endings of their files.
var formats = []string{"png", "svg", "pdf"}

// fileFlag adds the flag --out for a file, whose format its ending says.
func fileFlag(f *pflag.FlagSet, path *string, normal, usage string, endings ...string) {
	*path = normal
	f.Var(&word{path, "string", func(path string) error {
		if !slices.Contains(endings, strings.ToLower(strings.TrimPrefix(filepath.Ext(path), "."))) {
			return fmt.Errorf("use a name that ends in .%s", strings.Join(endings, ", ."))
		}
		return nil
	}}, "out", usage)
}

// figureFlag adds the flag --out for the file of a figure.
func figureFlag(f *pflag.FlagSet, path *string, normal, usage string) {
	fileFlag(f, path, normal, usage+": PNG, SVG or PDF by its ending", formats...)
}

// refuseIdle refuses flags that were given, but do nothing without another, unless that acts.
func refuseIdle(c *cobra.Command, acts bool, without string, flags ...string) error {
	for _, name := range flags {
		if !acts && c.Flags().Changed(name) {
			return misuse(c, "--%s does nothing without %s: give that, or leave --%s out", name, without, name)
		}
	}
	return nil
}

// refuseIdleHyperparameters refuses flags that were given of settings that do nothing.
func refuseIdleHyperparameters(c *cobra.Command, settings []runs.Hyperparameter) error {
	for _, s := range settings {
		if err := refuseIdle(c, s.Idle == "", s.Idle, s.Flag); err != nil {
			return err
		}
	}
	return nil
}

// list is the value of a flag that is a list of texts, separated by commas.
type list struct{ values reflect.Value } // a slice, of elements that are written as in TOML

// listFlag adds a flag for the list to which values points.
func listFlag(f *pflag.FlagSet, values any, name, usage string) {
	f.Var(&list{reflect.ValueOf(values).Elem()}, name, usage)
}

func (l *list) String() string {
	var words []string
	for i := range l.values.Len() {
		text, err := l.values.Index(i).Addr().Interface().(text).MarshalText()
		if err != nil {
			panic(err) // it was read from text
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

// computing gives a command the flag that chooses what computes, and makes sure,
// before the command begins, that this can be had.
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

// backendFlag adds the flag that chooses what computes, here or in tasks elsewhere.
func backendFlag(c *cobra.Command) *string {
	var name string
	c.Flags().Var(choice(&name, "cpu", "cuda", "auto"), "backend",
		"`what` computes: cpu, cuda (an NVIDIA GPU), or auto, cuda where it can be had (default $"+hm.BackendVariable+", or cpu)")
	return &name
}

// givenBackend is the flag of a command that chooses what computes, for the programs that compute
// in its place, or nothing where it was left out.
func givenBackend(c *cobra.Command) []string {
	if f := c.Flags().Lookup("backend"); f.Changed {
		return []string{"--backend", f.Value.String()}
	}
	return nil
}
