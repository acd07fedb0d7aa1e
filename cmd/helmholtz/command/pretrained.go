package command

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/helmholtz-go/helmholtz/plotting"
	"github.com/helmholtz-go/helmholtz/runs/pretrained"
	"github.com/spf13/cobra"
)

func newPretrained() *cobra.Command {
	return newGroup(&cobra.Command{
		Use:   "pretrained",
		Short: "List, fetch and check trained machines",
	}, newPretrainedList(), newPretrainedShow(), newPretrainedGet(), computing(newPretrainedCheck()), computing(newPretrainedAdd()))
}

func newPretrainedList() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the pretrained machines and where they are",
		Args:  noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			t := tabwriter.NewWriter(c.OutOrStdout(), 0, 0, 2, ' ', 0)
			fmt.Fprintln(t, "NAME\tMEASURED\tWHERE\tABOUT")
			var damaged error
			for _, name := range pretrained.Names() {
				measured := ""
				m, err := described(name)
				if err != nil {
					m.Dir, damaged = "damaged", errors.Join(damaged, err)
				} else {
					measured = m.Evaluation.Short(2)
				}
				fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", name, measured, m.Dir, m.About)
			}
			return errors.Join(t.Flush(), damaged)
		},
	}
}

// described finds a machine. If the files of a machine of the catalogue are not on this computer, described returns its
// card, with the command that fetches the machine in place of the directory.
func described(name string) (pretrained.Machine, error) {
	m, err := pretrained.Find(name)
	for _, p := range pretrained.Catalogue() {
		if p.Name == name && err != nil {
			m = pretrained.Machine{Card: p.Card, Dir: "missing: helmholtz pretrained get " + name, Published: true}
			if errors.Is(err, fs.ErrNotExist) {
				err = nil
			}
		}
	}
	return m, err
}

// oneMachine requires one or more names of pretrained machines.
var oneMachine = some("name a pretrained machine: helmholtz pretrained list shows all")

func newPretrainedShow() *cobra.Command {
	return ofNames("show NAME...", "Print the cards of pretrained machines, fetched or not", oneMachine, func(c *cobra.Command, name string) error {
		m, err := described(name)
		if err == nil {
			printCard(c, m)
		}
		return err
	})
}

func printCard(c *cobra.Command, m pretrained.Machine) {
	w := c.OutOrStdout()
	fmt.Fprintf(w, "%s\n%s\n\n", m.Name, m.About)
	for _, line := range [][2]string{
		{"good for", m.Strengths}, {"not for", m.Weaknesses}, {"data", m.Data}, {"licence", m.Licence}, {"method", m.Method},
		{"training", fmt.Sprintf("%d epochs in %.0f s of steps, on %s", m.Epochs, m.Seconds, strings.Join(m.Processors, "; "))},
		{"trained by", strings.Join(m.Versions, "; ")}, {"evaluated by", fmt.Sprintf("%s, %s", m.EvaluatedBy, m.Evaluated.Format("2 January 2006"))},
		{"directory", m.Dir},
	} {
		fmt.Fprintf(w, "%-13s %s\n", line[0], line[1])
	}
	fmt.Fprintf(w, "\n%s", m.Evaluation.Text)
	if !m.Published {
		fmt.Fprintln(w, "\nThis machine is not in the catalogue of this program: its card is its maker's own statement.")
	}
}

func newPretrainedGet() *cobra.Command {
	return ofNames("get NAME...", "Fetch pretrained machines into the user's cache and verify them", oneMachine, func(c *cobra.Command, name string) error {
		m, err := pretrained.Get(c.Context(), name)
		if err == nil {
			fmt.Fprintln(c.OutOrStdout(), m.Dir)
		}
		return err
	})
}

