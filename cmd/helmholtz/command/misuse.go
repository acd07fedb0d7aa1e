package command

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/helmholtz-go/helmholtz/internal/lists"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// kindsOfValues describes the values of pflag's own flag types.
var kindsOfValues = map[string]string{
	"int": "a whole number", "uint64": "a whole number of at least 0", "float64": "a number", "bool": "true or false",
	"intSlice": "whole numbers, separated by commas", "duration": "a number with its unit, such as 30m or 4h",
}

func flagError(c *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var invalid *pflag.InvalidValueError
	var number *strconv.NumError
	switch {
	case errors.As(err, &unknown):
		return fmt.Errorf("%w%s", err, cmp.Or(offered(c, unknown.GetSpecifiedName()), meantFlag(c, unknown.GetSpecifiedName())))
	case errors.As(err, &invalid) && (errors.As(err, &number) || invalid.GetFlag().Value.Type() == "duration"):
		f := invalid.GetFlag()
		return fmt.Errorf("--%s=%s: give %s", f.Name, invalid.GetValue(), kindsOfValues[f.Value.Type()])
	case errors.As(err, &invalid):
		return fmt.Errorf("--%s=%s: %w", invalid.GetFlag().Name, invalid.GetValue(), invalid.Unwrap())
	}
	return err
}

// meantFlag returns a question that suggests the flag with the closest name, or else the only flag whose name the word shortens, or
// lengthens to the name of its value, as --num does --n for a number. It returns "" if there is none.
func meantFlag(c *cobra.Command, word string) string {
	var all, shortened []string
	c.Flags().VisitAll(func(f *pflag.Flag) {
		all = append(all, f.Name)
		if value, _ := pflag.UnquoteUsage(f); strings.HasPrefix(f.Name, word) || strings.HasPrefix(word, f.Name) && strings.HasPrefix(value, word) {
			shortened = append(shortened, f.Name)
		}
	})
	best := names.Closest(word, all...)
	if best == "" && len(shortened) == 1 {
		best = shortened[0]
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf(" (did you mean %q?)", "--"+best)
}

// trainOf returns the command with one subcommand per family that is c or its parent, such as train, or nil.
func trainOf(c *cobra.Command) *cobra.Command {
	for ; c != nil; c = c.Parent() {
		if c.Name() == "train" {
			return c
		}
	}
	return nil
}

// offered names the commands for other families that have a flag, or returns "".
func offered(c *cobra.Command, flag string) string {
	if c = trainOf(c); c == nil {
		return ""
	}
	var have []string
	for _, other := range c.Commands() {
		if other.Flags().Lookup(flag) != nil {
			have = append(have, other.Name())
		}
	}
	if have == nil {
		return ""
	}
	return fmt.Sprintf(" (a flag of %s %s): omit it, or choose such a family", c.CommandPath(), strings.Join(have, ", "))
}

// refuseMissing refuses a command that lacks required flags, and explains each of them.
func refuseMissing(c *cobra.Command, required ...string) error {
	var missing []string
	for _, name := range required {
		if f := c.Flags().Lookup(name); !f.Changed {
			missing = append(missing, fmt.Sprintf("--%s (%s)", name, usageOf(f)))
		}
	}
	if missing == nil {
		return nil
	}
	return misuse(c, "give also %s", strings.Join(missing, ", "))
}

// refuseRepeated refuses a flag that is given twice, because pflag would join the values of a list, and use
// only the last value of any other flag. String arrays may be repeated. It ignores unknown
// and invalid flags, which pflag itself reports later.
func refuseRepeated(root *cobra.Command, args []string) (err error) {
	c, args, failure := root.Find(args)
	if failure != nil {
		return nil
	}
	c.InitDefaultHelpFlag()
	given := map[*pflag.Flag]string{}
	_ = c.Flags().ParseAll(args, func(f *pflag.Flag, value string) error {
		first, twice := given[f]
		if twice && f.Value.Type() != "stringArray" && err == nil {
			remedy := "give it once"
			if _, isList := f.Value.(pflag.SliceValue); isList {
				remedy = fmt.Sprintf("give one list, such as --%s %s,%s", f.Name, first, value)
			}
			err = misuse(c, "--%s is given twice, as %s and as %s: %s", f.Name, first, value, remedy)
		}
		given[f] = value
		return nil
	})
	return err
}

func refuseEmpty(c *cobra.Command) (err error) {
	c.Flags().Visit(func(f *pflag.Flag) {
		if f.Value.Type() == "string" && f.Value.String() == "" {
			value, _ := pflag.UnquoteUsage(f)
			err = misuse(c, "--%s \"\" is empty (is a shell variable unset?): give a value, %s, or omit it", f.Name, value)
		}
	})
	return err
}

// noArgs refuses arguments, and suggests the flags of the command that the user may have meant.
func noArgs(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	isBool := args[0] == "true" || args[0] == "false"
	var flags []string
	c.Flags().VisitAll(func(f *pflag.Flag) {
		value, _ := pflag.UnquoteUsage(f)
		switch {
		case isBool && f.Changed && f.Value.Type() == "bool":
			flags = append(flags, "--"+f.Name+"="+args[0])
		case !isBool && slices.Contains([]string{"config", "resume", "dataset"}, f.Name):
			flags = append(flags, "--"+f.Name+" "+value)
		}
	})
	remedy := ""
	if len(flags) > 0 {
		remedy = ", or write it as " + strings.Join(flags, " or ")
	}
	return fmt.Errorf("%s takes no arguments: omit %q%s", c.CommandPath(), args[0], remedy)
}

// argumentError adds the name of the most similar subcommand to the error of a wrong argument.
func argumentError(c *cobra.Command, args []string, err error) error {
	if len(args) == 0 || !c.HasAvailableSubCommands() {
		return err
	}
	all := lists.Map(c.Commands(), (*cobra.Command).Name)
	return fmt.Errorf("%w%s", err, names.Meant(args[0], all...))
}

// firstOf returns the first error, or nil.
var firstOf = cmp.Or[error] // staticcheck holds that cmp.Or never returns nil
