package command

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func init() { cobra.AddTemplateFunc("flagGroups", flagGroups) } // once, since cobra writes to a map without a lock

// groupHelp makes a command and its subcommands show flags in groups. It aligns the descriptions of
// the flags, however long the placeholders of their values are.
func groupHelp(root *cobra.Command) {
	root.SetUsageTemplate(strings.Replace(root.UsageTemplate(), "Flags:\n{{.LocalFlags.FlagUsages", "{{flagGroups .LocalFlags", 1))
}

// commonTrainFlags are the flags of train that help shows first, the most used first.
var commonTrainFlags = []string{
	"dataset", "algorithm", "layers", "lr", "epochs", "out", "resume", "seeds", "seed", "config", "batch", "samples", "damping", "schedule",
	"validation", "from", "backend",
}

// trainExamples are the examples that the help of train shows first.
const trainExamples = `  helmholtz train --dataset glyphs --algorithm nrws --layers 100,50,20 --epochs 5 --out runs/first
  helmholtz train --resume runs/first --epochs 10
  helmholtz train --dataset faces.npy --algorithm rws --layers 50,20 --seeds 3 --out runs/faces
  helmholtz train --dataset mnist --algorithm pcd --layers 500 --out runs/rbm
`

// helpWord returns the argument after --help, or "" if there is none.
func helpWord(args []string) string {
	at := slices.IndexFunc(args, func(arg string) bool { return arg == "--help" || arg == "-h" })
	if at < 0 || at+1 == len(args) || strings.HasPrefix(args[at+1], "-") {
		return ""
	}
	return args[at+1]
}

// refuseHelpWord refuses a word after the --help of train, which would be ignored.
func refuseHelpWord(root *cobra.Command, args []string) error {
	c, args, err := root.Find(args)
	if word := helpWord(args); err == nil && c.CommandPath() == "helmholtz train" && word != "" && word != "all" {
		return misuse(c, "--help %s: write --help all for all flags, or helmholtz train FAMILY --help for the flags of a family", word)
	}
	return nil
}

// shortHelp makes train show only its common flags, on one screen, and all its flags with --help
// all.
func shortHelp(root *cobra.Command) {
	whole := root.HelpFunc()
	root.SetHelpFunc(func(c *cobra.Command, args []string) {
		if c.CommandPath() != "helmholtz train" || helpWord(args) == "all" {
			whole(c, args)
			return
		}
		all := 0
		c.Flags().VisitAll(func(flag *pflag.Flag) {
			if !flag.Hidden {
				all++
			}
		})
		common := pflag.NewFlagSet("", pflag.ContinueOnError)
		common.SortFlags = false
		for _, name := range commonTrainFlags {
			flag := *c.Flags().Lookup(name)
			flag.Annotations = nil // no groups
			flag.Usage, _, _ = strings.Cut(flag.Usage, ";")
			common.AddFlag(&flag)
		}
		fmt.Fprintf(c.OutOrStdout(), "%s.\n\nFlags describe the experiment, or change the settings of a TOML file (helmholtz new writes one).\n\nUsage:\n  %s\n\nExamples:\n%s\n%s\n%s --help all explains all %d flags and lists the commands of other families, such as boltzmann.\n",
			c.Short, c.UseLine(), trainExamples, flagGroups(common), c.CommandPath(), all)
	})
}

// flagGroups formats the usage of flags: flags without a group first, then each group in the order
// of its first flag.
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

func usageOf(flag *pflag.Flag) string {
	_, usage := pflag.UnquoteUsage(flag)
	return usage
}

// addHelp adds cobra's commands help and completion, and makes them refuse unknown arguments.
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
