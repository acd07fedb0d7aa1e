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
				if s.Words != nil {
					takes(f, s.Flag, s.Words...)
				}
			case *[]string:
				f.StringArrayVar(v, s.Flag, *v, s.Usage)
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

// value is the value of a flag that functions show and set.
type value struct {
	show func() string
	kind string // the type in help
	set  func(text string) error
}

func (v *value) String() string { return v.show() }

func (v *value) Type() string { return v.kind }

func (v *value) Set(text string) error { return v.set(text) }

// parsedFlag adds a flag for a value that parse reads. kind is its type in help.
func parsedFlag[T any](f *pflag.FlagSet, v *T, name, kind, usage string, parse func(text string) (T, error)) {
	f.Var(&value{func() string { return fmt.Sprint(*v) }, kind, func(text string) error {
		given, err := parse(text)
		if err == nil {
			*v = given
		}
		return err
	}}, name, usage)
}

// numberFlag adds a flag for a whole number with a minimum.
func numberFlag(f *pflag.FlagSet, n *int, name string, normal, least int, usage string) {
	*n = normal
	parsedFlag(f, n, name, "int", usage, func(text string) (int, error) { return wholeNumber(text, least, false) })
}

// optionalFlag adds a flag for a whole number with a minimum, or 0, which omits something.
func optionalFlag(f *pflag.FlagSet, n *int, name string, normal, least int, usage string) {
	*n = normal
	parsedFlag(f, n, name, "int", usage, func(text string) (int, error) { return wholeNumber(text, least, true) })
}

func wholeNumber(text string, least int, optional bool) (int, error) {
	n, err := strconv.Atoi(text)
	switch {
	case err != nil:
		return 0, errors.New("give a whole number")
	case n < least && optional && n != 0:
		return 0, fmt.Errorf("give at least %d, or 0 to omit it", least)
	case n < least && !optional:
		return 0, fmt.Errorf("give at least %d", least)
	}
	return n, nil
}

// choiceFlag adds a flag for one of several words, the first of which is the default.
func choiceFlag(f *pflag.FlagSet, text *string, name, usage string, words ...string) {
	*text = words[0]
	parsedFlag(f, text, name, "string", usage, func(given string) (string, error) {
		if !slices.Contains(words, given) {
			return "", fmt.Errorf("use %s%s", strings.Join(words, ", "), names.Meant(given, words...))
		}
		return given, nil
	})
	takes(f, name, words...)
}

// formats are the formats of figures, by the extensions of their files.
var formats = []string{"png", "svg", "pdf"}

// fileFlag adds a flag for a file whose extension decides its format.
func fileFlag(f *pflag.FlagSet, path *string, name, normal, usage string, endings ...string) {
	*path = normal
	parsedFlag(f, path, name, "string", usage, func(given string) (string, error) {
		if !slices.Contains(endings, extensionOf(given)) {
			return "", fmt.Errorf("use a name that ends in .%s", strings.Join(endings, ", ."))
		}
		return given, nil
	})
}

// extensionOf returns the extension of a file in lower case, without its dot.
func extensionOf(path string) string {
	return strings.ToLower(strings.TrimPrefix(filepath.Ext(path), "."))
}

func figureFlag(f *pflag.FlagSet, name string, path *string, normal, usage string) {
	fileFlag(f, path, name, normal, usage+": PNG, SVG or PDF, by its extension", formats...)
}

// figureFormatFlag adds the flag for the format of several figures.
func figureFormatFlag(f *pflag.FlagSet, format *string) {
	choiceFlag(f, format, "figure-format", "`format` of figures: "+strings.Join(formats, ", "), formats...)
}

// formerly keeps an older name of a flag for scripts. Help does not show it.
func formerly(f *pflag.FlagSet, older, name string) {
	f.SetNormalizeFunc(func(_ *pflag.FlagSet, given string) pflag.NormalizedName {
		if given == older {
			given = name
		}
		return pflag.NormalizedName(given)
	})
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

// listFlag adds a flag for a list of texts, separated by commas. It points to a slice whose elements are written as
// in TOML.
func listFlag(f *pflag.FlagSet, list any, name, usage string) {
	all := reflect.ValueOf(list).Elem()
	show := func() string {
		var words []string
		for i := range all.Len() {
			text, err := all.Index(i).Addr().Interface().(text).MarshalText()
			if err != nil {
				panic(err) // it was parsed from a text
			}
			words = append(words, string(text))
		}
		return strings.Join(words, ",")
	}
	f.Var(&value{show, "list", func(written string) error {
		given := reflect.MakeSlice(all.Type(), 0, 0)
		for word := range strings.SplitSeq(written, ",") {
			v := reflect.New(all.Type().Elem())
			if err := v.Interface().(text).UnmarshalText([]byte(word)); err != nil {
				return err
			}
			given = reflect.Append(given, v.Elem())
		}
		all.Set(given)
		return nil
	}}, name, usage)
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
	choiceFlag(c.Flags(), &name, "backend", "`backend` that computes: cpu, cuda (an NVIDIA GPU), or auto, which uses cuda if available (default $"+hm.BackendVariable+", or cpu)", "cpu", "cuda", "auto")
	name, c.Flags().Lookup("backend").DefValue = "", "" // the variable decides
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