func newPretrainedCheck() *cobra.Command {
	var rows int
	c := &cobra.Command{
		Use:   "check [NAME...]",
		Short: "Evaluate pretrained machines again, and compare with their cards",
		Args:  cobra.ArbitraryArgs,
	}
	numberFlag(c.Flags(), &rows, "rows", 0, 0, "evaluate at most `N` rows, drawn from the card's seed; 0 for the number on the card")
	c.RunE = func(c *cobra.Command, names []string) error {
		all := len(names) == 0
		if all {
			names = pretrained.Names()
		}
		checked := 0
		var failed []error
		for _, name := range names {
			m, err := pretrained.Find(name)
			if all && errors.Is(err, fs.ErrNotExist) {
				continue
			}
			checked++
			var result pretrained.Checked
			if err == nil {
				result, err = m.Check(c.Context(), rows, func(work string) func(float64) { return newFraction(c.ErrOrStderr(), work) })
			}
			if err != nil {
				failed = append(failed, fmt.Errorf("%s: %w", name, err))
				continue
			}
			verdict := "agrees"
			if !result.Agrees {
				verdict = "DISAGREES"
				failed = append(failed, fmt.Errorf("%s: the card disagrees with the new evaluation: the data set differs, or the program or machine is damaged", name))
			}
			fmt.Fprintf(c.OutOrStdout(), "%s: %s; card: %v; now: %v\n", name, verdict, result.Card, result.Now)
		}
		if checked == 0 {
			return errors.New("there is no pretrained machine on this computer: helmholtz pretrained list shows how to get one")
		}
		return errors.Join(failed...)
	}
	return c
}

func newPretrainedAdd() *cobra.Command {
	var about pretrained.Card
	how := pretrained.Evaluation{Seed: 1}
	var to string
	var withOthers bool
	c := &cobra.Command{
		Use:   "add RUN NAME",
		Short: "Make a pretrained machine from a finished run",
		Args:  cobra.MatchAll(between(2, 2, "name the directory of a run, and the new machine"), func(_ *cobra.Command, args []string) error { return noFiles(nil, args[:1]) }),
	}
	f := c.Flags()
	f.StringVar(&to, "to", "", "`folder` of machines (default: the folder that HELMHOLTZ_PRETRAINED names)")
	f.StringVar(&about.About, "about", "", "what the machine is, in one `sentence`")
	f.StringVar(&about.Strengths, "strengths", "", "what it is good for, a `text`")
	f.StringVar(&about.Weaknesses, "weaknesses", "", "what it cannot do, a `text`")
	f.StringVar(&about.Licence, "licence", "", "the `licence` of the data")
	splitFlag(f, &how.Split, "`rows` to evaluate: train, validation or test")
	numberFlag(f, &how.Samples, "samples", 1000, 1, "`K` importance samples per row")
	numberFlag(f, &how.Rows, "rows", 0, 0, "evaluate `N` rows drawn from a fixed seed, 0 for all")
	f.BoolVar(&withOthers, "rivals", false, rivalsUsage)
	c.RunE = func(c *cobra.Command, args []string) error {
		if to == "" {
			to = os.Getenv(pretrained.Environment)
		}
		if to == "" {
			return misuse(c, "name the folder of machines with --to or %s", pretrained.Environment)
		}
		if err := refuseMissing(c, "about", "strengths", "weaknesses", "licence"); err != nil {
			return err
		}
		run, model, err := openModel(args[0], "last")
		if err != nil {
			return err
		}
		if by, err := run.Evaluation(model); err != nil {
			return err
		} else if err := firstOf(refuseSampling(c, model), refuseUnused(c, run.Noun(), []string{"samples"}, by.Uses)); err != nil {
			return err
		} else if !slices.Contains(by.Uses, "samples") {
			how.Samples = 0
		}
		about.Name = args[1]
		var rivals pretrained.Rivals
		if withOthers {
			rivals = withRivals
		}
		draw := func() (map[string][]byte, error) { // if the family draws samples without chains
			figure, err := plotting.UsualSamples(c.Context(), run, 100)
			if err != nil || figure == nil {
				return map[string][]byte{}, err
			}
			b, err := figure.PNG()
			return map[string][]byte{"samples.png": b}, err
		}
		card, err := pretrained.Add(c.Context(), run, about, how, to, draw, rivals, func(work string) func(float64) { return newFraction(c.ErrOrStderr(), work) })
		if err != nil {
			return err
		}
		fmt.Fprintf(c.OutOrStdout(), "%s\n%v\n", filepath.Join(to, card.Name), card.Evaluation)
		return nil
	}
	return c
}
