package command

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/helmholtz-go/helmholtz/internal/lists"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func openModel(dir, checkpoint string) (*runs.Run, any, error) {
	run, err := runs.Open(dir)
	if err != nil {
		return nil, nil, err
	}
	model, err := run.ModelAt(checkpoint)
	return run, model, err
}

// chainFlags adds the flags of chains, except their number of sweeps, and returns their names.
func chainFlags(f *pflag.FlagSet, chain *runs.Chain) (names []string) {
	own := pflag.NewFlagSet("", pflag.ContinueOnError)
	numberFlag(own, &chain.Candidates, "candidates", 100, 1, "`K` candidates per layer of a sweep, one of which is picked")
	numberFlag(own, &chain.Inner, "inner", 10, 1, "`N` samples to estimate p̃*(x) of a candidate")
	own.BoolVar(&chain.Retain, "retain", false, "make the previous state a candidate: exact, but moves more slowly")
	own.VisitAll(func(flag *pflag.Flag) { names = append(names, flag.Name) })
	f.AddFlagSet(own)
	return names
}

// refuseUnused refuses given flags that are in all but not in uses. who is the subject of the error.
func refuseUnused(c *cobra.Command, who string, all, uses []string) error {
	for _, name := range all {
		if c.Flags().Changed(name) && !slices.Contains(uses, name) {
			return misuse(c, "--%s: %s does not use it; omit it", name, who)
		}
	}
	return nil
}

// exactLogP returns why options of samples have no effect, or "" if the model may draw samples to estimate log p.
func exactLogP(model any) string {
	counter, counts := model.(runs.SampleCounter)
	if _, is := model.(runs.RowEvaluator); !is || !counts || counter.CountSamples(1) != "" {
		return ""
	}
	return "log p of this model is exact, and nothing is sampled or annealed"
}

// refuseSampling refuses flags of samples if log p is exact.
func refuseSampling(c *cobra.Command, model any) error {
	for _, name := range []string{"samples", "chains", "schedule"} {
		if reason := exactLogP(model); reason != "" && c.Flags().Changed(name) {
			return unusedOption(c, &runs.OptionError{Option: name, Reason: reason})
		}
	}
	return nil
}

// unusedOption turns the error for an option that an evaluation does not use into misuse of its flag. It returns other errors as they are.
func unusedOption(c *cobra.Command, err error) error {
	if unused, is := errors.AsType[*runs.OptionError](err); is {
		return misuse(c, "--%s: %s; omit it", unused.Option, unused.Reason)
	}
	return err
}

// drawingOf returns a kind of images, the default kind of the model if kind is "". It
// refuses flags that this kind does not use.
func drawingOf(c *cobra.Command, run *runs.Run, model any, kind string, sweeps int, options []string) (d runs.Drawing, err error) {
	sampler, is := model.(runs.Sampler)
	var all []runs.Drawing
	if is {
		all = sampler.Drawings()
	}
	if len(all) == 0 {
		return d, run.Lacks("draws no images")
	}
	who := run.Noun()
	if d = all[0]; kind != "" {
		i := slices.IndexFunc(all, func(d runs.Drawing) bool { return d.Kind == kind })
		if i < 0 {
			kinds := lists.Map(all, func(d runs.Drawing) string { return d.Kind })
			return d, misuse(c, "--kind %s: %s draws %s; give one of these, or omit it%s", kind, who, strings.Join(kinds, ", "), names.Meant(kind, kinds...))
		}
		d = all[i]
	}
	for _, other := range all {
		for _, option := range other.Uses {
			if !slices.Contains(d.Uses, option) {
				if err := refuseIdle(c, false, "--kind "+other.Kind, option); err != nil {
					return d, err
				}
			}
		}
	}
	if err := refuseUnused(c, who, options, d.Uses); err != nil {
		return d, err
	}
	if d.Sweeps > 0 && sweeps == 0 {
		return d, misuse(c, "the chains of %s start anywhere and draw noise at first: give --gibbs N sweeps, such as --gibbs %d", who, d.Sweeps)
	}
	return d, nil
}

func savedAt(c *cobra.Command, path string, err error) error {
	if err == nil {
		fmt.Fprintln(c.OutOrStdout(), path)
	}
	return err
}
