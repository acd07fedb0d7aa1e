package command

import (
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/internal/fuzz"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// eachCommand calls visit with a command and its subcommands.
func eachCommand(c *cobra.Command, visit func(*cobra.Command)) {
	visit(c)
	for _, below := range c.Commands() {
		eachCommand(below, visit)
	}
}

// FuzzFlags sets every flag with a given name, in all commands, to a text. A flag that accepts the
// text also accepts its own String, and keeps its value.
func FuzzFlags(f *testing.F) {
	flags := map[string]map[string]*pflag.Flag{} // by name and command
	eachCommand(newRoot(), func(c *cobra.Command) {
		c.LocalFlags().VisitAll(func(flag *pflag.Flag) {
			f.Add(flag.Name, flag.DefValue)
			if flags[flag.Name] == nil {
				flags[flag.Name] = map[string]*pflag.Flag{}
			}
			flags[flag.Name][c.CommandPath()] = flag
		})
	})
	for name, text := range map[string]string{
		"conv": "8@4x4/2,q:8@4x4/2", "units": "bernoulli,gaussian", "measure": "every=5,name=a,split=test", "layers": "[3,2]", "keep": "1,+2",
		"checkpoint": "03", "out": "a.PNG", "damping": "0x1p-2", "binarization": "grey", "data-seed": "18446744073709551615",
	} {
		f.Add(name, text)
	}
	f.Fuzz(func(t *testing.T, name, text string) {
		for command, flag := range flags[name] {
			list, isList := flag.Value.(pflag.SliceValue)
			if isList {
				list.Replace(nil) // otherwise it appends
			}
			var err error
			fuzz.Bounded(t, len(text), func() { err = flag.Value.Set(text) })
			if err != nil {
				continue
			}
			is := flag.Value.String()
			if isList {
				err = list.Replace(list.GetSlice())
			} else {
				err = flag.Value.Set(is)
			}
			if again := flag.Value.String(); err != nil || again != is {
				t.Errorf("%s --%s=%q is %q, which is refused (%v) or read as %q", command, name, text, is, err, again)
			}
		}
	})
}

// FuzzExperimentFlags sets flags of train, one NAME=TEXT per line. The experiment that they
// describe can be written and read again unchanged.
func FuzzExperimentFlags(f *testing.F) {
	f.Add("layers=4,3\nlr=0.1\nkeep=1,2\nmeasure=every=2,rows=5\nmeasure=name=b")
	f.Add("conv=8@4x4/2,q:1@2x2/1\nunits=gaussian\nvalidation=-1\nseed=9223372036854775808")
	f.Add("algorithm=bihm\nlr=nan\nfrom=a\nfrom-checkpoint=best")
	f.Fuzz(func(t *testing.T, text string) {
		c := &cobra.Command{}
		c.SetErr(io.Discard)
		x := newDraftFlags(c.Flags(), "hm")
		for line := range strings.SplitSeq(text, "\n") {
			name, value, _ := strings.Cut(line, "=")
			if name == "config" { // a file
				return
			}
			if c.Flags().Lookup(name) == nil || c.Flags().Set(name, value) != nil {
				return
			}
		}
		e, err := x.experiment(c)
		if err != nil {
			return
		}
		// A value that a file cannot hold is refused when the file is read.
		back, err := hm.ParseExperiment(e.TOML())
		if err != nil {
			return
		}
		if !slices.Equal(back.TOML(), e.TOML()) || back.Hash() != e.Hash() {
			t.Errorf("%q describes\n%s, read again\n%s", text, e.TOML(), back.TOML())
		}
	})
}
