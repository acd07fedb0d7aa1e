package command

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// groupHelp lets a command, and those below it, show flags in their groups, aligned
// whatever letters stand for their values.
func groupHelp(root *cobra.Command) {
	cobra.AddTemplateFunc("flagGroups", flagGroups)
	root.SetUsageTemplate(strings.Replace(root.UsageTemplate(), "Flags:\n{{.LocalFlags.FlagUsages", "{{flagGroups .LocalFlags", 1))
}

// flagGroups writes the usage of flags: those of no group first, then each group in the
// order in which they were added.
func flagGroups(f *pflag.FlagSet) string {
	lines := map[string][][2]string{}
	groups := []string{"flags"}
	width := 0
	f.VisitAll(func(flag *pflag.Flag) {
		if flag.Hidden {
			return
		}
		group := groups[0]
		if of := flag.Annotations[groupOf]; of != nil {
			group = of[0]
		}
		if !slices.Contains(groups, group) {
			groups = append(groups, group)
		}
		alone := pflag.NewFlagSet("", pflag.ContinueOnError)
		alone.AddFlag(flag)
		name, usage, _ := strings.Cut(strings.TrimRight(alone.FlagUsages(), "\n"), "   "+usageOf(flag))
		lines[group] = append(lines[group], [2]string{name, usageOf(flag) + usage})
		width = max(width, utf8.RuneCountInString(name))
	})
	var b strings.Builder
	for _, group := range groups {
		if len(lines[group]) == 0 {
			continue
		}
		if b.Len() > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "%s%s:\n", strings.ToUpper(group[:1]), group[1:])
		for _, line := range lines[group] {
			fmt.Fprintf(&b, "%-*s   %s\n", width, line[0], line[1])
		}
	}
	return b.String()
}

// usageOf is the usage of a flag without the quotes around its value.
func usageOf(flag *pflag.Flag) string {
	_, usage := pflag.UnquoteUsage(flag)
	return usage
}

// addHelp adds the commands help and completion as cobra does, which refuse what is no command.
func addHelp(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		switch c.Name() {
		case "help":
			c.Args = func(_ *cobra.Command, args []string) error {
				topic, unknown, err := root.Find(args)
				if err == nil && len(unknown) > 0 {
					err = argumentError(topic, unknown, cobra.NoArgs(topic, unknown))
				}
				return err
			}
			reportMisuse(c)
		case "completion":
			c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
			reportMisuse(c)
		}
	}
}
